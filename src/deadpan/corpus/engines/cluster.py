"""A check of a Spark cluster before a build: Java, Python, packages and shared storage on every worker."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from deadpan.corpus.engines.engine import EngineSettings
from deadpan.corpus.engines.spark import SparkEngine
from deadpan.errors import DataError
from deadpan.page import Summary, Table
from deadpan.results import Result

PACKAGES = ("duckdb", "numpy", "pyarrow", "narwhals", "tokenizers", "backports.zstd")  # that jobs need on a worker
_TASKS_PER_CORE = 4  # so that every worker gets one


@dataclass(frozen=True, slots=True)
class ClusterReport(Result):
    """The workers that answered, with what each lacks."""

    master: str
    workers: dict[str, list[str]]

    @property
    def sound(self) -> bool:
        return not any(self.workers.values())

    def summary(self) -> Summary:
        rows = tuple((host, "; ".join(faults) or "ready") for host, faults in sorted(self.workers.items()))
        verdict = f"{self.master}: every worker that answered is ready." if self.sound else "Not ready."
        return Summary((Table(("worker", "state"), rows),), (verdict,))

    def as_dict(self) -> dict[str, object]:
        return {"master": self.master, "ready": self.sound, "workers": self.workers}


def check_cluster(master: str, shared: Path | str) -> ClusterReport:
    """Ask the workers of a cluster what a build needs; `shared` is the folder that all of them must reach."""
    folder = Path(shared).resolve() / f".deadpan-doctor-{uuid4().hex[:8]}"
    try:
        folder.mkdir(parents=True)
        token = uuid4().hex
        (folder / "token").write_text(token)
    except OSError as bad:
        raise DataError(f"{shared}: cannot be written here ({bad.strerror}): choose another --work") from None
    ours = {"python": _python(sys.version_info), **{name: _version(name) for name in PACKAGES}}
    try:
        with closing(duckdb.connect()) as connection:
            engine = SparkEngine(EngineSettings(connection, "600MB", folder, master))
            with closing(engine):
                context = engine.session.sparkContext
                tasks = _TASKS_PER_CORE * max(2, context.defaultParallelism)
                found = context.parallelize(range(tasks), tasks).mapPartitions(_asker(str(folder), PACKAGES)).collect()
        workers: dict[str, list[str]] = {}
        for answer in found:
            workers[answer["host"]] = _faults(answer, ours, token, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ClusterReport(master, workers)


def _python(info: Any) -> str:
    return f"{info[0]}.{info[1]}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _asker(folder: str, packages: Iterable[str]) -> Callable[[Iterable[int]], Iterator[dict[str, str]]]:
    """Return the function that a worker runs: a closure over plain values, since it may lack this package."""

    def ask(_: Iterable[int]) -> Iterator[dict[str, str]]:
        import os
        import socket
        import subprocess
        import sys
        from importlib.metadata import PackageNotFoundError, version

        found = {
            "host": f"{socket.gethostname()} ({os.environ.get('SPARK_EXECUTOR_DIRS', '').rpartition('/')[2][:18]})"
        }
        found["python"] = f"{sys.version_info[0]}.{sys.version_info[1]}"
        for name in packages:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = ""
        home = os.environ.get("JAVA_HOME", "")
        java = os.path.join(home, "bin", "java") if home else "java"  # noqa: PTH118 (no other imports on a worker)
        try:
            said = subprocess.run([java, "-version"], capture_output=True, check=False).stderr.decode()
            found["java"] = said.partition('"')[2].partition(".")[0].partition('"')[0]
        except OSError:
            found["java"] = ""
        try:
            with open(os.path.join(folder, "token")) as file:  # noqa: PTH118
                found["token"] = file.read()
            name = f"written-{socket.gethostname()}-{os.getpid()}"
            with open(os.path.join(folder, name), "w") as file:  # noqa: PTH118
                file.write("x")
            found["written"] = name
        except OSError as bad:
            found["error"] = str(bad)
        yield found

    return ask


def _faults(answer: dict[str, str], ours: dict[str, str], token: str, folder: Path) -> list[str]:
    """Return what a worker lacks, each with what would fix it."""
    faults = []
    if answer["python"] != ours["python"]:
        faults.append(f"Python {answer['python']}, not {ours['python']}: set PYSPARK_PYTHON")
    for name in PACKAGES:
        if answer[name] != ours[name]:
            faults.append(f"{name} {answer[name] or 'missing'}: pip install {name}=={ours[name]}")
    if answer["java"] and int(answer["java"]) < 17:
        faults.append(f"Java {answer['java']}: install Java 17")
    if answer.get("token") != token or not (folder / answer.get("written", "nothing")).is_file():
        faults.append(f"{folder.parent} is not the same folder there: mount it, or choose another --work")
    return faults
