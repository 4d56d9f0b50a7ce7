"""generate_dialogues as a notebook calls it: results that show themselves, errors with a hint."""

from __future__ import annotations

import asyncio
import re
import shutil

import pytest

from deadpan import generate_dialogues, read_dataset
from deadpan.detect import study_origin
from deadpan.errors import ConfigError, DataError
from deadpan.generate.generation import estimate_cost, generation_status, run_only, run_plan
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.generate.release import write_release
from deadpan.generate.report import write_report
from deadpan.storage import read_manifest
from dialogue_server import sources, stage_of

SETTINGS = {"key_env": "", "price": [1.0, 2.0]}


@pytest.fixture
def call(tmp_path, server):
    """Return `generate_dialogues` with a model on loopback."""
    path = tmp_path / "mine.jsonl"
    path.write_text(sources(8), encoding="utf-8")

    def generate(**changes):
        given = {"model": "writer-1", "base_url": server.url, "model_settings": SETTINGS, **changes}
        return generate_dialogues(path, out=tmp_path / "out", **given)

    return generate


def test_a_run_from_python(call, tmp_path):
    seen = []
    result = call(n=5, progress=lambda what, done, total: seen.append((what.split(",")[0], done, total)))
    assert result.read == 5 == result.kept + result.dropped
    assert repr(result) == f"GenerationResult({str(tmp_path / 'out')!r}, {result.kept} of 5 dialogues kept)"
    assert len(list(result.examples())) == result.kept
    assert "read 5 = kept" in str(result) and "<table" in result._repr_html_()
    assert all(len(line) <= 80 for line in str(result).splitlines() if str(tmp_path) not in line)
    assert read_manifest(tmp_path / "out").counts == result.counts()
    assert result.report.is_file() and result.spent > 0
    assert {("situation", 5, 5), ("dialogue", 5, 5)} <= set(seen)


def test_it_works_in_a_running_event_loop(call):
    async def notebook():
        return call(n=2)

    assert asyncio.run(notebook()).read == 2


def test_a_second_run_needs_resume(call):
    call(n=2)
    with pytest.raises(ConfigError, match="holds a run already"):
        call(n=2)
    assert call(n=2, resume=True).read == 2


def test_tables_of_a_plan_are_keywords(call):
    result = call(n=3, with_contrast=True, filter={"abnormal": False}, source={"max_turns": 4})
    steps = {step.step: step for step in result.steps}
    assert steps["abnormal"].calls == 0 and steps["contrast"].calls == 3
    assert {example.label for example in result.examples()} == {True, False}


def test_wrong_arguments_say_the_cure(call):
    with pytest.raises(ConfigError, match="did you mean 'dialogue'"):
        call(dialog={"temperature": 1})
    with pytest.raises(ConfigError, match="unknown language 'kr'"):
        call(language="kr")
    with pytest.raises(ConfigError, match="unknown step 'situations'"):
        run_only("plan.toml", "situations")


def test_estimate_status_and_report_are_results(plan_of, server, tmp_path):
    plan = plan_of(4)
    found = estimate_cost(plan)
    assert server.asked == [] and "4 dialogues: about" in str(found) and found.as_dict()["dialogues"] == 4
    with pytest.raises(DataError, match="no finished step"):
        generation_status(plan)
    assert run_only(plan, "source").as_dict()["kept"] == 4
    status = generation_status(plan)
    assert status.waiting[0] == "situation" and "not run yet: situation, politeness" in str(status)
    with pytest.raises(DataError, match="no dialogues there yet"):
        write_report(plan)


def test_answers_from_the_cache_are_counted_apart(call, tmp_path):
    paid = call(n=4)
    assert paid.spent > 0 and not any(step.cached_calls for step in paid.steps)
    again = call(n=4, resume=True)
    assert [step.cost for step in again.steps] == [step.cost for step in paid.steps], "this run paid for its journal"
    shutil.rmtree(tmp_path / "out")
    free = call(n=4)
    assert free.spent == 0 and all(step.cost == 0 for step in free.steps)
    for step, first in zip(free.steps, paid.steps, strict=True):
        assert (step.cached_calls, step.cached_cost) == (first.calls, pytest.approx(first.cost))
    assert "cached US $" in str(free) and f"an earlier run paid ${paid.spent:.4f} for them" in str(free)
    assert "Answers from the cache were paid for by an earlier run" in free.report.read_text("utf-8")


