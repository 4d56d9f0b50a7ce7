"""Intended and perceived sarcasm side by side: what the author says, and what share of people hear.

Votes come from iSarcasmEval's five-vote files, or from the Labels of a studio export.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deadpan.arguments import check_examples
from deadpan.errors import DataError
from deadpan.formats.labels import EVERYDAY, read_label
from deadpan.records import Example, Label
from deadpan.results import Result
from deadpan.stats.interval import Interval, clustered_mean, wilson
from deadpan.storage import read_records

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.page.summary import Summary

VOTES, VOTERS, AUTHOR = "votes", "voters", "sarcasm_ref"
"""Names in an Example's metadata: votes for sarcasm, all votes, and the author's own label."""

WHERE = (
    "votes are in iSarcasmEval's third-party files (isarcasm_eval-votes) or in labels.jsonl of a studio "
    "export (--votes)"
)
"""A hint at the files that have votes: no other corpus that can be read has them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Votes on one text: how many of how many people called it sarcastic."""

    votes: int
    voters: int

    @property
    def share(self) -> float:
        """The share of people who called it sarcastic."""
        return self.votes / self.voters


def heard(example: Example) -> Heard | None:
    """Return the votes on an example; None if it has none."""
    votes, voters = example.meta.get(VOTES), example.meta.get(VOTERS)
    if not isinstance(votes, int) or not isinstance(voters, int) or not 0 <= votes <= voters or not voters:
        return None
    return Heard(votes, voters)


def with_votes(examples: Iterable[Example], labels: Iterable[Label]) -> list[Example]:
    """Return the examples with the votes of a study; an example's own label stays that of its author.

    The labels of a studio export hold the distribution of answers and their number. Answers such as
    sarcastic, yes or 1 count as votes for sarcasm, answers such as "unsure" as no vote; the item's id is that
    of the example.
    """
    found: dict[str, tuple[int, int]] = {}
    for label in labels:
        known = [(answer, share) for answer, share in label.distribution.items()
                 if read_label(answer, EVERYDAY) is not None]  # fmt: skip
        total = sum(share for _, share in known)
        if label.n and total > 0:
            yes = sum(share for answer, share in known if read_label(answer, EVERYDAY))
            found[label.item_id] = (round(yes * label.n), round(total * label.n))
    rows = check_examples(examples)
    matched = [example for example in rows if example.id in found]
    if not matched:
        raise DataError("no label is about any of the examples: their item_id must be the examples' id")
    return [
        replace(e, meta={**e.meta, VOTES: found[e.id][0], VOTERS: found[e.id][1]}) if e.id in found else e for e in rows
    ]


def read_votes(examples: Iterable[Example], path: Path | str) -> list[Example]:
    """Return the examples with the votes of labels.jsonl of a studio export, or of its folder."""
    path = Path(path)
    path = path / "labels.jsonl" if path.is_dir() else path
    return with_votes(examples, list(read_records(path, Label)))


def intended(example: Example) -> bool | None:
    """Return the author's own label: of the metadata, or the example's label if the author gave it."""
    author = example.meta.get(AUTHOR)
    if author in (True, False):  # tables have 1 and 0
        return bool(author)
    return example.label if example.label_kind in ("author", "marker") else None


@dataclass(frozen=True, slots=True, repr=False)
class Perception(Result):
    """Intended against perceived: the share of votes for texts meant sarcastically and for others.

    `heard[meant]` is the mean share of votes; `majority[meant]` how often most people heard sarcasm;
    `by_votes` the share meant sarcastically among texts with that many votes, `loud` among those that most
    people heard as sarcasm.
    """

    heard: Mapping[str, Interval]
    majority: Mapping[str, Interval]
    by_votes: Mapping[int, Interval]
    voters: int
    n: int
    loud: Interval

    def __repr__(self) -> str:
        return f"Perception({self.n:,} texts, up to {self.voters} votes)"

    def as_dict(self) -> dict[str, object]:
        """Return every share with its interval."""
        return {
            "n": self.n,
            "voters": self.voters,
            "heard": {name: share.as_dict() for name, share in self.heard.items()},
            "majority": {name: share.as_dict() for name, share in self.majority.items()},
            "meant_if_most_hear_it": self.loud.as_dict(),
            "meant_by_votes": {str(votes): share.as_dict() for votes, share in self.by_votes.items()},
        }

    def summary(self) -> Summary:
        """Return both directions."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((name, self.heard[name], self.majority[name], self.heard[name].n) for name in self.heard)
        counts = tuple((f"{votes} of {self.voters}", share, share.n) for votes, share in self.by_votes.items())
        return Summary(
            (
                Table(("meant", "share of votes", "most people hear sarcasm", "n"), rows),
                Table(("people who hear sarcasm", "meant sarcastically", "n"), counts),
            )
        )

    def figure(self) -> Figure:
        """Draw how many texts were meant sarcastically, by the number of people who heard it."""
        from deadpan.figures.plots import whiskers

        rows = {f"{votes} of {self.voters} hear sarcasm": share for votes, share in self.by_votes.items()}
        title = f"Of texts that most people hear as sarcasm, {_percent_of(self.loud)} were meant so"
        if self.loud.value is None:
            title = "Most people hear no sarcasm in any of these texts"
        return whiskers(title, rows, unit="share meant sarcastically by the author")


def _percent_of(share: Interval) -> str:
    """Return a share in percent with its interval."""
    low, value, high = (100 * (end or 0.0) for end in (share.low, share.value, share.high))
    return f"{value:.0f} % [{low:.0f}, {high:.0f}]"


def perceive(examples: Sequence[Example], *, seed: int = 0) -> Perception:
    """Compare what authors meant with what people heard, on those `examples` that have both."""
    rows = [(e, votes, meant) for e in check_examples(examples)
            if (votes := heard(e)) is not None and (meant := intended(e)) is not None]  # fmt: skip
    if not rows:
        raise DataError(f"no example has both votes and the author's own label: {WHERE}")
    voters = max(votes.voters for _, votes, _ in rows)
    names = {True: "sarcastically", False: "sincerely"}
    shares, majorities = {}, {}
    for meant, word in names.items():
        mine = [(e, votes) for e, votes, intent in rows if intent is meant]
        if mine:
            shares[word] = _mean([votes.share for _, votes in mine], [e.group for e, _ in mine], seed)
            majorities[word] = wilson(sum(2 * v.votes > v.voters for _, v in mine), len(mine))
    by_votes = {}
    for count in range(voters + 1):
        these = [meant for _, votes, meant in rows if votes.votes == count and votes.voters == voters]
        if these:
            by_votes[count] = wilson(sum(these), len(these))
    loud = [meant for _, votes, meant in rows if 2 * votes.votes > votes.voters]
    return Perception(shares, majorities, by_votes, voters, len(rows), wilson(sum(loud), len(loud)))


def _mean(values: Sequence[float], groups: Sequence[str], seed: int) -> Interval:
    return clustered_mean(np.array(values), groups, 1000, seed=seed, limits=(0.0, 1.0))
