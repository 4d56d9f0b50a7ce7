"""Rephrase pairs: sarcastic to plain and back by a language model, scored against what the authors wrote.

iSarcasm names "sarcasm decoding/encoding" as a task that its explanations and rephrases open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.generate.backcheck import PredictsLabels
from deadpan.generate.questions import read_line
from deadpan.llm import Client, LLMSettings, Message, Unreadable, system, user
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.progress import Progress, silent
from deadpan.records import Example, Turn
from deadpan.results import Result
from deadpan.stats import Interval, bootstrap_interval, wilson
from deadpan.storage import begin_folder, write_manifest, write_records
from deadpan.text import render_turn

Direction = Literal["plain", "sarcastic"]
_TASKS: Mapping[str, str] = {
    "plain": "You get a sarcastic text. Write what its author means, without sarcasm, in the same language and about "
    "as long. Answer with that text alone, on one line.",
    "sarcastic": "You get a plain text. Write it as its author would say it sarcastically, in the same language and "
    "about as long. Answer with that text alone, on one line.",
}
# chrF2: character n-grams up to six, recall counts twice (Popovic 2015), spaces left out.
_LONGEST, _RECALL = 6, 2.0


def chrf(written: str, reference: str) -> float:
    """Return chrF2 of a text, from 0 to 1: the mean over n-gram lengths that either text has."""
    texts = ["".join(text.split()) for text in (written, reference)]
    scores = []
    for n in range(1, _LONGEST + 1):
        ours, theirs = (Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in texts)
        if not ours and not theirs:
            continue
        shared = (ours & theirs).total()
        precision, recall = shared / max(ours.total(), 1), shared / max(theirs.total(), 1)
        below = _RECALL**2 * precision + recall
        scores.append((1 + _RECALL**2) * precision * recall / below if below else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


@dataclass(frozen=True, slots=True)
class RephrasedText:
    """A text, what the model made of it, what the author wrote, and a detector's scores before and after."""

    id: str
    source: str
    written: str
    reference: str
    chrf: float
    copied: float
    """chrF of the source itself: what copying it would score."""
    before: float | None
    after: float | None
    author: float | None


@dataclass(frozen=True, slots=True)
class Rephrasing(Result):
    """Nearness of the model's texts to the authors', and how often a detector calls each sarcastic."""

    folder: Path
    to: str
    model: str
    rows: tuple[RephrasedText, ...]
    tally: Tally

    def summary(self) -> Summary:
        rows = [("chrF to the author's text", self._mean("chrf")), ("chrF of copying the input", self._mean("copied"))]
        for name, words in (("before", "input"), ("after", "the model's text"), ("author", "the author's text")):
            scores = [getattr(row, name) for row in self.rows if getattr(row, name) is not None]
            if scores:
                called = wilson(sum(score > 0.5 for score in scores), len(scores))
                rows.append((f"called sarcastic: {words}", called))
        notes = [f"{len(self.rows):,} texts rephrased to {self.to} by {self.model}."]
        notes += [f"Left out: {reason} {count:,}." for reason, count in sorted(self.tally.drops.items())]
        ask = f"deadpan studio create reader-judgment {self.folder / 'written.jsonl'} --name NAME"
        return Summary((Table(("measure", "value"), tuple(rows)),), (*notes, f"Ask people: {ask}"))

    def _mean(self, name: str) -> Interval:
        values = np.array([getattr(row, name) for row in self.rows])
        return bootstrap_interval(lambda at: float(values[at].mean()), [""] * len(values))

    def as_dict(self) -> dict[str, object]:
        counts = {"n": len(self.rows), "to": self.to, "model": self.model, **self.tally.as_dict()}
        values = {name: self._mean(name).as_dict() for name in ("chrf", "copied")}
        return {"out": str(self.folder), **counts, **values}


def rephrase(
    examples: Sequence[Example],
    out: Path | str,
    *,
    to: Direction = "plain",
    settings: LLMSettings | None = None,
    detector: PredictsLabels | None = None,
    limit: int | None = None,
    progress: Progress = silent,
) -> Rephrasing:
    """Rephrase sarcastic texts that have an author's plain version, or the plain versions (`to="sarcastic"`).

    Writes rephrased.jsonl, written.jsonl (Examples for the studio) and a manifest to `out`.
    """
    pairs = [example for example in examples if example.label and example.rephrase.strip()][:limit]
    if not pairs:
        raise DataError("no sarcastic text with its author's rephrase: read starter-en, or a survey's gated release")
    settings = settings or LLMSettings(temperature=0.0, max_tokens=200)
    folder = Path(out)
    there = begin_folder(folder)
    ends = [(e.response.text, e.rephrase) if to == "plain" else (e.rephrase, e.response.text) for e in pairs]
    asked = [_question(e, source, to) for e, (source, _) in zip(pairs, ends, strict=True)]
    with Client(settings) as client:
        replies = client.complete_many(asked, on_reply=lambda place, reply: progress("rephrasing", place, len(asked)))
    tally = Tally()
    kept: list[tuple[Example, str, str, str]] = []
    for example, (source, reference), reply in zip(pairs, ends, replies, strict=True):
        try:
            kept.append((example, source, read_line(reply.text), reference))
        except Unreadable as bad:
            tally.drop(bad.kind, example.id)
    _, *columns = zip(*kept, strict=True) if kept else ((), (), (), ())
    scores = [_scores(detector, [str(text) for text in texts]) for texts in columns]
    rows = tuple(
        RephrasedText(example.id, source, written, reference, chrf(written, reference), chrf(source, reference), *told)
        for (example, source, written, reference), *told in zip(kept, *scores, strict=True)
    )
    texts = [Example(e.id, Turn("", w), e.context, label=to == "sarcastic", label_kind="generated", source=e.source,
                     language=e.language) for e, _, w, _ in kept]  # fmt: skip
    write_records(folder / "rephrased.jsonl", rows, RephrasedText)
    write_records(folder / "written.jsonl", texts, Example)
    config = {"to": to, "model": settings.model, "sampling": settings.sampling()}
    write_manifest(folder, command="generate rephrase", config=config, counts={"rephrased": len(rows)}, before=there)
    return Rephrasing(folder, to, settings.model, rows, tally)


def _question(example: Example, source: str, to: Direction) -> list[Message]:
    before = "\n".join(render_turn(turn) for turn in example.context)
    return [system(_TASKS[to]), user(f"Before it:\n{before}\n\nText: {source}" if before else f"Text: {source}")]


def _scores(detector: PredictsLabels | None, texts: Sequence[str]) -> list[float | None]:
    if detector is None:
        return [None] * len(texts)
    return [p.score for p in detector.predict([Example(str(n), Turn("", text)) for n, text in enumerate(texts)])]
