"""The organic track: real threads as an ordinary set, restored from ids and hashes."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from deadpan import Detector
from deadpan.bench import run_bench
from deadpan.bench.items.check import validate_set
from deadpan.bench.items.sets import open_set
from deadpan.bench.organic import detector_answers, fill_organic, make_organic, sequences_of
from deadpan.bench.people import write_quiz
from deadpan.bench.scores.report import score_bench
from deadpan.errors import DeadpanError
from deadpan.formats.sarc import SarcComment, SarcSequence
from deadpan.records import Example, Prediction, Turn

MAY, JULY = 1_778_000_000, 1_783_500_000


def threads(n: int = 60, replies: int = 9, when: int = JULY) -> list[SarcSequence]:
    """Threads whose marked reply says splendid; scores and lengths vary."""
    found = []
    for i in range(n):
        above = (SarcComment(f"p{i}", "ann", f"the council votes on road number {i} tonight", 5, when - 99),)
        said = [
            SarcComment(
                f"r{i}x{k}", f"user{(i + k) % 7}",
                ("oh splendid, another road " if k == 0 else "the last one took years ") + "to build there " * ((i + 3 * k) % 5) + f"{i} {k}",
                (i * 7 + k * 5) % 11, when + k, k == 0,
            )
            for k in range(replies)
        ]  # fmt: skip
        found.append(SarcSequence(f"p{i}", "roads", "", above, tuple(said)))
    return found


def test_a_set_has_six_real_replies_one_of_them_marked_and_gives_nothing_away(tmp_path):
    made = make_organic(threads(), tmp_path / "set.jsonl", limit=60)
    opened = open_set(tmp_path / "set.jsonl")
    assert (opened.label, opened.public, opened.hash) == ("organic-own@2026.7.0", False, made.set.hash)
    assert all(item.options[item.answer].startswith("oh splendid") and len(item.options) == 6 for item in opened.items)
    assert validate_set(opened).passed
    probes = {probe.name: probe.accuracy for probe in made.audit.probes} | dict(made.scores)
    for name in ("longest option", "shortest option", "highest score", "lowest score"):
        assert probes[name].low <= 1 / 6 <= probes[name].high, name
    assert "always F" in probes
    assert made.audit.chance == pytest.approx(1 / 6)


def test_draws_depend_on_ids_and_not_on_order(tmp_path):
    one = make_organic(threads(), tmp_path / "a.jsonl", limit=20)
    other = make_organic(threads()[::-1], tmp_path / "b.jsonl", limit=20)
    assert one.set.hash == other.set.hash


def test_deleted_and_earlier_replies_are_left_out(tmp_path):
    first, second, *rest = threads(20, replies=4)
    gone = replace(first.replies[0], text="[deleted]")
    torn = replace(first, replies=(gone, *first.replies[1:]))
    twice = replace(second, replies=(*second.replies[:-1], replace(second.replies[-1], label=True)))
    made = make_organic([torn, twice, *rest, *threads(5, 4, MAY)], tmp_path / "s.jsonl", options=4, after="2026-06")
    assert made.tally.drops["not_one_marked_reply"] == 2 + 5
    assert not {item.id for item in made.set.items} & {"r0x0", "r1x0"}


def test_history_shows_what_an_author_wrote_before(tmp_path):
    sequences = [*threads(10, 4, MAY), *[replace(one, id=f"q{one.id}") for one in threads(10, 4)]]
    made = make_organic(sequences, tmp_path / "s.jsonl", options=2, history=True, after="2026-06")
    assert made.set.name == "organic-own-history"
    assert any("[earlier by the same author: " in option for item in made.set.items for option in item.options)
    again = fill_organic(tmp_path / "s.ids.csv", sequences, tmp_path / "t.jsonl")
    assert again.set.hash == made.set.hash


def test_ids_restore_the_set_and_a_changed_text_is_found(tmp_path):
    sequences = threads(30)
    made = make_organic(sequences, tmp_path / "s.jsonl", limit=12)
    rows = list(csv.DictReader((tmp_path / "s.ids.csv").read_text().splitlines()))
    assert not any("road" in value for row in rows for value in row.values())
    filled = fill_organic(tmp_path / "s.ids.csv", sequences[::-1], tmp_path / "t.jsonl")
    assert filled.set.hash == made.set.hash
    assert (tmp_path / "s.jsonl").read_bytes() == (tmp_path / "t.jsonl").read_bytes()
    changed = [
        replace(one, replies=tuple(replace(r, text=r.text + " edited") for r in one.replies)) for one in sequences
    ]
    with pytest.raises(DeadpanError, match=f"item {rows[0]['item']} has another text"):
        fill_organic(tmp_path / "s.ids.csv", changed, tmp_path / "u.jsonl")
    with pytest.raises(DeadpanError, match="is not in the corpus"):
        fill_organic(tmp_path / "s.ids.csv", [], tmp_path / "u.jsonl")
    (tmp_path / "cut.ids.csv").write_text("item,set\nx")
    with pytest.raises(DeadpanError, match="not the ids of an organic set"):
        fill_organic(tmp_path / "cut.ids.csv", sequences, tmp_path / "u.jsonl")


@pytest.mark.parametrize(
    ("sequences", "options", "said"),
    [
        ([], 6, "no sequences in it"),
        (threads(3, 4), 6, "the longest has 4 replies: give fewer --options"),
        ([replace(one, replies=tuple(replace(r, label=False) for r in one.replies)) for one in threads(3)], 6,
         "none of 3 threads has a reply that its author marked"),
    ],
)  # fmt: skip
def test_a_corpus_that_cannot_be_asked_about_is_one_line(tmp_path, sequences, options, said):
    with pytest.raises(DeadpanError, match=said):
        make_organic(sequences, tmp_path / "s.jsonl", options=options)
    with pytest.raises(DeadpanError, match="give a month"):
        make_organic(threads(3), tmp_path / "s.jsonl", after="June")


def pairs(n: int = 30) -> list[Example]:
    rows = []
    for i in range(n):
        shared = {"context": (Turn("", f"the council votes on road number {i} tonight"),), "sequence": f"s{i}"}
        rows.append(Example(f"y{i}", Turn("", f"oh splendid, another road to nowhere {i}"), label=True, **shared))
        more = " and more" * (i % 2 * 3)
        rows.append(Example(f"n{i}", Turn("", f"the last one took years to build{more} {i}"), label=False, **shared))
    return rows


class Splendid:
    """A detector that knows one word."""

    seen_ = None

    def predict(self, examples):
        return [Prediction(e.id, None, float("splendid" in e.response.text), "") for e in examples]


def test_published_pairs_have_two_options_and_are_run_like_any_set(tmp_path):
    made = make_organic(sequences_of(pairs()), tmp_path / "s.jsonl", options=2, source="sarc-main")
    chosen = detector_answers(made.set, {"one-word": Splendid()})
    result = run_bench(["baseline/random", *chosen], made.set, runs=2, out=tmp_path / "runs", answerers=chosen)
    by_model = {scores.model: scores for scores in result.scores}
    assert by_model["baseline/random"].chance == 0.5
    assert by_model["baseline/detector-one-word"].avg.value == 1.0
    assert "organic reply" in str(score_bench(tmp_path / "runs"))
    assert write_quiz(tmp_path / "s.jsonl", tmp_path / "quiz", raters=3).items == len(made.set.items)
    trained = Detector("bow").fit(pairs())
    with pytest.raises(DeadpanError, match=r"mine was trained on \d+ of the \d+ replies"):
        detector_answers(made.set, {"mine": trained})
    with pytest.raises(DeadpanError, match="no organic set"):
        detector_answers(open_set("public"), {"mine": trained})


def test_two_months_are_compared_with_an_interval(tmp_path):
    for name, when in (("may", MAY), ("july", JULY)):
        made = make_organic(threads(60, 6, when), tmp_path / f"{name}.jsonl")
        run_bench(["baseline/random", "baseline/first"], made.set, runs=2, out=tmp_path / name)
    result = score_bench([tmp_path / "may", tmp_path / "july"])
    [first, _] = result.as_dict()["months"]
    assert (first["earlier"], first["later"]) == ("organic-own@2026.5.0", "organic-own@2026.7.0")
    assert first["difference"]["low"] < 0 < first["difference"]["high"]
    assert "not significantly" in str(result)
