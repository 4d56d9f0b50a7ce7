"""What `deadpan bench` shows of runs on a terminal: scores, categories, differences, items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deadpan.cli.output import table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.bench.comparison import Pairing
    from deadpan.bench.difficulty import ItemFacts
    from deadpan.bench.folder import RunFolder
    from deadpan.bench.scores import Scores

SHOWN_ITEMS = 15
Named = tuple[str, "Scores"]
"""A run's scores under the name that tells it from the others."""


def best_first(names: Sequence[str], scored: Sequence[Scores]) -> list[Named]:
    """Runs in the order of a leaderboard."""
    return sorted(zip(names, scored, strict=True), key=lambda named: -(named[1].avg.value or 0.0))


def show_scores(out: Console, scored: Sequence[Named]) -> None:
    """One line a run, then what it was asked and what chance would give."""
    from deadpan.page.numbers import score as number

    rows = []
    for name, each in scored:
        unpaid = "" if each.kind == "human" else "unknown"
        cost = unpaid if each.cost is None else f"${each.cost:.4f}"
        shown = (number(value, 2) for value in (each.avg, each.maj, each.pairs, each.letter_consistency))
        rows.append((name, *shown, cost, _answers(each)))
    runs = {each.runs for _, each in scored}
    k = runs.pop() if len(runs) == 1 else "k"
    columns = ("model", f"Avg@{k}", f"Maj@{k}", "both of a pair", "same letter", "cost", "answers")
    out.print(table(columns, rows, numbers=columns[1:6]))
    if scored:
        first = scored[0][1]
        out.print(f"{first.set} ({first.set_hash[:12]}), {first.n} items; chance 0.167, of a pair 0.028.")


def _answers(each: Scores) -> str:
    """What a score alone would hide."""
    rates = (("unread", each.unread), ("cut off", each.truncated), ("refused", each.refused))
    flags = [f"{name} {100 * rate:.1f}%" for name, rate in rates if rate] or ["all read"]
    if not each.complete:
        flags.insert(0, "INCOMPLETE")
    if each.ties:
        flags.append(f"{each.ties} ties")
    return ", ".join(flags)


def show_missing(out: Console, run: RunFolder) -> None:
    """Why a run is incomplete, and the cure."""
    missing = Counter(row.error.partition(":")[0] for row in run.rows if row.error)
    reasons = ", ".join(f"{why} {count}" for why, count in missing.most_common())
    out.print(
        f"{run.path}: incomplete, so on no leaderboard. {missing.total()} of {run.plan.total} rows have no "
        f"answer ({reasons}). The same command goes on with it.",
        soft_wrap=True,
    )


def show_categories(out: Console, scored: Sequence[Named]) -> None:
    """The same runs by category."""
    from deadpan.page.numbers import score as number

    first = scored[0][1].categories
    names = [name for name, value in first.items() if value.n]
    rows = [(name, *(number(each.categories[kind], 2) for kind in names)) for name, each in scored]
    columns = [f"{name.replace('_', ' ')} ({first[name].n})" for name in names]
    out.print(table(("model", *columns), rows))


def show_pairings(out: Console, pairings: Sequence[Pairing]) -> None:
    """One line a pair of runs."""
    rows = [
        (each.first, each.second, str(each.difference), _p(each.p_holm), _p(each.mcnemar_p_holm),
         "differ" if each.differ else "not different", each.n)
        for each in pairings
    ]  # fmt: skip
    columns = ("first", "second", "first - second", "p (Holm)", "McNemar p", "verdict", "n")
    out.print(table(columns, rows, numbers=("first - second", "p (Holm)", "McNemar p", "n")))


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def show_items(out: Console, facts: Sequence[ItemFacts]) -> None:
    """The hardest items, then how many of each kind there are."""
    rows = [
        (
            each.item,
            each.category,
            f"{each.easiness:.2f}",
            "" if each.discrimination is None else f"{each.discrimination:.2f}",
            each.state,
            each.tempting,
        )
        for each in facts[:SHOWN_ITEMS]
    ]
    columns = ("item", "category", "share right", "discrimination", "state", "tempts")
    out.print(table(columns, rows, numbers=("share right", "discrimination")))
    states = Counter(each.state for each in facts)
    kinds = ", ".join(f"{count} {state}" for state, count in states.items())
    out.print(f"The {len(rows)} hardest of {len(facts)} items; in all: {kinds}. --json has every one.")
