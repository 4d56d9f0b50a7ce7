"""Fuzzes every way into the program: tools/fuzzing.py [--inputs 100000] [--first N] [TARGET ...]

An input that ends in anything but a result or an error with a cure is written to tests/fuzz/seeds/TARGET/,
where every later run of the tests tries it again. Inputs are numbered: --first resumes where another run
ended, and a run that is stopped says where that was. An input that takes longer than --seconds of processor
time, or twenty times that by the clock, counts as a hang. `reader-*` names all readers.
"""

from __future__ import annotations

import argparse
import faulthandler
import fnmatch
import hashlib
import signal
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzz.mutations import damaged
from fuzz.targets import KEPT, targets


def too_long(signum: int, frame: object) -> None:
    """Turn a hang into a finding."""
    raise AssertionError("takes too long")


def main() -> None:
    known = targets()
    parser = argparse.ArgumentParser(description="Fuzz every way into the program.")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("targets", nargs="*", help=", ".join(known))
    given = parser.parse_args()
    faulthandler.enable()
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, too_long)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda signum, frame: told.append(signum))
    findings = 0
    chosen = [name for name in known if any(fnmatch.fnmatch(name, one) for one in given.targets or ["*"])]
    if not chosen:
        sys.exit(f"no such target: choose from {', '.join(known)}")
    for name in chosen:
        target, started, seen = known[name], time.monotonic(), set()
        for number in range(given.first, given.first + given.inputs):
            if told:
                sys.exit(f"{name}: stopped, {len(seen)} findings; --first {number} resumes")
            data = damaged(target.seeds, number)
            signal.setitimer(signal.ITIMER_PROF, given.seconds)
            signal.alarm(20 * given.seconds)  # for one that waits without working
            try:
                target.survives(data)
            except ImportError as bad:
                sys.exit(f"{name}: {bad}: install the extra it needs")
            except Exception as bad:  # noqa: BLE001 - any exception is what is looked for
                where = traceback.extract_tb(bad.__traceback__)[-1]
                place = f"{type(bad).__name__} {Path(where.filename).name}:{where.lineno}"
                if place not in seen:
                    seen.add(place)
                    findings += 1
                    path = KEPT / name / hashlib.sha256(data).hexdigest()[:16]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                    sys.stdout.write(f"{name} input {number}: {place}: {bad!s:.100}\n")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.alarm(0)
        seconds = time.monotonic() - started
        sys.stdout.write(f"{name}: {given.inputs:,} inputs in {seconds:.0f} s, {len(seen)} findings\n")
        sys.stdout.flush()
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
