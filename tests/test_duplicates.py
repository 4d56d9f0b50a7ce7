"""Duplicate texts: their identity, and examples without those of another set."""

from __future__ import annotations

import random
from dataclasses import replace

from deadpan.duplicates import SHORT_WORDS, distinct, identity, without_duplicates, word_count
from deadpan.records import Example, Turn


def strangers(n: int, seed: int) -> list[Example]:
    """Return sentences that have nothing in common."""
    draw = random.Random(seed)
    texts = [" ".join("".join(draw.choices("bcdfghklmnprst", k=6)) for _ in range(9)) for _ in range(n)]
    return [Example(f"{seed}-{at}", Turn("", text), label=at % 2 == 0) for at, text in enumerate(texts)]


def test_identity_takes_out_what_copies_differ_in() -> None:
    assert identity("So FUN!! http://t.co/x @boss #sarcasm") == identity("so fun")
    assert identity("So fun") != identity("so funny")


def test_texts_of_signs_only_are_told_apart() -> None:
    assert identity(":)") != identity(":(")
    assert identity(" :) ") == identity(":)")


def test_words_are_counted_whatever_the_script() -> None:
    assert word_count("yeah right") == 2
    assert word_count("와 진짜 신난다") == 3
    assert word_count("嬉しい") < SHORT_WORDS <= word_count("今日も残業で本当に嬉しいです")


def test_distinct_numbers_texts_in_order() -> None:
    keys, of_text = distinct(["Oh no", "fine", "oh no!", "Fine."])
    assert (keys, of_text.tolist()) == (["oh no", "fine"], [0, 1, 0, 1])


def test_without_duplicates_keeps_order_and_counts_what_it_excludes() -> None:
    against = strangers(50, 1)
    near = replace(against[3], id="near", response=Turn("", against[3].response.text + " lol"))
    fresh = strangers(3, 9)
    kept = without_duplicates([fresh[0], against[0], fresh[1], near, fresh[2]], against)
    assert (kept.examples, kept.identical, kept.near) == (fresh, 1, 1)
    assert without_duplicates([], against).examples == []
    assert without_duplicates(fresh, []).examples == fresh


def test_an_excluded_response_takes_its_pair_with_it() -> None:
    against = strangers(10, 1)
    pair = [replace(e, sequence="p1") for e in (against[4], strangers(1, 5)[0])]
    other = [replace(e, sequence="p2") for e in strangers(2, 7)]
    kept = without_duplicates([*pair, *other], against)
    assert (kept.examples, kept.identical, kept.same_sequence, kept.excluded) == (other, 1, 1, 2)
    torn = without_duplicates([*pair, *other], against, whole_sequences=False)
    assert torn.examples == [pair[1], *other]
