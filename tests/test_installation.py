"""What is missing is named with the exact command that adds it, and nothing is run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from deadpan.errors import pip_install
from deadpan.installation import EXTRAS, Fixes, Installation


def installation(**missing: list[str]) -> Installation:
    extras: dict[str, list[str]] = {name: missing.get(name, []) for name in EXTRAS}
    return Installation({"deadpan": "0"}, extras, {"wordllama-256": None}, {"zstd": None}, Path("/cache"), 10**9)


def test_fixes_are_commands_to_copy():
    fixes = installation(studio=["django"], serve=["uvicorn"]).fixes().commands
    assert fixes[0].startswith(sys.executable) and " -m pip install " in fixes[0] and "[studio,serve]" in fixes[0]
    assert fixes[1:] == ("deadpan models pull wordllama-256", "apt-get install zstd")


def test_nothing_missing_is_said_so():
    whole = Installation({"deadpan": "0"}, {}, {}, {}, Path("/cache"), 10**9)
    assert "Nothing is missing" in str(whole.fixes())


def test_doctor_prints_them(deadpan):
    ran = deadpan("doctor", "--fix", "--json")
    assert ran.status == 0 and isinstance(ran.json["commands"], list)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ("", "pip install 'deadpan[serve]'"),
        ('{"url": "file:///a/deadpan.whl"}', "pip install 'deadpan[serve] @ file:///a/deadpan.whl'"),
        ('{"url": "file:///a%20b", "dir_info": {"editable": true}}', "pip install -e '/a b[serve]'"),
    ],
)
def test_an_extra_is_added_from_where_deadpan_came_from(monkeypatch, origin, command):
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: origin or None))
    assert pip_install("serve") == command


def test_torch_is_pinned_where_the_tested_versions_are_known(monkeypatch, tmp_path):
    (tmp_path / "constraints.txt").write_text("torch==2.13.0\n")
    origin = f'{{"url": "file://{tmp_path}", "dir_info": {{"editable": true}}}}'
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: origin))
    assert pip_install("neural") == f"pip install -c {tmp_path}/constraints.txt -e '{tmp_path}[neural]'"


def test_a_long_command_is_broken_as_a_shell_reads_it():
    names = ["llm", "plots", "neural", "corpus", "spark", "generate", "bench", "studio", "ko", "excel", "serve"]
    shown = str(installation(**{name: ["x"] for name in names}).fixes())
    assert " \\\n" in shown and "[llm,plots," in shown


@pytest.mark.parametrize("length", [5, 20, 30, 40, 50])
def test_a_long_command_is_whole_wherever_deadpan_lies(length):
    command = f"/{'p' * length}/python -m pip install -c /{'c' * length}/constraints.txt -e '/a b{'d' * length}[serve]'"
    shown = str(Fixes((command,))).partition("\n")[2]
    read = subprocess.run(["sh", "-c", f"printf '%s\\n' {shown}"], capture_output=True, text=True, check=False)
    assert read.stdout.splitlines() == shlex.split(command), read.stderr


EXAMPLES = Path(__file__).parent.parent / "examples"
WITHOUT_EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(("duckdb", "narwhals", "pyarrow", "scipy", "sklearn", "threadpoolctl")))
from deadpan.cli import main
for line in sys.stdin.read().splitlines():
    try:
        main(line.split("|"))
    except SystemExit as left:
        print(left.code, line)
"""
"""Runs commands, one per line, as if the base install were all there is."""


def without_extras(commands: Iterable[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_EXTRAS]
    empty = {**os.environ, "DEADPAN_CACHE": str(folder / "cache")}
    return subprocess.run(
        command, input="\n".join(commands), cwd=folder, env=empty, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_base_install_is_enough_to_judge_score_compare_and_agree(tmp_path):
    commands = (
        "detect|Oh great, another meeting.",
        f"detect|predict|{EXAMPLES}/tweets.csv|--column|text=tweet|--out|scored.csv",
        "score|scored.csv|--column|text=tweet|--out|quality",
        f"compare|{EXAMPLES}/logs/lm-eval-a|{EXAMPLES}/logs/lm-eval-b|--out|compared",
        f"compare|{EXAMPLES}/logs/inspect-plain.eval|{EXAMPLES}/logs/inspect-literal.eval",
        f"agree|{EXAMPLES}/raters.csv|--method|dawid-skene",
        f"datasets|leaks|{EXAMPLES}/copies.csv",
        "bench|run|--llm|baseline/longest|--runs|1|--out|runs",
        "bench|site|runs|--out|board",
    )
    ran = without_extras(commands, tmp_path)
    for command in commands:
        assert f"0 {command}" in ran.stdout, f"{command}\n{ran.stderr}"


def test_what_needs_an_extra_names_it(tmp_path):
    commands = {
        "detect|train|starter-en|--out|model": "this needs scikit-learn (deadpan[train])",
        "datasets|convert|starter-en|--out|rows.parquet": "(deadpan[parquet])",
        "corpus|build|dumps|--out|corpus": "this needs duckdb (deadpan[corpus])",
    }
    ran = without_extras(commands, tmp_path)
    for command, said in commands.items():
        assert f"2 {command}" in ran.stdout and said in ran.stderr, ran.stderr
