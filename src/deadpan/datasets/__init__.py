"""Published corpora and tables of your own, read as Examples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.datasets.dataset import Dataset, counted
from deadpan.datasets.reading import Reading
from deadpan.draws import sample
from deadpan.errors import ConfigError
from deadpan.progress import Progress, silent
from deadpan.registry import Registry, unknown

if TYPE_CHECKING:
    from deadpan.datasets.reader import Reader

__all__ = [
    "READERS",
    "Dataset",
    "Reading",
    "open_dataset",
    "open_source",
    "read_dataset",
    "read_source",
    "sample_source",
]

READERS = Registry(
    "dataset",
    {
        "starter-en": "deadpan.datasets.readers.starter:StarterEnglish",
        "starter-ko": "deadpan.datasets.readers.starter:StarterKorean",
        "sarc-main": "deadpan.datasets.readers.sarc.index:SarcMain",
        "sarc-main-unbalanced": "deadpan.datasets.readers.sarc.index:SarcMainUnbalanced",
        "sarc-pol": "deadpan.datasets.readers.sarc.index:SarcPol",
        "sarc-pol-unbalanced": "deadpan.datasets.readers.sarc.index:SarcPolUnbalanced",
        "sarc-raw": "deadpan.datasets.readers.sarc.raw:SarcRaw",
        "sarc-kaggle": "deadpan.datasets.readers.sarc.raw:SarcKaggle",
        "isarcasm": "deadpan.datasets.readers.isarcasm:ISarcasm",
        "isarcasm_eval-en": "deadpan.datasets.readers.isarcasm_eval:EnglishA",
        "isarcasm_eval-en-b": "deadpan.datasets.readers.isarcasm_eval:EnglishB",
        "isarcasm_eval-en-c": "deadpan.datasets.readers.isarcasm_eval:EnglishC",
        "isarcasm_eval-ar": "deadpan.datasets.readers.isarcasm_eval:ArabicA",
        "isarcasm_eval-ar-c": "deadpan.datasets.readers.isarcasm_eval:ArabicC",
        "isarcasm_eval-votes": "deadpan.datasets.readers.isarcasm_eval:Votes",
        "semeval2018-a": "deadpan.datasets.readers.semeval2018:TaskA",
        "semeval2018-b": "deadpan.datasets.readers.semeval2018:TaskB",
        "riloff": "deadpan.datasets.readers.riloff:Riloff",
        "ptacek": "deadpan.datasets.readers.ptacek:Ptacek",
        "ghosh_veale": "deadpan.datasets.readers.ghosh_veale:GhoshVeale",
        "news_headlines": "deadpan.datasets.readers.news_headlines:NewsHeadlines",
        "kocasm": "deadpan.datasets.readers.kocasm:Kocasm",
        "kocosa": "deadpan.datasets.readers.kocosa:KoCoSa",
        "arsarcasm_v2": "deadpan.datasets.readers.arsarcasm:ArSarcasm",
        "figlang2020-twitter": "deadpan.datasets.readers.figlang:Twitter",
        "figlang2020-reddit": "deadpan.datasets.readers.figlang:Reddit",
        "mustard": "deadpan.datasets.readers.mustard:Mustard",
        "oraby-gen": "deadpan.datasets.readers.oraby:Generic",
        "oraby-hyp": "deadpan.datasets.readers.oraby:Hyperbole",
        "oraby-rq": "deadpan.datasets.readers.oraby:RhetoricalQuestion",
        "table": "deadpan.datasets.table:TableReader",
    },
    group="deadpan.readers",
)


def open_dataset(source: str | Path, data_dir: Path | str | None = None, **how: Any) -> Reader:
    """Return a reader that yields the examples of a source one by one, whatever its size.

    The arguments are those of `read_dataset`.

    >>> from deadpan import open_dataset
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


def read_source(source: str | Path, reading: Reading | None = None, progress: Progress = silent) -> Dataset:
    """Read a whole corpus by its name, or a table by its path."""
    reader = open_source(source, reading)
    name = reader.title
    examples = list(counted(reader, f"reading {name}", progress))
    return Dataset(name, reader.release, examples, reader.tally, tuple(f.path for f in reader.files()))


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
    rows = (e for e in counted(reader, "reading", progress) if label is None or e.label is label)
    drawn = sample(rows, n, seed=seed, key=lambda example: example.id)
    return Dataset(reader.title, reader.release, drawn, reader.tally, tuple(f.path for f in reader.files()))


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
