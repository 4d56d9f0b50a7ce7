"""Data and model cards: facts that people write, sizes that are counted, Hugging Face and Croissant metadata."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.page.numbers import digits, score
from deadpan.palette import word_for
from deadpan.records import Example, Split
from deadpan.stats import Interval
from deadpan.storage import arrow_schema, begin_folder, digest, write_json, write_manifest, write_records, write_text
from deadpan.validation import encode

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Facts about a dataset that people write; sizes and label kinds are counted instead."""

    title: str
    version: str
    language: tuple[str, ...]
    licence: str
    citation: str
    summary: str
    how_made: str
    personal_data: str
    known_limits: tuple[str, ...]
    creators: tuple[str, ...] = ()
    url: str = ""
    published: str = ""

    def __post_init__(self) -> None:
        _check_said(self, ("known_limits", "language"))
        if not re.fullmatch(r"\d+\.\d+\.\d+", self.version):
            raise ConfigError(f"version needs three numbers, such as 1.0.0, got {self.version!r}")
        if self.published and not re.fullmatch(r"\d{4}-\d\d-\d\d", self.published):
            raise ConfigError(f"published needs a date, such as 2025-03-01, got {self.published!r}")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about a model that people write."""

    title: str
    version: str
    language: tuple[str, ...]
    licence: str
    citation: str
    summary: str
    data: str
    intended_use: str
    not_for: str
    where_it_fails: tuple[str, ...]
    url: str = ""

    def __post_init__(self) -> None:
        _check_said(self, ("where_it_fails", "language"))


def _check_said(facts: Any, lists: Sequence[str]) -> None:
    """Raise an error for an empty fact: a gap in a card reads as if there were nothing to say."""
    optional = {"url", "published", "creators"}
    for name in facts.__slots__:
        value = getattr(facts, name)
        empty = not value or (isinstance(value, str) and not value.strip())
        if empty and name not in optional:
            what = "one entry or more" if name in lists else "an answer"
            raise ConfigError(f"the card needs {what} for {name}: write that it is not known if it is not")


@dataclass(slots=True)
class Sizes:
    """Labels per split and label kinds, counted while the examples are written."""

    labels: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)

    def count(self, split: str, example: Example) -> None:
        """Count one example."""
        self.labels.setdefault(split, Counter())[word_for(example.label)] += 1
        self.kinds[example.label_kind] += 1

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


KINDS: Mapping[str, str] = {
    "marker": "the author's own marker, such as /s or a hashtag, removed from the text",
    "author": "the author, who was asked",
    "perceived": "other people, who judged what they read",
    "generated": "the language model that was asked to write the text",
    "": "unknown: no label, or the source does not say",
}

LICENCES = (
    "Apache-2.0", "BSD-3-Clause", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC0-1.0", "MIT",
)  # fmt: skip
"""Licences that both SPDX and Hugging Face know by this name."""


def spdx_name(licence: str) -> str:
    """Return the SPDX name of a licence; empty for one that is not among LICENCES."""
    return next((name for name in LICENCES if name.lower() == licence.strip().lower()), "")


@dataclass(frozen=True, slots=True)
class HubConfig:
    """A configuration that Hugging Face offers: its name, and the files of each split."""

    name: str
    files: Mapping[str, str]
    default: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of the front matter."""
        files = [{"split": hub_split(split), "path": path} for split, path in self.files.items()]
        default = {"default": True} if self.default else {}
        return {"config_name": self.name, **default, "data_files": files}


def data_card(
    facts: DataFacts, sizes: Sizes, *, files: Mapping[str, str] | None = None, configs: Sequence[HubConfig] = ()
) -> str:
    """Return the README.md of a dataset of Examples.

    `files` maps splits to Parquet files; the default is data/SPLIT.parquet for every split. `configs` are more
    configurations; an empty mapping and no configurations are a dataset without files to load.
    """
    splits = list(sizes.labels)
    files = {split: f"data/{split}.parquet" for split in splits} if files is None else files
    columns = ("sarcastic", "sincere", "unlabelled")
    sizes_rows = [(s, *(sizes.labels[s][c] for c in columns), sizes.labels[s].total()) for s in splits]
    kinds_rows = [(kind or "none", KINDS[kind], n) for kind, n in sorted(sizes.kinds.items())]
    return dataset_card(
        facts,
        configs=[*([HubConfig("default", files)] if files else []), *configs],
        n=sizes.total,
        tags=[f"label:{kind}" for kind in sorted(sizes.kinds) if kind],
        first={
            "Sizes": markdown_table(("split", *columns, "n"), sizes_rows),
            "Who labelled it": markdown_table(("label kind", "the label comes from", "n"), kinds_rows),
        },
    )


