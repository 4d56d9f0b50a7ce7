"""The default model: the whole path, offline, on a few items."""

from __future__ import annotations

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("xllamacpp")

from deadpan import models
from deadpan.bench.folder import read_run
from deadpan.bench.run import Job, run_models
from deadpan.bench.scores import score_run
from deadpan.bench.sets import open_set
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
        ["embedded/smollm2-135m"], Job(open_set("public"), runs=2, limit=2), tmp_path
    )
    scores = score_run(read_run(folder))
    assert complete
    assert (scores.cost, scores.rows, scores.escalated, scores.returned) == (0.0, 4, 0.0, ("smollm2-135m",))
