"""Import of labels made elsewhere into the journal, under the names of their annotators; and its removal."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Min, Sum

from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.judgments import NO_TIME
from deadpan.formats.study import StudyItem
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.records import Example, Judgment
from deadpan.results import Result
from deadpan.storage import read_records
from deadpan.studio import models
from deadpan.studio.protocols.protocol import IS_SARCASTIC, SARCASTIC, with_remark
from deadpan.studio.records.export import tally_notes
from deadpan.studio.records.journal import MEMBER_COUNTERS
from deadpan.studio.records.labels import recount_cases
from deadpan.studio.records.labelstudio import tasks_to_judgments
from deadpan.studio.records.studies import item_of, lock_study, protocol_of, settings_of

_ROWS_AT_ONCE = 500
IMPORTED_NAME = "imported-"


@dataclass(frozen=True, slots=True)
class ImportedLabels(Result):
    """An import: how many judgments were read and added, and what did not fit. `number` removes it."""

    study: str
    read: int
    added: int
    tally: Tally
    number: int | None = None
    dry_run: bool = False

    def summary(self) -> Summary:
        """Return the counts and what did not fit."""
        would = "would be added" if self.dry_run else "added"
        count = f"{self.added:,} of {self.read:,} judgments {would} to {self.study}"
        notes = [count, *tally_notes(self.tally)]
        if self.number is not None:
            notes.append(f"take it back: deadpan studio import {self.study} --remove {self.number}")
        return Summary(notes=tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        counts = {"added": self.added, "read": self.read, "import": self.number, "dry_run": self.dry_run}
        return {**counts, **self.tally.as_dict()}


@dataclass(frozen=True, slots=True)
class ImportList(Result):
    """The imports of a study."""

    rows: tuple[dict[str, object], ...]

    def summary(self) -> Summary:
        """Return a row per import."""
        if not self.rows:
            return Summary(notes=("no import",))
        head = tuple(self.rows[0])
        return Summary((Table(head, tuple(tuple(map(str, row.values())) for row in self.rows)),))

    def as_dict(self) -> dict[str, object]:
        """Return a row per import."""
        return {"imports": list(self.rows)}


def import_file(study: Any, path: Path, actor: str, *, dry_run: bool = False) -> ImportedLabels:
    """Add the judgments of a .jsonl or .parquet file, or of a Label Studio export (.json)."""
    return import_judgments(study, _read_judgments(Path(path)), actor, file=Path(path).name, dry_run=dry_run)


def _read_judgments(path: Path) -> list[Judgment]:
    return tasks_to_judgments(path) if path.suffix == ".json" else list(read_records(path, Judgment))


def import_judgments(
    study: Any, judgments: Sequence[Judgment], actor: str, *, file: str = "", dry_run: bool = False
) -> ImportedLabels:
    """Add the judgments that fit the study. The same ones again, or the study's own, add nothing."""
    tally = Tally()
    items = dict(models.StoredItem.objects.filter(study=study).values_list("item_id", "pk"))
    questions = {q.name: q for q in with_remark(protocol_of(study).questions(settings_of(study)))}
    own = set(study.members.values_list("pseudonym", flat=True))
    gone = set(study.tombstones.values_list("pseudonym", flat=True))
    with transaction.atomic():
        batch = models.StoredImport.objects.create(study=study, file=file[:200], actor=actor)
        members: dict[str, Any] = {}
        rows = []
        for number, record in enumerate(judgments, 1):
            if record.annotator in own:
                # This study's own export: the person who gave the answer is here.
                tally.change("own_export")
                continue
            reason = "withdrawn" if record.annotator in gone else _misfit(record, items, questions)
            if reason:
                words = f"{record.item_id} {record.question} {record.answer[:40]}"
                tally.drop(reason, f"row {number}", words)
                continue
            if record.annotator not in members:
                members[record.annotator] = _member(study, record.annotator)
            rows.append(_row(study, items[record.item_id], members[record.annotator], record, batch))
        models.StoredJudgment.objects.bulk_create(rows, ignore_conflicts=True, batch_size=_ROWS_AT_ONCE)
        added = models.StoredJudgment.objects.filter(batch=batch).count()
        tally.change("already_there", len(rows) - added)
        number_ = _record_import(study, batch, added, actor)
        if dry_run:
            transaction.set_rollback(True)
    return ImportedLabels(study.slug, len(judgments), added, tally, None if dry_run else number_, dry_run)


def _record_import(study: Any, batch: Any, added: int, actor: str) -> int | None:
    """Record the import and mark its items as done; one that added nothing leaves no trace."""
    if not added:
        batch.delete()
        return None
    models.StoredImport.objects.filter(pk=batch.pk).update(rows=added)
    _mark_done(batch)
    # A save that began later may be counted already: the disagreements are counted from here again.
    first = models.StoredJudgment.objects.filter(batch=batch).aggregate(first=Min("id"))["first"]
    models.StoredStudy.objects.filter(pk=study.pk, cases_upto__gte=first).update(cases_upto=first - 1)
    models.Event.objects.create(study=study, actor=actor, what="import", detail={"rows": added, "import": batch.pk})
    return int(batch.pk)