def dataset_card(
    facts: DataFacts,
    *,
    configs: Sequence[HubConfig],
    n: int,
    first: Mapping[str, str],
    last: Mapping[str, str] | None = None,
    tasks: Sequence[str] = ("text-classification",),
    tags: Sequence[str] = (),
) -> str:
    """Return the README.md of any dataset: front matter for Hugging Face, then the facts.

    `first` and `last` are sections (heading -> Markdown) before and after those of the facts.
    """
    front = {
        "pretty_name": facts.title,
        "language": list(facts.language),
        **_licence_tags(facts.licence),
        "task_categories": list(tasks),
        "size_categories": [_size_category(n)],
        "tags": ["sarcasm", "deadpan", *tags],
        "configs": [config.as_dict() for config in configs],
    }
    sections = {
        **first,
        "How it was made": facts.how_made,
        "Known limits": _bullets(facts.known_limits),
        "Personal data": facts.personal_data,
        "Licence": facts.licence,
        "Citation": _fenced(facts.citation),
        "Version": f"{facts.version}{f', {facts.published}' if facts.published else ''}",
        **(last or {}),
    }
    return _card(front, facts.title, facts.summary, sections)


def model_card(facts: ModelFacts, scores: Mapping[str, Interval], *, measured_on: str) -> str:
    """Return the README.md of a model: every score with its interval, its n and what it was measured on."""
    front = {
        "language": list(facts.language),
        **_licence_tags(facts.licence),
        "library_name": "deadpan",
        "pipeline_tag": "text-classification",
        "tags": ["sarcasm", "deadpan"],
    }
    decimals = digits(scores.values())
    rows = [(name, score(interval, decimals), interval.n) for name, interval in scores.items()]
    level = " or ".join(sorted({f"{100 * interval.level:g} %" for interval in scores.values()}))
    shown = markdown_table(("score", f"value [{level} interval]", "n"), rows) if rows else "Not measured."
    return _card(
        front,
        facts.title,
        facts.summary,
        {
            "Data": facts.data,
            "Scores": f"Measured on {measured_on}.\n\n{shown}",
            "Where it fails": _bullets(facts.where_it_fails),
            "Intended use": facts.intended_use,
            "Not for": facts.not_for,
            "Licence": facts.licence,
            "Citation": _fenced(facts.citation),
            "Version": facts.version,
        },
    )


def _card(front: Mapping[str, Any], title: str, lead: str, sections: Mapping[str, str]) -> str:
    body = "\n\n".join(f"## {heading}\n\n{text.strip()}" for heading, text in sections.items())
    return f"---\n{_yaml(front)}---\n\n# {_one_line(title)}\n\n{lead.strip()}\n\n{body}\n"


