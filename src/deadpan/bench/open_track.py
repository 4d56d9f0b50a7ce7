"""The open track: a model explains items in a sentence; similarity, a judge model and people mark them.

Similarity takes the option nearest to the explanation (embedded vectors); the judge has a published rubric.
None of the three is the truth, so their agreement is part of the result.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from deadpan.arguments import check_names
from deadpan.bench.items.item import family
from deadpan.bench.items.probes import option_similarity
from deadpan.bench.items.prompts import EXPLAIN, RUBRIC, TEMPLATES
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.runs.folder import JOURNAL, make_folder, model_slug, read_run
from deadpan.bench.runs.journal import read_bench_calls
from deadpan.bench.runs.run import Watch, check_price, progress_watch, run_models
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem, RunSettings
from deadpan.bench.scores.score import mean_interval
from deadpan.errors import ConfigError, DataError
from deadpan.llm import default_model
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.progress import Progress, silent
from deadpan.ratings import cohen_kappa, ratings_from_matrix, raw_agreement
from deadpan.records import Item
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.storage import write_manifest, write_records
from deadpan.validation import encode

EXPLANATIONS = "explanations.jsonl"


def run_open_track(
    models: str | Sequence[str] | None,
    settings: RunSettings,
    out: str | Path = "open",
    *,
    judge: str = "",
    people: Path | None = None,
    progress: Progress = silent,
    watch: Watch | None = None,
) -> OpenScores:
    """Ask a model to explain every item in one sentence; mark by similarity, a judge model and people.

    Without a model the embedded one is asked; `people` is a CSV with the columns item, run and right. A run
    that was killed resumes.
    """
    names = [models] if isinstance(models, str) else check_names(models or [default_model()], "models")
    if len(names) > 1:
        raise ConfigError("one model explains at a time: give each a command of its own")
    model, out, watch = names[0], Path(out), watch or progress_watch(progress)
    marks_of_people = read_people(people) if people else {}
    for name in filter(None, (model, judge)):
        if name.startswith(BASELINE_PREFIX):
            raise ConfigError(f"{name} only chooses letters: give a model that writes")
        check_price(name, settings)
    [(folder, complete)] = run_models([model], replace(settings, prompt=EXPLAIN), out / "explain", watch=watch)
    if not complete:
        raise DataError(f"{folder}: some explanations are missing: repeat the command to resume it")
    texts = {(row.item, row.run): row.text.strip() for row in read_run(folder).rows}
    marked = mark_similarity(settings.set, texts)
    if judge:
        rest = _with_rest_of_budget(settings, folder)
        marks = _judge(judge, texts, rest, out / "judge" / model_slug(model), watch)
        marked = [replace(each, judge=marks.get((each.item, each.run))) for each in marked]
    if marks_of_people:
        marked = [replace(each, people=marks_of_people.get((each.item, each.run))) for each in marked]
    written = _write_marked(out / model_slug(model), marked, model, judge, settings)
    scores = score_open(model, settings.set, marked, settings.sampling.seed)
    return replace(scores, out=written)


def _write_marked(folder: Path, marked: list[OpenAnswer], model: str, judge: str, settings: RunSettings) -> Path:
    """Write the explanations with their marks, then the manifest."""
    make_folder(folder, settings.set.visibility)
    write_records(folder / EXPLANATIONS, marked, OpenAnswer)
    config = {"model": model, "judge": judge, "rubric": RUBRIC if judge else "", "prompt": EXPLAIN}
    config |= {"set": settings.set.label, "set_hash": settings.set.hash}
    by_people = sum(each.people is not None for each in marked)
    counts = {"explanations": len(marked), "marked by people": by_people}
    write_manifest(folder, command="bench run", config=config, seed=settings.sampling.seed, counts=counts)
    return folder / EXPLANATIONS


def _with_rest_of_budget(settings: RunSettings, folder: Path) -> RunSettings:
    """Return the settings with the cost of the explanations subtracted from the limit."""
    if settings.max_cost is None:
        return settings
    spent = sum(call.cost or 0.0 for call in read_bench_calls(folder / JOURNAL))
    return replace(settings, max_cost=max(0.0, settings.max_cost - spent))


def _judge(judge: str, texts: dict[Key, str], settings: RunSettings, out: Path, watch: Watch) -> dict[Key, int]:
    """Return the judge's marks; a reply without a readable mark gives none."""
    known = {item.id: item for item in settings.set.items}
    posed = tuple(posed_to_judge(known[item], run, text) for (item, run), text in texts.items())
    greedy = replace(settings.sampling, temperature=0.0)
    work = replace(settings, prompt=RUBRIC, posed=posed, sampling=greedy, shuffle=False)
    [(folder, complete)] = run_models([judge], work, out, watch=watch)
    if not complete:
        raise DataError(f"{folder}: some marks are missing: repeat the command to resume it")
    marks = {}
    for call in read_bench_calls(folder / JOURNAL):
        mark = None if call.error else read_mark(call.text)
        if mark is not None:
            marks[call.key] = mark
    return marks


PASS = 2
"""The lowest mark that counts as right."""


def judge_prompt(item: Item, explanation: str) -> str:
    """Return the prompt for the judge. The explanation is on one line, so it cannot pose as the rubric."""
    return TEMPLATES[RUBRIC, "en"].format(
        context="\n".join(turn.text for turn in (*item.context, *item.after)),
        speaker=item.speaker or "The speaker",
        utterance=item.utterance,
        question=item.question,
        reference=item.options[item.answer],
        explanation=" ".join(explanation.split()) or "(none)",
    )


