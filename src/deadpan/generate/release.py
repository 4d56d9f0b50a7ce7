"""The data set of a run: its statistics, KoCoSa's Tables 4 to 7 and Figure 3, and the released folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.cards import DataFacts, write_dataset_folder
from deadpan.draws import draw
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.study import AWKWARD, CASUAL, CRITICISM, MISFORMATTED
from deadpan.generate.folder import SPEAKERS, Dropped, GenerationFolder, as_examples
from deadpan.generate.language import Language
from deadpan.generate.people import PEOPLE_DROPPED, PEOPLE_EXAMPLES, PEOPLE_FOLDER
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Example, Turn
from deadpan.results import Result
from deadpan.splits import TRAIN_DEV_TEST, split
from deadpan.storage import manifest_path, read_manifest, read_records, write_json, write_text
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.figures import Figure


# Topics below this share are one bar, as in the published figure.
_MISC, _MISC_BELOW = "Misc.", 0.05
# KoCoSa's Table 4.
_PUBLISHED = {
    "dialogues": "12,824",
    "sarcastic": "7,608 (59.3 %)",
    "not sarcastic": "5,216 (40.7 %)",
    "turns, mean": "4.3",
    "turns, most": "10",
    "turns, fewest": "2",
    "tokens per dialogue": "40.3",
    "tokens per utterance": "9.3",
    "tokens per explanation": "18.9",
}
# Drops of the dialogue step that KoCoSa calls format misalignment.
_FORM_ERRORS = frozenset(
    {
        "no_dialogue", "two_dialogues", "missing_explanation", "missing_response", "missing_speaker",
        "extra_text", "third_speaker", "wrong_language", "too_many_turns", "cut_off", "one_speaker",
        "not_one_line", "empty_answer", "hollow_text", "answers_itself",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DialogueTables(Result):
    """The tables of a run. `abnormal` and `label_changes` are people's; empty where nobody has judged."""

    name: str
    language: str
    judged: bool
    statistics: DialogueStatistics
    abnormal: Mapping[str, int]
    label_changes: Mapping[str, int]
    form_errors: int
    """Answers dropped for their form before people saw them."""
    topics: Mapping[str, int]

    def summary(self) -> Summary:
        form = ("dropped for its form before people", str(self.form_errors), "not published")
        judged = {AWKWARD: "788 (97.04 %)", MISFORMATTED: "24 (2.96 %)"}
        abnormal = self._kinds("Table 5: abnormal", "KoCoSa, published", self.abnormal, judged, form)
        changed = {CASUAL: "80 %", CRITICISM: "20 %"}
        changes = self._kinds("Table 7: judged not sarcastic", "KoCoSa, 50 of them", self.label_changes, changed)
        tables = (self._overall(), abnormal, self._comparison(), changes, self._topics())
        origin = "labels by people" if self.judged else "labels as asked for: no person has judged them"
        return Summary(tables, (f"{self.name}: {origin}",))

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "language": self.language,
            "judged": self.judged,
            "table_4": self.statistics.as_dict(),
            "table_5": {"judged": dict(self.abnormal), "dropped_for_their_form": self.form_errors},
            "table_6": dict(zip(self._comparison().columns, self._comparison().rows[0], strict=True)),
            "table_7": dict(self.label_changes),
            "figure_3": dict(self.topics),
        }

    def figure(self) -> Figure:
        """Return Figure 3: topics by their number of dialogues."""
        from deadpan.figures import bars

        first = next(iter(self.topics))
        total = sum(self.topics.values())
        title = f"The commonest topic is {first}: {self.topics[first]:,} of {total:,} dialogues"
        return bars(title, self.topics, unit="dialogues")

    def _overall(self) -> Table:
        counted = self.statistics
        share = counted.sarcastic / counted.dialogues if counted.dialogues else 0.0
        values = (
            f"{counted.dialogues:,}",
            f"{counted.sarcastic:,} ({share:.1%})".replace("%)", " %)"),
            f"{counted.sincere:,} ({1 - share:.1%})".replace("%)", " %)"),
            f"{counted.turns_mean:.1f}",
            str(counted.turns_most),
            str(counted.turns_least),
            f"{counted.tokens_per_dialogue:.1f}",
            f"{counted.tokens_per_utterance:.1f}",
            f"{counted.tokens_per_explanation:.1f}",
        )
        rows = tuple((name, own, _PUBLISHED[name]) for name, own in zip(_PUBLISHED, values, strict=True))
        return Table(("Table 4: statistics", "this run", "KoCoSa, published"), rows)

    def _comparison(self) -> Table:
        counted = self.statistics
        explained = "yes" if counted.explained else "no"
        own = (self.name, self.language, counted.sarcastic, counted.dialogues, "yes", explained)
        columns = ("Table 6: data set", "language", "sarcastic", "total", "context", "explanation")
        return Table(columns, (own, ("KoCoSa", "Korean", "7.6K", "12.8K", "yes", "yes")))

    def _topics(self) -> Table:
        total = sum(self.topics.values())
        rows = tuple((topic, n, f"{100 * n / total:.1f} %") for topic, n in self.topics.items())
        return Table(("Figure 3: topic", "dialogues", "share"), rows)

    def _kinds(
        self, title: str, paper: str, counts: Mapping[str, int], published: Mapping[str, str], *more: tuple[str, ...]
    ) -> Table:
        """Return people's counts of some kinds beside the published ones."""
        total = sum(counts.values())
        rows = []
        for kind, theirs in published.items():
            share = f" ({100 * counts.get(kind, 0) / total:.0f} %)" if total else ""
            rows.append((kind, f"{counts.get(kind, 0):,}{share}" if self.judged else "not judged", theirs))
        return Table((title, "this run", paper), (*rows, *more))


