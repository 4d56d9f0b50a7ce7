"""Labels as words: which of them mean sarcastic and which sincere."""

from __future__ import annotations

from collections.abc import Mapping

from deadpan.drops import Tally
from deadpan.formats.rows import TableRow
from deadpan.records import Prediction

Words = Mapping[str, bool]

BINARY: Words = {"1": True, "0": False, "true": True, "false": False}
"""Labels of most releases."""

EVERYDAY: Words = {
    **BINARY,
    **dict.fromkeys(
        ("yes", "y", "t", "sarcastic", "sarcasm", "sarc", "ironic", "irony", "positive", "pos"), True
    ),
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


def label_word(prediction: Prediction) -> str:
    """Return a prediction's label as a word; empty if the answer could not be read."""
    if prediction.label is None:
        if prediction.raw.startswith(NOT_SUPPORTED):
            return NOT_SUPPORTED
        return "" if prediction.score is None else CANNOT_TELL
    return "sarcastic" if prediction.label else "sincere"


def read_label(value: object, words: Words) -> bool | None:
    """Return the label of a value, whatever its case, hyphens or type; None if it is not one of the words."""
    if isinstance(value, bool):
        return value
    key = str(value).strip().lower().replace("-", "_").replace(" ", "_")
    return words.get(key.removesuffix(".0"))


def label_of(row: TableRow, words: Words, tally: Tally) -> bool | None:
    """Return the label of a row; one that is not among the words is counted as a drop."""
    value = row.fields.get("label")
    label = read_label(value, words)
    if label is None:
        tally.drop("unknown_label", row.place, repr(value))
    return label
