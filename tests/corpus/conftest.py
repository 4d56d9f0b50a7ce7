"""One small corpus that several tests read and none changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.making import synthetic_corpus


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished corpus of two synthetic months."""
    return synthetic_corpus(tmp_path_factory.mktemp("corpus"))
