"""deadpan corpus: a SARC corpus from Reddit dumps, and studies of it."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import Any

import click

from deadpan.cli import Group
from deadpan.cli.options import FOLDER, PATH, joined, preset_option
from deadpan.cli.terminal import json_option, progress_bar, seed_option, show
from deadpan.corpus.settings import BUILD_STEPS

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)

corpus_argument = click.argument("directory", type=FOLDER, metavar="SOURCE")
source_argument = click.argument("source", type=PATH, metavar="SOURCE")
study_option = click.option("--out", required=True, type=FOLDER, help="Study folder to write.")


@click.group(cls=Group)
def corpus() -> None:
    """Rebuild SARC from monthly Reddit dumps, for any months, subreddits and markers.

    DUMP is an RC_ or RS_ file (.zst, .bz2, .xz, .gz or plain), a folder, a pattern in quotes, or a URL.
    SOURCE is the folder of a finished build.
    """
    atexit.register(_silence_stderr)


def _silence_stderr() -> None:
    """Hide what DuckDB's library prints while the process exits."""
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


engine_options = joined(
    click.option("--engine", default="duckdb", show_default=True, help="duckdb or spark."),
    click.option("--spark-master", default="local[*]", show_default=True, help="The Spark master."),
    click.option("--memory", default="4GB", show_default=True,
                 help="Memory limit of the engine; the rest spills to disk."),
    click.option("--workers", default=0, show_default="what cores and memory allow", type=click.IntRange(0),
                 help="Dumps to read at once; each may need 2 GiB for its window."),
    json_option,
)  # fmt: skip
reading_options = joined(
    click.option("--allow-truncated", is_flag=True, help="Use the complete lines of a truncated file."),
    click.option("--mixed-months", is_flag=True, help="Accept files with more months than their name says."),
    click.option("--forget", type=FILE, help="Exclude the authors in this file, one per line."),
    engine_options,
)
# The names of options are those of settings and options in the library.
build_options = joined(
    click.argument("dumps", nargs=-1, required=True, metavar="DUMP..."),
    click.option("--out", required=True, help="Folder or URL (s3:, hdfs:) of the corpus."),
    click.option("--work", type=FOLDER, help="Working folder, if --out is a URL."),
    click.option("--from", "first_month", metavar="MONTH", help="First month, such as 2009-01."),
    click.option("--to", "last_month", metavar="MONTH", help="Last month, such as 2017-04."),
    click.option("--config", "settings", type=FILE, help="corpus.toml with all rules; see docs/corpus.md."),
    click.option("--markers", "marker_set", metavar="NAME|FILE",
                 help="A set of markers: sarc, hashtags, joking, german, korean, ..., or a .toml file."),
    click.option("--seed", type=int, help="Random seed [default: 0]."),
    click.option("--vectors", metavar="FILE", help="Word vectors for pairs: a GloVe file, or embedded."),
    click.option("--sentences", type=click.Choice(["any", "strict"]),
                 help="strict: benchmarks of whole sentences only."),
    click.option("--siblings", type=click.Choice(["kept", "all"]),
                 help="all: raw/comments.json also has the dropped replies beside sarcastic ones."),
    click.option("--bz2", "packed", is_flag=True, help="Write .bz2 instead of plain files."),
    click.option("--until", type=click.Choice(BUILD_STEPS), default=BUILD_STEPS[-1], show_default=True,
                 help="Last step to run; run it again to go on."),
    reading_options,
)  # fmt: skip


@corpus.command()
@build_options
@preset_option("corpus build")
def build(until: str, as_json: bool, **options: Any) -> None:
    """Build a corpus and its benchmarks from dumps. Run it again to resume an interrupted build."""
    from deadpan.corpus import build_until

    with progress_bar() as progress:
        given = {name: value for name, value in options.items() if value is not None}
        result = build_until(until, progress=progress, **given)
    show(result, as_json)


@corpus.command()
@click.argument("dumps", nargs=-1, required=True, metavar="DUMP...")
@click.option("--corpus", "directory", required=True, type=FOLDER, help="Folder of the finished corpus.")
@click.option("--after", default="", metavar="MONTH", help="Also write a benchmark of texts from MONTH on.")
@reading_options
def update(dumps: tuple[str, ...], directory: Path, as_json: bool, **options: Any) -> None:
    """Add months to a corpus and record the new version: what was added and withdrawn, and why."""
    from deadpan.corpus import update_corpus

    with progress_bar() as progress:
        given = {name: value for name, value in options.items() if value}
        result = update_corpus(dumps, directory, progress=progress, **given)
    show(result, as_json)


@corpus.command()
@source_argument
@click.option("--top", default=12, show_default=True, help="Number of subreddits to show.")
@json_option
def stats(source: Path, top: int, as_json: bool) -> None:
    """Show sizes, shares and subreddits of a corpus, a released raw file or Parquet files."""
    from deadpan.corpus import read_statistics

    show(read_statistics(source, top=top), as_json)


