"""Data and model cards: Markdown for people, with the front matter Hugging Face reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deadpan.cards.facts import KINDS, DataFacts, ModelFacts, Sizes, spdx_name
from deadpan.page.numbers import digits, score
from deadpan.stats import Interval


def data_card(facts: DataFacts, sizes: Sizes) -> str:
    """A dataset's README.md: front matter for Hugging Face, then what a reader must know before using it."""
    splits = list(sizes.labels)
    front = {
        "pretty_name": facts.title,
        "language": list(facts.language),
        **_licence_tags(facts.licence),
        "task_categories": ["text-classification"],
        "size_categories": [_size_category(sizes.total)],
        "tags": ["sarcasm", "deadpan", *(f"label:{kind}" for kind in sorted(sizes.kinds) if kind)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": hub_split(s), "path": f"data/{s}.parquet"} for s in splits],
            }
        ],
    }
    columns = ("sarcastic", "sincere", "unlabelled")
    sizes_rows = [(s, *(sizes.labels[s][c] for c in columns), sizes.labels[s].total()) for s in splits]
    kinds_rows = [(kind or "none", KINDS[kind], n) for kind, n in sorted(sizes.kinds.items())]
    return _card(
        front,
        facts.title,
        facts.summary,
        {
            "Sizes": _markdown_table(("split", *columns, "n"), sizes_rows),
            "Who said so": _markdown_table(("label kind", "the label comes from", "n"), kinds_rows),
            "How it was made": facts.how_made,
            "Known limits": _bullets(facts.known_limits),
            "Personal data": facts.personal_data,
            "Licence": facts.licence,
            "Citation": _fenced(facts.citation),
            "Version": f"{facts.version}{f', {facts.published}' if facts.published else ''}",
        },
    )


def model_card(facts: ModelFacts, scores: Mapping[str, Interval], *, measured_on: str) -> str:
    """A model's README.md. Every score comes with its interval, its n and what it was measured on."""
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
    shown = _markdown_table(("score", f"value [{level} interval]", "n"), rows) if rows else "Not measured."
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
    """Front matter. Every value is written as JSON, which YAML reads as itself: no surprise is possible."""
    return "".join(
        f"{key}: {json.dumps(part, ensure_ascii=True)}\n"
        for key, part in value.items()
        if part not in ("", [])
    )


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [[f"{cell:,}" if isinstance(cell, int) else _one_line(str(cell)) for cell in row] for row in rows]
    rights = [all(re.fullmatch(r"[\d,]+", row[place]) for row in cells) for place in range(len(columns))]
    rule = "|".join("---:" if right else "---" for right in rights)
    return "\n".join([_line(columns), f"|{rule}|", *map(_line, cells)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_line(text: str) -> str:
    """Text for a heading or a cell, where a line break or a bar would end it."""
    return " ".join(text.split()).replace("|", "\\|")


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def _fenced(text: str) -> str:
    """Text as it is. The fence is longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip()}\n{fence}"


def _licence_tags(licence: str) -> dict[str, str]:
    """Hugging Face takes only names it knows; anything else is "other" with its name beside it."""
    known = spdx_name(licence)
    return {"license": known.lower()} if known else {"license": "other", "license_name": licence}


def _size_category(n: int) -> str:
    """Hugging Face's names for sizes: n<1K, 1K<n<10K, ..."""
    steps = [(1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")]
    lower = ""
    for limit, name in steps:
        if n < limit:
            return f"{lower}<n<{name}" if lower else f"n<{name}"
        lower = name
    return f"n>{lower}"


def hub_split(split: str) -> str:
    """Hugging Face says validation where we, like most papers here, say dev."""
    return "validation" if split == "dev" else split
