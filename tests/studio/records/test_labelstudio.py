"""Label Studio's JSON, in and out."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError
from deadpan.studio.protocols import PROTOCOLS


def test_label_studio_out_and_in_again(site, judged, items, tmp_path):
    from deadpan.studio.records.imports import import_judgments
    from deadpan.studio.records.journal import latest_records
    from deadpan.studio.records.labelstudio import tasks_to_examples, tasks_to_judgments, write_tasks

    path = tmp_path / "tasks.json"
    assert write_tasks(judged, path).tasks == 4
    text = path.read_text("utf-8")
    assert "hidden" not in text and '"label"' not in text
    back = tasks_to_examples(path)
    assert {item.id for item in back} == {"i0", "i1", "i2", "i3"}
    assert back[0].context[0].text.startswith("Opening line")
    again = site.make("reader-judgment", PROTOCOLS.load("reader-judgment")().items_from(back), name="again")
    imported = import_judgments(again, tasks_to_judgments(path), "test")
    added, tally = imported.added, imported.tally
    assert added == 8 and not tally.drops

    def said(of):
        return sorted((r.item_id, r.answer) for r in latest_records(of))

    assert said(again) == said(judged)


@pytest.mark.parametrize("text", ["{}", "[1]", '[{"id": 1}]', '[{"id": 1, "data": {"image": "x"}}]', "not json"])
def test_what_is_no_label_studio_export_is_said(tmp_path, text):
    from deadpan.studio.records.labelstudio import tasks_to_examples

    (tmp_path / "t.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"t\.json"):
        tasks_to_examples(tmp_path / "t.json")
