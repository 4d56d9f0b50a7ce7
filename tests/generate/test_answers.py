"""Answers are read strictly: what keeps to the form is taken, what does not has a kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.generate.abnormal import read_finding
from deadpan.generate.caller import Malformed
from deadpan.generate.contrast import read_sincere, shared_words
from deadpan.generate.dialogue import read_dialogue
from deadpan.generate.draft import Draft
from deadpan.generate.language import languages, load_language
from deadpan.generate.ledger import Said
from deadpan.generate.situation import read_situation
from deadpan.records import Turn

GOOD = """A: How is the garden coming along these days?
B: The cat has dug up all of the tulips again.
A: All of them?
Explanation: Speaker B can praise the cat as a gardener, meaning that it ruined the flowers.
Response (B): It is a gifted gardener, and it works for nothing but tinned fish."""


def said(text, stop="stop"):
    return Said(text, stop)


def kind_of(read, *args):
    with pytest.raises(Malformed) as bad:
        read(*args)
    return bad.value.kind


def test_a_good_dialogue_is_taken_apart(english):
    written = read_dialogue(english, said(GOOD))
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
    assert read_dialogue(english, said(change(GOOD))).response.text.startswith("It is a gifted")


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
    assert kind_of(read_dialogue, english, said(change(GOOD))) == kind


def test_another_language_with_the_same_letters_is_noticed(english):
    german = (
        "A: Wie geht es eigentlich deinem schönen neuen Garten?\nB: Die Katze hat alle Tulpen ausgegraben.\n"
        "Explanation: Sie lobt die Katze ironisch als Gärtnerin.\n"
        "Response (A): Wie schön, dass endlich jemand bei dir den Garten pflegt."
    )
    assert kind_of(read_dialogue, english, said(german)) == "wrong_language"


@given(st.text(max_size=300))
def test_any_text_is_read_or_malformed(text):
    language = load_language("en")
    for read in (read_dialogue, read_situation):
        try:
            read(language, said(text or " "))
        except Malformed as bad:
            assert bad.kind


@pytest.mark.parametrize("code", languages())
def test_every_prompt_keeps_to_its_own_form(code):
    language = load_language(code)
    shots = {name: len(prompt.examples) for name, prompt in language.prompts.items()}
    assert shots == {"situation": 2, "dialogue": 2, "abnormal": 3, "sincere": 2}
    for example in language.prompts["situation"].examples:
        assert all(read_situation(language, said(example["answer"])))
    for example in language.prompts["dialogue"].examples:
        written = read_dialogue(language, said(example["answer"]))
        assert 3 <= len(written.context) <= 6
        assert 8 <= len(written.response.text.split()) <= 16
    findings = [read_finding(language, said(e["answer"])) for e in language.prompts["abnormal"].examples]
    assert [bool(finding) for finding in findings] == [False, True, True]
    for example in language.prompts["sincere"].examples:
        draft = Draft("x", (), response=Turn(example["speaker"], example["response"]))
        assert read_sincere(language, draft, said(example["answer"]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "late train - The train is late and it is cold.",
            ("late train", "The train is late and it is cold."),
        ),
        ("**late train – The train is late.**", ("late train", "The train is late.")),
        ("Situation: late train - The train is late.", ("late train", "The train is late.")),
        ("late train-The train is late.", ("late train", "The train is late.")),
    ],
)
def test_a_situation(english, text, found):
    assert read_situation(english, said(text)) == found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("one\ntwo", "not_one_line"),
        ("no dash here", "no_theme_or_summary"),
        ("a - " + "word " * 80, "too_long"),
        ("기차 - 기차가 늦어서 추운 상황", "wrong_language"),
    ],
)
def test_what_is_no_situation(english, text, kind):
    assert kind_of(read_situation, english, said(text)) == kind


def test_a_korean_situation_with_a_tight_dash(korean):
    found = read_situation(korean, said("저녁 메뉴-달걀을 태워 먹지 못하는 상황"))
    assert found == ("저녁 메뉴", "달걀을 태워 먹지 못하는 상황")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("normal - fine", ""),
        ("Abnormal - A contradicts himself.", "A contradicts himself."),
        ("**abnormal**", "abnormal"),
        ("Finding: normal.", ""),
    ],
)
def test_a_finding(english, text, found):
    assert read_finding(english, said(text)) == found


def test_no_finding(english, korean):
    assert kind_of(read_finding, english, said("normally I would say")) == "no_finding"
    assert read_finding(korean, said("비정상 - 말이 어긋난다")) == "말이 어긋난다"
    assert read_finding(korean, said("정상 - 자연스럽다")) == ""


def test_a_sincere_response_must_share_words_and_differ(english):
    draft = Draft("x", (), response=Turn("A", "How lovely, nine days without any heating at all."))
    good = "Sincere response: Nine days without any heating, come and stay with us."
    assert read_sincere(english, draft, said(good)) == "Nine days without any heating, come and stay with us."
    for text, kind in [
        ("Sincere response: How lovely, nine days without any heating at all!", "same_as_sarcastic"),
        ("Sincere response: Please come over and stay with us.", "shares_too_little"),
        ("Please come over", "no_sincere_response"),
        ("Sincere response:", "empty_answer"),
    ]:
        assert kind_of(read_sincere, english, draft, said(text)) == kind


def test_korean_words_share_their_stem():
    assert shared_words("비밀은 너한테", "비밀이라고 너한테만") == 1.0
    assert shared_words("cat", "catalogue") == 0.0
