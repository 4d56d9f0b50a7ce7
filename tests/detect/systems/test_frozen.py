"""Frozen encoders: a text is encoded once, kinds of weights are told by their files, damage is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from deadpan.detect.systems.frozen import (
    BRANCHES,
    PARTS,
    Encoded,
    Frozen,
    HeadsBlock,
    UniversalEncoder,
    VectorStore,
    _tokenizer,
    frozen_encoder,
    store_name,
)
from deadpan.errors import ModelError
from deadpan.records import Example, Turn
from detect_corpus import word_corpus
from tiny_encoder import tiny_encoder


@pytest.fixture
def encoder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    return tiny_encoder(tmp_path / "encoder", [e.response.text for e in word_corpus()])


def test_a_text_is_encoded_once(tmp_path):
    asked = []

    def encode(texts):
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    store = VectorStore(tmp_path / "a.sqlite")
    first = store.vectors(["aaa", "b", "aaa"], encode)
    assert first.tolist() == [[3, 1], [1, 1], [3, 1]]
    again = VectorStore(tmp_path / "a.sqlite").vectors(["cc", "aaa"], encode)
    assert again.tolist() == [[2, 1], [3, 1]] and asked == ["b", "aaa", "cc"]


def test_what_was_encoded_before_a_crash_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("deadpan.detect.systems.frozen.TOGETHER", 2)
    asked = []

    def encode(texts):
        if len(asked) == 4:
            raise KeyboardInterrupt
        asked.extend(texts)
        return np.ones((len(texts), 2), dtype=np.float32)

    with pytest.raises(KeyboardInterrupt):
        VectorStore(tmp_path / "a.sqlite").vectors(list("abcdef"), encode)
    asked.clear()
    VectorStore(tmp_path / "a.sqlite").vectors(list("abcdef"), encode)
    assert len(asked) == 2


def test_company_does_not_change_a_vector(encoder):
    rows = frozen_encoder(str(encoder)).encode(["red", "red blue green " * 5, "\ud800 half", ""])
    alone = frozen_encoder(str(encoder)).encode(["red"])
    assert rows.shape == (4, 96) and np.isfinite(rows).all()
    assert np.allclose(rows[0], alone[0], atol=1e-4)


def test_two_folders_of_one_name_have_stores_of_their_own(encoder, tmp_path):
    other = tiny_encoder(tmp_path / "b" / "encoder", ["red"], seed=3)
    assert store_name(str(encoder)) != store_name(str(other)) and store_name("minilm-l6") == "minilm-l6"


def test_it_learns_and_reads_context(encoder):
    rows = word_corpus()
    model = Frozen(encoder=str(encoder)).fit(rows)
    assert np.mean([p.label == e.label for p, e in zip(model.predict(rows), rows, strict=True)]) > 0.8
    with_context = Frozen(encoder=str(encoder), turns=1).fit(rows)
    example = Example("x", Turn("", "red"), (Turn("", "blue"),))
    bare = Example("x", Turn("", "red"))
    assert with_context.predict([example])[0].score != with_context.predict([bare])[0].score


def test_weights_that_are_no_model_are_told(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF nothing")
    with pytest.raises(ModelError, match="cannot be loaded"):
        frozen_encoder(str(tmp_path))


def test_the_universal_encoder_keeps_texts_apart(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)

    def of(*shape):
        return rng.normal(size=shape).astype(np.float32) / np.sqrt(shape[0])

    weights = {f"q{n + 1}": rng.integers(0, 255, (4, 512), dtype=np.uint8) for n in range(PARTS)}
    weights |= {"lo": of(PARTS), "scale": of(PARTS) / 100, "eps": np.array(1e-6)}
    for size in BRANCHES:
        weights |= {f"proj{size}": of(512, 256), f"proj_b{size}": of(256), f"ln_g{size}": of(256),
                    f"ln_b{size}": of(256)}  # fmt: skip
        for step in (1, 2):
            weights |= {f"w{step}_{size}": of(size * 256, 256), f"b{step}_{size}": of(256)}
    weights |= {"ln_g": of(1280), "ln_b": of(1280), "cnn_W": of(1280, 512), "cnn_b": of(512)}
    weights |= {"d0": of(512, 320), "d1": of(320, 320), "p1": of(512, 320), "d2": of(320, 512)}
    weights |= {"p3": of(320, 512), "d3": of(512, 512)}
    np.savez(tmp_path / "weights.npz", **weights)
    (tmp_path / "sp.model").write_bytes(b"")
    fake = type("Pieces", (), {"SentencePieceProcessor": lambda **_: Pieces()})
    monkeypatch.setattr("deadpan.detect.systems.frozen.need", lambda *_: fake)
    encoder = frozen_encoder(str(tmp_path))
    assert isinstance(encoder, UniversalEncoder)
    together = encoder.encode(["a b c", "d", "e f g h i"])
    alone = np.concatenate([encoder.encode([text]) for text in ("a b c", "d", "e f g h i")])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


class Pieces:
    """A tokenizer of letters."""

    def encode(self, text, out_type):
        return [3 + ord(letter) % 60 for letter in text if letter != " "]

    def bos_id(self):
        return 1

    def eos_id(self):
        return 2


def test_context_and_response_can_be_one_text(encoder):
    rows = word_corpus()
    model = Frozen(encoder=str(encoder), turns=1, joint=True).fit(rows)
    with_turn, bare = Example("x", Turn("", "red"), (Turn("", "blue"),)), Example("x", Turn("", "red"))
    assert model.predict([with_turn])[0].score != model.predict([bare])[0].score


def test_the_tokenizer_of_a_gguf_file_is_converted_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    asked = []

    class Loader:
        @staticmethod
        def from_pretrained(source, **options):
            asked.append(options.get("gguf_file", ""))
            return Loader()

        def save_pretrained(self, folder):
            folder.mkdir()
            (folder / "tokenizer.json").write_text("{}")

    library = type("Library", (), {"AutoTokenizer": Loader})
    (tmp_path / "x.gguf").write_bytes(b"GGUF nothing")
    for _ in range(2):
        _tokenizer(library, str(tmp_path), str(tmp_path), tmp_path / "x.gguf")
    assert asked == ["x.gguf", ""]


def disagreeing(count: int = 120) -> list[Example]:
    """In both corpora "a" is sarcastic; whatever has a "b" is so in the first and sincere in the second."""
    rows = []
    for n in range(count):
        text = ("a b", "a", "b", "")[n % 4]
        corpus = "first" if n // 4 % 2 else "second"
        label = corpus == "first" if "b" in text else "a" in text
        rows.append(Example(f"{n}", Turn("", text), label=label, source=corpus))
    return rows


@pytest.fixture
def letters(monkeypatch):
    """Encode a text by the letters in it, without any weights."""

    def columns(self, examples, *_):
        return np.array([["a" in e.response.text, "b" in e.response.text] for e in examples], dtype=float)

    monkeypatch.setattr(Encoded, "columns", columns)


def share_right(model: Frozen, examples: list[Example]) -> float:
    return float(np.mean([p.label == e.label for p, e in zip(model.predict(examples), examples, strict=True)]))


def test_each_corpus_keeps_its_own_meaning(letters, tmp_path):
    examples = disagreeing()
    assert share_right(Frozen().fit(examples), examples) < 0.8
    model = Frozen(heads=True).fit(examples)
    assert share_right(model, examples) == 1.0
    model.save(tmp_path)
    assert Frozen.load(tmp_path).predict(examples) == model.predict(examples)


def test_an_unknown_corpus_gets_what_all_share(letters):
    model = Frozen(heads=True).fit(disagreeing())
    plain, a, b = (model.predict([Example("x", Turn("", text), source="third")])[0].score for text in ("", "a", "b"))
    assert a > plain + 0.1
    assert abs(b - plain) < (a - plain) / 2


def test_the_gradient_is_that_of_the_margins():
    rng = np.random.default_rng(0)
    examples = disagreeing(12)
    block = HeadsBlock.of(rng.normal(size=(12, 3)), examples, ["first", "second"])
    weights, slopes = rng.normal(size=block.width), rng.normal(size=12)
    assert slopes @ block.forward(weights) == pytest.approx(block.backward(slopes) @ weights)
    assert block.rows(np.array([3])).forward(weights) == pytest.approx(block.forward(weights)[3:4])
