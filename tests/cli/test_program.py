"""The program as a whole: quick to answer, one line for every mistake."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import click
import pytest

from deadpan.cli import COMMANDS, main, program
from deadpan.cli.llm import NumberOrNone


def processor_time() -> float:
    """Of the children so far: what a busy machine does to the wall clock is not ours to test."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_answers_at_once():
    times = []
    while len(times) < 5 and min(times, default=1.0) >= 0.3:
        began = processor_time()
        done = subprocess.run([sys.executable, "-m", "deadpan", "--help"], capture_output=True, text=True, check=True)
        times.append(processor_time() - began)
    assert all(name in done.stdout for name in COMMANDS)
    assert min(times) < 0.3


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        names = command.list_commands(context)
        return [leaf for n in names for leaf in leaves(command.get_command(context, n), (*path, n))]
    return [(" ".join(path), command)]


LEAVES = leaves(program)


def test_the_commands_can_be_learned():
    assert len(LEAVES) <= 75


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[path for path, _ in LEAVES])
def test_every_command_has_json_and_help(path, command):
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert any("--json" in option.opts for option in options)
    assert command.help
    assert [option.opts for option in options if not option.help] == []
    for width in (60, 80):
        page = command.get_help(click.Context(command, info_name=f"deadpan {path}", terminal_width=width))
        assert max(map(len, page.splitlines())) <= width
    assert not any(option.hidden for option in options)


NUMBERS = (click.types.IntParamType, click.types.FloatParamType, NumberOrNone)
TWO_KINDS = {"--remove"}
"""The number of an import, the name of a person, or a reason: what is removed has the id it has."""


def test_an_option_means_the_same_in_every_command():
    kinds: dict[str, dict[str, list[str]]] = {}
    for path, command in LEAVES:
        for each in (each for each in command.params if isinstance(each, click.Option) and not each.hidden):
            kind = "flag" if each.is_flag else "number" if isinstance(each.type, NUMBERS) else "text"
            kinds.setdefault(max(each.opts, key=len), {}).setdefault(kind, []).append(path)
    assert {name: found for name, found in kinds.items() if len(found) > 1 and name not in TWO_KINDS} == {}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["datasets", "stats", "sarc-pool"], "did you mean 'sarc-pol'"),
        (["datasets", "stats", "sarc-pol"], "--data"),
        (["datasets", "stats", "sarc-pol", "--data-dir", "/no/such"], "no folder"),
        (["datasets", "convert", "starter-en", "--out", "x.doc"], ".jsonl, .parquet"),
        (["datasets", "stats", "no-such.csv"], "no-such.csv"),
        (["datasets", "split", "starter-en", "--out", "x", "--sizes", "8:x"], "--sizes"),
        (["datasets", "stats", "starter-en", "--column", "text=a"], "--column"),
        (["datasets", "stats", "starter-en", "--ids-only"], "--ids-only"),
        (["models", "pull", "gpt-9"], "smollm2-135m"),
        (["score", "starter-en", "no-such.jsonl"], "no such file"),
        (["agree", "no-such.jsonl"], "no such file"),
        (["nonsense"], "nonsense"),
        (["detect", "train", "--sytem", "bow"], "Did you mean '--system'?"),
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


def test_a_place_that_cannot_be_written_is_named_with_a_cure(monkeypatch, capsys):
    def refuse(*arguments, **settings):
        raise PermissionError(13, "Permission denied", "/data/quality")

    monkeypatch.setattr(program, "main", refuse)
    with pytest.raises(SystemExit) as left:
        main([])
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert said == "deadpan: /data/quality: Permission denied: name another place, or change who may use this one\n"


def test_a_closed_pipe_is_no_error():
    script = f"{sys.executable} -m deadpan datasets show starter-en -n 400 | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_closed_standard_output_is_refused_before_any_work():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m deadpan datasets list >&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "deadpan: standard output is closed: send it to a file, or to /dev/null\n"


def test_no_colour_when_not_a_terminal(deadpan):
    assert "\x1b[" not in deadpan("datasets", "show", "starter-en").out


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_terminal_that_is_not_utf_8_gets_escapes(as_json):
    """A process of its own: how standard output is encoded is decided when Python starts."""
    done = subprocess.run(
        [sys.executable, "-m", "deadpan", "datasets", "show", "starter-ko", "-n", "1", *as_json],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u" in done.stdout and done.stdout.isascii()
    if as_json:
        assert json.loads(done.stdout)[0]["language"] == "ko"
