"""deadpan score: predictions against the truth, with intervals and paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.output import emit, json_option, seed_option, table
from deadpan.cli.sources import open_source, source_options

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.stats import Comparison, ScoreTable


@click.command()
@click.argument("truth", metavar="SOURCE")
@click.argument(
    "predictions", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PREDICTIONS..."
)
@click.option("--by", default="macro_f1", show_default=True, help="The score systems are compared by.")
@source_options
@seed_option
@json_option
def score(
    truth: str, predictions: tuple[Path, ...], by: str, seed: int, as_json: bool, **reading: Any
) -> None:
    """Score files of Predictions (.jsonl or .parquet) against a SOURCE of Examples.

    Several files are compared in pairs: the difference with its interval, a paired bootstrap and McNemar,
    Holm-adjusted. Intervals resample whole threads and pairs, not rows.
    """
    from deadpan.errors import ConfigError
    from deadpan.records import Prediction
    from deadpan.stats import compare_systems, score_predictions
    from deadpan.storage import read_records

    systems = {path.stem: list(read_records(path, Prediction)) for path in predictions}
    if len(systems) < len(predictions):
        raise ConfigError(
            "two prediction files have the same name: rename one, names are how rows are told apart"
        )
    examples = list(open_source(truth, **reading))
    tables = {name: score_predictions(examples, rows, seed=seed) for name, rows in systems.items()}
    compared = compare_systems(examples, systems, score=by, seed=seed) if len(systems) > 1 else []
    data = {
        "systems": {name: scored.as_dict() for name, scored in tables.items()},
        "comparisons": [comparison.as_dict() for comparison in compared],
    }
    emit(as_json, data, lambda out: _show(out, tables, compared))


def _show(out: Console, tables: dict[str, ScoreTable], compared: list[Comparison]) -> None:
    names = list(dict.fromkeys(name for scored in tables.values() for name in scored.scores))
    rows = [(name, *[str(scored.scores[name]) for scored in tables.values()]) for name in names]
    out.print(table(("score", *tables), rows, numbers=tuple(tables)))
    for name, scored in tables.items():
        out.print(
            f"{name}: n {scored.n:,} in {scored.n_clusters:,} clusters, unread {scored.n_unread:,}, "
            f"unlabelled {scored.n_unlabelled:,}"
        )
    for row in compared:
        verdict = "differ" if row.p_holm is not None and row.p_holm < 0.05 else "not different"
        p = "undefined" if row.p_holm is None else f"{row.p_holm:.3f}"
        out.print(f"{row.first} - {row.second}: {row.score} {row.difference}, p {p} (Holm): {verdict}")
