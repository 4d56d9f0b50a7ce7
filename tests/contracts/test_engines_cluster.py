"""Spark on a real cluster: two workers, one killed while it reads dumps, another during a join."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from contracts.spark_cluster import Cluster, cluster, free_port, quick_java, when_tasks_run
from corpus.making import difference, files, run
from deadpan.corpus import BuiltCorpus
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


ROOT = Path(__file__).parents[2]


def test_the_page_about_clusters_can_be_followed(tmp_path: Path) -> None:
    """Type the block of docs/scale.md line by line; only the port is another one."""
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    port = str(free_port())
    typed = []
    for line in block.replace("7077", port).splitlines():
        typed.append(line)
        if "master.Master" in line:  # nobody types the next line before the master answers
            typed.append(f"until (: > /dev/tcp/127.0.0.1/{port}) 2> /dev/null; do :; done")
    synthesize_dumps(tmp_path / "dumps", months=1, comments=200, form="gz")
    environment = {
        **os.environ, **quick_java(tmp_path / "conf"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"), "SPARK_DAEMON_MEMORY": "256m",
    }  # fmt: skip
    shell = subprocess.Popen(
        ["bash", "-e"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = shell.communicate("\n".join(typed) + "\n")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, said
    assert "every worker that answered is ready" in said
    assert BuiltCorpus(tmp_path / "corpus").manifest.counts["lines"] >= 200


def test_the_doctor_says_what_a_worker_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written here"):
        check_cluster("local[1]", tmp_path / "file")
    for name, value in quick_java(tmp_path / "conf").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("deadpan.corpus.engines.cluster.PACKAGES", ("duckdb", "no-such-package"))
    monkeypatch.setattr("deadpan.corpus.engines.cluster._version", lambda name: "1.0")
    report = check_cluster("local[1]", tmp_path / "shared")
    (faults,) = report.workers.values()
    assert any("no-such-package missing: pip install no-such-package==1.0" in fault for fault in faults)
    assert not report.sound
    assert not list((tmp_path / "shared").iterdir())


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
