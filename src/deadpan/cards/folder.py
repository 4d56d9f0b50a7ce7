"""The folder of a released dataset, which Hugging Face, Croissant and deadpan can load."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from deadpan.cards.croissant import FileFacts, croissant
from deadpan.cards.facts import DataFacts, Sizes
from deadpan.cards.markdown import data_card, hub_split
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.folders import begin_folder
from deadpan.records import Example, Split
from deadpan.storage import digest, write_json, write_manifest, write_records, write_text
from deadpan.validation import encode


def write_dataset_folder(
    out: Path,
    examples_by_split: Mapping[str, Iterable[Example]],
    facts: DataFacts,
    *,
    tally: Tally | None = None,
    command: str = "release",
) -> Sizes:
    """Write data/SPLIT.parquet, README.md, croissant.json and, last, manifest.json; return the sizes.

    Load it with datasets.load_dataset(folder), mlcroissant.Dataset(folder/croissant.json) or
    deadpan.read_dataset(folder). Hugging Face calls the splits `dev` and `all` validation and train.
    """
    out = Path(out)
    _check_splits(out, list(examples_by_split))
    before = begin_folder(out, readme_with="data")
    sizes, seen = Sizes(), dict[str, str]()
    described = []
    for split, examples in examples_by_split.items():
        path = out / "data" / f"{split}.parquet"
        sizes.labels[split] = Counter()
        write_records(path, _counted(split, examples, sizes, seen), Example)
        n = sizes.labels[split].total()
        described.append(FileFacts(split, f"data/{split}.parquet", digest(path), path.stat().st_size, n))
    write_text(out / "README.md", data_card(facts, sizes))
    write_json(out / "croissant.json", croissant(facts, described))
    counts = {
        f"{split}.{word}": n for split, words in sizes.labels.items() for word, n in sorted(words.items())
    }
    write_manifest(out, command=command, config=encode(facts), counts=counts, tally=tally, before=before)
    return sizes


def _check_splits(out: Path, splits: Sequence[str]) -> None:
    if not splits:
        raise ConfigError("a release needs at least one split, such as train")
    for split in splits:
        if not re.fullmatch(r"[A-Za-z0-9_]+", split):
            raise ConfigError(f"a split is named with letters, digits and _, got {split!r}")
    hub = [hub_split(split) for split in splits]
    if len(set(hub)) < len(hub):
        raise ConfigError(
            f"two splits would have the same name on Hugging Face ({', '.join(splits)}): rename one"
        )
    left = sorted(p.name for p in (out / "data").glob("*") if p.stem not in splits or p.suffix != ".parquet")
    if left:
        raise DataError(f"{out / 'data' / left[0]}: left there by something else; release to an empty folder")


def _counted(
    split: str, examples: Iterable[Example], sizes: Sizes, seen: dict[str, str]
) -> Iterator[Example]:
    """Yield the examples while counting them; check that ids are unique and splits consistent."""
    known = split in get_args(Split)
    for example in examples:
        if example.id in seen:
            raise DataError(
                f"example {example.id!r} of {split} is already in {seen[example.id]}: ids must differ"
            )
        if known and example.split not in ("", split):
            raise DataError(f"example {example.id!r} says its split is {example.split}, not {split}")
        seen[example.id] = split
        sizes.count(split, example)
        yield replace(example, split=cast(Split, split)) if known and not example.split else example
