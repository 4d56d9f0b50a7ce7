"""People judge the dialogues: a study for the annotate protocol, and its answers as labelled examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.export import Export, read_export
from deadpan.formats.study import Study, write_study
from deadpan.formats.study_items import (
    ANNOTATE_ANSWERS,
    AWKWARD,
    CASUAL,
    CRITICISM,
    MISFORMATTED,
    NOT_SARCASM,
    SARCASM,
    AnnotateItem,
)
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.folder import GenerationFolder
from deadpan.generate.people.construction import Constructed, Rewrite, Verdict, construct
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.ratings import majority, ratings_from_judgments
from deadpan.records import Example, Judgment
from deadpan.results import Result
from deadpan.storage import manifest_path, read_manifest, read_records, write_manifest, write_records

PROTOCOL = "annotate"
_SYNONYMS = {
    "sarcastic": SARCASM,
    "non sarcasm": NOT_SARCASM,
    "not sarcastic": NOT_SARCASM,
    "nonsarcasm": NOT_SARCASM,
    "casual": CASUAL,
    "criticism": CRITICISM,
    "awkward": AWKWARD,
    "wrong format": MISFORMATTED,
    "format": MISFORMATTED,
}
FOLDER = "people"
EXAMPLES, DROPPED, REWRITE = "examples.jsonl", "dropped.jsonl", "rewrite.jsonl"


@dataclass(frozen=True, slots=True)
class AnnotationStudy(Result):
    """A study folder that was written, for `deadpan studio create`."""

    folder: Path
    items: int

    def summary(self) -> Summary:
        command = f"deadpan studio create {PROTOCOL} {self.folder} --name NAME"
        return Summary(notes=(f"{self.items:,} dialogues to judge: {self.folder}", f"next: {command}"))

    def as_dict(self) -> dict[str, object]:
        return {"study": str(self.folder), "items": self.items}


def write_people_study(
    plan: GenerationPlan | Path | str, folder: Path, *, run: Path | str | None = None, raters: int = 1
) -> AnnotationStudy:
    """Write the dialogues that the last step kept as a study for the annotate protocol."""
    plan = open_plan(plan, run)
    source = GenerationFolder(plan.out)
    language = plan.open_language()
    step = source.last()
    items = (
        AnnotateItem(
            draft.id,
            draft.response,
            draft.context,
            explanation=draft.explanation,
            situation=draft.situation,
            topic=draft.topic,
            intended=SARCASM,
        )
        for draft in source.drafts(step)
        if draft.response is not None
    )
    title = plan.release.title or f"Sarcastic dialogues, {language.facts.name}"
    study = Study(PROTOCOL, title, language=language.code, seed=plan.seed, raters_per_item=raters)
    count = write_study(folder, study, items, command="generate people", inputs=[source.kept(step)])
    return AnnotationStudy(folder, count)


# ---------------------------------------------------------------- the answers


def verdicts(export: Export) -> dict[str, Verdict]:
    """Return the answers per dialogue: the export's labels, else the majority of people's last answers.

    The qualification round has judgments but no labels: the majority of the applicants counts, as in KoCoSa.
    """
    labelled = {(one.item_id, one.question): one.value for one in export.labels if one.value is not None}
    known = {(one.item_id, one.question) for one in export.labels}
    judgments = (*export.judgments, *export.qualification)
    for question in ANNOTATE_ANSWERS:
        unlabelled = [one for one in judgments if (one.item_id, question) not in known]
        labelled |= _majorities(unlabelled, question)
    answers: dict[str, dict[str, str]] = {}
    for (item, question), value in labelled.items():
        if question in ANNOTATE_ANSWERS:
            answers.setdefault(item, {})[question] = parse_answer(question, value)
    return {item: Verdict(**by_question) for item, by_question in answers.items()}


def _majorities(judgments: Iterable[Judgment], question: str) -> dict[tuple[str, str], str]:
    latest = {(j.item_id, j.annotator): j for j in judgments if j.question == question and j.answer.strip()}
    if not latest:
        return {}
    labels = majority(ratings_from_judgments(list(latest.values()), question))
    return {(label.item_id, question): label.value for label in labels if label.value is not None}


def parse_answer(question: str, value: str) -> str:
    """Return an answer in KoCoSa's words; an unknown one is an error, because the table would be wrong."""
    plain = value.strip().lower().replace("_", "-")
    plain = _SYNONYMS.get(plain.replace("-", " "), plain)
    for spelling in (plain, plain.replace("-", " ")):
        if spelling in ANNOTATE_ANSWERS[question]:
            return spelling
    raise DataError(f"answer {value!r} to {question!r}: expected {', '.join(ANNOTATE_ANSWERS[question])}")


