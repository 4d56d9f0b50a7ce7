"""Evaluations (detect evaluate, score): every score beside that of a constant answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.page.numbers import score
from deadpan.report.kinds.comparisons import headline, in_words
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.stats.direction import merit, with_direction
from deadpan.storage import read_json
from deadpan.validation import decode

MAIN = ("pair_accuracy", "balanced_accuracy", "f1")
DRAWN = ("pair_accuracy", "balanced_accuracy", "precision", "recall", "f1", "macro_f1", "auc")
"""Scores of the figure, all from 0 to 1, higher is better."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per evaluation of a detector, or of files of predictions."""
    read = [(output, read_json(output.folder / "scores.json")) for output in outputs]
    return [(_files if "systems" in found else _detector)(output, found) for output, found in read]


def _detector(output: Output, found: Mapping[str, Any]) -> Story:
    scores = {name: decode(value, Interval) for name, value in found["scores"].items()}
    constant = found.get("constant_answer", {})
    rows: list[tuple[Cell, ...]] = [
        (in_words(name), value, constant.get(name)) for name, value in scores.items()
    ]
    main = next(
        (name for name in MAIN if name in scores and scores[name].value is not None), next(iter(scores))
    )
    value, trivial = scores[main], constant.get(main)
    what = f"{found['system']} on {found['data']}"
    better = value.low is not None and (trivial is None or value.low > trivial)
    text = (
        f"{what}: {in_words(main)} {score(value)}."
        if better
        else f"{what} is not significantly better than a constant answer: {in_words(main)} {score(value)}."
    )
    tables = (
        StoryTable(Table(("score", "value", "constant answer"), tuple(rows), f"Scores of {what}")),
        _answers(found["confusion"], "Answers"),
    )

    def draw() -> Any:
        from deadpan.figures import whiskers

        drawn = {in_words(name): scores[name] for name in DRAWN if name in scores}
        return whiskers(text, drawn, unit="score")

    facts = (f"n = {found['n']:,}", f"threshold {found['threshold']:.3g}")
    return Story(what, text, facts, (Finding(text, 60),), tables, (draw,), outputs=(output,))


def _files(output: Output, found: Mapping[str, Any]) -> Story:
    """Describe scored files of predictions: their scores side by side, and whether one is better."""
    constant, pairs = found["constant_answer"], found["comparisons"]
    systems = {
        name: {score: decode(value, Interval) for score, value in each["scores"].items()}
        for name, each in found["systems"].items()
    }
    names, first = list(systems), next(iter(systems.values()))
    shown = [score for score in first if all(score in scores for scores in systems.values())]
    main = pairs[0]["metric"] if pairs else next((name for name in MAIN if name in shown), shown[0])
    names.sort(key=lambda name: -merit(main, systems[name][main].value))
    n = max(each["n"] for each in found["systems"].values())
    ranked = {name: found["systems"][name] for name in names}
    text = headline({**found, "systems": ranked, "metric": main, "data": f"{n:,} labelled rows"})
    silent = {name: each["n_unread"] for name, each in ranked.items() if each["n_unread"]}
    if silent:
        counts = ", ".join(f"{name} {unread:,}" for name, unread in silent.items())
        text += f" Rows without an answer, which count as wrong: {counts}."
    rows: list[tuple[Cell, ...]] = [
        (in_words(score), *(systems[name][score] for name in names), constant.get(score)) for score in shown
    ]
    what = f"Scores of {' and '.join(names)}"
    tables = [StoryTable(Table(("score", *names, "constant answer"), tuple(rows), what))]
    if pairs:
        differences: list[tuple[Cell, ...]] = [
            (f"{one['first']} − {one['second']}", decode(one["difference"], Interval), one["p_holm"])
            for one in pairs
        ]
        columns = ("difference", in_words(main), "p, Holm")
        tables.append(StoryTable(Table(columns, tuple(differences), "Differences")))
    tables += [_answers(found["systems"][name]["confusion"], f"Answers of {name}") for name in names]

    def draw() -> Any:
        from deadpan.figures import whiskers

        mark = ("constant answer", float(constant[main])) if main in constant else None
        unit = with_direction(main, in_words(main))
        return whiskers(text, {name: systems[name][main] for name in names}, unit=unit, mark=mark)

    facts = (f"n = {n:,}", f"{len(names)} file" + ("s" if len(names) > 1 else ""))
    return Story(what, text, facts, (Finding(text, 60),), tuple(tables), (draw,), outputs=(output,))


def _answers(confusion: Sequence[Sequence[int]], title: str) -> StoryTable:
    columns = ("truth", "predicted sincere", "predicted sarcastic", "no answer")
    rows = zip(("sincere", "sarcastic"), confusion, strict=True)
    return StoryTable(Table(columns, tuple((name, *row) for name, row in rows), title))
