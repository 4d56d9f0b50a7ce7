"""Every engine gives the same corpus: DuckDB, Spark and the plain reference, byte by byte."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.spark_cluster import quick_java
from corpus.adversary import adversary
from corpus.killing import KilledPublishing, version
from corpus.making import check, difference, expected, files, run
from deadpan.corpus import update_corpus
from deadpan.corpus.engines import spark as engine
from deadpan.corpus.engines.engine import ENGINES
from deadpan.corpus.engines.spark import driver_memory, readable_spark_error, shuffle_partitions
from deadpan.errors import ConfigError, DataError
from deadpan.storage import Manifest

JOBS = 12_000  # so many that tables are split into several ranges

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share one session between the builds of this file: most of their time would be its start."""
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    package = engine._copy_package(folder)
    with pytest.MonkeyPatch.context() as patch:
        # The session outlives the working folder of the build that starts it.
        patch.setenv("SPARK_LOCAL_DIRS", str(folder))
        patch.setattr(engine, "_copy_package", lambda scratch: package)
        patch.setattr(engine.SparkEngine, "close", lambda self: None)
        for name, value in quick_java(folder / "conf").items():
            patch.setenv(name, value)
        yield
        SparkSession.builder.getOrCreate().stop()


def on_spark(tmp_path: Path, paths: list[str], out: str) -> Manifest:
    return run(tmp_path, paths, out=out, engine="spark", spark_master="local[2]", memory="1GB")


def chain(length: int) -> dict[str, bytes]:
    """Return dumps of one long chain of replies, whose end is older than its beginning, in another month."""
    line = '{{"id":"x{}","body":"{}","author":"ann","created_utc":{},"parent_id":"{}","link_id":"t3_px"}}\n'
    replies = [
        line.format(n, "oh yes sure", 1264982400 + n, "t3_px" if n == 0 else f"t1_x{n - 1}") for n in range(length)
    ]
    end = line.format("end", "so good /s", 1262304000, f"t1_x{length - 1}")
    below = line.format("z", "no", 1262304001, "t1_xend")
    return {"RC_2010-02": "".join(replies[::-1]).encode(), "RC_2010-01": (end + below).encode()}


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets to the Java process
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark")
def test_adversarial_dumps_with_a_long_chain_added_on_another_engine(
    tmp_path: Path, spark: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = adversary(11, comments=120)
    dumps.comments |= chain(400)
    monkeypatch.setattr(engine, "JOBS_PER_EXECUTOR", JOBS)
    monkeypatch.setattr(engine, "MIN_PARTITIONS", 2)
    paths = dumps.write(tmp_path / "dumps")
    run(tmp_path, paths[:2], out="spark")  # by DuckDB
    manifest = on_spark(tmp_path, paths, "spark")
    check(tmp_path / "spark", manifest, expected(dumps))
    assert b"x398 x399|xend|1\n" in (tmp_path / "spark" / "raw" / "sequences.csv").read_bytes()
    run(tmp_path, paths, out="duckdb")
    assert difference(files(tmp_path / "duckdb"), files(tmp_path / "spark")) == ""
    from pyspark.sql import SparkSession

    rows = SparkSession.builder.getOrCreate().read.parquet(str(tmp_path / "spark" / "parquet"))
    assert {"month", "comment", "label"} <= set(rows.columns)
    assert rows.count() == manifest.counts["comments"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pyspark, and of a fork beside its threads
def test_a_kill_while_spark_publishes_leaves_one_whole_version(
    tmp_path: Path, spark: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole window, of build and update on both engines, is benchmarks/corpus_kills.py."""
    paths = adversary(5, comments=60).write(tmp_path / "dumps")
    out, options = tmp_path / "out", {"engine": "spark", "spark_master": "local[2]", "memory": "1GB"}
    run(tmp_path, paths[:1])
    before = version(out)
    kills = KilledPublishing(tmp_path / "killed", (20, 60, 150))
    monkeypatch.setattr("deadpan.corpus.build.publish", kills)
    update_corpus(paths[1:], out, mixed_months=True, **options)
    monkeypatch.undo()
    assert len(kills.left) >= 2 and before != version(out)
    assert {version(left) for left in kills.left} <= {before, version(out)}
    update_corpus(paths[1:], kills.left[0], mixed_months=True, **options)
    assert version(kills.left[0]) == version(out)


def test_no_java_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    dumps = adversary(1, comments=30)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"Spark needs Java.*--engine duckdb"):
        run(tmp_path, dumps.write(tmp_path / "dumps"), engine="spark")


def test_an_unknown_engine_lists_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"unknown engine 'sparc': did you mean 'spark'\?"):
        ENGINES.check("sparc")


@pytest.mark.parametrize("master", ["local[x]", "foo://x", "spark://host", ""])
def test_what_is_no_address_of_a_cluster_is_said_at_once(master: str) -> None:
    with pytest.raises(ConfigError, match=r"is not the address of a cluster: write local\[2\], spark://HOST:PORT"):
        engine._check_master(master)


def test_no_master_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")
    dumps = adversary(1, comments=30)
    with pytest.raises(DataError, match=r"no Spark master answers at spark://127\.0\.0\.1:9 .*--spark-master") as said:
        run(tmp_path, dumps.write(tmp_path / "dumps"), engine="spark", spark_master="spark://127.0.0.1:9")
    assert "\n" not in str(said.value)


def test_errors_of_spark_are_one_line(tmp_path: Path) -> None:
    stack = (
        "An error occurred while calling o1.parquet.\n: org.apache.spark.SparkException: Job aborted.\n"
        "\tat org.apache.spark.X(Y.scala:1)\nCaused by: java.io.IOException: the disk is on fire\n\tat z\n"
    )
    assert str(readable_spark_error(stack, tmp_path)) == (
        "Spark failed: java.io.IOException: the disk is on fire; finished steps are kept: run the command again"
    )
    assert "disk full" in str(
        readable_spark_error(stack.replace("the disk is on fire", "No space left on device"), tmp_path)
    )
    worker = f"{stack}Traceback (most recent call last):\n  File x\ndeadpan.errors.DataError: RC_1: truncated\n\n\tat y"
    assert str(readable_spark_error(worker, tmp_path)) == "RC_1: truncated"
    missing = f"{stack}Traceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'y'\n\n\tat z"
    assert "Spark failed: ModuleNotFoundError: No module named 'y';" in str(readable_spark_error(missing, tmp_path))


def test_partitions_and_the_memory_of_the_driver_follow_from_the_data() -> None:
    assert shuffle_partitions(0, 4 << 30) == 8
    assert shuffle_partitions(1 << 30, 4 << 30) == 56
    assert shuffle_partitions(1 << 30, 1 << 30) == 112
    assert shuffle_partitions(3 << 40, 4 << 30) == 20_000
    assert driver_memory(8) < 1.1 * (1 << 30) < driver_memory(20_000) < 4 << 30
