"""Labels from elsewhere: recognised, counted, and removed again."""

from __future__ import annotations

import json

import pytest

from deadpan.errors import ConfigError, DataError
from deadpan.studio.records.imports import import_file, import_judgments, remove_import, study_imports
from deadpan.studio.records.journal import journal_records, latest_records
from deadpan.studio.records.labelstudio import tasks_to_judgments, write_tasks


@pytest.mark.parametrize("through_label_studio", [False, True])
def test_the_studys_own_export_doubles_nothing(judged, tmp_path, through_label_studio):
    path = tmp_path / "tasks.json"
    write_tasks(judged, path)
    if through_label_studio:  # which names its own users
        tasks = json.loads(path.read_text())
        for task in tasks:
            for annotation in task["annotations"]:
                annotation["completed_by"] = 1
        path.write_text(json.dumps(tasks))
    before = journal_records(judged)
    found = import_file(judged, path, "test")
    assert found.added == 0 and found.tally.changes == {"own_export": 8}
    assert journal_records(judged) == before and study_imports(judged).rows == ()


def test_an_export_that_holds_an_import_doubles_nothing(site, items, judged, tmp_path):
    """Raters who were imported are raters of the study too."""
    write_tasks(judged, tmp_path / "theirs.json")
    again = site.make("reader-judgment", items(4), name="again", raters_per_item=2)
    assert import_file(again, tmp_path / "theirs.json", "test").added == 8
    write_tasks(again, tmp_path / "ours.json")
    assert import_file(again, tmp_path / "ours.json", "test").added == 0
    assert import_file(again, tmp_path / "theirs.json", "test").added == 0
    assert len(latest_records(again)) == 8


def test_a_dry_run_changes_nothing(site, items, judged, tmp_path):
    write_tasks(judged, tmp_path / "t.json")
    again = site.make("reader-judgment", items(4), name="again")
    found = import_file(again, tmp_path / "t.json", "test", dry_run=True)
    assert (found.added, found.dry_run) == (8, True)
    assert journal_records(again) == [] and again.members.count() == 0


def test_an_import_is_removed_with_everything_it_brought(site, items, judged, tmp_path):
    from django.utils import timezone

    write_tasks(judged, tmp_path / "t.json")
    again = site.make("reader-judgment", items(4), name="again", raters_per_item=2)
    client = site.person(again)
    site.answer_all(client, again, lambda item: {"sarcastic": "sarcastic"})
    state = list(again.items.order_by("pk").values_list("taken", "finished"))
    number = import_file(again, tmp_path / "t.json", "test").number
    assert len(latest_records(again)) == 12
    with pytest.raises(ConfigError, match="no import 999"):
        remove_import(again, 999, "test", timezone.now())
    assert remove_import(again, number, "test", timezone.now()).rows == ()
    assert len(latest_records(again)) == 4 and again.members.count() == 1
    assert list(again.items.order_by("pk").values_list("taken", "finished")) == state


def test_an_old_export_brings_nobody_back_who_withdrew(site, judged, tmp_path):
    from django.utils import timezone

    from deadpan.studio.models import Member
    from deadpan.studio.people.withdrawal import withdraw, withdrawal_code

    write_tasks(judged, tmp_path / "t.json")
    member = Member.objects.order_by("pk").first()
    assert withdraw(withdrawal_code(member), timezone.now())
    found = import_judgments(judged, tasks_to_judgments(tmp_path / "t.json"), "test")
    assert found.added == 0 and found.tally.drops == {"withdrawn": 4}


@pytest.mark.parametrize(
    "annotation", [1, {"result": 5}, {"result": [3]}, {"result": [{"value": 7}]}, {"lead_time": "long", "result": []}]
)
def test_a_malformed_export_is_one_line(tmp_path, annotation):
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"id": 1, "data": {"text": "x"}, "annotations": [annotation]}]))
    with pytest.raises(DataError, match=r"t\.json: task 1"):
        tasks_to_judgments(path)
