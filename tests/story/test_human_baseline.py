"""A set becomes a quiz, people take it in the studio, and their answers become a row of the leaderboard."""

from __future__ import annotations

import html
import json
import re

import pytest

from story.visitor import Person, Program, Screen, served_studio

pytestmark = pytest.mark.slow
PAIRS, PEOPLE, RATERS = 2, 8, 2
"""Pairs per language; a person reads one language and gets one item of each pair, so every item two people."""
ITEMS = 4 * PAIRS


@pytest.fixture
def program(tmp_path) -> Program:
    return Program(tmp_path, apart=True)


@pytest.fixture
def items(program) -> list[dict]:
    """A set of one's own from the public one's export: pairs in two languages, told apart by their first words."""
    program("bench", "export", "public", "--out", "exported")
    [file] = (program.folder / "exported" / "hf").glob("public-*.jsonl")
    pairs: dict[str, dict[str, list[str]]] = {"en": {}, "ko": {}}
    for line in file.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        pairs[item["language"]].setdefault(item["pair_id"] or item["id"], []).append(line)
    lines = []
    for families in pairs.values():
        told = [each for each in families.values() if len({json.loads(x)["context"][0]["text"] for x in each}) == 2]
        lines += [line for pair in told[:PAIRS] for line in pair]
    (program.folder / "public-small.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [json.loads(line) for line in lines]


def shown_item(screen: Screen, items: list[dict]) -> dict:
    """The item on a screen: both of a pair have the same remark, so the scene tells."""
    page = " ".join(screen.page.split())
    [item] = [item for item in items if " ".join(item["context"][0]["text"].split()) in page]
    return item


def answer(screen: Screen, items: list[dict], missed: list[str]) -> str:
    """The letter of the keyed option, wherever it stands on the screen; another one for the first item of all."""
    item = shown_item(screen, items)
    wrong = not missed
    if wrong:
        missed.append(item["id"])
    place = (item["answer"] + wrong) % 6
    labels = [" ".join(label.split()) for label in screen.labels["answer"]]
    return screen.choices["answer"][labels.index(" ".join(item["options"][place].split()))]


def test_people_become_a_row_of_the_leaderboard(program, items):
    made = program.json("bench", "people", "study", "public-small.jsonl", "--out", "quiz", "--raters", RATERS)
    assert (made["items"], made["raters"]) == (ITEMS, RATERS)
    program("studio", "create", "--open", "--setting", "contact=lab@example.org", "quiz", "quiz", "--name", "people")
    invited = program.json("studio", "invite", "people", "--role", "participant", "--uses", PEOPLE)
    missed: list[str] = []
    with served_studio(program) as site:
        for number in range(PEOPLE):
            person = Person(site, "people", invited["link"], ("en", "ko")[number % 2])
            assert person.answer_all(lambda screen, _: answer(screen, items, missed)) == PAIRS
    program("studio", "export", "people", "--out", "answers")
    pair_of = {item["id"]: item["pair_id"] for item in items}
    lines = (program.folder / "answers" / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    given = [json.loads(line) for line in lines]
    seen = [(each["annotator"], pair_of[each["item_id"]]) for each in given if each["question"] == "answer"]
    assert len(seen) == len(set(seen)) == PEOPLE * PAIRS, "nobody gets both of a pair"

    program("bench", "run", "--set", "public-small.jsonl", "--llm", "baseline/first", "--runs", 2)
    row = program.json(
        "bench",
        "people",
        "score",
        "answers",
        "--set",
        "public-small.jsonl",
        "--out",
        "runs/human",
        "--min-raters",
        RATERS,
    )
    right = 1 - 1 / (RATERS * ITEMS)
    assert (row["kind"], row["n"], row["runs"]) == ("human", ITEMS, PEOPLE)
    assert row["avg"]["value"] == pytest.approx(right)
    assert row["avg"]["low"] < right
    assert set(row["languages"]) == {"en", "ko"}
    assert row["people"]["flagged"] == missed, "one of two people chose another option"
    assert (row["complete"], row["drops"]) == (True, {})

    scores = {each["kind"]: each for each in program.json("bench", "score", "runs")["scores"]}
    assert set(scores) == {"human", "baseline"}
    assert scores["human"]["avg"]["value"] == pytest.approx(right)
    assert scores["human"]["avg"]["low"] < right

    written = program.json("bench", "site", "runs", "--set", "public-small.jsonl", "--out", "site")
    assert (written["human"], written["excluded"]) == (True, [])
    page = html.unescape((program.folder / "site" / "index.html").read_text(encoding="utf-8"))
    human_row = next(line for line in page.splitlines() if "<b>People</b>" in line)
    assert re.search(r"8 people, 2 per item.*<b>0\.94</b>", human_row), human_row
    assert "pending" not in page
    item_page = (program.folder / "site" / "items" / f"{missed[0]}.html").read_text(encoding="utf-8")
    assert "<td class='n'>0.500</td>" in item_page
    assert "fewer than 70 % of people chose the key" in item_page

    assert row["agreement"]["kept"] == ITEMS - 1
