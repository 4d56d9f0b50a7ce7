"""One run at a time in a folder, whatever became of the one before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deadpan.errors import DataError
from deadpan.locks import lock_folder

HOLD = """
import sys
from pathlib import Path
from deadpan.locks import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_a_second_run_is_told_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        with pytest.raises(DataError, match="another run is using this folder"), lock_folder(folder):
            pass
        holder.kill()
    with lock_folder(folder):
        assert folder.is_dir()
