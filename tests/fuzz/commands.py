"""Command lines: damaged words for every command of the program, parsed always and run where that is quick."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click

FILES = {
    "mine.csv": "id,text,label,score\n1,Oh great,1,0.9\n2,Fine,0,0.2\n3,Lovely,1,0.7\n4,It rains,0,0.6\n",
    "ratings.csv": "item,ann,bob\n1,yes,yes\n2,no,yes\n3,no,no\n",
}
QUICK = ("deadpan agree", "deadpan datasets list", "deadpan datasets stats", "deadpan models list")
"""Commands that are run with whatever options are left after the damage; all others are only parsed."""
VALUES = {"path": "mine.csv", "file": "mine.csv", "directory": "folder", "integer": "3", "float": "0.5"}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that is not a group, with the words that lead to it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None:
            yield from leaves(found, (*path, name))


def words_of(parameter: click.Parameter) -> list[str]:
    """Return words that give a parameter a value it takes."""
    choices = getattr(parameter.type, "choices", ())
    value = str(choices[0]) if choices else VALUES.get(parameter.type.name.split(" ")[0], "text")
    values = [value] * max(parameter.nargs, 1)
    if isinstance(parameter, click.Argument):
        return values
    if getattr(parameter, "is_flag", False):
        return [parameter.opts[-1]]
    return [parameter.opts[-1], *values]


@cache
def seeds() -> list[bytes]:
    """Return a command line for every command with all its options, one word per line."""
    from deadpan.cli import program

    found = []
    for path, command in leaves(program):
        arguments = [word for one in command.params if isinstance(one, click.Argument) for word in words_of(one)]
        options = [one for one in command.params if isinstance(one, click.Option) and one.name != "help"]
        for start in range(0, max(len(options), 1), 4):  # four options at a time
            words = [word for one in options[start : start + 4] for word in words_of(one)]
            found.append("\n".join([*path, *arguments, *words]).encode())
    return found


@contextlib.contextmanager
def _only_quick() -> Iterator[None]:
    """Leave out the work of commands that are not quick: their words are still parsed and checked."""
    run = click.Command.invoke

    def invoke(self: click.Command, context: click.Context) -> Any:
        return run(self, context) if context.command_path in QUICK else None

    click.Command.invoke = invoke  # type: ignore[method-assign]
    try:
        yield
    finally:
        click.Command.invoke = run  # type: ignore[method-assign]


def arguments(home: Path) -> Any:
    """Return the work of the target: a command line ends with 0, 1 or 2, and never with a traceback."""
    from deadpan.cli import main

    home.mkdir(exist_ok=True)

    def work(data: bytes) -> None:
        for name, text in FILES.items():
            if not (home / name).is_file():
                (home / name).write_text(text, encoding="utf-8")
        words = [word for word in data.decode("utf-8", "replace").replace("\0", "").split("\n") if word]
        out, err = io.StringIO(), io.StringIO()
        here = Path.cwd()
        os.chdir(home)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _only_quick():
                main(words)
        except SystemExit as ended:
            assert ended.code in (0, 1, 2, None), ended.code
            told = err.getvalue()
            assert "Traceback" not in told
            assert ended.code != 2 or told.strip() or out.getvalue().strip(), "an error without words"
        finally:
            os.chdir(here)

    return work
