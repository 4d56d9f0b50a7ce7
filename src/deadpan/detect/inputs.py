"""Texts, labels and Examples as a researcher passes them: lists, arrays or columns of a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn

BOOLEANS = np.array([False, True])
ORNAMENTAL = re.compile("[\u3000\uff01-\uff5e\U0001d400-\U0001d7ff]")
"""Full-width characters and the mathematical alphabets that people write in for show."""


def examples_from(
    texts: Iterable[str | Example], labels: Iterable[Any] | None = None
) -> tuple[list[Example], NDArray[Any]]:
    """Return Examples and the two classes, sincere first, in the type of the labels given."""
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
    values, classes = _booleans(labels)
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


def class_labels(predictions: Sequence[Prediction], classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array in the type of the classes; None where an answer could not be parsed."""
    if any(prediction.label is None for prediction in predictions):
        labels = [None if p.label is None else classes[int(p.label)] for p in predictions]
        return np.array(labels, dtype=object)
    return classes[np.array([int(bool(prediction.label)) for prediction in predictions], dtype=np.int64)]


def _example(number: int, row: object) -> Example:
    if isinstance(row, Example):
        return row
    if not isinstance(row, str):
        raise DataError(f"text {number} is {type(row).__name__}: pass a list of texts or of Examples")
    return Example(str(number), Turn("", str(row)))


def _booleans(labels: Iterable[Any]) -> tuple[list[bool], NDArray[Any]]:
    values = list(labels)
    for number, value in enumerate(values):
        if not isinstance(value, bool | int | np.bool_ | np.integer) or value not in (0, 1):
            raise DataError(
                f"label {number} is {value!r}: labels are True or 1 for sarcastic, False or 0 for sincere, "
                "as in [label == 'sarcastic' for label in labels]"
            )
    whole = any(not isinstance(value, bool | np.bool_) for value in values)
    return [bool(value) for value in values], np.array([0, 1]) if whole else BOOLEANS
