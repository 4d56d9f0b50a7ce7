"""One suite over every detector: whatever is in SYSTEMS keeps the contract in deadpan/detect/system.py.

A system that needs a file, a server or a smaller size to be tried here has its settings made in SMALL.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadpan.detect import SYSTEMS
from deadpan.detect.detector import Detector
from deadpan.errors import DataError, MissingExtra, ModelError
from deadpan.records import Example, Predictor, Turn
from scripted_server import Script, ok
from tiny_encoder import tiny_encoder

Make = Callable[[Path], dict[str, Any]]

PLAIN = {".json", ".jsonl", ".npy", ".npz", ".txt", ".safetensors", ".toml", ".md", ".model"}
SARCASTIC = ["Oh great, another {}.", "Yeah, I just love {}.", "Wow, {} again, what a surprise!", "Sure, {}. Totally."]
SINCERE = ["The {} arrives at noon.", "I bought a {} today.", "Is the {} still there?", "We saw a {} by the lake."]
THINGS = ["meeting", "delay", "bus", "report", "rain", "call", "queue", "form", "bill", "song"]


def training() -> list[Example]:
    """Eighty texts a word model can tell apart, with a turn before each."""
    rows = []
    for number, thing in enumerate(THINGS):
        for label, forms in ((True, SARCASTIC), (False, SINCERE)):
            for place, form in enumerate(forms):
                rows.append(
                    Example(
                        f"{thing}-{label}-{place}",
                        Turn("B", form.format(thing)),
                        (Turn("A", f"Did you hear about the {thing}?"), Turn("B", "No."), Turn("A", "It's late.")),
                        label=label,
                        group=str(number),
                    )
                )
    return rows


def vector_file(folder: Path) -> dict[str, Any]:
    words = sorted({word.strip(".,!?").lower() for e in training() for word in e.response.text.split()})
    rng = np.random.default_rng(0)
    lines = [f"{word} " + " ".join(f"{x:.3f}" for x in rng.normal(size=8)) for word in words]
    path = folder / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"vectors": str(path)}


def small_network(folder: Path) -> dict[str, Any]:
    return {"dimension": 8, "hidden": 8, "epochs": 2, "batch_size": 16, "device": "cpu"}


def small_transformer(folder: Path) -> dict[str, Any]:
    pytest.importorskip("transformers")
    words = [turn.text for example in training() for turn in (*example.context, example.response)]
    encoder = tiny_encoder(folder / "encoder", words)
    return {"encoder": str(encoder), "epochs": 1, "device": "cpu"}


def small_frozen(folder: Path) -> dict[str, Any]:
    return {"encoder": small_transformer(folder)["encoder"]}


NETWORKS = ("lstm", "att-lstm", "cnn", "siarn", "miarn", "3cnn", "dense-lstm")
SMALL: dict[str, Make] = {
    **dict.fromkeys(NETWORKS, small_network),
    "transformer": small_transformer,
    "embedding": vector_file,
    "frozen": small_frozen,
    "history": lambda folder: {"text": "bow", "folds": 2},
    "blend": lambda folder: {"systems": ["bow", "cues"], "folds": 2},
    "distilled": lambda folder: {"student": "bow", "teacher": "blend:bow+cues", "folds": 2},
}


@pytest.fixture(scope="module", params=list(SYSTEMS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def settings(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What this system is made with here."""
    folder = tmp_path_factory.mktemp("system")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEADPAN_CACHE", str(folder / "cache"))
        if name != "prompted":
            yield SMALL[name](folder) if name in SMALL else {}
            return
        pytest.importorskip("openai")
        server = Script()
        server.acts = [lambda handler: ok("1" if "great" in handler.asked[-80:] else "0")(handler)]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield {"model": "scripted", "base_url": server.url, "key_env": "", "shots": 2}
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def make(name: str, settings: dict[str, Any]) -> Callable[..., Detector]:
    def build(**more: Any) -> Detector:
        try:
            return Detector(name, **settings, **more)
        except MissingExtra as missing:
            pytest.skip(str(missing))

    return build


@pytest.fixture(scope="module")
def fitted(make: Callable[..., Detector]) -> Detector:
    """One trained system, which tests may ask and save but not change."""
    try:
        return make(seed=3).fit(training())
    except MissingExtra as missing:
        pytest.skip(str(missing))


