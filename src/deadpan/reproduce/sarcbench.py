"""SarcBench (Budda 2026): Tables 1 to 3, on the set that comes with the program or on any file of items."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from deadpan.bench import open_set, run_bench, score_bench
from deadpan.errors import ModelError
from deadpan.reproduce.published import Measured, read_paper
from deadpan.reproduce.trials import Job, ReproductionOptions, TrialRunner, cells_of, exact
from deadpan.stats import Interval
from deadpan.validation import decode, encode

_SET = "public"
_RUNS = 5
_BASELINE = "baseline/random"
_CATEGORIES = (
    "Intended meaning", "Target identification", "Sentiment reversal", "Sincere control",
    "Context dependence",
)  # fmt: skip
_METRICS = {"Avg@5": "avg", "Maj@5": "maj", "Category accuracy": "category", "Consistency rate": "consistency"}
_COLUMNS = ("Avg@5", "Maj@5")
MODELS = (
    "Claude Opus 4.7", "Claude Sonnet 4.6", "Gemini 3 Flash Preview", "GPT-5.5", "Gemini 3.1 Pro Preview",
    "DeepSeek V4 Flash", "DeepSeek V4 Pro", "Grok 4.1 Fast", "Kimi K2.6",
)  # fmt: skip
"""The paper's names; the ids of their providers change, so that runs are found by the name."""
_OTHER_SET = "another set: the 125 private questions of v0.1 are not released, and ours are minimal pairs"


def jobs(options: ReproductionOptions) -> list[Job]:
    """Return the jobs of the paper."""
    return [_set(), _metrics(), _random(), *(_model(row) for row in MODELS)]


def _spec(runner: TrialRunner) -> str:
    return str(runner.options.items or _SET)


def _set() -> Job:
    kinds = cells_of("table-1", _CATEGORIES, ["in the set"])
    sizes = cells_of("section-3", ["private set", "options per question"], ["questions"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        items = open_set(_spec(runner))
        counts = Counter(item.category for item in items.items)
        how = f"{items.label}, {len(items.items):,} items"
        found = {
            id: Measured(text=f"{counts[slug_of(name)]:,} items", how=how, agrees=counts[slug_of(name)] > 0,
                         reason="no item of the category")
            for id, name in zip(kinds, _CATEGORIES, strict=True)
        }  # fmt: skip
        options = {len(item.options) for item in items.items}
        found[sizes[0]] = Measured(exact(len(items.items)), how=how, reason=_OTHER_SET)
        found[sizes[1]] = Measured(exact(max(options)), how=how)
        return found

    return Job("table-1", (*kinds, *sizes), work)


def _scored(runner: TrialRunner) -> dict[str, Any]:
    """Ask the random baseline every item five times, and score it."""
    spec = _spec(runner)

    def work() -> dict[str, Any]:
        scores = run_bench([_BASELINE], spec, runs=_RUNS, out=runner.scratch / "bench").scores[0]
        return {
            "avg": encode(scores.avg), "maj": encode(scores.maj), "consistency": encode(scores.consistency),
            "categories": encode(scores.categories), "ties": scores.ties, "n": scores.n,
        }  # fmt: skip

    inputs = [runner.options.items] if runner.options.items else []
    return runner.once("sarcbench random", {"set": open_set(spec).hash}, work, inputs=inputs)


def _metrics() -> Job:
    ids = cells_of("table-2", _METRICS, ["value for the random baseline"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = _scored(runner)
        values = {name: decode(found[name], Interval) for name in ("avg", "maj", "consistency")}
        kinds = [decode(each, Interval) for each in found["categories"].values()]
        low = min(each.value or 0.0 for each in kinds if each.n)
        high = max(each.value or 0.0 for each in kinds if each.n)
        how = f"{_BASELINE}, {_RUNS} runs, {found['n']:,} items"
        made = {}
        for id, key in zip(ids, _METRICS.values(), strict=True):
            value = values.get(key)
            text = "" if value is not None else f"{low:.2f} to {high:.2f} in five categories"
            made[id] = Measured(value, text, how, agrees=True)
        return made

    return Job("table-2", ids, work)


def _random() -> Job:
    ids = cells_of("table-3", ["Random chance"], _COLUMNS)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = _scored(runner)
        how = f"{_BASELINE}, {_RUNS} runs, {found['n']:,} items"
        ties = f"{found['ties']} items have no majority and count as wrong; the paper gives chance, not a run"
        return {
            ids[0]: Measured(decode(found["avg"], Interval), how=how, reason="another draw"),
            ids[1]: Measured(decode(found["maj"], Interval), how=how, reason=ties),
        }

    return Job("table-3 random", ids, work)


def _model(row: str) -> Job:
    ids = cells_of("table-3", [row], _COLUMNS)
    kinds = {cell.id: slug_of(cell.column) for cell in read_paper("sarcbench").cells()
             if cell.exhibit == "section-5" and cell.row == row}  # fmt: skip

    def work(runner: TrialRunner) -> dict[str, Measured]:
        folder = runner.options.runs
        found = score_bench(folder).scores if folder is not None else ()
        scores = [each for each in found if is_named(each.model, row)]
        if not scores:
            raise ModelError(
                f"{row} behind its provider's API: deadpan bench run --preset sarcbench --llm PROVIDER/ID "
                "--out RUNS; then --run RUNS"
            )
        how = f"{scores[0].set}, {scores[0].runs} runs, {scores[0].n:,} items"
        values = dict(zip(ids, (scores[0].avg, scores[0].maj), strict=True))
        values |= {id: scores[0].categories[kind] for id, kind in kinds.items()}
        return {id: Measured(value, how=how, reason=_OTHER_SET) for id, value in values.items()}

    return Job(f"table-3 {row}", (*ids, *kinds), work)


def slug_of(category: str) -> str:
    """Return the name of a category in item files."""
    return category.lower().replace(" ", "_")


def is_named(model: str, name: str) -> bool:
    """Return True if a model id such as anthropic/claude-opus-4-7-20260401 is the model the paper names."""
    id, wanted = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (model.rpartition("/")[2], name))
    return id == wanted or (id.startswith(wanted) and len(id) == len(wanted) + 8 and id[-8:].isdigit())
