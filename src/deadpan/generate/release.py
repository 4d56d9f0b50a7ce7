"""The released data set: split 8:1:1, A and B swapped in half of the dialogues, statistics, card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.cards import DataFacts, write_dataset_folder
from deadpan.draws import draw
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.generate.folder import SPEAKERS, GenerationFolder, as_examples
from deadpan.generate.language import Language
from deadpan.generate.people import PEOPLE_EXAMPLES, PEOPLE_FOLDER
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.generate.tables import DialogueStatistics, dialogue_statistics
from deadpan.page.summary import Summary
from deadpan.records import Example, Turn
from deadpan.results import Result
from deadpan.splits import TRAIN_DEV_TEST, split
from deadpan.storage import manifest_path, read_manifest, read_records, write_json

_SWAP = dict(zip(SPEAKERS, reversed(SPEAKERS), strict=True))
_BARE = re.compile(r"(?<![A-Za-z])[B](?![A-Za-z])")


def swap_speakers(example: Example, mention: str) -> Example | None:
    """Swap A and B, in the explanation too; return None where the explanation may name them otherwise."""

    def swapped_turn(one: Turn) -> Turn:
        return Turn(_SWAP.get(one.speaker, one.speaker), one.text)

    pattern = re.compile(mention)
    if _BARE.search(pattern.sub("", example.explanation)):
        return None
    return replace(
        example,
        context=tuple(swapped_turn(one) for one in example.context),
        response=swapped_turn(example.response),
        explanation=pattern.sub(_swapped, example.explanation),
    )


def _swapped(match: re.Match[str]) -> str:
    start, end = match.span(1)
    return match[0][: start - match.start()] + _SWAP[match[1]] + match[0][end - match.start() :]


def swap_half(examples: Sequence[Example], language: Language, seed: int, tally: Tally) -> list[Example]:
    """Swap the speakers of a random half: most dialogues begin with A."""
    made = []
    for example in examples:
        # By group, so that a sarcastic response and its sincere contrast have the same speakers.
        chosen = draw(seed, f"swap {example.group or example.id}")[0] & 1
        swapped = swap_speakers(example, language.facts.mention) if chosen else None
        if chosen:
            tally.change("speakers_swapped" if swapped else "swap_left_out_for_the_explanation")
        made.append(swapped or example)
    return made


@dataclass(frozen=True, slots=True)
class DialogueRelease(Result):
    """A data set folder that was written, and its statistics."""

    folder: Path
    statistics: DialogueStatistics

    def summary(self) -> Summary:
        counted = self.statistics.summary()
        return Summary(counted.tables, (*counted.notes, f"data set: {self.folder}"))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), **self.statistics.as_dict()}


def write_release(
    plan: GenerationPlan | Path | str, out: Path | str, *, run: Path | str | None = None, unjudged: bool = False
) -> DialogueRelease:
    """Write the data set folder from people's answers, or, `unjudged`, with the labels asked for."""
    plan, out = open_plan(plan, run), Path(out)
    folder, language = GenerationFolder(plan.out), plan.open_language()
    tally, people = Tally(), Tally()
    if unjudged:
        examples = [e for draft in folder.drafts(folder.last()) for e in as_examples(draft, language.code)]
    else:
        examples, people = _judged_examples(folder)
    if not examples:
        raise DataError(f"{folder.root}: nothing left to release: deadpan generate report says what dropped it")
    examples = swap_half(examples, language, plan.seed, tally)
    parts = split(examples, TRAIN_DEV_TEST, seed=plan.seed)
    counted = dialogue_statistics(examples, people.changes, people.drops)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "statistics.json", counted.as_dict())
    write_dataset_folder(
        out,
        {str(name): part for name, part in parts.items()},
        _facts(plan, folder, language, counted),
        tally=tally,
        command="generate release",
    )
    return DialogueRelease(out, counted)


def _judged_examples(run: GenerationFolder) -> tuple[list[Example], Tally]:
    """Return the examples made from people's answers, with the construction table's drops and changes."""
    people = run.root / PEOPLE_FOLDER
    if not manifest_path(people).is_file():
        raise DataError(
            f"{run.root}: not judged by people yet: deadpan generate people PLAN --export FOLDER, "
            f"or release the labels the model was asked for with --unjudged"
        )
    manifest = read_manifest(people)
    tally = Tally(Counter(manifest.drops), Counter(manifest.changes))
    return list(read_records(people / PEOPLE_EXAMPLES, Example)), tally


def _label_origin(counted: DialogueStatistics) -> tuple[str, str]:
    """Return who gave the labels, for the card's summary, and the limit that follows from it."""
    generated = counted.dialogues - counted.judged
    if not counted.judged:
        return (
            "labelled as the model was asked to write them, not judged by people",
            "No person has confirmed a label; published runs found about 40 % not sarcastic or abnormal.",
        )
    if generated:
        return (
            f"{counted.judged:,} judged by people and {generated:,} sincere contrast responses labelled as "
            f"the model was asked to write them",
            f"No person has judged the {generated:,} sincere contrast responses (label kind: generated).",
        )
    return "judged by people", ""


def _origin_of_contexts(plan: GenerationPlan, read: int, models: str) -> tuple[str, str]:
    """Return how the dialogues were made and which personal data they may have, for the card."""
    if plan.scene == "source":
        return (
            f"The contexts are the turns of {read:,} source dialogues, unchanged; {models} wrote the "
            f"responses and explanations",
            "The contexts are the source dialogues themselves: their licence and their personal data apply.",
        )
    return (
        f"From {read:,} source dialogues, each reduced to a situation, {models} wrote new dialogues",
        "Of a source dialogue only a one-line situation was used. Names in the dialogues are a model's "
        "inventions; nobody has checked that none belongs to a real person.",
    )


def _facts(plan: GenerationPlan, run: GenerationFolder, language: Language, counted: DialogueStatistics) -> DataFacts:
    name = language.facts.name
    models = sorted({plan.settings(step).model for step in plan.asking})
    steps = run.manifests()
    read, kept = steps["source"].counts["kept"], steps[run.last()].counts["kept"]
    origin, limit = _label_origin(counted)
    limits = [
        "A language model wrote the dialogues: they show how it imagines sarcasm, not how people use it.",
        "Topics are those of the source dialogues.",
    ]
    if limit:
        limits.append(limit)
    made, personal = _origin_of_contexts(plan, read, ", ".join(models))
    return DataFacts(
        title=plan.release.title or f"Generated sarcastic dialogues, {name}",
        version=plan.release.version,
        language=(language.code,),
        licence=plan.release.licence,
        citation=plan.release.citation,
        summary=f"{name} dialogues between two people whose last response is sarcastic or not, {origin}.",
        how_made=(
            f"{made} (KoCoSa's pipeline, Kim et al. 2024); {kept:,} passed the filters. Speakers A and B "
            f"were swapped in a random half."
        ),
        personal_data=personal,
        known_limits=tuple(limits),
        creators=plan.release.creators,
    )
