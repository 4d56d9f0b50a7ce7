"""People in a run: the review of what the model found abnormal, and the judgment of every dialogue."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.judgments import Export, read_export
from deadpan.formats.study import (
    ABNORMAL,
    ANNOTATE_ANSWERS,
    AWKWARD,
    CASUAL,
    CRITICISM,
    MISFORMATTED,
    NORMAL,
    NOT_SARCASM,
    SARCASM,
    AnnotateItem,
    Study,
    write_study,
)
from deadpan.generate.folder import Draft, Dropped, GenerationFolder, StepWriter, as_examples, render_dialogue
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.ratings import majority, ratings_from_judgments
from deadpan.records import Example, Judgment
from deadpan.results import Result
from deadpan.storage import manifest_path, read_manifest, read_records, write_manifest, write_records
from deadpan.validation import encode

_QUESTION = "context"
_CONFIRMED, _WAITING = "abnormal_confirmed", "awaiting_review"
_DECISIONS = "decisions.jsonl"

Decide = Callable[[Draft, int, int], str | None]
"""Called with a suspect, its number and the number of suspects; returns "normal", "abnormal", "" to skip it,
or None to stop."""


@dataclass(frozen=True, slots=True)
class ReviewResult(Result):
    """Decisions made now, suspects still waiting, and dialogues that go on."""

    decided: int
    waiting: int
    kept: int
    tally: Tally

    def summary(self) -> Summary:
        line = f"{self.decided:,} decided, {self.waiting:,} waiting; {self.kept:,} dialogues go on"
        return Summary(notes=(line,))

    def as_dict(self) -> dict[str, object]:
        counts = {"decided": self.decided, "waiting": self.waiting, "kept": self.kept}
        return {**counts, "drops": dict(self.tally.drops)}


def review_run(
    plan: GenerationPlan | Path | str,
    *,
    run: Path | str | None = None,
    export: Path | None = None,
    decide: Decide | None = None,
    name: str = "",
) -> ReviewResult:
    """Apply people's decisions on what the model found abnormal.

    New decisions come from the `export` of a study, or from `decide`, made by the person `name`. A suspect
    without a decision is held back.
    """
    plan = open_plan(plan, run)
    folder = GenerationFolder(plan.out)
    with folder.lock():
        decided = 0
        if export is not None:
            decided = _record(folder, _exported_decisions(folder, export))
        elif decide is not None:
            decided = _record(folder, _asked_decisions(list(waiting_suspects(folder)), decide, name))
        step = apply_review(folder, plan.seed)
        return ReviewResult(decided, sum(1 for _ in waiting_suspects(folder)), step.counts.kept, step.tally)


def review_decisions(run: GenerationFolder) -> dict[str, str]:
    """Return people's decisions per draft: the majority of their last answers; a tie is no decision."""
    path = run.root / _DECISIONS
    if not path.is_file():
        return {}
    return _majorities(read_records(path, Judgment), _QUESTION)


def _majorities(judgments: Iterable[Judgment], question: str) -> dict[str, str]:
    """Return the majority of people's last answers to a question, by item."""
    latest = {(j.item_id, j.annotator): j for j in judgments if j.question == question and j.answer.strip()}
    labels = majority(ratings_from_judgments(list(latest.values()), question)) if latest else ()
    return {label.item_id: label.value for label in labels if label.value is not None}


def waiting_suspects(run: GenerationFolder) -> Iterator[Draft]:
    """Yield the suspects without a decision."""
    decided = review_decisions(run)
    return (draft for draft in run.drafts("abnormal") if draft.suspect and draft.id not in decided)


