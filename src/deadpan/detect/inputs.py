"""Texts, labels and Examples as a researcher passes them, and hashes of texts a model was trained on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.systems.ngrams import Keys, text_keys
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import EVERYDAY, read_label
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import atomic
from deadpan.text import fold

BOOLEANS = np.array([False, True])
ORNAMENTAL = re.compile("[\u3000\uff01-\uff5e\U0001d400-\U0001d7ff]")
"""Full-width characters and the mathematical alphabets that people write in for show."""
NAME, NEAR_NAME = "seen.npy", "near.npy"
MOST_NEAR = 50_000
"""Texts up to which near copies are remembered: about one number per word."""


def examples_from(
    texts: Iterable[str | Example], labels: Iterable[Any] | None = None, classes: NDArray[Any] | None = None
) -> tuple[list[Example], NDArray[Any]]:
    """Return Examples and the two classes, sincere first, in the type of the labels given, or those known."""
    if isinstance(texts, str):  # its letters would be judged one by one
        raise ConfigError("expected a list of texts: put the text into one, as in predict([text])")
    if hasattr(texts, "columns") or not isinstance(texts, Iterable):
        raise ConfigError(f"expected a list of texts, got {type(texts).__name__}: pass one column of it")
    rows = list(texts)
    if rows and len({isinstance(row, Example) for row in rows}) > 1:
        raise DataError("texts and Examples are mixed: pass a list of one or the other")
    examples = [_example(number, row) for number, row in enumerate(rows)]
    if labels is None:
        return examples, BOOLEANS
    values, classes = _booleans(labels, classes)
    if len(values) != len(examples):
        raise DataError(f"{len(examples)} texts but {len(values)} labels: give one label per text")
    return [replace(e, label=value) for e, value in zip(examples, values, strict=True)], classes


def in_plain_letters(example: Example) -> Example:
    """Return an Example with full-width and ornamental letters as plain ones, which models know."""
    turns = [example.response, *example.context]
    if not any(not turn.text.isascii() and ORNAMENTAL.search(turn.text) for turn in turns):
        return example
    response, *context = (Turn(turn.speaker, _plain(turn.text)) for turn in turns)
    return replace(example, response=response, context=tuple(context))


def _plain(text: str) -> str:
    # Only these: NFKC of a whole text would also take apart the letters of "ㅋㅋ" and the dots of "…".
    return ORNAMENTAL.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def class_labels(predictions: Sequence[Prediction], classes: NDArray[Any], abstain: bool) -> NDArray[Any]:
    """Return labels as an array in the type of the classes; None for no answer only with `abstain`."""
    if abstain:
        labels = [None if p.label is None else classes[int(p.label)] for p in predictions]
        return np.array(labels, dtype=object)
    # A score of None, of an unknown language or an answer that could not be read, counts as negative.
    chosen = [p.label if p.label is not None else (p.score or 0.0) > 0.5 for p in predictions]
    return classes[np.array(chosen, dtype=np.int64)]


def _example(number: int, row: object) -> Example:
    if isinstance(row, Example):
        return row
    if not isinstance(row, str):
        raise DataError(f"text {number} is {type(row).__name__}: pass a list of texts or of Examples")
    return Example(str(number), Turn("", str(row)))


def _booleans(labels: Iterable[Any], known: NDArray[Any] | None = None) -> tuple[list[bool], NDArray[Any]]:
    """Return labels as booleans, and the two classes: those that are known, or those that occur."""
    values = [value.item() if isinstance(value, np.generic) else value for value in labels]
    for number, value in enumerate(values):
        if value is None or value != value or not isinstance(value, str | bool | int | float):
            raise DataError(f"label {number} is {value!r}: give each text one of two labels, such as True and False")
    found = list(dict.fromkeys(values))
    if known is not None and not set(found) <= set(known.tolist()):
        raise DataError(f"labels {found[:5]}: this detector was trained on {known.tolist()}")
    if known is None:
        known = _classes(found)
    return [value == known[1] for value in values], known


def _classes(found: Sequence[Any]) -> NDArray[Any]:
    """Return the two labels, the one that means sarcastic last."""
    if set(found) <= {0, 1}:
        return BOOLEANS if all(isinstance(value, bool) for value in found) else np.array([0, 1])
    if len(found) != 2 or isinstance(found[0], str) is not isinstance(found[1], str):
        raise DataError(f"labels {list(found)[:5]}: training needs two different ones, such as True and False")
    meant = [read_label(value, EVERYDAY) for value in found]
    if set(meant) == {True, False}:
        return np.array(found if meant[1] else list(found)[::-1])
    return np.array(sorted(found))


@dataclass(frozen=True, slots=True, eq=False)
class SeenTexts:
    """Texts a model was trained on, as sorted hashes; case and punctuation do not count.

    `near` are signatures that near copies share, of up to 50,000 texts; beyond, they would outweigh the model.
    """

    hashes: Keys
    near: Keys | None = None

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Self:
        """Return the set of these examples' responses."""
        near = None
        if len(examples) <= MOST_NEAR:
            from deadpan.duplicates import copy_signatures

            near = np.unique(copy_signatures(e.response.text for e in examples)[0])
        return cls(np.unique(text_hashes(examples)), near)

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        return f"SeenTexts({len(self):,} texts)"

    def contain(self, examples: Sequence[Example]) -> NDArray[np.bool_]:
        """Return a mask of the examples whose response is in the set, or nearly."""
        found = np.isin(text_hashes(examples), self.hashes)
        if self.near is not None and len(examples):
            from deadpan.duplicates import copy_signatures

            signatures, owners = copy_signatures(example.response.text for example in examples)
            found[owners[np.isin(signatures, self.near)]] = True
        return found

    def write(self, folder: Path) -> None:
        """Write the hashes into a model folder."""
        for name, values in ((NAME, self.hashes), (NEAR_NAME, self.near)):
            if values is not None:
                with atomic(folder / name) as temporary, temporary.open("wb") as file:
                    np.save(file, values, allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the hashes of a model folder; None where a model has none."""
        whole, near = (
            np.load(path, allow_pickle=False) if (path := folder / name).is_file() else None
            for name in (NAME, NEAR_NAME)
        )
        return None if whole is None else cls(whole, near)


def text_hashes(examples: Sequence[Example]) -> Keys:
    """Return one hash per response, equal for texts that differ in case or punctuation only."""
    # Texts of a megabyte differ in their first thousand characters, or they are copies.
    return text_keys([(fold(e.response.text) or e.response.text)[:1000] for e in examples])
