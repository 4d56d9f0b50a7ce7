"""Groups that answer a wrong name with the nearest, and import a command only when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class Group(click.Group):
    """A group whose commands are each listed with its whole first sentence."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            near = get_close_matches(args[0], known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(known)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        commands = [(name, command) for name in names if (command := self.get_command(ctx, name))]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(command)) for name, command in commands])


Group.group_class = Group


def _first_sentence(command: click.Command) -> str:
    text = " ".join((command.short_help or command.help or "").split("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".") + "."


class LazyGroup(Group):
    """A group whose commands are imported when they run: help must answer at once."""

    def __init__(self, commands: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(**settings)
        self.lazy = commands

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would exit with 1 for an error that has a number; `main` knows that this is none.
            raise BrokenPipeError from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.lazy.items()])
