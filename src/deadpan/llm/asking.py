"""Asking a model until its answer can be read, a bounded number of times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from deadpan.errors import ModelError
from deadpan.llm.messages import Messages, Reply
from deadpan.llm.retries import Unavailable

if TYPE_CHECKING:
    from deadpan.llm.client import Client

T = TypeVar("T")
CALL_FAILED = "call_failed"
"""The reason of a question that got no answer; another start of the run may get one."""


class Unreadable(Exception):
    """An answer that is not in the form asked for. `kind` is a word to count by."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


@dataclass(slots=True)
class Outcome(Generic[T]):
    """The result of asking: a value, or the reason why there is none.

    `raw` is the text of the last answer, `retried` the reasons of the tries before it, `replies` all answers.
    """

    value: T | None = None
    reason: str = ""
    detail: str = ""
    raw: str = ""
    retried: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


async def ask(
    client: Client,
    messages: Messages,
    read: Callable[[Reply], T],
    tries: int = 3,
    *,
    first: int = 0,
    **options: Any,
) -> Outcome[T]:
    """Ask until `read` returns a value instead of raising `Unreadable`; each try is a new replicate.

    Replicates are counted from `first`.

    A refused or empty answer is never read; one that was cut off and cannot be read counts as `cut_off`.
    A call that fails ends the tries with the reason `call_failed`; `Unavailable`, `CostLimit` and errors in
    the settings are raised, because the next question would fail too. `options` go to `Client.acomplete`.
    """
    outcome: Outcome[T] = Outcome()
    for replicate in range(first, first + tries):
        if outcome.reason:
            outcome.retried.append(outcome.reason)
        try:
            reply = await client.acomplete(messages, replicate, **options)
        except Unavailable:
            raise
        except ModelError as bad:
            outcome.reason, outcome.detail, outcome.raw = CALL_FAILED, str(bad), ""
            return outcome
        outcome.replies.append(reply)
        outcome.raw = reply.text
        try:
            outcome.value, outcome.reason, outcome.detail = _read(reply, read), "", ""
            return outcome
        except Unreadable as bad:
            outcome.reason, outcome.detail = bad.kind, bad.detail
    return outcome


def _read(reply: Reply, read: Callable[[Reply], T]) -> T:
    """Read an answer. The reason of a refused, empty or cut-off one says so."""
    if reply.stop_reason == "content_filter":
        raise Unreadable("refused", reply.text[:120])
    if not reply.text.strip():
        raise Unreadable("empty_answer")
    try:
        return read(reply)
    except Unreadable as bad:
        if reply.stop_reason == "max_tokens":
            raise Unreadable("cut_off", str(bad)) from None
        raise
