"""Cores and memory of a machine or container, and what an engine makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deadpan.corpus.engines import duckdb as machine
from deadpan.corpus.engines.duckdb import DuckDBEngine, open_duckdb
from deadpan.corpus.engines.engine import EngineSettings, Share
from deadpan.corpus.engines.spark import SparkEngine

GB = 1_000_000_000
WINDOW = 1 << 31


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 24 GB whose control groups are in a folder; ours is /pod/job."""
    sizes = {"SC_PHYS_PAGES": 24 * GB // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(machine.os, "sysconf", sizes.__getitem__)
    monkeypatch.setattr(machine, "CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_CGROUP", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("4:memory:/old\n0::/pod/job\n")
    (tmp_path / "pod" / "job").mkdir(parents=True)
    return tmp_path


def test_a_container_may_have_less_memory_than_its_machine(box: Path) -> None:
    whole = machine.memory_here()
    assert 23 * GB < whole <= 24 * GB
    (box / "pod" / "job" / "memory.max").write_text("max\n")
    assert machine.memory_here() == whole
    (box / "pod" / "memory.max").write_text(f"{8 * GB}\n")
    assert machine.memory_here() == 8 * GB
    (box / "memory.max").write_text(f"{6 * GB}\n")
    assert machine.memory_here() == 6 * GB
    (box / "cgroup").unlink()
    assert machine.memory_here() == whole


def engines(memory: str) -> Iterator[DuckDBEngine]:
    connection = open_duckdb("90MB", Path("nowhere"))
    try:
        yield DuckDBEngine(EngineSettings(connection, memory, Path("nowhere"), ""))
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("cores", "gigabytes", "memory", "expected"),
    [
        (2, 24, "4GB", Share(2, 1, "2000MB")),
        (64, 24, "4GB", Share(8, 8, "500MB")),
        (64, 240, "64GB", Share(10, 6, "6400MB")),
        (1, 24, "4GB", Share(1, 1, "4GB")),
        (2, 8, "4GB", Share(1, 2, "4GB")),
        (2, 24, "90MB", Share(1, 2, "90MB")),
    ],
)
def test_as_many_dumps_at_once_as_cores_and_memory_allow(
    cores: int, gigabytes: int, memory: str, expected: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deadpan.corpus.engines.duckdb.cores_here", lambda: cores)
    monkeypatch.setattr("deadpan.corpus.engines.duckdb.memory_here", lambda: gigabytes * GB)
    for engine in engines(memory):
        assert engine.share(10, extra=WINDOW) == expected
        assert engine.share(1, extra=WINDOW) == Share(1, cores, memory)
        assert engine.share(10, extra=WINDOW, at_once=3).at_once == 3


def test_on_a_cluster_the_machine_of_the_driver_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []
    engine = SparkEngine.__new__(SparkEngine)  # without a session
    engine.memory = "4GB"
    for cores in (1, 64):
        monkeypatch.setattr("deadpan.corpus.engines.duckdb.cores_here", lambda cores=cores: cores)
        shares.append(engine.share(10, extra=WINDOW))
    assert shares == [Share(1, 1, "4GB")] * 2
