"""The leaderboard: rows in order, each model with the range of ranks that paired tests leave open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.comparison import check_same, compare_runs
from deadpan.bench.scores.prompt_range import PromptRange, headlines, prompt_ranges
from deadpan.bench.scores.score import RunScores, in_language, languages_of, score_run
from deadpan.errors import DataError
from deadpan.stats import Interval, PairedDifference
from deadpan.stats.ranking import rank_ranges

_PROVIDERS = {
    "openai": "OpenAI", "anthropic": "Anthropic", "google": "Google", "mistral": "Mistral", "grok": "xAI",
    "deepseek": "DeepSeek", "together": "Together", "openrouter": "OpenRouter", "bedrock": "Amazon Bedrock",
    "azureai": "Azure", "groq": "Groq", "embedded": "runs on this machine", "baseline": "baseline",
    "human": "people", "hf": "Hugging Face", "vllm": "vLLM", "ollama": "Ollama", "moonshot": "MoonshotAI",
}  # fmt: skip

_RUNS = 5
"""Runs per item in the paper."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """One row: scores, the range of its rank and the comparison with the row above.

    Baselines and people have no rank. A model without one has the reason in `not_ranked`: too many cut-off,
    unread or refused answers, or fewer runs than the other models.
    """

    scores: RunScores
    name: str
    provider: str
    ranks: tuple[int, int] | None
    """The best and the worst rank that the model may have."""
    above: PairedDifference | None
    not_ranked: str = ""
    prompts: PromptRange | None = None
    """The scores by several prompts, if the model was asked by others than the paper's."""
    beats_baselines: bool = True
    """Significantly better than every baseline on the board."""

    @property
    def kind(self) -> str:
        return self.scores.kind

    @property
    def rank(self) -> str:
        """The rank in words: 2, or 1 to 3."""
        if self.ranks is None:
            return "–"
        best, worst = self.ranks
        return str(best) if best == worst else f"{best} to {worst}"


@dataclass(frozen=True, slots=True)
class Board:
    """All rows, best first, and the excluded runs with their reasons."""

    set: str
    set_hash: str
    visibility: str
    entries: tuple[BoardEntry, ...]
    excluded: tuple[tuple[str, str], ...]
    languages: tuple[tuple[str, Board], ...] = ()
    """A board per language; none for a set in one language."""
    parts: tuple[PartEntry, ...] = ()
    """Complete runs on a part of the set."""

    @property
    def chance(self) -> float:
        """The share that guessing gets right: one in the number of options, by what the items offer."""
        return next((e for e in self.entries if e.kind != "human"), self.entries[0]).scores.chance

    @property
    def models(self) -> list[BoardEntry]:
        return [entry for entry in self.entries if entry.kind == "model"]

    @property
    def human(self) -> BoardEntry | None:
        return next((entry for entry in self.entries if entry.kind == "human"), None)


def make_board(runs: Sequence[BenchRun], seed: int = 0) -> tuple[Board, list[BenchRun]]:
    """Return the board and its runs. Incomplete runs and runs on a part of a set are excluded."""
    check_same(runs)
    kept, excluded, parts = [], [], []
    ranges = {each.model: each for each in prompt_ranges([run for run in runs if not why_not(run)], seed)}
    for run in headlines(runs):
        why = why_not(run)
        if why:
            excluded.append((run.plan.system, why))
            parts += [run] if run.complete else []
        else:
            kept.append(run)
    if not kept:
        reasons = "; ".join(f"{name}: {why}" for name, why in excluded)
        raise DataError(f"no run can go on a leaderboard ({reasons}): complete one first")
    names = [run.plan.system for run in kept]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two runs of {twice}: merge them, or give only one of them")
    scored = {run.plan.system: score_run(run, seed) for run in kept}
    order = sorted(kept, key=lambda run: (-(scored[run.plan.system].avg.value or 0.0), run.plan.system))
    pairs = compare_runs(order) if len(order) > 1 else []
    entries = [
        replace(entry, prompts=ranges.get(entry.scores.model))
        for entry in _entries([scored[run.plan.system] for run in order], pairs)
    ]
    plan = kept[0].plan
    board = Board(plan.set, plan.set_hash, plan.visibility, tuple(entries), tuple(excluded))
    languages, rest = tuple(_by_language(kept, seed)), tuple(part_entries(parts, kept, seed))
    return replace(board, languages=languages, parts=rest), order


