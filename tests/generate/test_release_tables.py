"""KoCoSa's tables and its figure, from any run."""

from __future__ import annotations

from deadpan.formats.judgments import write_export
from deadpan.generate.folder import GenerationFolder
from deadpan.generate.generation import run_plan
from deadpan.generate.people import apply_people
from deadpan.generate.release import dialogue_tables, grouped_topics
from deadpan.records import Judgment


def test_a_run_nobody_judged_says_so(plan_of, tmp_path):
    plan = plan_of(12)
    kept = run_plan(plan).kept
    tables = dialogue_tables(plan, out=tmp_path / "figures")
    shown = str(tables)
    assert tables.statistics.dialogues == kept and not tables.judged
    assert "no person has judged" in shown and "not judged" in shown and "12,824" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert (tmp_path / "figures" / "topics.svg").read_text(encoding="utf-8").startswith("<")
    assert set(tables.as_dict()) >= {"table_4", "table_5", "table_6", "table_7", "figure_3"}
    assert sum(tables.topics.values()) == kept


def test_people_s_answers_fill_the_tables(plan_of, tmp_path):
    plan = plan_of(12)
    run_plan(plan)
    run = GenerationFolder(tmp_path / "run")
    answers = [
        {"response": "sarcasm", "context": "normal", "explanation": "normal"},
        {"response": "non-sarcasm", "context": "normal", "kind": "casual dialogue"},
        {"response": "non-sarcasm", "context": "normal", "kind": "direct criticism"},
        {"response": "sarcasm", "context": "abnormal", "kind": "contextual awkwardness"},
        {"response": "abnormal", "context": "normal", "kind": "format misalignment"},
    ]
    drafts = list(run.drafts(run.last()))[: len(answers)]
    judgments = [
        Judgment(draft.id, "p1", question, answer, 1.0, "2026-11-16T00:00:00Z")
        for draft, given in zip(drafts, answers, strict=True)
        for question, answer in given.items()
    ]
    write_export(tmp_path / "answers", judgments, [])
    apply_people(plan, tmp_path / "answers")
    tables = dialogue_tables(plan)
    assert tables.judged and tables.statistics.dialogues == 4 == tables.statistics.judged
    assert tables.abnormal == {"contextual awkwardness": 1, "format misalignment": 1}
    assert tables.label_changes == {"casual dialogue": 1, "direct criticism": 1}
    assert "1 (50 %)" in str(tables)


def test_rare_topics_are_one():
    assert grouped_topics({"food": 60, "work": 36, "pets": 2, "law": 2}) == {"food": 60, "work": 36, "Misc.": 4}
    assert grouped_topics({}) == {}
