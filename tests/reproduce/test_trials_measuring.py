"""People's rows: measured from a study and its export, in the numbers of the protocols."""

from __future__ import annotations

from deadpan.formats.judgments import Submission, write_export
from deadpan.formats.study import AuditItem, PairwiseItem, ReaderJudgmentItem, Study, write_study
from deadpan.records import Judgment, Turn
from deadpan.reproduce import reproduce


def cells(result):
    return {cell.published.id: cell for _, cell in result.cells()}


def answers(items, people, answer, question):
    return [
        Judgment(item.id, f"p{who}", question, answer(item, number, who), 2.0, "2026-11-16T10:00:00+00:00")
        for number, item in enumerate(items)
        for who in range(people)
    ]


def test_the_human_rows_of_sarc(tmp_path):
    items = [PairwiseItem(id=f"i{n}", response=Turn("", "post"), options=("a", "b"), answer=n % 2) for n in range(20)]
    write_study(tmp_path / "people/pairs-pol/study", Study("pairwise", "Which"), items, command="test")
    # Of five people one is wrong on every item: 80 % on average, and the majority is always right.
    given = answers(items, 5, lambda item, n, who: str(1 + (item.answer ^ (who == n % 5))), "choice")
    write_export(tmp_path / "people/pairs-pol/export", given, [])
    found = cells(
        reproduce(
            "sarc", tmp_path / "o", data_dir=tmp_path, people=tmp_path / "people", only=["table-2", "section-5.3"]
        )
    )
    assert found["table-2/human-average/pol-bal"].ours.value.value == 0.8
    assert found["table-2/human-majority/pol-bal"].ours.value.value == 1.0
    assert found["section-5.3/politics/kappa"].ours.value.value is not None
    assert found["table-2/human-average/all-bal"].verdict.word == "needs people"


def test_noise_of_the_labels(tmp_path, data):
    items = [AuditItem(id=f"i{n}", response=Turn("", "c"), label=n < 10, text="c") for n in range(20)]
    write_study(tmp_path / "people/audit/study", Study("audit", "Right?"), items, command="test")
    wrong = {"i0", "i15", "i16"}
    yes = {True: "sarcastic", False: "not sarcastic"}
    given = answers(items, 1, lambda item, n, who: yes[item.label ^ (item.id in wrong)], "sarcastic")
    write_export(tmp_path / "people/audit/export", given, [])
    found = cells(reproduce("sarc", tmp_path / "o", data_dir=data, people=tmp_path / "people", only=["section-4.1"]))
    assert found["section-4.1/false-positives/percent"].ours.value.value == 0.1
    assert found["section-4.1/false-negatives/percent"].ours.value.value == 0.2


def test_table_5_of_isarcasm_from_a_study(tmp_path, data):
    counts = {(True, True): 61, (True, False): 26, (False, True): 50, (False, False): 322}
    items, perceived = [], {}
    for (intended, seen), n in counts.items():
        for number in range(n):
            item = ReaderJudgmentItem(id=f"{intended}{seen}{number}", response=Turn("", "t"), label=intended)
            items.append(item)
            perceived[item.id] = "sarcastic" if seen else "not sarcastic"
    write_study(
        tmp_path / "people/reader-judgment/study", Study("reader-judgment", "Sarcastic?"), items, command="test"
    )
    write_export(
        tmp_path / "people/reader-judgment/export",
        answers(items, 3, lambda item, n, who: perceived[item.id], "sarcastic"),
        [],
    )
    result = reproduce(
        "isarcasm", tmp_path / "o", data_dir=data, people=tmp_path / "people", only=["table-5", "section-5.2"]
    )
    found = cells(result)
    assert {cell.verdict.word for id, cell in found.items() if id.startswith("table-5")} == {"reproduced"}
    assert found["section-5.2/annotators-1-and-2/kappa"].verdict.word == "differs"


def test_age_and_gender_from_a_survey(tmp_path, data):
    rows = [
        Submission(
            f"s{n}", f"p{n}", {"age": 20 + n, "gender": "female" if n % 2 else ""}, 300.0, "2026-11-16T10:00:00Z"
        )
        for n in range(20)
    ]
    write_export(tmp_path / "people/author-survey/export", [], [], rows)
    found = cells(reproduce("isarcasm", tmp_path / "o", data_dir=data, people=tmp_path / "people", only=["figure-2"]))
    assert found["figure-2/younger-than-35/percent"].ours.value.value == 0.75
    assert found["figure-2/female/percent"].ours.value.n == 10, "who rather does not say is not counted"