def _by_language(runs: Sequence[BenchRun], seed: int) -> Iterator[tuple[str, Board]]:
    """Yield a board per language, if there are several."""
    names = languages_of(runs)
    for name in names if len(names) > 1 else []:
        yield name, make_board([in_language(run, name) for run in runs], seed)[0]


def why_not(run: BenchRun) -> str:
    """Return why a run may not be published; empty if it may."""
    if not run.rows:
        return "no rows yet: stopped early, or still running"
    if not run.complete:
        missing = run.plan.total - sum(not row.error for row in run.rows)
        return f"incomplete, {missing} of {run.plan.total} rows missing" if missing > 0 else "incomplete"
    if not run.plan.whole_set:
        return f"asked {len(run.plan.items)} of {run.plan.set_size} items"
    return ""


def _entries(scored: Sequence[RunScores], pairs: Sequence[PairedDifference]) -> list[BoardEntry]:
    """Return the rows, in the order of their scores."""
    compared = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    reasons = {each.model: each.not_ranked or _too_few_runs(each, scored) for each in scored}
    models = [each for each in scored if each.kind == "model" and not reasons[each.model]]
    ranks = rank_ranges({each.model: each.avg.value or 0.0 for each in models},
                        lambda one, other: _better(one, other, compared))  # fmt: skip
    entries: list[BoardEntry] = []
    for each in scored:
        above = compared.get(frozenset((each.model, entries[-1].scores.model))) if entries else None
        name, provider = named(each.model)
        beats = all(_better(each.model, other.model, compared) for other in scored if other.kind == "baseline")
        entries.append(
            BoardEntry(each, name, provider, ranks.get(each.model), above, reasons[each.model], beats_baselines=beats)
        )
    return entries


def _better(one: str, other: str, compared: Mapping[frozenset[str], PairedDifference]) -> bool:
    """Return True if one model is significantly better than the other."""
    pair = compared.get(frozenset((one, other)))
    return pair is not None and pair.better == one


def _too_few_runs(scores: RunScores, others: Sequence[RunScores]) -> str:
    """Return a reason if a model was asked less often than the paper's five runs and than another model."""
    most = max((each.runs for each in others if each.kind == "model"), default=0)
    wanted = min(_RUNS, most)
    if scores.kind != "model" or scores.runs >= wanted:
        return ""
    return f"{scores.runs} run{'s' if scores.runs > 1 else ''} instead of {wanted}"


def named(model: str) -> tuple[str, str]:
    """Split the name of a model into its own name and its provider."""
    parts = model.split("/")
    if len(parts) == 1:
        return ("People", "people") if model == "human" else (model, _PROVIDERS.get(model, "own endpoint"))
    provider = parts[1] if parts[0] == "openai-api" and len(parts) > 2 else parts[0]
    return parts[-1], _PROVIDERS.get(provider, provider)


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A run on some items, and how its model does on these without reasoning, if that is known."""

    scores: RunScores
    set_size: int
    direct: Interval | None = None
    gap: PairedDifference | None = None


def part_entries(parts: Sequence[BenchRun], whole: Sequence[BenchRun], seed: int = 0) -> list[PartEntry]:
    """Return a row per complete run on a part of the set."""
    direct = {run.plan.model: run for run in whole if run.plan.system == run.plan.model}
    return [_entry(part, direct.get(part.plan.model), seed) for part in parts]


def _entry(part: BenchRun, direct: BenchRun | None, seed: int) -> PartEntry:
    scores = score_run(part, seed)
    if direct is None or part.plan.system == part.plan.model:
        return PartEntry(scores, part.plan.set_size)
    same = _on_items(direct, part.plan.items)
    (gap,) = compare_runs([part, same])
    return PartEntry(scores, part.plan.set_size, score_run(same, seed).avg, gap)


def _on_items(run: BenchRun, items: Sequence[str]) -> BenchRun:
    """Return the part of a whole run that asked some of its items."""
    wanted = set(items)
    kept = tuple(row for row in run.rows if row.item in wanted)
    return replace(run, plan=replace(run.plan, items=tuple(items)), rows=kept)
