"""The requests of a run as its journal keeps them, and the rows that follow from them.

A request that was in flight when the program died is not in the journal and is repeated when the run is
resumed; nothing else is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.bench.items.item import LETTERS, family
from deadpan.bench.runs.answers import kept_form, place_of, read_letter
from deadpan.bench.runs.folder import AnswerRow, letters
from deadpan.errors import DataError
from deadpan.journal import Journal
from deadpan.llm import CallRecord, Usage, read_calls
from deadpan.llm.calls import lost_cost
from deadpan.llm.transport import LIMIT
from deadpan.records import Item

Key = tuple[str, int]
"""An item id and a run number."""


@dataclass(frozen=True, slots=True)
class BenchCall:
    """One request and its outcome. With an `error` it has no answer."""

    item: str
    run: int
    max_tokens: int
    text: str = ""
    stop_reason: str = ""
    returned: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    error: str = ""
    at: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The body as it was sent."""
    unsupported: tuple[str, ...] = ()
    """Parameters that the server does not take."""

    @property
    def key(self) -> Key:
        return self.item, self.run


def call_tag(item: str, run: int, limit: int) -> str:
    """Return the tag under which the journal keeps the requests for one row and token limit."""
    return f"{item} {run} {limit}"


def read_bench_calls(path: Path) -> list[BenchCall]:
    """Read the finished requests of a run, failed ones included, oldest first."""
    if not path.exists():
        return []
    with Journal(path) as journal:
        return [_bench_call(record, path) for record in read_calls(journal)]


def paid_for(path: Path) -> float:
    """Return what a run has cost so far in US dollars, at most: lost and uncounted calls at their estimate."""
    if not path.exists():
        return 0.0
    with Journal(path) as journal:
        return journal.paid


def cost_notes(path: Path) -> list[str]:
    """Return what of a run's cost is an estimate: calls lost to a kill, answers without token counts."""
    if not path.exists():
        return []
    with Journal(path) as journal:
        (lost, cost), paid = lost_cost(journal), journal.paid
        uncounted = sum(not record.error and record.usage is None for record in read_calls(journal))
    notes = []
    if lost > 0:
        notes.append(f"{path.parent}: {lost} calls were in flight when it was killed; at most ${cost:.4f} more.")
    if uncounted and paid:
        notes.append(
            f"{path.parent}: {uncounted} answers came without token counts; "
            f"the run has cost at most ${paid:.4f}, which is what the budget counts."
        )
    return notes


def _bench_call(record: CallRecord, path: Path) -> BenchCall:
    try:
        item, run, limit = record.tag.rsplit(" ", 2)
        key = (item, int(run), int(limit))
    except ValueError:
        raise DataError(f"{path}: holds calls of another program: choose another --out") from None
    usage = record.usage or Usage(0, 0)
    return BenchCall(
        *key,
        text=record.text,
        stop_reason=record.stop_reason if not record.error else "",
        returned=record.model,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost=0.0 if record.error else record.cost,
        seconds=record.seconds,
        error=record.error,
        at=record.at,
        request=record.request,
        unsupported=record.unsupported,
    )


def by_key(calls: Iterable[BenchCall]) -> dict[Key, list[BenchCall]]:
    """Group requests by row, in order."""
    groups: dict[Key, list[BenchCall]] = defaultdict(list)
    for call in calls:
        groups[call.key].append(call)
    return groups


def next_limit(calls: Sequence[BenchCall], limits: Sequence[int]) -> int | None:
    """Return the token limit of the next request that a row needs; None for a row that is done."""
    answered = [call for call in calls if not call.error]
    if not answered:
        return limits[0]
    # Without a limit the model wrote as much as it can: a larger one would only repeat it.
    if answered[-1].stop_reason != "max_tokens" or LIMIT in answered[-1].unsupported:
        return None
    return next((limit for limit in limits if limit > answered[-1].max_tokens), None)


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts that all rows of a run have in common."""

    model: str
    set: str
    set_hash: str
    orders: Mapping[Key, tuple[int, ...]]
    prompts: Mapping[Key, str] = field(default_factory=dict)
    constrained: bool = False
    reasoned: bool = False


def make_row(item: Item, run: int, calls: Sequence[BenchCall], facts: RowFacts, limits: Sequence[int]) -> AnswerRow:
    """Return the row that follows from its requests. A row without a final answer has an error."""
    answered = [call for call in calls if not call.error]
    done = next_limit(calls, limits) is None
    last = answered[-1] if answered else None
    order = facts.orders[item.id, run]
    place = _place(item, order, last.text, facts.prompts.get((item.id, run), "")) if last and done else None
    costs = [call.cost for call in calls]
    error = "" if done else (calls[-1].error if calls and calls[-1].error else "not asked")
    return AnswerRow(
        model=facts.model,
        returned=last.returned if last else "",
        set=facts.set,
        set_hash=facts.set_hash,
        item=item.id,
        family=family(item),
        category=item.category,
        language=item.language,
        run=run,
        answer=LETTERS[item.answer],
        prediction="" if place is None else LETTERS[place],
        correct=place == item.answer,
        order=letters(order),
        stop_reason=last.stop_reason if last else "",
        max_tokens=last.max_tokens if last else limits[0],
        escalated=len({call.max_tokens for call in answered}) - 1 if answered else 0,
        retries=sum(bool(call.error) for call in calls),
        calls=len(calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        seconds=last.seconds if last else 0.0,
        error=error,
        text=last.text if last else "",
        at=last.at if last else "",
        in_form=kept_form(last.text, facts.constrained, facts.reasoned) if last and done else False,
        reasoning_tokens=sum(call.reasoning_tokens for call in calls),
    )


def _place(item: Item, order: tuple[int, ...], text: str, prompt: str) -> int | None:
    """Return the index of the item's own option that a reply names, read in the order that was shown."""
    return place_of(read_letter(text, [item.options[at] for at in order], prompt), order)
