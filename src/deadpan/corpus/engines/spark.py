"""Spark, on a cluster or on the cores of this machine: the same relational steps, on tables of any size.

Every worker must be able to read and write the output folder, such as on a network file system.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

import deadpan
from deadpan.corpus.checkpoints import disk_full
from deadpan.corpus.engines.duckdb import is_disk_full
from deadpan.corpus.engines.engine import (
    EngineSettings,
    Frame,
    JobFunction,
    Share,
    WatchJobs,
    ignore,
    job_as_text,
    parquet_files,
    size_in_bytes,
    size_of,
)
from deadpan.errors import ConfigError, DataError, need

JAVA = 17
MIN_EXECUTOR = 1 << 29
JOBS_PER_EXECUTOR = 16
UNPACKED = 2  # bytes of a table in memory per byte in its files, which are compressed
DRIVER_BYTES, DRIVER_BYTES_PER_PARTITION = 1 << 30, 1 << 17
MIN_PARTITIONS, MAX_PARTITIONS, _PARTITION_BYTES = 8, 20_000, 128 << 20
MASTERS = r"local|local\[(\d+|\*)(, *\d+)?\]|local-cluster\[.+\]|spark://[^/]+:\d+|yarn|k8s://.+"
QUIET = """rootLogger.level = error
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""


