"""The leak: copies lift a score, and the guard finds every one of them."""

from __future__ import annotations

import re

import pytest

from deadpan.page import Page
from deadpan.tour.detectors import COPIED, leak_stop
from deadpan.tour.guide import Guide


@pytest.mark.slow
def test_every_copy_is_found_and_the_score_falls(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    leak_stop(guide)
    found = re.match(r"(\d+) copied texts .* from ([\d.]+) to ([\d.]+)", guide.finding)
    assert found is not None
    assert int(found[1]) == 2 * COPIED
    assert float(found[3]) > float(found[2])
    assert (tmp_path / "leak" / "report.html").is_file()
