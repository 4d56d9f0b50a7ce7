"""[transformer] end to end on an encoder made here: pairs, swaps, pairwise loss, LoRA, folders, errors."""

from __future__ import annotations

import importlib.util
import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("transformers")

from deadpan.detect.detector import Detector
from deadpan.detect.neural.encoder import EncodedPairs, load, locate, quiet, swapped_pair, training_pairs
from deadpan.detect.neural.transformer import Transformer
from deadpan.detect.system import Context
from deadpan.errors import ConfigError, ModelError
from deadpan.records import Example, Turn
from tiny_encoder import tiny_encoder

GOOD, BAD = ["holiday", "cake", "song", "friend"], ["delay", "traffic", "bill", "flu"]


def dialogues(count: int = 64) -> list[Example]:
    """Praise for what was said before: sarcastic when that was bad. The response alone tells nothing."""
    rows = []
    for number in range(count):
        label = number % 2 == 0
        thing = (BAD if label else GOOD)[number // 2 % 4]
        before = (Turn("A", f"there is a {thing}"), Turn("B", "really"), Turn("A", f"yes a {thing}"))
        rows.append(Example(f"{number}", Turn("B", "how nice"), before, label=label, group=f"{number // 2}"))
    return rows


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    words = [turn.text for e in dialogues() for turn in (*e.context, e.response)]
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), [*words, "A : B :", "a b c d e f g h"])


def small(encoder: Path, **settings) -> Transformer:
    given = {"encoder": str(encoder), "epochs": 10, "batch_size": 8, "learning_rate": 3e-3, "turns": None,
             "validation": 0.0, "device": "cpu"}  # fmt: skip
    return Transformer(**{**given, **settings})


def share_right(model: Transformer, examples: list[Example]) -> float:
    return float(np.mean([p.label == e.label for p, e in zip(model.predict(examples), examples, strict=True)]))


@pytest.mark.slow
def test_it_learns_from_the_context(encoder):
    examples = dialogues()
    assert share_right(small(encoder).fit(examples), examples) > 0.95
    assert share_right(small(encoder, turns=0, epochs=1).fit(examples), examples) == 0.5


