"""The corpus commands: summaries, JSON, and errors of one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus.making import files, settings_of, synthetic_corpus
from deadpan.cli.corpus import corpus
from deadpan.errors import DeadpanError
from deadpan.storage import write_config


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_corpus(tmp_path_factory.mktemp("corpus"))


def deadpan(*arguments: object) -> Result:
    return CliRunner().invoke(corpus, [str(argument) for argument in arguments], standalone_mode=False)


def test_single_steps_write_the_files_of_build(tmp_path: Path) -> None:
    made = deadpan(
        "synthesize", "--months", 1, "--comments", 2000, "--compression", "gz", "--out", tmp_path / "dumps", "--json"
    )
    assert [Path(name).name for name in json.loads(made.output)["files"]] == ["RC_2010-01.gz", "RS_2010-01.gz"]
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    common = [tmp_path / "dumps", "--config", tmp_path / "corpus.toml", "--memory", "500MB"]
    for step in ("ingest", "label", "threads"):
        done = deadpan("build", "--until", step, *common, "--out", tmp_path / "steps", "--json")
        assert json.loads(done.output)["done"] == step
    done = deadpan("build", *common, "--out", tmp_path / "steps", "--json")
    assert json.loads(done.output)["counts"]["lines"] == 2000
    shown = deadpan("build", *common, "--out", tmp_path / "built")
    assert "author_unaware" in shown.output
    assert files(tmp_path / "steps") == files(tmp_path / "built")


@pytest.mark.slow
def test_screens(built: Path, tmp_path: Path) -> None:
    assert "use the marker" in deadpan("stats", built).output
    assert json.loads(deadpan("stats", built, "--json").output)["totals"]["comments"] > 100
    checked = deadpan("verify", built)
    assert "Every rule holds" in checked.output
    assert checked.return_value == 0
    assert "studio create audit" in deadpan("study", "noise", built, "--sample", 5, "--out", tmp_path / "a").output
    assert (
        json.loads(deadpan("study", "pairs", built, "--sample", 5, "--out", tmp_path / "p", "--json").output)["items"]
        > 0
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "nothing*", "--out", "out"), "no dumps match"),
        (("build", ".", "--out", "out", "--from", "2009"), "is not a month"),
        (("build", ".", "--out", "out", "--from", "2010-02", "--to", "2010-01"), "swap them"),
        (("build", ".", "--out", "out", "--engine", "pandas"), "unknown engine"),
        (("build", "RC_x", "--out", "out", "--memory", "much"), "is not a size"),
        (("stats", "nothing"), "no such folder"),
        (("build", "RC_x", "--out", "out", "--vectors", "none.txt"), "no such file; give a GloVe file"),
    ],
)
def test_an_error_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = {"id": "a", "body": "b", "created_utc": 1262304000}
    (tmp_path / "RC_x").write_text(json.dumps(line) + "\n")
    if "--vectors" not in arguments and arguments[0] == "build":
        settings_of(tmp_path)
        arguments = (*arguments, "--vectors", "vectors.txt")
    failure = deadpan(*arguments).exception
    assert isinstance(failure, DeadpanError)
    assert said in str(failure)
    assert "\n" not in str(failure)
