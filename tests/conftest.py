"""What several tests stand on: records of every shape, and the real corpora where they are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from deadpan.cli import main

# A busy machine is slow, not wrong: time is what the benchmarks are for.
settings.register_profile("deadpan", deadline=None)
settings.load_profile("deadpan")

# As many workers as cores: a second thread for small matrices only waits for the first, at the cost of others.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = Path(__file__).parent.parent
REAL_CORPORA = Path(os.environ.get("DEADPAN_TEST_DATA") or "no folder")


ONLY_SLOW = {"report", "reproduce", "tour"}
"""Folders with code that no fast test runs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure coverage in the fast tests: tracing adds half to the time of the slow ones, and few lines."""
    for item in items:
        if item.get_closest_marker("slow") and ONLY_SLOW.isdisjoint(item.path.parts):
            item.add_marker("no_cover")


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Skip fsync in this process: it protects against a loss of power, which no test can cause."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def real_corpora() -> Path:
    """The folder of real corpora that DEADPAN_TEST_DATA names; without it, tests that need them are skipped."""
    if not REAL_CORPORA.is_dir():
        pytest.skip("needs the real corpora in DEADPAN_TEST_DATA")
    return REAL_CORPORA


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
