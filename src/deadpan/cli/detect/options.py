"""What the detect commands have in common: where examples come from, which system, progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadpan.cli.sources import open_source

if TYPE_CHECKING:
    from deadpan.datasets.reader import Reader
    from deadpan.detect.system import Progress
    from deadpan.records import Example

F = TypeVar("F", bound=Callable[..., Any])

FOLDER = click.Path(path_type=Path, file_okay=False)
"""Where results go: that a file is in the way is said before the work, not after it."""
READING = (
    click.option("--data-dir", "data", envvar="DEADPAN_DATA", type=click.Path(path_type=Path),
                 help="Folder of the release, or of all releases [env: DEADPAN_DATA]."),
    click.option("--column", "columns", multiple=True, metavar="FIELD=NAME",
                 help="For your own tables: which column is the text, label, context, ..."),
    click.option("--positive", multiple=True, metavar="LABEL",
                 help="For your own tables: a label that means sarcastic."),
    click.option("--text", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                 help="iSarcasm: a file with the texts of the tweet ids."),
    click.option("--keep-markers", is_flag=True, help="Keep tags that tell the label (#sarcasm, #not, /s)."),
)  # fmt: skip


def reading_options(command: F) -> F:
    """How to read what --data names."""
    for option in reversed(READING):
        command = option(command)
    return command


data_option = click.option(
    "--data", "source", required=True, metavar="NAME|FILE",
    help="A corpus from `deadpan datasets list` (with --data-dir), or a file of your own.",
)  # fmt: skip
set_option = click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE",
    help="A setting of the system, such as strength=2; may be given again.",
)  # fmt: skip
context_option = click.option(
    "--context", "turns", default="0", show_default=True, metavar="N|full",
    help="How many turns before the response are seen.",
)  # fmt: skip
speakers_option = click.option("--speakers", is_flag=True, help="Mark who says each turn (A, B, ...).")
folds_option = click.option(
    "--folds", "k", default=5, show_default=True, help="Folds; none crosses a thread."
)
threshold_option = click.option(
    "--threshold", default="0.5", show_default=True, metavar="f1|balanced|NUMBER",
    help="Above which score to say sarcastic; f1 and balanced choose it on examples held back.",
)  # fmt: skip
model_option = click.option(
    "--model", default="default", show_default=True, metavar="FOLDER",
    help="Where a model was saved; `default` comes with deadpan.",
)  # fmt: skip


also_option = click.option(
    "--also", "more", default="", metavar="A,B,...",
    help="More corpora to learn from; texts that are in --data as well are taken out of them first.",
)  # fmt: skip


def read_also(more: str, examples: Sequence[Example], **reading: Any) -> tuple[list[Example], int]:
    """The examples of --also that are not, or nearly, in the corpus itself, and how many were."""
    if not more:
        return [], 0
    from deadpan.datasets.leaks import without_duplicates

    found = [example for source in names(more) for example in read(source, **reading)[0]]
    kept = without_duplicates(found, examples).examples
    return _own_ids(kept, examples), len(found) - len(kept)


def _own_ids(more: Iterable[Example], examples: Iterable[Example]) -> list[Example]:
    """With ids of their own: two files that both number their rows from 0 are no reason to refuse them."""
    taken = {example.id for example in examples}
    renamed = []
    for example in more:
        name, number = example.id, 1
        while name in taken:
            number += 1
            name = f"{example.id}~{number}"
        taken.add(name)
        renamed.append(example if name == example.id else replace(example, id=name))
    return renamed


def read(source: str, **reading: Any) -> tuple[list[Example], Reader]:
    """The examples, and the reader with what it left out."""
    from deadpan.cli.output import watched

    reader = open_source(source, **reading)
    return list(watched("reading", reader)), reader


def no_split(source: str, part: str, examples: Sequence[Example]) -> str:
    """What to say of a split nobody is in: which ones there are."""
    there = sorted({example.split for example in examples if example.split})
    have = f"choose from {', '.join(there)}" if there else "it has no splits, leave --split out"
    return f"no example of {source} is in the split {part!r}: {have}"


def inputs_of(reader: Reader) -> list[Path]:
    """The files examples came from, for a manifest."""
    return [found.path for found in reader.found()]


def common_settings(turns: str, speakers: bool) -> dict[str, Any]:
    """--context and --speakers as settings; left to the system where they say nothing."""
    from deadpan.detect.context import parse_turns

    return {"turns": parse_turns(turns), "speakers": speakers}


def names(words: str) -> list[str]:
    """A list typed with commas."""
    return [word.strip() for word in words.split(",") if word.strip()]


@contextmanager
def watching() -> Iterator[Progress]:
    """What a system is doing, on one line of a terminal; nothing anywhere else."""
    from deadpan.detect.system import silent

    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield show


def counts(examples: Sequence[Example]) -> dict[str, int]:
    """How many, and how many of each label."""
    sarcastic = sum(example.label is True for example in examples)
    sincere = sum(example.label is False for example in examples)
    return {"examples": len(examples), "sarcastic": sarcastic, "sincere": sincere}
