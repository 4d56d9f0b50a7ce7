"""Corpora and models for tests of the detect commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deadpan.cli import main
from deadpan.detect.detector import Detector
from deadpan.records import Example
from deadpan.storage import write_records
from pair_corpus import corpus


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command: its exit status, what it printed, what it complained of."""

    def go(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return go


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_records(tmp_path / "corpus.jsonl", corpus(), Example)
    return tmp_path / "corpus.jsonl"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    Detector("bigrams").fit(corpus()).save(tmp_path / "model")
    return tmp_path / "model"