def _yaml(value: Mapping[str, Any]) -> str:
    """Return front matter. Values are written as JSON, which is valid YAML and needs no quoting rules."""
    return "".join(
        f"{key}: {json.dumps(part, ensure_ascii=True)}\n" for key, part in value.items() if part not in ("", [])
    )


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, numbers right-aligned."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else _one_line(str(cell)) for cell in row] for row in rows]
    rights = [all(re.fullmatch(r"[\d,]+", row[place]) for row in cells) for place in range(len(columns))]
    rule = "|".join("---:" if right else "---" for right in rights)
    return "\n".join([_line(columns), f"|{rule}|", *map(_line, cells)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_line(text: str) -> str:
    """Return text for a heading or a cell, where a line break or a bar would end it."""
    return " ".join(text.split()).replace("|", "\\|")


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def _fenced(text: str) -> str:
    """Return text in a code fence that is longer than any fence inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip()}\n{fence}"


def _licence_tags(licence: str) -> dict[str, str]:
    """Return the licence as Hugging Face knows it, or "other" with its name."""
    known = spdx_name(licence)
    return {"license": known.lower()} if known else {"license": "other", "license_name": licence}


def _size_category(n: int) -> str:
    """Return Hugging Face's name for a size: n<1K, 1K<n<10K, ..."""
    steps = [(1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")]
    lower = ""
    for limit, name in steps:
        if n < limit:
            return f"{lower}<n<{name}" if lower else f"n<{name}"
        lower = name
    return f"n>{lower}"


def hub_split(split: str) -> str:
    """Return Hugging Face's name of a split: validation for dev; train for all, a name it reserves."""
    return {"dev": "validation", "all": "train"}.get(split, split)


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
    counts = {f"{split}.{word}": n for split, words in sizes.labels.items() for word, n in sorted(words.items())}
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
        raise ConfigError(f"two splits would have the same name on Hugging Face ({', '.join(splits)}): rename one")
    left = sorted(p.name for p in (out / "data").glob("*") if p.stem not in splits or p.suffix != ".parquet")
    if left:
        raise DataError(f"{out / 'data' / left[0]}: left there by something else; release to an empty folder")


def _counted(split: str, examples: Iterable[Example], sizes: Sizes, seen: dict[str, str]) -> Iterator[Example]:
    """Yield the examples while counting them; check that ids are unique and splits consistent."""
    known = split in get_args(Split)
    for example in examples:
        if example.id in seen:
            raise DataError(f"example {example.id!r} of {split} is already in {seen[example.id]}: ids must differ")
        if known and example.split not in ("", split):
            raise DataError(f"example {example.id!r} says its split is {example.split}, not {split}")
        seen[example.id] = split
        sizes.count(split, example)
        yield replace(example, split=cast(Split, split)) if known and not example.split else example


CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
    "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
    "transform",
)  # fmt: skip
"""Croissant's own terms, besides those of schema.org."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One Parquet file of the folder."""

    split: str
    path: str
    sha256: str
    bytes: int
    examples: int
    description: str = ""


def _terms() -> dict[str, Any]:
    """Return the JSON-LD context that Croissant 1.0 prescribes."""
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "dct": "http://purl.org/dc/terms/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        **{term: f"cr:{term}" for term in TERMS},
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    }


MEANINGS = {
    "id": "Name of the example, unique in the dataset.",
    "response": "The turn that is sarcastic or not.",
    "context": "The turns before it, oldest first.",
    "label": "True if the response is sarcastic; empty where it is not labelled.",
    "categories": "Kinds of sarcasm, in the source's own words.",
    "label_kind": "Where the label comes from: marker, author, perceived or generated.",
    "group": "A thread or an author, which a split must not cross.",
    "sequence": "Joins the responses to one context.",
    "split": "train, dev or test.",
    "source": "The corpus the example comes from.",
    "language": "Language code, such as en or ko.",
    "explanation": "Why it is sarcastic.",
    "rephrase": "The same meaning said sincerely.",
    "meta": "Further fields of the source, as a JSON object.",
    "speaker": "Who speaks; empty where the source does not say.",
    "text": "The words of the turn.",
}


def croissant(
    facts: DataFacts, files: Sequence[FileFacts], record_set: Callable[[FileFacts], dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the metadata as JSON-LD: one record set per split, each field tied to its Parquet column.

    `record_set` describes the columns of a file; the default is those of Examples.
    """
    optional = {
        "url": facts.url,
        "datePublished": facts.published,
        "creator": [{"@type": "sc:Person", "name": name} for name in facts.creators],
    }
    return {
        "@context": _terms(),
        "@type": "sc:Dataset",
        "name": facts.title,
        "description": facts.summary,
        "conformsTo": CONFORMS_TO,
        "license": licence_address(facts.licence),
        "citeAs": facts.citation,
        "version": facts.version,
        "inLanguage": list(facts.language),
        "keywords": ["sarcasm"],
        "rai:dataCollection": facts.how_made,
        "rai:dataLimitations": list(facts.known_limits),
        "rai:personalSensitiveInformation": facts.personal_data,
        **{key: value for key, value in optional.items() if value},
        "distribution": [_file_object(file) for file in files],
        "recordSet": [(record_set or _record_set)(file) for file in files],
    }


def licence_address(licence: str) -> str:
    """Return the SPDX page of a licence such as CC-BY-4.0, or the licence as given."""
    known = spdx_name(licence)
    return f"https://spdx.org/licenses/{known}.html" if known else licence


def _file_object(file: FileFacts) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": file.description or f"{file.examples} examples of the split {file.split}.",
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _record_set(file: FileFacts) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": file.split,
        "name": file.split,
        "description": f"The split {file.split}: what was said, what came before it, and the label.",
        "key": {"@id": f"{file.split}/id"},
        "field": [_field(column, file) for column in arrow_schema(Example)],
    }


def _field(column: pa.Field, file: FileFacts) -> dict[str, Any]:
    """Return a column as a field. Turns become sub-fields, each reached by a JSON path into the column."""
    import pyarrow.types as kinds

    repeated = kinds.is_list(column.type)
    inner = column.type.value_type if repeated else column.type
    described: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{file.split}/{column.name}",
        "name": column.name,
        "description": MEANINGS[column.name],
    }
    if repeated:
        described["repeated"] = True
    if kinds.is_struct(inner):
        described["subField"] = [_sub_field(column.name, part.name, file) for part in inner]
    else:
        described["dataType"] = _data_type(inner)
        described["source"] = {"fileObject": {"@id": file.path}, "extract": {"column": column.name}}
    return described


def _sub_field(column: str, part: str, file: FileFacts) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{file.split}/{column}/{part}",
        "name": part,
        "description": MEANINGS[part],
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": file.path}, "extract": {"column": column}, "transform": {"jsonPath": part}},
    }


def _data_type(kind: pa.DataType) -> str:
    import pyarrow.types as kinds

    if kinds.is_boolean(kind):
        return "sc:Boolean"
    if kinds.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if kinds.is_floating(kind) else "sc:Text"
