"""kill -9 while a build or an update publishes: every chosen change of the disk in that window is the last one once."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from deadpan.corpus import release
from deadpan.corpus.checkpoints import Checkpoints
from deadpan.storage import Manifest, digest, read_manifest

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate"}


def killed(number: int, act: Callable[[], object]) -> bool:
    """Act in a process that is killed at its `number`th change of the disk; return whether it was."""
    process = os.fork()
    if process == 0:
        left = iter(range(number))

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if (event in CHANGES or writes) and next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        status = 1
        try:
            sys.addaudithook(watch)
            act()
            status = 0
        finally:
            os._exit(status)
    ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert ended in (0, -signal.SIGKILL), ended
    return ended != 0


class KilledPublishing:
    """Stands in for `publish`: publishes copies of the output folder in processes that are killed, then the folder.

    A fork of a run with Spark shares its session, which publishing does not use.
    """

    def __init__(self, copies: Path, moments: Iterable[int]) -> None:
        self.copies = copies
        self.moments = moments
        self.left: list[Path] = []
        """The folders as the kills left them."""

    def __call__(self, checkpoints: Checkpoints, fresh: Path, *given: Any, **more: Any) -> Manifest:
        for number in self.moments:
            out = self.copies / str(number)
            shutil.copytree(checkpoints.out, out, symlinks=True)
            copy = Checkpoints(out)
            copy.used = set(checkpoints.used)
            there = out / fresh.relative_to(checkpoints.out)
            if not killed(number, lambda: release.publish(copy, there, *given, **more)):  # noqa: B023
                shutil.rmtree(out)  # the window has no more changes
                break
            self.left.append(out)
        return release.publish(checkpoints, fresh, *given, **more)


def version(out: Path) -> str:
    """Return a hash of the version that people see, after comparing every file with its manifest."""
    files = read_manifest(out).files
    wrong = [name for name, facts in files.items() if digest(out / name) != facts["sha256"]]
    assert not wrong, f"{out}: mixed versions: {wrong[:3]}"
    return digest(out / "manifest.json")