@dataclass(frozen=True, slots=True)
class PeopleResult(Result):
    """Dialogues judged by people, and the examples that the construction table made of them."""

    folder: Path
    judged: int
    examples: int
    rewrite: int
    tally: Tally
    left_out: int = 0
    """Answers of the qualification round that the export leaves out."""

    def summary(self) -> Summary:
        rows = [("judged", self.judged), ("examples", self.examples), ("to rewrite", self.rewrite)]
        rows += [(f"dropped: {reason}", n) for reason, n in sorted(self.tally.drops.items())]
        rows += sorted(self.tally.changes.items())
        notes = [f"examples: {self.folder}"]
        if self.left_out:
            notes.append(
                f"{self.left_out:,} answers of the qualification round are not in this export: "
                f"deadpan studio export STUDY --with-qualification includes them"
            )
        return Summary((Table(("dialogues", "n"), tuple(rows)),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        counts = {"judged": self.judged, "examples": self.examples, "rewrite": self.rewrite}
        return {**counts, **self.tally.as_dict()}


def apply_people(
    plan: GenerationPlan | Path | str,
    export: Path,
    *,
    run: Path | str | None = None,
    rewrites: Path | None = None,
) -> PeopleResult:
    """Read people's answers, apply the construction table, and write people/ in the run folder."""
    plan = open_plan(plan, run)
    folder = GenerationFolder(plan.out)
    judged = verdicts(read_export(export))
    rewritten = {r.id: r.rewritten.strip() for r in read_records(rewrites, Rewrite)} if rewrites else {}
    with folder.lock():
        step = folder.last()
        known = {draft.id for draft in folder.drafts(step)}
        if not known & judged.keys():
            raise DataError(
                f"{export}: no answer is about a dialogue in {folder.root}: is it from another run?"
            )
        constructed = (
            (draft, construct(draft, judged.get(draft.id), plan.language, rewritten.get(draft.id, "")))
            for draft in folder.drafts(step)
        )
        made = _write_people(folder, step, constructed, len(known & judged.keys()))
    return replace(made, left_out=_left_out(export))


def _left_out(export: Path) -> int:
    """Return how many answers of the qualification round an export says it leaves out."""
    if not manifest_path(export).is_file():
        return 0
    return read_manifest(export).drops.get("qualification_round", 0)


def _write_people(
    run: GenerationFolder, step: str, constructed: Iterable[tuple[Draft, Constructed]], judged: int
) -> PeopleResult:
    out = run.root / FOLDER
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    tally, queue, dropped = Tally(), list[Rewrite](), list[Dropped]()

    def examples() -> Iterator[Example]:
        for draft, made in constructed:
            if made.dropped:
                tally.drop(made.dropped, draft.id, made.detail)
                dropped.append(Dropped(draft.id, FOLDER, made.dropped, made.detail, draft=draft))
            if made.change:
                tally.change(made.change)
            if made.rewrite:
                tally.change("explanation_blanked")
                queue.append(made.rewrite)
            yield from made.examples

    count = write_records(out / EXAMPLES, examples(), Example)
    write_records(out / DROPPED, dropped, Dropped)
    write_records(out / REWRITE, queue, Rewrite)
    counts: Mapping[str, int] = {"judged": judged, "examples": count, "rewrite": len(queue)}
    write_manifest(out, command="generate people", inputs=[run.kept(step)], counts=counts, tally=tally)
    return PeopleResult(out, judged, count, len(queue), tally)