@corpus.command()
@source_argument
@click.option("--min-comments", type=int, help="Comments a subreddit needs [default: the paper's million].")
@click.option("--out", type=FOLDER, help="Folder for the figures, if SOURCE is not a corpus.")
@json_option
@preset_option("corpus figures")
def figures(source: Path, as_json: bool, **options: Any) -> None:
    """Draw figures 2 to 4 of the paper for a corpus, a released raw file or Parquet files."""
    from deadpan.corpus import draw_figures

    show(draw_figures(source, **options), as_json)


@corpus.command()
@corpus_argument
@click.argument("dumps", nargs=-1, metavar="[DUMP...]")
@click.option("--work", type=FOLDER, help="Folder for the new build [default: SOURCE/.work].")
@engine_options
def verify(directory: Path, dumps: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Compare a corpus with a new build from its dumps; exit status 1 if a rule is violated.

    DUMP... are the dumps it was built from. By default, the paths that the build read are used.
    """
    from deadpan.corpus import verify_corpus

    with progress_bar() as progress:
        result = verify_corpus(directory, dumps, progress=progress, **options)
    return show(result, as_json, failed=not result.sound)


@corpus.command()
@corpus_argument
@click.option("--to", required=True, metavar="PLACE", help="Folder or URL (s3:, hdfs:) to publish to.")
@click.option("--ids-only", is_flag=True, help="Publish ids, labels and hashes, but no texts and no authors.")
@json_option
def publish(directory: Path, as_json: bool, **options: Any) -> None:
    """Write what may be published of a corpus, with its benchmarks as configurations of a dataset."""
    from deadpan.corpus import publish_corpus

    show(publish_corpus(directory, **options), as_json)


@corpus.command()
@click.argument("index", type=PATH)
@click.argument("dumps", nargs=-1, required=True, metavar="DUMP...")
@click.option("--out", required=True, type=FOLDER, help="Folder for comments.json and the index.")
@click.option("--hashes", type=FILE, help="Hashes of the published texts [default: hashes.csv by the index].")
@click.option("--config", "settings", type=FILE, help="corpus.toml with the rules for texts.")
@click.option("--markers", "marker_set", metavar="NAME|FILE", help="A set of markers, as for corpus build.")
@reading_options
def fill(as_json: bool, **options: Any) -> None:
    """Turn ids into texts: an index of SARC, or a list of ids, and the dumps give comments.json."""
    from deadpan.corpus import fill_index

    with progress_bar() as progress:
        given = {name: value for name, value in options.items() if value}
        result = fill_index(progress=progress, **given)
    show(result, as_json)


@corpus.group(cls=Group)
def study() -> None:
    """Write a study for the studio that asks people about a corpus."""


@study.command()
@corpus_argument
@click.option("--sample", "count", default=500, show_default=True, help="Number of comments per label.")
@click.option("--raters", default=3, show_default=True, help="People per item.")
@study_option
@seed_option
@json_option
@preset_option("corpus study noise")
def noise(directory: Path, as_json: bool, **options: Any) -> None:
    """Ask people how noisy the labels are."""
    from deadpan.corpus import write_noise_study

    show(write_noise_study(directory, **options), as_json)


@study.command()
@corpus_argument
@click.option("--sample", "count", default=100, show_default=True, help="Number of pairs.")
@click.option("--subset", default="main", show_default=True, help="main, or one such as pol.")
@click.option("--raters", default=5, show_default=True, help="People per item.")
@study_option
@seed_option
@json_option
@preset_option("corpus study pairs")
def pairs(directory: Path, as_json: bool, **options: Any) -> None:
    """Ask people which of two replies is sarcastic."""
    from deadpan.corpus import write_pairs_study

    show(write_pairs_study(directory, **options), as_json)


@corpus.command()
@click.option("--months", default=2, show_default=True, type=click.IntRange(1), help="Number of months.")
@click.option("--comments", default=10_000, show_default=True, type=click.IntRange(1), help="Total comments.")
@click.option("--from", "start", default="2010-01", show_default=True, metavar="MONTH", help="First month.")
@click.option("--compression", "form", default="zst", show_default=True,
              type=click.Choice(["zst", "bz2", "xz", "gz", "plain"]), help="Compression.")  # fmt: skip
@click.option("--level", default=3, show_default=True, type=click.IntRange(1, 19), help="zstd level.")
@click.option("--out", required=True, type=FOLDER, help="Folder for the RC_ and RS_ files.")
@seed_option
@json_option
def synthesize(as_json: bool, **options: Any) -> None:
    """Write synthetic dumps that look like Reddit's; the same options give the same bytes."""
    from deadpan.corpus import synthesize_dumps

    with progress_bar() as progress:
        result = synthesize_dumps(progress=progress, **options)
    show(result, as_json)
