"""The house rules that a machine can check; docs/architecture.md explains them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it reads the source and runs none of it
SOURCE = Path(__file__).parent.parent / "src" / "deadpan"
STAGES = {"datasets", "corpus", "generate", "studio", "detect", "bench"}
COMPOSERS = {"cli", "tour", "reproduce", "report", "serve"}
"""Packages that call several stages."""
HEAVY = {
    "torch", "transformers", "pyspark", "django", "inspect_ai", "xllamacpp", "matplotlib", "sklearn", "scipy",
    "duckdb", "pyarrow", "openai", "pandas", "rich",
}  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> list[tuple[int, str]]:
    """(line, module) of every import in a file, wherever it stands; `from deadpan import x` is deadpan.x."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def stage_of(parts: tuple[str, ...]) -> str:
    """Return the stage or composer a module belongs to, or the floor."""
    return parts[0] if parts and parts[0] in STAGES | COMPOSERS else "floor"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_stage_imports_the_floor_and_itself_only(path):
    here = stage_of(path.relative_to(SOURCE).with_suffix("").parts)
    allowed = STAGES | COMPOSERS | {"floor"} if here in COMPOSERS else {"floor", here}
    if path in (SOURCE / "__init__.py", SOURCE / "__main__.py"):
        return  # the lazy table of the public names, and the door to the command line
    for line, module in imported(path):
        if module.startswith("deadpan."):
            assert stage_of(tuple(module.split(".")[1:])) in allowed, f"{path}:{line} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_files_and_functions_stay_short(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 650, f"{path}: more than one chapter?"
    assert path.name not in {"utils.py", "helpers.py", "common.py", "misc.py"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno <= 80, f"{path}:{node.lineno} {node.name} is too long"


def test_folders_hold_about_fifteen_files():
    sizes = Counter(path.parent for path in FILES if path.name != "__init__.py")
    floor = sizes.pop(SOURCE)
    assert floor <= 26, "the floor is growing: does something belong in a folder of its own?"
    assert {folder: n for folder, n in sizes.items() if n > 18 and folder.name != "readers"} == {}


def test_the_command_line_stays_thin():
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in (SOURCE / "cli").rglob("*.py"))
    assert lines < 3000, "cli/ parses, calls and prints: move the rest into the stage"


def test_a_public_class_name_exists_once():
    places: dict[str, list[str]] = {}
    for path in FILES:
        if "migrations" in path.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_docstrings_begin_with_a_verb_or_a_noun_phrase():
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Every string that stands alone: docstrings, and those under attributes and constants.
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                text = str(node.value.value).strip()
                if re.match(r"(What|Which|Whether|How|Who|Where|When|Why)\b", text):
                    found.append(f"{path.relative_to(SOURCE)}: {text.splitlines()[0]}")
    assert found == []


def registered_names() -> dict[str, set[str]]:
    """Return the names in every registry, by what a variable that holds one would be called."""
    from deadpan.corpus.engines.engine import ENGINES
    from deadpan.datasets import READERS
    from deadpan.detect import SYSTEMS
    from deadpan.studio.protocols import PROTOCOLS

    return {"protocol": set(PROTOCOLS), "engine": set(ENGINES), "system": set(SYSTEMS), "source": set(READERS)}


def test_no_branch_on_a_registered_name():
    """A protocol, detector, reader or engine is one file and one registration: nothing else asks its name."""
    names, found = registered_names(), []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                texts = {c.value for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)}
                called = {ast.unparse(side).rpartition(".")[2] for side in sides}
                found += [f"{path.relative_to(SOURCE)}:{node.lineno}" for word, known in names.items()
                          if word in called and known & texts]  # fmt: skip
    assert found == []


# ---------------------------------------------------------------- tests, and what flows

TESTS = Path(__file__).parent
APART = {"contracts", "story", "fuzz"}
"""Tests of what many files promise, or of several stages together."""
WHOLE = {
    "test_architecture.py",
    "test_docs.py",
    "test_setup.py",
    "test_setup_audit.py",
    "test_api.py",
    "test_program.py",
}


def has_source(path: Path) -> bool:
    """Return whether a test file's name begins with a module or package in the same place of src/."""
    place = SOURCE / path.parent.relative_to(TESTS)
    if place.with_suffix(".py").exists():  # several files of tests for one module
        return True
    words = path.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:n]) for n in range(1, len(words) + 1)]
    return place.name in names or any((place / f"{name}.py").exists() or (place / name).is_dir() for name in names)


def test_tests_mirror_the_source():
    paths = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] not in APART]
    assert [str(path) for path in paths if path.name not in WHOLE and not has_source(path)] == []


EDGE = re.compile(r"^\| ([^|]+) \| ([\w.]+): [^|]* \| ([^|]+) \|$", re.MULTILINE)


def imports_of(stage: str) -> set[str]:
    return {
        module for path in (SOURCE / stage).rglob("*.py") for _, module in imported(path)
        if module.startswith("deadpan.")
    }  # fmt: skip


def test_the_table_shows_what_flows_between_stages():
    """Both ends of a row import what flows; a format that two stages import has a row."""
    drawing = (TESTS.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    edges = EDGE.findall(drawing)
    assert {name for a, _, b in edges for name in (a, b)} >= STAGES
    imports = {stage: imports_of(stage) for stage in STAGES}
    for first, what, second in edges:
        for stage in {first, second} & STAGES:
            module = f"deadpan.{what}"
            assert any(found.startswith(module) for found in imports[stage]), f"{stage} does not import {what}"
    for path in sorted((SOURCE / "formats").glob("*.py")):
        module = f"formats.{path.stem}"
        users = {stage for stage, found in imports.items() if any(m.startswith(f"deadpan.{module}.") for m in found)}
        drawn = {name for a, what, b in edges if module.startswith(what) for name in (a, b)}
        assert len(users) < 2 or users <= drawn, f"{module} joins {users}, but the table shows {drawn}"


# ---------------------------------------------------------------- speed of the first answer


def test_help_imports_nothing_heavy():
    script = "import sys, deadpan.cli\nprint(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not HEAVY & set(loaded.split())


def test_the_package_itself_imports_nothing_heavy_and_offers_its_names():
    script = (
        "import sys, deadpan\nassert 'numpy' not in sys.modules\n"
        "print(all(getattr(deadpan, name) is not None for name in deadpan.__all__))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert answer.strip() == "True"


# ---------------------------------------------------------------- the size of the house


def test_few_names_and_constants_exist_in_two_files():
    """A name means one thing: 2 % of names and 8 % of constants are what comparable packages have."""
    names: dict[str, set[Path]] = {}
    constants: dict[str, set[Path]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.setdefault(node.name, set()).add(path)
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.isupper():
                    constants.setdefault(target.id, set()).add(path)
    for found, limit in ((names, 0.02), (constants, 0.08)):
        public = {name: paths for name, paths in found.items() if not name.startswith("_")}
        twice = sorted(name for name, paths in public.items() if len(paths) > 1)
        assert len(twice) <= limit * len(public), f"in more than one file: {', '.join(twice)}"


def test_one_sentence_loads_few_of_our_modules():
    script = (
        "import sys\nfrom deadpan.cli import main\n"
        "sys.argv = ['deadpan', 'detect', '--detector', 'base', 'Oh great.']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('LOADED', sum(m.split('.')[0] == 'deadpan' for m in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert int(ran.rpartition("LOADED ")[2]) <= 40
