"""Vectors are read as they were written, and a line that cannot be is counted."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan import models
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, MissingExtra, ModelError
from deadpan.vectors import Vectors, cosine, read_tensor, unit

GLOVE = "the 1 0 0\ncat 0 2 0\nsat 0 0 -3.5e-1\n, 0.5 0.5 0.5\n"


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "glove.txt"
    path.write_text(GLOVE, encoding="utf-8")
    return path


# ---------------------------------------------------------------- files


def test_words_and_their_numbers(glove: Path) -> None:
    vectors = Vectors.read(glove)
    assert (len(vectors), vectors.dimension) == (4, 3)
    np.testing.assert_allclose(vectors.words(["sat", "Cat", "dog"]), [[0, 0, -0.35], [0, 2, 0], [0, 0, 0]])
    assert vectors.matrix.dtype == vectors.words([]).dtype == np.float32
    assert "CAT" in vectors
    assert "dog" not in vectors


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.vec", f"4 3\n{GLOVE}".encode()),
        ("v.vec", GLOVE.replace("\n", " \n").encode()),  # fastText ends its lines with a space
        ("v.txt", GLOVE.replace("\n", "\r\n").encode()),
        ("v.txt", GLOVE.rstrip("\n").encode()),
        ("v.txt.gz", gzip.compress(GLOVE.encode())),
        ("v.txt.bz2", bz2.compress(GLOVE.encode())),
    ],
    ids=["header", "trailing space", "carriage return", "no last line end", "gzip", "bzip2"],
)
def test_every_dress_a_file_comes_in(tmp_path: Path, glove: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    plain, dressed = Vectors.read(glove), Vectors.read(tmp_path / name)
    assert dressed.index == plain.index
    np.testing.assert_array_equal(dressed.matrix, plain.matrix)


def test_a_word_may_have_spaces(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(GLOVE + ". . . 1 2 3\nat name@domain.com 4 5 6\n")
    vectors = Vectors.read(path)
    np.testing.assert_allclose(vectors.words([". . .", "at name@domain.com"]), [[1, 2, 3], [4, 5, 6]])


def test_only_the_words_asked_for(glove: Path) -> None:
    vectors = Vectors.read(glove, words=["Cat", "dog", "the"])
    assert sorted(vectors.index) == ["cat", "the"]
    assert len(Vectors.read(glove, words=["dog"])) == 0
    assert Vectors.read(glove, words=[]).sentences(["the cat"]).shape == (1, 3)


def test_bad_lines_are_counted_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    lines = [f"word{n} {n} 0 1" for n in range(100)]
    lines += ["short 1 2", "odd 1 x 2", "nan 1 nan 2", "gap 1  2", "word5 9 9 9", "", "  1 2 3", "last 1 2 3"]
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe 1 2 3\n")
    tally = Tally()
    vectors = Vectors.read(path, tally=tally)
    assert tally.drops == {"bad_vector": 5, "duplicate_word": 1, "not_utf8": 1}
    assert tally.places["bad_vector"][0] == f"{path}:101: short 1 2\n"
    assert len(vectors) == 101
    np.testing.assert_allclose(vectors.words(["word5", "last"]), [[5, 0, 1], [1, 2, 3]])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "empty"),
        ("\n\n", "not word vectors"),
        ("just some prose here\nand some more prose\n", "not word vectors"),
        ("a 1 2 3\nb 1 2 3\nc 1 2\n", r":3: 2 numbers where other lines have 3"),
        ("a 1 2 3\nb 1 2 3\nc 1 2 3 4\n", r":3: 4 numbers where other lines have 3"),
        ("3 2\na b c\n", "no word vectors"),
    ],
)
def test_what_is_no_file_of_vectors(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        Vectors.read(path)


def test_a_file_that_is_cut_off_or_absent(tmp_path: Path) -> None:
    packed = gzip.compress(GLOVE.encode() * 500)
    (tmp_path / "v.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "no.gz").write_bytes(b"plain")
    for name in ("v.gz", "no.gz"):
        with pytest.raises(DataError, match="fetch it again"):
            Vectors.read(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        Vectors.read(tmp_path / "absent.txt")


words = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6, width=32)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(words, st.tuples(numbers, numbers, numbers), min_size=1, max_size=20))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, table: dict[str, tuple[float]]) -> None:
    path = tmp_path_factory.mktemp("v") / "v.txt"
    rows = [f"{word} {' '.join(repr(x) for x in row)}\n" for word, row in table.items()]
    path.write_text(f"{len(rows)} 3\n" + "".join(rows), encoding="utf-8")
    tally = Tally()
    vectors = Vectors.read(path, tally=tally)
    assert tally.dropped == 0
    assert list(vectors.index) == list(table)
    np.testing.assert_array_equal(vectors.matrix, np.array(list(table.values()), dtype=np.float32))


# ---------------------------------------------------------------- sentences


def test_sentences_are_sums_or_means_of_length_one(glove: Path) -> None:
    vectors = Vectors.read(glove)
    texts = ["The cat, the CAT", "unheard of", ""]
    summed = vectors.sentences(texts, pool="sum", normalise=False)
    np.testing.assert_allclose(summed, [[2.5, 4.5, 0.5], [0, 0, 0], [0, 0, 0]])
    mean = vectors.sentences(texts, normalise=False)
    np.testing.assert_allclose(mean[0], summed[0] / 5)
    np.testing.assert_allclose(np.linalg.norm(vectors.sentences(texts), axis=1), [1, 0, 0], atol=1e-6)
    with pytest.raises(ConfigError, match="mean, sum"):
        vectors.sentences(texts, pool="max")  # type: ignore[arg-type]


def test_many_sentences_are_the_same_as_one_by_one(glove: Path) -> None:
    vectors = Vectors.read(glove)
    texts = ["the cat", "", "sat , the"] * 300
    together = vectors.sentences(texts)
    np.testing.assert_array_equal(together[:3], np.concatenate([vectors.sentences([t]) for t in texts[:3]]))
    np.testing.assert_array_equal(together[-3:], together[:3])


def test_tokens_may_be_the_callers_own(glove: Path) -> None:
    vectors = Vectors.read(glove, tokens=lambda text: text.split("|"))
    np.testing.assert_allclose(vectors.sentences(["the|sat"], "sum", normalise=False), [[1, 0, -0.35]])


def test_cosine() -> None:
    left = np.array([[1, 0], [0, 0]], dtype=np.float32)
    right = np.array([[2, 0], [0, 5], [-1, 0]], dtype=np.float32)
    np.testing.assert_allclose(cosine(left, right), [[1, 0, -1], [0, 0, 0]])
    np.testing.assert_allclose(cosine(left[0], right[0]), [[1]])
    np.testing.assert_allclose(unit(right)[1], [0, 1])


# ---------------------------------------------------------------- the embedded ones


def tensors(**entries: object) -> bytes:
    header = json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header


def test_a_tensor_is_read(tmp_path: Path) -> None:
    data = np.arange(6, dtype="<f2")
    entry = {"dtype": "F16", "shape": [2, 3], "data_offsets": [4, 16]}
    (tmp_path / "t").write_bytes(tensors(t=entry) + b"\0" * 4 + data.tobytes())
    found = read_tensor(tmp_path / "t", "t")
    np.testing.assert_array_equal(found, [[0, 1, 2], [3, 4, 5]])
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        b"\x05\0\0\0\0\0\0\0{nope",
        tensors(other={}),
        tensors(t={"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}),
        tensors(t={"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}) + b"\0" * 8,
        tensors(t={"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}),
    ],
    ids=["empty", "no header", "no JSON", "no tensor", "no float", "cut off", "before the file"],
)
def test_a_damaged_file_of_tensors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(DataError, match="no readable tensor 't'"):
        read_tensor(tmp_path / "t", "t")


TOKENIZERS = importlib.util.find_spec("tokenizers") is not None


@pytest.mark.skipif(not TOKENIZERS, reason="needs tokenizers: pip install 'deadpan[llm]'")
def test_absent_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="deadpan models pull wordllama-256"):
        Vectors.embedded()


def test_an_absent_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"deadpan\[llm\]"):
        Vectors.embedded()


@pytest.mark.skipif(
    not TOKENIZERS or "wordllama-256" not in models.installed(),
    reason="needs tokenizers and the weights: deadpan models pull wordllama-256",
)
def test_the_real_ones() -> None:
    vectors = Vectors.embedded()
    assert vectors.dimension == 256
    texts = ["Oh great, another Monday.", "", "좋은 아침 ㅋㅋ 🙄", "half \ud83d", "a" * 5_000]
    rows = vectors.sentences(texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 1, 1], atol=1e-5)
    # The wordllama package's own answer for the first text.
    raw = vectors.sentences(texts[:1], normalise=False)[0]
    np.testing.assert_allclose(raw[:4], [-0.039089, 0.002262, -0.263662, 0.412806], atol=1e-4)
    near, far = cosine(vectors.words(["terrible"]), vectors.words(["awful", "carpentry"]))[0]
    assert near > far
    assert vectors.words(["Monday"]).shape == (1, 256)
