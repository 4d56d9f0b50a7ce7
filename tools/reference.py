"""Writes docs/reference.md from the program's own help, so that the page cannot say anything else."""

from __future__ import annotations

import re
import sys
from collections import Counter
from operator import itemgetter
from pathlib import Path
from textwrap import dedent

import click

from deadpan.cli import program
from deadpan.storage import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
SHARED = 2
"""An option with the same words in so many commands is described once."""
READING = ("--column", "--positive", "--negative", "--split", "--language", "--data-dir", "--keep-markers",
           "--text-file", "--ids-only")  # fmt: skip
"""Options of every command that reads a corpus or a table."""
_RANGE = re.compile(r" RANGE$|; (?=x|\d)[^]]*(?=\])|  \[(x|\d+<=x)[^]]*\]")
"""How click writes the bounds of a number; the program names them when a number is outside."""
HEAD = """# Command reference

`-h` or `--help` after any command prints its whole help.

## Reading options

How a corpus or a table is read, in commands that list *reading options*.
"""
OTHERS = """## Shared options

The same in every command that lists them.
"""


def reference() -> str:
    """The page: the options that commands share, then every command, depth first."""
    commands = _walk("deadpan", program)
    often = Counter(record for _, command in commands for record in _options(command))
    shared = {_name(record): record for record, count in sorted(often.items(), key=itemgetter(1)) if count >= SHARED}
    sections = [HEAD, _listed([shared[name] for name in READING])]
    sections += [OTHERS, _listed([shared[name] for name in sorted(shared) if name not in READING])]
    always = set.intersection(*({_name(record) for record in _options(one)} for _, one in commands if not _group(one)))
    sections.append("Every command has " + ", ".join(f"`{name}`" for name in sorted(always)) + ".\n")
    for name, command in commands:
        context = click.Context(command, info_name=name)
        options = _options(command)
        about, listing = click.HelpFormatter(width=102), click.HelpFormatter(width=100)
        command.format_help_text(context, about)  # indented by 2
        own = [record for record in options if shared.get(_name(record)) != record]
        if own:
            listing.write_dl(own)
        pieces = [] if _group(command) else command.collect_usage_pieces(context)
        usage = " ".join([name, *(piece for piece in pieces if piece != "[OPTIONS]")])
        text = "\n\n".join(part for page in (about, listing) if (part := dedent(page.getvalue()).strip()))
        sections.append(f"## {usage}\n\n```text\n{text}\n```\n")
        also = [name for record in options if record not in own and (name := _name(record)) not in always]
        if set(READING) <= set(also):
            also = ["[reading options](#reading-options)", *(name for name in also if name not in READING)]
        if also:
            listed = ", ".join(name if name.startswith("[") else f"`{name}`" for name in also)
            sections.append(f"[Shared](#shared-options): {listed}\n")
    return "\n".join(sections)


def _group(command: click.Command) -> bool:
    return isinstance(command, click.Group)


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
    return [(_RANGE.sub("", record[0]), _RANGE.sub("", record[1])) for record in found if record is not None]


def _listed(records: list[tuple[str, str]]) -> str:
    page = click.HelpFormatter(width=100)
    page.write_dl(records)
    return f"```text\n{page.getvalue().strip()}\n```\n"


def _name(record: tuple[str, str]) -> str:
    """Return the long name of an option, as in `--column`."""
    return next(word for word in record[0].replace(",", " ").split() if word.startswith("--"))


if __name__ == "__main__":
    write_text(PAGE, reference())
    sys.stdout.write(f"{PAGE}\n")
