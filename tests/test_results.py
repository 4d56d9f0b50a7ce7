"""Results show themselves in a few words, as text, as HTML and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.results import LONGEST, Result
from deadpan.stats import Interval


@dataclass(frozen=True, slots=True)
class Many(Result):
    """A result with a lot in it."""

    name: str
    rows: tuple[int, ...]
    table: dict[str, list[int]]
    score: Interval
    note: str = ""
    hidden: str = field(default="x", repr=False)

    def summary(self) -> Summary:
        return Summary((Table(("name", "rows"), ((self.name, len(self.rows)),)),), ("A note.",))

    def as_dict(self) -> dict[str, object]:
        return {"name": self.name}


MANY = Many("some", tuple(range(100_000)), {"a": [1] * 1000}, Interval(0.5, 0.4, 0.6, 0.95, 10))


def test_a_repr_has_counts_and_not_contents():
    assert repr(MANY) == "Many(name='some', 100,000 rows, 1 table, score=Interval)"
    long = Many("n" * 1000, (), {}, MANY.score, "w" * 1000)
    assert len(repr(long)) < LONGEST + 10


def test_a_result_is_text_and_html():
    assert str(MANY).splitlines() == ["name     rows", "some  100,000", "", "A note."]
    assert "<table>" in MANY._repr_html_() and "<p>A note.</p>" in MANY._repr_html_()


def test_a_repr_of_its_own_is_kept():
    assert repr(MANY.score).startswith("Interval(value=0.5, low=0.4")

    class Own(Result):
        def __repr__(self) -> str:
            return "own"

    assert repr(Own()) == "own"


def test_what_has_no_summary_says_so():
    with pytest.raises(TypeError, match="has no summary"):
        str(Result())
