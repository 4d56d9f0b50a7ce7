"""SarcBench: items about what a speaker means, runs of any language model, and a leaderboard."""

from __future__ import annotations

from typing import Any

from deadpan import lazy

DEFAULT_SET = "public@0.4.0"
"""The set that is asked unless another is named; the only place that names it."""
_NAMES = {
    "BenchResult": "api",
    "BenchScores": "scores.report",
    "agreed_items": "people",
    "audit_set": "items.check",
    "check_set": "items.check",
    "check_contamination": "contamination",
    "check_submission": "runs.submission",
    "export_bench": "export",
    "export_rows": "export",
    "export_set": "export",
    "harden_set": "hardening",
    "list_sets": "items.sets",
    "merge_runs": "runs.submission",
    "open_set": "items.sets",
    "retire_set": "items.sets",
    "fill_organic": "organic",
    "make_organic": "organic",
    "run": "api:run_bench",
    "run_bench": "api",
    "run_open_track": "open_track",
    "score": "scores.report:score_bench",
    "score_bench": "scores.report",
    "score_people": "people",
    "validate_set": "items.check",
    "write_leaderboard": "site.write",
    "write_quiz": "people",
}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    """Import a public function on first use: listing names imports nothing heavy."""
    return lazy(__name__, name, _NAMES)
