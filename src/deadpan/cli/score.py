"""deadpan score: predictions against labels, with confidence intervals and paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.options import FOLDER, PATH, metric_option, reading_options, source_argument
from deadpan.cli.terminal import json_option, seed_option, show

if TYPE_CHECKING:
    from deadpan.datasets import Reading


@click.command()
@source_argument
@click.argument("predictions", nargs=-1, type=PATH, metavar="[PREDICTIONS]...")
@metric_option
@click.option("--out", type=FOLDER, help="Folder for a page with curves, all errors as .csv, and scores.json.")
@reading_options
@seed_option
@json_option
def score(
    source: str, predictions: tuple[Path, ...], metric: str | None, out: Path | None, seed: int,
    as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Evaluate scored tables, or files of predictions against the labels of a SOURCE.

    A scored table is what `detect predict TABLE --out scored.csv` writes for a table with true labels. You
    get scores, the confusion matrix and the errors. Several scored copies of one table are compared.

    PREDICTIONS are what `detect predict` writes (.jsonl, .parquet), or .csv and .tsv files with the columns
    id, label and score. Several files are compared in pairs by --metric (macro_f1 by default): the
    difference with its confidence interval and the p value of the same test, adjusted by Holm's method.
    Threads and pairs are clusters, in the test as in the intervals.
    """
    from deadpan.datasets.scored import score_source

    show(score_source(source, predictions, reading, metric=metric or "macro_f1", seed=seed, out=out), as_json)
