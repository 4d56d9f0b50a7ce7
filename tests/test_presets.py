"""Presets: one word that sets everything as published, checked against the papers' own numbers and words."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from deadpan.cli import main
from deadpan.errors import ConfigError
from deadpan.presets import PRESETS, preset_values, with_preset

DOCS = Path(__file__).parent.parent / "docs"


def published(name: str) -> list[list[object]]:
    text = files("deadpan.reproduce").joinpath("papers", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["settings"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_value_of_a_preset_is_the_paper_s(name):
    in_paper = {(part, key): value for part, key, value, _ in published(name)}
    ours = {(part, key): value for part, values in PRESETS[name].items() for key, value in values.items()}
    ours.pop(("corpus build", "settings"), None)
    as_written = {key: "full" if value is None else value for key, value in ours.items()}
    assert json.loads(json.dumps(list(as_written.items()))) == json.loads(
        json.dumps([(key, in_paper.get(key, "not in the paper's file")) for key in ours])
    )
    assert set(in_paper) == set(ours)


@pytest.mark.parametrize("name", PRESETS)
def test_the_page_of_the_papers_quotes_every_sentence_a_preset_comes_from(name):
    page = " ".join((DOCS / "papers.md").read_text(encoding="utf-8").replace("\\*", "*").split())
    missing = [says for *_, says in published(name) if says and str(says).replace("*", "") not in page.replace("*", "")]
    assert missing == []


def test_a_preset_fills_in_and_refuses_what_contradicts_it():
    assert with_preset("sarcbench", "bench run", {"runs": 3, "set": "x"})["runs"] == 5
    assert with_preset("sarcbench", "bench run", {"runs": 5}, ["runs"])["max_tokens"] == 128
    with pytest.raises(ConfigError, match=r"runs: the preset sarcbench sets runs to 5.*leave out one"):
        with_preset("sarcbench", "bench run", {"runs": 3}, ["runs"])
    with pytest.raises(ConfigError, match="sets nothing for bench run; presets that do: sarcbench"):
        preset_values("sarc", "bench run")
    with pytest.raises(ConfigError, match="unknown preset 'sark'"):
        preset_values("sark", "corpus build")


CONTRADICTIONS = [
    ("corpus build d --out c --preset sarc --from 2012-01", "--from: the preset sarc sets first_month to '2009-01'"),
    ("corpus build d --out c --preset sarc --config {file}", "--config: the preset sarc"),
    ("corpus study noise d --out c --preset sarc --raters 1", "--raters: the preset sarc sets raters to 3"),
    ("detect train x --out m --system transformer --preset kocosa --setting epochs=3", "--setting epochs"),
    ("detect train x --out m --system transformer --preset kocosa --turns 1", "--turns: the preset kocosa sets turns"),
    ("detect train x --out m --system linear --preset kocosa", "sets nothing for detect linear"),
    ("studio create author-survey --name n --preset isarcasm --setting hours=1", "--setting hours: the preset isarc"),
    ("studio create reader-judgment x --name n --preset isarcasm --raters 9", "--raters: the preset isarcasm"),
    ("generate run {plan} --preset kocosa", "dialogue.temperature: the preset kocosa sets"),
    ("bench run --llm baseline/first --preset sarcbench --runs 2", "--runs: the preset sarcbench sets runs to 5"),
]


@pytest.mark.parametrize(("words", "message"), CONTRADICTIONS)
def test_a_contradicting_option_is_one_line_with_a_hint(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("seed = 1\n")
    (tmp_path / "plan").write_text('language = "ko"\n[model]\nmodel = "gpt-4"\n[dialogue]\ntemperature = 0.5\n')
    with pytest.raises(SystemExit) as ended:
        main(words.format(file=tmp_path / "file", plan=tmp_path / "plan").split())
    shown = capsys.readouterr().err.strip()
    assert ended.value.code
    assert message in shown
    assert len(shown.splitlines()) == 1
