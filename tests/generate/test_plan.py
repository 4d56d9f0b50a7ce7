"""Sizes of models by their names."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError
from deadpan.generate.plan import _CANDIDATES, GenerationPlan, model_size


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("embedded/qwen2.5-coder-1.5b", "small"),
        ("embedded/smollm2-135m", "small"),
        ("ollama/llama3.2:3b", "small"),
        ("vllm/Qwen/Qwen3-8B", "small"),
        ("ollama/gemma3:12b-it-qat", "small"),
        ("openrouter/meta-llama/llama-3.3-70b-instruct", "large"),
        ("openrouter/mistralai/mixtral-8x22b", "large"),
        ("gpt-4o-mini", "large"),
        ("anthropic/claude-haiku-4-5", "large"),
        ("o3", "large"),
        ("azure/my-deployment", "large"),
    ],
)
def test_the_parameters_in_a_name_are_its_size(name, size):
    assert model_size(name) == size


def test_a_large_model_samples_as_published_and_a_small_one_does_not():
    large, small = (GenerationPlan(model={"model": name}) for name in ("gpt-4o", "ollama/llama3.2:3b"))
    assert (large.settings("dialogue").temperature, large.settings("dialogue").top_p) == (1.1, 0.8)
    assert (large.settings("situation").temperature, large.candidates) == (1.0, 1)
    assert small.settings("dialogue").temperature == 0.7 and small.candidates == _CANDIDATES
    own = GenerationPlan(model={"model": "llama-3b"}, dialogue={"temperature": 1.3, "candidates": 2})
    assert own.part_settings("response").temperature == 1.3 and own.candidates == 2
    assert own.part_settings("mood").temperature == 0.0, "a back-check is never random"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"dialogue": {"candidates": 0.5}}, "dialogue.candidates needs a whole number from 1 to 20"),
        ({"dialogue": {"candidates": 99}}, "from 1 to 20"),
        ({"dialogue": {"structured": "xml"}}, "unknown dialogue.structured 'xml'"),
        ({"abnormal": {"candidates": 2}}, "write it under \\[dialogue\\]"),
    ],
)
def test_wrong_settings_say_the_cure(table, said):
    with pytest.raises(ConfigError, match=said):
        GenerationPlan(**table)
