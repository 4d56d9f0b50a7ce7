"""deadpan models: the list of models, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deadpan.cli.models import models
from deadpan.models import MODELS


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    return CliRunner()


def test_the_list_fits_a_terminal_and_machines(run: CliRunner) -> None:
    shown = run.invoke(models, ["list"], catch_exceptions=False).stdout
    assert max(map(len, shown.splitlines())) <= 80
    listed = json.loads(run.invoke(models, ["list", "--json"], catch_exceptions=False).stdout)
    assert [row["name"] for row in listed["models"]] == list(MODELS)
    assert {"about", "licence", "origin", "bytes", "optional", "path"} <= listed["models"][0].keys()


def test_a_misspelt_name_costs_no_download(run: CliRunner, tmp_path: Path) -> None:
    result = run.invoke(models, ["pull", "minilm-l6", "qwen"])
    assert "qwen" in str(result.exception)
    assert not list(tmp_path.iterdir())
