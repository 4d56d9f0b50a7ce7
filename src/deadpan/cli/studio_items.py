"""Items for the studio out of what there is: study folders, corpora, item sets, Label Studio's tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example
from deadpan.studies import StudyItem


def items_for(protocol: str, source: str, sample: int, seed: int, data: Path | None) -> list[StudyItem]:
    """The items of a file or corpus, in the shape the protocol asks about."""
    path = Path(source)
    if path.suffix == ".json":
        from deadpan.studio.labelstudio import items_from

        return items_from(path)
    if path.suffix == ".jsonl" and _is_study_items(path):
        from deadpan.storage import read_records

        return list(read_records(path, StudyItem))
    if protocol == "quiz":
        from deadpan.bench.items import read_items

        return [
            StudyItem(
                id=item.id,
                response=_turn(item.speaker, item.utterance),
                context=item.context,
                options=item.options,
                shown={"question": item.question},
                hidden={"answer": item.answer, "category": item.category, "version": item.version},
            )
            for item in read_items(path)
        ]
    return from_examples(protocol, _examples(source, data), sample, seed)


def _turn(speaker: str, text: str) -> Any:
    from deadpan.records import Turn

    return Turn(speaker, text)


def _is_study_items(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            first = json.loads(next(file, "{}"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except ValueError:
        return False
    return isinstance(first, dict) and isinstance(first.get("response"), dict) and "label" not in first


def _examples(source: str, data: Path | None) -> list[Example]:
    from deadpan.cli.sources import open_source

    return list(open_source(source, data))


def from_examples(protocol: str, examples: Sequence[Example], sample: int, seed: int) -> list[StudyItem]:
    """Examples as items. What the source says of the label is hidden."""
    if protocol == "choose":
        return _drawn(_pairs(examples), sample, seed)
    if protocol == "categorise":
        kept = [e for e in examples if e.label]
        return _drawn(
            [_item(e, {"explanation": e.explanation, "rephrase": e.rephrase}) for e in kept], sample, seed
        )
    if protocol == "annotate":
        return _drawn([_item(e, {"explanation": e.explanation}) for e in examples], sample, seed)
    if protocol == "audit":
        chosen = [
            item
            for label in (True, False)
            for item in _drawn(
                [_item(e, {"original": e.response.text}) for e in examples if e.label is label], sample, seed
            )
        ]
        if not chosen:
            raise ConfigError("an audit checks labels, and this source has none")
        return chosen
    return _drawn([_item(e, {}) for e in examples], sample, seed)


def _item(example: Example, shown: dict[str, str]) -> StudyItem:
    hidden: dict[str, Any] = {"label": example.label, "source": example.source}
    if example.categories:
        hidden["categories"] = list(example.categories)
    return StudyItem(
        example.id, example.response, example.context,
        shown={key: value for key, value in shown.items() if value},
        hidden={key: value for key, value in hidden.items() if value is not None},
    )  # fmt: skip


def _pairs(examples: Sequence[Example]) -> list[StudyItem]:
    """A sarcastic and a sincere response to one context, in a drawn order."""
    from deadpan.draws import draw

    by_sequence: dict[str, list[Example]] = {}
    for example in examples:
        if example.sequence and example.label is not None and example.context:
            by_sequence.setdefault(example.sequence, []).append(example)
    items = []
    for name, both in by_sequence.items():
        if len(both) == 2 and both[0].label != both[1].label:
            one, other = sorted(both, key=lambda e: draw(0, e.id))
            items.append(
                StudyItem(
                    id=name,
                    response=one.context[-1],
                    context=one.context[:-1],
                    options=(one.response.text, other.response.text),
                    hidden={"answer": 0 if one.label else 1, "ids": [one.id, other.id]},
                )
            )
    if not items:
        raise ConfigError("no two responses to one context, one sarcastic and one not, in this source")
    return items


def _drawn(items: list[StudyItem], sample: int, seed: int) -> list[StudyItem]:
    from deadpan.draws import sample as draw_sample

    return draw_sample(items, sample, seed=seed, key=lambda item: item.id) if sample else items
