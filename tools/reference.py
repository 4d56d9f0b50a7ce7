"""Writes docs/reference.md from the program's own help, so that the page cannot say anything else."""

from __future__ import annotations

import sys
from collections import Counter
from operator import itemgetter
from pathlib import Path

import click

from deadpan.cli import program
from deadpan.storage import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
SHARED = 2
"""An option with the same words in so many commands is described once."""
READING = ("--column", "--positive", "--negative", "--split", "--language", "--data-dir", "--keep-markers",
           "--text-file", "--ids-only")  # fmt: skip
"""Options of every command that reads a corpus or a table."""
HEAD = """# Command reference

Written by `make docs` from the program's own help; a test fails when it is stale. `-h` or `--help` after any
command prints its whole help.

## Reading options

They say how a corpus or a table is read, in every command that lists *reading options*.
"""
OTHERS = """## Shared options

They mean the same in every command that lists them under *shared*.
"""


def reference() -> str:
    """The page: the options that commands share, then every command, depth first."""
    commands = _walk("deadpan", program)
    often = Counter(record for _, command in commands for record in _options(command))
    shared = {_name(record): record for record, count in sorted(often.items(), key=itemgetter(1)) if count >= SHARED}
    sections = [HEAD, _listed([shared[name] for name in READING])]
    sections += [OTHERS, _listed([shared[name] for name in sorted(shared) if name not in READING])]
    for name, command in commands:
        context = click.Context(command, info_name=name)
        options = _options(command)
        page = click.HelpFormatter(width=100)
        page.write_usage(name, " ".join(command.collect_usage_pieces(context)), prefix="")
        command.format_help_text(context, page)
        own = [record for record in options if shared.get(_name(record)) != record]
        if own:
            page.write_paragraph()
            page.write_dl(own)
        if command is program:
            command.format_commands(context, page)
        sections.append(f"## {name}\n\n{_block(page)}")
        also = [_name(record) for record in options if record not in own]
        if set(READING) <= set(also):
            also = ["[reading options](#reading-options)", *(name for name in also if name not in READING)]
        if also:
            listed = ", ".join(name if name.startswith("[") else f"`{name}`" for name in also)
            sections.append(f"[Shared](#shared-options): {listed}\n")
    return "\n".join(sections)


def _walk(name: str, command: click.Command) -> list[tuple[str, click.Command]]:
    found = [(name, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            below = command.get_command(context, child)
            assert below is not None, child
            found += _walk(f"{name} {child}", below)
    return found


def _options(command: click.Command) -> list[tuple[str, str]]:
    """Return the options of a command and their help; --help is left out, since all have it."""
    context = click.Context(command)
    found = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
    return [record for record in found if record is not None]


def _listed(records: list[tuple[str, str]]) -> str:
    page = click.HelpFormatter(width=100)
    page.write_dl(records)
    return _block(page)


def _name(record: tuple[str, str]) -> str:
    """Return the long name of an option, as in `--column`."""
    return next(word for word in record[0].replace(",", " ").split() if word.startswith("--"))


def _block(page: click.HelpFormatter) -> str:
    return f"```text\n{page.getvalue().strip()}\n```\n"


if __name__ == "__main__":
    write_text(PAGE, reference())
    sys.stdout.write(f"{PAGE}\n")
