"""Console blocks of the documentation: what they say is typed, what they say is printed, and the two compared.

    .venv/bin/python tools/console.py README.md docs/tutorials/*.md    # run every command, write its output

A block ```console has commands (`$ ...`), each followed by what it prints. A line `...` stands for lines left out. They
run in an empty folder with a link to the repository's examples/, each page in a folder of its own.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = 14
"""Lines of an output that a page shows; a longer one ends in `...`."""
_VARYING = (
    (re.compile(r"(\d\.\d{4})\d{3,}"), r"\1"),  # the last digits of a float differ between processors
    (re.compile(r"\d{4}-\d\d-\d\d(T[\d:.+Z-]*)?"), "DATE"),
    (re.compile(r", s\s+\d[\d.,]*"), ", s TIME"),
    (re.compile(r"\b\d[\d.,]* ?(s|ms|min|seconds?|minutes?|hours?)\b"), "TIME"),
    (re.compile(r"\b\d[\d.,]* ?([kMG]B|[KMG]iB)\b"), "SIZE"),
    (re.compile(r"/join/[\w-]+"), "/join/LINK"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"), "HASH"),
)
"""What differs from machine to machine or from day to day."""


@dataclass
class Step:
    """One command of a block and what the page says it prints."""

    command: str
    output: list[str]


def steps(block: str) -> list[Step]:
    """Return the commands of one block; a line before the first command belongs to none."""
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:], []))
        elif found:
            found[-1].output.append(line)
    return found


def page_steps(text: str) -> list[Step]:
    """Return every command of a page, in order."""
    return [step for block in BLOCK.findall(text) for step in steps(block)]


def agrees(documented: list[str], printed: str) -> bool:
    """Return whether an output is the documented one, apart from times, dates, sizes, hashes and lines left out."""
    parts: list[list[str]] = [[]]
    for line in documented:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(_steady(line))
    lines, place = [_steady(line) for line in _lines(printed)], 0
    for n, part in enumerate(parts):
        starts = [place] if n == 0 else range(place, len(lines) - len(part) + 1)
        if n and n == len(parts) - 1 and part:
            starts = [len(lines) - len(part)]
        found = next((start for start in starts if lines[start : start + len(part)] == part), None)
        if found is None:
            return False
        place = found + len(part)
    return len(parts) > 1 or place == len(lines)


def _steady(line: str) -> str:
    for pattern, word in _VARYING:
        line = pattern.sub(word, line)
    return " ".join(line.split())  # a column is as wide as its widest number


def _lines(printed: str) -> list[str]:
    """Return the lines of an output as a page shows them: no spaces at the end, no empty line at either end."""
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n").splitlines()


def written(text: str, folder: Path) -> str:
    """Return a page with the output of every command, run one after the other in `folder`."""
    outputs = _outputs([step.command for step in page_steps(text)], folder)

    def block(found: re.Match[str]) -> str:
        lines = []
        for step in steps(found[1]):
            lines.append(f"$ {step.command}")
            if agrees(step.output, said := next(outputs)):  # a page may leave out more lines than we would
                lines += step.output
            else:
                printed = _lines(said)
                lines += printed if len(printed) <= SHOWN else [*printed[: SHOWN - 2], "..."]
        return "```console\n" + "".join(f"{line}\n" for line in lines) + "```"

    return BLOCK.sub(block, text)


def _outputs(commands: list[str], folder: Path) -> Iterator[str]:
    for command in commands:
        status, said, told = run(command, folder)
        if status:
            sys.exit(f"$ {command}\n{told}")
        yield said


def run(command: str, folder: Path) -> tuple[int, str, str]:
    """Run one command line in a shell; return its exit status, its output and its errors."""
    line = re.sub(r"(^|\| )deadpan ", rf"\g<1>{shlex.quote(sys.executable)} -m deadpan ", command)
    env = {**os.environ, **environment(folder)}
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False, env=env)  # noqa: S602
    return done.returncode, done.stdout, done.stderr


def environment(folder: Path) -> dict[str, str]:
    """Return what makes outputs those of a base install, without encoders; a second thread would only spin."""
    cache = str(folder / ".cache")
    return {"COLUMNS": "80", "DEADPAN_CACHE": cache, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def prepare(folder: Path) -> None:
    """Give a folder what the pages expect there: the examples, and the word vectors that `make tour` pulls."""
    from deadpan.models import installed

    (folder / "examples").symlink_to(Path(__file__).resolve().parent.parent / "examples")
    if vectors := installed().get("wordllama-256"):
        (folder / ".cache" / "models").mkdir(parents=True)
        (folder / ".cache" / "models" / vectors.name).symlink_to(vectors)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as scratch:
            prepare(Path(scratch))
            page = Path(name)
            page.write_text(written(page.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
