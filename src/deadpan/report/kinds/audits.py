"""Audits of corpora (datasets audit): repeated texts, shortcuts to the label, and systems rescored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.page import Cell, Table
from deadpan.report.outputs import Output
from deadpan.report.stories import Finding, Story, StoryTable
from deadpan.stats import Interval
from deadpan.storage import read_json
from deadpan.validation import decode

STRONG = 0.65
"""An AUC that a family of shallow features must reach to be called a strong shortcut."""
SHOWN = 12
MANY = 0.05
"""From this share of rows with the text of an earlier row, that is the first finding."""


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return a story per audit."""
    return [_story(output) for output in outputs]


def _story(output: Output) -> Story:
    found = read_json(output.folder / "atlas.json")
    corpora = found["corpora"]
    best = {corpus["name"]: _strongest(corpus) for corpus in corpora}
    known = {name: auc for name, (_, auc) in best.items() if auc is not None}
    strong = sum((auc.low or 0.0) >= STRONG for auc in known.values())
    text = _repeats(corpora) + (
        f"In {strong} of {len(corpora)} corpora one family of shallow features alone reaches an AUC "
        f"significantly above {STRONG}."
    )
    rows: list[tuple[Cell, ...]] = [_row(corpus, *best[corpus["name"]]) for corpus in corpora]
    columns = ("corpus", "n", "repeated", "strongest shortcut", "AUC", "words", "explained")
    tables = [StoryTable(Table(columns, tuple(rows), "Corpora"), numeric=("repeated", "explained"))]
    again = _rescored(found.get("rescored", {}))
    if again:
        names = ("corpus and system", "AUC as it is", "AUC cleaned", "explained")
        tables.append(StoryTable(Table(names, again, "Systems on cleaned splits"), numeric=("explained",)))

    def draw() -> Any:
        from deadpan.figures import whiskers

        drawn = {f"{name}: {best[name][0]}": auc for name, auc in known.items()}
        return whiskers(text, drawn, unit="AUC of the strongest shortcut", mark=("chance", 0.5))

    notes = [*found["findings"][:SHOWN]]
    notes += [f"{name} is not rescored: {why}" for name, why in found.get("not_rescored", {}).items()]
    facts = (f"{len(corpora)} corpora", f"{sum(corpus['n'] for corpus in corpora):,} examples")
    return Story(f"Leaks and shortcuts: {output.name}", text, facts, (Finding(text, 68),), tuple(tables),
                 (draw,) if known else (), tuple(notes), outputs=(output,))  # fmt: skip


def _repeats(corpora: Sequence[Mapping[str, Any]]) -> str:
    """Return the corpus with the most repeated texts, if they are many: a random split of it leaks."""
    worst = max(corpora, key=lambda corpus: corpus["repeated_share"] or 0.0)
    share = worst["repeated_share"] or 0.0
    return f"{100 * share:.1f} % of the texts of {worst['name']} are copies. " if share >= MANY else ""


def _strongest(corpus: Mapping[str, Any]) -> tuple[str, Interval | None]:
    families = (corpus["shortcuts"] or {}).get("families") or []
    return (families[0]["family"], decode(families[0]["auc"], Interval)) if families else ("", None)


def _row(corpus: Mapping[str, Any], family: str, auc: Interval | None) -> tuple[Cell, ...]:
    shortcuts = corpus["shortcuts"]
    repeated = f"{100 * corpus['repeated_share']:.1f} %"
    if not shortcuts:
        return corpus["name"], corpus["n"], repeated, corpus["why"], None, None, ""
    words, share = shortcuts["words"]["value"], shortcuts["together"]["explained"]
    return corpus["name"], corpus["n"], repeated, family, auc, words, _percent(share)


def _rescored(found: Mapping[str, Any]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (f"{name}, {system}", *(decode(scores["auc"][side], Interval) for side in ("before", "after")),
         _percent(one["explained"].get(system)))
        for name, one in found.items() for system, scores in one["systems"].items()
    )  # fmt: skip


def _percent(share: Mapping[str, Any] | None) -> str:
    value = None if share is None else share.get("value")
    return "" if value is None else f"{100 * max(value, 0.0):.0f} %"