def test_same_seed_same_scores_saved_or_not(encoder, tmp_path):
    examples = dialogues(24)
    model = small(encoder, epochs=1, seed=2).fit(examples)
    said = model.predict(examples)
    assert small(encoder, epochs=1, seed=2).fit(examples).predict(examples) == said
    model.save(tmp_path)
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} <= {".json", ".safetensors"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    loaded = Transformer.load(tmp_path)
    assert loaded.predict(examples) == said and loaded.settings == model.settings


@pytest.mark.slow
@pytest.mark.parametrize("freeze", [0, 1])
def test_low_rank_additions_learn_and_only_they_are_saved(encoder, tmp_path, freeze):
    pytest.importorskip("peft")
    examples = dialogues()
    model = small(encoder, method="lora", rank=8, epochs=12, learning_rate=1e-2, freeze=freeze).fit(examples)
    assert share_right(model, examples) > 0.9
    model.save(tmp_path / "model")
    assert not (tmp_path / "model" / "encoder").exists()
    size = sum(path.stat().st_size for path in (tmp_path / "model").iterdir())
    assert size < sum(path.stat().st_size for path in encoder.iterdir())
    loaded = Transformer.load(tmp_path / "model")
    assert [p.score for p in loaded.predict(examples)] == pytest.approx(
        [p.score for p in model.predict(examples)], abs=1e-6
    )
    with pytest.raises(ModelError, match="export it whole"):
        locate(str(tmp_path / "model"))
    lowest = [name for name in model.adapter_ if "layer.0." in name]
    assert bool(lowest) is not bool(freeze)
    assert not hasattr(loaded, "model_"), "a few texts need no PyTorch"
    loaded.load_weights()
    loaded._plain = None
    assert [p.score for p in loaded.predict(examples)] == pytest.approx(
        [p.score for p in model.predict(examples)], abs=1e-6
    )


@pytest.mark.slow
def test_a_few_texts_get_the_same_scores_in_numpy_from_mpnet_too(tmp_path):
    """Texts of very different lengths are computed together, each by its corpus's head or by the shared one."""
    pytest.importorskip("peft")
    words = "red green blue of the old house is not far from here and"
    encoder = tiny_encoder(
        tmp_path / "encoder", [words, "how nice", *GOOD, *BAD, "there is a yes really"], kind="mpnet"
    )
    examples = [
        replace(example, source="odd" if number % 3 else "even") for number, example in enumerate(dialogues(24))
    ]
    model = small(encoder, method="lora", epochs=2, learning_rate=1e-2, heads=True, max_tokens=60).fit(examples)
    model.save(tmp_path / "model")
    texts = ["red", words, f"{words} {words} {words} {words} {words}", "nice old house", "unheard of"] * 5
    asked = [
        Example(
            f"{number}", Turn("B", text), (Turn("A", words),) * (number % 3), source=("odd", "even", "new")[number % 3]
        )
        for number, text in enumerate(texts)
    ]
    loaded = Transformer.load(tmp_path / "model")
    plain = [p.score for p in loaded.predict(asked)]
    assert not hasattr(loaded, "model_")
    assert plain == pytest.approx([p.score for p in model.predict(asked)], abs=1e-5)
    assert len({round(score, 4) for score in plain}) > 5


@pytest.mark.slow
def test_low_rank_additions_are_trained_further(encoder, tmp_path):
    pytest.importorskip("peft")
    examples = dialogues(24)
    lora = {"method": "lora", "rank": 4, "learning_rate": 1e-2}
    first = small(encoder, **lora, epochs=4).fit(examples)
    first.save(tmp_path / "first")
    start = str(tmp_path / "first")
    again = small(encoder, **{**lora, "learning_rate": 1e-9}, epochs=1, start=start).fit(examples)
    assert [p.score for p in again.predict(examples)] == pytest.approx(
        [p.score for p in first.predict(examples)], abs=1e-3
    )
    with pytest.raises(ConfigError, match="another encoder, rank"):
        small(encoder, **{**lora, "rank": 2}, epochs=1, start=start).fit(examples)
    with pytest.raises(ConfigError, match="no adapter"):
        small(encoder, **lora, epochs=1, start=str(tmp_path)).fit(examples)


def test_an_export_is_a_folder_that_transformers_loads_with_names_for_labels(encoder, tmp_path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    detector = Detector("transformer", **small(encoder, epochs=1, turns=0).settings).fit(dialogues(24))
    folder = detector.export("safetensors", tmp_path / "export")
    model = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    assert model.config.id2label == {0: "sincere", 1: "sarcastic"}
    assert model.config.label2id == {"sincere": 0, "sarcastic": 1}
    tokens = AutoTokenizer.from_pretrained(folder)(["how nice"], return_tensors="pt")
    with torch.inference_mode():
        logits = model(**tokens).logits
    (said,) = detector.predict([Example("x", Turn("", "how nice"))])
    assert torch.softmax(logits, -1)[0, 1].item() == pytest.approx(said.score, abs=1e-5)
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {0o644}, "others must be able to read a model"
    for wrong in ("pickle", ""):
        with pytest.raises(ConfigError, match="safetensors, onnx"):
            detector.export(wrong, tmp_path)
    with pytest.raises(ConfigError, match="only a transformer"):
        Detector("bow").fit(dialogues(24)).export("onnx", tmp_path)


@pytest.mark.slow
def test_onnx_gives_the_same_scores(encoder, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    detector = Detector("transformer", **small(encoder, epochs=2, turns=0).settings).fit(dialogues(24))
    folder = detector.export("onnx", tmp_path)
    session = runtime.InferenceSession(str(folder / "model.onnx"))
    tokens = detector.predictor.tokenizer_(["how nice", "there is a delay"], padding=True, return_tensors="np")
    (logits,) = session.run(None, {one.name: tokens[one.name] for one in session.get_inputs()})
    said = detector.predict([Example("a", Turn("", "how nice")), Example("b", Turn("", "there is a delay"))])
    odds = np.exp(logits[:, 1]) / np.exp(logits).sum(1)
    assert odds == pytest.approx([p.score for p in said], abs=1e-4)
    assert (folder / "model.int8.onnx").stat().st_size > 0


def test_a_killed_training_resumes_from_its_checkpoint(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("deadpan.detect.neural.training.CHECKPOINT_EVERY", 1)
    examples = dialogues(24)
    settings = {"epochs": 2, "checkpoint": str(tmp_path), "seed": 1}
    whole = small(encoder, epochs=2, seed=1).fit(examples).predict(examples)
    killed, told = small(encoder, **settings), []

    def kill(what, done, total):
        told.append(done)
        if len(told) == 4:
            raise KeyboardInterrupt

    killed.progress = kill
    with pytest.raises(KeyboardInterrupt):
        killed.fit(examples)
    again = small(encoder, **settings).fit(examples)
    assert again.predict(examples) == whole
    with pytest.raises(ConfigError, match="another training"):
        small(encoder, **settings).fit(examples[2:])


def test_a_saved_detector_can_be_trained_further(encoder, tmp_path):
    examples = dialogues()
    small(encoder).fit(examples).save(tmp_path)
    further = small(tmp_path, epochs=1, learning_rate=1e-9).fit(examples)
    assert share_right(further, examples) > 0.95


def test_the_lowest_layers_can_stay_as_they_are(encoder):
    import torch

    model = small(encoder, freeze=1, epochs=1).fit(dialogues(24))
    _, start = load(str(encoder))
    tuned = model.model_.bert
    assert torch.equal(tuned.embeddings.word_embeddings.weight, start.bert.embeddings.word_embeddings.weight)
    lowest, next_ = ([p.attention.self.query.weight for p in (tuned.encoder.layer[n],
                     start.bert.encoder.layer[n])] for n in (0, 1))  # fmt: skip
    assert torch.equal(*lowest) and not torch.equal(*next_)
    with pytest.raises(ConfigError, match="has 2 layers"):
        small(encoder, freeze=9).fit(dialogues(24))


def test_pairs_can_be_trained_as_pairs(encoder):
    examples = [replace(e, sequence=f"pair {n // 2}", group="") for n, e in enumerate(dialogues())]
    model = small(encoder, pairwise=1.0).fit(examples)
    scores = [p.score for p in model.predict(examples)]
    assert np.mean([scores[n] > scores[n + 1] for n in range(0, len(scores), 2)]) > 0.95


def test_context_comes_first_and_is_cut_at_its_beginning(encoder):
    tokenizer, _ = load(str(encoder))
    rows = EncodedPairs(tokenizer, [("a b c d", "e f"), ("", "g"), ("a b c d", "e f g h a b")], 8)
    texts = [tokenizer.decode(row["input_ids"]) for row in rows.rows]
    assert texts == ["[CLS] b c d [SEP] e f [SEP]", "[CLS] g [SEP]", "[CLS] e f g h a b [SEP]"]
    segments = rows.rows[0]["token_type_ids"]
    assert segments == [0, 0, 0, 0, 0, 1, 1, 1]
    given = rows.batch([1, 0])
    assert given["attention_mask"].tolist() == [[1] * 3 + [0] * 5, [1] * 8]
    longer = EncodedPairs(tokenizer, [("x " * 90, "e f g h " * 250_000)], 16)
    assert longer.lengths.tolist() == [16]


def test_a_text_of_a_megabyte_and_half_a_surrogate_pair(encoder):
    model = small(encoder, epochs=1).fit(dialogues(24))
    odd = [
        Example("long", Turn("A", "nice " * 200_000)),
        Example("half", Turn("", "\ud800")),
        Example("none", Turn("", "")),
    ]
    assert all(0 <= p.score <= 1 for p in model.predict(odd))
    assert model.predict([]) == []


def test_swapping_changes_the_names_of_about_half_the_dialogues():
    context = Context(None, speakers=True)
    rows = [replace(e, id=f"d{n}") for n, e in enumerate(dialogues(400))]
    assert swapped_pair(context, rows[0]) == ("B: there is a delay\nA: really\nB: yes a delay", "A: how nice")
    pairs = training_pairs(context, rows, 0.5, seed=0)
    changed = [pair != context.texts(row) for pair, row in zip(pairs, rows, strict=True)]
    assert 0.4 < np.mean(changed) < 0.6
    assert training_pairs(context, rows[::-1], 0.5, seed=0) == pairs[::-1]
    assert training_pairs(context, rows, 0.5, seed=1) != pairs
    assert training_pairs(context, rows, 0.0, seed=0) == [context.texts(row) for row in rows]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"encode": "x"}, "did you mean 'encoder'"), ({"method": "qlora"}, "method"), ({"epochs": 0}, "epochs"),
     ({"speaker_swap": 2.0}, "speaker_swap"), ({"learning_rate": 0.0}, "learning_rate")],
)  # fmt: skip
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        Transformer(**settings)


