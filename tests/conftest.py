"""What several tests stand on: records of every shape, and the real corpora where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture
def shared() -> Path:
    """The real corpora beside the repository; tests that need them are skipped where they are not."""
    if not SHARED.is_dir():
        pytest.skip("needs the real corpora in ../shared/data")
    return SHARED
