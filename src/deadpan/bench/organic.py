"""The organic track: two real replies to one comment; which one did its author mean sarcastically?

The package holds ids and hashes of SARC pairs only; the texts come from the user's copy of the corpus. The
runner, the rows and the scores are those of SarcBench.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from deadpan.arguments import check_examples, check_mapping, check_names, check_whole
from deadpan.bench.api import BenchResult, run_bench
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.sets import ItemSet, make_set
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem
from deadpan.draws import draw, sample
from deadpan.errors import DataError
from deadpan.records import Example, Item, Predictor, Turn

VERSION = "1.0.0"
_NAME = "organic"
CATEGORY = "organic_reply"
_QUESTION = "Two people replied to this. Which reply did its author mean sarcastically?"
_WORDS = (4, 40)
"""Fewest and most words of a reply: shorter ones say too little, longer ones are long to read."""

_PAIRS = 400
"""Pairs of the track, unless a corpus of one's own has fewer or more are wanted."""

DIGITS = 16
Pair = tuple[Example, Example]


def organic_set(examples: Iterable[Example], *, pairs: int | None = None, seed: int = 0) -> ItemSet:
    """Return the track as a set of items with two options each, built from pairs of real replies.

    Where the examples hold SARC's published pairs, those of the package are asked, so that scores can be
    compared; a text that differs from the package's hash is an error. Of another corpus `pairs` are drawn at
    random (400 by default). A pair is one sarcastic and one sincere response with the same `sequence`.
    """
    found = usable_pairs(check_examples(examples))
    if not found:
        raise DataError(
            "no pair of a sarcastic and a sincere reply to the same comment: read sarc-main, or a corpus "
            "with sequences and contexts"
        )
    chosen = _published(found)
    name = _NAME if chosen else f"{_NAME}-own"
    if not chosen:
        wanted = check_whole(_PAIRS if pairs is None else pairs, "the number of pairs", 1)
        chosen = sample(found, wanted, seed=seed, key=lambda pair: pair[0].id)
    elif pairs is not None:
        chosen = chosen[: check_whole(pairs, "the number of pairs", 1)]
    return make_set(name, "private", [_item(pair) for pair in chosen])


def run_organic(
    examples: Iterable[Example],
    models: str | Sequence[str] | None = None,
    *,
    detectors: Mapping[str, Predictor] | None = None,
    pairs: int | None = None,
    runs: int = 1,
    out: str | Path = "organic",
    seed: int = 0,
    **settings: Any,
) -> BenchResult:
    """Ask models which of two real replies was meant sarcastically; `settings` are those of `run_bench`.

    `detectors` choose the reply that they score higher; each is a baseline, `baseline/detector-NAME`. Without
    models and detectors the embedded model is asked.
    """
    rows = check_examples(examples)
    items, limit = organic_set(rows, pairs=pairs, seed=seed), None
    if pairs is not None and (items.name == _NAME or pairs < _PAIRS):
        items, limit = organic_set(rows, seed=seed), pairs  # fewer pairs than the track has are a part of it
    check_mapping(given := detectors or {}, "detectors", "pass a name and a detector each")
    chosen = detector_answers(items, given)
    names = [models] if isinstance(models, str) else check_names(models or [], "models")
    asked = [*names, *chosen] or None
    return run_bench(asked, items, limit=limit, runs=runs, out=out, seed=seed, answerers=chosen, **settings)


def usable_pairs(examples: Sequence[Example]) -> list[Pair]:
    """Return the (sarcastic, sincere) replies to one comment, neither too short nor too long, in order."""
    members: dict[str, list[Example]] = {}
    for example in examples:
        if example.sequence and example.context and example.context[-1].text.strip():
            members.setdefault(example.sequence, []).append(example)
    pairs = []
    for same in members.values():
        yes = [example for example in same if example.label]
        no = [example for example in same if example.label is False]
        if len(yes) == len(no) == 1 and all(_readable(example) for example in same):
            pairs.append((yes[0], no[0]))
    return pairs


def _readable(example: Example) -> bool:
    return _WORDS[0] <= len(example.response.text.split()) <= _WORDS[1]