def test_where_encoders_are_looked_for(encoder, tmp_path, monkeypatch):
    assert locate(str(encoder)) == (str(encoder), True)
    assert locate("klue/roberta-base") == ("klue/roberta-base", False)
    with pytest.raises(ModelError, match=r"no config\.json"):
        locate(str(tmp_path))
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="deadpan models pull minilm-l6"):
        locate("minilm-l6")


def test_a_damaged_encoder_is_told(encoder, tmp_path):
    for file in encoder.iterdir():
        data = file.read_bytes()
        (tmp_path / file.name).write_bytes(data[:-500] if file.suffix == ".safetensors" else data)
    with pytest.raises(ModelError, match="cannot be loaded"):
        small(tmp_path).fit(dialogues(24))


def test_progress_is_told(encoder):
    told = []
    model = small(encoder, epochs=1)
    model.progress = lambda what, done, total: told.append((what, done, total))
    model.fit(dialogues(24))
    assert told and told[-1][1] == told[-1][2]


def kocosa_file(path: Path, count: int) -> None:
    """The column-oriented JSON of the release, with dialogues of our own."""
    columns: dict[str, dict[str, str]] = {"Context": {}, "Response": {}, "Sarcasm_Label": {}, "Sarcasm_Explanation": {}}
    for number in range(count):
        label = number % 2 == 0
        thing = (["지각", "숙제", "감기"] if label else ["휴가", "선물", "축제"])[number // 2 % 3]
        columns["Context"][str(number)] = f"A: 오늘 {thing} {number}\nB: 정말\nA: 응 {thing}"
        columns["Response"][str(number)] = "B: 정말 좋겠네"
        columns["Sarcasm_Label"][str(number)] = "Sarcasm" if label else "Non-Sarcasm"
        columns["Sarcasm_Explanation"][str(number)] = "비꼬는 말" if label else ""
    path.write_text(json.dumps(columns, ensure_ascii=False), encoding="utf-8")


def recipe():
    path = Path(__file__).parents[3] / "training" / "kocosa_recipe.py"
    spec = importlib.util.spec_from_file_location("kocosa_recipe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_kocosa_recipe_runs_from_files_to_scores(tmp_path):
    kocosa_file(tmp_path / "KoCoSa_dev.json", 100)
    encoder = tiny_encoder(
        tmp_path / "encoder", ["A: B: 오늘 정말 응 좋겠네 지각 숙제 감기 휴가 선물 축제"], longest=256
    )
    arguments = ["--data-dir", str(tmp_path), "--encoder", str(encoder)]
    arguments += ["--epochs", "12", "--learning-rate", "0.003"]
    result = CliRunner().invoke(recipe().main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "100 dialogues tested" in result.output
    assert float(result.output.split("balanced_accuracy ")[1].split()[0]) > 0.9


def test_the_recipe_takes_the_published_parts_and_the_papers_settings():
    module = recipe()
    settings = {"epochs": 5, "batch_size": 16, "learning_rate": 1e-5, "speaker_swap": 0.5, "turns": None}
    assert settings.items() <= module.SETTINGS.items()
    rows = [replace(e, split=("train", "dev", "test")[n % 3]) for n, e in enumerate(dialogues(30))]
    ((train, test),) = module.parts(rows)
    assert {e.split for e in train} == {"train", "dev"} and {e.split for e in test} == {"test"}
    assert len(module.parts([replace(e, split="dev") for e in rows])) == 5


def test_the_hub_tells_nothing_of_its_retries_while_an_encoder_is_loaded():
    logger = logging.getLogger("huggingface_hub.utils")
    with quiet():
        assert not logger.isEnabledFor(logging.WARNING)
    assert logger.isEnabledFor(logging.ERROR)
