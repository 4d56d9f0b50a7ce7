"""A release: new pseudonyms, no withdrawn people, text only if it is gated."""

from __future__ import annotations

import json

import pytest

from deadpan.cards import DataFacts
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example
from deadpan.storage import read_records

FACTS = DataFacts("T", "1.0.0", ("en",), "CC-BY-4.0", "none", "A study.", "By people.", "None.", ("Small.",))


@pytest.mark.parametrize("mode", ["ids", "gated"])
def test_a_release_has_new_names_and_in_ids_mode_no_text(judged, tmp_path, mode):
    from deadpan.studio.records.release import ReleasedJudgment, release_study

    released = release_study(judged, tmp_path / "one", FACTS, mode)
    sizes, tally = released.sizes, released.tally
    release_study(judged, tmp_path / "two", FACTS, mode)
    assert sizes.total == 3 and tally.drops == {"no_majority": 1}  # one against one, and nobody decided
    names = []
    for folder in ("one", "two"):
        examples = list(read_records(tmp_path / folder / "data" / "train.parquet", Example))
        assert {e.id: e.label for e in examples}["i0"] is True
        assert all(bool(e.response.text) is (mode == "gated") for e in examples)
        judgments = read_records(tmp_path / folder / "judgments.parquet", ReleasedJudgment)
        names.append({j.annotator for j in judgments})
    inside = {member.pseudonym for member in judged.members.all()}
    assert len(names[0]) == 2 and not names[0] & names[1] and not (names[0] | names[1]) & inside
    described = json.loads((tmp_path / "one" / "croissant.json").read_text("utf-8"))
    assert described["recordSet"] and (tmp_path / "one" / "README.md").is_file()
    with pytest.raises(DataError, match="already"):
        release_study(judged, tmp_path / "one", FACTS, mode)


def test_the_card_says_how_many_people_really_answered(judged, tmp_path):
    """Three people are planned, and fewer have answered."""
    from datetime import date

    from deadpan.studio.records.release import release_facts, release_study

    facts = release_facts(judged, "ids", version="1.0.0", licence="x", citation="x", published=date(2026, 1, 1))
    released = release_study(judged, tmp_path / "one", facts, "ids")
    card = (tmp_path / "one" / "README.md").read_text("utf-8")
    assert f"planned for {judged.raters_per_item} people per item" in card
    assert "People who answered an item: 2 (3 items)." in card and "2 (3 items)" in str(released)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the libraries it stands on
@pytest.mark.parametrize("mode", ["ids", "gated"])
def test_mlcroissant_validates_and_loads_the_release(deadpan, site, judged, tmp_path, mode):
    import mlcroissant

    words = ("--mode", mode, "--licence", "CC-BY-4.0", "--home", site.home)
    assert deadpan("studio", "release", "s", "--out", tmp_path / "out", *words).status == 0
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.issues.errors and not dataset.metadata.issues.warnings
    loaded = list(dataset.records("train"))
    assert {row["train/id"].decode(): row["train/label"] for row in loaded} == dict.fromkeys(["i0", "i1", "i2"], True)
    texts = {row["train/response"]["train/response/text"].decode() for row in loaded}
    assert texts == ({""} if mode == "ids" else {f"Oh sure, reply number {at} is a delight." for at in range(3)})


def test_a_survey_is_released_in_broad_groups_without_who_withdrew(site, tmp_path):
    from django.utils import timezone

    from deadpan.studio.models import Member, Person, StoredSubmission
    from deadpan.studio.people.withdrawal import record_consent, withdraw
    from deadpan.studio.records.release import release_study

    study = site.make("author-survey")
    for at in range(7):
        member = Member.objects.create(study=study, person=Person.objects.make(f"t{at}"), role="participant")
        code = record_consent(member, "yes", timezone.now())
        posts = [
            {
                "text": f"post {at} {n} of mine, long enough",
                "link": f"https://x.com/{at}/{n}",
                "date": "2024-01-01",
                "sarcastic": n == 0,
            }
            for n in range(4)
        ]
        answers = {
            "posts": posts,
            "explanation": "e",
            "rephrase": "r",
            "age": 20 + at,
            "gender": "female",
            "country": "UK" if at else "Peru",
            "region": "secret",
        }
        StoredSubmission.objects.create(study=study, member=member, key="only", answers=answers, seconds=300)
    assert withdraw(code, timezone.now())
    released = release_study(study, tmp_path / "out", FACTS, "ids")
    sizes, tally = released.sizes, released.tally
    assert sizes.total == 24 and tally.drops == {"withdrawn": 1}
    assert released.anonymity.k is None or released.anonymity.k >= 5
    examples = list(read_records(tmp_path / "out" / "data" / "train.parquet", Example))
    about = {json.dumps(dict(e.meta), sort_keys=True) for e in examples}
    assert "secret" not in str(about) and "Peru" not in str(about) and '"age"' in str(about)
    assert sum(bool(e.label) for e in examples) == 6 and {e.label_kind for e in examples} == {"author"}


