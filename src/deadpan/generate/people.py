"""People judge the dialogues: a study folder out, its answers in, and the construction table between.

The table is KoCoSa's (its Table 3): an abnormal context deletes the dialogue; an abnormal response leaves
the context as a dialogue without sarcasm; otherwise the response's label is the dialogue's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.agreement import majority, ratings_from_judgments
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.generate.draft import Draft, Dropped, as_examples
from deadpan.generate.folder import RunFolder
from deadpan.records import Example, Judgment
from deadpan.storage import manifest_path, read_records, write_manifest, write_records
from deadpan.studies import Export, Study, StudyItem, read_export, write_study

PROTOCOL = "annotate"
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "response": ("sarcasm", "non-sarcasm", "abnormal"),
    "context": ("normal", "abnormal"),
    "explanation": ("normal", "abnormal"),
    "kind": ("casual dialogue", "direct criticism", "contextual awkwardness", "format misalignment"),
}
"""`kind` is asked only of those that are not sarcastic (the first two) or abnormal (the last two)."""

_SYNONYMS = {
    "sarcastic": "sarcasm",
    "non sarcasm": "non-sarcasm",
    "not sarcastic": "non-sarcasm",
    "nonsarcasm": "non-sarcasm",
    "casual": "casual dialogue",
    "criticism": "direct criticism",
    "awkward": "contextual awkwardness",
    "wrong format": "format misalignment",
    "format": "format misalignment",
}
EXAMPLES, DROPPED, REWRITE = "examples.jsonl", "dropped.jsonl", "rewrite.jsonl"


def write_people_study(
    run: RunFolder, folder: Path, *, title: str, language: str, seed: int, raters: int
) -> int:
    """What the last step kept, as a study for the annotate protocol."""
    step = run.last()
    items = (
        StudyItem(
            draft.id,
            draft.response,
            draft.context,
            shown={"explanation": draft.explanation, "situation": draft.situation},
            hidden={"topic": draft.topic, "intended": "sarcasm"},
        )
        for draft in run.drafts(step)
        if draft.response is not None
    )
    questions = {name: list(answers) for name, answers in QUESTIONS.items()}
    study = Study(
        PROTOCOL,
        title,
        language=language,
        seed=seed,
        raters_per_item=raters,
        settings={"questions": questions},
    )
    return write_study(folder, study, items, command="generate people", inputs=[run.kept(step)])


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An explanation people found wrong. `rewritten` is empty until somebody has written a better one."""

    id: str
    dialogue: str
    explanation: str
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the answers to one dialogue come to; empty where nobody answered or no answer won."""

    response: str = ""
    context: str = ""
    explanation: str = ""
    kind: str = ""


def verdicts(export: Export) -> dict[str, Verdict]:
    """The answers by dialogue: the export's own labels, else the majority of each person's last word."""
    labelled = {(each.item_id, each.question): each.value for each in export.labels if each.value is not None}
    for question in QUESTIONS:
        if not any(name == question for _, name in labelled):
            labelled |= _majorities(export.judgments, question)
    found: dict[str, dict[str, str]] = {}
    for (item, question), value in labelled.items():
        if question in QUESTIONS:
            found.setdefault(item, {})[question] = answer(question, value)
    return {item: Verdict(**answers) for item, answers in found.items()}


def _majorities(judgments: Iterable[Judgment], question: str) -> dict[tuple[str, str], str]:
    latest = {(j.item_id, j.annotator): j for j in judgments if j.question == question and j.answer.strip()}
    if not latest:
        return {}
    labels = majority(ratings_from_judgments(list(latest.values()), question))
    return {(label.item_id, question): label.value for label in labels if label.value is not None}


def answer(question: str, value: str) -> str:
    """An answer in the paper's words; what is none of them is an error, since the table would be wrong."""
    plain = value.strip().lower().replace("_", "-")
    plain = _SYNONYMS.get(plain.replace("-", " "), plain)
    if plain in QUESTIONS[question]:
        return plain
    spaced = plain.replace("-", " ")
    if spaced in QUESTIONS[question]:
        return spaced
    raise DataError(f"answer {value!r} to {question!r}: expected {', '.join(QUESTIONS[question])}")