class SparkEngine:
    """Runs lazy tables in its own Spark session."""

    def __init__(self, settings: EngineSettings) -> None:
        need("pyspark", "spark")
        _check_java()
        self.scratch = settings.scratch
        self.memory = settings.memory
        _check_master(settings.master)
        self.job_bytes = max(MIN_EXECUTOR, size_in_bytes(settings.memory)) // JOBS_PER_EXECUTOR
        self.session = _session(settings)
        self.package: Path | None = None

    def scan(self, paths: Sequence[Path]) -> Frame:
        with _one_line(self.scratch):
            frame: Any = nw.from_native(self.session.read.parquet(*[_address(path) for path in paths]))
            return frame  # type: ignore[no-any-return]

    def save(self, frame: Frame, folder: Path) -> None:
        self._write(frame.to_native(), folder)

    def scatter(self, frame: Frame, folder: Path, column: str, size: int) -> None:
        whole, count = self._whole(frame, folder, size)
        if count > 1:
            self._write_parts(whole.repartition(count, column), folder)

    def split(self, frame: Frame, folder: Path, keys: Sequence[str], size: int) -> None:
        whole, count = self._whole(frame, folder, size)
        if count > 1:
            self._write_parts(whole.repartitionByRange(count, *keys), folder)

    def _whole(self, frame: Frame, folder: Path, size: int) -> tuple[Any, int]:
        """Write a table before it is partitioned: its size decides how, and ranges take two passes."""
        self.save(frame, folder / "whole")
        files = parquet_files(folder / "whole")
        return self.scan(files).to_native(), max(1, -(-UNPACKED * size_of(folder / "whole") // size))

    def _write_parts(self, table: Any, folder: Path) -> None:
        """Write one folder per partition, in their order."""
        self._write(table, folder / "all")
        for number, path in enumerate(parquet_files(folder / "all")):
            part = folder / f"part={number}"
            part.mkdir()
            path.replace(part / path.name)
        for name in ("all", "whole"):
            shutil.rmtree(folder / name)

    def _write(self, table: Any, folder: Path) -> None:
        """Write to a temporary folder, since Spark makes the folder itself, then move the files."""
        temporary = self.scratch / f"spark-{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        with _one_line(self.scratch):
            table.write.option("compression", "snappy").parquet(_address(temporary))
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(temporary.glob("*.parquet")):
            path.replace(folder / path.name)
        shutil.rmtree(temporary)

    def collect(self, frame: Frame) -> pa.Table:
        with _one_line(self.scratch), warnings.catch_warnings():
            # It warns of pandas 3 even though no pandas is involved.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            return frame.to_native().toArrow()

    def share(self, jobs: int, *, extra: int = 0, at_once: int = 0) -> Share:
        """Leave to Spark how many tasks a worker runs at once: a task has one core, and memory of its own."""
        return Share(1, 1, self.memory)

    def run_jobs(self, function: JobFunction, jobs: Sequence[Any], watch: WatchJobs = ignore, at_once: int = 1) -> None:
        """Run one task per job on the workers."""
        if not jobs:
            return
        if self.package is None:
            self.package = _copy_package(self.scratch)
        tasks = [job_as_text(function, job) for job in jobs]
        with _one_line(self.scratch):
            run = _runner(str(self.package))
            self.session.sparkContext.parallelize(tasks, len(tasks)).foreach(run)

    def close(self) -> None:
        self.session.stop()


def _runner(package: str) -> Callable[[tuple[str, str]], None]:
    """Return the function that runs a job on a worker, which may lack this package or have another version.

    It is a closure that uses nothing else of this module, so that Spark sends its code, not its name.
    """

    def run(task: tuple[str, str]) -> None:
        import sys
        from importlib import import_module

        if package not in sys.path:
            sys.path.insert(0, package)
        import_module("deadpan.corpus.engines.engine").run_job_text(*task)

    return run


@contextmanager
def _one_line(scratch: Path) -> Iterator[None]:
    """Turn an error of Spark, which comes with the stack of every process, into one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as bad:
        raise readable_spark_error(str(bad), scratch.parent.parent) from None


def readable_spark_error(text: str, out: Path) -> DataError:
    """Return an error of Spark as one that names the cause and, where possible, what to do."""
    if is_disk_full(text):
        return disk_full(out)
    ours = re.findall(r"^deadpan\.errors\.\w+Error: (.+)$", text, re.MULTILINE)
    if ours:
        return DataError(ours[-1])
    python = re.findall(r"^(\w+Error: .+)$", text, re.MULTILINE)
    if python:
        return DataError(f"Spark failed: {python[-1][:240]}; finished steps are kept: run the command again")
    causes = re.findall(r"^(?:Caused by: |: )?((?:[\w$]+\.)+\w+(?:Error|Exception): .+)$", text, re.MULTILINE)
    cause = causes[-1] if causes else (text.strip().splitlines() or ["unknown"])[0]
    if "OutOfMemoryError" in text:
        return DataError(f"Spark ran out of memory ({cause[:160]}): allow more with --memory")
    return DataError(f"Spark failed: {cause[:240]}; finished steps are kept: run the command again")


def _check_master(master: str) -> None:
    """Raise an error at once if no Spark answers; Spark itself would start Java and try for a minute."""
    if not re.fullmatch(MASTERS, master):
        raise ConfigError(
            f"--spark-master {master!r} is not the address of a cluster: write local[2], spark://HOST:PORT, "
            "yarn or k8s://HOST:PORT"
        )
    found = re.match(r"spark://([^:/,]+):(\d+)", master)
    if not found:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=10).close()
    except OSError as bad:
        raise DataError(f"no Spark master answers at {master} ({bad.strerror or bad}): check --spark-master") from None


def _address(path: Path) -> str:
    """Return a local path as a URL, which does not depend on Spark's default file system."""
    return path.resolve().as_uri()


def _check_java() -> None:
    program = os.environ.get("JAVA_HOME")
    java = str(Path(program) / "bin" / "java") if program else shutil.which("java")
    hint = f"install Java {JAVA} (apt install openjdk-{JAVA}-jre-headless), or use --engine duckdb"
    if not java or not Path(java).exists():
        raise ConfigError(f"Spark needs Java, which is not installed: {hint}")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = next((part for part in output.split('"')[1::2]), "0").split(".")[0]
    if not version.isdigit() or int(version) < JAVA:
        raise ConfigError(f"Spark needs Java {JAVA} or newer, but {java} is {version}: {hint}")


def _session(settings: EngineSettings) -> Any:
    """Start a session without log output, in UTC; partitions and memory follow from the size of the dumps."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master, scratch = settings.master, settings.scratch
    local = master.startswith("local")
    logging = scratch / "log4j2.properties"
    logging.write_text(QUIET, encoding="utf-8")
    executor = max(MIN_EXECUTOR, size_in_bytes(settings.memory))
    partitions = shuffle_partitions(settings.data_bytes, executor)
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": f"{(executor if local else driver_memory(partitions)) >> 20}m",
        "spark.executor.memory": f"{executor >> 20}m",
        "spark.local.dir": str(scratch.resolve()),
        "spark.sql.warehouse.dir": str(scratch.resolve() / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.resolve()}",
    }
    if local or "://127.0.0.1" in master:
        chosen["spark.driver.bindAddress"] = chosen["spark.driver.host"] = "127.0.0.1"
    builder = SparkSession.builder.master(master).appName("deadpan corpus")
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError, OSError, RuntimeError) as bad:
        reason = str(readable_spark_error(str(bad), scratch))[:160]
        raise DataError(f"Spark does not start at {master} ({reason}): check --spark-master") from None


def shuffle_partitions(data_bytes: int, memory: int) -> int:
    """Return how many partitions keep each small: 128 MB, or less if executors have little memory.

    Dumps are packed about seven to one.
    """
    size = min(_PARTITION_BYTES, max(MIN_EXECUTOR, memory) // JOBS_PER_EXECUTOR)
    return min(MAX_PARTITIONS, max(MIN_PARTITIONS, 7 * data_bytes // size))


def driver_memory(partitions: int) -> int:
    """Return the memory of the driver, which holds what it knows of every task, but no rows."""
    return DRIVER_BYTES + partitions * DRIVER_BYTES_PER_PARTITION


def _copy_package(scratch: Path) -> Path:
    """Copy this package to where the workers can read it; they need DuckDB, msgspec, NumPy and pyarrow."""
    target = scratch.resolve() / "package"
    home = Path(deadpan.__file__).parent
    for pattern in ("*.py", "*.toml"):
        for path in home.rglob(pattern):
            place = target / "deadpan" / path.relative_to(home)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return target