def pair_hash(pair: Pair) -> str:
    """Return a hash of both texts, by which a user's copy of the corpus is checked."""
    texts = "\x1f".join(example.response.text.strip() for example in pair)
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _published(found: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that the package names, if the corpus has them all."""
    table = files("deadpan.bench").joinpath("organic_pairs.csv").read_text(encoding="utf-8")
    by_ids = {(yes.id, no.id): (yes, no) for yes, no in found}
    rows = list(csv.DictReader(table.splitlines()))
    named = [(by_ids.get((row["sarcastic"], row["sincere"])), row) for row in rows]
    if any(pair is None for pair, _ in named):
        return []
    changed = [row["sarcastic"] for pair, row in named if pair and pair_hash(pair) != row["sha256"]]
    if changed:
        raise DataError(
            f"{len(changed)} of {len(rows)} pairs have a different text than when the track was made, first "
            f"{changed[0]!r}: read the corpus with its markers stripped, as by default"
        )
    return [pair for pair, _ in named if pair]


def _item(pair: Pair) -> Item:
    """Return a pair as an item; which reply stands first depends on its id alone."""
    yes, no = pair
    first = draw(0, f"{_NAME}:{yes.id}")[0] % 2
    *before, said = yes.context
    replies = (yes, no) if first == 0 else (no, yes)
    return Item(
        id=f"{yes.id}-{no.id}", version=VERSION, context=tuple(before), utterance=said.text,
        question=_QUESTION, options=tuple(" ".join(reply.response.text.split()) for reply in replies),
        answer=first, category=CATEGORY, pair_id=yes.group or yes.sequence, author="people on Reddit",
        speaker=said.speaker or "Comment", language=yes.language or "en",
    )  # fmt: skip


_NAMED = f"{BASELINE_PREFIX}detector-"
"""Detectors are baselines of the track: they cost nothing and read no question."""


class ChosenReplies:
    """Answers items by the scores that a detector gave to their options; equal scores are no answer."""

    def __init__(self, name: str, scores: Mapping[str, Sequence[float | None]]) -> None:
        self.name = name
        self.scores = scores

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Answer with the letter of the highest score, in the order that is shown."""
        given = [self.scores[posed.item.id][place] for place in posed.order]
        known = [score for score in given if score is not None]
        if len(known) < len(given) or known.count(max(known)) > 1:
            return GivenAnswer("no reply is scored higher than the other", "stop", self.name)
        return GivenAnswer(f"Final Answer: {LETTERS[given.index(max(known))]}", "stop", self.name)


def detector_names(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folders of detectors by their last name, which stands on the board: a path says too much."""
    names = {folder.name: folder for folder in folders}
    if len(names) < len(folders):
        raise DataError("two detectors have folders of the same name: rename one, or run them separately")
    return names


def detector_answers(items: ItemSet, detectors: Mapping[str, Predictor]) -> dict[str, ChosenReplies]:
    """Return what each detector chooses, by its name on the board.

    A detector that was trained on one of the replies is refused, where it knows what it was trained on.
    """
    replies = [_replies(item) for item in items.items]
    flat = [reply for both in replies for reply in both]
    answers = {}
    for name, detector in detectors.items():
        seen = getattr(detector, "seen_", None)
        known = int(seen.contain(flat).sum()) if seen is not None else 0
        if known:
            raise DataError(f"{name} was trained on {known} of the {len(flat)} replies: give a detector that was not")
        scores = iter([prediction.score for prediction in detector.predict(flat)])
        chosen = {item.id: [next(scores) for _ in both] for item, both in zip(items.items, replies, strict=True)}
        answers[_NAMED + name] = ChosenReplies(_NAMED + name, chosen)
    return answers


def _replies(item: Item) -> list[Example]:
    """Return the options of an item as replies to its comment."""
    context = (*item.context, Turn(item.speaker, item.utterance))
    return [
        Example(f"{item.id}:{at}", Turn("", text), context, language=item.language)
        for at, text in enumerate(item.options)
    ]
