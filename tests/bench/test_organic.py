"""The organic track: pairs of real replies as items, asked by the same runner."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from importlib.resources import files

import pytest

from deadpan import Detector
from deadpan.bench import organic
from deadpan.bench.organic import organic_set, run_organic, usable_pairs
from deadpan.bench.site.write import write_leaderboard
from deadpan.errors import DeadpanError
from deadpan.logs import read_logs
from deadpan.records import Example, Prediction, Turn
from deadpan.validation import encode


def pairs(n: int = 30) -> list[Example]:
    rows = []
    for i in range(n):
        shared = {
            "context": (Turn("", f"the council votes on road number {i} tonight"),),
            "sequence": f"s{i}",
            "group": f"s{i}",
        }
        rows.append(Example(f"y{i}", Turn("", f"oh splendid, another road to nowhere {i}"), label=True, **shared))
        rows.append(Example(f"n{i}", Turn("", f"the last one took four years to build {i}"), label=False, **shared))
    return rows


def test_a_pair_becomes_an_item_with_two_options():
    items = organic_set(pairs(), pairs=30).items
    assert len(items) == 30
    assert {item.answer for item in items} == {0, 1}
    for item in items:
        assert item.options[item.answer].startswith("oh splendid")
        assert len(item.options) == 2


def test_the_package_holds_ids_and_hashes_only():
    table = files("deadpan.bench").joinpath("organic_pairs.csv").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    assert len(rows) == 400
    assert set(rows[0]) == {"sarcastic", "sincere", "sha256"}
    assert all(" " not in value for row in rows for value in row.values())


def test_torn_short_and_contextless_pairs_are_left_out():
    rows = pairs(4)
    rows[1] = replace(rows[1], label=True)
    rows[2] = replace(rows[2], response=Turn("", "sure"))
    rows[4], rows[5] = (replace(row, context=()) for row in rows[4:6])
    assert [yes.id for yes, _ in usable_pairs(rows)] == ["y3"]


def test_models_are_asked_and_scored_against_one_half(tmp_path):
    result = run_organic(pairs(), ["baseline/random", "baseline/longest"], out=tmp_path, pairs=30)
    by_model = {scores.model: scores for scores in result.scores}
    assert by_model["baseline/random"].chance == 0.5
    assert by_model["baseline/random"].avg.low < 0.5 < by_model["baseline/random"].avg.high
    assert "chance 0.500" in result.summary().text()
    [log] = read_logs(next(path for path in tmp_path.iterdir() if "random" in path.name))
    assert len(log.items) == 30


def test_the_board_draws_chance_where_two_options_put_it(tmp_path):
    run_organic(pairs(), ["baseline/random", "baseline/longest"], out=tmp_path / "runs", pairs=30)
    write_leaderboard([tmp_path / "runs"], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert "one of two options" in page
    assert '<td class="n" data-v="0.5"><b>0.500</b>' in page
    assert "chance is 1 in 4" in page
    # The dashed line of every interval is in the middle of its scale (176 wide).
    marks = re.findall(r'class="chance" x1="([0-9.]+)" x2="([0-9.]+)" y1="1"', page)
    assert set(marks) == {("88.0", "88.0")}
    assert "0.167" not in page


def test_a_corpus_without_pairs_is_one_line():
    with pytest.raises(DeadpanError, match="no pair of a sarcastic and a sincere reply"):
        organic_set([replace(row, sequence="") for row in pairs()])


class Splendid:
    """A detector that knows one word, and cannot decide about every tenth comment."""

    seen_ = None

    def predict(self, examples):
        undecided = [example.context[-1].text.split()[6].endswith("0") for example in examples]
        scores = [
            0.5 if torn else float("splendid" in example.response.text)
            for example, torn in zip(examples, undecided, strict=True)
        ]
        return [Prediction(e.id, None, score, "") for e, score in zip(examples, scores, strict=True)]


def test_a_detector_chooses_the_reply_that_it_scores_higher(tmp_path):
    detectors = {"one-word": Splendid()}
    result = run_organic(pairs(), detectors=detectors, out=tmp_path, pairs=30, runs=2)
    [scores] = result.scores
    assert scores.model == "baseline/detector-one-word"
    assert scores.avg.value == 27 / 30  # numbers 0, 10 and 20 have equal scores, which is no answer
    assert sum(row.unread for row in result.runs[0].rows) == 6
    both = run_organic(pairs(), "baseline/first", detectors=detectors, out=tmp_path, pairs=30, runs=2)
    assert {each.model for each in both.scores} == {"baseline/first", "baseline/detector-one-word"}


def test_a_detector_that_was_trained_on_the_replies_is_refused(tmp_path):
    trained = Detector("bow").fit(pairs())
    with pytest.raises(DeadpanError, match="mine was trained on 60 of the 60 replies"):
        run_organic(pairs(), detectors={"mine": trained}, out=tmp_path, pairs=30)
    with pytest.raises(DeadpanError, match="detectors must be a mapping"):
        run_organic(pairs(), detectors=[trained], out=tmp_path, pairs=30)


def test_two_detectors_of_one_name_are_refused(deadpan, tmp_path):
    for place in ("a", "b"):
        Detector("bow").fit(["Oh great.", "It rains."], [True, False]).save(tmp_path / place / "mine")
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(encode(example)) + "\n" for example in pairs(8)))
    ran = deadpan("bench", "organic", tmp_path / "pairs.jsonl", "--detector", tmp_path / "a" / "mine",
                  "--detector", tmp_path / "b" / "mine", "--out", tmp_path / "out")  # fmt: skip
    assert ran.status == 2
    assert "two detectors have folders of the same name" in ran.err
    assert not (tmp_path / "out").exists()


def test_the_command_takes_the_detector_that_comes_with_the_package(deadpan, tmp_path):
    rows = "".join(json.dumps(encode(example)) + "\n" for example in pairs(8))
    (tmp_path / "pairs.jsonl").write_text(rows)
    ran = deadpan("bench", "organic", tmp_path / "pairs.jsonl", "--detector", "base", "--limit", "8",
                  "--out", tmp_path / "out", "--json")  # fmt: skip
    assert ran.status == 0
    assert [each["model"] for each in ran.json["runs"]] == ["baseline/detector-base"]


def test_a_part_of_the_published_pairs_is_not_the_whole_track(tmp_path, monkeypatch):
    monkeypatch.setattr(organic, "_published", list)
    result = run_organic(iter(pairs()), "baseline/first", out=tmp_path, pairs=10)
    assert result.partial and not result.scores[0].whole_set
    assert (len(result.runs[0].plan.items), result.runs[0].plan.set_size) == (10, 30)
    assert "Runs on part of a set are not on a leaderboard" in str(result)
    whole = run_organic(pairs(), "baseline/first", out=tmp_path / "whole")
    assert whole.scores[0].whole_set and whole.runs[0].plan.set_hash == result.runs[0].plan.set_hash


def test_fewer_pairs_than_a_corpus_has_are_a_part_of_the_track(tmp_path):
    some = run_organic(pairs(30), ["baseline/random"], out=tmp_path / "some", pairs=10)
    everything = run_organic(pairs(30), ["baseline/random"], out=tmp_path / "all")
    assert [(result.scores[0].whole_set, result.scores[0].n) for result in (some, everything)] == [
        (False, 10),
        (True, 30),
    ]
    assert some.scores[0].set_hash == everything.scores[0].set_hash
