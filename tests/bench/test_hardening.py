"""The hardening loop: each kind of finding moves a draft, and a small panel decides nothing."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from bench_items import make_item, off_by, right, run_scripted, says
from deadpan.bench import DEFAULT_SET
from deadpan.bench.hardening import harden_set, recorded_on
from deadpan.bench.items.item import CHECKS, LETTERS, write_items
from deadpan.bench.items.sets import make_set, open_set
from deadpan.bench.runs.folder import find_runs
from deadpan.errors import DeadpanError
from deadpan.storage import read_manifest


def drafts(pairs=8, **bad):
    """Drafts; `bad` are changes of the first item."""
    items = [make_item(number, twin) for number in range(pairs) for twin in (0, 1)]
    items[0] = make_item(0, 0, **bad)
    return make_set("drafts", "private", items)


def knows(share, seed=0):
    """A model that is right on a share of the items, the same in every run; the easy ones first."""

    def answer(question, limit, before):
        number = int(question.item.id[1:].split("-")[0])
        known = number < share
        return right(question) if known else says((question.item.answer + 1) % 6, question)

    return answer


def write_answers(path, items, people, wrong):
    """People's answers as a CSV; `wrong` gives another option for (item, person)."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "answer"])
        for item in items.items:
            for n in range(people):
                place = (item.answer + wrong(item.id, n)) % 6
                writer.writerow([item.id, f"p{n}", LETTERS[place]])
    return path


def states(result):
    return {each.item: each.state for each in result.verdicts}


def reasons(result, item):
    return "; ".join(next(each.reasons for each in result.verdicts if each.item == item))


def test_findings_and_people_decide_with_reasons(tmp_path):
    items = drafts(checks={**dict.fromkeys(CHECKS, True), "safe": False})

    def wrong(item, n):
        if item == "i1-0":  # nearly all choose one other option
            return 2 if n else 0
        if item == "i2-0":  # everybody chooses another
            return n + 1
        return int(item == "i3-0" and n < 2)  # 3 of 5 are right

    answers = write_answers(tmp_path / "answers.csv", items, 5, wrong)
    result = harden_set(items, answers=answers, out=tmp_path / "out")
    found = states(result)
    assert found["i0-0"] == "revise"
    assert "safe" in reasons(result, "i0-0")
    assert found["i1-0"] == "revise"
    assert "check the key" in reasons(result, "i1-0")
    assert found["i2-0"] == "dropped"
    assert found["i3-0"] == "revise"
    assert found["i4-0"] == found["i4-1"] == "kept"
    kept = open_set(tmp_path / "out" / "kept.jsonl")
    assert {item.id for item in kept.items} == {id for id, state in found.items() if state == "kept"}
    assert next(item for item in kept.items if item.id == "i2-1").pair_id == ""
    stored = json.loads((tmp_path / "out" / "hardening.json").read_text())
    assert stored["counts"] == result.counts == read_manifest(tmp_path / "out").counts
    assert "i2-0" in (tmp_path / "out" / "index.html").read_text()


def test_a_small_panel_is_said_to_show_nothing(tmp_path):
    items = drafts()
    for n, share in enumerate((2, 4, 6)):
        run_scripted(tmp_path / "runs", f"openai/m{n}", knows(share), items, runs=2)
    result = harden_set(items, [tmp_path / "runs"], out=tmp_path / "out")
    text = result.summary().text()
    assert "shows nothing about discrimination (3 models and people" in " ".join(text.split())
    assert "No person has answered" in text
    # Items 0 and 1 are right in every model: that much a small panel can say.
    assert states(result)["i0-0"] == "dropped"
    assert "too easy" in reasons(result, "i1-1")
    assert states(result)["i5-0"] == "kept"
    assert all(each.parameters.learned_discrimination < 0.5 for each in result.verdicts)
    assert result.obstacles


def test_a_large_panel_finds_the_item_with_a_wrong_key(tmp_path):
    items, rng = drafts(12), np.random.default_rng(1)
    skill = rng.normal(0, 1.2, 60)
    hard = dict(zip((item.id for item in items.items), np.tile(np.linspace(-1.5, 1.5, 12), 2), strict=True))
    draw = {(item, n): rng.random() for item in hard for n in range(60)}

    def wrong(item, n):
        p = 1 / (1 + np.exp(-2 * (skill[n] - hard[item])))
        correct = draw[item, n] < p
        return int(correct if item == "i5-0" else not correct)

    answers = write_answers(tmp_path / "answers.csv", items, 60, wrong)
    result = harden_set(items, answers=answers, out=tmp_path / "out")
    assert result.panel.shows_nothing == ""
    assert "better respondents miss it more often" in reasons(result, "i5-0")
    assert not any("better respondents" in reasons(result, each) for each in hard if each != "i5-0")
    fitted = {each.item: each.parameters for each in result.verdicts}
    assert fitted["i5-0"].discrimination.value == min(each.discrimination.value for each in fitted.values())


def test_runs_of_other_items_and_used_folders_are_one_line(tmp_path):
    run_scripted(tmp_path / "runs", "openai/m", off_by(1), drafts(4), runs=1)
    with pytest.raises(DeadpanError, match="not these drafts"):
        harden_set(drafts(), [tmp_path / "runs"], out=tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(DeadpanError, match="choose another --out"):
        harden_set(drafts(), out=tmp_path / "full")


def test_the_recorded_runs_are_the_panel_of_the_set_they_answered():
    recorded = {run.plan.model for run in recorded_on(open_set(DEFAULT_SET))}
    assert recorded >= {"baseline/random", "baseline/longest"}
    assert recorded_on(open_set("public@0.3.0")) == []
    assert recorded_on(drafts()) == []


def test_models_are_asked_first_and_an_interrupted_panel_is_resumed(tmp_path, monkeypatch):
    items = drafts(4)

    def stopped(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("deadpan.bench.hardening.gather_panel", stopped)
        with pytest.raises(KeyboardInterrupt):
            harden_set(items, models=["baseline/random", "baseline/first"], out=tmp_path / "out")
    result = harden_set(items, models=["baseline/random", "baseline/first"], out=tmp_path / "out")
    assert {each.name for each in result.panel.panelists} == {"baseline/random", "baseline/first"}
    assert not result.recorded
    assert len(find_runs([tmp_path / "out" / "panel"])) == 2


def test_the_command_exits_with_one_while_nothing_may_be_released(deadpan, tmp_path):
    write_items(tmp_path / "drafts.jsonl", drafts(4).items)
    ran = deadpan("bench", "harden", tmp_path / "drafts.jsonl", "--out", tmp_path / "out", "--json")
    assert ran.status == 1
    assert ran.json["panel_shows_nothing"] == "nobody has answered the drafts"
    assert ran.json["releasable"] is False


def test_a_folder_with_somebody_elses_panel_is_not_written_to(tmp_path):
    mine = tmp_path / "out"
    (mine / "panel").mkdir(parents=True)
    (mine / "manifest.json").write_text("mine")
    with pytest.raises(DeadpanError, match="not empty and not a report of drafts"):
        harden_set(drafts(2), out=mine)
    assert (mine / "manifest.json").read_text() == "mine"
