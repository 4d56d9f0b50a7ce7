"""Several sources read in one way, and two of them as the training and test part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deadpan.datasets import open_source, read_source
from deadpan.datasets.dataset import Dataset
from deadpan.datasets.reader import SPECIAL
from deadpan.datasets.reading import Reading
from deadpan.errors import ConfigError, DataError
from deadpan.progress import Progress, silent


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
    examples = [
        replace(e, id=f"train/{e.id}", split="train", group=_apart("train", e.group)) for e in learned
    ]
    examples += [replace(e, split="test", group=_apart("test", e.group)) for e in tested]
    first.tally.merge(second.tally)
    name = f"{second.name}, trained on {first.name}"
    return Dataset(name, second.release, examples, first.tally, (*first.files, *second.files))


def read_several(
    sources: Sequence[str | Path], reading: Reading | None = None, progress: Progress = silent
) -> list[Dataset]:
    """Read several sources in one way; what only tables take, such as columns, goes to the tables."""
    reading, plain = reading or Reading(), Reading()
    readers = [open_source(source, Reading(data_dir=reading.data_dir)) for source in sources]
    taken = {name for reader in readers for name in reader.takes}
    found = []
    for source, reader in zip(sources, readers, strict=True):
        foreign = {name: getattr(plain, name) for name in SPECIAL if name in taken - reader.takes}
        found.append(read_source(source, replace(reading, **foreign), progress))
    return found


def _apart(part: str, group: str) -> str:
    """Return a group's name that two files cannot share by accident."""
    return f"{part}/{group}" if group else ""
