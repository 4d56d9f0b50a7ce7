"""The guide runs the stops in order, says what a missing one needs, and closes with one page."""

from __future__ import annotations

import sys
import types

import pytest

from deadpan.errors import ConfigError, MissingExtra
from deadpan.storage import read_manifest
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


def test_a_folder_of_somebody_else_is_refused_untouched(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "STOPS", {})
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="not empty and not a tour"):
        run_tour(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bench"]
    for _ in range(2):
        run_tour(tmp_path / "tour")
        (tmp_path / "tour" / "notes.txt").write_text("mine")
    assert "notes.txt" not in read_manifest(tmp_path / "tour").files


def test_a_tour_that_was_cut_short_can_be_made_again(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "STOPS", {"Broken": "no_such_module:stop"})
    with pytest.raises(ModuleNotFoundError):
        run_tour(tmp_path / "tour")
    monkeypatch.setattr(module, "STOPS", {})
    assert run_tour(tmp_path / "tour").report.is_file()


def test_the_stops_are_an_argument_in_this_order():
    words = ("sentence", "pair", "table_two", "leak", "dialogue", "people", "board")
    assert [target.partition(":")[2].removesuffix("_stop") for target in STOPS.values()] == list(words)