def apply_review(run: GenerationFolder, seed: int) -> StepWriter:
    """Run the step: keep cleared dialogues, drop confirmed ones, hold back and count the undecided."""
    decided = review_decisions(run)
    config = {"decisions": dict(sorted(decided.items()))}
    with StepWriter(run, "review", config, seed) as out:
        for draft in run.drafts("abnormal"):
            verdict = decided.get(draft.id, "")
            if not draft.suspect or verdict == NORMAL:
                out.keep(draft)
            else:
                reason = _CONFIRMED if verdict == ABNORMAL else _WAITING
                out.drop(Dropped(draft.id, "review", reason, draft.suspect, draft=draft))
    return out


def write_review_study(
    plan: GenerationPlan | Path | str, folder: Path, *, run: Path | str | None = None
) -> AnnotationStudy:
    """Write the waiting suspects as a study; of its answers only those on the context count."""
    plan = open_plan(plan, run)
    source = GenerationFolder(plan.out)
    items = [
        AnnotateItem(draft.id, draft.response, draft.context, explanation=draft.explanation, suspect=draft.suspect)
        for draft in waiting_suspects(source)
        if draft.response is not None
    ]
    if not items:
        raise DataError(f"{source.root}: no dialogue is waiting for review")
    study = Study(_PROTOCOL, "Is this dialogue sound?", language=plan.language, seed=plan.seed, raters_per_item=1)
    count = write_study(folder, study, items, command="generate review", inputs=[source.kept("abnormal")])
    return AnnotationStudy(folder, count)


def _asked_decisions(queue: list[Draft], decide: Decide, name: str) -> Iterator[Judgment]:
    for place, draft in enumerate(queue, 1):
        started = time.monotonic()
        answer = decide(draft, place, len(queue))
        if answer is None:
            return
        if answer:
            seconds = round(time.monotonic() - started, 1)
            at = datetime.now(UTC).isoformat("T", "seconds")
            yield Judgment(draft.id, name, _QUESTION, answer, seconds, at)


def _exported_decisions(run: GenerationFolder, export: Path) -> list[Judgment]:
    known = {draft.id for draft in run.drafts("abnormal") if draft.suspect}
    answers = [
        Judgment(j.item_id, j.annotator, _QUESTION, j.answer.strip().lower(), j.seconds, j.created_at)
        for j in read_export(export).judgments
        if j.question == _QUESTION and j.item_id in known
    ]
    if not answers:
        raise DataError(f"{export}: no answer to {_QUESTION!r} about a dialogue that waits in {run.root}")
    return answers


