"""Export the answers of a study: judgments, labels and submissions as JSONL, Parquet or CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.formats.judgments import Remark, write_export
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.records import Label
from deadpan.results import Result
from deadpan.studio.models import ATTENTION, MAIN, QUALIFICATION, Identity
from deadpan.studio.records.journal import accepted_submissions, journal_records, journal_rows, tally_submissions
from deadpan.studio.records.labels import control_items
from deadpan.studio.records.labels import study_labels as study_labels
from deadpan.studio.records.progress import flagged_assignments, item_flags
from deadpan.studio.records.studies import item_of, protocol_of, settings_of

_ITEMS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class ExportedStudy(Result):
    """An export: rows per file, and what was excluded."""

    folder: Path
    counts: Mapping[str, int]
    tally: Tally

    def summary(self) -> Summary:
        """Return rows per file."""
        notes = (*tally_notes(self.tally), f"in {self.folder}")
        return Summary((Table(("records", "rows"), tuple(self.counts.items())),), notes)

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        return {"counts": dict(self.counts), **self.tally.as_dict()}


def export_study(
    study: Any, folder: Path, *, csv: bool = False, parquet: bool = False, qualification: bool = False
) -> ExportedStudy:
    """Write every judgment and the labels. Those who withdrew are excluded, and counted.

    The answers of the qualification round go into a file of their own, since more people gave them than an
    item wants and agreement is measured without them; `qualification` puts them among the judgments.
    """
    folder = Path(folder)
    kinds = (MAIN, QUALIFICATION) if qualification else (MAIN,)
    judgments = journal_records(study, kinds)
    round_ = [] if qualification else journal_records(study, (QUALIFICATION,))
    # The qualification round is in a file of its own and so not excluded.
    tally = excluded_judgments(study, qualification=True)
    labels, _ = valid_labels(study, tally)
    config: dict[str, Any] = {"study": study.slug, "protocol": study.protocol, "version": study.version}
    if set_hash := getattr(settings_of(study), "set_hash", ""):
        config |= {"set": settings_of(study).set, "set_hash": set_hash}
    if control := sorted(control_items(study)):
        config["control"] = control
    submissions = accepted_submissions(study) if protocol_of(study).survey else None
    if submissions is not None:
        tally_submissions(study, tally)
    rows = study.items.order_by("position").iterator(chunk_size=1000)
    opinions = study.opinions.values_list("model", flat=True).distinct().order_by("model")
    if models := list(opinions):
        config |= {"models": models, "model_answers": settings_of(study).model_answers}
    about = Identity.objects.filter(member__study=study).exclude(facts={}).values_list("member__pseudonym", "facts")
    if questionnaire := dict(about):
        config["questionnaire"] = questionnaire
    config["consent_versions"] = study.consents.count()
    counts = write_export(
        folder,
        judgments,
        labels,
        submissions,
        qualification=round_,
        texts=[item_of(row, study) for row in rows],
        remarks=study_remarks(study),
        csv=csv,
        parquet=parquet,
        config=config,
        tally=tally,
    )
    return ExportedStudy(folder, counts, tally)


def study_remarks(study: Any) -> list[Remark]:
    """Return flags, skips with their reasons, and the notes on decisions."""
    said = [Remark(f.item, f.annotator, f.what, f.said) for f in item_flags(flagged_assignments(study))]
    notes = study.judgments.filter(source="adjudication").exclude(note="").order_by("id")
    found = notes.values_list("item__item_id", "member__pseudonym", "note")
    return [*said, *(Remark(item, who, "decided", note) for item, who, note in found)]


def source_columns(study: Any) -> list[str]:
    """Return the names of the source's columns that the items keep; the first items tell."""
    found = study.items.filter(kind=MAIN).order_by("position").values_list("hidden", flat=True)[:_ITEMS_LOOKED_AT]
    return list(dict.fromkeys(name for hidden in found for name in hidden.get("columns", {})))


def excluded_judgments(study: Any, qualification: bool) -> Tally:
    """Count the judgments that are in the journal and not in an export or release."""
    counts = {
        "attention_check": journal_rows(study, (ATTENTION,)).count(),
        "qualification_round": 0 if qualification else journal_rows(study, (QUALIFICATION,)).count(),
        "withdrawn": sum(study.tombstones.values_list("judgments", flat=True)),
    }
    return Tally(drops=Counter({reason: n for reason, n in counts.items() if n}))


def valid_labels(study: Any, tally: Tally) -> tuple[list[Label], set[str]]:
    """Return the labels of items that the protocol does not call invalid, and the invalid items, counted."""
    labels = study_labels(study)
    invalid = protocol_of(study).invalid_items(labels)
    for item in sorted(invalid):
        tally.drop(invalid[item], item)
    return [label for label in labels if label.item_id not in invalid], set(invalid)


def tally_notes(tally: Tally) -> tuple[str, ...]:
    """Return a line of what was excluded, a line of what was changed, and the first places."""
    notes = []
    for title, counts in (("excluded", tally.drops), ("changed", tally.changes)):
        if counts:
            parts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
            notes.append(f"{title}: {parts}")
    places = [f"  {reason}  {place}" for reason in sorted(tally.drops) for place in tally.places.get(reason, [])]
    return (*notes, *places)
