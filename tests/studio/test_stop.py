"""The tour's stop: a whole study in small, that says of itself what is made up."""

from __future__ import annotations

import json

from deadpan.cli.stops.studio import ITEMS, stop
from deadpan.cli.tour import Guide
from deadpan.page import Page


def test_the_stop_shows_a_study_from_items_to_release(site, tmp_path):
    guide = Guide(Page("Tour", "In small."), tmp_path, 0)
    stop(guide)
    (what, value, n), (_, folder, size) = guide.rows
    assert "made-up" in what and "[" in value and n == str(ITEMS)
    assert folder == str(tmp_path / "release") and 0 < int(size) <= ITEMS
    assert json.loads((tmp_path / "release" / "croissant.json").read_text("utf-8"))["recordSet"]
    guide.page.write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "Nobody was asked here" in text and "Agreement of the three made-up raters" in text
    again = Guide(Page("Tour", "In small."), tmp_path, 0)
    stop(again)
    assert again.rows == guide.rows
