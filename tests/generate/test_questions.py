"""The questions of a run, many at a time, and the reading of their answers."""

from __future__ import annotations

import asyncio

import pytest

from deadpan.generate.folder import Draft
from deadpan.generate.questions import _AHEAD, in_order, read_finding, read_sincere, read_situation, shared_words
from deadpan.llm import Unreadable
from deadpan.records import Turn


def test_results_come_in_the_order_of_the_items() -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(0.002 * (number % 3))
        return number * number

    assert list(in_order(work, range(40), workers=4)) == [number * number for number in range(40)]


def test_no_more_at_a_time_than_workers_and_few_ahead() -> None:
    running = most = taken = 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return number

    def items() -> object:
        nonlocal taken
        for number in range(60):
            taken = number + 1
            yield number

    for number in in_order(work, items(), workers=3):  # type: ignore[arg-type]
        assert taken - number <= 3 * _AHEAD
    assert most == 3


def test_after_an_error_what_is_under_way_ends_and_nothing_is_begun() -> None:
    begun, ended = set[int](), set[int]()

    async def work(number: int) -> int:
        begun.add(number)
        await asyncio.sleep(0.01 * (number + 1))
        if number == 0:
            raise ValueError("no")
        ended.add(number)
        return number

    with pytest.raises(ValueError, match="no"):
        list(in_order(work, range(50), workers=2))
    assert begun - ended == {0}
    assert len(begun) < 2 * _AHEAD


def test_one_who_stops_listening_leaves_nothing_running() -> None:
    begun, ended = set[int](), set[int]()

    async def work(number: int) -> int:
        begun.add(number)
        await asyncio.sleep(0.002)
        ended.add(number)
        return number

    results = in_order(work, range(50), workers=2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert begun == ended


def kind_of(read, *args):
    with pytest.raises(Unreadable) as bad:
        read(*args)
    return bad.value.kind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("late train - The train is late and it is cold.", ("late train", "The train is late and it is cold.")),
        ("**late train – The train is late.**", ("late train", "The train is late.")),
        ("Situation: late train - The train is late.", ("late train", "The train is late.")),
        ("late train-The train is late.", ("late train", "The train is late.")),
    ],
)
def test_a_situation(english, text, found):
    assert read_situation(english, text) == found


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
    assert kind_of(read_situation, english, text) == kind


def test_a_korean_situation_with_a_tight_dash(korean):
    found = read_situation(korean, "저녁 메뉴-달걀을 태워 먹지 못하는 상황")
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
    assert read_finding(english, text) == found


def test_no_finding(english, korean):
    assert kind_of(read_finding, english, "normally I would say") == "no_finding"
    assert read_finding(korean, "비정상 - 말이 어긋난다") == "말이 어긋난다"
    assert read_finding(korean, "정상 - 자연스럽다") == ""


def test_a_sincere_response_must_share_words_and_differ(english):
    draft = Draft("x", (), response=Turn("A", "How lovely, nine days without any heating at all."))
    good = "Sincere response: Nine days without any heating, come and stay with us."
    assert read_sincere(english, draft, good) == "Nine days without any heating, come and stay with us."
    for text, kind in [
        ("Sincere response: How lovely, nine days without any heating at all!", "same_as_sarcastic"),
        ("Sincere response: Please come over and stay with us.", "shares_too_little"),
        ("Please come over", "no_sincere_response"),
        ("Sincere response:", "empty_answer"),
    ]:
        assert kind_of(read_sincere, english, draft, text) == kind


def test_korean_words_share_their_stem():
    assert shared_words("비밀은 너한테", "비밀이라고 너한테만") == 1.0
    assert shared_words("cat", "catalogue") == 0.0
