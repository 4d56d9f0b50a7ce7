"""Every filter, by a planted dialogue that it must drop with its reason, beside one that it must keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deadpan.errors import MissingExtra
from deadpan.generate.filters import ToxicWordList, chosen_checks, open_checks
from deadpan.generate.folder import Draft, GenerationFolder, StepWriter
from deadpan.generate.generation import run_only, run_plan
from deadpan.generate.plan import STEP_NAMES, FilterPlan, GenerationPlan, open_plan
from deadpan.generate.questions import read_dialogue
from deadpan.records import Turn
from dialogue_server import stage_of
from scripted_server import send, served

SOURCE = (Turn("A", "Did you water the plants while I was away?"), Turn("B", "I thought that you had."))
CONTEXT = (Turn("A", "How is the garden coming along?"), Turn("B", "The cat has dug up all of the tulips."))
RESPONSE = Turn("A", "It is a gifted gardener, and it works for nothing but tinned fish.")
EXPLANATION = "Speaker A praises the cat as a gardener, meaning that it ruined the flowers."
GOOD = Draft("good", SOURCE, context=CONTEXT, response=RESPONSE, explanation=EXPLANATION)

KOREAN = Draft(
    "good",
    (Turn("A", "오늘 저녁은 뭐 먹을까?"), Turn("B", "집에 달걀밖에 없어.")),
    politeness={"A": "반말", "B": "존댓말"},
    context=(Turn("A", "저녁 준비는 잘 되어 가?"), Turn("B", "달걀이 조금 탔어요.")),
    response=Turn("A", "역시 너는 숯을 굽는 솜씨가 아주 훌륭하구나."),
    explanation="A는 달걀을 태운 B를 칭찬하는 척하며 비꼰다.",
)


def said(text: str, **changes: object) -> Draft:
    """Return the good dialogue with another response."""
    return replace(GOOD, id="bad", response=Turn("A", text), **changes)


def filtered(plan: GenerationPlan, *drafts: Draft) -> dict[str, str]:
    """Run the filter step on these dialogues; return the reason of each drop, empty for what was kept."""
    run = GenerationFolder(plan.out)
    for name in STEP_NAMES[: STEP_NAMES.index("filter")]:
        with StepWriter(run, name, {}, 0) as out:
            for draft in drafts:
                out.keep(draft)
    result = run_only(plan, "filter")
    reasons = {dropped.id: dropped.reason for dropped in run.dropped("filter")}
    assert sum(result.drops.values()) == len(reasons) and result.kept == len(drafts) - len(reasons)
    return {draft.id: reasons.get(draft.id, "") for draft in drafts}


def plan_in(folder: Path, code: str = "en", **checks: object) -> GenerationPlan:
    """Return a plan with its filters as they are by default, but for `checks`."""
    return GenerationPlan(language=code, out=folder / "run", filter=FilterPlan(**checks))


PLANTED = {
    "toxic": said("What the fuck is it doing in the garden, that is just what we need."),
    "wrong_language": replace(said("요즘 정원은 어떻게 되어 가고 있어?"), explanation="정원이 엉망이라는 뜻이다."),
    "near_duplicate": replace(GOOD, id="bad", explanation="Speaker A means that the cat is no gardener."),
    "copies_source": replace(GOOD, id="bad", source=(*CONTEXT, RESPONSE)),
}


@pytest.mark.parametrize("reason", PLANTED)
def test_a_planted_dialogue_is_dropped_with_its_reason(tmp_path, reason):
    assert filtered(plan_in(tmp_path), GOOD, PLANTED[reason]) == {"good": "", "bad": reason}


def test_a_copy_of_the_prompts_example_is_dropped(tmp_path, english):
    example = read_dialogue(english, english.prompts["dialogue"].examples[0]["answer"])
    copy = replace(GOOD, id="bad", context=example.context, response=example.response)
    assert filtered(plan_in(tmp_path), GOOD, copy) == {"good": "", "bad": "copies_example"}


def test_a_planted_korean_dialogue_is_dropped(tmp_path):
    toxic = replace(KOREAN, id="toxic", response=Turn("A", "시1발 역시 너는 숯을 굽는 솜씨가 훌륭하구나."))
    switches = replace(
        KOREAN,
        id="switches",
        context=(Turn("A", "택배는 언제 온다고 해?"), Turn("B", "내일 와요."), Turn("A", "정말입니까?")),
        response=Turn("B", "네, 우체국은 약속을 참 잘 지키니까요."),
    )
    wrong = replace(
        KOREAN,
        id="wrong",
        context=(Turn("A", "버스가 왜 이렇게 안 올까?"), Turn("B", "벌써 한 시간이나 지났어.")),
        response=Turn("A", "덕분에 별 구경도 하고 아주 좋네."),
    )
    reasons = filtered(plan_in(tmp_path, "ko"), KOREAN, toxic, switches, wrong)
    assert reasons == {"good": "", "toxic": "toxic", "switches": "politeness", "wrong": "politeness"}


@pytest.mark.parametrize("check", ["words", "profanity"])
def test_every_toxicity_check_drops_by_itself(tmp_path, check):
    pytest.importorskip("profanity_check") if check == "profanity" else None
    plan = plan_in(tmp_path, toxicity=(check,))
    assert filtered(plan, GOOD, PLANTED["toxic"]) == {"good": "", "bad": "toxic"}


def test_what_an_endpoint_flags_is_dropped(tmp_path):
    def moderate(handler: object) -> None:
        flagged = "unkind" in handler.asked  # type: ignore[attr-defined]
        result = {"flagged": flagged, "categories": {"harassment": flagged}, "category_scores": {}}
        send(200, {"id": "m", "model": "m", "results": [result]})(handler)

    with served() as server:
        server.acts = [moderate]
        model = {"model": "any", "base_url": server.url, "key_env": ""}
        plan = replace(plan_in(tmp_path, toxicity=("moderation",)), model=model)
        bad = said("What an unkind thing it is to say of a cat in the garden.")
        assert filtered(plan, GOOD, bad) == {"good": "", "bad": "toxic"}


def test_a_filter_that_is_off_keeps_what_it_would_drop(tmp_path):
    plan = plan_in(tmp_path, language=False, toxicity=(), duplicates=False)
    for reason, bad in PLANTED.items():
        assert filtered(plan, GOOD, bad) == {"good": "", "bad": ""}, reason


def test_a_toxic_answer_of_the_model_does_not_reach_people(plan_of, server):
    """From the source to the last step: one toxic answer among good ones."""

    def fault(body, nth):
        if stage_of(body) == "dialogue" and body["messages"] not in spoilt:
            spoilt.append(body["messages"])
            if len(spoilt) == 1:
                lines = [*(f"{turn.speaker}: {turn.text}" for turn in CONTEXT), f"Explanation: {EXPLANATION}"]
                return 200, "\n".join([*lines, f"Response (A): {PLANTED['toxic'].response.text}"])
        return None

    spoilt: list[object] = []
    server.fault = fault
    result = run_plan(open_plan(plan_of(6)))
    dropped = {step.step: dict(step.drops) for step in result.steps}
    assert dropped["filter"] == {"toxic": 1}
    assert result.read == 6 == result.kept + result.dropped
    assert not any("fuck" in example.response.text for example in result.examples())


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
    assert ToxicWordList(korean.toxic_words).find([text])


@pytest.mark.parametrize("text", KOREAN_INNOCENT)
def test_korean_innocent(korean, text):
    assert not ToxicWordList(korean.toxic_words).find([text])


@pytest.mark.parametrize("text", ENGLISH_TOXIC)
def test_english_toxic(english, text):
    assert ToxicWordList(english.toxic_words)([["fine", text], ["fine"]])[1] == ""
    assert ToxicWordList(english.toxic_words).find(["fine", text])


@pytest.mark.parametrize("text", ENGLISH_INNOCENT)
def test_english_innocent(english, text):
    assert not ToxicWordList(english.toxic_words).find([text])


@pytest.mark.real_corpora
def test_hardly_a_published_dialogue_is_called_toxic(real_corpora, korean):
    import json

    content = json.loads((real_corpora / "kocosa" / "KoCoSa_dev.json").read_text("utf-8"))
    check = ToxicWordList(korean.toxic_words)
    found = check([[content["Context"][i], content["Response"][i]] for i in content["Context"]])
    assert sum(map(bool, found)) <= 3


def test_the_trained_english_check(english):
    pytest.importorskip("profanity_check")
    plan = FilterPlan(toxicity=("profanity",))
    (check,) = open_checks(["profanity"], plan, english, None)
    insult, tease = ("You are a stupid moron", "Perfect, I was just thinking how much I miss the taste of charcoal.")
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
