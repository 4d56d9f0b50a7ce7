"""Croissant 1.0 metadata of a dataset folder: its files, columns and licence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deadpan.cards.facts import DataFacts, spdx_name
from deadpan.columns import arrow_schema
from deadpan.records import Example

if TYPE_CHECKING:
    import pyarrow as pa

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
    facts: DataFacts,
    files: Sequence[FileFacts],
    record_set: Callable[[FileFacts], dict[str, Any]] | None = None,
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
        "source": {
            "fileObject": {"@id": file.path},
            "extract": {"column": column},
            "transform": {"jsonPath": part},
        },
    }


def _data_type(kind: pa.DataType) -> str:
    import pyarrow.types as kinds

    if kinds.is_boolean(kind):
        return "sc:Boolean"
    if kinds.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if kinds.is_floating(kind) else "sc:Text"
