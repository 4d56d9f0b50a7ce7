"""The default model: the whole path, offline, on a few items."""

from __future__ import annotations

import pytest

pytest.importorskip("xllamacpp")

from deadpan import models
from deadpan.bench.items.prompts import REASONED
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.folder import read_run
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import RunSettings, Sampling
from deadpan.bench.scores.score import score_run
from deadpan.errors import DeadpanError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_it_answers_offline_and_for_nothing(tmp_path):
    try:
        models.path("smollm2-135m")
    except DeadpanError as missing:
        pytest.skip(str(missing))
    [(folder, complete)] = run_models(
        ["embedded/smollm2-135m"], RunSettings(open_set("public"), runs=2, limit=2), tmp_path
    )
    scores = score_run(read_run(folder))
    assert complete
    assert (scores.cost, scores.rows, scores.escalated, scores.returned) == (0.0, 4, 0.0, ("smollm2-135m",))
    run = read_run(folder)
    assert run.plan.constrained
    assert all(row.output_tokens == 1 and row.stop_reason == "stop" and row.in_form for row in run.rows)
    assert all(row.prediction for row in run.rows)


def test_a_free_answer_of_the_embedded_model_can_be_requested(tmp_path):
    settings = RunSettings(open_set("public"), runs=1, limit=2, constrain=False)
    try:
        [(folder, _)] = run_models(["embedded/smollm2-135m"], settings, tmp_path)
    except DeadpanError as missing:
        pytest.skip(str(missing))
    assert not read_run(folder).plan.constrained
    assert any(row.output_tokens > 1 for row in read_run(folder).rows)


def test_with_reasoning_it_explains_itself_and_ends_with_a_letter(tmp_path):
    settings = RunSettings(open_set("public"), runs=1, limit=2, prompt=REASONED, sampling=Sampling(timeout=900))
    try:
        [(folder, complete)] = run_models(["embedded/smollm2-135m"], settings, tmp_path)
    except DeadpanError as missing:
        pytest.skip(str(missing))
    run = read_run(folder)
    assert complete and run.plan.constrained
    assert all(row.in_form and row.prediction and row.stop_reason == "stop" for row in run.rows)
    assert all(len(row.text) > len("\nFinal Answer: A") for row in run.rows)