def posed_to_judge(item: Item, run: int, explanation: str) -> PosedItem:
    """Return an explanation as the judge is asked about it."""
    return PosedItem(item, run, tuple(range(6)), judge_prompt(item, explanation))


def read_mark(text: str) -> int | None:
    """Return the last `Mark: N`, or the mark of a reply that is nothing else; None if there is none."""
    marks = re.findall(r"mark[\s*]*[:：][\s*]*([012])(?!\d|\.\d)", text, re.IGNORECASE)
    if marks:
        return int(marks[-1])
    bare = re.fullmatch(r"[\s*]*([012])[\s*.]*", text)
    return int(bare[1]) if bare else None


Key = tuple[str, int]
SIMILARITY, JUDGE, _PEOPLE = "similarity", "judge", "people"
YES, NO = frozenset({"1", "yes", "right", "true", "2"}), frozenset({"0", "no", "wrong", "false"})


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """One explanation of a model and its marks; None where a marker gave none."""

    item: str
    run: int
    text: str
    cosine: float
    nearest: int
    similarity: bool | None
    judge: int | None = None
    people: bool | None = None


@dataclass(frozen=True, slots=True)
class OpenScores(Result):
    """The share of right explanations by each marker, and the agreement of the markers."""

    model: str
    set: str
    n: int
    right: dict[str, Interval] = field(repr=False)
    agreement: dict[str, dict[str, Interval]] = field(repr=False)
    missing: dict[str, int] = field(repr=False)
    out: Path | None = None
    """The file with every explanation and its marks, if it was written."""

    def as_dict(self) -> dict[str, object]:
        """Return all scores."""
        values: dict[str, object] = encode(replace(self, out=None))
        return {**values, "out": None if self.out is None else str(self.out)}

    def summary(self) -> Summary:
        """Return one row per marker, and the agreement of every two."""
        rows: list[tuple[Cell, ...]] = [
            (name, value, value.n, self.missing[name]) for name, value in self.right.items()
        ]
        tables = [Table(("marked by", "right", "n", "no mark"), tuple(rows), f"{self.model} on {self.set}")]
        pairs: list[tuple[Cell, ...]] = [
            (pair, values["agree"], values["kappa"]) for pair, values in self.agreement.items()
        ]
        if pairs:
            tables.append(Table(("markers", "agreement", "kappa"), tuple(pairs)))
        notes = [] if pairs else ["One marker only: --judge MODEL or --people CSV shows how far to trust it."]
        if self.out is not None:
            notes.append(f"Every explanation with its marks: {self.out}")
        return Summary(tuple(tables), tuple(notes))


def mark_similarity(items: ItemSet, texts: Mapping[Key, str]) -> list[OpenAnswer]:
    """Mark an explanation right if the keyed answer is the most similar option; an empty one is wrong."""
    known = {item.id: item for item in items.items}
    marked = []
    for (name, run), text in texts.items():
        item = known[name]
        near = option_similarity(item, text)
        place = int(near.argmax())
        right = place == item.answer if text.strip() else False
        marked.append(OpenAnswer(name, run, text, float(near[item.answer]), place, right))
    return marked


def read_people(path: Path) -> dict[Key, bool]:
    """Read people's marks from a CSV with item, run (1 if absent) and right (yes or no), by majority."""
    votes: dict[Key, list[bool]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                vote = (row.get("right") or "").strip().lower()
                if "item" not in row or vote not in YES | NO:
                    raise DataError(f"{path}:{number}: a line needs item and right (yes or no): fill them in")
                votes.setdefault((row["item"], int(row.get("run") or 1)), []).append(vote in YES)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: give a CSV with item, run and right") from None
    except (OSError, ValueError, csv.Error) as bad:
        raise DataError(f"{path}: not readable ({bad}): give a CSV with item, run and right") from None
    return {key: 2 * sum(each) > len(each) for key, each in votes.items() if 2 * sum(each) != len(each)}


def score_open(model: str, items: ItemSet, marked: Sequence[OpenAnswer], seed: int = 0) -> OpenScores:
    """Return the share of right explanations per marker, and the agreement of every two markers."""
    groups = {item.id: family(item) for item in items.items}
    verdicts: dict[str, list[bool | None]] = {
        SIMILARITY: [answer.similarity for answer in marked],
        JUDGE: [None if answer.judge is None else answer.judge >= PASS for answer in marked],
        _PEOPLE: [answer.people for answer in marked],
    }
    used = {name: marks for name, marks in verdicts.items() if any(mark is not None for mark in marks)}
    right = {}
    for name, marks in used.items():
        known = [(m, groups[a.item]) for m, a in zip(marks, marked, strict=True) if m is not None]
        right[name] = mean_interval([float(mark) for mark, _ in known], [group for _, group in known], seed)
    agreement = {}
    for one, other in combinations(used, 2):
        both = [(a, b) for a, b in zip(used[one], used[other], strict=True) if a is not None and b is not None]
        ratings = ratings_from_matrix(both, categories=(True, False))
        agreement[f"{one} and {other}"] = {
            "agree": raw_agreement(ratings, seed=seed),
            "kappa": cohen_kappa(ratings, seed=seed),
        }
    missing = {name: sum(mark is None for mark in marks) for name, marks in used.items()}
    return OpenScores(model, items.label, len(marked), right, agreement, missing)
