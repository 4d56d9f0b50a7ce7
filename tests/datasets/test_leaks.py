"""The leak report on small corpora with planted leaks."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.datasets import read_dataset
from deadpan.datasets.leaks import LeakReport, find_leaks
from deadpan.errors import ConfigError
from deadpan.probes import column_warnings
from deadpan.records import Example, Turn

LONG = "another monday morning and the train is late once more what a wonderful start of the week"


def example(id: str, text: str, label: bool | None = None, **fields: Any) -> Example:
    return Example(id, Turn(fields.pop("speaker", ""), text), label=label, **fields)


def strangers(n: int, seed: int = 0, **fields: Any) -> list[Example]:
    """Sentences that have nothing in common, half of them sarcastic."""
    draw = random.Random(seed)
    texts = [
        " ".join("".join(draw.choices("bcdfghklmnprst", k=6)) for _ in range(draw.randint(6, 12))) for _ in range(n)
    ]
    return [example(f"{seed}-{at}", text, at % 2 == 0, **fields) for at, text in enumerate(texts)]


def moved(examples: list[Example], split: str) -> list[Example]:
    return [replace(e, id=f"{e.id}-{split}", split=split) for e in examples]  # type: ignore[arg-type]


def said(report: LeakReport) -> str:
    return "\n".join(report.findings)


def test_test_rows_in_train_are_impossible_to_miss() -> None:
    train = strangers(100, 1, split="train")
    test = moved(train[:30], "test") + strangers(20, 2, split="test")
    report = find_leaks({"leaky": train + test})
    (overlap,) = report.corpora[0].overlaps
    assert (overlap.left.name, overlap.left.identical, overlap.left.n) == ("leaky/train", 30, 100)
    assert (overlap.right.identical, overlap.right.n, overlap.right.share) == (30, 50, 0.6)
    assert report.findings[0] == (
        "30 of 50 texts of leaky/test are identical to texts in leaky/train: scores on this split cannot be trusted"
    )
    assert overlap.pairs[0].left_text == overlap.pairs[0].right_text


@given(st.integers(0, 1_000))
@settings(max_examples=15, deadline=None)
def test_planted_near_duplicates_are_found_and_strangers_are_not(seed: int) -> None:
    train = strangers(40, seed, split="train")
    edited = [replace(e, response=Turn("", e.response.text + " lol")) for e in train[:5]]
    test = moved(edited, "test") + strangers(40, seed + 5_000, split="test")
    (overlap,) = find_leaks({"c": train + test}).corpora[0].overlaps
    assert (overlap.right.identical, overlap.right.near, overlap.left.near) == (0, 5, 5)
    assert all(twin.similar == "near" for twin in overlap.pairs)


def test_a_dataset_is_one_corpus() -> None:
    data = read_dataset("starter-en")
    assert list(find_leaks(data).as_dict()["corpora"]) == list(
        find_leaks({data.name: data.examples}).as_dict()["corpora"]
    )


def test_short_texts_are_counted_apart() -> None:
    train = [example("1", "Yeah, right!", True, split="train"), example("2", LONG, split="train")]
    test = [example("3", "yeah right", True, split="test"), example("4", "quite another thing here", split="test")]
    (overlap,) = find_leaks({"c": train + test}).corpora[0].overlaps
    assert (overlap.right.identical, overlap.right.short, overlap.right.leaked) == (1, 1, 0)


def test_stock_phrase_with_another_word_is_no_duplicate() -> None:
    rows = [example("1", "What a great day", split="train")]
    rows += [example("2", "What a great night", split="test")]
    assert find_leaks({"c": rows}).corpora[0].overlaps == ()


def test_conflicting_labels_within_a_split() -> None:
    rows = [example("1", LONG, True), example("2", LONG.upper() + "!", False), example("3", "so true", None)]
    report = find_leaks({"c": rows})
    (repeats,) = report.corpora[0].repeats
    assert (repeats.conflicts, repeats.conflicting_rows, repeats.repeated) == (1, 2, 1)
    assert {repeats.pairs[0].left, repeats.pairs[0].right} == {"1", "2"}
    assert "c: 1 text carries both labels (2 rows)" in said(report)


def test_corpora_that_share_texts() -> None:
    one, other = strangers(100, 1), strangers(50, 2)
    copied = [replace(e, id=f"copy-{e.id}", label=not e.label) for e in one[:10]]
    report = find_leaks({"one": one, "other": other + copied, "third": strangers(10, 3)})
    (overlap,) = report.overlaps
    assert (overlap.left.identical, overlap.right.identical, overlap.disagreeing) == (10, 10, 10)
    assert "10 of 60 texts of other are identical to texts in one" in said(report)
    assert [c.elsewhere.identical for c in report.corpora if c.elsewhere] == [10, 10, 0]


def test_corpus_in_one_part_says_what_a_random_split_would_leak() -> None:
    rows = strangers(80, 1) + moved(strangers(80, 1), "")
    report = find_leaks({"twice": rows})
    split = report.corpora[0].random_split
    # Each row has one twin, which is in train with probability 0.8.
    assert split is not None
    assert (split.test_rows, split.leaked) == pytest.approx((32.0, 160 * 0.2 * 0.8))
    assert "about 26 of 32 test rows would have a duplicate in train" in said(report)
    assert "twice: no splits, so leaks across splits cannot be checked" in said(report)


def test_shared_people_threads_sequences_and_contexts() -> None:
    context = (Turn("B", LONG),)
    shared = {"group": "thread-1", "sequence": "pair-1", "context": context, "speaker": "GratefulDead77"}
    rows = [
        example("1", "one thing to say about that", split="train", **shared),
        example("2", "something else that nobody said", split="test", **shared),
        example("3", "yet another reply without anything", split="test", speaker="A"),
        example("4", "and this one stands in train", split="train", speaker="A"),
    ]
    report = find_leaks({"c": rows})
    assert {s.kind: (s.values, s.left_rows, s.right_share) for s in report.corpora[0].shared_values} == {
        "speaker": (1, 1, 0.5),
        "group": (1, 1, 0.5),
        "sequence": (1, 1, 0.5),
        "context": (1, 1, 0.5),
    }
    assert "1 row of c/test (50.0%) is by people who also speak in c/train" in said(report)


def test_context_shared_across_corpora_but_not_ids() -> None:
    context = (Turn("", LONG),)
    one = [example("1", "one thing to say about that", context=context, group="g", sequence="7")]
    two = [example("1", "something else that nobody said", context=context, group="g", sequence="7")]
    report = find_leaks({"one": one, "two": two})
    assert [(s.kind, s.left, s.right) for s in report.shared_values] == [("context", "one", "two")]


@pytest.mark.parametrize(
    ("mark", "kind", "token"),
    [
        ("#yeahright", "hashtag", "#yeahright"),
        ("@MrSnark", "user", "@mrsnark"),
        ("https://www.theonion.com/a?b", "host", "theonion.com"),
        ("totally", "word", "totally"),
    ],
)
def test_token_that_tells_the_label(mark: str, kind: str, token: str) -> None:
    rows = [replace(e, response=Turn("", f"{e.response.text} {mark}")) if e.label else e for e in strangers(100)]
    report = find_leaks({"c": rows})
    found = report.corpora[0].label_tokens.tokens[0]
    assert (found.kind, found.token, found.sarcastic, found.n, found.share) == (kind, token, True, 50, 1.0)
    assert report.corpora[0].label_tokens.covered == 50
    assert "50 of 100 texts have a token that nearly decides the label" in said(report)


def test_speaker_that_tells_the_label() -> None:
    rows = [replace(e, response=Turn("Chandler" if e.label else "Ross", e.response.text)) for e in strangers(100)]
    found = find_leaks({"c": rows}).corpora[0].label_tokens.tokens
    assert {(t.kind, t.token, t.sarcastic) for t in found} == {
        ("speaker", "Chandler", True),
        ("speaker", "Ross", False),
    }


def test_copies_of_one_post_make_no_telling_token() -> None:
    copies = [example(f"copy-{at}", f"{LONG} #hooray", True) for at in range(60)]
    assert find_leaks({"c": strangers(100) + copies}).corpora[0].label_tokens.tokens == ()


def test_common_label_is_no_telling_token() -> None:
    """Where 9 of 10 texts are plain, a word of plain texts only has told nothing much."""
    rows = [replace(e, label=at % 10 == 0) for at, e in enumerate(strangers(400))]
    rows = [
        replace(e, response=Turn("", e.response.text + (" today" if at % 10 in (1, 2) else "")))
        for at, e in enumerate(rows)
    ]
    assert find_leaks({"c": rows}).corpora[0].label_tokens.tokens == ()


@pytest.mark.parametrize(
    ("change", "trait", "more"),
    [
        (lambda text: text + " ", "white space at the end", True),
        (lambda text: text + " http://t.co/x", "a link", True),
        (lambda text: text[:10], "characters", False),
        (lambda text: f"“{text}”", "a quotation mark", True),
        (lambda text: text.title(), "only lower case", False),
    ],
)
def test_trait_that_tells_the_label(change: Any, trait: str, more: bool) -> None:
    rows = [replace(e, response=Turn("", change(e.response.text))) if e.label else e for e in strangers(100)]
    report = find_leaks({"c": rows})
    cue = next(cue for cue in report.corpora[0].cues if cue.trait == trait)
    assert cue.auc == pytest.approx(1.0 if more else 0.0)
    assert (cue.accuracy, cue.base) == (1.0, 0.5)
    assert trait in said(report)


def test_a_report_is_short_and_a_threshold_must_make_sense() -> None:
    assert repr(find_leaks({"c": strangers(20)})) == "<LeakReport c: 2 findings>"
    with pytest.raises(ConfigError, match="threshold=3"):
        find_leaks({"c": strangers(20)}, threshold=3)


def test_honest_corpus_is_said_to_be_so() -> None:
    rows = strangers(200, 1, split="train") + strangers(100, 2, split="test")
    assert find_leaks({"c": rows}).findings == ("no leaks found",)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [example("1", LONG)],
        [example(str(at), LONG, None) for at in range(5)],
        [example(str(at), LONG, True, split="train" if at else "test") for at in range(5)],
        [example("1", "?!"), example("2", "...", split="test"), example("3", "🙃", True, split="dev")],
    ],
)
def test_degenerate_corpora(rows: list[Example]) -> None:
    for corpora in ({"c": rows}, {"c": rows, "d": []}, {}):
        report = find_leaks(corpora)
        assert json.loads(json.dumps(report.as_dict()))["findings"] == list(report.findings)


def test_order_of_rows_does_not_change_the_counts() -> None:
    rows = strangers(60, 1, split="train") + moved(strangers(60, 1)[:9], "test") + strangers(9, 2, split="test")
    shuffled = random.Random(5).sample(rows, len(rows))
    assert find_leaks({"c": rows}).findings == find_leaks({"c": shuffled}).findings


def test_a_column_that_decides_the_label_is_found_and_an_id_is_not() -> None:
    rows = [
        replace(example(str(at), f"text number {at} about the weather in town {at}", label=at % 3 == 0),
                meta={"site": "onion" if at % 3 == 0 else "post", "number": str(at), "day": str(at % 7)})
        for at in range(90)
    ]  # fmt: skip
    found = find_leaks({"c": rows})
    assert [column.column for column in found.corpora[0].label_columns] == ["site"]
    assert any("column 'site' decides 100% of 90 labels" in finding for finding in found.findings)
    plain = [replace(row, meta={"day": row.meta["day"]}) for row in rows]
    assert find_leaks({"c": plain}).corpora[0].label_columns == ()
    # A score's warning and the report of leaks answer from the same counts.
    assert column_warnings(plain) == []
    (warning,) = column_warnings(rows)
    assert warning.startswith("the column 'site' decides 100% of 90 labels")
