"""Cleaned, hashed splits of a corpus: what was removed, why, and because of which other row."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deadpan.arguments import check_examples, check_names, check_path, check_progress, check_share, check_text
from deadpan.datasets import read_source
from deadpan.datasets.convert import parse_sizes
from deadpan.datasets.label_cues import real_name
from deadpan.datasets.reading import Reading
from deadpan.duplicates import NEAR, distinct, near_duplicates
from deadpan.errors import ConfigError, DataError
from deadpan.page.numbers import digits, score
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.splits import split
from deadpan.stats.interval import Interval
from deadpan.stats.scores import metric_words
from deadpan.storage import OutputPage, atomic, prepare_output, write_json, write_manifest, write_records

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

_ON_REQUEST = ("author", "thread", "label_error")
REMOVAL_REASONS: Mapping[str, str] = {
    "conflict": "the same text has the other label elsewhere",
    "identical": "the text is identical to an earlier one",
    "near": "the text is nearly identical to an earlier one",
    "author": "the author is also in an earlier split",
    "thread": "the thread or group is also in an earlier split",
    "label_error": "confident learning finds the label improbable",
    "pair": "the other response of its pair was removed",
    "unlabelled": "it has no label",
}
"""Reasons for removal, in the order in which they are tried."""

_SPLIT_RANK = {"train": 0, "dev": 1, "test": 2, "": 0}


@dataclass(frozen=True, slots=True)
class Removal:
    """A removed row, the reason, and the row because of which it was removed, if there is one."""

    id: str
    split: str
    reason: str
    because: str = ""


class Rescored(Protocol):
    """Scores by system and name, as a corpus is and cleaned, and what shortcuts explain of them."""

    @property
    def before(self) -> Mapping[str, Mapping[str, Interval]]: ...
    @property
    def after(self) -> Mapping[str, Mapping[str, Interval]]: ...
    @property
    def explained(self) -> Mapping[str, Interval]: ...
    @property
    def removed(self) -> int: ...
    @property
    def design(self) -> str: ...
    def as_dict(self) -> dict[str, Any]: ...
    def summary(self) -> Summary: ...


Rescorer = Callable[[Sequence[Example], Sequence[Example], Mapping[str, float]], Rescored]
"""Scores systems on examples as they are and cleaned, given the held-out scores of the shortcuts by id."""


@dataclass(frozen=True, slots=True, repr=False)
class Cleaning(Result):
    """The examples that remain, what was removed, and the digest of the ids and texts that remain."""

    name: str
    examples: tuple[Example, ...]
    removed: tuple[Removal, ...]
    digest: str
    out: Path | None = None
    rescored: Rescored | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Cleaning({self.name}: {len(self.examples):,} remain, {len(self.removed):,} removed)"

    @property
    def reasons(self) -> dict[str, int]:
        """The number of removed rows by reason."""
        return dict(Counter(removal.reason for removal in self.removed).most_common())

    def as_dict(self) -> dict[str, object]:
        """Return the counts, the digest and the folder."""
        splits = Counter(example.split or "all" for example in self.examples)
        return {
            "name": self.name, "remain": len(self.examples), "removed": len(self.removed),
            "reasons": self.reasons, "splits": dict(splits), "digest": self.digest,
            "out": str(self.out) if self.out else None, "remarks": list(self.remarks),
            "rescored": self.rescored.as_dict() if self.rescored else None,
        }  # fmt: skip

    def summary(self) -> Summary:
        """Return the splits and the reasons."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        kept, gone = (Counter(row.split or "all" for row in rows) for rows in (self.examples, self.removed))
        rows = tuple((name, kept[name], gone[name]) for name in dict.fromkeys([*kept, *gone]))
        why = tuple((reason, REMOVAL_REASONS[reason], n) for reason, n in self.reasons.items())
        tables = [Table(("split", "remain", "removed"), rows, self.name)]
        if why:
            tables.append(Table(("reason", "meaning", "rows"), why))
        notes = [*self.remarks, f"digest of ids and texts: {self.digest}"]
        if self.rescored:
            again = self.rescored.summary()
            tables, notes = [*tables, *again.tables], [*again.notes, *notes]
        if self.out:
            notes.append(f"written to {self.out}: ids.csv and removed.csv hold no texts and can be shared")
        return Summary(tuple(tables), tuple(notes))


