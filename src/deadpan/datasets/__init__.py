"""Published corpora and tables of your own, read as Examples."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.datasets.reading import READER_OPTIONS, Reading
from deadpan.draws import sample
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.registry import Registry, unknown
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.datasets.reader import Reader, Release
    from deadpan.page.summary import Summary

__all__ = [
    "READERS",
    "Dataset",
    "Reading",
    "open_dataset",
    "open_source",
    "read_dataset",
    "read_parts",
    "read_several",
    "read_source",
    "sample_source",
]

READERS = Registry(
    "dataset",
    {
        "starter-en": "deadpan.datasets.readers.starter:StarterEnglish",
        "starter-ko": "deadpan.datasets.readers.starter:StarterKorean",
        "sarc-main": "deadpan.datasets.readers.sarc:SarcMain",
        "sarc-main-unbalanced": "deadpan.datasets.readers.sarc:SarcMainUnbalanced",
        "sarc-pol": "deadpan.datasets.readers.sarc:SarcPol",
        "sarc-pol-unbalanced": "deadpan.datasets.readers.sarc:SarcPolUnbalanced",
        "sarc-raw": "deadpan.datasets.readers.sarc:SarcRaw",
        "sarc-kaggle": "deadpan.datasets.readers.sarc:SarcKaggle",
        "isarcasm": "deadpan.datasets.readers.isarcasm:ISarcasm",
        "isarcasm_eval-en": "deadpan.datasets.readers.isarcasm:ISarcasmEvalA",
        "isarcasm_eval-en-b": "deadpan.datasets.readers.isarcasm:ISarcasmEvalB",
        "isarcasm_eval-en-c": "deadpan.datasets.readers.isarcasm:ISarcasmEvalC",
        "isarcasm_eval-ar": "deadpan.datasets.readers.isarcasm:ISarcasmEvalArabicA",
        "isarcasm_eval-ar-c": "deadpan.datasets.readers.isarcasm:ISarcasmEvalArabicC",
        "isarcasm_eval-votes": "deadpan.datasets.readers.isarcasm:ISarcasmEvalVotes",
        "semeval2018-a": "deadpan.datasets.readers.texts:SemEval2018A",
        "semeval2018-b": "deadpan.datasets.readers.texts:SemEval2018B",
        "riloff": "deadpan.datasets.readers.texts:Riloff",
        "ptacek": "deadpan.datasets.readers.texts:Ptacek",
        "ghosh_veale": "deadpan.datasets.readers.texts:GhoshVeale",
        "news_headlines": "deadpan.datasets.readers.texts:NewsHeadlines",
        "kocasm": "deadpan.datasets.readers.texts:Kocasm",
        "kocosa": "deadpan.datasets.readers.conversations:KoCoSa",
        "arsarcasm_v2": "deadpan.datasets.readers.texts:ArSarcasm",
        "figlang2020-twitter": "deadpan.datasets.readers.conversations:FigLangTwitter",
        "figlang2020-reddit": "deadpan.datasets.readers.conversations:FigLangReddit",
        "csc": "deadpan.datasets.readers.lewidi:ConversationalSarcasm",
        "multipico": "deadpan.datasets.readers.lewidi:MultiPICo",
        "mustard": "deadpan.datasets.readers.conversations:Mustard",
        "oraby-gen": "deadpan.datasets.readers.texts:OrabyGeneric",
        "oraby-hyp": "deadpan.datasets.readers.texts:OrabyHyperbole",
        "oraby-rq": "deadpan.datasets.readers.texts:OrabyRhetoricalQuestion",
        "table": "deadpan.datasets.table:TableReader",
    },
    group="deadpan.readers",
)


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Result):
    """The examples of a corpus, the facts of its release, what was dropped, and the files it is in."""

    name: str
    release: Release
    examples: list[Example]
    tally: Tally
    files: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]

    def __repr__(self) -> str:
        counts = self.counts
        labels = ", ".join(f"{n:,} {word}" for word, n in counts.items() if n)
        return f"<Dataset {self.name}: {len(self.examples):,} examples{f' ({labels})' if labels else ''}>"

    @property
    def counts(self) -> dict[str, int]:
        """The number of sarcastic, sincere and unlabelled examples."""
        labels = Counter(example.label for example in self.examples)
        return {"sarcastic": labels[True], "sincere": labels[False], "unlabelled": labels[None]}

    def summary(self) -> Summary:
        """Return the examples by split and label, and what was dropped or changed."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        by_split: dict[str, Counter[bool | None]] = {}
        for example in self.examples:
            by_split.setdefault(example.split, Counter())[example.label] += 1
        rows = tuple((split or "no split", n[True], n[False], n[None], n.total()) for split, n in by_split.items())
        columns = ("split", "sarcastic", "sincere", "unlabelled", "n")
        return Summary((Table(columns, rows, self.name),), self.tally.notes())

    def as_dict(self) -> dict[str, object]:
        """Return the counts; the examples themselves are written by `write_records`."""
        return {"name": self.name, "examples": len(self.examples), **self.counts, **self.tally.as_dict()}


def open_dataset(source: str | Path, data_dir: Path | str | None = None, **how: Any) -> Reader:
    """Return a reader that yields the examples of a source one by one, whatever its size.

    The arguments are those of `read_dataset`.

    >>> from deadpan.datasets import open_dataset
    >>> next(iter(open_dataset("starter-en"))).label
    True
    """
    return open_source(source, Reading.of(data_dir=data_dir, **how))


