"""Votes of people beside what authors meant."""

from __future__ import annotations

import pytest

from deadpan.errors import DeadpanError
from deadpan.ratings.votes import heard, intended, perceive, read_votes, with_votes
from deadpan.records import Example, Label, Turn
from deadpan.stats import wilson
from deadpan.storage import write_records


def texts(n: int = 60) -> list[Example]:
    """Authors are heard by four of five where they are sarcastic, and by one of five otherwise."""
    return [
        Example(
            str(i),
            Turn("", f"text {i}"),
            label=i % 2 == 0,
            label_kind="author",
            meta={"votes": 4 if i % 2 == 0 else 1, "voters": 5},
        )
        for i in range(n)
    ]


def test_what_was_meant_is_heard():
    found = perceive(texts())
    assert found.heard["sarcastically"].value == pytest.approx(0.8)
    assert found.majority["sincerely"].value == 0
    assert found.by_votes[4].value == 1.0
    assert found.by_votes[1].value == 0.0
    assert "hear sarcasm" in found.summary().text()
    assert "<svg" in found.figure().svg()


def test_nothing_is_heard_where_votes_are_random():
    rows = [
        Example(str(i), Turn("", "t"), label=i % 2 == 0, label_kind="author", meta={"votes": (i // 2) % 6, "voters": 5})
        for i in range(120)
    ]
    found = perceive(rows)
    assert found.heard["sarcastically"].value == pytest.approx(found.heard["sincerely"].value)
    assert all(share.low < 0.5 < share.high for share in found.by_votes.values())


def test_votes_of_a_study_are_added_and_the_label_stays_the_authors(tmp_path):
    rows = [Example("a", Turn("", "x"), label=True, label_kind="author"), Example("b", Turn("", "y"), label=False)]
    labels = [Label("a", "sarcastic", "yes", {"yes": 0.6, "no": 0.4}, 5, "majority")]
    write_records(tmp_path / "labels.jsonl", labels, Label)
    one, other = read_votes(rows, tmp_path)
    assert (heard(one).votes, heard(one).voters, one.label) == (3, 5, True)
    assert heard(other) is None


def told(n: int, votes: int, voters: int, meant: bool) -> list[Example]:
    meta = {"votes": votes, "voters": voters}
    return [
        Example(f"{meant}{votes}/{i}", Turn("", "t"), label=meant, label_kind="author", meta=meta) for i in range(n)
    ]


def test_half_of_the_people_are_no_majority():
    found = perceive([*told(4, 2, 4, True), *told(1, 3, 4, True), *told(3, 3, 4, False), *told(2, 0, 4, False)])
    assert found.majority["sarcastically"].value == pytest.approx(1 / 5)
    assert found.majority["sincerely"].value == pytest.approx(3 / 5)
    assert (found.loud.value, found.loud.n) == (pytest.approx(1 / 4), 4)
    assert {votes: share.n for votes, share in found.by_votes.items()} == {0: 2, 2: 4, 3: 4}
    assert "25 % [5, 70]" in found.figure().title


def test_votes_of_everybody_and_of_nobody_count():
    found = perceive([*told(3, 4, 4, True), *told(2, 0, 4, False)])
    assert list(found.by_votes) == [0, 4]
    quiet = perceive([*told(3, 1, 4, True), *told(2, 0, 4, False)])
    assert quiet.loud.value is None and "no sarcasm in any of these" in quiet.figure().title


def test_the_intervals_are_those_of_seed_0():
    rows = [one for votes in range(6) for one in told(2, votes, 5, True)]
    assert perceive(rows).heard == perceive(rows, seed=0).heard != perceive(rows, seed=1).heard


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="both votes and the author's own label"):
        perceive([Example("a", Turn("", "x"))])
    with pytest.raises(DeadpanError, match="no label is about any"):
        with_votes([Example("a", Turn("", "x"))], [])


def test_answers_that_are_neither_yes_nor_no_are_no_votes():
    rows = [Example(name, Turn("", "x")) for name in "abc"]
    labels = [
        Label("a", "q", None, {"yes": 0.4, "no": 0.4, "unsure": 0.2}, 10, "majority: tie"),
        Label("b", "q", "unsure", {"unsure": 1.0}, 5, "majority"),
        Label("c", "q", "yes", {"yes": 1.0}, 0, "majority"),
    ]
    some, unsure, nobody = with_votes(rows, labels)
    assert (heard(some).votes, heard(some).voters) == (4, 8)
    assert heard(unsure) is None and heard(nobody) is None
    with pytest.raises(DeadpanError, match="no label is about any"):
        with_votes(rows, labels[1:])


def test_the_author_is_asked_before_the_label():
    def example(ref, label=None, kind="perceived"):
        return Example("a", Turn("", "x"), label=label, label_kind=kind, meta={"sarcasm_ref": ref})

    assert intended(example(1, False)) is True
    assert intended(example(0, True)) is False
    assert intended(example(None, True, "author")) is True
    assert intended(example("unknown", True)) is None


def test_votes_that_are_all_the_same_have_an_interval_within_0_and_1():
    found = perceive(texts()).heard["sarcastically"]
    share = wilson(0, 30).high
    assert (found.low, found.high) == pytest.approx((0.8 - 0.8 * share, 0.8 + 0.2 * share))


def test_sarcasm_that_only_others_hear_is_0_percent():
    found = perceive([*told(3, 3, 4, False), *told(2, 0, 4, True)])
    assert "0 % [0, 56] were meant so" in found.figure().title
