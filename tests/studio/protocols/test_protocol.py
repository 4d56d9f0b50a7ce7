"""Every protocol from invitation to export, and the figures of the papers."""

from __future__ import annotations

from datetime import date

import pytest

from deadpan.errors import DataError
from deadpan.formats.judgments import read_export
from deadpan.formats.study import AnnotateItem, AuditItem, CategoriseItem, PairwiseItem, QuizItem, ReaderJudgmentItem
from deadpan.ratings import agreement, ratings_from_judgments
from deadpan.ratings.coefficients import ALL_SAME
from deadpan.records import Judgment, Turn
from deadpan.stats.interval import RESAMPLES
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.reader_judgment import confusion_section, score_section
from deadpan.studio.records.export import export_study
from deadpan.studio.records.labels import refresh_cases, study_results


def quiz_item(at: int, **extra) -> QuizItem:
    return QuizItem(
        f"q{at}",
        Turn("Ann", "Perfect timing."),
        (Turn("", "The bus pulls away."),),
        options=tuple(f"meaning {letter} of {at}" for letter in "abcdef"),
        question="What does Ann mean?",
        answer=at % 6,
        category="intended_meaning",
        **extra,
    )


def pair_item(at: int) -> PairwiseItem:
    return PairwiseItem(f"c{at}", Turn("A", "It rains."), options=("Lovely.", "Take a coat."), answer=at % 2)


def cell(sections, title: str, row: str):
    """The second cell of a row of a report."""
    table = next(section.table for section in sections if section.title == title)
    return next(cells[1] for cells in table.rows if cells[0] == row)


def test_perceive_gives_the_papers_table_five():
    """iSarcasm: 61 and 26 of those intended, 50 and 322 of those not; F 0.616."""
    pairs = [(True, True)] * 61 + [(True, False)] * 26 + [(False, True)] * 50 + [(False, False)] * 322
    assert [row[1:] for row in confusion_section(pairs).table.rows] == [(61, 26), (50, 322)]
    scores = {row[0]: row[1].value for row in score_section(pairs).table.rows}
    assert scores["precision"] == pytest.approx(0.550, abs=5e-4)
    assert scores["recall"] == pytest.approx(0.701, abs=5e-4)
    assert scores["F"] == pytest.approx(0.616, abs=5e-4)


def test_perceive_from_link_to_export(site, items, tmp_path):
    study = site.make("reader-judgment", items(8), raters_per_item=3)
    people = [site.person(study) for _ in range(3)]
    truth = {f"i{at}": at % 2 == 0 for at in range(8)}
    word = {True: "sarcastic", False: "not sarcastic"}
    for at, client in enumerate(people):
        # Each is wrong on one item of their own, so the majority is right on all.
        site.answer_all(client, study, lambda item, at=at: {"sarcastic": word[truth[item] != (item == f"i{at}")]})
    exported = export_study(study, tmp_path / "out")
    counts, tally = exported.counts, exported.tally
    found = read_export(tmp_path / "out")
    assert counts == {"judgments": 24, "labels": 16} and tally.dropped == 0
    assert {label.item_id: label.value == "sarcastic" for label in found.labels if label.method == "majority"} == truth
    assert cell(study_results(study).report, "How well people tell what the author meant", "F").value == 1.0
    refresh_cases(study)
    assert study.cases.count() == 3

    outside = agreement(ratings_from_judgments(found.judgments, "sarcastic", ["sarcastic", "not sarcastic"]))
    assert study_results(study, resamples=RESAMPLES).agreement["sarcastic"] == outside


def test_perceive_without_context_shows_the_text_only(site, items):
    for name, context in (("bare", "none"), ("whole", "full")):
        study = site.make("reader-judgment", items(2), name=name, settings={"context": context})
        client = site.person(study)
        page = client.get(site.open_item(client, study)).content.decode()
        assert ("Opening line" in page) is (context == "full")


