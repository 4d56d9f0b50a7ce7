"""The folder of a run: a folder a step, each with what was kept, what was dropped and why."""

from __future__ import annotations

import errno
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.generate.caller import FAILED
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.ledger import Said
from deadpan.locks import alone_in
from deadpan.storage import (
    Manifest,
    atomic,
    digest,
    manifest_path,
    read_manifest,
    read_records,
    write_manifest,
)

STEPS = ("source", "situation", "politeness", "dialogue", "filter", "abnormal", "review", "contrast")
KEPT, DROPPED = "kept.jsonl", "dropped.jsonl"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RunFolder:
    """Where a run keeps its steps. One run at a time may write in it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def step(self, name: str) -> Path:
        return self.root / f"{STEPS.index(name) + 1}-{name}"

    def kept(self, name: str) -> Path:
        return self.step(name) / KEPT

    def manifest(self, name: str) -> Manifest | None:
        """What a finished step says of itself; None if it was not done, or cut short."""
        folder = self.step(name)
        return read_manifest(folder) if manifest_path(folder).is_file() and folder.is_dir() else None

    def drafts(self, name: str) -> Iterator[Draft]:
        """What a step kept."""
        if self.manifest(name) is None:
            raise DataError(
                f"{self.step(name)}: not there or not finished: run deadpan generate {name} first"
            )
        return read_records(self.kept(name), Draft)

    def dropped(self, name: str) -> Iterator[Dropped]:
        """What a step dropped."""
        return read_records(self.step(name) / DROPPED, Dropped)

    def done(self) -> list[str]:
        """The steps that are finished, in order."""
        return [name for name in STEPS if self.manifest(name) is not None]

    def last(self) -> str:
        """The last finished step with whole dialogues that was made of what the step before it now holds."""
        current = ""
        for name in STEPS:
            found = self.manifest(name)
            if found is None or (current and found.inputs.get(KEPT) != digest(self.kept(current))):
                continue
            current = name
        if current not in STEPS[3:]:
            raise DataError(f"{self.root}: no dialogues there yet: deadpan generate run PLAN makes them")
        return current

    def is_fresh(self, name: str, config: Mapping[str, Any], before: str) -> bool:
        """Whether a step was finished with this config and input, is whole, and no call of it failed."""
        found = self.manifest(name)
        if found is None or found.config != json.loads(json.dumps(encode(config))) or found.drops.get(FAILED):
            return False
        if before and found.inputs.get(KEPT) != digest(self.kept(before)):
            return False
        folder = self.step(name)
        return all(
            (folder / file).is_file() and digest(folder / file) == facts["sha256"]
            for file, facts in found.files.items()
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out; a disk that fills is told as such."""
        if self.root.exists() and not self.root.is_dir():
            raise DataError(f"{self.root}: a file of that name is in the way; set another out in the plan")
        try:
            with alone_in(self.root):
                yield
        except OSError as bad:
            if bad.errno in FULL:
                raise DataError(
                    f"{self.root}: the disk is full; finished calls and steps are kept: "
                    f"make room and continue with --resume"
                ) from None
            raise


@dataclass(slots=True)
class Counts:
    """What a step's manifest counts beside its drops."""

    read: int = 0
    kept: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0
    unpriced: int = 0
    again: Counter[str] = field(default_factory=Counter)

    def add_calls(self, said: list[Said]) -> None:
        """Calls and what they cost when they were made, also where the answer was kept from before."""
        self.calls += len(said)
        for each in said:
            self.tokens_in += each.taken
            self.tokens_out += each.given
            self.cost_micros += each.cost or 0
            self.unpriced += each.cost is None

    def as_dict(self) -> dict[str, int]:
        plain = {
            "read": self.read,
            "kept": self.kept,
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_micros": self.cost_micros,
            "unpriced_calls": self.unpriced,
        }
        again = {f"asked_again.{kind}": n for kind, n in sorted(self.again.items())}
        return {**plain, **again}


class StepWriter:
    """Writes one step, item by item, in order; the step is there when it is closed without an error."""

    def __init__(
        self, run: RunFolder, name: str, config: Mapping[str, Any], seed: int, before: str = ""
    ) -> None:
        self.run = run
        self.name = name
        self.config = config
        self.seed = seed
        self.before = before
        self.tally = Tally()
        self.counts = Counts()
        self._stack = ExitStack()
        self._files: dict[str, IO[str]] = {}

    def __enter__(self) -> Self:
        folder = self.run.step(self.name)
        folder.mkdir(parents=True, exist_ok=True)
        manifest_path(folder).unlink(missing_ok=True)
        for name in (KEPT, DROPPED):
            temporary = self._stack.enter_context(atomic(folder / name))
            self._files[name] = self._stack.enter_context(temporary.open("w", encoding="utf-8", newline="\n"))
        return self

    def keep(self, draft: Draft) -> None:
        self.counts.read += 1
        self.counts.kept += 1
        self._write(KEPT, draft)

    def drop(self, dropped: Dropped) -> None:
        """Count a drop and keep it in the side file."""
        self.counts.read += 1
        self.tally.drop(dropped.reason, dropped.id, dropped.detail)
        self._write(DROPPED, dropped)

    def _write(self, name: str, record: object) -> None:
        self._files[name].write(json.dumps(encode(record), ensure_ascii=False, allow_nan=False) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if error is None:
            write_manifest(
                self.run.step(self.name),
                command=f"generate {self.name}",
                config=encode(self.config),
                seed=self.seed,
                inputs=[self.run.kept(self.before)] if self.before else (),
                counts=self.counts.as_dict(),
                tally=self.tally,
            )