def test_the_estimate_expects_the_retries_that_the_run_has_counted(plan_of, server):
    server.fault = lambda body, n: (200, "Sorry?") if stage_of(body) == "dialogue" else None
    plan = open_plan(plan_of(10))
    before = {stage.stage: stage for stage in estimate_cost(plan).stages}
    assert before["dialogue"].retried == 0.1 and before["dialogue"].calls == round(10 * (1 + 0.1 + 0.01))
    run_plan(plan)
    after = {stage.stage: stage for stage in estimate_cost(plan).stages}
    assert after["situation"].retried == 0 and after["situation"].calls == 10
    share = after["dialogue"].retried
    assert share == pytest.approx(2 / 3), "of three tries the first two are followed by another"
    assert after["dialogue"].calls == round(10 * (1 + share + share**2))


@pytest.mark.slow
def test_the_card_says_what_the_dialogues_are_worth_beside_organic_text(call, tmp_path):
    call(with_contrast=True, filter={"abnormal": False})
    plan = GenerationPlan(out=tmp_path / "out", with_contrast=True)
    unmeasured = write_release(plan, tmp_path / "one", unjudged=True)
    assert "2026.acl-long.1346" in (tmp_path / "one" / "README.md").read_text("utf-8") and "Not measured" in str(
        unmeasured
    )
    organic = {"starter-en": read_dataset("starter-en").examples}
    write_release(plan, tmp_path / "two", unjudged=True, organic=organic, study=study_origin)
    card = (tmp_path / "two" / "README.md").read_text("utf-8")
    assert re.search(r"A probe of words tells these dialogues from starter-en with an AUC of [01]\.\d+ \[", card)
    assert re.search(r"On starter-en, a detector \(linear\) trained on these dialogues has an AUC of 0\.\d+ \[", card)
    assert "Not measured" not in card


def test_contrast_that_nobody_judged_is_not_called_judged(call, tmp_path):
    """With people's answers for the sarcastic responses only, the card says who labelled the rest."""
    from deadpan.formats.judgments import write_export
    from deadpan.generate.people import apply_people
    from deadpan.records import Judgment

    result = call(with_contrast=True)
    plan = GenerationPlan(out=tmp_path / "out", with_contrast=True)
    answers = {"response": "sarcasm", "context": "normal", "explanation": "normal"}
    ids = [example.id for example in result.examples() if example.label]
    judgments = [Judgment(id, "p", q, a, 1.0, "2026-01-01T00:00:00Z") for id in ids for q, a in answers.items()]
    write_export(tmp_path / "answers", judgments, [])
    apply_people(plan, tmp_path / "answers")
    released = write_release(plan, tmp_path / "release")
    n = len(ids)
    assert (released.statistics.dialogues, released.statistics.judged) == (2 * n, n)
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    assert f"{n} judged by people and {n} sincere contrast responses labelled as the model was asked" in card
    assert f"No person has judged the {n} sincere contrast responses" in card
    assert "is sarcastic or not, judged by people." not in card


def test_a_run_that_cannot_begin_leaves_no_folder(call, tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        generate_dialogues(tmp_path / "nothing.jsonl", model="writer-1", model_settings=SETTINGS,
                           base_url="http://127.0.0.1:9", out=tmp_path / "out")  # fmt: skip
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="no such file or folder"):
        generate_dialogues(tmp_path / "nothing.jsonl", model="writer-1", model_settings=SETTINGS,
                           base_url="http://127.0.0.1:9", out=tmp_path / "out")  # fmt: skip
    assert (tmp_path / "out").is_dir()  # it was there before
