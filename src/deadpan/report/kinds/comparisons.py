"""Comparisons of detectors (detect compare): scores with intervals, and who differs from whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.stats.direction import beats, merit, with_direction
from deadpan.storage import read_json
from deadpan.validation import decode

ALPHA = 0.05
METRIC_WORDS = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "weighted_f1": "weighted F1",
    "sequence_f1": "sequence F1",
    "auc": "AUC",
    "brier": "Brier score",
}
"""Scores whose name is not their words."""
TRIVIAL = ("majority", "random")
"""Systems that know nothing of the text: what every other one is compared with first."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per comparison."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "compare.json")
    metric, systems = found["metric"], found["systems"]
    scores = {name: decode(each["scores"][metric], Interval) for name, each in systems.items()}
    constant = found.get("constant_answer", {}).get(metric)
    text, unit = headline(found), with_direction(metric, in_words(metric))
    rows: list[tuple[Cell, ...]] = [(name, scores[name], systems[name]["verdict"]) for name in systems]
    rows.append(("constant answer", constant, ""))
    costs: list[tuple[Cell, ...]] = [
        (name, each["cost"].get("fit_seconds"), each["cost"].get("predict_seconds_per_1000"))
        for name, each in systems.items()
    ]
    pairs: list[tuple[Cell, ...]] = [
        (f"{pair['first']} − {pair['second']}", decode(pair["difference"], Interval), pair["p_holm"])
        for pair in found["comparisons"]
    ]
    tables = [
        StoryTable(
            Table(("system", unit, "verdict"), tuple(rows), f"{unit[0].upper()}{unit[1:]} on {found['data']}")
        ),
        StoryTable(Table(("system", "training, s", "1,000 texts, s"), tuple(costs), "Cost")),
    ]
    if pairs:
        tables.insert(1, StoryTable(Table(("difference", unit, "p, Holm"), tuple(pairs), "Differences")))

    def draw() -> Any:
        from deadpan.figures import whiskers

        mark = None if constant is None else ("constant answer", float(constant))
        return whiskers(text, scores, unit=unit, mark=mark)

    n = found.get("n_tested", 0)
    facts = (
        f"{len(systems)} systems",
        f"n = {n:,}",
        str(found.get("design", "")),
        f"seed {output.manifest.seed}",
    )
    return Story(
        f"Systems on {found['data']}", text, facts, (Finding(text, _weight(found)),), tuple(tables), (draw,),
        outputs=(output,),
    )  # fmt: skip


def in_words(metric: str) -> str:
    """Return the name of a score as people write it."""
    name = metric.removesuffix("_not")
    words = METRIC_WORDS.get(name, name.replace("_", " "))
    return words if name == metric else f"{words}, sincere class"


def significant(found: Mapping[str, Any], one: str, other: str) -> bool:
    """Return whether two systems differ significantly."""
    return any(
        {pair["first"], pair["second"]} == {one, other}
        and pair["p_holm"] is not None
        and pair.get("significant", pair["p_holm"] < ALPHA)
        for pair in found["comparisons"]
    )


def headline(found: Mapping[str, Any]) -> str:
    """Return the finding: a winner only if it differs significantly from every other system."""
    names, data, metric = list(found["systems"]), found["data"], in_words(found["metric"])
    first = names[0]
    value = decode(found["systems"][first]["scores"][found["metric"]], Interval)
    constant = found.get("constant_answer", {}).get(found["metric"])
    if len(names) == 1:
        if beats(found["metric"], value, constant):
            return f"{first} has {metric} {_shown(value)} on {data}."
        shown = f"{metric} {_shown(value)}"
        return f"{first} is not significantly better than a constant answer on {data}: {shown}."
    for trivial in TRIVIAL:
        rest = [name for name in names if name not in TRIVIAL]
        if trivial in names and rest and not any(significant(found, name, trivial) for name in rest):
            return f"No system differs significantly from {trivial} on {data}."
    scores = {name: decode(found["systems"][name]["scores"][found["metric"]], Interval) for name in names}
    best = max(scores, key=lambda name: merit(found["metric"], scores[name].value))
    if constant is not None and not any(beats(found["metric"], each, constant) for each in scores.values()):
        return (
            f"No system is significantly better than a constant answer on {data}: {metric} {constant:.2f}; "
            f"the best, {best}, has {_shown(scores[best])}."
        )
    if all(significant(found, first, other) for other in names[1:]):
        return f"{first} does best on {data}: {metric} {_shown(value)}, significantly better than all others."
    values = [each.value or 0.0 for each in scores.values()]
    return (
        f"No system is significantly better than all others on {data} ({len(names)} systems, {metric} "
        f"{min(values):.2f} to {max(values):.2f})."
    )


def _shown(value: Interval) -> str:
    from deadpan.page.numbers import score

    return score(value)


def _weight(found: Mapping[str, Any]) -> float:
    return 80 if "does best" in headline(found) else 70
