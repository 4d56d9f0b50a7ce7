"""The folder of a run: drafts, one subfolder per step with what it kept and dropped, and the results."""

from __future__ import annotations

import errno
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from deadpan.drops import Tally
from deadpan.errors import DataError, DeadpanError
from deadpan.generate.plan import STEP_NAMES, STEPS_WITH_DIALOGUES, step_before
from deadpan.journal import Journal
from deadpan.llm import CALL_FAILED, Reply
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Example, Turn
from deadpan.results import Result
from deadpan.storage import (
    Manifest,
    atomic,
    digest,
    lock_folder,
    manifest_path,
    read_manifest,
    read_records,
    write_manifest,
)
from deadpan.text import render_turn
from deadpan.validation import encode

SPEAKERS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Draft:
    """A source dialogue and what the steps have made of it so far; fields yet to be made are empty.

    `suspect` is the reason why the model found it abnormal; a person decides whether it is.
    """

    id: str
    source: tuple[Turn, ...]
    topic: str = ""
    intimacy: str = ""
    theme: str = ""
    summary: str = ""
    politeness: Mapping[str, str] = field(default_factory=dict)
    context: tuple[Turn, ...] = ()
    response: Turn | None = None
    explanation: str = ""
    suspect: str = ""
    sincere: str = ""
    contrast: float | None = None
    """The probability of a bad scene with a friendly response, where a back-check chose it."""

    @property
    def situation(self) -> str:
        """Theme and summary in one line, as in prompts."""
        return f"{self.theme} - {self.summary}"

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The new dialogue, response last."""
        return self.context if self.response is None else (*self.context, self.response)

    @property
    def text(self) -> str:
        """The new dialogue as one text, without speakers."""
        return "\n".join(turn.text for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped draft, its step and the reason. `raw` is the model's answer."""

    id: str
    step: str
    reason: str
    detail: str = ""
    raw: str = ""
    draft: Draft | None = None


def render_dialogue(turns: tuple[Turn, ...]) -> str:
    """Return a dialogue as text, one turn per line, as in prompts."""
    return "\n".join(render_turn(turn) for turn in turns)


def as_examples(draft: Draft, language: str) -> list[Example]:
    """Return the draft as examples that nobody judged: the sarcastic response and, if any, its contrast."""
    if draft.response is None:
        return []
    shared: dict[str, Any] = {
        "context": draft.context,
        "label_kind": "generated",
        "group": draft.id,
        "source": "deadpan-generate",
        "language": language,
        "meta": {"topic": draft.topic, "situation": draft.situation},
        "sequence": draft.id if draft.sincere else "",
    }
    made = [Example(draft.id, draft.response, label=True, explanation=draft.explanation, **shared)]
    if draft.sincere:
        twin = Turn(draft.response.speaker, draft.sincere)
        made.append(Example(f"{draft.id}/sincere", twin, label=False, **shared))
    return made


