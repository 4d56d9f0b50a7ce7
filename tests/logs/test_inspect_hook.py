"""The extension of Inspect, in a real run of two models with the installed version."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ROOT = Path(__file__).parents[2]
# Two models answer 40 questions; the good one has 36 right, the bad one 12. Without usage, tokens are counted online.
RUN = """
import os, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
import deadpan.logs.inspect_hook

def run(folder):
    models = []
    for name, right in (("good", 36), ("bad", 12)):
        outputs = [ModelOutput.from_content(name, "yes" if at < right else "no") for at in range(40)]
        for output in outputs:
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        models.append(get_model(f"mockllm/{name}", custom_outputs=outputs))
    samples = [Sample(f"Question {at}?", target="yes", id=at + 1) for at in range(40)]
    eval(Task(dataset=samples, scorer=match()), model=models, log_dir=folder, display="none", max_samples=1)

run(sys.argv[1])
del os.environ["DEADPAN_COMPARE"]
print("AGAIN")
run(sys.argv[1] + "-again")
"""


def test_the_entry_point_leads_to_a_registered_hook() -> None:
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]["deadpan"]
    from inspect_ai._util.registry import registry_lookup

    import_module(target)
    assert registry_lookup("hooks", "deadpan_compare") or registry_lookup("hooks", "deadpan/deadpan_compare")


@pytest.mark.slow
def test_a_run_of_two_models_ends_with_their_paired_comparison(tmp_path: Path) -> None:
    # In a process of its own: Inspect leaves streams open, which would count against whatever test comes next.
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "logs")], capture_output=True, text=True, check=True,
        env={**os.environ, "DEADPAN_COMPARE": "1"},
    )  # fmt: skip
    asked, not_asked = done.stdout.split("AGAIN")
    said = " ".join(asked.split())
    assert "mockllm/good - mockllm/bad" in said and "0.60 [0.44, 0.76]" in said and "is better" in said
    assert "40 items, paired" in said and "paired" not in not_asked.replace("Paired comparison of the models", "")