def test_it_is_a_predictor_and_tells_its_settings(make):
    detector = make(seed=5, turns=2, speakers=True)
    assert isinstance(detector.predictor, Predictor)
    told = detector.predictor.settings
    assert (told["seed"], told["turns"], told["speakers"]) == (5, 2, True)
    assert json.loads(json.dumps(told)) == told
    again = SYSTEMS.load(detector.system)(**told)
    assert again.settings == told


def test_one_prediction_an_example_in_order_with_a_probability(fitted):
    examples = training()[::-3]
    said = fitted.predict(examples)
    assert [p.example_id for p in said] == [e.id for e in examples]
    for prediction in said:
        assert prediction.label is None or isinstance(prediction.label, bool)
        assert prediction.score is None or (type(prediction.score) is float and 0 <= prediction.score <= 1)
    assert any(p.score is not None for p in said)


def test_order_and_company_do_not_change_an_answer(fitted, name):
    if name == "random":
        pytest.skip("its draws depend on ids, which the test on determinism covers")
    examples = training()
    whole = {p.example_id: p.score for p in fitted.predict(examples)}
    for prediction in fitted.predict(examples[7::-1]):
        assert prediction.score == pytest.approx(whole[prediction.example_id], abs=1e-5)


def test_the_same_seed_gives_the_same_model(make, fitted):
    again = make(seed=3).fit(training())
    assert again.predict(training()) == fitted.predict(training())


def test_nothing_in_nothing_out(fitted):
    assert fitted.predict([]) == []


def test_examples_without_a_label_are_left_out_of_training(make, fitted):
    mute = [replace(e, id=f"{e.id}-mute", label=None, response=Turn("", "Oh no, the sky.")) for e in training()]
    mixed = [row for pair in zip(training(), mute, strict=True) for row in pair]
    assert make(seed=3).fit(mixed).predict(training()) == fitted.predict(training())


@pytest.mark.parametrize("kept", [True, False, None])
def test_one_label_only_is_an_error(make, kept):
    only = [e for e in training() if e.label is kept]
    with pytest.raises(DataError, match="both labels"):
        make().fit(only)


@pytest.mark.parametrize("turns", [0, 1, None])
def test_saved_and_loaded_it_says_the_same(make, tmp_path, turns):
    try:
        detector = make(seed=1, turns=turns, speakers=turns is None).fit(training())
    except MissingExtra as missing:
        pytest.skip(str(missing))
    detector.save(tmp_path / "model")
    loaded = Detector.load(tmp_path / "model")
    assert loaded.predict(training()) == detector.predict(training())
    assert loaded.predictor.settings == detector.predictor.settings


def test_a_model_folder_holds_nothing_that_can_run(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    files = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert (tmp_path / "model" / "manifest.json") in files
    assert {path.suffix for path in files} <= PLAIN
    for path in files:
        if path.suffix == ".npy":
            np.load(path, allow_pickle=False)
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                assert all(archive[key].dtype != object for key in archive.files)


def test_a_changed_file_is_found(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    victim = max((p for p in (tmp_path / "model").rglob("*") if p.name != "manifest.json" and p.is_file()),
                 key=lambda path: path.stat().st_size)  # fmt: skip
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(bytes(data))
    with pytest.raises(ModelError, match="changed or missing"):
        Detector.load(tmp_path / "model")


def test_context_that_is_not_seen_changes_nothing(fitted, name):
    if name == "random":
        pytest.skip("sees nothing at all")
    if fitted.predictor.context.turns != 0:
        pytest.skip("sees context by default")
    examples = training()[:8]
    bare = [replace(example, context=()) for example in examples]
    assert [p.score for p in fitted.predict(bare)] == pytest.approx(
        [p.score for p in fitted.predict(examples)], abs=1e-5
    )


@pytest.mark.parametrize("text", ["", "   ", "\n", "?", "ㅋㅋㅋ 대박이네", "🙃" * 40, "\ud800 half", "a\0b"])
def test_odd_texts_get_an_answer(fitted, text):
    (said,) = fitted.predict([Example("odd", Turn("", text), (Turn("", text),))])
    assert said.score is None or 0 <= said.score <= 1


def test_a_megabyte_of_text_gets_an_answer(fitted):
    long = ("what a lovely delay " * 52_500)[:1_000_000]
    (said,) = fitted.predict([Example("long", Turn("", long))])
    assert said.score is None or 0 <= said.score <= 1
