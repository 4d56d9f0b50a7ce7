"""The mirage test finds a detector that only knows generated text, and clears one that does not."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from deadpan.detect import study_origin
from deadpan.detect.studies.origin import _probe
from deadpan.errors import DeadpanError
from deadpan.records import Example, Prediction, Turn

NOUNS = [f"noun{i}" for i in range(120)]
TONE = {True: ["brilliant", "splendid", "genius"], False: ["late", "cold", "broken"]}
MADE = [f"indeed{i}" for i in range(12)]


def corpus(name: str, *, made: bool, tone: float, by_origin: float = 0.0, n: int = 240) -> list[Example]:
    """Texts with a tone word; generated ones have words of their own, more of them if sarcastic."""
    rng = random.Random(name)
    rows = []
    for i in range(n):
        label = i % 2 == 0
        words = rng.sample(NOUNS, 8)
        words.append(rng.choice(TONE[label if rng.random() < tone else not label]))
        if made and rng.random() < (0.5 + by_origin / 2 if label else 0.5 - by_origin / 2):
            words += rng.sample(MADE, 2)
        rng.shuffle(words)
        rows.append(Example(f"{name}{i}", Turn("", " ".join(words)), label=label, source=name))
    return rows


@pytest.mark.slow
def test_a_detector_of_generated_text_is_found_out():
    made = {"made": corpus("made", made=True, tone=0.5, by_origin=0.9)}
    said = {"said": corpus("said", made=False, tone=0.95)}
    result = study_origin(made, said, system="bow")
    moves = result.moves()
    assert moves["within generated"] > 0.85
    assert moves["generated to organic"] < 0.65
    assert result.explained["made"].share.low > 0.1
    assert abs(result.explained["said"].share.value) < 0.3


@pytest.mark.slow
def test_a_detector_of_tone_passes(tmp_path):
    made = {"made": corpus("made", made=True, tone=0.95)}
    said = {"said": corpus("said", made=False, tone=0.95)}
    result = study_origin(made, said, system="bow")
    assert result.moves()["generated to organic"] > 0.8
    assert abs(result.explained["made"].share.value) < 0.25
    result.write(tmp_path)
    assert json.loads((tmp_path / "origin.json").read_text())["origin_auc"]["value"] > 0.5
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_the_probe_does_not_tell_languages_apart():
    made = corpus("made", made=True, tone=0.9, n=80)
    said = [replace(row, language="ko") for row in corpus("said", made=False, tone=0.9, n=80)]
    with pytest.raises(DeadpanError, match="no language has both"):
        study_origin({"made": [replace(row, language="en") for row in made]}, {"said": said}, system="bow")
    origin, scores, *_ = _probe({"made": made, "said": said, "more": corpus("x", made=False, tone=0.9, n=80)},
                               {"made"}, 0)  # fmt: skip
    assert origin.n == 240  # a language that is not known is the usual one, here Korean
    _, scores, _, told = _probe(
        {"a": [replace(r, language="en") for r in made], "b": said, "c": [replace(r, id=f"c{r.id}", language="en") for r in said]},
        {"a"}, 0,
    )  # fmt: skip
    assert set(scores[80:160].tolist()) == {0.5}
    assert not told[80:160].any()


class Listener:
    """A model that hears the tone of generated text, and of organic speech only if `both`."""

    def __init__(self, *, both: bool) -> None:
        self.both = both

    def predict(self, examples):
        return [Prediction(e.id, None, self._score(e)) for e in examples]

    def _score(self, example):
        hears = self.both or example.source == "made"
        return float(any(word in example.response.text for word in TONE[True])) if hears else 0.5


@pytest.mark.slow
def test_a_language_model_that_is_deaf_to_speech_and_one_that_is_not():
    made = {"made": corpus("made", made=True, tone=0.95),
            "ours": [e for e in corpus("ours", made=True, tone=1.0, n=60) if e.label]}  # fmt: skip
    said = {"said": corpus("said", made=False, tone=0.95)}
    deaf = study_origin(made, said, system="bow", llm=Listener(both=False), asked=200)
    assert "better on generated text" in deaf.asked.verdict
    assert "ours" in deaf.told and "ours" not in deaf.explained  # sarcastic only: nothing to rank
    assert "Listener" in deaf.summary().text()
    assert "no significant difference" in study_origin(
        made, said, system="bow", llm=Listener(both=True), asked=200
    ).asked.verdict  # fmt: skip


def test_bad_input_is_one_line():
    rows = corpus("a", made=False, tone=0.9, n=40)
    with pytest.raises(DeadpanError, match="at least one organic"):
        study_origin({"a": rows}, {})
    with pytest.raises(DeadpanError, match="named as generated and as organic"):
        study_origin({"a": rows}, {"a": rows})
    with pytest.raises(DeadpanError, match="needs both labels"):
        study_origin({"a": rows}, {"b": [row for row in rows if row.label]})
