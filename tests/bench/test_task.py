"""The task for those who live in Inspect: the same prompts, voted on letters, never of a private set."""

from __future__ import annotations

import pytest

from bench_items import small_set

pytest.importorskip("inspect_ai")

from deadpan.bench.items.item import write_items
from deadpan.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_the_vote_is_on_letters_not_on_right_and_wrong():
    from inspect_ai.scorer import Score

    from deadpan.bench.task import plurality

    def voted(letters: str):
        scores = [Score(value="C" if each == "C" else "I", answer=each, metadata={"target": "C"}) for each in letters]
        return plurality()(scores)

    assert voted("CCDEF").value == 1.0  # Inspect's own `mode` calls this wrong: three of five are
    assert voted("CCDDF").value == 0.0
    assert voted("DDDCC").answer == "D"


def test_a_private_set_has_no_task(tmp_path):
    from deadpan.bench.task import sarcbench

    write_items(tmp_path / "mine.jsonl", small_set().items)
    with pytest.raises(ConfigError, match="is private"):
        sarcbench(str(tmp_path / "mine.jsonl"))


@pytest.mark.slow
def test_inspect_runs_it(tmp_path):
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from deadpan.bench.task import sarcbench

    items = small_set(3)
    write_items(tmp_path / "public-s.jsonl", items.items)
    said = ModelOutput.from_content("mockllm/model", "Final Answer: C")
    said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: said)
    [log] = run(
        sarcbench(str(tmp_path / "public-s.jsonl"), runs=3), model=model, log_dir=str(tmp_path / "logs"), display="none"
    )
    assert log.status == "success"
    right = sum(item.answer == 2 for item in items.items) / len(items.items)
    found = {score.reducer: score.metrics["accuracy"].value for score in log.results.scores}
    assert found == {"mean": pytest.approx(right), "plurality": pytest.approx(right)}
