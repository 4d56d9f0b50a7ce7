"""The version a build gets: that of the source with the commit it was built from, so that no two builds share one.

A tagged commit (v0.3.0) gets the plain version; so does a tree without git, unless its PKG-INFO says better.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """Return the version for the package's metadata."""
    if (info := ROOT / "PKG-INFO").exists():  # a source distribution was named when it was built
        return re.findall(r"^Version: (.+)$", info.read_text(encoding="utf-8"), re.MULTILINE)[0]
    source = (ROOT / "src" / "deadpan" / "__init__.py").read_text(encoding="utf-8")
    plain: str = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)[0]
    commit = _git("rev-parse", "--short=9", "HEAD")
    if not commit or _git("tag", "--points-at", "HEAD", f"v{plain}"):
        return plain
    return f"{plain}.dev0+g{commit}"


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
