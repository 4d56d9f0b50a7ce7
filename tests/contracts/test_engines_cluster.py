"""Spark on a real cluster: two workers, one killed while it reads dumps, another during a join."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from contracts.spark_cluster import Cluster, cluster, quick_java, when_tasks_run
from corpus.making import difference, files, run
from deadpan.corpus.engines.cluster import check_cluster
from deadpan.corpus.engines.spark import SparkEngine
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import DataError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets to the Java process
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]


@pytest.fixture
def two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")
    for name, value in quick_java(tmp_path / "conf").items():
        monkeypatch.setenv(name, value)
    with cluster(tmp_path / "cluster", workers=2) as made:
        yield made


def test_the_doctor_asks_every_worker(tmp_path: Path, two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    report = check_cluster(two_workers.url, tmp_path / "shared")
    assert report.sound and len(report.workers) == 2, str(report)
    assert not list((tmp_path / "shared").iterdir())
    with pytest.raises(DataError, match="cannot be written here"):
        check_cluster(two_workers.url, tmp_path / "conf" / "spark-defaults.conf")
    monkeypatch.setattr("deadpan.corpus.engines.cluster.PACKAGES", ("duckdb", "no-such-package"))
    monkeypatch.setattr("deadpan.corpus.engines.cluster._version", lambda name: "1.0")
    faults = [
        fault for worker in check_cluster(two_workers.url, tmp_path / "shared").workers.values() for fault in worker
    ]
    assert any("no-such-package missing: pip install no-such-package==1.0" in fault for fault in faults)


def test_killed_workers_change_no_byte(tmp_path: Path, two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    made = synthesize_dumps(tmp_path / "dumps", months=1, comments=500, form="gz")
    paths = [str(path) for path in made.files]
    killers: list[Thread] = []
    lost: list[str] = []
    run_jobs, save = SparkEngine.run_jobs, SparkEngine.save

    def kill(number: int, where: str) -> None:
        if number:
            two_workers.add_worker()  # else none would be left
        two_workers.kill_worker(number)
        lost.append(where)

    def reading(engine: SparkEngine, work: Any, jobs: Any, *rest: Any, **more: Any) -> None:
        if work.__name__ == "read_dump":
            killers.append(when_tasks_run(engine.session, lambda: kill(0, "ingest")))
        run_jobs(engine, work, jobs, *rest, **more)

    def joining(engine: SparkEngine, frame: Any, folder: Path) -> None:
        if folder.name.startswith(".texts-"):
            killers.append(when_tasks_run(engine.session, lambda: kill(1, "join")))
        save(engine, frame, folder)

    monkeypatch.setattr(SparkEngine, "run_jobs", reading)
    monkeypatch.setattr(SparkEngine, "save", joining)
    monkeypatch.setattr("deadpan.corpus.engines.spark.JOBS_PER_EXECUTOR", 2_500)  # several small ranges
    monkeypatch.setattr("deadpan.corpus.engines.spark.MIN_PARTITIONS", 2)
    run(tmp_path, paths, out="spark", engine="spark", spark_master=two_workers.url, memory="600MB")
    for thread in killers:
        thread.join()
    assert lost == ["ingest", "join"]
    run(tmp_path, paths, out="duckdb")
    assert difference(files(tmp_path / "duckdb"), files(tmp_path / "spark")) == ""
