"""An extension of Inspect: after a run of several models, the paired comparison of what they answered.

Inspect finds it by the entry point in its group `inspect_ai`. It prints only where DEADPAN_COMPARE is set, since
everybody who has both packages would see it otherwise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks

from deadpan.errors import DeadpanError

SWITCH = "DEADPAN_COMPARE"
"""Environment variable that turns it on: 1, or the name of the model that every other is compared with."""


@hooks(name="deadpan_compare", description="Paired comparison of the models of a run, by deadpan")
class PairedComparison(Hooks):
    """Prints what `deadpan compare` prints of the same logs."""

    def enabled(self) -> bool:
        """Return whether the environment asks for it."""
        return os.environ.get(SWITCH, "0") not in ("", "0")

    async def on_run_end(self, data: RunEnd) -> None:
        """Compare the logs of one run; those of a set are compared at its end."""
        if data.eval_set_id is None:
            _compare([log.location for log in data.logs])

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Compare all logs of a set."""
        _compare([data.log_dir])


def _compare(places: Sequence[str]) -> None:
    from deadpan.logs.comparison import by_system, compare_logs
    from deadpan.logs.log import read_logs

    paths = [Path(unquote(urlparse(place).path) if place.startswith("file:") else place) for place in places]
    against = os.environ[SWITCH]
    try:
        if len(by_system([log for path in paths for log in read_logs(path)])) > 1:
            sys.stdout.write(f"{compare_logs(paths, against='' if against == '1' else against)}\n")
    except DeadpanError as wrong:  # a comparison that can't be made is no reason to fail a finished run
        sys.stdout.write(f"deadpan: {wrong}\n")
