"""Notebooks with their outputs: run each, and write what its cells show, or compare it.

.venv/bin/python tools/notebooks.py notebooks/*.ipynb             # run and write
.venv/bin/python tools/notebooks.py --check notebooks/*.ipynb     # run only; fails where a cell does
"""

from __future__ import annotations

import ast
import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def run(path: Path) -> dict[str, Any]:
    """Return the notebook with the output of every code cell: the value of its last expression."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for number, cell in enumerate((c for c in book["cells"] if c["cell_type"] == "code"), 1):
        *before, last = ast.parse("".join(cell["source"])).body
        cell["execution_count"], cell["outputs"] = number, []
        if not isinstance(last, ast.Expr):
            before, last = [*before, last], None
        exec(compile(ast.Module(before, []), path.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)  # noqa: S307
            data = {"text/plain": str(value).splitlines(keepends=True)}
            if hasattr(value, "_repr_html_"):
                data["text/html"] = value._repr_html_().splitlines(keepends=True)
            cell["outputs"] = [
                {"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}}
            ]
    return book


def shown(book: dict[str, Any]) -> list[str]:
    """Return the text of every output."""
    return ["".join(o["data"]["text/plain"]) for cell in book["cells"] for o in cell.get("outputs", ())]


if __name__ == "__main__":
    check, paths = "--check" in sys.argv, [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    for path in [path.resolve() for path in paths]:
        with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
            book = run(path)
        if not check:
            path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
