"""Toxic words in their disguises, innocent words that look alike, languages, and levels of politeness."""

from __future__ import annotations

import pytest

from deadpan.errors import MissingExtra
from deadpan.generate.plan import FilterPlan
from deadpan.generate.politeness import inconsistency, korean_level, speaker_levels
from deadpan.generate.script import in_language
from deadpan.generate.toxicity import WordList, chosen_checks, open_checks
from deadpan.records import Turn

KOREAN_TOXIC = [
    "씨발 뭐야", "시1발", "씨.발", "ㅅㅂ 진짜", "ㅆㅂ", "이런 개새끼", "병신아", "ㅂㅅ", "지랄하네", "미친놈",
    "좆같다", "존나 웃겨", "이 새끼가", "저새끼", "새끼야", "썅", "또라이 아냐", "tlqkf", "개시발", "쪽바리", "닥쳐",
]  # fmt: skip
KOREAN_INNOCENT = [
    "다시 발표해 주세요", "시발점은 서울입니다", "이 열차의 시발역", "새끼손가락 걸고 약속", "강아지가 새끼를 낳았어", "날씨 발표",
    "아저씨 발이 크네요", "발병 신고를 했어요", "병신년에 태어났어", "5개년 계획", "촛불이 꺼져 있어", "가방을 뒤져 봐", "불이 꺼져서",
    "뭐인지랄까", "그 새끼 고양이 귀엽다", "존나단에게", "한 시 발 기차", "곤충이 많다", "ㅅㅅㅂㅂ", "이 새끼 강아지 좀 봐",
]  # fmt: skip
ENGLISH_TOXIC = [
    "What the fuck",
    "f*ck off",
    "f.u.c.k",
    "bullshit",
    "sh1t",
    "you bitch",
    "a$$hole",
    "kill yourself",
    "retarded",
]
ENGLISH_INNOCENT = [
    "I live in Scunthorpe", "the shuttle", "he is a classic", "assess the pitch", "a fig and a flag", "Dick is late", "Suffolk",
    "Perfect, I was just thinking how much I miss the taste of charcoal.", "shiitake mushrooms", "a prickly pear", "Go, diet!",
]  # fmt: skip


@pytest.mark.parametrize("text", KOREAN_TOXIC)
def test_korean_toxic(korean, text):
    assert WordList(korean.toxic_words).find([text])


@pytest.mark.parametrize("text", KOREAN_INNOCENT)
def test_korean_innocent(korean, text):
    assert not WordList(korean.toxic_words).find([text])


@pytest.mark.parametrize("text", ENGLISH_TOXIC)
def test_english_toxic(english, text):
    assert WordList(english.toxic_words)([["fine", text], ["fine"]])[1] == ""
    assert WordList(english.toxic_words).find(["fine", text])


@pytest.mark.parametrize("text", ENGLISH_INNOCENT)
def test_english_innocent(english, text):
    assert not WordList(english.toxic_words).find([text])


@pytest.mark.shared
def test_hardly_a_published_dialogue_is_called_toxic(shared, korean):
    import json

    content = json.loads((shared / "kocosa" / "KoCoSa_dev.json").read_text("utf-8"))
    check = WordList(korean.toxic_words)
    found = check([[content["Context"][i], content["Response"][i]] for i in content["Context"]])
    assert sum(map(bool, found)) <= 3


def test_the_trained_english_check(english):
    pytest.importorskip("profanity_check")
    plan = FilterPlan(toxicity=("profanity",))
    (check,) = open_checks(["profanity"], plan, english, None)
    insult, tease = (
        "You are a stupid moron",
        "Perfect, I was just thinking how much I miss the taste of charcoal.",
    )
    first, second = check([["fine", insult], [tease]])
    assert insult in first and second == ""


def test_auto_takes_what_is_here(english, korean, monkeypatch):
    assert chosen_checks(FilterPlan(), korean) == ("words",)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert chosen_checks(FilterPlan(), english) == ("words",)


def test_a_missing_library_says_the_pip_command(english, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "profanity_check", None)
    with pytest.raises(MissingExtra, match="generate"):
        open_checks(["profanity"], FilterPlan(), english, None)


def test_scripts_and_common_words():
    assert in_language(["오늘 BTS 콘서트 간다", "ㅋㅋㅋ"], "hangul")
    assert not in_language(["I am going to the concert"], "hangul")
    assert in_language(["...?!"], "hangul")
    assert in_language(["Привет, как дела?"], "cyrillic")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("요즘 밖에서 만날 수가 없어서 어렵습니다.", "polite"),
        ("저는 영어 학원에 등록했어요", "polite"),
        ("팀장님, 지금 5시 50분인데요.", "polite"),
        ("알겠습니당ㅎㅎ", "polite"),
        ("가시죠", "polite"),
        ("네", "polite"),
        ("살짝 눌어붙었어. 그러더니 불이 붙더라.", "plain"),
        ("뭐해?", "plain"),
        ("같이 가자ㅋㅋ", "plain"),
        ("응", "plain"),
        ("오늘 자정.", ""),
        ("ㅋㅋㅋ", ""),
        ("이거 진짜 맛있음", ""),
    ],
)
def test_korean_levels(text, level):
    pytest.importorskip("kiwipiepy")
    assert korean_level(text) == level


def test_a_speaker_is_what_most_of_their_turns_are():
    judge = {"p": "polite", "q": "plain", "?": ""}.get
    turns = [Turn("A", "p"), Turn("A", "p"), Turn("A", "q"), Turn("B", "p"), Turn("B", "q"), Turn("B", "?")]
    assert speaker_levels(turns, judge) == {"A": "polite", "B": ""}


def test_politeness_must_hold(korean):
    judge = {"p": "polite", "q": "plain", "?": ""}.get
    asked = {"A": "존댓말", "B": "알 수 없음"}
    assert inconsistency([Turn("A", "p"), Turn("B", "q"), Turn("A", "?")], asked, korean, judge) == ""
    assert inconsistency([Turn("A", "q"), Turn("B", "q")], asked, korean, judge) == "A should be 존댓말"
    assert inconsistency([Turn("B", "p"), Turn("B", "q")], asked, korean, judge) == "B switches"
