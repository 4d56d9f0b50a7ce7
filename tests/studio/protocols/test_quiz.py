"""SarcBench for people: from an item set to the human row of the leaderboard."""

from __future__ import annotations

import re

import pytest

from deadpan.bench.items.item import LETTERS, write_items
from deadpan.bench.items.sets import open_set
from deadpan.formats.study import QuizItem
from deadpan.records import Item, Turn
from deadpan.studio.records.labels import study_results

ITEMS = 8


def unrelated(count: int) -> list[Item]:
    """English items of the public set of which no two are twins: one person gets them all."""
    found = {item.pair_id or item.id: item for item in open_set("public").items if item.language == "en"}
    return list(found.values())[:count]


@pytest.mark.slow
def test_people_take_the_benchmark_and_become_a_row(deadpan, site, tmp_path):
    some, items = tmp_path / "some.jsonl", unrelated(ITEMS)
    write_items(some, items)
    key = {item.id: item.answer for item in items}
    hard = sorted(key)[0]
    home = ("--home", site.home)
    made = deadpan(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "quiz",
        "--name",
        "q",
        some,
        "--raters",
        3,
        *home,
        "--json",
    )
    assert made.json["items"] == ITEMS, made.err
    from deadpan.studio.models import StoredStudy

    study = StoredStudy.objects.get()
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
    row = deadpan("bench", "people", "score", tmp_path / "out", "--set", some, "--out", tmp_path / "row", "--json")
    assert row.status == 0, row.err
    assert (row.json["model"], row.json["n"], row.json["runs"]) == ("human", ITEMS, 3)
    report = deadpan("studio", "status", "q", "--agreement", *home, "--json").json["report"]
    people = next(section for section in report if section["title"] == "Score of each person")
    shares = [share["value"] for _, share in people["rows"]]
    assert row.json["avg"]["value"] == pytest.approx(sum(shares) / 3)
    low = next(section for section in report if section["title"].startswith("Items on which fewer"))
    assert hard in [name for name, _ in low["rows"]]
    assert hard in {each["item"] for each in row.json["agreement"]["items"] if not each["kept"]}


@pytest.mark.slow
def test_an_answer_withdrawn_is_no_answer(deadpan, site, tmp_path):
    home = ("--home", site.home)
    some = tmp_path / "some.jsonl"
    write_items(some, unrelated(2))
    deadpan(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "quiz",
        "--name",
        "q",
        some,
        "--raters",
        1,
        *home,
    )
    from deadpan.studio.models import StoredStudy

    study = StoredStudy.objects.get()
    client = site.person(study, role="participant")
    site.answer_all(client, study, lambda item: {"answer": "A"})
    client.post("/s/q/undo")
    deadpan("studio", "export", "q", "--out", tmp_path / "out", *home)
    row = deadpan("bench", "people", "score", tmp_path / "out", "--set", some, "--out", tmp_path / "row", "--json")
    assert row.json["n"] == 1 and row.status == 1  # pending: one item has no answer


def scene(at: int, **extra) -> QuizItem:
    """A question whose keyed answer is A."""
    return QuizItem(
        f"q{at}",
        Turn("Ann", f"Perfect timing {at}."),
        (Turn("Ben", "The bus pulls away."),),
        options=tuple(f"meaning {letter} of {at}" for letter in "abcdef"),
        answer=0,
        **extra,
    )


def seen(site, client, study) -> set[str]:
    """The items a person was given, who answers everything."""
    site.answer_all(client, study, lambda item: {"answer": "A"})
    held = site.member_of(client, study).assignments.select_related("item")
    return {assignment.item.item_id for assignment in held}