def test_unanimous_answers_are_explained(site, items):
    study = site.make("reader-judgment", items(3), raters_per_item=2)
    for _ in range(2):
        client = site.person(study)
        site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"})
    found = study_results(study).agreement["sarcastic"]
    assert found["fleiss"].value is None and found["fleiss"].why == ALL_SAME
    page = site.owner().get("/s/s/dashboard").content.decode()
    assert ALL_SAME in page and "nan" not in page.lower().replace("nanum", "")


def test_audit_rates(site, items):
    study = site.make("audit", items(10), raters_per_item=1)
    client = site.person(study)
    wrong = {"i0": "not sarcastic", "i1": "sarcastic", "i3": "sarcastic"}
    right = {f"i{at}": "sarcastic" if at % 2 == 0 else "not sarcastic" for at in range(10)}
    site.answer_all(client, study, lambda item: {"sarcastic": {**right, **wrong}[item]})
    rows = [row[1] for row in study_results(study).report[1].table.rows]
    assert [(rate.value, rate.n) for rate in rows] == [(0.2, 5), (0.4, 5)]
    assert rows[0].low < 0.2 < rows[0].high


def test_choose_keeps_the_options_place_whatever_the_order(site):
    study = site.make("pairwise", [pair_item(at) for at in range(6)], raters_per_item=5)
    people = [site.person(study) for _ in range(5)]
    for at, client in enumerate(people):
        miss = 1 if at < 2 else 0  # two of five always choose the other one
        site.answer_all(client, study, lambda item, miss=miss: {"choice": str((int(item[1:]) + miss) % 2 + 1)})
    sections = study_results(study).report
    assert cell(sections, "How well people tell", "average of people").value == pytest.approx(0.6)
    assert cell(sections, "How well people tell", "majority").value == 1.0
    assert cell(sections, "How well people tell", "Fleiss' kappa").value is not None


def test_options_stand_in_each_persons_own_lasting_order(site):
    study = site.make("quiz", [quiz_item(0)], raters_per_item=30)
    orders = set()
    for _ in range(5):
        client = site.person(study, role="participant")
        address = site.open_item(client, study)
        pages = [client.get(address).content.decode() for _ in range(2)]
        places = [sorted("abcdef", key=lambda letter, page=page: page.index(f"meaning {letter} of")) for page in pages]
        assert places[0] == places[1]
        orders.add("".join(places[0]))
    assert len(orders) > 1


def test_quiz_scores_and_flags(site, tmp_path):
    study = site.make("quiz", [quiz_item(at) for at in range(6)], raters_per_item=3)
    for at in range(3):
        client = site.person(study, role="participant")
        site.answer_all(
            client, study, lambda item, at=at: {"answer": "ABCDEF"[(int(item[1:]) + (at > 0 and item == "q0")) % 6]}
        )
    sections = study_results(study).report
    assert sorted(row[1].value for row in sections[0].table.rows) == [pytest.approx(5 / 6), pytest.approx(5 / 6), 1.0]
    assert cell(sections, "Score by category", "intended_meaning").n == 18
    assert [row[0] for row in sections[2].table.rows] == ["q0"]
    export_study(study, tmp_path / "out")
    answers = {(j.item_id, j.answer) for j in read_export(tmp_path / "out").judgments}
    assert ("q3", "D") in answers and {j[1] for j in answers} <= set("ABCDEF")


def test_categorise_leaves_out_what_is_invalid(site, items, tmp_path):
    study = site.make(
        "categorise", items(4, kind=CategoriseItem, explanation="Because.", rephrase="I am annoyed."), raters_per_item=1
    )
    client = site.person(study)
    page = client.get(site.open_item(client, study)).content.decode()
    assert "Because." in page and "I am annoyed." in page
    site.answer_all(client, study, lambda item: {"category": "invalid" if item == "i1" else "satire"})
    tally = export_study(study, tmp_path / "out").tally
    assert tally.drops == {"invalid": 1}
    assert {label.item_id for label in read_export(tmp_path / "out").labels} == {"i0", "i2", "i3"}


