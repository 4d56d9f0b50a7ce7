"""The folder of a run: one subfolder per step, with the drafts it kept and the ones it dropped."""

from __future__ import annotations

import errno
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from deadpan.drops import Tally
from deadpan.errors import DataError, DeadpanError
from deadpan.fields import encode
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.steps.order import NAMES, WITH_DIALOGUES, step_before
from deadpan.journal import Journal
from deadpan.llm import CALL_FAILED, Reply
from deadpan.locks import lock_folder
from deadpan.storage import (
    Manifest,
    atomic,
    digest,
    manifest_path,
    read_manifest,
    read_records,
    write_manifest,
)

MICRO = 1_000_000
"""Costs in manifests are in millionths of a dollar: whole numbers add up exactly."""
KEPT, DROPPED = "kept.jsonl", "dropped.jsonl"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class GenerationFolder:
    """The steps of a run on disk. One run at a time may write in it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def step(self, name: str) -> Path:
        """Return the folder of a step."""
        return self.root / f"{NAMES.index(name) + 1}-{name}"

    def kept(self, name: str) -> Path:
        """Return the file of the drafts a step kept."""
        return self.step(name) / KEPT

    def manifest(self, name: str) -> Manifest | None:
        """Return the manifest of a finished step; None if the step is absent or incomplete."""
        folder = self.step(name)
        return read_manifest(folder) if manifest_path(folder).is_file() and folder.is_dir() else None

    def manifests(self) -> dict[str, Manifest]:
        """Return the manifests of all finished steps, in order."""
        return {name: manifest for name in NAMES if (manifest := self.manifest(name)) is not None}

    def drafts(self, name: str) -> Iterator[Draft]:
        """Read the drafts a step kept."""
        if self.manifest(name) is None:
            raise DataError(f"{self.step(name)}: missing or incomplete: run deadpan generate {name} first")
        return read_records(self.kept(name), Draft)

    def dropped(self, name: str) -> Iterator[Dropped]:
        """Read what a step dropped."""
        return read_records(self.step(name) / DROPPED, Dropped)

    def last(self) -> str:
        """Return the last finished step that holds dialogues and was made from the current input."""
        current = ""
        for name, manifest in self.manifests().items():
            if not current or manifest.inputs.get(KEPT) == digest(self.kept(current)):
                current = name
        if current not in WITH_DIALOGUES:
            raise DataError(f"{self.root}: no dialogues there yet: deadpan generate run PLAN makes them")
        return current

    def is_fresh(self, name: str, config: Mapping[str, Any]) -> bool:
        """Return whether a step is complete, has this config and the current input, and no call failed."""
        manifest = self.manifest(name)
        if manifest is None or manifest.config != json.loads(json.dumps(encode(config))):
            return False
        before = step_before(name)
        if manifest.drops.get(CALL_FAILED) or (
            before and manifest.inputs.get(KEPT) != digest(self.kept(before))
        ):
            return False
        folder = self.step(name)
        return all(
            (folder / file).is_file() and digest(folder / file) == facts["sha256"]
            for file, facts in manifest.files.items()
        )

    @property
    def journal(self) -> Path:
        """The journal of every call of the run."""
        return self.root / ".calls.sqlite"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of the folder; report a full disk as such."""
        if self.root.exists() and not self.root.is_dir():
            raise DataError(f"{self.root}: a file of that name is in the way: set another out in the plan")
        try:
            with lock_folder(self.root):
                yield
        except OSError as bad:
            if bad.errno in FULL:
                raise DataError(
                    f"{self.root}: disk full; finished calls and steps are kept: "
                    f"free some space and continue with --resume"
                ) from None
            raise

    @contextmanager
    def removed_if_unused(self) -> Iterator[None]:
        """Remove the folder again if a mistake ends the run that made it before any call or finished step."""
        is_new = not self.root.exists()
        try:
            yield
        except DeadpanError:
            if is_new and self.root.is_dir() and not self.manifests() and not self._has_calls():
                shutil.rmtree(self.root)
            raise

    def _has_calls(self) -> bool:
        if not self.journal.is_file():
            return False
        with Journal(self.journal) as journal:
            return len(journal) > 0


@dataclass(slots=True)
class StepCounts:
    """The counts in a step's manifest, beside its drops."""

    read: int = 0
    kept: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0
    unpriced: int = 0
    retried: Counter[str] = field(default_factory=Counter)

    def add_calls(self, replies: Iterable[Reply]) -> None:
        """Add calls at the cost they had when they were made, including answers from the journal."""
        for reply in replies:
            self.calls += 1
            self.tokens_in += reply.usage.input_tokens if reply.usage else 0
            self.tokens_out += reply.usage.output_tokens if reply.usage else 0
            self.cost_micros += round((reply.cost or 0.0) * MICRO)
            self.unpriced += reply.cost is None

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
        retried = {f"asked_again.{kind}": n for kind, n in sorted(self.retried.items())}
        return {**plain, **retried}


class StepWriter:
    """Writes one step, draft by draft, in order; the step is complete when closed without an error."""

    def __init__(self, run: GenerationFolder, name: str, config: Mapping[str, Any], seed: int) -> None:
        self.run = run
        self.name = name
        self.config = config
        self.seed = seed
        self.tally = Tally()
        self.counts = StepCounts()
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
        """Count a draft and write it for the next step."""
        self.counts.read += 1
        self.counts.kept += 1
        self._write(KEPT, draft)

    def drop(self, dropped: Dropped) -> None:
        """Count a drop and write it to dropped.jsonl."""
        self.counts.read += 1
        self.tally.drop(dropped.reason, dropped.id, dropped.detail)
        self._write(DROPPED, dropped)

    def _write(self, name: str, record: object) -> None:
        self._files[name].write(json.dumps(encode(record), ensure_ascii=False, allow_nan=False) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        before = step_before(self.name)
        if error is None:
            write_manifest(
                self.run.step(self.name),
                command=f"generate {self.name}",
                config=encode(self.config),
                seed=self.seed,
                inputs=[self.run.kept(before)] if before else (),
                counts=self.counts.as_dict(),
                tally=self.tally,
            )
