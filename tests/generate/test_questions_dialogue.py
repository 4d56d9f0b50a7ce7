"""Answers of the dialogue step: read strictly, with small liberties forgiven, or held to a form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan import models
from deadpan.generate.generation import run_plan
from deadpan.generate.language import load_language
from deadpan.generate.questions import (
    DIALOGUE_SCHEMA,
    as_json,
    dialogue_grammar,
    line_grammar,
    lines_of_json,
    read_dialogue,
    read_line,
    read_scene,
    read_situation,
    scene_grammar,
)
from deadpan.llm import Client, LLMSettings, Unreadable
from deadpan.records import Turn
from dialogue_server import DialogueServer, answer, stage_of

GOOD = """A: How is the garden coming along these days?
B: The cat has dug up all of the tulips again.
A: All of them?
Explanation: Speaker B can praise the cat as a gardener, meaning that it ruined the flowers.
Response (B): It is a gifted gardener, and it works for nothing but tinned fish."""


def kind_of(read, *args):
    with pytest.raises(Unreadable) as bad:
        read(*args)
    return bad.value.kind


def test_a_good_dialogue_is_taken_apart(english):
    written = read_dialogue(english, GOOD)
    assert [turn.speaker for turn in written.context] == ["A", "B", "A"]
    assert written.response == Turn("B", "It is a gifted gardener, and it works for nothing but tinned fish.")
    assert written.explanation.startswith("Speaker B can praise")


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("Explanation:", "**Explanation:**").replace("Response (B):", "**Response (B):**"),
        lambda t: t.replace("Response (B): It", 'Response (B): "It'),
        lambda t: t.replace("Response (B):", "Sarcastic response（B）："),
        lambda t: t.replace("Response (B):", "Response: B:"),
        lambda t: "Here is the conversation:\n\n" + t,
        lambda t: "Situation: garden - a cat\n" + t,
        lambda t: t.replace("\n", "\n\n"),
        lambda t: t.replace("A: All", "- A: All"),
    ],
)
def test_small_liberties_are_forgiven(english, change):
    assert read_dialogue(english, change(GOOD)).response.text.startswith("It is a gifted")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("no_dialogue", lambda t: "\n".join(t.splitlines()[3:])),
        ("missing_explanation", lambda t: "\n".join(line for line in t.splitlines() if "Expl" not in line)),
        ("missing_response", lambda t: "\n".join(t.splitlines()[:4])),
        ("two_dialogues", lambda t: t + "\n" + t),
        ("two_dialogues", lambda t: t + "\nA: And so on."),
        ("two_dialogues", lambda t: t + "\nSituation: another - one"),
        ("missing_speaker", lambda t: t.replace("Response (B):", "Response:")),
        ("third_speaker", lambda t: t.replace("A: All", "C: All")),
        ("answers_itself", lambda t: t.replace("Response (B)", "Response (A)")),
        ("extra_text", lambda t: t + "\nI hope this helps you."),
        ("hollow_text", lambda t: t.replace("All of them?", "...?")),
        ("repeats_itself", lambda t: t.replace("It is a gifted gardener, and it works for nothing but tinned fish.", "All of them?")),
        ("wrong_language", lambda t: t.replace("How is the garden coming along these days?", "요즘 정원은 어떻게 되어 가고 있어?")),
        ("too_many_turns", lambda t: "".join(f"{'BA'[n % 2]}: The line {n} is it.\n" for n in range(13)).replace("line 12", "twelve") .rstrip() + "\n" + "\n".join(t.splitlines()[3:]).replace("(B)", "(A)")),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_kind(english, kind, change):
    assert kind_of(read_dialogue, english, change(GOOD)) == kind


def test_another_language_with_the_same_letters_is_noticed(english):
    german = (
        "A: Wie geht es eigentlich deinem schönen neuen Garten?\nB: Die Katze hat alle Tulpen ausgegraben.\n"
        "Explanation: Sie lobt die Katze ironisch als Gärtnerin.\n"
        "Response (A): Wie schön, dass endlich jemand bei dir den Garten pflegt."
    )
    assert kind_of(read_dialogue, english, german) == "wrong_language"


@given(st.text(max_size=300))
def test_any_text_is_read_or_malformed(text):
    language = load_language("en")
    for read in (read_dialogue, read_situation):
        try:
            read(language, text or " ")
        except Unreadable as bad:
            assert bad.kind


def test_an_explanation_that_loops_is_not_read():
    assert read_line("B thanks A for the umbrella, of which only the handle is left.")
    with pytest.raises(Unreadable, match="repeats_itself"):
        read_line("A thanks B for it, " + "but it is not what A wanted, " * 3)


SMALLEST, CACHE = "smollm2-135m", models.cache_root()
real = pytest.mark.skipif(SMALLEST not in models.installed(), reason=f"{SMALLEST} has not been pulled")


def test_json_and_lines_are_the_same_dialogue(english, korean):
    for language in (english, korean):
        for example in language.prompts["dialogue"].examples:
            written = read_dialogue(language, example["answer"])
            text = as_json(written.context, written.explanation, written.response)
            assert set(json.loads(text)) == set(DIALOGUE_SCHEMA["required"])
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
    assert all(body["response_format"]["json_schema"]["schema"] == DIALOGUE_SCHEMA for body in asked)
    shown = [m["content"] for m in asked[0]["messages"] if m["role"] == "assistant"]
    assert [set(json.loads(text)) for text in shown] == [set(DIALOGUE_SCHEMA["required"])] * 2


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