def test_annotate_asks_about_an_explanation_only_where_there_is_one(site, items):
    with_it = site.make("annotate", items(1, explanation="B mocks A."), name="with")
    without = site.make("annotate", items(1), name="without")
    for study, shown in ((with_it, True), (without, False)):
        client = site.person(study)
        page = client.get(site.open_item(client, study)).content.decode()
        assert ("q.explanation" in page) is shown


def test_adjudication_decides_and_names_nobody(site, items, tmp_path):
    study = site.make("reader-judgment", items(3), raters_per_item=2)
    people = {"the-first-rater": "sarcastic", "the-second-rater": "not sarcastic"}
    for name, value in people.items():
        client = site.person(study, name=name)
        site.answer_all(client, study, lambda item, value=value: {"sarcastic": value})
    judge = site.person(study, role="adjudicator", name="the-judge")
    page = judge.get("/s/s/adjudicate").content.decode()
    names = [member.pseudonym for member in study.members.all()] + list(people)
    assert page.count("/adjudicate/") == 3 and not any(name in page for name in names)
    pk = study.items.get(item_id="i1").pk
    case = judge.get(f"/s/s/adjudicate/{pk}/sarcastic").content.decode()
    assert "1 answer" in case and not any(name in case for name in names)
    assert judge.post(f"/s/s/adjudicate/{pk}/sarcastic", {"answer": "perhaps"}).status_code == 404
    judge.post(f"/s/s/adjudicate/{pk}/sarcastic", {"answer": "sarcastic"})
    assert judge.get("/s/s/adjudicate").content.decode().count("/adjudicate/") == 2
    export_study(study, tmp_path / "out")
    final = {
        label.item_id: (label.value, label.method) for label in read_export(tmp_path / "out").labels if label.value
    }
    assert final["i1"] == ("sarcastic", "adjudicated")


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_every_protocol_says_what_it_is(name):
    protocol = PROTOCOLS.load(name)()
    assert protocol.name == name
    for words in (protocol.title, protocol.summary, protocol.blurb, protocol.consent):
        assert str(words).strip()
    assert protocol.lessons or protocol.own_questions  # a leader's own questions have the leader's own examples


@pytest.mark.parametrize(
    ("protocol", "bad", "says"),
    [
        ("reader-judgment", [], "needs items"),
        ("reader-judgment", [ReaderJudgmentItem("a", Turn("", " "))], "no text"),
        (
            "reader-judgment",
            [ReaderJudgmentItem("a", Turn("", "x")), ReaderJudgmentItem("a", Turn("", "y"))],
            "ids must differ",
        ),
        ("audit", [AuditItem("a", Turn("", "x"))], "no hidden label"),
        ("pairwise", [PairwiseItem("a", Turn("", "x"), options=("1",))], "two options"),
        ("pairwise", [PairwiseItem("a", Turn("", "x"), options=("1", "2"))], "needs answer, 0 or 1"),
        ("quiz", [QuizItem("a", Turn("", "x"), options=("1",))], "two to six options"),
        (
            "reader-judgment",
            [ReaderJudgmentItem("a", Turn("", "x"), check={"sarcastic": "perhaps"})],
            "not an answer of",
        ),
    ],
)
def test_items_a_protocol_cannot_ask_about_are_refused_whole(site, protocol, bad, says):
    from deadpan.studio.models import StoredStudy

    with pytest.raises(DataError, match=says):
        site.make(protocol, bad)
    assert not StoredStudy.objects.exists()


