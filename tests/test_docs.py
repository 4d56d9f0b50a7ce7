"""What the docs say can be typed, and the reference is the program's own help."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import deadpan

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda page: page.name)
def test_commands_run(page, tmp_path):
    program = f"{shlex.quote(sys.executable)} -m deadpan"
    for command in commands(page):
        line = re.sub(r"(^|\| )deadpan ", rf"\g<1>{program} ", command)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{page.name}: $ {command}\n{done.stderr}"


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_runs(name, capsys):
    for code in PYTHON.findall((ROOT / name).read_text(encoding="utf-8")):
        exec(compile(code, name, "exec"), {})
    assert re.search(r"-?0\.\d+ \[-?0\.\d+, -?0\.\d+\]", capsys.readouterr().out)


def test_every_public_name_is_documented():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in deadpan.__all__ if not re.search(rf"`{name}\b", text)] == []


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s`]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_is_not_stale():
    # In a process of its own: click remembers a command's help option from whoever asked first.
    script = "import runpy; print(runpy.run_path('tools/reference.py')['reference'](), end='')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == done.stdout, "run: make docs"
