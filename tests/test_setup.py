"""The two commands' first step: one line when something is missing, nothing to do the second time."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def checkout(tmp_path):
    """A copy of what setup.sh looks at, and a PATH whose programs can be replaced."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(checkout: Path, name: str, script: str) -> None:
    path = checkout / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def setup(checkout: Path, *arguments: str, script: str = "setup.sh", path: str | None = None):
    environment = {**os.environ, "PATH": path or f"{checkout / 'bin'}:{os.environ['PATH']}"}
    command = ["bash", str(checkout / "tools" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_no_venv_module(checkout):
    program(checkout, "python3", 'case "$*" in *venv*) exit 1;; esac; exit 0')
    ran = setup(checkout, "tour", "plots", "1")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "apt-get install python3-venv" in ran.stderr
    assert not (checkout / ".venv").exists()


def test_no_python_new_enough(checkout):
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        program(checkout, name, "exit 1")
    ran = setup(checkout, "tour", "plots", "1")
    assert ran.returncode == 2
    assert "Python 3.11 or newer" in ran.stderr


def test_too_little_disk(checkout):
    program(checkout, "df", "printf 'head\\n/dev/x 9 9 7 9%% /\\n'")
    ran = setup(checkout, "tour", "plots", "2000")
    assert ran.returncode == 2
    assert "needs 2000 MB of disk here, 7 MB are free" in ran.stderr


def test_no_network(checkout):
    program(
        checkout,
        "python3",
        # A Python whose environments hold a pip that cannot reach anything.
        'case "$*" in *venv*) mkdir -p .venv/bin; printf \'#!/bin/sh\\ncase "$*" in *--version*) exit 0;; esac; '
        'echo "ERROR: Could not find a version that satisfies the requirement click"; exit 1\\n\' > '
        ".venv/bin/python; chmod +x .venv/bin/python;; esac; exit 0",
    )
    ran = setup(checkout, "tour", "plots", "1")
    assert ran.returncode == 2
    assert "is the network there?" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_the_second_time_there_is_nothing_to_do(checkout):
    program(
        checkout,
        "python3",
        'case "$*" in *venv*) mkdir -p .venv/bin; printf "#!/bin/sh\\nexit 0\\n" > .venv/bin/python; '
        "chmod +x .venv/bin/python;; esac; exit 0",
    )
    assert "installing" in setup(checkout, "tour", "plots", "1").stdout
    again = setup(checkout, "tour", "plots", "1")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_missing_system_packages_are_named_with_their_use(checkout):
    (checkout / "tools" / "system.txt").write_text("no-such-program  some-package  looking at pages\n")
    for name in ("apt-get", "sudo"):
        program(checkout, name, "echo called >> " + str(checkout / "calls") + "; exit 1")
    program(checkout, "id", "echo 1000")
    ran = setup(checkout, script="system.sh")
    assert ran.returncode == 0
    assert "missing: no-such-program (looking at pages), from the package some-package" in ran.stdout
    assert "not root" in ran.stdout