@dataclass(frozen=True, slots=True)
class Built:
    """One dialogue after the table: what goes into the data set, or why nothing does."""

    examples: tuple[Example, ...] = ()
    dropped: str = ""
    detail: str = ""
    rewrite: Rewrite | None = None
    change: str = ""


def construct(draft: Draft, verdict: Verdict | None, language: str, rewritten: str = "") -> Built:
    """The construction table for one dialogue."""
    if verdict is None or draft.response is None:
        return Built(dropped="not_judged")
    if not verdict.context or not verdict.response:
        return Built(dropped="no_majority")
    if verdict.context == "abnormal":
        return Built(dropped="context_abnormal", detail=verdict.kind)
    made = as_examples(draft, language)
    judged = replace(made[0], label_kind="perceived", meta={**made[0].meta, "kind": verdict.kind})
    if verdict.response == "abnormal":
        return _without_response(judged, verdict)
    if verdict.response == "non-sarcasm":
        change = f"label_change.{verdict.kind or 'kind not said'}"
        return Built((replace(judged, label=False, explanation="", sequence=""),), change=change)
    if verdict.explanation == "abnormal" and not rewritten:
        wrong = Rewrite(draft.id, "\n".join(f"{t.speaker}: {t.text}" for t in draft.turns), draft.explanation)
        return Built((replace(judged, explanation=""), *made[1:]), rewrite=wrong)
    return Built((replace(judged, explanation=rewritten or judged.explanation), *made[1:]))


def _without_response(judged: Example, verdict: Verdict) -> Built:
    """The context alone: its last turn is now the response, and nobody meant it sarcastically."""
    if len(judged.context) < 2:
        return Built(dropped="too_short_without_response", detail=verdict.kind)
    kept = replace(
        judged,
        response=judged.context[-1],
        context=judged.context[:-1],
        label=False,
        explanation="",
        sequence="",
    )
    return Built((kept,), change=f"response_abnormal.{verdict.kind or 'kind not said'}")


def apply_people(
    run: RunFolder, export_folder: Path, language: str, *, rewrites: Path | None = None
) -> dict[str, Any]:
    """Read the answers, apply the table, write people/ in the run's folder; how many of what."""
    judged = verdicts(read_export(export_folder))
    again = {r.id: r.rewritten.strip() for r in read_records(rewrites, Rewrite)} if rewrites else {}
    out = run.root / "people"
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    tally, queue, dropped = Tally(), list[Rewrite](), list[Dropped]()
    step = run.last()

    def examples() -> Iterator[Example]:
        for draft in run.drafts(step):
            built = construct(draft, judged.get(draft.id), language, again.get(draft.id, ""))
            if built.dropped:
                tally.drop(built.dropped, draft.id, built.detail)
                dropped.append(Dropped(draft.id, "people", built.dropped, built.detail, draft=draft))
            if built.change:
                tally.change(built.change)
            if built.rewrite:
                tally.change("explanation_blanked")
                queue.append(built.rewrite)
            yield from built.examples

    count = write_records(out / EXAMPLES, examples(), Example)
    write_records(out / DROPPED, dropped, Dropped)
    write_records(out / REWRITE, queue, Rewrite)
    known = {draft.id for draft in run.drafts(step)}
    if not known & judged.keys():
        raise DataError(
            f"{export_folder}: answers to none of the dialogues in {run.root}: is it another run's?"
        )
    counts = {"judged": len(known & judged.keys()), "examples": count, "rewrite": len(queue)}
    write_manifest(out, command="generate people", inputs=[run.kept(step)], counts=counts, tally=tally)
    return {**counts, **tally.as_dict()}
