"""The program as a whole: quick to answer, one line for every mistake."""

from __future__ import annotations

import resource
import subprocess
import sys

import click
import pytest

from deadpan.cli import COMMANDS, program


def processor_time() -> float:
    """Of the children so far: what a busy machine does to the wall clock is not ours to test."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_answers_at_once():
    times = []
    for _ in range(5):
        began = processor_time()
        done = subprocess.run(
            [sys.executable, "-m", "deadpan", "--help"], capture_output=True, text=True, check=True
        )
        times.append(processor_time() - began)
    assert all(name in done.stdout for name in COMMANDS)
    assert min(times) < 0.3


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        names = command.list_commands(context)
        return [leaf for n in names for leaf in leaves(command.get_command(context, n), (*path, n))]
    return [(" ".join(path), command)]


@pytest.mark.parametrize(("path", "command"), leaves(program), ids=lambda value: str(value)[:40])
def test_every_command_has_json_and_help(path, command):
    assert any("--json" in option.opts for option in command.params), path
    assert command.help, path


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["datasets", "stats", "sarc-pool"], "did you mean 'sarc-pol'"),
        (["datasets", "stats", "sarc-pol"], "--data"),
        (["datasets", "stats", "sarc-pol", "--data", "/no/such"], "no folder"),
        (["datasets", "convert", "starter-en", "--out", "x.csv"], ".jsonl or .parquet"),
        (["datasets", "stats", "no-such.csv"], "no-such.csv"),
        (["datasets", "split", "starter-en", "--out", "x", "--sizes", "8:x"], "--sizes"),
        (["datasets", "stats", "starter-en", "--column", "text=a"], "--column"),
        (["datasets", "stats", "starter-en", "--ids-only"], "--ids-only"),
        (["models", "pull", "gpt-9"], "smollm2-135m"),
        (["score", "starter-en", "no-such.jsonl"], "no such file"),
        (["agree", "no-such.jsonl"], "no such file"),
        (["nonsense"], "nonsense"),
        (["datasets", "show"], "SOURCE"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(deadpan, tmp_path, monkeypatch, arguments, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEADPAN_DATA", raising=False)
    ran = deadpan(*arguments)
    assert ran.status == 2
    assert word in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    script = f"{sys.executable} -m deadpan datasets show starter-en -n 400 | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_no_colour_when_not_a_terminal(deadpan):
    assert "\x1b[" not in deadpan("datasets", "show", "starter-en").out
