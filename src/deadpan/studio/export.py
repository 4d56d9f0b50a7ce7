"""The answers of a study leave in the folder everybody reads, and as Parquet or CSV beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.records import Judgment, Label
from deadpan.storage import write_manifest, write_records
from deadpan.studies import JUDGMENTS, LABELS, Submission, write_export
from deadpan.studio.creation import protocol_of
from deadpan.studio.judgments import records, rows
from deadpan.studio.models import ATTENTION, MAIN, QUALIFICATION, WITHDRAWN
from deadpan.studio.models import Judgment as Row
from deadpan.studio.results import labels as study_labels

INVALID = "invalid"


def export_study(
    study: Any, folder: Path, *, csv: bool = False, parquet: bool = False, qualification: bool = False
) -> tuple[dict[str, int], Tally]:
    """Write every judgment and what they come to. Those who withdrew are left out, and counted."""
    kinds = (MAIN, QUALIFICATION) if qualification else (MAIN,)
    judgments = records(study, kinds)
    tally = left_out(study, qualification)
    labels = valid_labels(study_labels(study), tally)
    config = {"study": study.slug, "protocol": study.protocol, "version": study.version}
    told = submissions(study) if protocol_of(study).survey else None
    if told is not None:
        tally_reasons(study, tally)
    counts = write_export(folder, judgments, labels, told, csv=csv, config=config, tally=tally)
    if parquet:
        write_records((folder / JUDGMENTS).with_suffix(".parquet"), judgments, Judgment)
        write_records((folder / LABELS).with_suffix(".parquet"), labels, Label)
        write_manifest(folder, command="studio export", config=config, counts=counts, tally=tally)
    return counts, tally


def left_out(study: Any, qualification: bool) -> Tally:
    """What the journal holds and an export does not."""
    tally = Tally()
    for reason, found in (
        ("attention_check", rows(study, (ATTENTION,))),
        ("qualification_round", [] if qualification else rows(study, (QUALIFICATION,))),
        ("withdrawn", Row.objects.filter(study=study, member__state=WITHDRAWN)),
    ):
        n = len(found) if isinstance(found, list) else found.count()
        if n:
            tally.drops[reason] += n
    return tally


def valid_labels(labels: list[Label], tally: Tally) -> list[Label]:
    """Items whose category is invalid have no label: the author's own explanation did not hold."""
    final = {label.item_id: label.value for label in labels if label.question == "category" and label.value}
    invalid = {item for item, value in final.items() if value == INVALID}
    for item in sorted(invalid):
        tally.drop("invalid", item)
    return [label for label in labels if label.item_id not in invalid]


def submissions(study: Any) -> list[Submission]:
    """What participants handed in and the rules let through."""
    kept = []
    found = study.submissions.exclude(member__state=WITHDRAWN).select_related("member").order_by("id")
    for row in found:
        if not row.reasons:
            kept.append(
                Submission(
                    f"{study.slug}-{row.pk}",
                    row.member.pseudonym,
                    row.answers,
                    row.seconds,
                    row.created_at.isoformat(),
                )
            )
    return kept


def tally_reasons(study: Any, tally: Tally) -> None:
    """Every submission that is not used, under its first reason."""
    for row in study.submissions.exclude(member__state=WITHDRAWN):
        if row.reasons:
            tally.drop(row.reasons[0], f"submission {row.pk}")
    withdrawn = study.tombstones.count()
    if withdrawn:
        tally.drops["withdrawn"] += withdrawn