MICRO = 1_000_000
"""Costs in manifests are in millionths of a dollar: whole numbers add up exactly."""
_KEPT, _DROPPED = "kept.jsonl", "dropped.jsonl"
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class GenerationFolder:
    """The steps of a run on disk. One run at a time may write in it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def step(self, name: str) -> Path:
        """Return the folder of a step."""
        return self.root / f"{STEP_NAMES.index(name) + 1}-{name}"

    def kept(self, name: str) -> Path:
        """Return the file of the drafts a step kept."""
        return self.step(name) / _KEPT

    def manifest(self, name: str) -> Manifest | None:
        """Return the manifest of a finished step; None if the step is absent or incomplete."""
        folder = self.step(name)
        return read_manifest(folder) if manifest_path(folder).is_file() and folder.is_dir() else None

    def manifests(self) -> dict[str, Manifest]:
        """Return the manifests of all finished steps, in order."""
        return {name: manifest for name in STEP_NAMES if (manifest := self.manifest(name)) is not None}

    def drafts(self, name: str) -> Iterator[Draft]:
        """Read the drafts a step kept."""
        if self.manifest(name) is None:
            raise DataError(
                f"{self.step(name)}: missing or incomplete: run deadpan generate run PLAN --until {name} first"
            )
        return read_records(self.kept(name), Draft)

    def dropped(self, name: str) -> Iterator[Dropped]:
        """Read what a step dropped."""
        return read_records(self.step(name) / _DROPPED, Dropped)

    def last(self) -> str:
        """Return the last finished step that holds dialogues and was made from the current input."""
        current = ""
        for name, manifest in self.manifests().items():
            if not current or manifest.inputs.get(_KEPT) == digest(self.kept(current)):
                current = name
        if current not in STEPS_WITH_DIALOGUES:
            raise DataError(f"{self.root}: no dialogues there yet: deadpan generate run PLAN makes them")
        return current

    def is_fresh(self, name: str, config: Mapping[str, Any]) -> bool:
        """Return whether a step is complete, has this config and the current input, and no call failed."""
        manifest = self.manifest(name)
        if manifest is None or manifest.config != json.loads(json.dumps(encode(config))):
            return False
        before = step_before(name)
        if manifest.drops.get(CALL_FAILED) or (before and manifest.inputs.get(_KEPT) != digest(self.kept(before))):
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

    def from_cache(self) -> dict[str, tuple[int, float]]:
        """Return, by step, how many answers came from the cache of all runs, and what they cost an earlier run."""
        found: dict[str, tuple[int, float]] = {}
        if self.journal.is_file():
            with Journal(self.journal) as journal:
                for _, record in journal.records():
                    if record.get("cached"):
                        # The questions of several candidates are tagged by their own names.
                        step = record["tag"] if record["tag"] in STEP_NAMES else "dialogue"
                        calls, cost = found.get(step, (0, 0.0))
                        found[step] = (calls + 1, cost + (record.get("cost") or 0.0))
        return found

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of the folder; report a full disk as such."""
        if self.root.exists() and not self.root.is_dir():
            raise DataError(f"{self.root}: a file of that name is in the way: set another out in the plan")
        try:
            with lock_folder(self.root):
                yield
        except OSError as bad:
            if bad.errno in _DISK_FULL:
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
    unpriced_calls: int = 0
    retried: Counter[str] = field(default_factory=Counter)

    def add_calls(self, replies: Iterable[Reply]) -> None:
        """Add calls at the cost they had when they were made, whoever paid: a repeated run counts the same."""
        for reply in replies:
            self.calls += 1
            self.tokens_in += reply.usage.input_tokens if reply.usage else 0
            self.tokens_out += reply.usage.output_tokens if reply.usage else 0
            self.cost_micros += round((reply.cost or 0.0) * MICRO)
            self.unpriced_calls += reply.cost is None

    def as_dict(self) -> dict[str, int]:
        counts: dict[str, Any] = encode(self)
        retried = counts.pop("retried")
        return counts | {f"asked_again.{kind}": n for kind, n in sorted(retried.items())}


