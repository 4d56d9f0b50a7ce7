"""What goes in and out: exports, Label Studio, releases, backups, older databases."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3

import pytest

from deadpan.cards import DataFacts
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Judgment
from deadpan.storage import read_records
from deadpan.studies import read_export
from deadpan.studio.export import export_study

FACTS = DataFacts("T", "1.0.0", ("en",), "CC-BY-4.0", "none", "A study.", "By people.", "None.", ("Small.",))


@pytest.fixture
def study(site, items):
    """Four items, two people, one disagreement."""
    study = site.make("perceive", items(4), raters_per_item=2)
    for at in range(2):
        client = site.person(study)
        site.answer_all(
            client,
            study,
            lambda item, at=at: {"sarcastic": "sarcastic" if item != "i3" or at else "not sarcastic"},
        )
    return study


def test_parquet_holds_what_the_lines_hold(study, tmp_path):
    export_study(study, tmp_path / "out", parquet=True, csv=True)
    found = read_export(tmp_path / "out")
    assert tuple(read_records(tmp_path / "out" / "judgments.parquet", Judgment)) == found.judgments
    assert (tmp_path / "out" / "judgments.csv").is_file()


def test_label_studio_out_and_in_again(site, study, items, tmp_path):
    from deadpan.studio.imports import import_judgments
    from deadpan.studio.judgments import latest_records
    from deadpan.studio.labelstudio import items_from, judgments_from, write_tasks

    path = tmp_path / "tasks.json"
    assert write_tasks(study, path) == 4
    text = path.read_text("utf-8")
    assert "hidden" not in text and '"label"' not in text
    back = items_from(path)
    assert {item.id for item in back} == {"i0", "i1", "i2", "i3"}
    assert back[0].context[0].text.startswith("Opening line")
    again = site.make("perceive", back, name="again")
    added, tally = import_judgments(again, judgments_from(path), "test")
    assert added == 8 and not tally.drops

    def said(of):
        return sorted((r.item_id, r.answer) for r in latest_records(of))

    assert said(again) == said(study)


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"id": 1}]', '[{"id": 1, "data": {"image": "x"}}]', "not json"]
)
def test_what_is_no_label_studio_export_is_said(tmp_path, text):
    from deadpan.studio.labelstudio import items_from

    (tmp_path / "t.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"t\.json"):
        items_from(tmp_path / "t.json")


@pytest.mark.parametrize("mode", ["ids", "gated"])
def test_a_release_has_new_names_and_in_ids_mode_no_text(study, tmp_path, mode):
    from deadpan.studio.judgments import members
    from deadpan.studio.release import release_study

    sizes, tally = release_study(study, tmp_path / "one", FACTS, mode)
    release_study(study, tmp_path / "two", FACTS, mode)
    assert sizes.total == 3 and tally.drops == {"no_majority": 1}  # one against one, and nobody decided
    names = []
    for folder in ("one", "two"):
        examples = list(read_records(tmp_path / folder / "data" / "all.parquet", Example))
        assert {e.id: e.label for e in examples}["i0"] is True
        assert all(bool(e.response.text) is (mode == "gated") for e in examples)
        names.append({j.annotator for j in read_records(tmp_path / folder / "judgments.parquet", Judgment)})
    inside = {member.pseudonym for member in members(study)}
    assert len(names[0]) == 2 and not names[0] & names[1] and not (names[0] | names[1]) & inside
    described = json.loads((tmp_path / "one" / "croissant.json").read_text("utf-8"))
    assert described["recordSet"] and (tmp_path / "one" / "README.md").is_file()
    with pytest.raises(DataError, match="already"):
        release_study(study, tmp_path / "one", FACTS, mode)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the libraries it stands on
@pytest.mark.parametrize("mode", ["ids", "gated"])
def test_mlcroissant_validates_and_loads_the_release(deadpan, site, study, tmp_path, mode):
    import mlcroissant

    words = ("--mode", mode, "--licence", "CC-BY-4.0", "--home", site.home)
    assert deadpan("studio", "release", "s", "--out", tmp_path / "out", *words).status == 0
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.issues.errors and not dataset.metadata.issues.warnings
    loaded = list(dataset.records("all"))
    assert {row["all/id"].decode(): row["all/label"] for row in loaded} == dict.fromkeys(
        ["i0", "i1", "i2"], True
    )
    texts = {row["all/response"]["all/response/text"].decode() for row in loaded}
    assert texts == (
        {""} if mode == "ids" else {f"Oh sure, reply number {at} is a delight." for at in range(3)}
    )


def test_a_survey_is_released_in_broad_groups_without_who_withdrew(site, tmp_path):
    from django.utils import timezone

    from deadpan.studio.models import Member, Person, Submission
    from deadpan.studio.release import release_study
    from deadpan.studio.withdrawal import consent, withdraw

    study = site.make("tell")
    for at in range(7):
        member = Member.objects.create(study=study, person=Person.objects.make(f"t{at}"), role="participant")
        code = consent(member, "yes", timezone.now())
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
        Submission.objects.create(study=study, member=member, key="only", answers=answers, seconds=300)
    assert withdraw(code, timezone.now())
    sizes, tally = release_study(study, tmp_path / "out", FACTS, "ids")
    assert sizes.total == 24 and tally.drops == {"withdrawn": 1}
    examples = list(read_records(tmp_path / "out" / "data" / "all.parquet", Example))
    about = {json.dumps(dict(e.meta), sort_keys=True) for e in examples}
    assert "secret" not in str(about) and "Peru" not in str(about) and '"age"' in str(about)
    assert sum(bool(e.label) for e in examples) == 6 and {e.label_kind for e in examples} == {"author"}


def test_a_quiz_is_not_released_and_nothing_yet_is_said(site, items, tmp_path):
    from deadpan.studio.release import release_study

    empty = site.make("perceive", items(2), name="empty")
    with pytest.raises(DataError, match="nothing to release"):
        release_study(empty, tmp_path / "out", FACTS, "ids")
    with pytest.raises(ConfigError, match="unknown mode"):
        release_study(empty, tmp_path / "out", FACTS, "all")


def test_a_backup_comes_back_whole(site, study, template, tmp_path):
    import shutil

    from deadpan.studio.backup import back_up, restore
    from deadpan.studio.database import open_studio
    from deadpan.studio.judgments import records
    from deadpan.studio.models import Judgment as Row
    from deadpan.studio.models import Study

    path = tmp_path / "all.jsonl.gz"
    counts = back_up(path)
    before = records(study)
    with pytest.raises(DataError, match="not empty"):
        restore(path)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(template, other / "studio.sqlite3")
    open_studio(other, "", migrate=False)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(path.read_bytes()[:-200])
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    short = tmp_path / "short.gz"
    short.write_bytes(gzip.compress("\n".join(lines[:-3]).encode()))
    for damaged in (cut, short, tmp_path / "none.gz", site.home / "studio.sqlite3"):
        with pytest.raises(DataError):
            restore(damaged)
        assert Row.objects.count() == 0
    assert restore(path) == counts
    assert records(Study.objects.get()) == before


def test_an_older_database_is_copied_and_then_migrated(site, study):
    from django.core.management import call_command

    from deadpan.studio.database import bring_up_to_date
    from deadpan.studio.judgments import records

    before = records(study)
    call_command("migrate", "studio", "0001", verbosity=0)
    assert bring_up_to_date(site.home, "") == ["0002_append_only"]
    (copy,) = (site.home / "backups").glob("before-migration-*.sqlite3")
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM studio_judgment").fetchone()[0] == len(before)
    connection.close()
    assert records(study) == before
    assert bring_up_to_date(site.home, "") == []


def test_a_newer_database_and_rubbish_are_refused(site, tmp_path):
    from django.db import connection

    from deadpan.studio.database import bring_up_to_date, open_studio

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('studio', '9999_future', '2030-01-01')"
        )
    with pytest.raises(DataError, match="newer deadpan"):
        bring_up_to_date(site.home, "")
    rubbish = tmp_path / "rubbish"
    rubbish.mkdir()
    (rubbish / "studio.sqlite3").write_text("this is not a database, it only says so " * 40)
    with pytest.raises(DataError, match="cannot be opened"):
        open_studio(rubbish, "")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="in the way"):
        open_studio(tmp_path / "file", "")


def test_a_wrong_database_address_is_said(tmp_path):
    from deadpan.studio.settings import database_settings

    with pytest.raises(ConfigError, match="postgres://"):
        database_settings(tmp_path, "mysql://x")
    told = database_settings(tmp_path, "postgres://ann:p%40ss@db:5433/study")
    assert (told["USER"], told["PASSWORD"], told["HOST"], told["PORT"], told["NAME"]) == (
        "ann",
        "p@ss",
        "db",
        "5433",
        "study",
    )


def test_the_schema_is_what_the_models_say(site):
    from django.core.management import call_command

    said = io.StringIO()
    call_command("makemigrations", "studio", dry_run=True, stdout=said)
    assert said.getvalue() == "No changes detected in app 'studio'\n"


def test_every_word_is_in_korean():
    """No message is missing or doubtful, and the compiled file is the text one."""
    import gettext
    from pathlib import Path

    import deadpan.studio

    folder = Path(deadpan.studio.__file__).parent / "locale" / "ko" / "LC_MESSAGES"
    text = (folder / "django.po").read_text("utf-8")
    assert "#, fuzzy" not in text and 'msgstr ""\n\n' not in text.split("\n\n", 1)[1]
    with (folder / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    assert compiled.gettext("Save and go on") == "저장하고 다음으로"
    import re

    for single, korean in re.findall(r'^msgid "(.+)"\nmsgstr "(.+)"$', text, re.MULTILINE):
        assert compiled.gettext(single.replace('\\"', '"')) == korean.replace('\\"', '"'), single


def test_every_message_in_the_source_is_known():
    import re
    from pathlib import Path

    import deadpan.studio

    root = Path(deadpan.studio.__file__).parent
    known = set(
        re.findall(
            r'^msgid "(.+)"$', (root / "locale/ko/LC_MESSAGES/django.po").read_text("utf-8"), re.MULTILINE
        )
    )
    for path in (root / "templates").rglob("*.html"):
        for quote, found in re.findall(r"{% translate ([\"'])(.*?)\1 %}", path.read_text("utf-8")):
            assert found in known, f"{path.name}: {quote}{found}"
    for path in root.rglob("*.py"):
        for found in re.findall(r'(?:gettext|gettext_lazy|\b_)\("([^"]+)"\)', path.read_text("utf-8")):
            assert found in known, f"{path.name}: {found}"
