"""Toxic words in their disguises, and innocent words that look alike."""

from __future__ import annotations

import pytest

from deadpan.errors import MissingExtra
from deadpan.generate.checks.toxicity import WordList, chosen_checks, open_checks
from deadpan.generate.plan import FilterPlan

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


@pytest.mark.real_corpora
def test_hardly_a_published_dialogue_is_called_toxic(real_corpora, korean):
    import json

    content = json.loads((real_corpora / "kocosa" / "KoCoSa_dev.json").read_text("utf-8"))
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
