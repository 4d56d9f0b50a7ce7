"""Studies: how one is created from items, and how it is read back as the records that protocols know."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction

from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.formats.study import Study, StudyItem, StudySettings, checked_items, item_type, settings_type
from deadpan.ordering import Ordering, informative_order
from deadpan.page.summary import Summary
from deadpan.records import Example, Predictor
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.studio.models import ATTENTION, MAIN, QUALIFICATION, Event, StoredItem, StoredStudy
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import Screen, StudyProtocol, with_remark
from deadpan.validation import config_from, decode, encode, field_types

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,58}")


@dataclass(frozen=True, slots=True)
class CreatedStudy(Result):
    """A new study: how many items, raters per item and items of the qualification round."""

    study: str
    protocol: str
    items: int
    raters_per_item: int
    qualification: int
    stage: str = "open"

    def summary(self) -> Summary:
        """Return the counts and the next commands."""
        raters = f"{self.raters_per_item} raters per item"
        notes = [f"made {self.study}: {self.protocol}, {self.items:,} items, {raters}"]
        if self.qualification:
            notes.append(f"qualification round: {self.qualification} items, the same for all applicants")
        if self.stage == "draft":
            set_ = f"deadpan studio set {self.study} --setting contact=WHO --stage open"
            notes.append(f"it is a draft: look at it with deadpan studio serve, then open it: {set_}")
        notes.append(f"next: deadpan studio serve, then deadpan studio invite {self.study}")
        return Summary(notes=tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        return asdict(self)


def created_result(stored: Any) -> CreatedStudy:
    """Return a stored study as a result."""
    return CreatedStudy(
        stored.slug,
        stored.protocol,
        stored.items.count(),
        stored.raters_per_item,
        settings_of(stored).qualification or 0,
        stored.stage,
    )


def create_study(
    slug: str,
    study: Study,
    items: Sequence[StudyItem],
    actor: str,
    order: Ordering | None = None,
    *,
    draft: bool = False,
) -> Any:
    """Store a study and its items, all or nothing, and return the stored study.

    Items are asked in random order, or in the given one; its control stratum is kept with the study. A draft
    takes no answers until it is opened.
    """
    if not SLUG.fullmatch(slug):
        raise ConfigError(f"the name {slug!r} is part of an address: use small letters, digits and hyphens")
    if StoredStudy.objects.filter(slug=slug).exists():
        raise ConfigError(f"there is a study named {slug!r}: choose another name; a study is never overwritten")
    protocol: StudyProtocol[Any, Any] = PROTOCOLS.load(study.protocol)()
    settings = study.typed_settings()
    checked = checked_items(items, study.protocol)
    if not checked and not protocol.survey:
        raise DataError(f"the protocol {study.protocol} needs items: name a SOURCE that has some")
    n_qualification = _qualification(protocol, settings, len(checked))
    with transaction.atomic():
        stored = StoredStudy.objects.create(
            slug=slug,
            protocol=study.protocol,
            title=study.title,
            version=study.version,
            language=study.language,
            seed=study.seed,
            raters_per_item=study.raters_per_item,
            settings={**encode(study.settings), "qualification": n_qualification},
            is_draft=draft,
            is_open=not draft,
        )
        rows = _rows(stored, checked, settings, n_qualification, protocol, order)
        # SQLite limits the variables of a statement; a row has about fifteen.
        StoredItem.objects.bulk_create(rows, batch_size=500)
        count_items(stored)
        detail = {"items": len(checked), **({"control": list(order.control)} if order else {})}
        Event.objects.create(study=stored, actor=actor, what="create", detail=detail)
    return stored


def count_items(stored: Any) -> None:
    """Store how many items a study has, so that no page counts them."""
    stored.main_items = stored.items.filter(kind=MAIN).count()
    stored.round_items = stored.items.filter(kind=QUALIFICATION).count()
    stored.save(update_fields=["main_items", "round_items"])


def _qualification(protocol: StudyProtocol[Any, Any], settings: StudySettings, n_items: int) -> int:
    """Return the size of the qualification round. A small study has none unless it asks for one."""
    if settings.qualification is None:
        return protocol.qualification if n_items >= 3 * protocol.qualification else 0
    if settings.qualification > n_items:
        raise ConfigError(f"a qualification round of {settings.qualification} items needs as many: there are {n_items}")
    return settings.qualification


def _rows(
    stored: Any,
    items: Sequence[StudyItem],
    settings: StudySettings,
    n_qualification: int,
    protocol: StudyProtocol[Any, Any],
    order: Ordering | None = None,
) -> list[Any]:
    """Return the items in their order. Everybody gets the attention checks and the qualification round."""
    ordered = sorted(items, key=lambda item: draw(stored.seed, item.id))
    if order is not None:
        place = {name: at for at, name in enumerate(order.ids)}
        ordered.sort(key=lambda item: place.get(item.id, len(place)))
    checks = [item for item in ordered if item.check]
    main = [item for item in ordered if not item.check]
    # Items after this place are judged once; the share before it measures agreement.
    single_from = n_qualification + round(settings.overlap * (len(main) - n_qualification))
    rows = item_rows(stored, [*main, *checks], settings, protocol)
    for row in rows:
        if row.kind == MAIN and row.position < n_qualification:
            row.kind = QUALIFICATION
        elif row.kind == MAIN and row.position >= single_from:
            row.wanted = 1
    return rows


def item_rows(
    stored: Any, items: Sequence[StudyItem], settings: StudySettings, protocol: StudyProtocol[Any, Any], first: int = 0
) -> list[Any]:
    """Return items as rows of the study, in the order given, wanted by all raters."""
    rows = []
    for position, item in enumerate(items, first):
        if item.check:
            _check_expected(item, protocol, settings)
        shown = item.shown_fields()
        rows.append(
            StoredItem(
                study=stored,
                item_id=item.id,
                position=position,
                kind=ATTENTION if item.check else MAIN,
                wanted=stored.raters_per_item,
                context=[encode(turn) for turn in item.context],
                response=encode(item.response),
                options=shown.pop("options", []),
                shown=shown,
                hidden=item.hidden_fields(),
                family=protocol.family_of(item),
                language=protocol.language_of(item),
            )
        )
    return rows


def _check_expected(item: StudyItem, protocol: StudyProtocol[Any, Any], settings: StudySettings) -> None:
    """Check that an attention check can be passed."""
    questions = {question.name: question for question in protocol.questions(settings)}
    for name, answer in item.check.items():
        if name not in questions or answer not in questions[name].values:
            raise DataError(f"item {item.id!r}: the check {name} = {answer!r} is not an answer of {protocol.name}")


# ---------------------------------------------------------------- stored studies


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
    """Return the settings of a stored study, typed."""
    kind: type[StudySettings] = settings_type(study.protocol)
    return config_from(study.settings, kind, source=f"settings of {study.slug}")


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
            **{name: value for name, value in values.items() if name in types},
        },
        kind,
    )


def screen_of(row: Any, study: Any, order: str) -> Screen:
    """Return what a person sees of a stored item."""
    screen = protocol_of(study).screen(item_of(row, study), settings_of(study), order)
    return replace(screen, questions=with_remark(screen.questions))


ORDERS = ("random", "informative")


def order_items(items: Sequence[StudyItem], predictor: Predictor | None, order: str, seed: int = 0) -> Ordering | None:
    """Return the order of a study's items by a detector's scores; None for the usual random order."""
    if order not in ORDERS:
        raise ConfigError(unknown("order", order, ORDERS))
    if order == ORDERS[0]:
        return None
    if predictor is None:
        raise ConfigError("an informative order needs a detector: name one with --detector")
    asked = [item for item in items if not item.check]
    examples = [Example(item.id, item.response, context=item.context) for item in asked]
    # A text that the detector cannot score is as uncertain as can be.
    scores = [0.5 if p.score is None else p.score for p in predictor.predict(examples)]
    return informative_order([e.id for e in examples], [e.response.text for e in examples], scores, seed=seed)
