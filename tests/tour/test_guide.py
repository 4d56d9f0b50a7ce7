"""The guide runs the stops in order, says what a missing one needs, and closes with one page."""

from __future__ import annotations

import sys
import types

from deadpan.errors import MissingExtra
from deadpan.tour import guide as module
from deadpan.tour.guide import STOPS, run_tour


def test_a_tour_is_its_stops_in_order(monkeypatch, tmp_path):
    stops = types.ModuleType("made_up_stops")

    def first(guide):
        guide.page.text("Something was seen.")
        (guide.out / "a.txt").write_text("a")
        guide.artefact("A file", guide.out / "a.txt")
        guide.found("One is one.", "deadpan one")

    def second(guide):
        raise MissingExtra("django", "studio")

    stops.first, stops.second = first, second
    monkeypatch.setitem(sys.modules, "made_up_stops", stops)
    monkeypatch.setattr(module, "STOPS", {"First": "made_up_stops:first", "Second": "made_up_stops:second"})
    result = run_tour(tmp_path / "tour")
    assert [(stop.title, stop.shown) for stop in result.stops] == [("First", True), ("Second", False)]
    page = result.report.read_text("utf-8")
    for words in ("1. First", "One is one.", 'href="#stop-2"', 'id="stop-2"', 'href="a.txt"', "deadpan one"):
        assert words in page
    assert "deadpan[studio]" in page and "deadpan[studio]" in str(result)
    assert (tmp_path / "tour" / "manifest.json").exists()
    assert "Next:" in str(result) and result.as_dict()["stops"][0]["finding"] == "One is one."


def test_the_stops_are_an_argument_in_this_order():
    words = ("sentence", "pair", "table_two", "leak", "dialogue", "people", "board")
    assert [target.split(":")[0].rpartition(".")[2] for target in STOPS.values()] == list(words)
