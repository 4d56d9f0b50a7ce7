"""Output folders of studies: JSON, predictions, a page with its figure, and the manifest last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deadpan.formats.predictions import write_predictions
from deadpan.page import Page
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.storage import prepare_output, write_json, write_manifest

_UNFIT = re.compile(r"[^\w.+-]+")
"""Characters that do not belong in a file name: a system may be called blend:linear+frozen:mpnet-base."""


def folder_name(name: str) -> str:
    """Return a name as a file or folder may be called."""
    return _UNFIT.sub("-", name).strip("-") or "unnamed"


def source_name(examples: Sequence[Example]) -> str:
    """Return the name of the corpora the examples come from."""
    names = sorted({example.source for example in examples if example.source})
    return ", ".join(names) or "the examples"


def write_study(
    folder: Path,
    name: str,
    result: Result,
    page: Page,
    *,
    command: str,
    predictions: Mapping[str, Sequence[Prediction]] | None = None,
    config: Mapping[str, Any],
    seed: int | None = None,
    inputs: Iterable[Path] = (),
    counts: Mapping[str, int] | None = None,
) -> None:
    """Write NAME.json, the predictions of each system, report.html and manifest.json."""
    before = prepare_output(folder)
    for system, rows in (predictions or {}).items():
        write_predictions(folder / f"{folder_name(system)}.jsonl", rows)
    write_json(folder / f"{name}.json", result.as_dict())
    page.write(folder / "report.html")
    write_manifest(
        folder, command=command, config=config, seed=seed, inputs=inputs, counts=counts, before=before
    )
