"""The browser for the tests of pages; its path is None where there is none."""

from __future__ import annotations

import shutil

# The first is the same browser without a window, in less than half of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
# There is no graphics card: drawing as if there were one costs more than drawing.
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-extensions"]
