"""The leak: copies lift a score, and the guard finds every one of them."""

from __future__ import annotations

import re

import pytest

from deadpan.page import Page
from deadpan.tour.guide import Guide
from deadpan.tour.leak import COPIED, stop


@pytest.mark.slow
def test_every_copy_is_found_and_the_score_falls(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    stop(guide)
    found = re.match(r"(\d+) copied texts .* from ([\d.]+) to ([\d.]+)", guide.finding)
    assert found is not None
    assert int(found[1]) == 2 * COPIED
    assert float(found[3]) > float(found[2])
    assert (tmp_path / "leak" / "report.html").is_file()
