"""Results of other tools as one score per item and system: Inspect, lm-eval, HELM, tables, our runs."""

from deadpan.logs.log import LOGS, ScoredItem, ScoreLog, read_logs

__all__ = ["LOGS", "ScoreLog", "ScoredItem", "read_logs"]
