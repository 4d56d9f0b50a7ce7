"""The data set: split 8:1:1, speakers' names swapped on half of it, counted, with its card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deadpan.cards import DataFacts, write_dataset_folder
from deadpan.draws import draw
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.generate.draft import SPEAKERS, as_examples
from deadpan.generate.folder import RunFolder
from deadpan.generate.language import Language
from deadpan.generate.people import EXAMPLES as PEOPLE_EXAMPLES
from deadpan.generate.plan import Plan
from deadpan.generate.statistics import Statistics, statistics
from deadpan.records import Example, Turn
from deadpan.splits import TRAIN_DEV_TEST, split
from deadpan.storage import manifest_path, read_manifest, read_records, write_json

_SWAP = dict(zip(SPEAKERS, reversed(SPEAKERS), strict=True))
_BARE = re.compile(r"(?<![A-Za-z])[B](?![A-Za-z])")


def swap_speakers(example: Example, mention: str) -> Example | None:
    """A and B exchanged, in the explanation too; None where we can't tell how the explanation names them."""

    def turn(one: Turn) -> Turn:
        return Turn(_SWAP.get(one.speaker, one.speaker), one.text)

    pattern = re.compile(mention)
    if _BARE.search(pattern.sub("", example.explanation)):
        return None
    return replace(
        example,
        context=tuple(turn(each) for each in example.context),
        response=turn(example.response),
        explanation=pattern.sub(_swapped, example.explanation),
    )


def _swapped(found: re.Match[str]) -> str:
    start, end = found.span(1)
    return found[0][: start - found.start()] + _SWAP[found[1]] + found[0][end - found.start() :]


def swap_half(examples: Sequence[Example], language: Language, seed: int, tally: Tally) -> list[Example]:
    """Most dialogues begin with A; by a draw on (seed, group) about half are made to begin with B."""
    made = []
    for example in examples:
        # By group, so that a sarcastic response and its sincere twin keep one set of names.
        chosen = draw(seed, f"swap {example.group or example.id}")[0] & 1
        swapped = swap_speakers(example, language.facts.mention) if chosen else None
        if chosen:
            tally.change("speakers_swapped" if swapped else "swap_left_out_for_the_explanation")
        made.append(swapped or example)
    return made


def judged_examples(run: RunFolder) -> list[Example]:
    """What people's answers left, or an error that says how to get them."""
    if not manifest_path(run.root / "people").is_file():
        raise DataError(
            f"{run.root}: not judged by people yet: deadpan generate people PLAN --export FOLDER, "
            f"or release what the model meant with --unjudged"
        )
    return list(read_records(run.root / "people" / PEOPLE_EXAMPLES, Example))


def write_release(plan: Plan, run: RunFolder, language: Language, out: Path, *, unjudged: bool) -> Statistics:
    """Write the data set folder; what is in it."""
    tally = Tally()
    if unjudged:
        found = [e for draft in run.drafts(run.last()) for e in as_examples(draft, language.code)]
        changes, drops = {}, {}
    else:
        found = judged_examples(run)
        manifest = read_manifest(run.root / "people")
        changes, drops = dict(manifest.changes), dict(manifest.drops)
    if not found:
        raise DataError(f"{run.root}: nothing left to release; deadpan generate report says what dropped it")
    examples = swap_half(found, language, plan.seed, tally)
    parts = split(examples, TRAIN_DEV_TEST, seed=plan.seed)
    counted = statistics(examples, changes, drops)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "statistics.json", encode(counted))
    write_dataset_folder(
        out,
        {str(name): part for name, part in parts.items()},
        _facts(plan, run, language, unjudged),
        tally=tally,
        command="generate release",
    )
    return counted


def _facts(plan: Plan, run: RunFolder, language: Language, unjudged: bool) -> DataFacts:
    name = language.facts.name
    models = sorted({plan.settings(stage).model for stage in plan.stages})
    read = run.manifest("source")
    kept = run.manifest(run.last())
    n_read, n_kept = (found.counts["kept"] if found else 0 for found in (read, kept))
    by = (
        "labelled as the model was asked to write them, not judged by people"
        if unjudged
        else "judged by people"
    )
    limits = [
        "A language model wrote the dialogues: they show how it imagines sarcasm, not how people use it.",
        "Topics are those of the source dialogues.",
    ]
    if unjudged:
        limits.append(
            "No person has confirmed a label; published runs found about 40 % not sarcastic or abnormal."
        )
    return DataFacts(
        title=plan.release.title or f"Generated sarcastic dialogues, {name}",
        version=plan.release.version,
        language=(language.code,),
        licence=plan.release.licence,
        citation=plan.release.citation,
        summary=f"{name} dialogues between two people whose last response is sarcastic or not, {by}.",
        how_made=(
            f"From {n_read:,} source dialogues, each reduced to a situation, {', '.join(models)} wrote new "
            f"dialogues (KoCoSa's pipeline, Kim et al. 2024); {n_kept:,} passed the filters. Speakers A and "
            f"B were exchanged in a seeded half."
        ),
        personal_data=(
            "Of a source dialogue only a one-line situation was used. Names in the dialogues are a model's "
            "inventions; nobody has checked that none belongs to a person."
        ),
        known_limits=tuple(limits),
        creators=plan.release.creators,
    )
