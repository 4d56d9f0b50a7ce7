"""deadpan datasets: published corpora read, described, converted, split and checked for leaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.dataset_screens import show_descriptions, show_leaks
from deadpan.cli.output import (
    collector_paused,
    emit,
    json_option,
    seed_option,
    show_conversation,
    show_tally,
    table,
    watched,
    watched_batches,
)
from deadpan.cli.sources import open_source, source_options

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.records import Split


@click.group()
def datasets() -> None:
    """Published corpora, and tables of your own, as one kind of record.

    SOURCE is a name from `deadpan datasets list`, or a .csv, .tsv, .jsonl or .parquet file.
    """


@datasets.command("list")
@json_option
def list_datasets(as_json: bool) -> None:
    """The corpora deadpan can read, and where they are published."""
    from deadpan.datasets import READERS

    releases = {name: READERS.load(name).release for name in READERS}
    data = [
        {
            "name": name,
            "title": r.title,
            "language": r.language,
            "platform": r.platform,
            "label_kind": r.label_kind,
            "context": r.context,
            "explanation": r.explanation,
            "licence": r.licence,
            "url": r.url,
            "citation": r.citation,
            "files": [file.names[0] for file in r.files],
        }
        for name, r in releases.items()
    ]
    rows = [
        (name, r.title, r.language, r.platform, r.label_kind, "yes" if r.context else "-")
        for name, r in releases.items()
    ]

    def show(out: Console) -> None:
        out.print(table(("name", "what", "language", "platform", "labelled by", "context"), rows))
        out.print("Where each is published, its licence and its files: deadpan datasets list --json")

    emit(as_json, data, show)


@datasets.command()
@click.argument("source")
@click.option("-n", "count", default=3, show_default=True, help="How many conversations.")
@click.option("--label", type=click.Choice(["sarcastic", "sincere"]), help="Only these.")
@source_options
@seed_option
@json_option
def show(source: str, count: int, label: str | None, seed: int, as_json: bool, **reading: Any) -> None:
    """Print a few conversations as a person would read them, drawn at random."""
    from deadpan.draws import sample
    from deadpan.fields import encode

    reader = open_source(source, **reading)
    wanted = {"sarcastic": True, "sincere": False}.get(label or "")
    rows = (e for e in watched("reading", reader) if label is None or e.label is wanted)
    chosen = sample(rows, count, seed=seed, key=lambda example: example.id)
    total = len(chosen)

    def draw(out: Console) -> None:
        for example in chosen:
            show_conversation(out, example)
        if not total:
            out.print("nothing to show: no example is labelled so")
        show_tally(out, reader.tally)

    emit(as_json, [encode(example) for example in chosen], draw)


@datasets.command()
@click.argument("source")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="FILE.parquet or FILE.jsonl")
@source_options
@json_option
def convert(source: str, out: Path, as_json: bool, **reading: Any) -> None:
    """Write a corpus as one Parquet or JSONL file of Examples, with a manifest beside it."""
    from deadpan.records import Example
    from deadpan.storage import write_batches, write_manifest, write_records

    reader = open_source(source, **reading)
    with collector_paused():
        if out.suffix == ".parquet":
            count = write_batches(out, watched_batches("converting", reader.batches()), Example)
        else:
            count = write_records(out, watched("converting", reader), Example)
    write_manifest(
        out,
        command="datasets convert",
        config={"source": source, "strip_markers": reader.strip},
        inputs=[found.path for found in reader.found()],
        counts={"examples": count},
        tally=reader.tally,
    )

    def show(console: Console) -> None:
        console.print(f"{count:,} examples written to {out}")
        show_tally(console, reader.tally)

    emit(as_json, {"examples": count, "out": str(out), **reader.tally.as_dict()}, show)


@datasets.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@source_options
@json_option
def stats(sources: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """The row of the papers' comparison tables, and what is behind it; several sources make the table."""
    from deadpan.datasets.description import describe

    described = {}
    tallies = {}
    for source in sources:
        reader = open_source(source, **reading)
        described[source] = describe(watched(source, reader), name=source, platform=reader.release.platform)
        tallies[source] = reader.tally
    data = {s: {**d.as_dict(), **tallies[s].as_dict()} for s, d in described.items()}

    def show(out: Console) -> None:
        show_descriptions(out, described)
        for source in sources:
            show_tally(out, tallies[source])

    emit(as_json, data, show)


@datasets.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@source_options
@json_option
def leaks(sources: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """Texts in two places, tokens that decide the label, shared authors and threads: within and across."""
    from deadpan.datasets.leaks import find_leaks

    corpora = {source: list(watched(source, open_source(source, **reading))) for source in sources}
    report = find_leaks(corpora)
    emit(as_json, report.as_dict(), lambda out: show_leaks(out, report))


@datasets.command()
@click.argument("source")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for train, dev, test.")
@click.option("--sizes", default="8:1:1", show_default=True, help="Train:test or train:dev:test.")
@source_options
@seed_option
@json_option
def split(source: str, out: Path, sizes: str, seed: int, as_json: bool, **reading: Any) -> None:
    """Deal a corpus into train, dev and test: seeded, stratified, no thread or pair torn apart."""
    from deadpan.records import Example
    from deadpan.splits import split as deal
    from deadpan.storage import write_manifest, write_records

    fractions = _fractions(sizes)
    reader = open_source(source, **reading)
    parts = deal(list(watched("reading", reader)), fractions, seed=seed)
    for name, part in parts.items():
        write_records(out / f"{name}.parquet", part, Example)
    counts = {str(name): len(part) for name, part in parts.items()}
    write_manifest(
        out,
        command="datasets split",
        config={"source": source, "sizes": sizes, "strip_markers": reader.strip},
        seed=seed,
        inputs=[found.path for found in reader.found()],
        counts=counts,
        tally=reader.tally,
    )
    shares = [
        (name, f"{len(part):,}", f"{sum(bool(e.label) for e in part) / len(part):.1%}")
        for name, part in parts.items()
    ]

    def show(console: Console) -> None:
        console.print(table(("part", "examples", "sarcastic"), shares, numbers=("examples", "sarcastic")))
        console.print(f"written to {out}")

    emit(as_json, {"counts": counts, "out": str(out)}, show)


def _fractions(sizes: str) -> dict[Split, float]:
    """8:1:1 or 80:20 as fractions by part."""
    from deadpan.errors import ConfigError

    names: dict[int, tuple[Split, ...]] = {2: ("train", "test"), 3: ("train", "dev", "test")}
    try:
        shares = [float(part) for part in sizes.split(":")]
    except ValueError:
        shares = []
    if len(shares) not in names or not all(0 < share < float("inf") for share in shares):
        raise ConfigError(f"--sizes {sizes}: write train:test or train:dev:test, such as 80:20 or 8:1:1")
    return {name: share / sum(shares) for name, share in zip(names[len(shares)], shares, strict=True)}
