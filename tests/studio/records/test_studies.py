"""Stored studies come back typed."""

from __future__ import annotations

from deadpan.formats.study import AuditItem
from deadpan.studio.records.studies import item_of, settings_of


def test_what_is_stored_is_what_was_given(site, items):
    study = site.make("audit", items(3), settings={"rate": 12})
    assert settings_of(study).rate == 12.0
    given = {item.id: item for item in items(3)}
    for row in study.items.all():
        item = item_of(row, study)
        assert isinstance(item, AuditItem)
        assert (item.response, item.context) == (given[item.id].response, given[item.id].context)
        assert item.label is given[item.id].label
