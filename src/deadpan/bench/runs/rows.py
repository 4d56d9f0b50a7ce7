"""Rows: one per item and run, with the answer, its cost and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.bench.items.item import LETTERS


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The answer to one item in one run. Letters refer to the item's own order, whatever order was shown.

    `prediction` is empty for an unread answer. `stop_reason` is of the last call. Tokens and cost are sums
    over all calls of the row; `cost` is None if the price is unknown. `escalated` counts repetitions with a
    larger token limit, `retries` failed attempts. A row with an `error` has no answer: its run is incomplete.
    """

    model: str
    returned: str
    set: str
    set_hash: str
    item: str
    family: str
    category: str
    language: str
    run: int
    answer: str
    prediction: str
    correct: bool
    order: str
    stop_reason: str
    max_tokens: int
    escalated: int
    retries: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    error: str
    text: str
    at: str
    source: str = ""
    in_form: bool | None = None
    """True if the answer has the form that was asked for; None for people and in older runs."""
    reasoning_tokens: int = 0
    """The part of the output that was reasoning."""

    @property
    def truncated(self) -> bool:
        """The last answer was cut off at the token limit."""
        return self.stop_reason == "max_tokens"

    @property
    def refused(self) -> bool:
        """The provider refused to answer."""
        return self.stop_reason == "content_filter"

    @property
    def unread(self) -> bool:
        """A complete answer without a readable letter; errors, refusals and cut-off answers do not count."""
        return not (self.prediction or self.error or self.refused or self.truncated)


def letters(order: Sequence[int]) -> str:
    """Return an order of options as the item's own letters: of the first option shown, the second, ..."""
    return "".join(LETTERS[place] for place in order)
