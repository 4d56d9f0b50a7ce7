"""Labels as people write them: which words say sarcastic and which say not."""

from __future__ import annotations

from collections.abc import Mapping

from deadpan.datasets.rows import Row
from deadpan.drops import Tally

Words = Mapping[str, bool]

BINARY: Words = {"1": True, "0": False, "true": True, "false": False}
"""What most releases write."""

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
"""What people write in tables of their own."""


def read_label(value: object, words: Words) -> bool | None:
    """What a value says, whatever its case, hyphens or type; None where it is not one of the words."""
    if isinstance(value, bool):
        return value
    key = str(value).strip().lower().replace("-", "_").replace(" ", "_")
    return words.get(key.removesuffix(".0"))


def label_of(row: Row, words: Words, tally: Tally) -> bool | None:
    """The label of a row; one that is none of the words is counted as a drop."""
    value = row.fields.get("label")
    label = read_label(value, words)
    if label is None:
        tally.drop("unknown_label", row.place, repr(value))
    return label
