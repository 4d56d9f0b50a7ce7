"""The command line: one file a folder. Each command parses, composes, and prints one summary (or --json)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from deadpan import __version__
from deadpan.errors import DeadpanError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "tour": ("deadpan.cli.tour:tour", "See the main job done in small, in a few minutes."),
    "datasets": ("deadpan.cli.datasets:datasets", "Read, describe, convert and check published corpora."),
    "corpus": ("deadpan.cli.corpus:corpus", "Rebuild SARC from Reddit dumps, for any months."),
    "generate": (
        "deadpan.cli.generate:generate",
        "Write sarcastic dialogues with a language model, filtered.",
    ),
    "studio": ("deadpan.cli.studio:studio", "Studies with people: annotate, tell, audit, take a benchmark."),
    "detect": ("deadpan.cli.detect:detect", "Train, use, question and compare detectors."),
    "bench": ("deadpan.cli.bench:bench", "SarcBench: ask models what the speaker means; a leaderboard."),
    "score": ("deadpan.cli.score:score", "Score predictions with intervals; compare systems."),
    "agree": ("deadpan.cli.agree:agree", "Agreement between annotators, and the labels they come to."),
    "llm": ("deadpan.cli.llm:llm", "Call a language model: any endpoint, or the embedded one."),
    "models": ("deadpan.cli.models:models", "Weights from the package index: list, pull, find."),
    "doctor": ("deadpan.cli.doctor:doctor", "What is installed, what is missing, and what to type."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they run: help must answer at once."""

    def __init__(self, commands: Mapping[str, tuple[str, str]], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.lazy = commands

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would exit with 1 for one that has its number; `main` knows that it is no error.
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


program = LazyGroup(
    COMMANDS,
    name="deadpan",
    help="deadpan: the whole life of sarcasm data in one program.\n\nStart with `deadpan tour`.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
program = click.version_option(__version__, message="deadpan %(version)s")(program)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; anything a user can put right is one line on stderr and exit status 2."""
    try:
        status = program.main(arguments, prog_name="deadpan", standalone_mode=False)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except click.Abort:
        _say("stopped")
        sys.exit(130)
    except DeadpanError as wrong:
        _say(str(wrong))
        sys.exit(2)
    except BrokenPipeError:
        # The reader went away (`| head`): not an error, but Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _say("stopped")
        sys.exit(130)
    except OSError as wrong:
        place = f"{wrong.filename}: " if wrong.filename else ""
        _say(f"{place}{wrong.strerror or wrong}")
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)


def _say(message: str) -> None:
    click.echo(f"deadpan: {' '.join(message.split())}", err=True)
