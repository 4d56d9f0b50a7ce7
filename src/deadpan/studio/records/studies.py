"""Stored studies and items as the typed records that protocols read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadpan.config import config_from
from deadpan.errors import ConfigError
from deadpan.fields import decode, field_types
from deadpan.formats.study import item_type, settings_type
from deadpan.formats.study_items import StudyItem
from deadpan.formats.study_settings import StudySettings
from deadpan.registry import unknown
from deadpan.studio.models import StoredStudy
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import StudyProtocol
from deadpan.studio.protocols.questions import Screen

_LABELS = {
    "sarcastic": True, "sarcasm": True, "1": True, "true": True,
    "not sarcastic": False, "not_sarcastic": False, "sincere": False, "0": False, "false": False,
}  # fmt: skip
"""Labels that versions before 0.3 stored as words."""


def find_study(name: str) -> Any:
    """Return the stored study of that name; an error lists those there are."""
    study = StoredStudy.objects.filter(slug=name).first()
    if study is None:
        names = list(StoredStudy.objects.order_by("slug").values_list("slug", flat=True))
        raise ConfigError(unknown("study", name, names) if names else f"no study {name!r}: there is none yet")
    return study


def lock_study(pk: int) -> None:
    """Hold a study until the transaction ends: those who choose its items or count its answers take turns.

    Saves refer to the study and take their key's lock when they commit, so the key itself is left free:
    a full lock would wait for an item that a save holds while that save waits for the study.
    """
    held = StoredStudy.objects.select_for_update(no_key=True).filter(pk=pk)
    held.values_list("pk").first()


def protocol_of(study: Any) -> StudyProtocol[Any, Any]:
    """Return the protocol of a stored study."""
    protocol: StudyProtocol[Any, Any] = PROTOCOLS.load(study.protocol)()
    return protocol


def settings_of(study: Any) -> Any:
    """Return the settings of a stored study, typed. Unknown ones, stored by an older version, are ignored."""
    kind: type[StudySettings] = settings_type(study.protocol)
    known = {name: value for name, value in study.settings.items() if name in kind.__dataclass_fields__}
    return config_from(known, kind, source=f"settings of {study.slug}")


def item_of(row: Any, study: Any) -> StudyItem:
    """Return a stored item as its protocol's type."""
    kind = item_type(study.protocol)
    values: Mapping[str, Any] = {**row.shown, **row.hidden, "options": row.options}
    types = field_types(kind)
    return decode(
        {
            "id": row.item_id,
            "response": row.response,
            "context": row.context,
            **{name: _current(value, types[name]) for name, value in values.items() if name in types},
        },
        kind,
    )


def screen_of(row: Any, study: Any, order: str) -> Screen:
    """Return what a person sees of a stored item."""
    return protocol_of(study).screen(item_of(row, study), settings_of(study), order)


def _current(value: Any, hint: Any) -> Any:
    """Return a value stored by an older version as the type it has now."""
    if isinstance(value, str) and hint == bool | None:
        return _LABELS.get(value.lower())
    return str(value) if hint is str else value
