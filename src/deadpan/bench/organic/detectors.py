"""Detectors on the organic track: a yes/no detector chooses the reply that it scores as more sarcastic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem
from deadpan.errors import DataError
from deadpan.records import Example, Item, Predictor, Turn

NAMED = f"{BASELINE_PREFIX}detector-"
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


def names_of(folders: Sequence[Path]) -> dict[str, Path]:
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
            raise DataError(
                f"{name} was trained on {known} of the {len(flat)} replies: give a detector that was not"
            )
        scores = iter([prediction.score for prediction in detector.predict(flat)])
        chosen = {
            item.id: [next(scores) for _ in both] for item, both in zip(items.items, replies, strict=True)
        }
        answers[NAMED + name] = ChosenReplies(NAMED + name, chosen)
    return answers


def _replies(item: Item) -> list[Example]:
    """Return the options of an item as replies to its comment."""
    context = (*item.context, Turn(item.speaker, item.utterance))
    return [
        Example(f"{item.id}:{at}", Turn("", text), context, language=item.language)
        for at, text in enumerate(item.options)
    ]
