"""Several candidates: the one that contrasts with its scene is kept, and nothing without contrast."""

from __future__ import annotations

import json
import shutil

import pytest

from deadpan.errors import ConfigError
from deadpan.generate.folder import GenerationFolder
from deadpan.generate.generation import estimate_cost, run_plan
from deadpan.generate.language import load_language
from deadpan.generate.pipeline import word_sequences, word_starts
from deadpan.generate.release import write_release
from dialogue_server import DialogueServer, answer, stage_of

SMALL = "\n[filter]\nabnormal = false\n"


def small(plan_of, count, candidates=3):
    """Return a plan whose model counts as small."""
    plan = plan_of(count, rest=f"[dialogue]\ncandidates = {candidates}\ntries = 2\n{SMALL}")
    plan.write_text(plan.read_text().replace("writer-1", "writer-1b"))
    return plan


def test_the_friendliest_response_to_a_bad_scene_is_kept(plan_of, tmp_path):
    result = run_plan(small(plan_of, 12))
    steps = {step.step: step for step in result.steps}
    written = steps["dialogue"]
    assert written.read == 12 == written.kept + sum(written.drops.values())
    assert set(written.drops) <= {"no_contrast"} and written.kept >= 6
    for draft in GenerationFolder(tmp_path / "run").drafts("dialogue"):
        assert draft.response.text.startswith("lovely") and draft.contrast == 1.0
        assert draft.response.speaker != draft.context[-1].speaker and draft.explanation


def test_no_more_is_written_than_needed(plan_of, server):
    run_plan(small(plan_of, 4, candidates=6))
    # situation, scene and mood, then response and tone until one is friendly, then the explanation
    assert len(server.asked) < 4 * (1 + 2 + 2 * 6 + 1)


def test_a_killed_run_repeats_no_call(plan_of, server, tmp_path):
    plan = small(plan_of, 4)
    run_plan(plan)
    before = GenerationFolder(tmp_path / "run").kept("dialogue").read_bytes()
    (tmp_path / "run" / "4-dialogue" / "manifest.json").unlink()
    asked = len(server.asked)
    run_plan(plan, resume=True)
    assert len(server.asked) == asked
    assert GenerationFolder(tmp_path / "run").kept("dialogue").read_bytes() == before


def test_a_pleasant_scene_is_asked_for_again_and_then_dropped(plan_of, tmp_path):
    def pleasant(body, times):
        if stage_of(body) == "scene":
            completion = json.loads(DialogueServer._completion("A: It is so pleasant.\nB: Yes, it is pleasant."))
            return 200, json.dumps(completion).encode()
        return None

    with DialogueServer(pleasant) as server:
        plan = small(plan_of, 2)
        text = plan.read_text()
        start = text.index("http://127")
        plan.write_text(text.replace(text[start : text.index('"', start)], server.url))
        result = run_plan(plan)
    assert {step.step: step.drops for step in result.steps}["dialogue"] == {"pleasant_scene": 2}
    dropped = next(GenerationFolder(tmp_path / "run").dropped("dialogue"))
    assert "so pleasant" in dropped.raw


def test_a_folder_without_the_prompts_says_what_to_do(plan_of, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(load_language("en").folder, mine)
    (mine / "tone.toml").unlink()
    plan = small(plan_of, 2)
    plan.write_text(plan.read_text().replace('out = "run"', 'out = "run"\nprompts = "mine"'))
    with pytest.raises(ConfigError, match="set candidates = 1"):
        run_plan(plan)


def test_probabilities_of_a_server_decide_where_it_gives_them(plan_of, tmp_path):
    def with_logprobs(body, times):
        if "logprobs" not in body:
            return None
        reply = json.loads(DialogueServer._completion(answer(body)))
        likely = {"bad": -0.5, "good": -1.5} if stage_of(body) == "mood" else {"positive": -0.7, "neg": -0.8}
        top = [{"token": f" {word}", "logprob": log} for word, log in likely.items()]
        reply["choices"][0]["logprobs"] = {"content": [{"token": "x", "top_logprobs": top}]}
        return 200, json.dumps(reply).encode()

    with DialogueServer(with_logprobs) as server:
        plan = small(plan_of, 2)
        text = plan.read_text()
        start = text.index("http://127")
        plan.write_text(text.replace(text[start : text.index('"', start)], server.url))
        run_plan(plan)
    for draft in GenerationFolder(tmp_path / "run").drafts("dialogue"):
        assert draft.contrast == pytest.approx(0.731 * 0.525, abs=0.001)


def test_the_context_may_be_the_source_itself(plan_of, tmp_path):
    plan = small(plan_of, 6)
    plan.write_text(plan.read_text().replace("tries = 2", 'tries = 2\nscene = "source"'))
    result = run_plan(plan)
    steps = {step.step: step for step in result.steps}
    assert steps["dialogue"].kept >= 3
    assert not steps["filter"].drops.get("copies_source"), "it is meant to"
    for draft in GenerationFolder(tmp_path / "run").drafts("filter"):
        assert draft.context == draft.source and draft.response.speaker != draft.context[-1].speaker
    released = write_release(plan, tmp_path / "data", unjudged=True)
    assert "their licence and their personal data apply" in (tmp_path / "data" / "README.md").read_text()
    assert released.statistics.dialogues == steps["filter"].kept


def test_a_response_fits_its_scene_by_its_words_and_copies_no_example():
    assert word_starts("The ovens were never switched on!") & word_starts("You forgot the switch.")
    assert not word_starts("How kind of you.", {"kind"}) & word_starts("A kind oven")
    assert word_starts("트럭이 지나가네") & word_starts("와, 트럭 소리 좋다")
    assert word_sequences("I always felt English was") & word_sequences("well, I always felt English, too")
    assert not word_sequences("Thank you, Gran!")


def test_the_estimate_counts_every_question_of_a_candidate(plan_of):
    plan = small(plan_of, 4)
    written = estimate_cost(plan).stages[1]
    # Of all but the responses and their tones one answer in ten is asked for again.
    assert written.calls == round(4 * (2.2 + 2 * 3 + 1.1)), "scene and mood, three responses and tones, an explanation"
    assert 0 < written.cost < written.most
    plan.write_text(plan.read_text().replace("tries = 2", 'tries = 2\nscene = "source"'))
    assert estimate_cost(plan).stages[1].calls == round(4 * (1 + 2 * 3 + 1.1))
