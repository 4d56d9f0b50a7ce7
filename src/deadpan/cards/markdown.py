"""Data and model cards: Markdown with the front matter that Hugging Face reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.cards.facts import KINDS, DataFacts, ModelFacts, Sizes, spdx_name
from deadpan.page.numbers import digits, score
from deadpan.stats import Interval


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


def data_card(facts: DataFacts, sizes: Sizes, *, files: Mapping[str, str] | None = None) -> str:
    """Return the README.md of a dataset of Examples.

    `files` maps splits to Parquet files; the default is data/SPLIT.parquet for every split.
    """
    splits = list(sizes.labels)
    files = files or {split: f"data/{split}.parquet" for split in splits}
    columns = ("sarcastic", "sincere", "unlabelled")
    sizes_rows = [(s, *(sizes.labels[s][c] for c in columns), sizes.labels[s].total()) for s in splits]
    kinds_rows = [(kind or "none", KINDS[kind], n) for kind, n in sorted(sizes.kinds.items())]
    return dataset_card(
        facts,
        configs=[HubConfig("default", files)],
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
        f"{key}: {json.dumps(part, ensure_ascii=True)}\n"
        for key, part in value.items()
        if part not in ("", [])
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