def clean_examples(
    examples: Iterable[Example], *, also: Sequence[str] = (), name: str = "examples", threshold: float = NEAR
) -> Cleaning:
    """Remove duplicates, texts with both labels, and what leaks from an earlier split into a later one.

    Of rows with the same text the one in the earliest split stays, so a test row whose text is in train is
    removed from test; a text with both labels is removed altogether. `also` adds "author" and "thread" (rows
    of dev and test whose author or group is in an earlier split) and "label_error". A pair that loses one
    response is removed whole.
    """
    rows = check_examples(examples)
    check_share(threshold, "threshold")
    check_text(name, "name")
    for reason in check_names(also, "also"):
        if reason not in _ON_REQUEST:
            raise ConfigError(unknown("reason", reason, _ON_REQUEST))
    ids = Counter(example.id for example in rows)
    if ids and ids.most_common(1)[0][1] > 1:
        raise DataError(f"id {ids.most_common(1)[0][0]!r} is not unique: removed rows could not be named")
    order = sorted(range(len(rows)), key=lambda at: _SPLIT_RANK[rows[at].split])
    rows = [rows[at] for at in order]
    gone: dict[int, tuple[str, int | None]] = {}
    for at, example in enumerate(rows):
        if example.label is None:
            gone[at] = ("unlabelled", None)
    _duplicates(rows, gone, threshold)
    for reason in ("author", "thread"):
        if reason in also:
            _shared(rows, gone, reason)
    if "label_error" in also:
        _label_errors(rows, gone)
    _torn(rows, gone)
    removed = tuple(
        Removal(rows[at].id, rows[at].split, reason, "" if because is None else rows[because].id)
        for at, (reason, because) in sorted(gone.items())
    )
    kept = tuple(example for at, example in enumerate(rows) if at not in gone)
    remarks = tuple(_nothing_removed(rows, reason) for reason in also if reason not in {r.reason for r in removed})
    return Cleaning(name, kept, removed, content_digest(kept), remarks=remarks)


def _nothing_removed(rows: Sequence[Example], reason: str) -> str:
    """Return why a removal that was asked for removed nothing."""
    said = f"--remove {reason} removed nothing: "
    if reason == "label_error":
        return f"{said}no label is improbable enough"
    if not any(_shared_value(example, reason) for example in rows):
        cure = "name the column with --column speaker=NAME" if reason == "author" else "--column group=NAME"
        return f"{said}no row has {'an author' if reason == 'author' else 'a thread or group'} ({cure})"
    if len({example.split for example in rows}) == 1:
        return f"{said}the corpus comes in one split, so no {reason} can be in an earlier one"
    return f"{said}no {reason} is in two splits"


def clean_dataset(
    source: str | Path,
    out: Path | str,
    *,
    also: Sequence[str] = (),
    sizes: str = "8:1:1",
    seed: int = 0,
    reading: Reading | None = None,
    rescorer: Rescorer | None = None,
    progress: Progress = silent,
) -> Cleaning:
    """Clean a corpus and write its splits, the ids with hashes, and every removed id with its reason.

    Published splits are kept; a corpus with one split or none is split again by `sizes`, pairs whole. A
    `rescorer` scores systems before and after (`deadpan.detect.studies.rescoring.rescorer`).
    """
    progress = check_progress(progress)
    out, fractions = check_path(out, "the folder"), parse_sizes(sizes)
    data = read_source(source, reading, progress)
    progress("looking for duplicates", 0, 0)
    cleaning = clean_examples(data.examples, also=also, name=data.name)
    if not cleaning.examples:
        raise DataError(f"{source}: nothing remains: no row has both a label and a text that no other row has")
    examples = cleaning.examples
    if len({example.split for example in examples}) == 1:
        parts = split([replace(example, split="") for example in examples], fractions, seed=seed)
        examples = tuple(example for part in parts.values() for example in part)
    cleaning = replace(cleaning, examples=examples, digest=content_digest(examples), out=out)
    if rescorer is not None:
        from deadpan.datasets.shortcuts import shortcut_scores

        cues = shortcut_scores(examples, seed)
        cleaning = replace(cleaning, rescored=rescorer(data.examples, examples, cues))
    before = prepare_output(out)
    for name in dict.fromkeys(example.split for example in examples):
        # In data/, as in a release, so that the folder is a source: ids.csv beside it is no table of texts.
        write_records(out / "data" / f"{name or 'all'}.parquet", [e for e in examples if e.split == name], Example)
    _write_csv(out / "ids.csv", ("id", "split", "sha256"), ((e.id, e.split, text_hash(e)) for e in examples))
    _write_csv(out / "removed.csv", ("id", "split", "reason", "because_of"),
               ((r.id, r.split, r.reason, r.because) for r in cleaning.removed))  # fmt: skip
    if cleaning.rescored:
        write_json(out / "rescored.json", cleaning.rescored.as_dict())
    write_manifest(
        out, command="datasets clean", seed=seed, inputs=data.files, tally=data.tally, before=before,
        config={"source": str(source), "also": list(also), "sizes": sizes, "digest": cleaning.digest},
        counts={**dict(Counter(e.split or "all" for e in examples)), "removed": len(cleaning.removed)},
        about=_about(cleaning, str(source), seed),
    )  # fmt: skip
    return cleaning


