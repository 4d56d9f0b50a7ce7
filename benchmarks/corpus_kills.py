"""kill -9 while `corpus build` and `corpus update` publish: each change of the disk in that window is the last once.

    python benchmarks/corpus_kills.py --kills 40                    # DuckDB
    python benchmarks/corpus_kills.py --kills 5 --engine spark

After every kill the folder must be one whole version, old or new; then the same command must finish it. Prints how many of
the kills left which version, and fails if one left anything else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from deadpan.corpus.synthesize import synthesize_dumps  # noqa: E402
from deadpan.storage import digest, read_manifest  # noqa: E402

CHILD = """
import os, signal, sys
from deadpan.corpus import build, build_corpus, release, update_corpus
command, out, number, engine, *dumps = sys.argv[1:]
left = iter(range(int(number)))
changes = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate"}

def watch(event, arguments):
    if armed and (event in changes or event == "open" and arguments[2] & os.O_WRONLY) and next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)

def publish(*given, **more):
    armed.append(True)
    return real(*given, **more)

armed, real = [], release.publish
build.publish = publish
sys.addaudithook(watch)
options = {"memory": "500MB", "engine": engine}
if command == "build":
    build_corpus(dumps, out, max_similarity=1.0, **options)
else:
    update_corpus(dumps, out, after="2010-02", **options)
"""


def run(command: str, out: Path, number: int, engine: str, dumps: list[str]) -> bool:
    """Run a command that is killed at its `number`th change while it publishes; return whether it was."""
    arguments = [sys.executable, "-c", CHILD, command, str(out), str(number), engine, *dumps]
    done = subprocess.run(arguments, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, check=False)
    if done.returncode not in (0, -9):
        raise SystemExit(done.stderr.decode())
    return done.returncode == -9


def version(out: Path) -> str:
    """Return a hash of the version that people see, after comparing every file with its manifest."""
    if not (out / "manifest.json").is_file():
        return "none"
    files = read_manifest(out).files
    wrong = [name for name, facts in files.items() if digest(out / name) != facts["sha256"]]
    if wrong:
        raise SystemExit(f"{out}: mixed versions: {wrong[:3]}")
    return digest(out / "manifest.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--engine", default="duckdb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        synthesize_dumps(work / "dumps", months=2, comments=2_000, form="gz")
        first, second = ([str(path) for path in sorted(work.glob(f"dumps/*2010-0{n}*"))] for n in (1, 2))
        run("build", work / "old", 10**9, options.engine, first)
        found: Counter[str] = Counter()
        number = 0
        while found.total() < options.kills:
            command = "update" if number % 2 else "build"
            out = work / "out"
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(work / "old", out, symlinks=True)
            dumps = second if command == "update" else [*first, *second]
            before = version(out)
            # Over the whole window, which has about a hundred changes.
            if run(command, out, number * 3 % 100, options.engine, dumps):
                after = version(out)
                found[f"{command}: {'old' if after == before else 'new'} version"] += after != "none"
                run(command, out, 10**9, options.engine, dumps)
                if version(out) in (before, "none"):
                    raise SystemExit(f"{command}: not finished by running it again")
            number += 1
        for what, count in sorted(found.items()):
            print(f"{what} {count}")


if __name__ == "__main__":
    main()
