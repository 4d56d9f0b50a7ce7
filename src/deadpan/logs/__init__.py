"""Results of other tools as one score per item and system: Inspect, lm-eval, HELM, tables, our runs."""

from deadpan.logs.log import ScoredItem, ScoreLog
from deadpan.logs.reading import LOGS, read_logs

__all__ = ["LOGS", "ScoreLog", "ScoredItem", "read_logs"]