def _about(cleaning: Cleaning, source: str, seed: int) -> OutputPage:
    removed, kept = len(cleaning.removed), len(cleaning.examples)
    finding = f"Nothing had to be removed from {source}: {kept:,} rows."
    if removed:
        share = f"{removed:,} of {removed + kept:,} rows of {source}"
        finding = f"{share} were removed as copies, conflicts or leaks."
    facts = (f"{kept:,} remain", f"{removed:,} removed", f"seed {seed}")
    return OutputPage(f"{source}, cleaned", finding + _fall(cleaning.rescored), facts, file="")


def _fall(found: Rescored | None) -> str:
    """Return the largest fall of a score whose intervals before and after do not overlap; else nothing."""
    falls = []
    for system, scores in found.before.items() if found else ():
        for name, before in scores.items():
            after = found.after[system][name] if found else before
            if before.low is not None and after.high is not None and after.high < before.low:
                places = digits([before, after])
                ends = f"{score(before, places)} to {score(after, places)}"
                fall = (after.value or 0.0) - (before.value or 0.0)
                falls.append((fall, f" For {system}, {metric_words(name)} falls from {ends}."))
    return min(falls)[1] if falls else ""


def text_hash(example: Example) -> str:
    """Return the SHA-256 of a response, by which others can check that they have the same text."""
    return hashlib.sha256(example.response.text.encode("utf-8", "surrogatepass")).hexdigest()


def content_digest(examples: Iterable[Example]) -> str:
    """Return one SHA-256 over ids, splits, labels and texts, whatever their order."""
    lines = sorted(f"{e.id}\x1f{e.split}\x1f{e.label}\x1f{text_hash(e)}" for e in examples)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _duplicates(rows: Sequence[Example], gone: dict[int, tuple[str, int | None]], threshold: float) -> None:
    """Mark texts with both labels, and later copies of a text."""
    keys, key_of = distinct(example.response.text for example in rows)
    first: dict[int, int] = {}
    labels: dict[int, dict[bool | None, int]] = {}
    for at, (key, example) in enumerate(zip(key_of.tolist(), rows, strict=True)):
        if at in gone:
            continue
        labels.setdefault(key, {}).setdefault(example.label, at)
        first.setdefault(key, at)
    for at, key in enumerate(key_of.tolist()):
        if at in gone:
            continue
        if len(labels[key]) > 1:
            gone[at] = ("conflict", labels[key][not rows[at].label])
        elif first[key] != at:
            gone[at] = ("identical", first[key])
    left, right = near_duplicates(keys, threshold)
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        early, late = sorted(first[key] for key in (one, other)) if one in first and other in first else (0, 0)
        if early != late and early not in gone and late not in gone:
            gone[late] = ("near", early)


def _shared(rows: Sequence[Example], gone: dict[int, tuple[str, int | None]], reason: str) -> None:
    """Mark rows of later splits whose author or group an earlier split has."""
    seen: dict[str, int] = {}
    for at, example in enumerate(rows):
        value = _shared_value(example, reason)
        if not value or at in gone:
            continue
        earlier = seen.setdefault(value, at)
        if _SPLIT_RANK[rows[earlier].split] < _SPLIT_RANK[example.split]:
            gone[at] = (reason, earlier)


def _shared_value(example: Example, reason: str) -> str:
    if reason == "thread":
        return example.group
    return real_name(example.response.speaker) or real_name(str(example.meta.get("author") or ""))


def _label_errors(rows: Sequence[Example], gone: dict[int, tuple[str, int | None]]) -> None:
    from deadpan.datasets.noise import find_label_errors

    left = [at for at in range(len(rows)) if at not in gone]
    noise, _ = find_label_errors([rows[at] for at in left])
    place = {rows[at].id: at for at in left}
    for error in noise.errors:
        gone[place[error.id]] = ("label_error", None)


def _torn(rows: Sequence[Example], gone: dict[int, tuple[str, int | None]]) -> None:
    """Mark what is left of a sequence that lost its only response of one label."""
    members: dict[str, list[int]] = {}
    for at, example in enumerate(rows):
        if example.sequence:
            members.setdefault(example.sequence, []).append(at)
    for sequence in members.values():
        lost = [at for at in sequence if at in gone]
        left = [at for at in sequence if at not in gone]
        before = {rows[at].label for at in sequence} - {None}
        if lost and left and len({rows[at].label for at in left}) < len(before):
            gone.update(dict.fromkeys(left, ("pair", lost[0])))


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