def _record(run: GenerationFolder, judgments: Iterable[Judgment]) -> int:
    """Append decisions to the file, each on disk before the next one is asked for."""
    count = 0
    with (run.root / _DECISIONS).open("a", encoding="utf-8", newline="\n") as file:
        for judgment in judgments:
            file.write(json.dumps(encode(judgment), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            count += 1
    return count


_PROTOCOL = "annotate"
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
PEOPLE_FOLDER = "people"
PEOPLE_EXAMPLES, PEOPLE_DROPPED, _REWRITES = "examples.jsonl", "dropped.jsonl", "rewrite.jsonl"


@dataclass(frozen=True, slots=True)
class AnnotationStudy(Result):
    """A study folder that was written, for `deadpan studio create`."""

    folder: Path
    items: int

    def summary(self) -> Summary:
        command = f"deadpan studio create {_PROTOCOL} {self.folder} --name NAME"
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
    study = Study(_PROTOCOL, title, language=language.code, seed=plan.seed, raters_per_item=raters)
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
        labelled |= {(item, question): value for item, value in _majorities(unlabelled, question).items()}
    answers: dict[str, dict[str, str]] = {}
    for (item, question), value in labelled.items():
        if question in ANNOTATE_ANSWERS:
            answers.setdefault(item, {})[question] = parse_answer(question, value)
    return {item: Verdict(**by_question) for item, by_question in answers.items()}


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
    plan: GenerationPlan | Path | str, export: Path, *, run: Path | str | None = None, rewrites: Path | None = None
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
            raise DataError(f"{export}: no answer is about a dialogue in {folder.root}: is it from another run?")
        constructed = (
            (draft, construct(draft, judged.get(draft.id), plan.language, rewritten.get(draft.id, "")))
            for draft in folder.drafts(step)
        )
        made = _write_people(folder, step, constructed, len(known & judged.keys()))
    drops = read_manifest(export).drops if manifest_path(export).is_file() else {}
    return replace(made, left_out=drops.get("qualification_round", 0))


def _write_people(
    run: GenerationFolder, step: str, constructed: Iterable[tuple[Draft, Constructed]], judged: int
) -> PeopleResult:
    out = run.root / PEOPLE_FOLDER
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    tally, queue, dropped = Tally(), list[Rewrite](), list[Dropped]()

    def examples() -> Iterator[Example]:
        for draft, made in constructed:
            if made.dropped:
                tally.drop(made.dropped, draft.id, made.detail)
                dropped.append(Dropped(draft.id, PEOPLE_FOLDER, made.dropped, made.detail, draft=draft))
            if made.change:
                tally.change(made.change)
            if made.rewrite:
                tally.change("explanation_blanked")
                queue.append(made.rewrite)
            yield from made.examples

    count = write_records(out / PEOPLE_EXAMPLES, examples(), Example)
    write_records(out / PEOPLE_DROPPED, dropped, Dropped)
    write_records(out / _REWRITES, queue, Rewrite)
    counts: Mapping[str, int] = {"judged": judged, "examples": count, "rewrite": len(queue)}
    write_manifest(out, command="generate people", inputs=[run.kept(step)], counts=counts, tally=tally)
    return PeopleResult(out, judged, count, len(queue), tally)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answers on one dialogue; empty where nobody answered or no answer has a majority."""

    response: str = ""
    context: str = ""
    explanation: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An explanation that people rejected. `rewritten` is empty until somebody has written a better one."""

    id: str
    dialogue: str
    explanation: str
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Constructed:
    """One dialogue after the table: its examples, or the reason why it has none."""

    examples: tuple[Example, ...] = ()
    dropped: str = ""
    detail: str = ""
    rewrite: Rewrite | None = None
    change: str = ""


def construct(draft: Draft, verdict: Verdict | None, language: str, rewritten: str = "") -> Constructed:
    """Apply the construction table to one dialogue.

    A sincere contrast response, which nobody judged, keeps the label kind `generated`.
    """
    if verdict is None or draft.response is None:
        return Constructed(dropped="not_judged")
    if not verdict.context or not verdict.response:
        return Constructed(dropped="no_majority")
    if verdict.context == ABNORMAL:
        return Constructed(dropped="context_abnormal", detail=verdict.kind)
    sarcastic, *contrast = as_examples(draft, language)
    judged = replace(sarcastic, label_kind="perceived", meta={**sarcastic.meta, "kind": verdict.kind})
    if verdict.response == ABNORMAL:
        return _without_response(judged, verdict)
    if verdict.response == NOT_SARCASM:
        change = f"label_change.{verdict.kind or 'kind not said'}"
        return Constructed((replace(judged, label=False, explanation="", sequence=""),), change=change)
    if verdict.explanation == ABNORMAL and not rewritten:
        rejected = Rewrite(draft.id, render_dialogue(draft.turns), draft.explanation)
        return Constructed((replace(judged, explanation=""), *contrast), rewrite=rejected)
    return Constructed((replace(judged, explanation=rewritten or judged.explanation), *contrast))


def _without_response(judged: Example, verdict: Verdict) -> Constructed:
    """Return the context alone: its last turn becomes the response, which nobody meant sarcastically."""
    if len(judged.context) < 2:
        return Constructed(dropped="too_short_without_response", detail=verdict.kind)
    shortened = replace(
        judged, response=judged.context[-1], context=judged.context[:-1], label=False, explanation="", sequence=""
    )
    return Constructed((shortened,), change=f"response_abnormal.{verdict.kind or 'kind not said'}")
