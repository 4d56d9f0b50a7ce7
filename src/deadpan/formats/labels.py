"""Labels as words: which of them mean sarcastic and which sincere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from deadpan.drops import Tally
from deadpan.records import Prediction

if TYPE_CHECKING:
    from deadpan.formats.rows import TableRow

Words = Mapping[str, bool]

BINARY: Words = {"1": True, "0": False, "true": True, "false": False}
"""Labels of most releases."""

EVERYDAY: Words = {
    **BINARY,
    **dict.fromkeys(("yes", "y", "t", "sarcastic", "sarcasm", "sarc", "ironic", "irony", "positive", "pos"), True),
    **dict.fromkeys(("no", "n", "f", "none", "negative", "neg", "literal", "sincere", "serious"), False),
    **{
        f"{no}{gap}{word}": False
        for no in ("not", "non", "no")
        for gap in ("_", "")
        for word in ("sarcastic", "sarcasm", "sarc", "ironic", "irony")
    },
}
"""Labels in tables of your own."""


CANNOT_TELL = "cannot tell"
"""The word of a system that gives a score but no label."""
NOT_SUPPORTED = "not supported"
"""The word of a system that has no answer in this language."""
NO_LABEL = (CANNOT_TELL, NOT_SUPPORTED)


def label_word(prediction: Prediction, kind: str = "") -> str:
    """Return a prediction's label as a word; empty if the answer could not be read.

    The label of a detector of one kind of sarcasm is the kind, or "not" and the kind.
    """
    if prediction.label is None:
        if prediction.raw.startswith(NOT_SUPPORTED):
            return NOT_SUPPORTED
        return "" if prediction.score is None else CANNOT_TELL
    return label_words(kind)[0 if prediction.label else 1]


def label_words(kind: str = "") -> tuple[str, str]:
    """Return the words of True and False."""
    return (kind, f"not {kind}") if kind else ("sarcastic", "sincere")


def kind_words(words: Iterable[str]) -> Words:
    """Return the labels of a table that a detector of one kind wrote: nothing but satire and not satire."""
    said = {_folded(word) for word in words if word.strip() and word.strip().lower() not in NO_LABEL}
    kinds = {word.removeprefix("not_") for word in said}
    if len(kinds) != 1 or not any(word.startswith("not_") for word in said):
        return {}
    (kind,) = kinds
    return {kind: True, f"not_{kind}": False}


def read_label(value: object, words: Words) -> bool | None:
    """Return the label of a value, whatever its case, hyphens or type; None if it is not one of the words."""
    if isinstance(value, bool):
        return value
    return words.get(_folded(str(value)).removesuffix(".0"))


def _folded(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def label_of(row: TableRow, words: Words, tally: Tally) -> bool | None:
    """Return the label of a row; one that is not among the words is counted as a drop."""
    value = row.fields.get("label")
    label = read_label(value, words)
    if label is None:
        tally.drop("unknown_label", row.place, repr(value))
    return label