def read_dataset(source: str | Path, data_dir: Path | str | None = None, **how: Any) -> Dataset:
    """Read a whole corpus: a name of `deadpan datasets list`, or the path of a table.

    `data_dir` is the folder that holds the corpora; without it, the one that the environment variable
    DEADPAN_DATA names. For a table, name its columns and labels:
    `read_dataset("mine.csv", text="tweet", label="sarcastic", positive="yes", negative="no")`. The fields of
    `Reading` are arguments too, such as `split="test"`, `language="en"` or `keep_markers=True`.
    """
    return read_source(source, Reading.of(data_dir=data_dir, **how))


def open_source(source: str | Path, reading: Reading | None = None) -> Reader:
    """Return a reader of a corpus by its name, or of a table by its path."""
    from deadpan.formats.tables import SUFFIXES  # here, so that the command line starts fast

    reading = Reading() if reading is None else reading
    if not isinstance(reading, Reading):
        raise ConfigError(f"reading is {reading!r}: pass a Reading, such as Reading.of(split='test')")
    name, data = _name(source), reading.data_dir or _data_folder()
    if isinstance(source, Path) or (name not in READERS and _is_path(name, SUFFIXES)):
        name, data = "table", Path(source)
    elif name not in READERS:
        raise ConfigError(f"{unknown('corpus', name, READERS)}, or name a file ({', '.join(SUFFIXES)})")
    reader: Reader = READERS.load(name)(name, data, reading)
    return reader


def _data_folder() -> Path | None:
    """Return the folder of the corpora that the environment names, if any."""
    folder = os.environ.get("DEADPAN_DATA", "")
    return Path(folder) if folder else None


def _name(source: object) -> str:
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise ConfigError(f"a source is the name of a corpus or the path of a table, not {kind}")
    return str(source)


def _is_path(source: str, suffixes: tuple[str, ...]) -> bool:
    """Return True for what is a file or folder, or looks like one that is missing."""
    return Path(source).suffix.lower() in suffixes or "/" in source or Path(source).exists()


def read_source(source: str | Path, reading: Reading | None = None, progress: Progress = silent) -> Dataset:
    """Read a whole corpus by its name, or a table by its path."""
    reader = open_source(source, reading)
    name = reader.title
    examples = list(with_progress(reader, f"reading {name}", progress))
    return Dataset(name, reader.release, examples, reader.tally, tuple(f.path for f in reader.files()))


def with_progress(examples: Iterable[Example], title: str, progress: Progress) -> Iterator[Example]:
    """Yield the examples while reporting how many have passed."""
    done = 0
    for done, example in enumerate(examples, 1):
        yield example
        if not done % 1000:
            progress(title, done, 0)
    progress(title, done, 0)


def sample_source(
    source: str | Path,
    n: int,
    *,
    label: bool | None = None,
    seed: int = 0,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> Dataset:
    """Draw `n` examples of a source at random, with one label if given, without holding the others."""
    reader = open_source(source, reading)
    rows = (e for e in with_progress(reader, "reading", progress) if label is None or e.label is label)
    drawn = sample(rows, n, seed=seed, key=lambda example: example.id)
    return Dataset(reader.title, reader.release, drawn, reader.tally, tuple(f.path for f in reader.files()))


def read_several(
    sources: Sequence[str | Path], reading: Reading | None = None, progress: Progress = silent
) -> list[Dataset]:
    """Read several sources in one way; what only tables take, such as columns, goes to the tables."""
    reading, plain = reading or Reading(), Reading()
    readers = [open_source(source, Reading(data_dir=reading.data_dir)) for source in sources]
    taken = {name for reader in readers for name in reader.takes}
    found = []
    for source, reader in zip(sources, readers, strict=True):
        foreign = {name: getattr(plain, name) for name in READER_OPTIONS if name in taken - reader.takes}
        found.append(read_source(source, replace(reading, **foreign), progress))
    return found


def read_parts(
    source: str | Path | None,
    train: str | Path | None,
    test: str | Path | None,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> Dataset:
    """Read one source with splits of its own, or two of which one is trained on and the other tested on.

    Of a corpus that has published splits, `train` takes what is not the test split, and `test` takes the
    test split. Studies leave texts of the test part out of the training part.
    """
    if source is not None and train is None and test is None:
        return read_source(source, reading, progress)
    if source is not None or train is None or test is None:
        raise ConfigError("name one SOURCE, or both --train and --test")
    first, second = read_several((train, test), reading, progress)
    learned = [e for e in first.examples if e.split != "test"]
    tested = [e for e in second.examples if e.split == "test"] or second.examples
    if not learned:
        raise DataError(f"{train}: holds a test split only: name a corpus to train on")
    examples = [replace(e, id=f"train/{e.id}", split="train", group=_apart("train", e.group)) for e in learned]
    examples += [replace(e, split="test", group=_apart("test", e.group)) for e in tested]
    first.tally.merge(second.tally)
    name = f"{second.name}, trained on {first.name}"
    return Dataset(name, second.release, examples, first.tally, (*first.files, *second.files))


def _apart(part: str, group: str) -> str:
    """Return a group's name that two files cannot share by accident."""
    return f"{part}/{group}" if group else ""
