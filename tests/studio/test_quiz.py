"""SarcBench for people: from an item set to the human row of the leaderboard."""

from __future__ import annotations

import pytest

from deadpan.bench.items import LETTERS, write_items
from deadpan.bench.sets import open_set

ITEMS = 8


@pytest.mark.slow
def test_people_take_the_benchmark_and_become_a_row(deadpan, site, tmp_path):
    some, items = tmp_path / "some.jsonl", open_set("public").items[:ITEMS]
    write_items(some, items)
    key = {item.id: item.answer for item in items}
    hard = sorted(key)[0]
    home = ("--home", site.home)
    made = deadpan("studio", "create", "quiz", "--name", "q", "--items", some, "--raters", 3, *home, "--json")
    assert made.json["items"] == ITEMS, made.err
    from deadpan.studio.models import Study

    study = Study.objects.get()
    for number in range(3):
        client = site.person(study, role="participant")
        missed = {hard} if number < 2 else set()
        site.answer_all(
            client, study, lambda item, missed=missed: {"answer": LETTERS[(key[item] + (item in missed)) % 6]}
        )
    # One takes the last answer back and gives another: the first must not be counted beside it.
    client.post("/s/q/undo")
    last = site.open_item(client, study)
    assert site.save(client, last, answer=LETTERS[0]).json()["complete"]

    assert deadpan("studio", "export", "q", "--out", tmp_path / "out", *home).status == 0
    row = deadpan("bench", "humans", tmp_path / "out", "--set", some, "--out", tmp_path / "row", "--json")
    assert row.status == 0, row.err
    assert (row.json["model"], row.json["n"], row.json["runs"]) == ("human", ITEMS, 3)
    report = deadpan("studio", "agreement", "q", *home, "--json").json["report"]
    people = next(section for section in report if section["title"] == "Score of each person")
    shares = [share["value"] for _, share in people["rows"]]
    assert row.json["avg"]["value"] == pytest.approx(sum(shares) / 3)
    low = next(section for section in report if section["title"].startswith("Items on which fewer"))
    assert hard in [name for name, _ in low["rows"]]
    kept = deadpan("bench", "agree", tmp_path / "out", "--set", some, "--json")
    assert kept.status == 0 and hard in kept.out


@pytest.mark.slow
def test_an_answer_taken_back_is_no_answer(deadpan, site, tmp_path):
    home = ("--home", site.home)
    some = tmp_path / "some.jsonl"
    write_items(some, open_set("public").items[:2])
    deadpan("studio", "create", "quiz", "--name", "q", "--items", some, "--raters", 1, *home)
    from deadpan.studio.models import Study

    study = Study.objects.get()
    client = site.person(study, role="participant")
    site.answer_all(client, study, lambda item: {"answer": "A"})
    client.post("/s/q/undo")
    deadpan("studio", "export", "q", "--out", tmp_path / "out", *home)
    row = deadpan("bench", "humans", tmp_path / "out", "--set", some, "--out", tmp_path / "row", "--json")
    assert row.json["n"] == 1 and row.status == 1  # pending: one item has no answer
