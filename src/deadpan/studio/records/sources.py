"""Sources of the items of a study: a study folder, an item file, Label Studio tasks, or records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.config import read_config
from deadpan.errors import ConfigError
from deadpan.formats.study import ITEMS, STUDY, Study, is_item_file, read_items, read_study
from deadpan.formats.study_items import StudyItem
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import sampled
from deadpan.studio.records.files.labelstudio import examples_from


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study that is described and has items, but is not created yet."""

    study: Study
    items: Sequence[StudyItem]


def read_study_source(
    protocol: str, source: str, *, limit: int | None = None, sample: int = 0, seed: int = 0
) -> StudyPlan | None:
    """Read a source of the studio's own: a study folder, an item file or Label Studio tasks; else None."""
    path = Path(source)
    if path.is_dir() and {STUDY, ITEMS} & {file.name for file in path.iterdir()}:
        study, items = read_study(path)
        return StudyPlan(study, sampled(items[:limit], sample, seed))
    if path.suffix == ".json":
        return plan_from_records(protocol, examples_from(path)[:limit], sample=sample, seed=seed)
    if path.suffix == ".jsonl" and is_item_file(path):
        items = read_items(path, protocol)
        return replace(empty_plan(protocol, seed), items=sampled(items[:limit], sample, seed))
    return None


def plan_from_records(
    protocol: str,
    records: Sequence[Any],
    *,
    sample: int = 0,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> StudyPlan:
    """Plan a study about records: Examples, or Items for a protocol that reads those."""
    items = PROTOCOLS.load(protocol)().items_from(records, sample=sample, seed=seed)
    study = empty_plan(protocol, seed).study
    return StudyPlan(replace(study, settings=settings or {}), items)


def empty_plan(protocol: str, seed: int = 0) -> StudyPlan:
    """Plan a study without items, with the protocol's title and number of raters."""
    kind = PROTOCOLS.load(protocol)
    return StudyPlan(Study(protocol, str(kind.title), seed=seed, raters_per_item=kind.raters), ())


def described(
    plan: StudyPlan,
    protocol: str,
    *,
    config: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    **fields: Any,
) -> StudyPlan:
    """Return the plan with a study.toml and options over it; a field that is None changes nothing."""
    study = read_config(config, Study) if config else plan.study
    if study.protocol != protocol:
        raise ConfigError(f"the study is of the protocol {study.protocol}, not {protocol}")
    given = {name: value for name, value in fields.items() if value is not None}
    merged = {**study.settings, **{k: v for k, v in (settings or {}).items() if v is not None}}
    return replace(plan, study=replace(study, settings=merged, **given))
