"""deadpan agree: agreement between annotators, and labels aggregated from their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from deadpan.cli.options import PATH
from deadpan.cli.terminal.output import json_option, seed_option, show

SCALES = ("nominal", "ordinal", "interval", "ratio")
METHODS = ("majority", "dawid-skene", "mace")


@click.command()
@click.argument("judgments", type=PATH, metavar="JUDGMENTS")
@click.option("--question", help="The question, if the file has several.")
@click.option("--scale", type=click.Choice(SCALES), default="nominal", show_default=True, help="Scale of the answers.")
@click.option("--out", type=PATH, help="Where to write the aggregated labels.")
@click.option("--method", type=click.Choice(METHODS), default="majority", show_default=True, help="How to aggregate.")
@seed_option
@json_option
def agree(
    judgments: Path,
    question: str | None,
    scale: Literal["nominal", "ordinal", "interval", "ratio"],
    out: Path | None,
    method: Literal["majority", "dawid-skene", "mace"],
    seed: int,
    as_json: bool,
) -> None:
    """Report the agreement in a file of judgments, with confidence intervals.

    JUDGMENTS is what the studio exports (.jsonl, .parquet), or a table (.csv, .tsv, .xlsx, ...) with the
    columns item, annotator and answer, or with an item column and one column per rater.
    Reports Cohen, Fleiss, Krippendorff, Gwet and raw agreement, and why a coefficient is undefined. --scale
    is for Krippendorff's alpha. With --out, the answers are aggregated and written as Labels.
    """
    from deadpan.ratings.report import report_agreement

    show(report_agreement(judgments, question, scale, out, method, seed), as_json)
