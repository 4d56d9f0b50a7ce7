"""Old spellings keep working, with one warning line that names the new one."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from deadpan.cli.command import Command, Group
from deadpan.cli.options import Reading, reading_options, source_argument


@click.command(cls=Command, renamed={"--data": "SOURCE", "--context": "--turns"})
@source_argument
@click.option("--turns", default="0")
@click.option("--flag", is_flag=True)
def train(source: str, turns: str, flag: bool) -> None:
    click.echo(f"{source} {turns} {flag}")


@pytest.mark.parametrize(
    ("arguments", "answer", "warnings"),
    [
        (["corpus", "--turns", "2"], "corpus 2 False", 0),
        (["--data", "corpus", "--flag"], "corpus 0 True", 1),
        (["--data=corpus", "--context=3"], "corpus 3 False", 2),
        (["--context", "full", "--data", "x y"], "x y full False", 2),
        (["--", "--data"], "--data 0 False", 0),
    ],
)
def test_a_renamed_option_still_works(arguments, answer, warnings):
    ran = CliRunner().invoke(train, arguments)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.strip() == answer
    assert ran.stderr.count("is now") == warnings == len(ran.stderr.splitlines())


def test_an_old_spelling_counts_only_where_the_command_has_the_new_one():
    command = Command("act", renamed={"--context": "--turns", "--data": "SOURCE"}, callback=lambda: None)
    assert command.renamed == {"--data": "SOURCE"}


def test_old_spellings_are_not_in_the_help():
    assert "--data" not in CliRunner().invoke(train, ["--help"]).output


def test_a_group_makes_commands_of_our_kind():
    group = Group("stage")

    @group.command(renamed={"--old": "--new"})
    @click.option("--new")
    def act(new: str) -> None:
        click.echo(new)

    assert CliRunner().invoke(group, ["act", "--old", "x"]).stdout == "x\n"


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
