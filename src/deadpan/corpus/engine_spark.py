"""A cluster, or this machine's cores through Spark: the same relational steps, on tables of any size.

The output folder must be where every worker can read and write it, such as a network file system.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import narwhals as nw
import pyarrow as pa

import deadpan
from deadpan.corpus.engine import Frame, files_of
from deadpan.errors import ConfigError, DataError, need

JAVA = 17
QUIET = """rootLogger.level = error
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""


class SparkEngine:
    """Runs lazy tables in a Spark session of its own."""

    name = "spark"

    def __init__(self, master: str, memory: str, scratch: Path) -> None:
        need("pyspark", "spark")
        _check_java()
        self.scratch = scratch
        self.session = _session(master, memory, scratch)
        self.shipped = False

    def scan(self, paths: Sequence[Path]) -> Frame:
        frame: Any = nw.from_native(self.session.read.parquet(*[_address(path) for path in paths]))
        return frame  # type: ignore[no-any-return]

    def save(self, frame: Frame, folder: Path, by: str = "") -> None:
        """Spark writes a folder of its own making, so it gets one beside, whose files are then moved in."""
        temporary = self.scratch / f"spark-{os.getpid()}-{threading.get_ident()}"
        shutil.rmtree(temporary, ignore_errors=True)
        writer = frame.to_native().write.option("compression", "snappy")
        (writer.partitionBy(by) if by else writer).parquet(_address(temporary))
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(temporary.rglob("*.parquet")):
            target = folder / path.relative_to(temporary)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
        shutil.rmtree(temporary)

    def dealt(self, frame: Frame, column: str, piles: int) -> Frame:
        """By hash."""
        from pyspark.sql import functions as F

        native = frame.to_native().withColumn("pile", F.pmod(F.xxhash64(column), F.lit(piles)).cast("int"))
        dealt: Frame = nw.from_native(native)
        return dealt

    def table(self, frame: Frame) -> pa.Table:
        return frame.to_native().toArrow()

    def query(self, frame: Frame, computed: Callable[[], Path]) -> str:
        return f"FROM {files_of(computed())}"

    def each(self, work: Callable[[str], None], jobs: Sequence[str]) -> None:
        """One task a job, on whichever worker is free."""
        if not jobs:
            return
        if not self.shipped:
            self.session.sparkContext.addPyFile(str(_package(self.scratch)))
            self.shipped = True
        name = f"{work.__module__}:{work.__name__}"
        self.session.sparkContext.parallelize([(name, job) for job in jobs], len(jobs)).foreach(_do)

    def aside(self) -> SparkEngine:
        """A session may be used by several threads."""
        return self

    def interrupt(self) -> None:
        self.session.sparkContext.cancelAllJobs()

    def close(self) -> None:
        self.session.stop()


def _do(task: tuple[str, str]) -> None:
    """On a worker: find the function by its name, and call it."""
    from importlib import import_module

    name, job = task
    module, _, function = name.partition(":")
    getattr(import_module(module), function)(job)


def _address(path: Path) -> str:
    """A local path as Spark must be told, whatever its default file system is."""
    return path.resolve().as_uri()


def _check_java() -> None:
    program = os.environ.get("JAVA_HOME")
    java = str(Path(program) / "bin" / "java") if program else shutil.which("java")
    cure = f"install Java {JAVA} (apt install openjdk-{JAVA}-jre-headless), or use --engine duckdb"
    if not java or not Path(java).exists():
        raise ConfigError(f"Spark needs Java, and there is none: {cure}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = next((part for part in said.split('"')[1::2]), "0").split(".")[0]
    if not version.isdigit() or int(version) < JAVA:
        raise ConfigError(f"Spark needs Java {JAVA} or newer, {java} is {version}: {cure}")


def _session(master: str, memory: str, scratch: Path) -> Any:
    """A session that says nothing of its own, compares text by bytes, and never guesses a time zone."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging = scratch / "log4j2.properties"
    logging.write_text(QUIET, encoding="utf-8")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": _spark_size(memory),
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8" if master.startswith("local") else "200",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
    }
    if master.startswith("local"):
        settings["spark.driver.bindAddress"] = settings["spark.driver.host"] = "127.0.0.1"
    builder = SparkSession.builder.master(master).appName("deadpan corpus")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as bad:
        raise DataError(
            f"Spark at {master} does not start ({str(bad)[:160]}): check --spark-master"
        ) from None


def _spark_size(memory: str) -> str:
    """4GB as Java says it."""
    text = memory.strip().lower().replace(" ", "").replace("ib", "b").removesuffix("b")
    if not text[:-1].replace(".", "", 1).isdigit() or text[-1:] not in "kmgt":
        raise ConfigError(f"--memory {memory!r} is no size: write it like 4GB or 800MB")
    number, unit = float(text[:-1]), text[-1]
    return f"{int(number * {'k': 1 / 1024, 'm': 1, 'g': 1024, 't': 1024 * 1024}[unit])}m"


def _package(scratch: Path) -> Path:
    """deadpan itself as a file that workers can import from; NumPy and pyarrow they must have themselves."""
    target = scratch / "deadpan.zip"
    home = Path(deadpan.__file__).parent
    with ZipFile(target, "w") as archive:
        for path in _sources(home):
            archive.write(path, Path("deadpan") / path.relative_to(home))
    return target


def _sources(home: Path) -> Iterator[Path]:
    """What a batch needs: the floor's first modules, and ours."""
    yield from sorted(home.glob("*.py"))
    yield from sorted((home / "corpus").glob("*.py"))
