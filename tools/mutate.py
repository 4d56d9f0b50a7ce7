"""Mutation testing: changes one operator or constant at a time and runs the tests that reach it.

tools/mutate.py [--sample N] [--minutes M] [--bodies] [--list] [MODULE ...]; exit status 1 if one survives

Results are kept in build/mutation.jsonl and hold as long as neither a module nor its tests change, so a run
can be stopped at any time and resumes where it was; --minutes ends one by itself. A mutant that no test
kills is a survivor: write the test, or put its line with a reason into tools/survivors.txt.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mutants import Mutant, Switch, WovenFinder, weave

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
JUSTIFIED = ROOT / "tools" / "survivors.txt"
RESULTS = ROOT / "build" / "mutation.jsonl"


def _mirrored(folder: str, *names: str) -> dict[str, list[str]]:
    """Modules of a folder, each with the test file that mirrors it."""
    return {f"{folder}/{name}.py": [f"tests/{folder}/test_{name}.py"] for name in names}


TESTS = {
    **_mirrored(
        "stats", "bootstrap", "calibration", "clusters", "comparison", "constant", "curves", "explained",
        "interval", "paired", "power", "ranking", "scores", "sequences", "soft",
    ),
    **_mirrored("ratings", "coefficients", "consensus", "mace", "ratings", "votes"),
    "splits.py": ["tests/test_splits.py"],
    **_mirrored("bench/scores", "agreement", "comparison", "difficulty", "languages", "score", "separation"),
    "bench/runs/answers.py": ["tests/bench/runs/test_answers.py"],
    **_mirrored("corpus/ingest", "lines", "rules"),
    **_mirrored("corpus/relate", "awareness", "components", "trees"),
    **_mirrored("formats", "judgments", "kocosa", "labels", "predictions", "rows", "sarc", "tables"),
    **_mirrored(
        "datasets/readers", "arsarcasm", "figlang", "ghosh_veale", "isarcasm", "isarcasm_eval", "kocasm",
        "kocosa", "mustard", "news_headlines", "oraby", "ptacek", "riloff", "semeval2018",
    ),
    **_mirrored("datasets/readers/sarc", "index", "raw"),
    "datasets/readers/sarc/columns.py": ["tests/datasets/readers/sarc/test_index.py"],
    "datasets/table.py": ["tests/datasets/test_table.py", "tests/datasets/scored"],
    "datasets/scored/reading.py": ["tests/datasets/scored"],
    "serve/limits.py": ["tests/serve/test_limits.py"],
    "serve/requests.py": ["tests/serve/test_app.py"],
}  # fmt: skip
"""Module -> the tests that should notice its mutants."""
CONTRACTS = {"datasets/readers": ["tests/contracts/test_readers.py"]}
PRELOADED = ("numpy", "sklearn.linear_model", "sklearn.metrics", "scipy.stats", "pyarrow", "duckdb", "orjson")
"""Imported once, before processes are forked: imports are most of a test's time."""
OPTIONS = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
LONGEST = 60
"""Seconds of processor time after which a mutant that still runs counts as noticed: most loop forever."""
PATIENCE = 5
"""A test that takes this many times its usual processor time, and a second, counts as failed too."""
IDLE = 200
"""So many times longer by the clock, for a mutant that waits without working: others may need the machine."""
FAILED, BROKEN = 1, 9


def tests_of(module: str) -> list[str]:
    """The test files of a module that exist."""
    shared = [test for folder, tests in CONTRACTS.items() if module.startswith(folder) for test in tests]
    return [test for test in [*TESTS[module], *shared] if (ROOT / test).exists()]