def _misfit(record: Judgment, items: dict[str, int], questions: dict[str, Any]) -> str:
    if record.item_id not in items:
        return "unknown_item"
    if record.question not in questions:
        return "unknown_question"
    question = questions[record.question]
    if record.answer not in question.values if question.choices else not question.allows(record.answer, {}):
        return "not_an_answer"
    try:
        datetime.fromisoformat(record.created_at)
    except ValueError:
        return "time_not_readable"
    return "" if record.annotator.strip() else "no_annotator"


def _member(study: Any, annotator: str) -> Any:
    """Return the member of an annotator's name: cannot log in, and has the same pseudonym every time."""
    # The hash, not the name: names from elsewhere may be e-mail addresses.
    known = hashlib.sha256(f"{study.pk}\x1f{annotator}".encode()).hexdigest()
    person, _ = models.Person.objects.get_or_create(
        # Django takes a password that begins with "!" for unusable.
        name=f"{IMPORTED_NAME}{known[:24]}",
        defaults={"password": "!imported"},
    )
    member, _ = models.Member.objects.get_or_create(
        study=study,
        person=person,
        defaults={"role": models.ANNOTATOR, "state": models.ACTIVE, "pseudonym": f"i{known[:8]}"},
    )
    return member


def _row(study: Any, item: int, member: Any, record: Judgment, batch: Any) -> Any:
    at = datetime.fromisoformat(record.created_at)
    # The same judgment always gets the same key, which the journal accepts once.
    words = "\x1f".join((record.item_id, record.question, record.answer, record.created_at))
    return models.StoredJudgment(
        study_id=study.pk,
        item_id=item,
        member_id=member.pk,
        question=record.question,
        answer=record.answer,
        seconds=max(0.0, record.seconds),
        key=f"import:{hashlib.sha256(words.encode()).hexdigest()[:40]}",
        source="import",
        batch_id=batch.pk,
        created_at=at if at.tzinfo else at.replace(tzinfo=UTC),
    )


def _mark_done(batch: Any) -> None:
    """Mark imported items as done, so that no more people than wanted are asked; all members at once."""
    mine = models.StoredJudgment.objects.filter(batch=batch)
    judged = {(m, i): at for m, i, at in mine.values_list("member_id", "item_id").annotate(at=Max("created_at"))}
    members = {member for member, _ in judged}
    held = models.Assignment.objects.filter(member_id__in=members)
    new = sorted(judged.keys() - set(held.values_list("member_id", "item_id")))
    last = dict(held.values_list("member_id").annotate(n=Max("number")).values_list("member_id", "n"))
    rows = []
    for member, item in new:
        last[member] = last.get(member, 0) + 1
        at = judged[member, item]
        rows.append(
            models.Assignment(
                item_id=item, member_id=member, number=last[member], state=models.DONE, given_at=at, touched_at=at
            )
        )
    models.Assignment.objects.bulk_create(rows, batch_size=_ROWS_AT_ONCE)
    _count(new, +1)
    for member, seconds in mine.values_list("member_id").annotate(s=Sum("seconds")).values_list("member_id", "s"):
        models.Member.objects.filter(pk=member).update(seconds=F("seconds") + seconds)


def _count(pairs: Sequence[tuple[int, int]], sign: int) -> None:
    """Add finished items to the counters of items and members, or take them out."""
    per_item = Counter(item for _, item in pairs)
    by_count: dict[int, list[int]] = {}
    for item, n in per_item.items():
        by_count.setdefault(n, []).append(item)
    for n, some in by_count.items():
        for at in range(0, len(some), _ROWS_AT_ONCE):
            models.StoredItem.objects.filter(pk__in=some[at : at + _ROWS_AT_ONCE]).update(
                taken=F("taken") + sign * n, finished=F("finished") + sign * n
            )
    kinds = dict(
        models.StoredItem.objects.filter(assignments__member__in={m for m, _ in pairs}).values_list("pk", "kind")
    )
    for (member, column), n in Counter((m, MEMBER_COUNTERS[kinds[i]]) for m, i in pairs).items():
        models.Member.objects.filter(pk=member).update(**{column: F(column) + sign * n})


def attach_model(study: Any, answers: Path | Sequence[Judgment], model: str, actor: str) -> ImportedLabels:
    """Keep what a model answers beside the people's answers: Judgments, or a file of them or of Label Studio.

    It is no vote. Where it differs from the people, the disagreement is the first to be decided. Marked words are
    suggestions that people accept, where the study shows them. The same model again replaces what it said before.
    """
    tally = Tally()
    judgments = _read_judgments(answers) if isinstance(answers, Path) else answers
    items = dict(models.StoredItem.objects.filter(study=study).values_list("item_id", "pk"))
    questions = {q.name: q for q in protocol_of(study).questions(settings_of(study))}
    said: dict[tuple[int, str], models.StoredOpinion] = {}
    for number, record in enumerate(judgments, 1):
        if reason := _misfit(record, items, questions):
            tally.drop(reason, f"row {number}", f"{record.item_id} {record.question} {record.answer[:40]}")
            continue
        row = models.StoredOpinion(
            study=study, item_id=items[record.item_id], model=model[:100], question=record.question
        )
        row.answer = record.answer
        said[row.item_id, row.question] = row
    with transaction.atomic():
        models.StoredOpinion.objects.filter(study=study, model=model[:100]).delete()
        models.StoredOpinion.objects.bulk_create(said.values(), batch_size=_ROWS_AT_ONCE)
        models.Event.objects.create(
            study=study, actor=actor, what="model", detail={"model": model[:100], "rows": len(said)}
        )
    recount_cases(study, {item for item, _ in said})
    return ImportedLabels(study.slug, len(judgments), len(said), tally)


