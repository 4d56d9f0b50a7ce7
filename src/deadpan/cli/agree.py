"""deadpan agree: how far annotators agree, and what their answers come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

METRICS = ("nominal", "ordinal", "interval", "ratio")


@click.command()
@click.argument("judgments", type=click.Path(path_type=Path), metavar="JUDGMENTS")
@click.option("--question", help="Which question, if the file has several.")
@click.option("--metric", type=click.Choice(METRICS), default="nominal", show_default=True, help="For alpha.")
@click.option("--labels", type=click.Path(path_type=Path), help="Write the aggregated labels here.")
@click.option(
    "--method", type=click.Choice(["majority", "dawid-skene"]), default="majority", show_default=True
)
@seed_option
@json_option
def agree(
    judgments: Path,
    question: str | None,
    metric: Literal["nominal", "ordinal", "interval", "ratio"],
    labels: Path | None,
    method: str,
    seed: int,
    as_json: bool,
) -> None:
    """Cohen, Fleiss, Krippendorff and Gwet of a judgments file (.jsonl or .parquet), with intervals.

    What is undefined says why. With --labels, the answers are aggregated and written as Labels.
    """
    from deadpan.agreement import agreement, dawid_skene, majority, match_majority, ratings_from_judgments
    from deadpan.records import Judgment, Label
    from deadpan.storage import read_records, write_manifest, write_records

    ratings = ratings_from_judgments(list(read_records(judgments, Judgment)), question)
    figures = agreement(ratings, metric, seed=seed)
    matches = match_majority(ratings)
    if labels is not None:
        made = majority(ratings) if method == "majority" else dawid_skene(ratings).labels
        write_records(labels, made, Label)
        write_manifest(labels, command="agree", config={"method": method}, inputs=[judgments])
    data = {
        "question": ratings.question,
        "items": len(ratings.items),
        "raters": len(ratings.raters),
        "agreement": {name: figure.as_dict() for name, figure in figures.items()},
        "match_majority": {match.annotator: match.share.as_dict() for match in matches},
        "labels": str(labels) if labels else None,
    }

    def show(out: Console) -> None:
        out.print(f"{len(ratings.items):,} items, {len(ratings.raters)} raters")
        out.print(table(("measure", "value"), [(name, str(f)) for name, f in figures.items()]))
        rows = [(match.annotator, str(match.share), match.share.n) for match in matches]
        out.print(table(("annotator", "agrees with the majority of the others", "n"), rows, numbers=("n",)))
        if labels:
            out.print(f"labels written to {labels}")

    emit(as_json, data, show)