def limit_time(seconds: float) -> None:
    """End this process after so many seconds of processor time: a busy machine kills no mutant."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(int(IDLE * seconds))


class Runner:
    """A pytest plugin: runs all tests once to see what each reaches, then forks a process per mutant."""

    def __init__(self, switch: Switch, todo: list[Mutant], state: State) -> None:
        self.switch, self.todo, self.state = switch, todo, state
        self.failed = False
        self.seconds: dict[Any, float] = {}

    def pytest_collection(self, session: Any) -> None:
        """Make Hypothesis stop at the first failing input: a mutant needs no smallest one."""
        from hypothesis import Phase, settings  # pytest wants to import its plugin first

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("deadpan"), phases=phases, database=None)
        settings.load_profile("mutation")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure in any phase."""
        self.failed |= report.failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        """Keep what the setup reached apart: a fixture may be shared by all tests of a file."""
        self.from_setup, self.switch.reached = self.switch.reached, set()
        return (yield)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Replace pytest's loop."""
        self.items = session.items
        self.caches = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
        reached = self.rehearse()
        if self.in_fork(-1, self.items) != 0:
            os._exit(BROKEN)
        gc.freeze()
        for mutant in self.todo:
            if self.state.is_over():
                break
            tests = sorted(reached[mutant.number], key=lambda item: self.seconds[item])  # quick ones first
            status = self.in_fork(mutant.number, tests) if tests else 0
            self.state.note(mutant, killed=status != 0, reached=bool(tests))
        return True

    def rehearse(self) -> dict[int, set[Any]]:
        """Run every test without a mutant and return, per mutant, the tests that reach it."""
        reached: dict[int, set[Any]] = defaultdict(set)
        for place, item in enumerate(self.items):
            self.clear()
            self.switch.reached, self.from_setup = set(), set()
            started = time.process_time()
            following = self.items[place + 1] if place + 1 < len(self.items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                os._exit(BROKEN)
            self.seconds[item] = time.process_time() - started
            for number in self.switch.reached:
                reached[number].add(item)
            for number in self.from_setup:
                reached[number].update(other for other in self.items if other.path == item.path)
        self.clear()
        return reached

    def clear(self) -> None:
        """Forget what deadpan remembered, or a mutant of a remembered function would not be run."""
        for cached in self.caches:
            if str(getattr(cached, "__module__", "")).startswith("deadpan"):
                cached.cache_clear()

    def in_fork(self, number: int, tests: list[Any]) -> int:
        """Run tests with one mutant switched on, in a process of its own; return 0 if all pass."""
        child = os.fork()
        if child == 0:
            try:
                self.switch.active = number
                for item in tests:
                    limit_time(min(LONGEST, 2 + PATIENCE * self.seconds[item]))
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    if self.failed:
                        os._exit(FAILED)
                os._exit(0)
            finally:
                os._exit(FAILED)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)


