"""What a network reads of a conversation, and the vectors it starts from."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.detect.neural.options import FEWEST, hold_out
from deadpan.detect.neural.system import WIDTH, moods
from deadpan.detect.neural.texts import FIRST, PAD, SPREAD, UNKNOWN, Vocabulary, starting_vectors, tokens, words
from deadpan.detect.system import Context
from deadpan.errors import DataError
from deadpan.records import Example, Turn

DIALOGUE = Example(
    "1",
    Turn("B", "Sure, GREAT idea @bob http://x.org"),
    (Turn("A", "One two"), Turn("B", "three"), Turn("A", "four five")),
)


def test_the_response_alone():
    assert tokens(DIALOGUE, Context(0), 50) == ["sure", ",", "great", "idea", "<user>", "<link>"]


def test_turns_are_set_apart_and_speakers_told_from_the_one_who_answers():
    assert tokens(DIALOGUE, Context(2), 50)[:6] == ["<turn>", "three", "<turn>", "four", "five", "<response>"]
    marked = tokens(DIALOGUE, Context(2, speakers=True), 50)
    assert marked[:6] == ["<own>", "three", "<other>", "four", "five", "<response>"]


def test_the_oldest_words_are_left_out_first():
    assert tokens(DIALOGUE, Context(None), 8) == ["four", "five", "<response>", *words("sure, great idea @b www.x", 9)]
    assert tokens(DIALOGUE, Context(None), 2) == ["<response>", "sure", ","]


def test_an_empty_text_is_one_token_and_a_megabyte_is_cut():
    assert tokens(Example("1", Turn("", "  ")), Context(0), 9) == ["<nothing>"]
    assert len(words("word " * 200_000, 100)) == 100


def test_half_a_surrogate_pair_can_be_written():
    found = words("\ud800 half", 9)
    assert found[-1] == "half"
    assert "\ud800" not in "".join(found)


def test_vocabulary_knows_padding_marks_and_the_commonest_words():
    vocabulary = Vocabulary.of([["b", "a", "a"], ["b", "c", "a"]], min_count=2, most=10)
    assert vocabulary.words == [*FIRST, "a", "b"]
    assert vocabulary.numbers(["a", "zzz", "<turn>"]) == [len(FIRST), UNKNOWN, FIRST.index("<turn>")]
    assert len(Vocabulary.of([["b", "a", "a"]], 1, most=1)) == len(FIRST) + 1


def test_a_vocabulary_of_another_version_is_refused():
    with pytest.raises(DataError, match="train the model again"):
        Vocabulary(["a", "b"])


def test_drawn_vectors_follow_the_seed():
    vocabulary = Vocabulary.of([["a", "b"]], 1, 10)
    one, again, other = (starting_vectors(vocabulary, "", 50, seed) for seed in (0, 0, 1))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert not one[PAD].any() and one.shape == (len(vocabulary), 50)


def test_vectors_from_a_file_keep_their_directions(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("a 1 0 0\nb 0 2 0\nunused 9 9 9\n", encoding="utf-8")
    vocabulary = Vocabulary.of([["a", "b", "new"]], 1, 10)
    start = starting_vectors(vocabulary, str(path), 100, 0)
    assert start.shape == (len(vocabulary), 3)
    a, b, new = (start[vocabulary.numbers([word])[0]] for word in ("a", "b", "new"))
    assert a[0] > 0 and a[1] == a[2] == 0 and b[1] == pytest.approx(2 * a[0]) and new.any()
    assert np.sqrt(np.mean(np.stack([a, b]) ** 2)) == pytest.approx(SPREAD)


def test_vectors_of_another_language_are_refused(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("x 1 0 0\ny 0 2 0\n", encoding="utf-8")
    with pytest.raises(DataError, match="none of the training words"):
        starting_vectors(Vocabulary.of([["a"]], 1, 10), str(path), 100, 0)
    with pytest.raises(DataError, match="no such file"):
        starting_vectors(Vocabulary.of([["a"]], 1, 10), str(tmp_path / "gone.txt"), 100, 0)


def test_moods_tell_praise_from_blame():
    rows = moods(["what a wonderful day", "what a terrible day", ""])
    assert rows.shape == (3, WIDTH) and np.isfinite(rows).all()
    assert not np.array_equal(rows[0], rows[1])


def examples(count: int, group: int = 1) -> list[Example]:
    return [
        Example(f"{row}", Turn("", f"text {row}"), label=row % 2 == 0, group=f"g{row // group}") for row in range(count)
    ]


def test_what_is_held_out_crosses_no_group():
    kept, watched = hold_out(examples(200, group=4), 0.2, seed=0)
    assert 30 <= len(watched) <= 50 and len(kept) + len(watched) == 200
    assert not {e.group for e in kept} & {e.group for e in watched}
    assert hold_out(examples(200, group=4), 0.2, seed=1)[1] != watched


def test_a_part_marked_dev_is_the_one_held_out():
    from dataclasses import replace

    rows = [replace(e, split="dev" if n < 12 else "train") for n, e in enumerate(examples(40))]
    kept, watched = hold_out(rows, 0.5, seed=0)
    assert watched == rows[:12] and kept == rows[12:]


def test_too_few_or_too_entangled_nothing_is_held_out():
    few = examples(FEWEST - 1)
    assert hold_out(few, 0.2, 0) == (few, [])
    tangled = examples(40, group=40)
    assert hold_out(tangled, 0.2, 0) == (tangled, [])
    assert hold_out(examples(40), 0.0, 0)[1] == []


def test_equal_ids_are_no_trouble():
    twice = [*examples(30), *examples(30)]
    kept, watched = hold_out(twice, 0.2, 0)
    assert len(kept) + len(watched) == 60 and watched