def detector_answers(study: Any, explain: Callable[[Example], Any], name: str) -> list[Judgment]:
    """Return what a detector answers: its label, and the phrases its score rests on as marked words.

    `explain` is a detector's method. Words are marked with the first label of each question that marks some.
    """
    settings = settings_of(study)
    named = getattr(settings, "label_question", IS_SARCASTIC)
    positive = getattr(settings, "sarcastic_answers", (SARCASTIC,))
    questions = protocol_of(study).questions(settings)
    asked = next((q for q in questions if q.name == named and q.choices), None)
    marked = [q for q in questions if q.kind == "spans"]
    if asked is None and not marked:
        raise ConfigError(
            f"{study.slug} asks nothing that a detector answers: whether it is sarcastic, or by what words"
        )
    found: list[Judgment] = []
    for row in study.items.filter(kind=models.MAIN).order_by("position").iterator(chunk_size=1000):
        item = item_of(row, study)
        told = explain(Example(item.id, item.response, item.context, language=row.language or study.language))
        if told.label is None:
            continue
        answers = {}
        # A question may have no answer for one of the labels.
        if asked is not None and (fits := [v for v in asked.values if (v in positive) is told.label]):
            answers[asked.name] = fits[0]
        spans = _spans(item, [phrase.text for phrase in told.phrases if phrase.push > 0]) if told.label else []
        for question in marked if spans else ():
            answers[question.name] = json.dumps([{**span, "label": question.options[0]} for span in spans])
        found += [Judgment(item.id, name, question, answer, 0.0, NO_TIME) for question, answer in answers.items()]
    return found


def _spans(item: StudyItem, phrases: Sequence[str]) -> list[dict[str, int]]:
    """Return where phrases stand in the response; its place is after the turns before it."""
    places = [(item.response.text.find(phrase), len(phrase)) for phrase in phrases]
    return [{"turn": len(item.context), "start": at, "end": at + size} for at, size in places if at >= 0]


# ---------------------------------------------------------------- removal


def study_imports(study: Any) -> ImportList:
    """Return the imports of a study that are still in it."""
    found = models.StoredImport.objects.filter(study=study, removed_at=None).order_by("pk")
    return ImportList(
        tuple(
            {"import": i.pk, "file": i.file, "rows": i.rows, "by": i.actor, "at": f"{i.created_at:%Y-%m-%d}"}
            for i in found
        )
    )


def remove_import(study: Any, number: int, actor: str, now: datetime) -> ImportList:
    """Take an import out of the journal, with the members and assignments that came with it."""
    batch = models.StoredImport.objects.filter(study=study, pk=number, removed_at=None).first()
    if batch is None:
        raise ConfigError(f"no import {number} in {study.slug}; see deadpan studio import {study.slug} --list")
    with transaction.atomic():
        lock_study(study.pk)
        # The trigger lets the rows go only once this is written.
        models.StoredImport.objects.filter(pk=batch.pk).update(removed_at=now)
        mine = models.StoredJudgment.objects.filter(batch=batch)
        touched = list(mine.values_list("member_id", "item_id").distinct())
        spent = list(mine.values_list("member_id").annotate(s=Sum("seconds")).values_list("member_id", "s"))
        removed = mine.count()
        mine.delete()
        for member, seconds in spent:
            models.Member.objects.filter(pk=member).update(seconds=F("seconds") - seconds)
        _give_back(touched)
        recount_cases(study, {item for _, item in touched})
        models.Event.objects.create(
            study=study, actor=actor, what="remove import", detail={"import": batch.pk, "rows": removed}
        )
    return study_imports(study)


def _give_back(touched: Sequence[tuple[int, int]]) -> None:
    """Give back items that nobody of the import answers any more, and delete members without judgments."""
    members = {member for member, _ in touched}
    left = set(models.StoredJudgment.objects.filter(member_id__in=members).values_list("member_id", "item_id"))
    free = [pair for pair in touched if pair not in left]
    _count(free, -1)
    for member in members:
        items = [item for who, item in free if who == member]
        models.Assignment.objects.filter(member_id=member, item_id__in=items).delete()
    empty = models.Member.objects.filter(pk__in=members).annotate(n=Count("judgments")).filter(n=0)
    people = list(empty.filter(person__name__startswith=IMPORTED_NAME).values_list("person_id", flat=True))
    models.Member.objects.filter(person_id__in=people).delete()
    models.Person.objects.filter(pk__in=people).delete()
