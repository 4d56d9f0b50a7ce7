"""Results of library functions, readable by people and by machines; and a value with its confidence interval.

It imports nothing at run time: `stats` computes intervals and pages show them, and a page must not load `stats`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


LONGEST = 160
"""Characters of a repr; the rest is cut off."""


class Result:
    """Something to show: a subclass writes `summary` for people and `as_dict` for machines."""

    __slots__ = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Keep the inherited, short `__repr__`: a dataclass would replace it by one with all contents."""
        super().__init_subclass__(**arguments)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        names: list[str] = [field.name for field in fields(self) if field.repr] if is_dataclass(self) else []
        parts = [_short(name, getattr(self, name)) for name in names]
        text = ", ".join(part for part in parts if part)
        return f"{type(self).__name__}({text if len(text) <= LONGEST else text[: LONGEST - 3] + '...'})"

    def summary(self) -> Summary:
        """Return what a person sees."""
        raise TypeError(f"{type(self).__name__} has no summary")

    def as_dict(self) -> dict[str, object]:
        """Return what `--json` prints."""
        raise TypeError(f"{type(self).__name__} has no as_dict")

    def __str__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def _short(name: str, value: object) -> str:
    """Return a field in a few words: containers as their size, other objects as their class."""
    if value is None or value == "":
        return ""
    if isinstance(value, str) and len(value) > 40:
        return f"{name}={value[:37] + '...'!r}"
    if isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str | bytes):
        return f"{len(value):,} {name}"
    if is_dataclass(value):
        return f"{name}={type(value).__name__}"
    return f"{name}={value!r}"


@dataclass(frozen=True, slots=True)
class Interval(Result):
    """A value, its confidence interval from `low` to `high`, and the number `n` of things it is about.

    An undefined value is None, never NaN, and `why` gives the reason. `why` can also qualify a value: it
    is a convention (precision is 0 where nothing was predicted), or its interval is too narrow.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    why: str = ""

    def __post_init__(self) -> None:
        for figure in (self.value, self.low, self.high):
            if figure is not None and math.isnan(figure):
                raise ValueError("an undefined figure is None with a reason, never NaN")

    def __str__(self) -> str:
        from deadpan.page.numbers import score

        return score(self)

    def as_dict(self) -> dict[str, object]:
        """Return the fields, for a manifest or `--json`."""
        return asdict(self)

    def summary(self) -> Summary:
        """Return a table of one row."""
        from deadpan.page import Summary, Table
        from deadpan.stats.interval import interval_name

        return Summary((Table((f"value, {interval_name(self.level)}", "n"), ((self, self.n),)),))
