"""One corpus, whatever the engine: the same dumps through DuckDB, Spark and the plain reference, byte by byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.adversary import Dumps, adversary
from corpus.making import check, difference, expected, files, run
from deadpan.corpus.engine import ENGINES
from deadpan.corpus.synthesize import synthesize
from deadpan.errors import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def spark() -> None:
    pytest.importorskip("pyspark", reason="needs pip install 'deadpan[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17")


def both(tmp_path: Path, paths: list[str], **options: object) -> None:
    run(tmp_path, paths, out="duckdb", **options)  # type: ignore[arg-type]
    run(tmp_path, paths, out="spark", engine="spark", spark_master="local[2]", memory="1GB", **options)  # type: ignore[arg-type]
    assert difference(files(tmp_path / "duckdb"), files(tmp_path / "spark")) == ""


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets to the Java process
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark")
@pytest.mark.parametrize(("seed", "honest"), [(11, False), (12, True)])
def test_dumps_made_to_differ(tmp_path: Path, seed: int, honest: bool) -> None:
    dumps = adversary(seed, comments=500, honest=honest)
    both(tmp_path, dumps.write(tmp_path / "dumps"))
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"), out="spark")
    check(tmp_path / "spark", manifest, expected(dumps))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark")
def test_a_chain_of_ten_thousand_and_months_out_of_order(tmp_path: Path) -> None:
    line = '{{"id":"c{}","body":"{}","author":"ann","created_utc":{},"parent_id":"{}","link_id":"t3_p"}}\n'
    chain = [
        line.format(n, "oh yes sure", 1264982400 + n, "t3_p" if n == 0 else f"t1_c{n - 1}")
        for n in range(10_000)
    ]
    # The end of the chain is older than its beginning, and in an earlier month.
    early = line.format("end", "so good /s", 1262304000, "t1_c9999") + line.format(
        "x", "no", 1262304001, "t1_cend"
    )
    dumps = Dumps({"RC_2010-02": "".join(chain[::-1]).encode(), "RC_2010-01": early.encode()})
    both(tmp_path, dumps.write(tmp_path / "dumps"))
    assert (tmp_path / "spark" / "raw" / "sequences.csv").read_bytes().endswith(b"c9998 c9999|cend|1\n")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark")
def test_a_month_added_on_another_engine(tmp_path: Path) -> None:
    paths = [str(p) for p in synthesize(tmp_path / "dumps", months=2, comments=4_000, form="gz")]
    run(tmp_path, paths, out="whole")
    run(tmp_path, paths[:2], out="grown")
    run(tmp_path, paths, out="grown", engine="spark", spark_master="local[2]", memory="1GB")
    assert difference(files(tmp_path / "whole"), files(tmp_path / "grown")) == ""


def test_no_java_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = adversary(1, comments=30)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"Spark needs Java.*--engine duckdb"):
        run(tmp_path, dumps.write(tmp_path / "dumps"), engine="spark")


def test_an_unknown_engine_lists_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"unknown engine 'sparc': did you mean 'spark'\?"):
        ENGINES.check("sparc")
