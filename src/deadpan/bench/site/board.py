"""What the leaderboard says: rows in order, ranks that tie where models do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.bench.comparison import Pairing, check_same, compare_runs
from deadpan.bench.folder import RunFolder
from deadpan.bench.scores import Scores, score_run
from deadpan.errors import DataError

PROVIDERS = {
    "openai": "OpenAI", "anthropic": "Anthropic", "google": "Google", "mistral": "Mistral", "grok": "xAI",
    "deepseek": "DeepSeek", "together": "Together", "openrouter": "OpenRouter", "bedrock": "Amazon Bedrock",
    "azureai": "Azure", "groq": "Groq", "embedded": "runs on this machine", "baseline": "baseline",
    "human": "people", "hf": "Hugging Face", "vllm": "vLLM", "ollama": "Ollama", "moonshot": "MoonshotAI",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: its scores, its rank (0 for what is not ranked) and how it stands to the row above."""

    scores: Scores
    name: str
    provider: str
    rank: int
    tied: bool
    above: Pairing | None

    @property
    def kind(self) -> str:
        return self.scores.kind


@dataclass(frozen=True, slots=True)
class Board:
    """All rows, best first, and what was left off with its reason."""

    set: str
    set_hash: str
    visibility: str
    entries: tuple[Entry, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def models(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == "model"]

    @property
    def human(self) -> Entry | None:
        return next((entry for entry in self.entries if entry.kind == "human"), None)


def make_board(runs: Sequence[RunFolder], seed: int = 0) -> tuple[Board, list[RunFolder]]:
    """The board, and the runs that are on it. Incomplete runs and parts of a set are left off, with why."""
    check_same(runs)
    kept, left_out = [], []
    for run in runs:
        why = why_not(run)
        if why:
            left_out.append((run.plan.model, why))
        else:
            kept.append(run)
    if not kept:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out)
        raise DataError(f"no run can go on a leaderboard ({reasons}): finish one first")
    names = [run.plan.model for run in kept]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two runs of {twice}: merge them, or name only one of them")
    scored = {run.plan.model: score_run(run, seed) for run in kept}
    order = sorted(kept, key=lambda run: (-(scored[run.plan.model].avg.value or 0.0), run.plan.model))
    pairs = compare_runs(order, seed) if len(order) > 1 else []
    entries = _entries([scored[run.plan.model] for run in order], pairs)
    plan = kept[0].plan
    return Board(plan.set, plan.set_hash, plan.visibility, tuple(entries), tuple(left_out)), order


def why_not(run: RunFolder) -> str:
    """Why a run may not be published; empty if it may."""
    if not run.rows:
        return "stopped before its end, or still running"
    if not run.complete:
        missing = run.plan.total - sum(not row.error for row in run.rows)
        return f"incomplete, {missing} of {run.plan.total} rows missing" if missing > 0 else "incomplete"
    if not run.plan.whole_set:
        return f"asked {len(run.plan.items)} of {run.plan.set_size} items"
    return ""


def _entries(scored: Sequence[Scores], pairs: Sequence[Pairing]) -> list[Entry]:
    """Ranks: one more than the number of models that are better for sure (Holm over all pairs)."""
    found = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    models = [each for each in scored if each.kind == "model"]
    ranks = {}
    for each in models:
        better = 0
        for other in models:
            pair = found.get(frozenset((each.model, other.model)))
            if pair and pair.differ and (other.avg.value or 0.0) > (each.avg.value or 0.0):
                better += 1
        ranks[each.model] = better + 1
    entries: list[Entry] = []
    for each in scored:
        rank = ranks.get(each.model, 0)
        above = found.get(frozenset((each.model, entries[-1].scores.model))) if entries else None
        name, provider = named(each.model)
        tied = bool(rank) and list(ranks.values()).count(rank) > 1
        entries.append(Entry(each, name, provider, rank, tied, above))
    return entries


def named(model: str) -> tuple[str, str]:
    """A model's own name and who provides it, from the name it is asked by."""
    parts = model.split("/")
    if len(parts) == 1:
        return ("People", "people") if model == "human" else (model, PROVIDERS.get(model, "own endpoint"))
    provider = parts[1] if parts[0] == "openai-api" and len(parts) > 2 else parts[0]
    return parts[-1], PROVIDERS.get(provider, provider)