def dialogue_tables(
    plan: GenerationPlan | Path | str, *, run: Path | str | None = None, out: Path | None = None
) -> DialogueTables:
    """Return the tables of a run; with `out`, also write Figure 3 there as topics.svg."""
    plan = open_plan(plan, run)
    folder = GenerationFolder(plan.out)
    steps, last = folder.manifests(), folder.last()
    people = folder.root / PEOPLE_FOLDER
    judged = manifest_path(people).is_file()
    language = plan.open_language()
    if judged:
        examples = list(read_records(people / PEOPLE_EXAMPLES, Example))
        manifest = read_manifest(people)
        abnormal = _kinds(people)
        changes = {
            key.removeprefix("label_change."): n
            for key, n in manifest.changes.items()
            if key.startswith("label_change.")
        }
    else:
        examples = [e for draft in folder.drafts(last) for e in as_examples(draft, language.code)]
        abnormal, changes = {}, {}
    forms = sum(n for reason, n in steps["dialogue"].drops.items() if reason in _FORM_ERRORS)
    counted = dialogue_statistics(examples)
    tables = DialogueTables(
        plan.release.title or f"deadpan generate, {plan.out.name}",
        language.facts.name,
        judged,
        counted,
        abnormal,
        changes,
        forms,
        grouped_topics(counted.topics),
    )
    if out is not None and tables.topics:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / "topics.svg", tables.figure().svg())
    return tables


def grouped_topics(topics: Mapping[str, int]) -> dict[str, int]:
    """Return topics by number; those below 5 % are one, at the end."""
    total = sum(topics.values())
    shown = {topic: n for topic, n in topics.items() if n >= _MISC_BELOW * total}
    rest = total - sum(shown.values())
    return {**shown, _MISC: rest} if rest else shown


def _kinds(people: Path) -> dict[str, int]:
    """Return the kinds of abnormal dialogues: deleted ones, and ones that lost their response."""
    kinds: Counter[str] = Counter()
    for dropped in read_records(people / PEOPLE_DROPPED, Dropped):
        if dropped.reason == "context_abnormal":
            kinds[dropped.detail or "kind not said"] += 1
    for key, n in read_manifest(people).changes.items():
        if key.startswith("response_abnormal."):
            kinds[key.removeprefix("response_abnormal.")] += n
    return dict(kinds)


_TOPICS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class DialogueStatistics(Result):
    """Counts and means. Tokens are words between spaces, so that anyone can count them again.

    `judged` dialogues have a label given by people; the others have the one the model was asked for.
    """

    dialogues: int
    sarcastic: int
    sincere: int
    judged: int
    turns_mean: float
    turns_least: int
    turns_most: int
    tokens_per_dialogue: float
    tokens_per_utterance: float
    tokens_per_explanation: float
    explained: int
    topics: Mapping[str, int]
    changes: Mapping[str, int]
    drops: Mapping[str, int]

    def summary(self) -> Summary:
        share = 100 * self.sarcastic / self.dialogues if self.dialogues else 0.0
        rows: tuple[tuple[str, str | int], ...] = (
            ("dialogues", self.dialogues),
            ("sarcastic", f"{self.sarcastic:,} ({share:.1f} %)"),
            ("sincere", f"{self.sincere:,} ({100 - share:.1f} %)" if self.dialogues else "0"),
            ("judged by people", self.judged),
            ("turns per dialogue, mean", f"{self.turns_mean:.1f}"),
            ("turns per dialogue, range", f"{self.turns_least} to {self.turns_most}"),
            ("tokens per dialogue", f"{self.tokens_per_dialogue:.1f}"),
            ("tokens per utterance", f"{self.tokens_per_utterance:.1f}"),
            ("tokens per explanation", f"{self.tokens_per_explanation:.1f}"),
            ("with an explanation", self.explained),
        )
        topics = ", ".join(f"{topic} {n:,}" for topic, n in list(self.topics.items())[:_TOPICS_SHOWN])
        return Summary((Table(("statistic", "value"), rows),), (f"topics: {topics}",))

    def as_dict(self) -> dict[str, object]:
        return dict(encode(self))


