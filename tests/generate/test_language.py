"""The prompts that come with deadpan, and languages recognised by their letters and common words."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError
from deadpan.generate.filters import level_names
from deadpan.generate.folder import Draft
from deadpan.generate.language import languages, load_language, matches_language, presets
from deadpan.generate.questions import (
    prompt_values,
    read_dialogue,
    read_finding,
    read_line,
    read_scene,
    read_sincere,
    read_situation,
)
from deadpan.records import Turn


@pytest.mark.parametrize("code", languages())
def test_every_prompt_keeps_to_its_own_form(code):
    language = load_language(code)
    shots = {name: len(prompt.examples) for name, prompt in language.prompts.items()}
    published = {"situation": 2, "dialogue": 2, "abnormal": 3, "sincere": 2}
    assert shots == {**published, "scene": 3, "response": 4, "mood": 4, "tone": 6}
    for example in language.prompts["situation"].examples:
        assert all(read_situation(language, example["answer"]))
    for example in language.prompts["dialogue"].examples:
        written = read_dialogue(language, example["answer"])
        assert 3 <= len(written.context) <= 6
        assert 8 <= len(written.response.text.split()) <= 16
    findings = [read_finding(language, e["answer"]) for e in language.prompts["abnormal"].examples]
    assert [bool(finding) for finding in findings] == [False, True, True]
    for example in language.prompts["scene"].examples:
        assert 3 <= len(read_scene(language, example["answer"])) <= 4
    for example in language.prompts["response"].examples:
        assert read_line(example["answer"]) == example["answer"] and example["explanation"]
    for name in ("mood", "tone"):
        prompt = language.prompts[name]
        assert len(prompt.choices) == 2 == len({e["answer"] for e in prompt.examples} & set(prompt.choices))
    for example in language.prompts["sincere"].examples:
        draft = Draft("x", (), response=Turn(example["speaker"], example["response"]))
        assert read_sincere(language, draft, example["answer"])


def test_the_prompt_of_kocosa_s_table_12_is_one_message_in_english():
    language = load_language("ko", preset="kocosa")
    levels = level_names({"A": "", "B": "polite"}, language)
    values = prompt_values(language, Draft("x", (), theme="퇴근", summary="야근", intimacy="2", politeness=levels))
    (message,) = language.prompts["dialogue"].messages(**values)
    text = message["content"]
    assert message["role"] == "user" and text.startswith("You are Korean.")
    # Unclear speech is informal there: the paper knows two levels.
    assert text.endswith(
        "Situation-퇴근-야근, Level of politeness: A-반말(Informal), B-존댓말(Formal)\nIntimacy: 2\nGenerate Example:"
    )
    assert "알 수 없음" not in text
    assert "Level of politeness: A-존댓말(Formal), B-반말(Informal))\nIntimacy: 3" in text
    assert text.count("Sarcasm Explanation:") == 2 and "Example 2. Situation: 자기계발" in text
    for example in language.prompts["dialogue"].examples:
        assert read_dialogue(language, example["answer"]).response.text
    assert language.prompts["situation"] == load_language("ko").prompts["situation"]
    own, ours = (loaded.fingerprint(["dialogue"]) for loaded in (language, load_language("ko")))
    assert own["language"] == ours["language"] and own["dialogue"] != ours["dialogue"]


def test_a_preset_belongs_to_its_language():
    assert presets()["kocosa"].language == "ko"
    with pytest.raises(ConfigError, match='is for language = "ko"'):
        load_language("en", preset="kocosa")
    with pytest.raises(ConfigError, match="unknown preset 'kocos'"):
        load_language("ko", preset="kocos")


def test_scripts_and_common_words():
    assert matches_language(["오늘 BTS 콘서트 간다", "ㅋㅋㅋ"], "hangul")
    assert not matches_language(["I am going to the concert"], "hangul")
    assert matches_language(["...?!"], "hangul")
    assert matches_language(["Привет, как дела?"], "cyrillic")
