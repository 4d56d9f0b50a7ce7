"""Writes docs/reference.md from the program's own help, so that the page cannot say anything else."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from deadpan.cli import program
from deadpan.storage import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
HEAD = """# Command reference

Written by `make docs` from the program's own help; a test fails when it is stale.
"""


def reference() -> str:
    """The page: every command's help, depth first."""
    sections = [HEAD]
    for name, command in _walk("deadpan", program):
        context = click.Context(command, info_name=name, terminal_width=100, help_option_names=["-h", "--help"])
        sections.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```\n")
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


if __name__ == "__main__":
    write_text(PAGE, reference())
    sys.stdout.write(f"{PAGE}\n")