@dataclass(slots=True)
class StepWriter:
    """Writes one step, draft by draft, in order; the step is complete when closed without an error."""

    run: GenerationFolder
    name: str
    config: Mapping[str, Any]
    seed: int
    tally: Tally = field(default_factory=Tally)
    counts: StepCounts = field(default_factory=StepCounts)
    _stack: ExitStack = field(default_factory=ExitStack)
    _files: dict[str, IO[str]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        folder = self.run.step(self.name)
        folder.mkdir(parents=True, exist_ok=True)
        manifest_path(folder).unlink(missing_ok=True)
        for name in (_KEPT, _DROPPED):
            temporary = self._stack.enter_context(atomic(folder / name))
            self._files[name] = self._stack.enter_context(temporary.open("w", encoding="utf-8", newline="\n"))
        return self

    def keep(self, draft: Draft) -> None:
        """Count a draft and write it for the next step."""
        self.counts.read += 1
        self.counts.kept += 1
        self._write(_KEPT, draft)

    def drop(self, dropped: Dropped) -> None:
        """Count a drop and write it to dropped.jsonl."""
        self.counts.read += 1
        self.tally.drop(dropped.reason, dropped.id, dropped.detail)
        self._write(_DROPPED, dropped)

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


REPORT_PAGE = "report.html"


@dataclass(frozen=True, slots=True)
class StepResult(Result):
    """Dialogues one step read, kept and dropped by reason, and the cost of its calls.

    `cost` is what this run paid; `cached_cost` what answers from the cache cost an earlier run.
    """

    step: str
    folder: Path
    read: int
    kept: int
    drops: Mapping[str, int]
    changes: Mapping[str, int]
    calls: int
    cost: float
    unpriced_calls: int
    cached_calls: int
    cached_cost: float

    @classmethod
    def of(cls, run: GenerationFolder, name: str, cached: tuple[int, float] = (0, 0.0)) -> StepResult:
        """Return the result of a finished step; `cached` are its answers from the cache and their cost."""
        manifest = run.manifests()[name]
        counts, (cached_calls, cached_cost) = manifest.counts, cached
        cost = max(counts["cost_micros"] / MICRO - cached_cost, 0.0)
        return cls(
            name, run.step(name), counts["read"], counts["kept"], dict(manifest.drops), dict(manifest.changes),
            counts["calls"], cost, counts["unpriced_calls"], cached_calls, cached_cost,
        )  # fmt: skip

    def summary(self) -> Summary:
        return Summary((_table([self]),), (f"kept and dropped dialogues: {self.folder}",))

    def as_dict(self) -> dict[str, object]:
        return {**encode(self), "folder": str(self.folder)}


@dataclass(frozen=True, slots=True, repr=False)
class GenerationResult(Result):
    """A run: its steps so far, the dollars spent over all its starts, and failed attempts by reason."""

    out: Path
    language: str
    steps: tuple[StepResult, ...]
    spent: float = 0.0
    retried: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    """Steps of the plan that are still to be run."""
    unsupported: tuple[str, ...] = ()
    """Parameters that a server does not take and that were therefore not sent."""

    @property
    def read(self) -> int:
        """Source dialogues read."""
        return self.steps[0].read if self.steps else 0

    @property
    def kept(self) -> int:
        """Dialogues the last step kept."""
        return self.steps[-1].kept if self.steps else 0

    @property
    def dropped(self) -> int:
        """Dialogues dropped by all steps."""
        return sum(sum(step.drops.values()) for step in self.steps)

    @property
    def report(self) -> Path:
        """The page about the run."""
        return self.out / REPORT_PAGE

    def examples(self) -> Iterator[Example]:
        """Yield the dialogues the last step kept, labelled as the model was asked to write them."""
        run = GenerationFolder(self.out)
        for draft in run.drafts(run.last()):
            yield from as_examples(draft, self.language)

    def counts(self) -> dict[str, int]:
        """Return the counts of the whole run, for its manifest."""
        cost = sum(round((step.cost + step.cached_cost) * MICRO) for step in self.steps)
        return {"read": self.read, "kept": self.kept, "dropped": self.dropped, "cost_micros": cost}

    def summary(self) -> Summary:
        notes = [f"read {self.read:,} = kept {self.kept:,} + dropped {self.dropped:,}"]
        if self.retried:
            notes.append("retried: " + ", ".join(f"{k} {n:,}" for k, n in sorted(self.retried.items())))
        unpriced = sum(step.unpriced_calls for step in self.steps)
        notes.append(f"spent ${self.spent:.4f}" + (f"; the price of {unpriced:,} calls is unknown" if unpriced else ""))
        if cached := sum(step.cached_calls for step in self.steps):
            saved = sum(step.cached_cost for step in self.steps)
            notes.append(f"{cached:,} answers came from the cache; an earlier run paid ${saved:.4f} for them")
        if self.unsupported:
            notes.append(f"not sent, because a server does not take them: {', '.join(self.unsupported)}")
        if self.waiting:
            notes.append(f"not run yet: {', '.join(self.waiting)}")
        if self.report.is_file():
            notes.append(f"report: {self.report}")
        return Summary((_table(self.steps),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        return {
            "out": str(self.out),
            "report": str(self.report),
            **self.counts(),
            "spent": round(self.spent, 6),
            "retried": dict(self.retried),
            "waiting": list(self.waiting),
            "unsupported": list(self.unsupported),
            "steps": [step.as_dict() for step in self.steps],
        }

    def __repr__(self) -> str:
        return f"GenerationResult({str(self.out)!r}, {self.kept:,} of {self.read:,} dialogues kept)"


def _table(steps: Sequence[StepResult]) -> Table:
    any_cached = any(step.cached_calls for step in steps)
    rows = []
    for step in steps:
        cost = "unknown" if step.unpriced_calls else f"{step.cost:.4f}" if step.calls else "-"
        cached = (f"{step.cached_cost:.4f}" if step.cached_calls else "-",) if any_cached else ()
        drops = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step.drops.items())) or "-"
        changes = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step.changes.items()))
        rows.append((step.step, step.read, step.kept, cost, *cached, f"{drops}; {changes}" if changes else drops))
    columns = ("step", "read", "kept", "US $", *(("cached US $",) if any_cached else ()), "dropped; noticed")
    return Table(columns, tuple(rows))
