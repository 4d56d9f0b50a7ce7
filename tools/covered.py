"""Prints branch coverage per folder from the .coverage file that `make test` leaves, and checks the bars.

The floor is to have 90 %, a stage 85 %, counting lines and branches; with --check a part below its bar is an
error. Slow tests are not traced (tests/conftest.py), nor are the processes that tests start.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from coverage import Coverage

FLOOR_BAR, STAGE_BAR = 90.0, 85.0
STAGES = {"datasets", "corpus", "generate", "studio", "detect", "bench"}
COMPOSERS = {"cli", "tour", "reproduce", "report", "serve"}
ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "deadpan"


def main() -> None:
    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(report))
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for name, found in files.items():
        parts = (ROOT / name).resolve().relative_to(SOURCE).parts
        for part in (parts[0] if len(parts) > 1 else "floor files", "all"):
            totals[part].update({key: value for key, value in found["summary"].items() if isinstance(value, int)})
    missed = 0
    for part in [*sorted(totals.keys() - {"all"}), "all"]:
        counts = totals[part]
        covered = counts["covered_lines"] + counts["covered_branches"]
        share = 100 * covered / max(counts["num_statements"] + counts["num_branches"], 1)
        branches = f"{counts['covered_branches']:,} of {counts['num_branches']:,} branches"
        bar = 0.0 if part == "all" else STAGE_BAR if part in STAGES | COMPOSERS else FLOOR_BAR
        verdict = f"below the bar of {bar:.0f} %" if share < bar else ""
        missed += bool(verdict)
        sys.stdout.write(f"{part:12} {share:5.1f} %  {branches}  {verdict}".rstrip() + "\n")
    sys.exit(bool(missed) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
