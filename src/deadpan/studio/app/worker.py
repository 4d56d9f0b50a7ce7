"""The worker beside the server: computes the figures that somebody looks at, at low priority."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

from deadpan.studio.app.database import open_studio

PAUSE = 2.0


def start_worker(home: Path) -> subprocess.Popen[bytes]:
    """Start the worker of a studio as a process of its own; it ends when its parent does."""
    return subprocess.Popen([sys.executable, "-m", "deadpan.studio.app.worker", str(home), str(os.getpid())])


def work(home: Path, parent: int) -> None:
    """Refresh figures until the parent is gone."""
    os.nice(15)
    open_studio(home, migrate=False)
    from django.db import InterfaceError, OperationalError, connection

    from deadpan.studio.app.figures import refresh_watched

    while os.getppid() == parent:
        try:
            refresh_watched()
        except (OperationalError, InterfaceError) as lost:
            logging.getLogger("django").warning("figures: %s", lost)
            connection.close()
        time.sleep(PAUSE)


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))
