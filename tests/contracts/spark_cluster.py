"""A real standalone Spark cluster on loopback: a master and workers as processes of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

# Small heaps and no optimising compiler: tests are short, and most of their time is the start of Java.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
DEFAULTS = """spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""


def quick_java(folder: Path) -> dict[str, str]:
    """Return an environment in which Spark starts quickly; it does not change what Spark computes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spark-defaults.conf").write_text(DEFAULTS)
    return {"SPARK_CONF_DIR": str(folder), "SPARK_SUBMIT_OPTS": QUICK}


class Cluster:
    """A master and its workers; each worker is a process group, so that its executors end with it."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.port = free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int) -> None:
        """Start a master, and workers that are registered when this returns."""
        self._java("master", "master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        self._wait_for("master", "I have been elected leader")
        for _ in range(workers):
            self.add_worker()
        for number in range(workers):
            self._wait_for(f"worker-{number}", "Successfully registered with master")

    def add_worker(self) -> None:
        name = f"worker-{len(self.workers)}"
        where = ("--work-dir", str(self.folder / name), "--webui-port", "0")
        size = ("--cores", "1", "--memory", "1g")
        self.workers.append(self._java(name, "worker.Worker", self.url, "--host", "127.0.0.1", *size, *where))

    def kill_worker(self, number: int) -> None:
        """End a worker and everything it started with kill -9."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _java(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = ["java", *QUICK.split(), "-Xmx256m", "-cp", f"{self.home}/jars/*", f"org.apache.spark.deploy.{main}"]
        own = {"SPARK_HOME": str(self.home), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"}
        environment = {**os.environ, **own, "PYSPARK_PYTHON": sys.executable}
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *arguments], env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.processes.append(process)
        return process

    def _wait_for(self, name: str, sign: str) -> None:
        """Wait until a process says that it is ready."""
        log, tick = self.folder / f"{name}.log", Event()
        for _ in range(6_000):
            if sign in log.read_text(errors="replace"):
                return
            assert all(process.poll() is None for process in self.processes), log.read_text()
            tick.wait(0.05)
        raise AssertionError(log.read_text())


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a cluster and end all of its processes afterwards."""
    made = Cluster(folder)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()


def when_tasks_run(session: object, act: Callable[[], None]) -> Thread:
    """Start a thread that acts once, when tasks of Spark are running."""
    tracker = session.sparkContext.statusTracker()  # type: ignore[attr-defined]
    tick = Event()

    def watch() -> None:
        for _ in range(30_000):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage and stage.numActiveTasks for stage in stages):
                act()
                return
            tick.wait(0.01)

    thread = Thread(target=watch)
    thread.start()
    return thread


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
