"""SarcBench's Table 3: a run belongs to the row whose model it names."""

from __future__ import annotations

import pytest

from deadpan.reproduce.sarcbench import MODELS, is_named


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("anthropic/claude-opus-4-7", "Claude Opus 4.7"),
        ("anthropic/claude-opus-4-7-20260401", "Claude Opus 4.7"),
        ("openai/gpt-5.5", "GPT-5.5"),
        ("google/gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview"),
        ("openai-api/deepseek/deepseek-v4-pro", "DeepSeek V4 Pro"),
    ],
)
def test_an_id_is_its_row_and_no_other(model, row):
    assert [name for name in MODELS if is_named(model, name)] == [row]


@pytest.mark.parametrize("model", ["openai/gpt-5.5-mini", "baseline/random", "openai/gpt-5", ""])
def test_other_models_have_no_row(model):
    assert not [name for name in MODELS if is_named(model, name)]
