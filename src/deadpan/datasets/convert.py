"""Corpora as files of Examples: one file, a folder that Hugging Face loads, or a folder of splits."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.arguments import check_text
from deadpan.cards import DataFacts, write_dataset_folder
from deadpan.datasets import open_source, with_progress
from deadpan.datasets.reader import Reader
from deadpan.datasets.reading import Reading
from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.tables import WRITTEN, check_not_source, write_table
from deadpan.progress import Progress, silent
from deadpan.records import Example, Split
from deadpan.results import Result
from deadpan.splits import split
from deadpan.storage import prepare_output, write_batches, write_manifest, write_records

if TYPE_CHECKING:
    import pyarrow as pa

    from deadpan.page.summary import Summary

# Columns of a flat table of Examples.
_FLAT_COLUMNS = (
    "id", "text", "label", "speaker", "context", "group", "sequence", "split", "language", "categories",
    "source", "explanation", "rephrase", "label_kind", "meta",
)  # fmt: skip
# The split of a folder whose examples have none.
_NO_SPLIT = "all"


@dataclass(frozen=True, slots=True)
class Conversion(Result):
    """The number of examples written to a file or folder, and what was dropped."""

    examples: int
    out: Path
    tally: Tally

    def summary(self) -> Summary:
        """Return the count and the drops."""
        from deadpan.page.summary import Summary

        return Summary((), (f"{self.examples:,} examples written to {self.out}", *self.tally.notes()))

    def as_dict(self) -> dict[str, object]:
        """Return the count, the target and the drops."""
        return {"examples": self.examples, "out": str(self.out), **self.tally.as_dict()}


@dataclass(frozen=True, slots=True)
class SplitCounts(Result):
    """Examples and sarcastic examples per part, and the folder they were written to."""

    counts: Mapping[str, int]
    sarcastic: Mapping[str, int]
    out: Path

    def summary(self) -> Summary:
        """Return one row per part."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((part, n, f"{self.sarcastic[part] / n:.1%}") for part, n in self.counts.items())
        return Summary((Table(("part", "examples", "sarcastic"), rows),), (f"written to {self.out}",))

    def as_dict(self) -> dict[str, object]:
        """Return the counts and the folder."""
        return {"counts": dict(self.counts), "out": str(self.out)}


def convert_dataset(
    source: str | Path, out: Path | str, reading: Reading | None = None, progress: Progress = silent
) -> Conversion:
    """Write a corpus as Examples, with a manifest.

    `out` is a .parquet or .jsonl file; a .csv, .tsv or .xlsx table for other programs, which reads back as
    the same Examples; or a folder: then it gets a Parquet file per split, a data card and Croissant
    metadata, and `datasets.load_dataset` loads it.
    """
    out = Path(out)
    reader = open_source(source, reading)
    if out.suffix not in WRITTEN:
        if out.suffix:
            raise ConfigError(f"{out}: name a {', '.join(WRITTEN)} file, or a folder (without an extension)")
        return _write_folder(reader, reader.title, out, progress)
    check_not_source(source, out)
    with _collector_paused():
        if out.suffix in (".csv", ".tsv", ".xlsx"):
            count = write_table(out, _FLAT_COLUMNS, map(_cells, with_progress(reader, "converting", progress)))
        elif out.suffix == ".parquet":
            count = write_batches(out, _counted_batches(reader, progress), Example)
        else:
            count = write_records(out, with_progress(reader, "converting", progress), Example)
    write_manifest(
        out,
        command="datasets convert",
        config={"source": str(source), "strip_markers": reader.strip},
        inputs=[file.path for file in reader.files()],
        counts={"examples": count},
        tally=reader.tally,
    )
    return Conversion(count, out, reader.tally)


def _cells(example: Example) -> dict[str, Any]:
    """Return an Example as the row of a flat table; the context is JSON, which reads back as turns."""
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in example.context]
    label = "" if example.label is None else "sarcastic" if example.label else "sincere"
    return {
        "id": example.id, "text": example.response.text, "label": label, "speaker": example.response.speaker,
        "context": turns or "", "group": example.group, "sequence": example.sequence, "split": example.split,
        "language": example.language, "categories": ", ".join(example.categories), "source": example.source,
        "explanation": example.explanation, "rephrase": example.rephrase, "label_kind": example.label_kind,
        "meta": dict(example.meta) or "",
    }  # fmt: skip


