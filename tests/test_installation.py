"""What is missing is named with the exact command that adds it, and nothing is run."""

from __future__ import annotations

from pathlib import Path

from deadpan.installation import EXTRAS, Installation


def installation(**missing: list[str]) -> Installation:
    extras: dict[str, list[str]] = {name: missing.get(name, []) for name in EXTRAS}
    return Installation({"deadpan": "0"}, extras, {"wordllama-256": None}, {"zstd": None}, Path("/cache"), 10**9)


def test_fixes_are_commands_to_copy():
    fixes = installation(studio=["django"], serve=["uvicorn"]).fixes().commands
    assert fixes[0].endswith("-m pip install 'deadpan[studio,serve]'")
    assert fixes[1:] == ("deadpan models pull wordllama-256", "apt-get install zstd")


def test_nothing_missing_is_said_so():
    whole = Installation({"deadpan": "0"}, {}, {}, {}, Path("/cache"), 10**9)
    assert "Nothing is missing" in str(whole.fixes())


def test_doctor_prints_them(deadpan):
    ran = deadpan("doctor", "--fix", "--json")
    assert ran.status == 0 and isinstance(ran.json["commands"], list)


def test_a_long_command_is_broken_as_a_shell_reads_it():
    names = ["llm", "plots", "neural", "corpus", "spark", "generate", "bench", "studio", "ko", "excel", "serve"]
    shown = str(installation(**{name: ["x"] for name in names}).fixes())
    assert "-m pip install \\\n" in shown
    assert "\n'deadpan[llm,plots," in shown.replace("\n  ", "\n")
