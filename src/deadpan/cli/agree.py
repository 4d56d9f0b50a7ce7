"""deadpan agree: agreement between annotators, and labels aggregated from their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadpan.cli.options import PATH
from deadpan.cli.terminal import json_option, seed_option, show

SCALES = ("nominal", "ordinal", "interval", "ratio")
METHODS = ("majority", "dawid-skene", "mace")


@click.command()
@click.argument("judgments", type=PATH, metavar="JUDGMENTS")
@click.option("--question", help="The question, if the file has several.")
@click.option(
    "--scale", "metric", type=click.Choice(SCALES), default="nominal", show_default=True, help="Scale of the answers."
)
@click.option("--order", metavar="LOW,...,HIGH", help="The answers from low to high, for a scale of words.")
@click.option("--singles", is_flag=True, help="Count items with one answer for chance agreement (Gwet 2014).")
@click.option("--candidate", type=PATH, help="A model's answers (item, answer): may it replace a person?")
@click.option("--epsilon", type=float, default=0.2, show_default=True, help="What people cost more than --candidate.")
@click.option("--out", "labels", type=PATH, help="Where to write the aggregated labels.")
@click.option("--method", type=click.Choice(METHODS), default="majority", show_default=True, help="How to aggregate.")
@seed_option
@json_option
def agree(judgments: Path, order: str | None, as_json: bool, **options: Any) -> None:
    """Report the agreement in a file of judgments, with confidence intervals.

    JUDGMENTS is what the studio exports (.jsonl, .parquet), or a table (.csv, .tsv, .xlsx, ...) with the
    columns item, annotator and answer, or with an item column and one column per rater.
    Reports Cohen, Fleiss, Krippendorff, Gwet and raw agreement, and why a coefficient is undefined. --scale
    is for Krippendorff's alpha. With --out, the answers are aggregated and written as Labels. --candidate runs the
    alternative annotator test: each person is left out in turn and compared with the model.
    """
    from deadpan.ratings.report import report_agreement

    words = None if order is None else [word.strip() for word in order.split(",")]
    show(report_agreement(judgments, order=words, **options), as_json)