def split_dataset(
    source: str | Path,
    out: Path | str,
    sizes: str = "8:1:1",
    seed: int = 0,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> SplitCounts:
    """Split a corpus into train, dev and test files: seeded, stratified, without splitting threads or pairs.

    `sizes` are train:test or train:dev:test.
    """
    out = Path(out)
    fractions = parse_sizes(sizes)
    reader = open_source(source, reading)
    parts = split(list(with_progress(reader, "reading", progress)), fractions, seed=seed)
    before = prepare_output(out)
    for name, part in parts.items():
        write_records(out / f"{name}.parquet", part, Example)
    counts = {str(name): len(part) for name, part in parts.items()}
    write_manifest(
        out,
        command="datasets split",
        config={"source": str(source), "sizes": sizes, "strip_markers": reader.strip},
        seed=seed,
        inputs=[file.path for file in reader.files()],
        counts=counts,
        tally=reader.tally,
        before=before,
    )
    sarcastic = {str(name): sum(bool(e.label) for e in part) for name, part in parts.items()}
    return SplitCounts(counts, sarcastic, out)


def parse_sizes(sizes: str) -> dict[Split, float]:
    """Return 8:1:1 or 80:20 as fractions by part."""
    names: dict[int, tuple[Split, ...]] = {2: ("train", "test"), 3: ("train", "dev", "test")}
    try:
        shares = [float(part) for part in check_text(sizes, "sizes").split(":")]
    except ValueError:
        shares = []
    if len(shares) not in names or not all(0 < share < float("inf") for share in shares):
        raise ConfigError(f"--sizes {sizes}: write train:test or train:dev:test, such as 80:20 or 8:1:1")
    return {name: share / sum(shares) for name, share in zip(names[len(shares)], shares, strict=True)}


def _write_folder(reader: Reader, name: str, out: Path, progress: Progress) -> Conversion:
    parts: dict[str, list[Example]] = {}
    languages: dict[str, None] = {}
    for example in with_progress(reader, "converting", progress):
        parts.setdefault(example.split or _NO_SPLIT, []).append(example)
        languages[example.language] = None
    if "train" in parts and _NO_SPLIT in parts:
        parts["unsplit"] = parts.pop(_NO_SPLIT)
    order = [name for name in ("train", "dev", "test", *parts) if name in parts]
    facts = _facts(reader, name, [language for language in languages if language])
    sizes = write_dataset_folder(
        out, {name: parts[name] for name in order}, facts, tally=reader.tally, command="datasets convert"
    )
    return Conversion(sizes.total, out, reader.tally)


def _facts(reader: Reader, name: str, languages: list[str]) -> DataFacts:
    """Return the facts of a release for a card; what the release does not say is called unknown."""
    release = reader.release
    title = release.title if release.url else name
    return DataFacts(
        title=title,
        version="1.0.0",
        language=tuple(languages) or (release.language,),
        licence=release.licence,
        citation=release.citation or "not known",
        summary=f"{title}, converted to Examples of deadpan.",
        how_made="Converted by `deadpan datasets convert`; manifest.json has the number of dropped rows.",
        personal_data="As in the original release: read it before sharing this copy.",
        known_limits=("A copy: labels and texts are those of the original release, markers removed."
                      if reader.strip else "A copy: labels and texts are those of the original release.",),
        url=release.url if release.url.startswith("http") else "",
    )  # fmt: skip


def _counted_batches(reader: Reader, progress: Progress) -> Iterator[pa.RecordBatch]:
    count = 0
    for batch in reader.batches():
        yield batch
        count += len(batch)
        progress("converting", count, 0)


@contextmanager
def _collector_paused() -> Iterator[Any]:
    """Pause the search for reference cycles: records have none, and it took a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
