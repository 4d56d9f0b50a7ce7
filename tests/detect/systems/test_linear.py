"""The linear system: its settings, many examples, and a compact model."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.systems.linear import Linear
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Turn
from deadpan.storage import read_json, write_json


def examples(count: int) -> list[Example]:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(count):
        label = bool(number % 2)
        said = " ".join(rng.choice(["alpha", "beta", "gamma", "delta"], 4)) + (" sure" if label else " yes")
        rows.append(Example(str(number), Turn("", said), label=label))
    return rows


def test_many_examples_are_learnt_from_in_parts_and_calibrated(monkeypatch):
    monkeypatch.setattr("deadpan.detect.systems.linear.MANY", 150)
    monkeypatch.setattr("deadpan.detect.systems.linear.TRIED_ON", 90)
    model = Linear().fit(examples(300))
    assert all(
        said.label == example.label for said, example in zip(model.predict(examples(300)), examples(300), strict=True)
    )
    assert model.top_features(1)[0][0][0] in {"sure", "sure $"}


@pytest.mark.parametrize("bad", [{"strength": 0}, {"weighting": "loud"}, {"turns": -1}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ConfigError):
        Linear(**bad)


def test_an_unknown_setting_is_an_error_that_names_the_system():
    with pytest.raises(ConfigError, match="linear"):
        Detector("linear", depth=3)


def test_repeating_a_sentence_does_not_make_it_certain():
    texts = [
        f"{opening} {thing} {end}"
        for opening, end in (("oh sure the", "again great"), ("we saw the", "at noon today"))
        for thing in ("bus", "rain", "bill", "call", "song", "form", "queue", "report")
    ]
    rows = [Example(str(n), Turn("", t), label=t.startswith("oh"), group=t.split()[3]) for n, t in enumerate(texts)]
    model = Linear().fit(rows * 1)
    odds = [
        np.log(p.score / (1 - p.score))
        for p in model.predict([Example("x", Turn("", "sure the bus at noon " * times)) for times in (1, 5, 200)])
    ]
    assert abs(odds[2] - odds[0]) < 0.5 * max(abs(odds[0]), 0.5)


def test_a_model_of_an_older_format_is_refused(tmp_path):
    Detector("linear").fit(examples(40)).save(tmp_path)
    state = read_json(tmp_path / "linear.json")
    state.pop("format")
    write_json(tmp_path / "linear.json", state)
    with pytest.raises(DataError, match="train it again"):
        Linear.load(tmp_path)
