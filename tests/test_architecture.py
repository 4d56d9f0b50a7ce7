"""The house rules a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "deadpan"
STAGES = {"datasets", "corpus", "generate", "studio", "detect", "bench", "report"}
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
    """The stage a module belongs to, `cli`, or the floor."""
    return parts[0] if parts and parts[0] in STAGES | {"cli"} else "floor"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_stage_imports_the_floor_and_itself_only(path):
    here = stage_of(path.relative_to(SOURCE).with_suffix("").parts)
    allowed = STAGES | {"cli", "floor"} if here in ("cli",) else {"floor", here}
    if path in (SOURCE / "__init__.py", SOURCE / "__main__.py"):
        return  # the lazy table of the public names, and the door to the command line
    for line, module in imported(path):
        if module.startswith("deadpan."):
            assert stage_of(tuple(module.split(".")[1:])) in allowed, f"{path}:{line} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_file_or_function_outgrows_its_noun(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{path} is too long for one noun"
    assert path.name not in {"utils.py", "helpers.py", "common.py", "misc.py"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno <= 70, f"{path}:{node.lineno} {node.name} is too long"


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
