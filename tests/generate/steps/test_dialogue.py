"""Answers of the dialogue step: read strictly, with small liberties forgiven."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.generate.language import load_language
from deadpan.generate.steps.dialogue import read_dialogue, read_line
from deadpan.generate.steps.situation import read_situation
from deadpan.llm import Unreadable
from deadpan.records import Turn

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
