"""What several tests stand on: records of every shape, and the real corpora where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from deadpan.cli import main

# A busy machine is slow, not wrong: time is what the benchmarks are for.
settings.register_profile("deadpan", deadline=None)
settings.load_profile("deadpan")

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture
def shared() -> Path:
    """The real corpora beside the repository; tests that need them are skipped where they are not."""
    if not SHARED.is_dir():
        pytest.skip("needs the real corpora in ../shared/data")
    return SHARED


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def deadpan(capsys) -> Callable[..., Ran]:
    """Run a command as the shell would, in this process."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run
