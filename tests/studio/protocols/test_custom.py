"""A custom study: built in the browser, answered, agreed on, exported and released."""

from __future__ import annotations

import json

import pytest

QUESTIONS = [
    {"name": "sarcastic", "text": "Is this sarcastic?", "options": ["sarcastic", "not sarcastic"], "predict": True},
    {"name": "strength", "text": "How strong is it?", "kind": "scale", "ends": ["weak", "strong"],
     "after": "sarcastic", "when": ["sarcastic"]},
    {"name": "funny", "text": "How funny?", "kind": "slider", "low": 0, "high": 100},
    {"name": "tone", "text": "Which tones?", "kind": "many", "options": ["angry", "playful"], "required": False},
    {"name": "order", "text": "Sort them", "kind": "ranking", "options": ["a", "b", "c"], "required": False},
    {"name": "words", "text": "Which words?", "kind": "spans", "options": ["cue", "target"], "required": False},
]  # fmt: skip


def span(turn: int, start: int, end: int, label: str = "cue") -> dict[str, object]:
    return {"turn": turn, "start": start, "end": end, "label": label}


@pytest.fixture
def study(site, items):
    return site.make("custom", items(4), raters_per_item=2, settings={"questions": QUESTIONS, "qualification": 0})


def test_from_answers_to_agreement_export_and_release(site, study, tmp_path):
    from datetime import date

    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.labels import study_results
    from deadpan.studio.records.release import release_facts, release_study

    def answers(person: int, item: str) -> dict[str, str]:
        yes = int(item[1:]) % 2 == 0
        return {
            "sarcastic": "sarcastic" if yes else "not sarcastic", "sarcastic.others": "60",
            **({"strength": str(3 + person)} if yes else {}),
            "funny": str(10 + 20 * int(item[1:]) + person), "tone": '["angry"]', "order": '["b", "a", "c"]',
            # Overlapping spans, in the context too.
            "words": json.dumps([span(1, 0, 7), span(1, 3, 13, "target"), span(0, 0, 7)]),
        }  # fmt: skip

    for person in range(2):
        done = site.answer_all(site.person(study), study, lambda item, person=person: answers(person, item))
        assert done == 4
    assert set(study_results(study).agreement) == {"sarcastic", "strength"}
    said = {str(row[0]): row[1] for section in study_results(study).report for row in section.table.rows}
    assert said["intraclass correlation, ICC(1)"].value > 0.9
    assert said["cue: F1"].value == 1.0 and said["cue: alpha over words"].value == 1.0
    assert said["mean rank: b"] == "1.00"
    popular = next(section for section in study_results(study).report if section.title == "What others would say")
    assert {row[0]: row[2].value for row in popular.table.rows}["surprisingly popular"] == 1.0

    export_study(study, tmp_path / "out", csv=True)
    texts = [json.loads(line) for line in (tmp_path / "out" / "texts.jsonl").read_text().splitlines()]
    assert {text["id"] for text in texts} == {"i0", "i1", "i2", "i3"} and texts[0]["response"]["text"]
    facts = release_facts(study, "gated", version="1.0.0", licence="x", citation="y", published=date(2026, 1, 1))
    assert release_study(study, tmp_path / "release", facts, "gated").sizes.total == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"funny": "101"}, {"funny": "x"}, {"tone": '["sad"]'}, {"tone": "angry"}, {"order": '["a", "b"]'},
        {"order": '["a", "a", "b"]'}, {"words": "[" * 5000}, {"words": json.dumps([span(1, 5, 5000)])},
        {"words": json.dumps([span(2, 0, 3)])}, {"words": json.dumps([span(1, 0, 3, "other")])},
        {"words": json.dumps([{"turn": 1}])}, {"words": json.dumps([span(True, 0, 3)])}, {"strength": "3"},
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_refused(site, study, wrong):
    client = site.person(study)
    address = site.open_item(client, study)
    assert site.save(client, address, **wrong).status_code == 400


def test_the_page_offers_every_kind(site, study):
    client = site.person(study)
    page = client.get(site.open_item(client, study)).content.decode()
    for kind in ("slider", "many", "ranking", "spans"):
        assert f'data-widget="{kind}"' in page
    assert "1 = weak" in page and "5 = strong" in page


def row(at: int, **fields: str) -> dict[str, str]:
    given = {"kind": "choice", "low": "1", "high": "5", "required": "on", **fields}
    return {f"q{at}-{name}": value for name, value in given.items()}


