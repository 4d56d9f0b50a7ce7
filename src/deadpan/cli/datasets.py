"""deadpan datasets: read, describe, convert, split and check corpora."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli import Group, options
from deadpan.cli.terminal import emit, json_option, progress_bar, seed_option, show, show_conversation, show_tally

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.datasets import Reading

_rescore_option = click.option(
    "--rescore", default="", metavar="A,B", help="Score these systems on cleaned data: bow,frozen."
)
_sample_option = click.option("--sample", type=int, help="Rescore on at most N rows (useful for encoders).")


@click.group(cls=Group)
def datasets() -> None:
    """Read published corpora and your own tables into one record format.

    SOURCE is a name from `deadpan datasets list`, or a table (.csv, .tsv, .jsonl, .parquet, .xlsx).
    """


@datasets.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the corpora that can be read, and where they are published."""
    from deadpan.datasets.description import list_datasets

    corpora = list_datasets()
    if as_json:
        emit(True, corpora.as_dict()["datasets"], lambda out: None)
    else:
        show(corpora, False)


@datasets.command("show")
@options.source_argument
@click.option("-n", "--sample", default=3, show_default=True, type=click.IntRange(min=1), help="Show N at random.")
@click.option("--label", type=click.Choice(["sarcastic", "sincere"]), help="Show only these.")
@options.reading_options
@seed_option
@json_option
def show_command(source: str, sample: int, label: str | None, seed: int, as_json: bool, reading: Reading) -> None:
    """Print a few conversations, drawn at random."""
    from deadpan.datasets import sample_source
    from deadpan.validation import encode

    wanted = {"sarcastic": True, "sincere": False}.get(label or "")
    with progress_bar() as progress:
        drawn = sample_source(source, sample, label=wanted, seed=seed, reading=reading, progress=progress)

    def show_drawn(out: Console) -> None:
        for example in drawn:
            show_conversation(out, example)
        if not len(drawn):
            out.print("no example has this label")
        show_tally(out, drawn.tally)

    emit(as_json, [encode(example) for example in drawn], show_drawn)


@datasets.command("convert")
@options.source_argument
@options.out_option
@options.reading_options
@json_option
def convert_command(source: str, out: Path, as_json: bool, reading: Reading) -> None:
    """Write a corpus as one file (.csv, .tsv, .xlsx, .parquet, .jsonl), or as a folder for Hugging Face."""
    from deadpan.datasets.convert import convert_dataset

    with progress_bar() as progress:
        result = convert_dataset(source, out, reading, progress)
    show(result, as_json)


@datasets.command("stats")
@options.sources_argument
@options.reading_options
@json_option
def stats_command(sources: tuple[str, ...], as_json: bool, reading: Reading) -> None:
    """Describe corpora in numbers: the comparison table of a paper, lengths by label, and more."""
    from deadpan.datasets.description import describe_sources

    with progress_bar() as progress:
        result = describe_sources(sources, reading, progress)
    show(result, as_json)


@datasets.command("leaks")
@options.sources_argument
@options.reading_options
@json_option
def leaks_command(sources: tuple[str, ...], as_json: bool, reading: Reading) -> None:
    """Find duplicates, tokens that decide the label, and shared authors, within and across corpora."""
    from deadpan.datasets import read_several
    from deadpan.datasets.leaks import find_leaks

    with progress_bar() as progress:
        read = read_several(sources, reading, progress)
    show(find_leaks({name: data.examples for name, data in zip(sources, read, strict=True)}), as_json)


@datasets.command("split")
@options.source_argument
@options.out_option
@click.option("--sizes", default="8:1:1", show_default=True, help="train:test or train:dev:test.")
@options.reading_options
@seed_option
@json_option
def split_command(source: str, out: Path, sizes: str, seed: int, as_json: bool, reading: Reading) -> None:
    """Split a corpus into train, dev and test: stratified, with threads and pairs kept together."""
    from deadpan.datasets.convert import split_dataset

    with progress_bar() as progress:
        result = split_dataset(source, out, sizes, seed, reading, progress)
    show(result, as_json)


@datasets.command("audit")
@options.sources_argument
@click.option("--out", type=options.FOLDER, help="Folder for a page per corpus, and an overview.")
@_rescore_option
@_sample_option
@options.reading_options
@seed_option
@json_option
def audit_command(sources: tuple[str, ...], rescore: str, sample: int, as_json: bool, **how: Any) -> None:
    """Audit corpora: leaks, shortcuts that give the label away, label noise, and what they explain."""
    from deadpan.datasets.audit import audit_sources
    from deadpan.detect.studies.rescoring import rescorer_for

    again = rescorer_for(rescore, sample, how["out"], how["seed"])
    with progress_bar() as progress:
        result = audit_sources(sources, rescorer=again, progress=progress, **how)
    show(result, as_json)


@datasets.command("clean")
@options.source_argument
@options.out_option
@click.option("--remove", "also", multiple=True, metavar="REASON",
              help="Also remove rows for this reason: author, thread or label_error.")  # fmt: skip
@_rescore_option
@_sample_option
@options.reading_options
@seed_option
@json_option
def clean_command(source: str, rescore: str, sample: int, as_json: bool, **how: Any) -> None:
    """Write cleaned, hashed splits, and every removed id with its reason."""
    from deadpan.datasets.cleaning import clean_dataset
    from deadpan.detect.studies.rescoring import rescorer_for

    again = rescorer_for(rescore, sample, how["out"], how["seed"])
    with progress_bar() as progress:
        result = clean_dataset(source, rescorer=again, progress=progress, **how)
    show(result, as_json)