def test_nobody_gets_both_twins_and_both_are_answered(site):
    twins = [scene(at, pair=f"p{at // 2}") for at in range(8)]
    study = site.make("quiz", twins, raters_per_item=1)
    first = seen(site, site.person(study, role="participant"), study)
    second = seen(site, site.person(study, role="participant"), study)
    for had in (first, second):
        assert sorted(int(name[1:]) // 2 for name in had) == [0, 1, 2, 3]
    assert first | second == {item.id for item in twins}


def test_people_get_items_in_the_language_they_read(site):
    both = [scene(at, language="ko" if at < 3 else "en") for at in range(6)]
    study = site.make("quiz", both, raters_per_item=2)
    korean = site.client()
    korean.post("/language", {"language": "ko", "next": "/"})
    korean = site.person(study, role="participant", client=korean)
    assert seen(site, korean, study) == {"q0", "q1", "q2"}
    assert seen(site, site.person(study, role="participant"), study) == {"q3", "q4", "q5"}


def test_a_study_in_one_language_is_for_everybody(site):
    study = site.make("quiz", [scene(at, language="en") for at in range(2)], raters_per_item=1)
    korean = site.client()
    korean.post("/language", {"language": "ko", "next": "/"})
    assert len(seen(site, site.person(study, role="participant", client=korean), study)) == 2


def test_the_set_and_its_hash_are_kept_and_exported(deadpan, site, tmp_path):
    import json

    from deadpan.studio.models import StoredStudy

    home = ("--home", site.home)
    deadpan(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "quiz",
        "public@0.3.0",
        "--limit",
        4,
        "--name",
        "q",
        *home,
    )
    chosen, study = open_set("public@0.3.0"), StoredStudy.objects.get()
    assert (study.settings["set"], study.settings["set_hash"]) == (chosen.label, chosen.hash)
    changed = deadpan("studio", "set", "q", "--setting", "set_hash=other", *home)
    assert changed.status == 2
    deadpan("studio", "export", "q", "--out", tmp_path / "out", *home)
    config = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["config"]
    assert (config["set"], config["set_hash"]) == (chosen.label, chosen.hash)
    # Answers to one set are never scored as answers to another, whatever its items are called.
    other = tmp_path / "other.jsonl"
    write_items(other, chosen.items[:4])
    for more in ((), ("--keep", tmp_path / "kept.jsonl")):
        words = ("people", "score", tmp_path / "out", "--set", other, "--out", tmp_path / "row", *more)
        refused = deadpan("bench", *words)
        assert refused.status == 2 and len(refused.err.splitlines()) == 1, refused.err
        assert "answers public@0.3.0" in refused.err


def test_scores_have_intervals_over_people_and_items(site):
    study = site.make("quiz", [scene(at) for at in range(6)], raters_per_item=3)
    assert study_results(study).report[-1].title == "Score of all"  # nobody has answered: no error
    for wrong in range(3):
        missed = {f"q{at}" for at in range(wrong)}
        client = site.person(study, role="participant")
        site.answer_all(client, study, lambda item, missed=missed: {"answer": "B" if item in missed else "A"})
    people, items = (row[1] for row in study_results(study).report[-1].table.rows)
    assert people.value == items.value == pytest.approx(15 / 18)
    for interval in (people, items):
        assert 0 < interval.low < interval.value < interval.high <= 1
    assert (people.n, items.n) == (3, 6)


def test_turns_after_the_remark_stand_after_it(site):
    turns = (Turn("Ben", "So you liked it?"), Turn("Ann", "Ask me <later>."))
    study = site.make("quiz", [scene(0, after=turns)], raters_per_item=1)
    client = site.person(study, role="participant")
    page = client.get(site.open_item(client, study)).content.decode()
    parts = ("The bus pulls away", "Perfect timing 0", "So you liked it?", "Ask me &lt;later&gt;.", "meaning a of 0")
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    sides = re.findall(r'<div class="turn (\w+)( response)?">', page)
    assert sides == [("left", ""), ("right", " response"), ("left", ""), ("right", "")]


def test_a_set_with_turns_after_the_remark_keeps_them(site, tmp_path):
    from dataclasses import replace

    from deadpan.bench.people import write_quiz
    from deadpan.formats.study import read_study
    from deadpan.studio.protocols import PROTOCOLS

    turn = Turn("Ben", "So you liked it?")
    item = replace(open_set("public").items[0], after=(turn,))
    assert PROTOCOLS.load("quiz")().item_from(item).after == (turn,)
    write_items(tmp_path / "set.jsonl", [item])
    write_quiz(tmp_path / "set.jsonl", tmp_path / "quiz")
    _, (asked,) = read_study(tmp_path / "quiz")
    assert asked.after == (turn,) and asked.question == item.question


def test_twins_take_twice_the_people_and_the_row_is_complete(deadpan, site, tmp_path):
    from deadpan.studio.models import StoredStudy

    home, some = ("--home", site.home), tmp_path / "some.jsonl"
    english = [item for item in open_set("public").items if item.language == "en" and item.pair_id]
    pair = [item for item in english if item.pair_id == english[0].pair_id]
    assert len(pair) == 2
    write_items(some, pair)
    deadpan(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "quiz",
        "--name",
        "q",
        some,
        "--raters",
        2,
        *home,
    )
    study, key = StoredStudy.objects.get(), {item.id: LETTERS[item.answer] for item in pair}
    for _ in range(4):
        client = site.person(study, role="participant")
        assert site.answer_all(client, study, lambda item: {"answer": key[item]}) == 1
    deadpan("studio", "export", "q", "--out", tmp_path / "out", *home)
    row = deadpan("bench", "people", "score", tmp_path / "out", "--set", some, "--out", tmp_path / "row", "--json")
    assert row.status == 0, row.err + row.out
    assert (row.json["n"], row.json["avg"]["value"]) == (2, 1.0)
