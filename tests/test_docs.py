"""What the docs say can be typed, and the reference is the program's own help."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import deadpan
from forked_commands import ONE_THREAD, ForkedCommands

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"[|&;<>$`*?(){}\\]")
"""Characters by which a command line needs a shell."""
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def forked():
    with ForkedCommands() as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda page: page.name)
def test_commands_run(page, tmp_path, forked):
    program = f"{shlex.quote(sys.executable)} -m deadpan"
    for command in commands(page):
        if command.startswith("deadpan ") and not SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)):
            status, told = forked.run(shlex.split(command)[1:], tmp_path)
        else:
            line = re.sub(r"(^|\| )deadpan ", rf"\g<1>{program} ", command)
            done = subprocess.run(
                line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False,
                env={**os.environ, **ONE_THREAD},
            )  # fmt: skip
            status, told = done.returncode, done.stderr
        assert status == 0, f"{page.name}: $ {command}\n{told}"


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_runs(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in PYTHON.findall((ROOT / name).read_text(encoding="utf-8")):
        exec(compile(code, name, "exec"), names)
    assert re.search(r"-?0\.\d+ \[-?0\.\d+, -?0\.\d+\]", capsys.readouterr().out)


def test_every_public_name_is_documented():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in deadpan.__all__ if not re.search(rf"`{name}\b", text)] == []


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s`]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells), "notebooks are committed without outputs"
    for cell in cells:
        *before, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(before, []), path.name, "exec"), names)
        if isinstance(last, ast.Expr):  # what a notebook shows
            assert repr(eval(compile(ast.Expression(last.value), path.name, "eval"), names))  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), path.name, "exec"), names)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site; a dead link or a page outside the menu is an error of the build."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


@pytest.mark.slow
def test_the_site_has_no_dead_link_and_loads_nothing_from_elsewhere(site):
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 20
    ids = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():
        loaded = re.findall(r'<(?:script|img|link)\b[^>]*?\b(?:src|href)="([^"]+)"', text)
        assert [one for one in loaded if "://" in one or one.startswith("//")] == [], page
        for target in re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text):
            address, _, anchor = html.unescape(target).partition("#")
            if "://" in address or address.startswith(("mailto:", "/")) or page.name == "404.html":
                continue
            path = (page.parent / address).resolve() if address else page
            path = path / "index.html" if path.is_dir() else path
            assert path.exists(), f"{page.name} links to {target}"
            if anchor and path.suffix == ".html":
                assert anchor in ids[path], f"{page.name} links to {target}"
    scripts = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.js"))
    assert "mermaid" not in "".join(pages.values()) or "unpkg" not in scripts


def test_the_reference_is_not_stale():
    # In a process of its own: click remembers a command's help option from whoever asked first.
    script = "import runpy; print(runpy.run_path('tools/reference.py')['reference'](), end='')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == done.stdout, "run: make docs"
