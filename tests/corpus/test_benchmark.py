"""The choice of replies, the drawing of pairs, and the division into train and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from deadpan.corpus.benchmark import BenchmarkReply, PairChoice, Thread, choose, is_test, looks_like_sentence, unfit
from deadpan.corpus.settings import BenchmarkRules

RULES = BenchmarkRules()


def far(left: Sequence[str], right: Sequence[str]) -> np.ndarray:
    """Texts are alike if they begin with the same letter."""
    return np.array([float(a[0] == b[0]) for a, b in zip(left, right, strict=True)], dtype=np.float32)


def thread(post: str, *replies: tuple[str, bool, str]) -> Thread:
    return Thread(
        post, f"{post}-last", f"{post} {post}-last", "politics", tuple(BenchmarkReply(*one) for one in replies)
    )


def drawn(*threads: Thread, seed: int = 0) -> tuple[list[PairChoice], Counter[str]]:
    drops: Counter[str] = Counter()
    return list(choose(threads, RULES, seed, far, drops)), +drops


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("two words", ""),
        ("one", "too_short"),
        ("no!", ""),
        (" ".join(["w"] * 50), ""),
        (" ".join(["w"] * 51), "too_long"),
        ("5 5", "no_letter"),
    ],
)
def test_replies_of_two_to_fifty_tokens_with_a_letter(text: str, why: str) -> None:
    assert unfit(text, RULES) == why


@pytest.mark.parametrize(
    ("text", "whole"),
    [("It is.", True), ('"Yes!")', True), ("9 of them?", True), ("it is.", False), ("It is", False), ("...", False)],
)
def test_strict_sentences(text: str, whole: bool) -> None:
    assert looks_like_sentence(text) is whole
    if any(map(str.isalpha, text)):
        assert (unfit(text, BenchmarkRules(sentences="strict")) == "") is whole


def test_a_pair_has_one_of_each_and_is_not_too_similar() -> None:
    one = thread("p", ("a", True, "alpha one"), ("b", False, "also two"), ("c", False, "beta three"))
    choices, drops = drawn(one)
    assert choices[0].pair is not None
    assert sorted(reply.id for reply in choices[0].pair) == ["a", "c"]
    assert drops == Counter()


def test_a_sequence_without_a_pair_is_counted_and_still_unbalanced() -> None:
    choices, drops = drawn(
        thread("p", ("a", True, "alpha one"), ("b", False, "also two")),
        thread("q", ("c", True, "alpha one"), ("d", True, "beta two")),
        thread("r", ("e", True, "short"), ("f", False, "beta two")),
    )
    assert [choice.pair for choice in choices] == [None, None]
    assert drops == Counter(too_similar=1, no_contrast=1, no_fitting_sarcasm=1, reply_too_short=1)


def test_draws_depend_on_the_seed_and_the_ids_alone() -> None:
    threads = [thread(f"p{n}", (f"a{n}", True, "alpha x"), (f"b{n}", False, "beta y")) for n in range(300)]
    whole, _ = drawn(*threads)
    pieces = [drawn(one)[0][0] for one in reversed(threads)]
    assert sorted(whole, key=lambda c: c.thread.post) == sorted(pieces, key=lambda c: c.thread.post)
    firsts = Counter(choice.pair[0].label for choice in whole if choice.pair)
    assert 100 < firsts[True] < 200  # the order tells nothing
    other, _ = drawn(*threads, seed=1)
    assert [choice.pair for choice in whole] != [choice.pair for choice in other]


def test_a_fifth_of_the_posts_is_in_the_test_set() -> None:
    share = sum(is_test(f"p{n}", RULES, 0) for n in range(5_000)) / 5_000
    assert 0.18 < share < 0.22
