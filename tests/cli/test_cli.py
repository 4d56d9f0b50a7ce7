"""An unknown command is answered with the nearest, and options of reading arrive as one value."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from deadpan.cli import Group
from deadpan.cli.options import reading_options, source_argument
from deadpan.datasets import Reading


@pytest.mark.parametrize(("word", "hint"), [("stat", "Did you mean 'stats'?"), ("zzz", "Commands: stats.")])
def test_an_unknown_command_is_answered_with_the_nearest(word, hint):
    group = Group("stage")
    group.command("stats")(lambda: None)
    ran = CliRunner().invoke(group, [word])
    assert ran.exit_code == 2
    assert f"No such command '{word}'. {hint}" in ran.stderr


def test_reading_options_arrive_as_one_value():
    seen = []

    @click.command()
    @source_argument
    @reading_options
    def read(source: str, reading: Reading) -> None:
        seen.append((source, reading))

    CliRunner().invoke(read, ["a.csv", "--column", "text=tweet", "--positive", "yes", "--split", "dev"])
    assert seen == [("a.csv", Reading(columns=(("text", "tweet"),), positive=("yes",), split="dev"))]
