"""The tests that make do with a smaller load in `make test`, at full size: 20 kills of a run of 500 dialogues,
2,000 calls to a server that fails in every way, 5,000 saves and 10 kills of a studio on each database, 30,000 odd
requests to it, 5 kills of a corpus build.

python benchmarks/full_size.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = ("tests/cli/generate/test_run_kill.py", "tests/bench/runs/test_run_faults.py",
         "tests/studio/app/test_server_load.py", "tests/studio/app/test_server_fuzz.py",
         "tests/corpus/test_build_kill.py")  # fmt: skip


def main() -> int:
    environment = {**os.environ, "DEADPAN_FULL_SIZE": "1"}
    command = [sys.executable, "-m", "pytest", "-n0", "--durations=5", *TESTS]
    return subprocess.run(command, env=environment, cwd=Path(__file__).parent.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
