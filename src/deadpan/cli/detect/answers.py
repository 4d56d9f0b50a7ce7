"""deadpan detect TEXT, systems, card and predict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.detect.options import detector_option, prevalence_option
from deadpan.cli.options import FILE, reading_options, refuse_with
from deadpan.cli.terminal import json_option, show
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading

context_option = click.option("--context", multiple=True, help="What was said before; repeat for each turn.")


@click.command()
@click.argument("text", nargs=-1, metavar="TEXT")
@context_option
@detector_option
@prevalence_option
@click.option("--words", is_flag=True, help="Show the push of every word and turn, in log odds.")
@click.option("--top", type=click.IntRange(min=1), help="Instead of a text: the N most informative features.")
@click.option("--out", type=FILE, help="Also write a page with a bar per word to this .html file.")
@json_option
def text(
    text: tuple[str, ...], context: tuple[str, ...], detector: str, prevalence: float | None, words: bool,
    top: int | None, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Answer sarcastic, not sarcastic or cannot tell, and name the phrases and turns it depends on.

    For --words, each word and turn is left out; the change is its push: +0.7 doubles the odds of sarcasm,
    -0.7 halves them.
    """
    from deadpan.detect.explanation import answer_text

    if top is not None:
        from deadpan.detect.card import top_features

        refuse_with("--top", "text", "--context", "--prevalence", "--words", "--out")
        show(top_features(detector, top), as_json)
        return
    if not text:
        raise ConfigError("give a text, or --top N for the most informative features of a detector")
    whole = " ".join(text)
    answer = answer_text(whole, context=context, detector=detector, prevalence=prevalence, in_detail=words)
    if out:
        answer.write_page(out)
    show(answer, as_json)
    if out and not as_json:
        click.echo(f"Written to {out}")


@click.command()
@click.option("--card", metavar="DETECTOR", help="Show what a detector of the package knows: base, encoder or auto.")
@json_option
def systems(card: str | None, as_json: bool) -> None:
    """List the systems, and whether what they need is installed.

    With --card: AUC of a detector of the package by kind of text, and the corpora that taught it.
    """
    from deadpan.detect.card import list_systems, need_card
    from deadpan.detect.detector import best_detector

    show(need_card(best_detector("", card)) if card else list_systems(), as_json)


@click.command()
@click.argument("source", default="-", metavar="[SOURCE|-]")
@detector_option
@prevalence_option
@click.option("--out", type=FILE, help="File: .csv, .tsv, .jsonl, .parquet, .xlsx [default: standard output].")
@click.option("--reason", is_flag=True, help="Table: add a column with the phrases each score depends on.")
@click.option("--format", "form", type=click.Choice(["auto", "json", "plain"]), default="auto",
              show_default=True, help="Format of lines (standard input, .txt).")  # fmt: skip
@reading_options
@json_option
def predict(
    source: str, detector: str, prevalence: float | None, out: Path | None, reason: bool, form: str,
    as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Label the rows of a table or corpus, or the lines of standard input or a .txt file.

    A table is written to --out with all its rows and columns, plus label and score (predicted_label and
    predicted_score if it already has columns with these names).

    A line is plain text or JSON: {"text": ..., "context": [...], "id": ...} or a deadpan Example.
    Each line gives one line of JSON, in order: example_id, label, score, raw; or line and error. A label
    of null means that the detector cannot tell, or does not know the language: raw says which.
    Memory use is bounded, and answers to a pipe are not delayed.
    """
    from deadpan.cli.terminal import progress_bar
    from deadpan.datasets import open_source
    from deadpan.datasets.scored import score_table
    from deadpan.detect.detector import load_at
    from deadpan.detect.explanation import reasons
    from deadpan.detect.stream import is_lines, predict_source
    from deadpan.formats.tables import is_table

    if source == "-" and sys.stdin.isatty():
        raise ConfigError("nothing to read: name a table, a corpus or a .txt file, or pipe lines in")
    loaded = load_at(detector, prevalence)
    if out is not None and is_table(source):
        why = reasons(loaded) if reason else None
        with progress_bar() as progress:
            scored = score_table(
                source, out, loaded.predict, reading, reason=why, kind=loaded.category, progress=progress
            )
        show(scored, as_json)
        return
    if reason:
        raise ConfigError("--reason adds a column to a table: name a table and --out")
    rows = None if is_lines(source) else open_source(source, reading)
    counts = predict_source(loaded, source, rows, out, form)
    if counts["errors"]:
        click.echo(f"{counts['errors']:,} of {counts['lines']:,} lines could not be read", err=True)
