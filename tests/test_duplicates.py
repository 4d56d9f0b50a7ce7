"""Duplicate texts: their identity, and examples without those of another set."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan import duplicates
from deadpan.duplicates import (
    NEAR,
    SHORT_WORDS,
    all_near_pairs,
    copy_clusters,
    copy_signatures,
    distinct,
    identity,
    near_duplicates,
    shingles,
    without_duplicates,
    word_count,
)
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn


def strangers(n: int, seed: int) -> list[Example]:
    """Return sentences that have nothing in common."""
    draw = random.Random(seed)
    texts = [" ".join("".join(draw.choices("bcdfghklmnprst", k=6)) for _ in range(9)) for _ in range(n)]
    return [Example(f"{seed}-{at}", Turn("", text), label=at % 2 == 0) for at, text in enumerate(texts)]


def test_identity_takes_out_what_copies_differ_in() -> None:
    assert identity("So FUN!! http://t.co/x @boss #sarcasm") == identity("so fun")
    assert identity("So fun") != identity("so funny")


SENTENCE = "My boss praised the meeting that could have been an email"
EDITS = {
    "hashtag": SENTENCE + " #blessed",
    "two hashtags and a link": "#monday " + SENTENCE + " https://t.co/abc #work",
    "mention": "@anna " + SENTENCE,
    "one word changed": SENTENCE.replace("praised", "skipped"),
    "first word changed": SENTENCE.replace("My", "Our"),
    "last word changed": SENTENCE.replace("email", "poem"),
    "one word dropped": SENTENCE.replace(" praised", ""),
    "one word added": SENTENCE.replace("praised", "loudly praised"),
    "words reversed": " ".join(reversed(SENTENCE.split())),
    "words sorted": " ".join(sorted(SENTENCE.split())),
    "a Cyrillic letter": SENTENCE.replace("a", "\u0430", 1),
    "Cyrillic letters": SENTENCE.translate(str.maketrans("aeopc", "\u0430\u0435\u043e\u0440\u0441")),
    "a Greek letter": SENTENCE.replace("o", "\u03bf"),
    "full width": "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in SENTENCE),
    "accents": SENTENCE.replace("e", "\u00e9"),
    "a zero-width space": SENTENCE.replace("meeting", "mee\u200bting"),
    "an HTML entity": SENTENCE.replace("My", "&quot;My"),
    "a hashtag, a word and the order": " ".join(reversed(SENTENCE.replace("boss", "chef").split())) + " #x",
}
OTHERS = [
    "The train was late again so I read a whole book on the platform",
    "My boss praised the new coffee machine in the kitchen on the second floor",
    "Nobody came to the meeting and the email was never sent at all",
]


@pytest.mark.parametrize("edit", EDITS)
def test_planted_edits_are_found_and_other_texts_are_not(edit: str) -> None:
    keys, of_text = distinct([*OTHERS, SENTENCE, EDITS[edit]])
    left, right = near_duplicates(keys)
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    assert found == ([] if of_text[3] == of_text[4] else [(3, 4)])
    clusters = copy_clusters([*OTHERS, SENTENCE, EDITS[edit]])
    assert clusters[3] == clusters[4]
    assert len(set(clusters.tolist())) == 4


def test_every_position_of_a_changed_word_is_found() -> None:
    draw = random.Random(0)
    texts = [random_text(draw, draw.randint(9, 20)) for _ in range(300)]
    edited = []
    for text in texts:
        words = text.split()
        words[draw.randrange(len(words))] = "umbrella"
        edited.append(" ".join(words))
    left, right = near_duplicates([*texts, *edited])
    assert sorted(zip(left.tolist(), right.tolist(), strict=True)) == [(at, at + 300) for at in range(300)]


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Brenda forgot the invoices again", "Brenda forgot the umbrellas again", True),
        ("it is raining what a surprise", "what a surprise it is snowing", True),
        ("what a great day", "what a great night", False),
        ("i m so tired", "i m so happy", False),
        ("\uc800\ub294 \uc6d4\uc694\uc77c\uc774 \uc815\ub9d0 \uc88b\uc544\uc694",
         "\uc800\ub294 \uae08\uc694\uc77c\uc774 \uc815\ub9d0 \uc88b\uc544\uc694", True),
        ("yeah right", "yeah sure", False),
    ],
)  # fmt: skip
def test_brief_texts_need_more_in_common(one: str, other: str, near: bool) -> None:
    left, _ = near_duplicates([one, other])
    assert bool(len(left)) is near


@pytest.mark.parametrize("edit", EDITS)
def test_copies_share_a_signature(edit: str) -> None:
    numbers, owner = copy_signatures([*OTHERS, SENTENCE, EDITS[edit]])
    of_copy = set(numbers[owner == 4].tolist())
    sharing = {at for at in range(4) if of_copy & set(numbers[owner == at].tolist())}
    assert sharing == {3}


def test_signatures_are_the_same_on_every_machine() -> None:
    numbers, owner = copy_signatures(["yeah right", "Oh great, Mondays."])
    assert numbers.tolist() == [14643848064610833238, 4819892315988192873]
    assert owner.tolist() == [0, 1]


def test_passes_and_many_copies_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"{word} and the meeting could have been an email {n}" for word in WORDS for n in range(4)]
    whole = near_duplicates(keys)
    monkeypatch.setattr(duplicates, "_PASS", 100)
    assert [side.tolist() for side in near_duplicates(keys)] == [side.tolist() for side in whole]


def test_apostrophes_make_no_other_text() -> None:
    assert identity("I can't wait") == identity("I can \u2019 t wait") == identity("i cant wait")


def test_a_hashtag_counts_where_little_else_is_left() -> None:
    assert identity("Yay #school") != identity("Yay #work")
    assert identity("so fun #school") == identity("so fun #work")


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


WORDS = "rain bus late again lovely meeting email boss coffee cold morning train queue smile".split()  # noqa: SIM905
keys_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=30, unique=True
)


def by_comparing_all(keys: list[str], threshold: float) -> dict[tuple[int, int], float]:
    sets = [shingles(key) for key in keys]
    found = {}
    for left, right in combinations(range(len(keys)), 2):
        both = sets[left] | sets[right]
        similarity = len(sets[left] & sets[right]) / len(both) if both else 0.0
        if similarity >= threshold - 1e-9:
            found[left, right] = similarity
    return found


def by_searching(keys: list[str], threshold: float) -> dict[tuple[int, int], float]:
    pairs = all_near_pairs(keys, threshold)
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(set(found)) == len(found), "a pair came twice"
    return dict(zip(found, pairs.similarity.tolist(), strict=True))


@given(keys_of_words, st.sampled_from([0.3, 0.5, NEAR, 0.9, 1.0]))
@settings(max_examples=80, deadline=None)
def test_search_equals_comparing_every_pair(keys: list[str], threshold: float) -> None:
    assert by_searching(keys, threshold) == pytest.approx(by_comparing_all(keys, threshold))


@given(st.lists(st.text(max_size=30), max_size=12, unique=True))
@settings(max_examples=80, deadline=None)
def test_any_text_can_be_searched(texts: list[str]) -> None:
    keys, _ = distinct(texts)
    assert by_searching(keys, NEAR) == pytest.approx(by_comparing_all(keys, NEAR))


def test_search_in_many_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    keys = list({" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) for _ in range(150)})
    whole = by_searching(keys, 0.6)
    monkeypatch.setattr(duplicates, "BLOCK", 50)
    assert by_searching(keys, 0.6) == whole
    assert whole == pytest.approx(by_comparing_all(keys, 0.6))


def random_text(draw: random.Random, words: int) -> str:
    return " ".join("".join(draw.choices("abcdefghijklmnoprstuvw", k=draw.randint(3, 9))) for _ in range(words))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_planted_twins_are_found_and_strangers_are_not(seed: int) -> None:
    draw = random.Random(seed)
    texts = [random_text(draw, draw.randint(15, 25)) for _ in range(60)]
    where = draw.choice(["{} oops", "oops {}"])
    assert set(by_searching([*texts, where.format(texts[7])], NEAR)) == {(7, 60)}


def test_tokenised_copy_is_a_near_twin() -> None:
    typed, tokenised = "I can't wait, it's Monday!", "I can ' t wait , it ' s Monday !"
    assert by_searching([identity(typed), identity(tokenised)], NEAR) in ({}, {(0, 1): 1.0})
    glued = "i cant wait its monday"
    assert by_searching([identity(typed), glued], NEAR) == {(0, 1): 1.0}


def test_korean_twins() -> None:
    keys = [
        identity("와 진짜 월요일 아침부터 회의라니 너무 신난다"),
        identity("와 진짜 월요일 아침부터 회의라니 너무 신난다 ㅋㅋ"),
    ]
    assert set(by_searching(keys, NEAR)) == {(0, 1)}


def test_one_very_long_text_among_short_ones() -> None:
    draw = random.Random(0)
    long = random_text(draw, 5_000)
    keys = [random_text(draw, 6) for _ in range(50)]
    assert set(by_searching([long, *keys, long + " again"], NEAR)) == {(0, 51)}


def test_crowd_of_one_template_is_sampled_but_nobody_is_left_alone() -> None:
    keys = [f"i just voted for the castle show as best crime drama of the year {n}" for n in range(1_000)]
    pairs = all_near_pairs(keys)
    assert set(pairs.left.tolist()) | set(pairs.right.tolist()) == set(range(1_000))
    assert len(pairs) < 1_000 * 999 // 4


@pytest.mark.parametrize("keys", [[], ["only one text in here"], ["", "a", "ab"]])
def test_nothing_to_compare(keys: list[str]) -> None:
    assert by_searching(keys, NEAR) == {}


def test_threshold_must_make_sense() -> None:
    with pytest.raises(ConfigError, match="threshold"):
        all_near_pairs(["a text", "another"], 0.0)