def test_questions_are_built_in_the_browser_while_the_study_is_a_draft(site, items):
    from deadpan.studio.models import StoredStudy
    from deadpan.studio.records.steering import change_study
    from deadpan.studio.records.studies import settings_of

    owner = site.owner()
    study = site.make("custom", items(2), name="c", draft=True)
    assert owner.get("/s/c/questions").status_code == 200
    bad = {
        "count": "3",
        **row(0, name="a", text="First?", options="yes\nno"),
        **row(1, name="a", text="Same name?", options="yes\nno"),
        **row(2, name="b", text="After what?", kind="scale", after="nowhere", when="yes"),
    }
    page = owner.post("/s/c/questions", bad)
    assert page.status_code == 400
    for field in ("id_q1-name_error", "id_q2-after_error"):
        assert f'id="{field}"' in page.content.decode(), field
    good = bad | {"q1-remove": "on", "q2-after": "a", "q2-left": "weak", "q2-right": "strong"}
    assert owner.post("/s/c/questions", good).url == "/s/c/preview"
    stored = settings_of(StoredStudy.objects.get()).questions
    assert [q.name for q in stored] == ["a", "b"] and stored[1].ends == ("weak", "strong")
    study.refresh_from_db()
    change_study(study, {"contact": "lab@example.org"}, "test", stage="open")
    owner.post("/s/c/questions", {"count": "1", **row(0, name="z", text="Late?", options="yes\nno")})
    assert [q.name for q in settings_of(StoredStudy.objects.get()).questions] == ["a", "b"]


def test_a_model_beside_people_is_no_vote_and_its_disagreements_come_first(site, judged, tmp_path):
    from deadpan.records import Judgment
    from deadpan.storage import write_records
    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.imports import attach_model

    before = export_study(judged, tmp_path / "before").counts
    said = [Judgment(f"i{at}", "m", "sarcastic", "not sarcastic", 0.0, "2026-01-01T00:00:00+00:00") for at in (0, 3)]
    write_records(tmp_path / "m.jsonl", said, Judgment)
    assert attach_model(judged, tmp_path / "m.jsonl", "detector", "test").added == 2
    assert export_study(judged, tmp_path / "after").counts == before
    owner = site.owner()
    page = owner.get("/s/s/adjudicate").content.decode()
    assert page.index("reply number 0") < page.index("reply number 3")
    case = judged.cases.get(item__item_id="i0")
    address = f"/s/s/adjudicate/{case.item_id}/sarcastic"
    assert owner.post(address, {"answer": "sarcastic", "note": "The context says so."}).status_code == 302
    export_study(judged, tmp_path / "noted")
    assert "The context says so." in (tmp_path / "noted" / "remarks.jsonl").read_text()


def test_a_models_marks_are_suggested_only_when_the_study_shows_them(site, items, tmp_path):
    """An accepted suggestion is the person's own answer; the export says that models were seen."""
    from deadpan.detect.detector import Detector
    from deadpan.records import Judgment
    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.imports import attach_model, detector_answers

    settings = {"questions": QUESTIONS, "qualification": 0}
    study = site.make("custom", items(2), raters_per_item=1, settings=settings)
    at = "2026-01-01T00:00:00+00:00"
    said = [Judgment("i0", "m", "words", json.dumps([span(1, 0, 5)]), 0.0, at)]
    said += [Judgment("i1", "m", "words", json.dumps([span(7, 0, 5)]), 0.0, at)]  # no such turn
    assert attach_model(study, said, "m", "test").added == 2

    def suggested() -> set[bool]:
        pages = [rater.get(f"/s/s/item/{number}").content.decode() for number in (1, 2)]
        return {"&quot;end&quot;: 5" in page.rpartition("data-suggested=")[2][:300] for page in pages}

    rater = site.person(study)
    site.answer_all(rater, study, lambda item: {"sarcastic": "not sarcastic", "sarcastic.others": "9", "funny": "1"})
    assert suggested() == {False}
    study.settings = {**study.settings, "model_answers": "before"}
    study.save()
    assert suggested() == {True, False}
    export_study(study, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["config"]["model_answers"] == "before"
    found = detector_answers(study, Detector.load("base").explain, "base")
    assert {j.annotator for j in found} == {"base"} and {j.question for j in found} >= {"sarcastic"}


def test_the_questionnaire_is_released_in_groups_of_five(site, items, tmp_path):
    from datetime import date

    from deadpan.studio.records.release import release_facts, release_study

    settings = {"questionnaire": ["age", "gender"], "qualification": 0}
    study = site.make("custom", items(1), raters_per_item=6, settings=settings)
    for person in range(6):
        client = site.person(study)
        assert client.get("/s/s/").url == "/s/s/about"
        gender = "female" if person else "male"  # one alone
        assert client.post("/s/s/about", {"age": "25-34", "gender": gender}).status_code == 302
        site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"})
    facts = release_facts(study, "ids", version="1.0.0", licence="x", citation="y", published=date(2026, 1, 1))
    release_study(study, tmp_path / "release", facts, "ids")
    rows = [json.loads(line) for line in (tmp_path / "release" / "raters.jsonl").read_text().splitlines()]
    assert rows and all(row["people"] >= 5 for row in rows) and "male" not in {r["facts"].get("gender") for r in rows}
