"""The result of verifying a corpus: which rules were checked, violated, or not checked."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from deadpan.errors import ConfigError, DataError
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

SHOWN = 3
DAMAGED = (DataError, ConfigError, duckdb.Error, pa.ArrowException, csv.Error, OSError, EOFError, LookupError,
           TypeError, ValueError, AttributeError)  # fmt: skip
"""Errors of reading a file that is not what a build wrote; which one depends on the damage."""


@dataclass(slots=True)
class Verification(Result):
    """Rules with the number of things checked, examples of what violates them, and what was not checked."""

    checked: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)

    def check(self, rule: str, count: int, faults: list[str]) -> None:
        """Record a check of `count` things."""
        self.checked[rule] = self.checked.get(rule, 0) + count
        if faults:
            self.wrong.setdefault(rule, []).extend(faults[:SHOWN])

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Record an error of reading as a violation, since a changed file may have any contents."""
        try:
            yield
        except DAMAGED as bad:
            reason = (str(bad).splitlines() or [type(bad).__name__])[0][:160]
            self.check(f"{what} can be read", 1, [reason])

    @property
    def sound(self) -> bool:
        return not self.wrong

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(
            (rule, n, "violated" if rule in self.wrong else "holds") for rule, n in self.checked.items()
        )
        faults = [f"{rule}: wrong in {', '.join(wrong[:SHOWN])}" for rule, wrong in self.wrong.items()]
        missing = [f"Not checked: {'; '.join(self.unchecked)}."] if self.unchecked else []
        verdict = "Every rule holds." if not self.unchecked else "Every rule that was checked holds."
        if not self.sound:
            verdict = f"{len(self.wrong)} rules are violated."
        return Summary((Table(("rule", "checked", "result"), rows),), (*faults, *missing, verdict))

    def as_dict(self) -> dict[str, object]:
        return {
            "sound": self.sound,
            "checked": self.checked,
            "wrong": self.wrong,
            "unchecked": self.unchecked,
        }
