"""Forms that an answer cannot leave."""

from __future__ import annotations

import json

import pytest

from deadpan import models
from deadpan.generate.generation import run_plan
from deadpan.generate.steps.dialogue import read_dialogue, read_line, read_scene
from deadpan.generate.steps.forms import (
    SCHEMA,
    as_json,
    dialogue_grammar,
    line_grammar,
    lines_of_json,
    scene_grammar,
)
from deadpan.llm import Client, LLMSettings
from deadpan.llm.asking import Unreadable
from dialogue_server import DialogueServer, answer, stage_of

SMALLEST, CACHE = "smollm2-135m", models.cache_root()
real = pytest.mark.skipif(SMALLEST not in models.installed(), reason=f"{SMALLEST} has not been pulled")


def test_json_and_lines_are_the_same_dialogue(english, korean):
    for language in (english, korean):
        for example in language.prompts["dialogue"].examples:
            written = read_dialogue(language, example["answer"])
            text = as_json(written.context, written.explanation, written.response)
            assert set(json.loads(text)) == set(SCHEMA["required"])
            assert read_dialogue(language, lines_of_json(f"```json\n{text}\n```", language)) == written


@pytest.mark.parametrize("text", ["", "A: hi", "{", "{}", '{"turns": 3}', '{"turns": [1]}', "[1]", "{]}"])
def test_what_is_not_that_json_stays_as_it_is(english, text):
    assert lines_of_json(text, english) == text


def test_a_server_is_asked_for_the_schema_and_shown_it(plan_of, tmp_path):
    asked = []

    def in_json(body, times):
        if stage_of(body) != "dialogue":
            return None
        asked.append(body)
        lines = answer(body).splitlines()
        turns = [{"speaker": line[0], "text": line[3:]} for line in lines[:-2]]
        whole = {"turns": turns, "explanation": lines[-2].partition(": ")[2], "speaker": lines[-1][10]}
        whole["response"] = lines[-1].partition(": ")[2]
        return 200, DialogueServer._completion(json.dumps(whole))

    with DialogueServer(in_json) as server:
        plan = plan_of(3, rest='[dialogue]\nstructured = "json"')
        text = plan.read_text()
        start = text.index("http://127")
        plan.write_text(text.replace(text[start : text.index('"', start)], server.url))
        result = run_plan(plan)
    assert {step.step: step.kept for step in result.steps}["dialogue"] == 3
    assert all(body["response_format"]["json_schema"]["schema"] == SCHEMA for body in asked)
    shown = [m["content"] for m in asked[0]["messages"] if m["role"] == "assistant"]
    assert [set(json.loads(text)) for text in shown] == [set(SCHEMA["required"])] * 2


def in_form(read, language, text: str) -> bool:
    """Return whether a text has the form; a grammar cannot keep a model from nonsense or repetition."""
    try:
        read(language, text)
    except Unreadable as bad:
        return bad.kind in {"repeats_itself", "wrong_language", "hollow_text"}
    return True


@real
@pytest.mark.slow
def test_the_smallest_model_cannot_leave_a_grammar(english, korean, monkeypatch):
    """At temperature 1.5 it writes nonsense, but in the form, and in the language's own characters."""
    monkeypatch.setenv("DEADPAN_CACHE", str(CACHE))
    with Client(LLMSettings(model=f"embedded/{SMALLEST}", temperature=1.5, seed=3, cache=False)) as client:
        for language in (english, korean):
            ask = "Write a conversation."
            scene = client.complete(ask, max_tokens=400, extra={"grammar": scene_grammar(language)})
            assert in_form(read_scene, language, scene.text)
            line = client.complete(ask, max_tokens=200, extra={"grammar": line_grammar(language)})
            assert read_line(line.text)
            whole = client.complete(ask, max_tokens=900, extra={"grammar": dialogue_grammar(language)})
            assert in_form(read_dialogue, language, whole.text)
