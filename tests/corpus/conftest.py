"""One small corpus that several tests look at, none of them changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.making import run
from deadpan.corpus.synthesize import synthesize


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished corpus of two synthesized months."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = synthesize(folder / "dumps", months=2, comments=20_000, form="gz")
    run(folder, [str(path) for path in paths])
    return folder / "out"
