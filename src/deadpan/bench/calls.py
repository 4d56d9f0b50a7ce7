"""The journal of a run: one line a finished request, appended at once, so that a kill loses none.

Rows are made from it and never the other way round. A request that was in flight when the program died
left no line and is asked again; nothing else is.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from deadpan.bench.answers import place_of, read_letter
from deadpan.bench.items import LETTERS, family
from deadpan.bench.rows import Row, letters
from deadpan.errors import DataError
from deadpan.fields import decode, encode
from deadpan.records import Item

Key = tuple[str, int]
"""An item and the number of the run."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request and what came of it. With an `error` it has no answer."""

    item: str
    run: int
    max_tokens: int
    text: str = ""
    stop_reason: str = ""
    returned: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    error: str = ""
    at: str = ""

    @property
    def key(self) -> Key:
        return self.item, self.run


class Journal:
    """The file, open for appending. Each line goes out in one write, so none can be half of another."""

    def __init__(self, path: Path, *, secret: bool = False) -> None:
        self.path = path
        self.calls = read_calls(path)
        _cut_torn_line(path)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600 if secret else 0o644)

    def add(self, call: Call) -> None:
        """Keep a finished request: the system has it before the next one is sent."""
        self.calls.append(call)
        os.write(self._file, (json.dumps(encode(call), ensure_ascii=False) + "\n").encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync(self._file)
        os.close(self._file)


def read_calls(path: Path) -> list[Call]:
    """The finished requests; a last line without its end was in flight and does not count."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    calls = []
    for number, line in enumerate(whole.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            calls.append(decode(json.loads(line), Call))
        except (ValueError, TypeError, RecursionError) as bad:
            raise DataError(
                f"{path}:{number}: not a line of a run's journal ({bad}); take it out to have it asked again"
            ) from None
    return calls


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    raw = path.read_bytes()
    end = raw.rfind(b"\n") + 1
    if end < len(raw):
        os.truncate(path, end)


def by_key(calls: Iterable[Call]) -> dict[Key, list[Call]]:
    """Each row's requests, in order."""
    found: dict[Key, list[Call]] = defaultdict(list)
    for call in calls:
        found[call.key].append(call)
    return found


def next_limit(calls: Sequence[Call], limits: Sequence[int]) -> int | None:
    """The limit of the request a row still needs; None for a row that is done."""
    answered = [call for call in calls if not call.error]
    if not answered:
        return limits[0]
    if answered[-1].stop_reason != "max_tokens":
        return None
    return next((limit for limit in limits if limit > answered[-1].max_tokens), None)


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What every row of a run says alike."""

    model: str
    set: str
    set_hash: str
    orders: Mapping[Key, tuple[int, ...]]


def make_row(item: Item, run: int, calls: Sequence[Call], facts: RowFacts, limits: Sequence[int]) -> Row:
    """The row its requests come to. One that is not done, or was never answered, has an error."""
    answered = [call for call in calls if not call.error]
    done = next_limit(calls, limits) is None
    last = answered[-1] if answered else None
    order = facts.orders[item.id, run]
    place = place_of(read_letter(last.text), order) if last and done else None
    costs = [call.cost for call in calls]
    error = "" if done else (calls[-1].error if calls and calls[-1].error else "not asked")
    return Row(
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
    )
