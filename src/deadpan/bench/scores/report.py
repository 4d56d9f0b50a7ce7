"""Reports of scores: the tables of one or more runs, and the human baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deadpan.arguments import check_list, check_path, check_text
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.people import PeopleFacts, people_facts, read_answers, write_human_run
from deadpan.bench.runs.folder import find_runs, read_run
from deadpan.bench.scores.comparison import check_same, names_of
from deadpan.bench.scores.score import LANGUAGES, RunScores, in_language, score_run
from deadpan.drops import Tally
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.results import Result
from deadpan.validation import encode


@dataclass(frozen=True, slots=True)
class BenchScores(Result):
    """Scores of some runs on one set, best first."""

    names: tuple[str, ...]
    """A name per run: its model, or its folder where a model was run more than once."""
    scores: tuple[RunScores, ...] = field(repr=False)

    def as_dict(self) -> dict[str, object]:
        """Return the scores of every run."""
        first = self.scores[0]
        scores = [each.as_dict() for each in self.scores]
        return {"set": first.set, "set_hash": first.set_hash, "scores": scores}

    def summary(self) -> Summary:
        """Return accuracy, pairs, outcomes and categories."""
        tables = score_tables(self.names, self.scores)
        notes = (set_note(self.scores[0]), *reading_notes(self.names, self.scores))
        split = language_tables(self.names, self.scores)
        return Summary((*tables, category_table(self.names, self.scores), *split), notes)


@dataclass(frozen=True, slots=True)
class HumanBaseline(Result):
    """People's answers as a run, and its scores."""

    out: Path
    scores: RunScores = field(repr=False)
    unanswered: int
    tally: Tally = field(repr=False)
    facts: PeopleFacts = field(repr=False)

    @property
    def complete(self) -> bool:
        return not self.unanswered

    def as_dict(self) -> dict[str, object]:
        """Return the scores, and the answers that were excluded."""
        return {**self.scores.as_dict(), **self.tally.as_dict(), "people": encode(self.facts)}

    def summary(self) -> Summary:
        """Return the scores of people, and the items that nobody answered."""
        notes = [*self.tally.notes(), set_note(self.scores)]
        notes.append(
            f"over people and items: {self.facts.over_people}; on average {self.facts.agreed:.2f} of the "
            "answers to an item are its most frequent one, the highest score that anyone can reach."
        )
        if self.facts.flagged:
            shown = ", ".join(self.facts.flagged[:5]) + (", ..." if len(self.facts.flagged) > 5 else "")
            notes.append(f"{len(self.facts.flagged)} items below 70 % agreement with their key: {shown}")
        if self.unanswered:
            notes.append(f"{self.unanswered} items have no answer: the row stays off the leaderboard.")
        return Summary(score_tables((self.scores.model,), (self.scores,)), tuple(notes))


def score_bench(
    folders: str | Path | Sequence[str | Path], *, language: str | None = None, seed: int = 0
) -> BenchScores:
    """Score runs of one set: Avg@k, Maj@k, pairs, consistency and categories, with 95 % confidence intervals.

    `folders` are runs, or folders of runs, that `run_bench` or `human_baseline` wrote. With
    `language` (en, ko) only the items of that language count.
    """
    paths = [folders] if isinstance(folders, str | Path) else check_list(folders, "folders")
    runs = find_runs([check_path(path, "a folder of runs") for path in paths])
    check_same(runs)
    if language is not None:
        check_text(language, "language")
        runs = [in_language(run, language) for run in runs]
    named = best_first(names_of(runs), [score_run(run, seed) for run in runs])
    return BenchScores(tuple(name for name, _ in named), tuple(scores for _, scores in named))


