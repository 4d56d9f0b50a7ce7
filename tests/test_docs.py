"""What the docs say can be typed, and the reference is the program's own help."""

from __future__ import annotations

import html
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import deadpan
from forked_commands import ForkedCommands

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHELL = re.compile(r"[|&;<>$`*?(){}\\]")
"""Characters by which a command line needs a shell."""
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


CONSOLE = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "console.py"), run_name="console"))


def steps(page: Path) -> list[Any]:
    return CONSOLE.page_steps(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def forked():
    with ForkedCommands() as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if steps(p)], ids=lambda page: page.name)
def test_commands_print_what_the_page_says(page, tmp_path, forked):
    CONSOLE.prepare(tmp_path)
    for step in steps(page):
        command = step.command
        if command.startswith("deadpan ") and not SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)):
            status, said, told = forked.output(shlex.split(command)[1:], tmp_path, CONSOLE.environment(tmp_path))
        else:
            status, said, told = CONSOLE.run(command, tmp_path)
        assert status == 0, f"{page.name}: $ {command}\n{told}"
        if step.output:
            assert CONSOLE.agrees(step.output, said), (
                f"{page.name}: $ {command}\n{said}\nwrite it: tools/console.py {page.name}"
            )


@pytest.mark.parametrize(
    ("documented", "printed", "same"),
    [
        (["a 0.5", "took 3 s"], "a  0.5\ntook 12 s\n", True),
        (["a 0.5"], "a 0.6\n", False),
        (["a"], "a\nb\n", False),
        (["a", "..."], "a\nb\nc\n", True),
        (["a", "...", "d"], "a\nb\nc\n", False),
        (["a", "...", "c"], "a\nb\nc\n", True),
    ],
)
def test_an_output_agrees_with_its_page_or_not(documented, printed, same):
    assert CONSOLE.agrees(documented, printed) == same


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
def test_notebooks_show_what_they_print(path, tmp_path, monkeypatch):
    tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "notebooks.py"), run_name="notebooks"))
    monkeypatch.chdir(tmp_path)
    stored = tool.shown(json.loads(path.read_text(encoding="utf-8")))
    assert stored, "a notebook is committed with its outputs: tools/notebooks.py"
    for kept, printed in zip(stored, tool.shown(tool.run(path)), strict=True):
        assert CONSOLE.agrees(kept.splitlines(), printed), f"tools/notebooks.py {path.name}\n{printed}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site; a dead link or a page outside the menu is an error of the build."""
    pytest.importorskip("zensical")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)  # the build writes beside its settings
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("shipped", "__pycache__"))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder / "build" / "docs"


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


def test_the_reference_is_not_stale():
    # In a process of its own: click remembers a command's help option from whoever asked first.
    script = "import runpy; print(runpy.run_path('tools/reference.py')['reference'](), end='')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == done.stdout, "run: make docs"


MAKING = re.compile(
    r"\b(this|earlier|last|previous|another) (working )?session\b|sealed test|bar[^a-z]{0,3}: ?(met|missed)|\.\./shared"
    r"|/work/\w|/tmp/[a-z]|mirror here|not available here;|blind reader|\b(helper|developer) of this\b",
    re.IGNORECASE,
)
"""Words that speak of how the program was made, and paths outside the repository."""


def test_the_repository_speaks_of_the_product():
    found = []
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    for name in listed:
        path = ROOT / name
        prose = name.endswith((".md", ".toml", ".sh", ".yml", ".html", ".py", ".ipynb")) or name == "Makefile"
        if not prose or name.startswith(("tests/", "examples/logs/")) or not path.is_file():
            continue  # tests may name paths; logs of other tools are as they were written
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MAKING.search(line):
                found.append(f"{name}:{number} {line.strip()[:100]}")
    assert found == []


def test_the_list_for_language_models_has_every_page_of_the_menu():
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"\]\((\S+)\)", (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")) == menu


def test_the_page_of_downloads_names_every_folder_that_a_reader_looks_in():
    from deadpan.datasets import READERS

    named = set(
        re.findall(
            r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]+) \|", (ROOT / "docs" / "corpora.md").read_text(), re.M))
        )
    )
    assert named == {READERS.load(name).release.folder for name in READERS} - {"", "starter"}


def test_one_sentence_says_what_it_is():
    said = "Build, annotate, detect and benchmark sarcasm data, with an interval beside every score."
    help_text = subprocess.run([sys.executable, "-m", "deadpan", "--help"], capture_output=True, text=True, check=True)
    for name in ("README.md", "docs/index.md", "mkdocs.yml", "pyproject.toml"):
        assert said in (ROOT / name).read_text(encoding="utf-8"), name
    assert said in " ".join(help_text.stdout.split())


QUESTIONS = {
    "How do I install it?": ("install.md", "pip install"),
    "How do I upgrade?": ("install.md", "## Upgrade"),
    "Where are pulled weights kept, and how do I remove them?": ("install.md", "## Uninstall"),
    "How do I score my own table?": ("tutorials/detector-user.md", "detect predict"),
    "Which column is the text?": ("datasets.md", "--column"),
    "Where do I download a corpus?": ("corpora.md", "| folder | names | download |"),
    "How do I use pandas?": ("corpora.md", "## Pandas"),
    "How do I use Hugging Face data?": ("corpora.md", "## Hugging Face"),
    "What is the best score per corpus?": ("results.md", "Best system per corpus"),
    "Which metric should I report?": ("troubleshooting.md", "## Which metric"),
    "How many raters and items do I need?": ("troubleshooting.md", "## How many raters"),
    "How do I use my own prompt?": ("troubleshooting.md", "## My own prompt"),
    "Does it work in my language?": ("troubleshooting.md", "## My own language"),
    "What do I tell my ethics board?": ("troubleshooting.md", "## An ethics text"),
    "How do I cite it?": ("troubleshooting.md", "## Cite"),
    "Which environment variables are there?": ("environment.md", "DEADPAN_DATA"),
    "What does an exit status mean?": ("environment.md", "| exit code | meaning |"),
    "What does prevalence mean?": ("glossary.md", "**prevalence**"),
    "Who labelled this corpus?": ("labels.md", "| `label_kind` | who said so |"),
    "How do I compare two evaluation logs?": ("quickstart.md", "deadpan compare"),
    "How do I fine-tune on a GPU?": ("neural.md", "GPU"),
    "How do I call my own language model server?": ("models.md", "--base-url"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_on_a_page_of_the_menu(question):
    page, words = QUESTIONS[question]
    assert f": {page}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert words in (ROOT / "docs" / page).read_text(encoding="utf-8")
