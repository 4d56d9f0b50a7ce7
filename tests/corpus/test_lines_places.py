"""Dumps and corpora at URLs, on an S3 server of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

from corpus.dumping import comment
from corpus.making import difference, files, run, settings_of
from deadpan.corpus.build import Build
from deadpan.corpus.dumps import find_dumps
from deadpan.corpus.lines import RemoteFile, as_place, is_url, open_place
from deadpan.corpus.release import output_places
from deadpan.corpus.settings import BuildOptions
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import ConfigError, DataError


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield an empty bucket, s3://deadpan, as a file system."""
    pytest.importorskip("s3fs", reason="needs pip install 'deadpan[cloud]'")
    server = pytest.importorskip("moto.server", reason="needs moto")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in (("ENDPOINT_URL", f"http://{host}:{port}"), ("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x")):
        monkeypatch.setenv(f"AWS_{name}", value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    system.makedirs("deadpan", exist_ok=True)  # moto keeps its buckets while the process lives
    yield system
    s3fs.S3FileSystem.clear_instance_cache()
    running.stop()


def test_urls_and_paths() -> None:
    assert not is_url("RC_2010-01.zst")
    assert not is_url("C:/dumps")
    assert as_place("file:///tmp/a%20b/RC_1") == Path("/tmp/a b/RC_1")
    remote = as_place("s3://bucket/folder/RC_2010-01.zst")
    assert isinstance(remote, RemoteFile)
    assert (remote.name, remote.suffix, str(remote)) == (
        "RC_2010-01.zst", ".zst", "s3://bucket/folder/RC_2010-01.zst",
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"s3://bucket/corpus: a URL needs a working folder.*--work DIR"):
        output_places("s3://bucket/corpus", None)
    assert output_places("file:///tmp/corpus", None) == (Path("/tmp/corpus"), "")


@pytest.mark.slow
def test_a_build_from_s3_to_s3_gives_the_files_of_a_local_one(tmp_path: Path, bucket: Any) -> None:
    made = synthesize_dumps(tmp_path / "dumps", months=1, comments=2_000, form="gz").files
    sent = [*made, tmp_path / "dumps" / "manifest.json"]  # by which a corpus knows that it is synthetic
    bucket.put([str(path) for path in sent], "deadpan/dumps/")
    bucket.pipe_file("deadpan/dumps/notes.txt", b"not a dump")
    run(tmp_path, [str(path) for path in made], out="local")
    options = BuildOptions(memory="500MB", work=tmp_path / "work")
    for _ in range(2):  # the second time everything is there
        build = Build("s3://deadpan/corpus", settings_of(tmp_path), options)
        assert build.run(["s3://deadpan/dumps"]) is not None
        assert any("notes.txt" in note for note in build.notes)
        assert build.notes[-1] == "Copied to s3://deadpan/corpus"
    bucket.get("deadpan/corpus/", str(tmp_path / "back"), recursive=True)
    assert difference(files(tmp_path / "local"), files(tmp_path / "back")) == ""
    assert [dump.path.name for dump in find_dumps(["s3://deadpan/dumps/RC_*"])[0]] == ["RC_2010-01.gz"]


@pytest.mark.slow
def test_what_is_wrong_with_a_url_is_said(tmp_path: Path, bucket: Any) -> None:
    with pytest.raises(DataError, match="no dumps match s3://deadpan/nothing"):
        find_dumps(["s3://deadpan/nothing"])
    with pytest.raises(DataError, match=r"s3://nowhere/x\*: cannot be listed"):
        find_dumps(["s3://nowhere/x*"])
    bucket.pipe_file("deadpan/mine/thesis.txt", b"mine")
    bucket.pipe_file("deadpan/RC_2010-01", comment("a", body="oh /s"))
    build = Build("s3://deadpan/mine", settings_of(tmp_path), BuildOptions(work=tmp_path / "work"))
    with pytest.raises(DataError, match=r"s3://deadpan/mine: has files that are not ours.*thesis"):
        build.run(["s3://deadpan/RC_2010-01"])


@pytest.fixture
def hdfs() -> Iterator[Any]:
    """Yield a file system in memory with the URLs of HDFS: a host, then a path from the root."""
    fsspec = pytest.importorskip("fsspec", reason="needs pip install 'deadpan[cloud]'")
    from fsspec.implementations.memory import MemoryFileSystem

    class Hadoop(MemoryFileSystem):  # type: ignore[misc]
        protocol = "hdfs"
        hosts: ClassVar[set[str]] = set()

        def __init__(self, host: str = "", **options: Any) -> None:
            self.hosts.add(host)
            super().__init__()

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return urlsplit(path).path.rstrip("/")

        @staticmethod
        def _get_kwargs_from_urls(path: str) -> dict[str, str]:
            return {"host": urlsplit(path).netloc}

    before = fsspec.get_filesystem_class("hdfs")
    fsspec.register_implementation("hdfs", Hadoop, clobber=True)
    yield Hadoop
    fsspec.register_implementation("hdfs", before, clobber=True)
    MemoryFileSystem.store.clear()


def test_hdfs_urls_keep_their_host(tmp_path: Path, hdfs: Any) -> None:
    system = hdfs("namenode:8020")
    system.pipe_file("/reddit/2010/RC_2010-01", comment("a", body="oh /s") + comment("b", body="yes it is"))
    for pattern in ("hdfs://namenode:8020/reddit", "hdfs://namenode:8020/reddit/*/RC_*"):
        (dump,), _ = find_dumps([pattern])
        assert str(dump.path) == "hdfs://namenode:8020/reddit/2010/RC_2010-01"
    options = BuildOptions(memory="500MB", work=tmp_path / "work")
    (tmp_path / "forget.txt").write_text("bob\n")
    forget = replace(options, forget=tmp_path / "forget.txt")
    build = Build("hdfs://namenode:8020/corpus", settings_of(tmp_path), forget)
    assert build.run(["hdfs://namenode:8020/reddit"]) is not None
    copied = system.cat_file("/corpus/raw/sarc.csv")
    assert copied == (tmp_path / "work" / "raw" / "sarc.csv").read_bytes()
    assert hdfs.hosts == {"namenode:8020"}
    again = Build("hdfs://namenode:8020/corpus", settings_of(tmp_path), replace(options, work=tmp_path / "new"))
    again.run(["hdfs://namenode:8020/reddit"])
    assert again.forgotten.tombstones == build.forgotten.tombstones  # though the working folder is new


def test_hdfs_without_its_library_is_one_line_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="needs pip install 'deadpan[cloud]'")
    for name in ("JAVA_HOME", "HADOOP_HOME", "CLASSPATH", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DataError, match=r"hdfs://nn/RC_1: no access.*set JAVA_HOME, HADOOP_HOME") as said:
        find_dumps(["hdfs://nn/RC_1"])
    assert "\n" not in str(said.value)
    assert len(str(said.value)) < 260


def test_a_file_system_that_cannot_be_opened_is_an_error_not_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(url: str) -> Any:
        raise OSError("no such endpoint")

    monkeypatch.setattr("deadpan.corpus.lines.file_system", gone)
    place = RemoteFile("s3://bucket/RC_2010-01.zst")
    with pytest.raises(DataError, match=r"cannot be read \(no such endpoint\)"), open_place(place) as source:
        source.read()