def human_baseline(
    answers: Path,
    items: str | Path | ItemSet,
    out: Path,
    *,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> HumanBaseline:
    """Turn people's answers (a studio export or a CSV) into a run for the leaderboard."""
    opened, tally, out = open_set(items, ask), Tally(), Path(out)
    write_human_run(out, opened, read_answers(answers, opened), tally)
    run = read_run(out)
    scores = score_run(run, seed)
    return HumanBaseline(out, scores, len(opened.items) - scores.n, tally, people_facts(run.rows, seed))


def best_first(names: Sequence[str], scores: Sequence[RunScores]) -> list[tuple[str, RunScores]]:
    """Sort runs by accuracy, highest first; runs of equal accuracy by name."""
    return sorted(zip(names, scores, strict=True), key=lambda named: (-(named[1].avg.value or 0.0), named[0]))


def score_tables(names: Sequence[str], scores: Sequence[RunScores]) -> tuple[Table, ...]:
    """Return three tables with one row per run: accuracy, pairs and consistency, outcomes."""
    runs = {each.runs for each in scores}
    k = runs.pop() if len(runs) == 1 else "k"
    accuracy: list[tuple[Cell, ...]] = []
    pairs: list[tuple[Cell, ...]] = []
    outcomes: list[tuple[Cell, ...]] = []
    for name, each in zip(names, scores, strict=True):
        accuracy.append((name, each.avg, each.maj, each.ties, each.n))
        pairs.append((name, each.pairs, each.letter_consistency))
        rates = (f"{100 * rate:.1f} %" for rate in (each.unread, each.truncated, each.refused))
        state = "INCOMPLETE" if not each.complete else "not ranked" if each.not_ranked else "complete"
        form = None if each.in_form is None else f"{100 * each.in_form:.1f} %"
        outcomes.append((name, state, _cost(each), form, *rates))
    return (
        Table(("model", f"Avg@{k}", f"Maj@{k}", "ties", "n"), tuple(accuracy), "Accuracy"),
        Table(("model", "both of a pair", "same letter"), tuple(pairs), "Pairs and consistency"),
        Table(
            ("model", "run", "cost", "in form", "unread", "cut off", "refused"), tuple(outcomes), "Answers"
        ),
    )


def category_table(names: Sequence[str], scores: Sequence[RunScores]) -> Table:
    """Return accuracy per category, one row per category and one column per run."""
    rows: list[tuple[Cell, ...]] = [
        (name.replace("_", " "), value.n, *(each.categories[name] for each in scores))
        for name, value in scores[0].categories.items()
        if value.n
    ]
    return Table(("category", "n", *names), tuple(rows), "Accuracy by category")


def language_tables(names: Sequence[str], scores: Sequence[RunScores]) -> tuple[Table, ...]:
    """Return accuracy per language, one row per language; no table for a set in one language."""
    found = sorted({name for each in scores for name in each.languages})
    if len(found) < 2:
        return ()
    rows: list[tuple[Cell, ...]] = []
    for name in found:
        values = [each.languages.get(name) for each in scores]
        rows.append((LANGUAGES.get(name, name), max(value.n for value in values if value), *values))
    return (Table(("language", "n", *names), tuple(rows), "Accuracy by language"),)


def set_note(scores: RunScores) -> str:
    """Return the set and what chance gives."""
    chance, pair = scores.chance, scores.chance**2
    return f"{scores.set} ({scores.set_hash[:12]}); chance {chance:.3f}, for both of a pair {pair:.3f}."


def reading_notes(names: Sequence[str], scores: Sequence[RunScores]) -> list[str]:
    """Return why runs are not ranked, what a tie is, and what reasoning took."""
    notes = [
        f"{name} is not ranked: {each.not_ranked}."
        for name, each in zip(names, scores, strict=True)
        if each.not_ranked
    ]
    if any(each.ties for each in scores):
        notes.append(
            "ties: items without a majority, since several letters are most frequent; they count as wrong."
        )
    if any(each.in_form is not None and each.in_form < 1 for each in scores):
        notes.append("in form: answers in exactly the form asked for; others count if they can be read.")
    notes += [
        f"{name}: {each.reasoning_tokens:,} of {each.output_tokens:,} output tokens were reasoning."
        for name, each in zip(names, scores, strict=True)
        if each.reasoning_tokens
    ]
    return notes


def _cost(scores: RunScores) -> str | None:
    if scores.kind == "human":
        return None
    return "unknown" if scores.cost is None else f"${scores.cost:.4f}"
