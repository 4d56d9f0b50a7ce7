"""The extension of Inspect, in a real run of two models with the installed version."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ROOT = Path(__file__).parents[2]


def run_two_models(folder: Path, right: dict[str, int]) -> None:
    """Let each model answer 40 questions, the first `right` of them rightly."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match

    samples = [Sample(f"Question {at}?", target="yes", id=at + 1) for at in range(40)]
    models = []
    for name, n in right.items():
        outputs = [ModelOutput.from_content(name, "yes" if at < n else "no") for at in range(40)]
        for output in outputs:
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else they are counted online
        models.append(get_model(f"mockllm/{name}", custom_outputs=outputs))
    eval(Task(dataset=samples, scorer=match()), model=models, log_dir=str(folder), display="none", max_samples=1)


def test_the_entry_point_leads_to_a_registered_hook() -> None:
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]["deadpan"]
    from inspect_ai._util.registry import registry_lookup

    import_module(target)
    assert registry_lookup("hooks", "deadpan_compare") or registry_lookup("hooks", "deadpan/deadpan_compare")


@pytest.mark.slow
def test_a_run_of_two_models_ends_with_their_paired_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import_module("deadpan.logs.inspect_hook")
    monkeypatch.setenv("DEADPAN_COMPARE", "1")
    run_two_models(tmp_path / "logs", {"good": 36, "bad": 12})
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "mockllm/good - mockllm/bad" in said
        and "0.60 [0.44, 0.76]" in said
        and "is better" in said
        and "40 items, paired" in said
    )
    monkeypatch.delenv("DEADPAN_COMPARE")
    run_two_models(tmp_path / "more", {"good": 36, "bad": 12})
    assert "paired" not in capsys.readouterr().out