def test_an_imported_judgment_is_the_record_it_was(site, items):
    from deadpan.studio.records.imports import import_judgments
    from deadpan.studio.records.journal import journal_records

    study = site.make("reader-judgment", items(2), raters_per_item=1)
    given = [
        Judgment("i0", "zoe", "sarcastic", "sarcastic", 2.0, "2024-05-01T10:00:00+00:00"),
        Judgment("i0", "zoe", "sarcastic", "perhaps", 2.0, "2024-05-01T10:00:00+00:00"),
        Judgment("i9", "zoe", "sarcastic", "sarcastic", 2.0, "2024-05-01T10:00:00+00:00"),
        Judgment("i1", "zoe", "mood", "sarcastic", 2.0, "2024-05-01T10:00:00+00:00"),
        Judgment("i1", "zoe", "sarcastic", "sarcastic", 2.0, "yesterday"),
    ]
    imported = import_judgments(study, given, "test")
    assert (imported.read, imported.added) == (5, 1)
    assert imported.tally.drops == {
        "not_an_answer": 1,
        "unknown_item": 1,
        "unknown_question": 1,
        "time_not_readable": 1,
    }
    assert import_judgments(study, given, "test").added == 0
    (record,) = journal_records(study)
    assert (record.item_id, record.answer, record.created_at) == ("i0", "sarcastic", "2024-05-01T10:00:00+00:00")
    client = site.person(study)
    site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"})
    assert len(journal_records(study)) == 2  # i0 had its one rater already


def test_a_tie_is_not_invalid_and_goes_to_adjudication(site, items, tmp_path):
    study = site.make("categorise", items(2, kind=CategoriseItem), raters_per_item=2)
    for at in range(2):
        client = site.person(study)
        site.answer_all(client, study, lambda item, at=at: {"category": "invalid" if at or item == "i1" else "satire"})
    exported = export_study(study, tmp_path / "out")
    assert exported.tally.drops == {"invalid": 1}  # both called i1 invalid; on i0 they differ
    judge = site.person(study, role="adjudicator", name="judge")
    page = judge.get("/s/s/adjudicate").content.decode()
    assert page.count("/adjudicate/") == 1
    pk = study.items.get(item_id="i0").pk
    judge.post(f"/s/s/adjudicate/{pk}/category", {"answer": "invalid"})
    assert export_study(study, tmp_path / "out").tally.drops == {"invalid": 2}


def test_a_release_keeps_what_kocosas_table_3_keeps(site, tmp_path):
    """Abnormal context: deleted. Abnormal response: the context remains, as a dialogue without sarcasm."""
    from deadpan.records import Example
    from deadpan.storage import read_records
    from deadpan.studio.records.release import release_facts, release_study

    turns = (Turn("A", "It rains."), Turn("B", "Again?"))
    made = [AnnotateItem(f"d{at}", Turn("A", "Lovely."), turns if at < 3 else turns[:1]) for at in range(4)]
    study = site.make("annotate", made, raters_per_item=1)
    answers = {
        "d0": {"response": "sarcasm", "context": "normal"},
        "d1": {"response": "abnormal", "context": "normal", "kind": "format misalignment"},
        "d2": {"response": "sarcasm", "context": "abnormal", "kind": "contextual awkwardness"},
        "d3": {"response": "abnormal", "context": "normal", "kind": "contextual awkwardness"},
    }
    site.answer_all(site.person(study), study, lambda item: answers[item])
    facts = release_facts(study, "gated", version="1.0.0", licence="x", citation="y", published=date(2026, 1, 1))
    released = release_study(study, tmp_path / "out", facts, "gated")
    found = {e.id: e for e in read_records(tmp_path / "out" / "data" / "train.parquet", Example)}
    assert found.keys() == {"d0", "d1"}
    assert found["d1"].label is False and found["d1"].response == turns[1] and found["d1"].context == turns[:1]
    assert released.tally.drops == {"context_abnormal": 1, "too_short_without_response": 1}


def test_the_kind_of_abnormality_is_asked_whenever_something_is_abnormal(site, items):
    """KoCoSa's Table 5 needs it of abnormal contexts too, whatever the response is."""
    study = site.make("annotate", items(1), raters_per_item=1)
    client = site.person(study)
    address = site.open_item(client, study)
    assert not site.save(client, address, response="sarcasm", context="abnormal").json()["complete"]
    assert site.save(client, address, kind="casual dialogue").status_code == 400
    assert site.save(client, address, kind="contextual awkwardness").json()["complete"]
    # A kind that no longer fits is asked again.
    changed = site.save(client, address, context="normal", response="non-sarcasm").json()
    assert not changed["complete"] and "kind" not in changed["answers"]