def test_a_release_keeps_the_columns_that_were_chosen(deadpan, site, tmp_path):
    from deadpan.studio.models import StoredStudy

    table = tmp_path / "posts.csv"
    table.write_text("text,topic,author\nOh lovely rain again,weather,anna\nThe bus is here,travel,ben\n", "utf-8")
    made = ("reader-judgment", table, "--name", "posts", "--raters", "1", "--open", "--setting", "contact=lab")
    assert deadpan("studio", "create", *made, "--home", site.home).status == 0
    study = StoredStudy.objects.get()
    site.answer_all(site.person(study), study, lambda item: {"sarcastic": "sarcastic"})

    def release(name, *more):
        return deadpan("studio", "release", "posts", "--out", tmp_path / name, "--home", site.home, *more)

    assert release("kept", "--keep-column", "topic").status == 0
    kept = list(read_records(tmp_path / "kept" / "data" / "train.parquet", Example))
    assert sorted(e.meta["topic"] for e in kept) == ["travel", "weather"]
    assert release("none").status == 0
    both = kept + list(read_records(tmp_path / "none" / "data" / "train.parquet", Example))
    assert not any("author" in e.meta for e in both) and sum("topic" in e.meta for e in both) == 2
    unknown = release("wrong", "--keep-column", "topik")
    assert unknown.status != 0 and "topic" in unknown.err and not (tmp_path / "wrong").exists()


def test_a_quiz_is_not_released_and_nothing_yet_is_said(site, items, tmp_path):
    from deadpan.studio.records.release import release_study

    empty = site.make("reader-judgment", items(2), name="empty")
    with pytest.raises(DataError, match="nothing to release"):
        release_study(empty, tmp_path / "out", FACTS, "ids")
    with pytest.raises(ConfigError, match="unknown mode"):
        release_study(empty, tmp_path / "out", FACTS, "all")


def people_of(rows) -> dict[str, set]:
    found: dict[str, set] = {}
    for row in rows:
        found.setdefault(row.annotator, set()).add((row.item_id, row.question, row.answer))
    return found


def test_two_releases_cannot_be_joined(site, items, tmp_path):
    """Neither by times nor by answers: whoever holds both releases learns nothing about a rater."""
    import pyarrow.parquet as pq

    from deadpan.studio.records.release import ReleasedJudgment, release_study

    study = site.make("reader-judgment", items(6), raters_per_item=3)
    for at in range(3):
        site.answer_all(
            site.person(study),
            study,
            lambda item, at=at: {"sarcastic": "sarcastic" if int(item[1:]) >= at else "not sarcastic"},
        )
    first = release_study(study, tmp_path / "one", FACTS, "ids")
    second = release_study(study, tmp_path / "two", FACTS, "ids")
    for folder in ("one", "two"):
        columns = pq.read_schema(tmp_path / folder / "judgments.parquet").names
        assert columns == ["item_id", "annotator", "question", "answer"]
    one, two = (
        people_of(read_records(tmp_path / folder / "judgments.parquet", ReleasedJudgment)) for folder in ("one", "two")
    )
    assert len(one) == 3 and all(len(answers) == 6 for answers in one.values())
    assert all(len({item for item, _, _ in answers}) == 1 for answers in two.values())
    assert first.anonymity.alone == 3 and "no second release" in first.summary().notes[-1]
    assert second.anonymity.per_item and "cannot be joined" in (tmp_path / "two" / "README.md").read_text()


def test_rare_combinations_of_facts_are_withheld():
    from deadpan.studio.protocols.author_survey import safe_groups

    common = [{"age": "16-24", "gender": "female", "country": "GB"}] * 5
    rare = {"age": "55+", "gender": "female", "country": "GB"}
    groups, removed = safe_groups([*common, rare], 5)
    assert groups[:5] == common and removed == 3 and groups[5] == {}
    assert safe_groups([rare] * 4, 5) == ([{}] * 4, 12)
