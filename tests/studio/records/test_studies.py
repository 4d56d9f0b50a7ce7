"""Stored studies come back typed, also those that an older version stored."""

from __future__ import annotations

from deadpan.formats.study_items import AuditItem
from deadpan.studio.records.studies import item_of, protocol_of, settings_of


def test_items_and_settings_of_an_older_version_are_read(site, items):
    """Before items had types, labels could be words, hidden held anything, and settings were not checked."""
    study = site.make("audit", items(2), settings={"rate": 12})
    study.settings = {**study.settings, "questions": {"response": ["a"]}, "threshold": 0.65}
    row = study.items.get(item_id="i1")
    row.shown = {"original": "Sure. /s", "score": 7, "subreddit": "news"}
    row.hidden = {"label": "not sarcastic", "system": "x", "text": "Sure."}
    item = item_of(row, study)
    assert isinstance(item, AuditItem) and item.label is False
    assert (item.original, item.subreddit, item.text) == ("Sure. /s", "news", "Sure.")
    assert (settings_of(study).rate, settings_of(study).threshold) == (12.0, 0.65)
    assert protocol_of(study).screen(item, settings_of(study), "1").response.text == "Sure. /s"


def test_what_is_stored_is_what_was_given(site, items):
    study = site.make("audit", items(3))
    given = {item.id: item for item in items(3)}
    for row in study.items.all():
        item = item_of(row, study)
        assert (item.response, item.context) == (given[item.id].response, given[item.id].context)
        assert item.label is given[item.id].label
