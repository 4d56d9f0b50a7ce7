"""Levels of politeness, by sentence endings and by a classifier."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError, ModelError
from deadpan.generate.filters import _PLAIN, _POLITE, classifier, inconsistency, korean_level, speaker_levels
from deadpan.records import Turn
from tiny_encoder import tiny_encoder


@pytest.fixture
def polite_classifier(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = tiny_encoder(tmp_path / "encoder", ["안녕하세요", "안녕"])
    labels = {0: "informal", 1: "formal"}
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, id2label=labels)
    model.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_classifier_tells_levels(polite_classifier):
    judge = classifier(str(polite_classifier), "formal")
    assert {judge("안녕하세요"), judge("안녕")} <= {_POLITE, _PLAIN}
    other = classifier(str(polite_classifier), "informal")
    assert speaker_levels([Turn("A", "안녕")], judge) != speaker_levels([Turn("A", "안녕")], other)


def test_a_classifier_without_that_label_says_which_it_has(polite_classifier):
    with pytest.raises(ConfigError, match="informal, formal"):
        classifier(str(polite_classifier), "polite")


def test_a_classifier_that_is_not_here(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(ModelError, match="fetch them first"):
        classifier(str(tmp_path / "nowhere"), "formal")


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