class State:
    """The results of earlier runs and of this one."""

    def __init__(self, minutes: float) -> None:
        self.until = time.monotonic() + 60 * minutes if minutes else float("inf")
        self.found: dict[str, dict[str, Any]] = {}
        if RESULTS.exists():
            rows = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())
            self.found = {f"{row['key']} {row['number']}": row for row in rows}
        self.key = ""

    def open(self, module: str) -> None:
        """Turn to a module: its results depend on its text and on its tests."""
        files = [SOURCE / "deadpan" / module]
        for test in tests_of(module):
            files += sorted((ROOT / test).rglob("*.py")) if (ROOT / test).is_dir() else [ROOT / test]
        digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files))
        self.key = f"{module} {digest.hexdigest()[:12]}"

    def result(self, mutant: Mutant) -> dict[str, Any] | None:
        """Return what is known of a mutant."""
        return self.found.get(f"{self.key} {mutant.number}")

    def is_over(self) -> bool:
        """True when the time of this run is used up."""
        return time.monotonic() > self.until

    def note(self, mutant: Mutant, *, killed: bool, reached: bool = True) -> None:
        """Append a result; the file is complete after every line."""
        row = {"key": self.key, "number": mutant.number, "killed": killed, "reached": reached}
        self.found[f"{self.key} {mutant.number}"] = row
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def run_tests(module: str, active: int, todo: list[Mutant], state: State) -> int:
    """Run pytest over a woven module in a process of its own; return its exit status."""
    child = os.fork()
    if child == 0:
        code = BROKEN
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            switch = Switch()
            switch.active = active
            tree, _ = weave(module, (SOURCE / "deadpan" / module).read_text(encoding="utf-8"))
            sys.meta_path.insert(0, WovenFinder(SOURCE, module, tree, switch))
            if active >= 0:
                limit_time(LONGEST)
            plugins = [] if active >= 0 else [Runner(switch, todo, state)]
            code = int(pytest.main([*OPTIONS, *tests_of(module)], plugins=plugins))
        except BaseException:  # noqa: BLE001 - a forked process must not go on
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def try_module(module: str, todo: list[Mutant], state: State, *, bodies: bool) -> None:
    """Try the mutants of a module that have no result; those outside of `bodies` need a pytest each."""
    later = [mutant for mutant in todo if not mutant.on_import]
    if later and run_tests(module, -1, later, state) == BROKEN:
        sys.exit(f"{module}: its tests fail without a mutant: {', '.join(tests_of(module))}")
    for mutant in todo:
        if mutant.on_import and not bodies and not state.is_over():
            state.note(mutant, killed=run_tests(module, mutant.number, [], state) != 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing.")
    parser.add_argument("--sample", type=int, default=0, help="mutants per module; 0: all")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many; 0: go on to the end")
    parser.add_argument("--bodies", action="store_true", help="only mutants in functions, which are quick")
    parser.add_argument("--list", action="store_true", help="only list the results there are")
    parser.add_argument("modules", nargs="*")
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(SOURCE)
    sys.path.insert(0, str(SOURCE))
    for name in PRELOADED if not given.list else ():
        import_module(name)
    known = JUSTIFIED.read_text(encoding="utf-8") if JUSTIFIED.exists() else ""
    counts: dict[str, int] = defaultdict(int)
    state = State(given.minutes)
    for module in given.modules or TESTS:
        _, mutants = weave(module, (SOURCE / "deadpan" / module).read_text(encoding="utf-8"))
        drawn = random.Random(module).sample(mutants, min(given.sample or len(mutants), len(mutants)))
        state.open(module)
        todo = [mutant for mutant in sorted(drawn, key=lambda one: one.number) if not state.result(mutant)]
        if todo and not given.list and not state.is_over():
            try_module(module, todo, state, bodies=given.bodies)
            state = State((state.until - time.monotonic()) / 60 if given.minutes else 0)
            state.open(module)
        show(module, mutants, state, known, counts)
    left = counts["mutants"] - counts["tried"]
    sys.stdout.write(
        f"{counts['mutants']:,} mutants: {counts['killed']:,} killed, {counts['justified']} justified, "
        f"{counts['survived']} survived, {left:,} not tried\n"
    )
    sys.exit(bool(counts["survived"]))


def show(module: str, mutants: list[Mutant], state: State, known: str, counts: dict[str, int]) -> None:
    """Print a module's count and its survivors, and add to the counts of all."""
    tried = [(mutant, found) for mutant in mutants if (found := state.result(mutant))]
    alive = [(mutant, found) for mutant, found in tried if not found["killed"]]
    left = [(mutant, found) for mutant, found in alive if mutant.name not in known]
    counts["mutants"] += len(mutants)
    counts["tried"] += len(tried)
    counts["killed"] += len(tried) - len(alive)
    counts["justified"] += len(alive) - len(left)
    counts["survived"] += len(left)
    sys.stdout.write(f"{module}: {len(tried)} of {len(mutants)} tried, {len(left)} survived\n")
    for mutant, found in left:
        sys.stdout.write(f"  {'survived' if found['reached'] else 'not run '}  {mutant.name}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