def dialogue_statistics(
    examples: Sequence[Example], changes: Mapping[str, int] | None = None, drops: Mapping[str, int] | None = None
) -> DialogueStatistics:
    """Count a data set. `changes` and `drops` are those of the construction table."""
    turns = [len(example.context) + 1 for example in examples]
    words = [[len(turn.text.split()) for turn in (*example.context, example.response)] for example in examples]
    explained = [len(example.explanation.split()) for example in examples if example.explanation]
    return DialogueStatistics(
        dialogues=len(examples),
        sarcastic=sum(example.label is True for example in examples),
        sincere=sum(example.label is False for example in examples),
        judged=sum(example.label_kind != "generated" for example in examples),
        turns_mean=_mean(turns),
        turns_least=min(turns, default=0),
        turns_most=max(turns, default=0),
        tokens_per_dialogue=_mean([sum(lengths) for lengths in words]),
        tokens_per_utterance=_mean([n for lengths in words for n in lengths]),
        tokens_per_explanation=_mean(explained),
        explained=len(explained),
        topics=dict(Counter(str(e.meta.get("topic") or "not said") for e in examples).most_common()),
        changes=dict(sorted((changes or {}).items())),
        drops=dict(sorted((drops or {}).items())),
    )


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


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
    organic: tuple[str, ...] = ()
    """The card's sentences on what the dialogues are worth beside text that people wrote."""

    def summary(self) -> Summary:
        counted = self.statistics.summary()
        return Summary(counted.tables, (*counted.notes, *self.organic, f"data set: {self.folder}"))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), **self.statistics.as_dict(), "organic": list(self.organic)}


def write_release(
    plan: GenerationPlan | Path | str,
    out: Path | str,
    *,
    run: Path | str | None = None,
    unjudged: bool = False,
    organic: Mapping[str, Sequence[Example]] | None = None,
    study: Callable[..., Any] | None = None,
) -> DialogueRelease:
    """Write the data set folder from people's answers, or, `unjudged`, with the labels asked for.

    With corpora of what people wrote (`organic`) and a `study` of origins (`deadpan.detect.study_origin`), the
    card says how well a probe tells the dialogues from those, and what a detector trained on them is worth there.
    """
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
    beside = _beside_organic(examples, organic, study, plan.seed) if organic and study else (_NOT_MEASURED,)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "statistics.json", counted.as_dict())
    write_dataset_folder(
        out,
        {str(name): part for name, part in parts.items()},
        _facts(plan, folder, language, counted, beside),
        tally=tally,
        command="generate release",
    )
    return DialogueRelease(out, counted, beside)


_NOT_MEASURED = (
    "Not measured: how well a probe tells these dialogues from what people write, and what a detector trained on "
    "them is worth there. Detectors that are near perfect on written sarcasm can fail on real "
    "(ACL 2026, 2026.acl-long.1346); deadpan generate release --organic CORPUS measures both."
)
_RELEASE = "this release"


def _beside_organic(
    examples: Sequence[Example], organic: Mapping[str, Sequence[Example]], study: Callable[..., Any], seed: int
) -> tuple[str, ...]:
    """Return what a test of origins finds, a sentence per number."""
    found = study({_RELEASE: examples}, organic, seed=seed)
    cells, names = found.matrix.cells, " and ".join(organic)
    lines = [f"A probe of words tells these dialogues from {names} with an AUC of {found.origin}; 0.5 is chance."]
    for name in organic:
        lines.append(
            f"On {name}, a detector ({found.matrix.system}) trained on these dialogues has an AUC of "
            f"{cells[_RELEASE][name]}, one trained on {name} itself {cells[name][name]}."
        )
    return tuple(lines)


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


def _facts(
    plan: GenerationPlan, run: GenerationFolder, language: Language, counted: DialogueStatistics, beside: Sequence[str]
) -> DataFacts:
    name = language.facts.name
    models = sorted({plan.settings(step).model for step in plan.asking})
    steps = run.manifests()
    read, kept = steps["source"].counts["kept"], steps[run.last()].counts["kept"]
    origin, limit = _label_origin(counted)
    limits = [
        "A language model wrote the dialogues: they show how it imagines sarcasm, not how people use it.",
        "Topics are those of the source dialogues.",
        *beside,
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
