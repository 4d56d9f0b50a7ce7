"""Agreement of people on items: which items are sound enough to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deadpan.bench.items.item import check_items_name, write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.humans import latest_answers, read_answers
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Item, Judgment
from deadpan.results import Result
from deadpan.validation import encode

SHOWN_ITEMS = 20


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """People's answers to one item, in shares."""

    item: str
    n: int
    agreed: float
    """The share of people who chose the most frequent option."""
    right: float
    """The share of people who chose the keyed answer."""
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class SetAgreement(Result):
    """Agreement per item, and the items that are kept."""

    items: tuple[ItemAgreement, ...] = field(repr=False)
    kept: tuple[Item, ...] = field(repr=False)
    tally: Tally = field(repr=False)

    def __repr__(self) -> str:
        return f"SetAgreement({len(self.kept)} of {len(self.items)} items kept)"

    def as_dict(self) -> dict[str, object]:
        """Return every item with its agreement."""
        return {"kept": len(self.kept), "items": encode(self.items), **self.tally.as_dict()}

    def summary(self) -> Summary:
        """Return the dropped items that people answered, and how many were kept."""
        dropped = [each for each in self.items if not each.kept]
        rows: list[tuple[Cell, ...]] = [
            (each.item, each.n, f"{each.agreed:.2f}", f"{each.right:.2f}", each.why)
            for each in [each for each in dropped if each.n][:SHOWN_ITEMS]
        ]
        columns = ("item", "people", "agreed", "right", "dropped because")
        reasons = ", ".join(f"{why} {n}" for why, n in Counter(each.why for each in dropped).items())
        note = f"kept {len(self.kept)} of {len(self.items)} items" + (
            f"; dropped: {reasons}" if reasons else ""
        )
        return Summary((Table(columns, tuple(rows)),) if rows else (), (*self.tally.notes(), note))


def agreed_items(
    answers: Path,
    items: str | Path | ItemSet,
    *,
    threshold: float = 0.8,
    least: int = 3,
    out: Path | None = None,
    ask: AskPassphrase | None = None,
) -> SetAgreement:
    """Keep the items on which people agree with the key; write them to `out` if given.

    An item is kept if at least `least` people answered it and a share of `threshold` chose its answer. An
    item that lost the other half of its pair stays, as a single item.
    """
    if out is not None:
        check_items_name(out)
        if out.exists():
            raise DataError(f"{out}: already exists: choose another --out")
    opened, tally = open_set(items, ask), Tally()
    agreement = item_agreement(opened, read_answers(answers, opened), tally, threshold, least)
    kept = kept_items(opened, agreement)
    if out is not None:
        write_items(out, kept)
    return SetAgreement(tuple(agreement), tuple(kept), tally)


def item_agreement(
    items: ItemSet, judgments: Sequence[Judgment], tally: Tally, threshold: float = 0.8, least: int = 3
) -> list[ItemAgreement]:
    """Return the agreement per item. If most people chose another option, key or wording is wrong."""
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold is {threshold:g}: give a number above 0 and at most 1")
    answers = latest_answers(items, judgments, tally)
    agreement = []
    for item in items.items:
        votes = Counter(answers.get(item.id, {}).values())
        n = votes.total()
        agreed = max(votes.values()) / n if n else 0.0
        right = votes[item.answer] / n if n else 0.0
        why = _why_not(n, least, agreed, right, threshold)
        agreement.append(ItemAgreement(item.id, n, agreed, right, not why, why))
    return agreement


def kept_items(items: ItemSet, agreement: Sequence[ItemAgreement]) -> list[Item]:
    """Return the kept items; one that lost the other half of its pair becomes a single item."""
    names = {each.item for each in agreement if each.kept}
    kept = [item for item in items.items if item.id in names]
    sizes = Counter(item.pair_id for item in kept)
    return [item if sizes[item.pair_id] > 1 else replace(item, pair_id="") for item in kept]


def _why_not(n: int, least: int, agreed: float, right: float, threshold: float) -> str:
    if n < least:
        return f"fewer than {least} people"
    if agreed < threshold:
        return "people do not agree"
    if right < agreed:
        return "people agree on another option"
    return ""
