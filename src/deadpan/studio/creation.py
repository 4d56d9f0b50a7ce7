"""A study folder becomes a study: checked, numbered by a draw, its qualification and checks set apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.fields import encode
from deadpan.registry import unknown
from deadpan.studies import Study, StudyItem, checked_items
from deadpan.studio import models
from deadpan.studio.models import ATTENTION, MAIN, QUALIFICATION
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import StudyProtocol

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,58}")
KNOWN = {
    "questions": "what a maker of the folder wrote down; the protocol's own questions are asked",
    "qualification": "items in the qualification round",
    "threshold": "share of matches that qualifies",
    "overlap": "share of items that get all raters",
    "rate": "pay for an hour",
    "currency": "what it is paid in",
    "abandon_minutes": "after which an untouched item goes back",
    "attention_every": "one attention check after so many items",
    "consent": "consent text",
    "instructions": "what the first page says",
    "match": "country and gender raters must share",
    "contact": "whom to ask",
}


def protocol_of(study: Any) -> StudyProtocol:
    """The protocol of a stored study."""
    found: StudyProtocol = PROTOCOLS.load(study.protocol)()
    return found


def create_study(slug: str, study: Study, items: Sequence[StudyItem], actor: str) -> Any:
    """Store a study and its items, all or nothing."""
    if not SLUG.fullmatch(slug):
        raise ConfigError(f"the name {slug!r} is part of an address: use small letters, digits and hyphens")
    if models.Study.objects.filter(slug=slug).exists():
        raise ConfigError(
            f"there is a study named {slug!r}: choose another name; a study is never overwritten"
        )
    protocol: StudyProtocol = PROTOCOLS.load(study.protocol)()
    kept = checked_items(items)
    protocol.check(kept)
    settings = _settings(protocol, study.settings, len(kept))
    with transaction.atomic():
        stored = models.Study.objects.create(
            slug=slug,
            protocol=study.protocol,
            title=study.title,
            version=study.version,
            language=study.language,
            seed=study.seed,
            raters_per_item=study.raters_per_item,
            settings=settings,
        )
        models.Item.objects.bulk_create(_rows(stored, kept, settings, protocol), batch_size=500)
        models.Event.objects.create(study=stored, actor=actor, what="create", detail={"items": len(kept)})
    return stored


def _settings(protocol: StudyProtocol, given: Mapping[str, Any], n_items: int) -> dict[str, Any]:
    """The protocol's own settings, the given ones over them. A small study has no qualification by itself."""
    allowed = {**KNOWN, **protocol.defaults, "sarcastic": 0, "count": 0}
    for key in given:
        if key not in allowed:
            raise ConfigError(unknown("setting", key, list(allowed)))
    settings = {**protocol.defaults, **given}
    if (
        "qualification" in protocol.defaults
        and "qualification" not in given
        and n_items < 3 * int(settings["qualification"])
    ):
        settings["qualification"] = 0
    if int(settings.get("qualification", 0)) > n_items:
        raise ConfigError(
            f"a qualification round of {settings['qualification']} items needs as many: there are {n_items}"
        )
    return settings


def _rows(
    stored: Any, items: Sequence[StudyItem], settings: Mapping[str, Any], protocol: StudyProtocol
) -> list[Any]:
    """Items in drawn order. Everybody gets the checks and the qualification round, so none is rationed."""
    ordered = sorted(items, key=lambda item: draw(stored.seed, item.id))
    checks = [item for item in ordered if "check" in item.hidden]
    for item in checks:
        _check_check(item, protocol, settings)
    main = [item for item in ordered if "check" not in item.hidden]
    n_first = int(settings.get("qualification", 0))
    overlap = float(settings.get("overlap", 1.0))
    alone_from = n_first + round(overlap * (len(main) - n_first))
    rows = []
    for position, item in enumerate([*main, *checks]):
        kind = ATTENTION if item in checks else QUALIFICATION if position < n_first else MAIN
        wanted = stored.raters_per_item if position < alone_from or kind != MAIN else 1
        rows.append(
            models.Item(
                study=stored,
                item_id=item.id,
                position=position,
                kind=kind,
                wanted=wanted,
                context=[encode(turn) for turn in item.context],
                response=encode(item.response),
                options=list(item.options),
                shown=dict(item.shown),
                hidden=dict(item.hidden),
            )
        )
    return rows


def _check_check(item: StudyItem, protocol: StudyProtocol, settings: Mapping[str, Any]) -> None:
    """An attention check must be answerable, or everybody fails it."""
    expected = item.hidden["check"]
    questions = {question.name: question for question in protocol.questions(settings)}
    if not isinstance(expected, Mapping) or not expected:
        raise DataError(f"item {item.id!r}: hidden.check is a table of question and expected answer")
    for name, answer in expected.items():
        if name not in questions or answer not in [choice.value for choice in questions[name].choices]:
            raise DataError(
                f"item {item.id!r}: the check {name} = {answer!r} is no answer of {protocol.name}"
            )
