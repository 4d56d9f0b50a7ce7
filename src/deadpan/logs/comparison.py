"""Comparison of systems by their logs, paired by the items that all of them answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deadpan.arguments import check_list, check_mapping, check_path, check_text
from deadpan.errors import ConfigError, DataError
from deadpan.logs.log import ScoredItem, ScoreLog, read_logs
from deadpan.page.numbers import score
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.stats.interval import LEVEL, FloatArray, Interval, cluster_codes, interval_name
from deadpan.stats.paired import (
    Comparisons,
    PairedDifference,
    all_in_unit_interval,
    mean_over_clusters,
    paired_difference,
)
from deadpan.storage import OutputPage, prepare_output, write_json, write_manifest

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True, repr=False)
class LogComparison(Result):
    """Systems compared on the items they all answered: their mean scores, and every pair of them."""

    metric: str
    systems: Mapping[str, Interval]
    pairs: tuple[PairedDifference, ...]
    n: int
    n_clusters: int
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """The request and the files that were read: both for the manifest."""

    def __repr__(self) -> str:
        found = sum(pair.significant for pair in self.pairs)
        pairs = f"{found} of {len(self.pairs)} pairs differ"
        return f"LogComparison({len(self.systems)} systems, {self.n:,} items, {pairs})"

    def as_dict(self) -> dict[str, object]:
        """Return everything, for `--json`."""
        return {
            "metric": self.metric,
            "n": self.n,
            "n_clusters": self.n_clusters,
            "systems": {name: mean.as_dict() for name, mean in self.systems.items()},
            "comparisons": [pair.as_dict() for pair in self.pairs],
            "notes": list(self.notes),
        }

    def summary(self) -> Summary:
        """Return the systems, the pairs, and what the items can tell."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        scores = Table(("system", f"mean {self.metric}", "n"),
                       tuple((name, mean, mean.n) for name, mean in self.systems.items()))  # fmt: skip
        power = tuple(
            (f"{pair.first} - {pair.second}", pair.detectable,
             *(f"{100 * share:.0f} %" for share in (pair.power or {}).values()))
            for pair in self.pairs if pair.power
        )  # fmt: skip
        tables = [scores, *Comparisons(self.pairs).summary().tables]
        if power:
            title = "Detectable with 80 % power, and the power to detect a true difference of"
            tables.append(Table(("systems", "detectable", "0.02", "0.05", "0.10"), power, title))
        return Summary(tuple(tables), self.notes)

    def headline(self) -> str:
        """Return the finding: a winner only if it is significantly better than every other system."""
        items = f"{self.n:,} items"
        best = max(self.systems, key=lambda name: self.systems[name].value or 0.0)
        own = [pair for pair in self.pairs if best in (pair.first, pair.second)]
        if len(own) == len(self.systems) - 1 and all(pair.better == best for pair in own):
            others = "the other" if len(self.systems) == 2 else "all others"
            mean = f"mean {self.metric} {score(self.systems[best])}"
            return f"{best} is significantly better than {others} on {items}: {mean}"
        settled = sum(pair.significant for pair in self.pairs)
        if not settled:
            return f"No significant difference between {len(self.systems)} systems on {items}"
        share = f"{settled} of {len(self.pairs)} differences between {len(self.systems)} systems"
        return f"{share} are significant on {items}"

    def about(self) -> OutputPage:
        """Return the words of the page."""
        few = len(self.systems) < 4
        title = f"Results of {', '.join(self.systems) if few else f'{len(self.systems)} systems'}"
        facts = (f"{len(self.systems)} systems", f"{self.n:,} items", f"{self.n_clusters:,} clusters")
        return OutputPage(title, f"{self.headline()}.", facts)

    def figure(self) -> Figure:
        """Draw the differences with their intervals."""
        from deadpan.figures.plots import whiskers

        rows = {f"{_short(pair.first)} −\n{_short(pair.second)}": pair.difference for pair in self.pairs}
        return whiskers(self.headline(), rows, unit=f"difference of mean {self.metric}", mark=("no difference", 0.0))

    def write(self, folder: Path | str) -> None:
        """Write comparison.json, report.html, the figure and manifest.json to a folder."""
        from deadpan.page.results import add_figure, add_summary, output_page

        folder = Path(folder)
        before = prepare_output(folder)
        about = self.about()
        page = output_page(about)
        add_figure(page, folder, "differences", self.figure)
        add_summary(page, self)
        write_json(folder / "comparison.json", self.as_dict())
        page.write(folder / "report.html")
        write_manifest(
            folder, command="compare", config=self.settings or {"metric": self.metric}, inputs=self.files,
            before=before, counts={"items": self.n, "clusters": self.n_clusters}, about=about,
        )  # fmt: skip


def compare_logs(
    paths: Sequence[Path | str],
    *,
    metric: str = "",
    cluster: str = "",
    against: str = "",
    unscored: Unscored = "exclude",
    level: float = LEVEL,
) -> LogComparison:
    """Compare the results of any tools, paired by item.

    Parameters
    ----------
    paths : logs of Inspect (.eval), samples of lm-eval, run folders of HELM or of deadpan bench, or tables
        with the columns item, system and score.
    metric : the score to read; by default the main one of each format.
    cluster : the field of an item that names what it shares with others (a thread, a template).
    against : compare every system with this one only, instead of all pairs.
    unscored : "exclude" leaves items that a system has no score for out for all, "zero" counts them as 0.
    """
    check_text(metric, "metric")
    check_text(cluster, "cluster")
    check_text(against, "against")
    check_text(unscored, "unscored")
    given = [check_path(path, "a log") for path in check_list(paths, "logs")]
    _check_once(given)
    logs = [log for path in given for log in read_logs(path, metric, cluster)]
    result = compare_scores(
        by_system(logs), metric=logs[0].metric if logs else "score", against=against, unscored=unscored,
        level=level, notes=_notes(logs),
    )  # fmt: skip
    settings = {"logs": [str(path) for path in given], "metric": result.metric, "cluster": cluster,
                "against": against, "unscored": unscored, "level": level}  # fmt: skip
    return replace(result, settings=settings, files=tuple(file for log in logs for file in log.files))


def _check_once(paths: Sequence[Path]) -> None:
    """Refuse a log that is named twice: it would be compared with itself."""
    seen: set[Path] = set()
    for path in paths:
        real = path.resolve()
        if real in seen:
            raise ConfigError(f"{path} is named twice: name every log once")
        seen.add(real)


def compare_scores(
    systems: Mapping[str, Mapping[str, ScoredItem]],
    *,
    metric: str = "score",
    against: str = "",
    unscored: Unscored = "exclude",
    level: float = LEVEL,
    notes: Sequence[str] = (),
) -> LogComparison:
    """Compare systems given as {system: {item: ScoredItem}}; `compare_logs` reads them from files."""
    check_mapping(systems, "systems", "pass {system: {item: ScoredItem}}")
    if len(systems) < 2:
        raise ConfigError(f"a comparison needs at least two systems: got {', '.join(systems) or 'none'}")
    if unscored not in UNSCORED:
        raise ConfigError(unknown("choice for unscored items", unscored, UNSCORED))
    if against and against not in systems:
        raise ConfigError(unknown("system", against, systems))
    items, scores, remarks = align(systems, unscored)
    clusters = cluster_codes(clusters_by_item(systems, items))
    means = {name: mean_over_clusters(scores[name], clusters, level) for name in systems}
    chosen = [(name, against) for name in systems if name != against] if against else combinations(systems, 2)
    pairs = Comparisons.adjusted(
        paired_difference(scores[a], scores[b], clusters, names=(a, b), metric=metric, level=level) for a, b in chosen
    )
    k = int(clusters.max(initial=-1)) + 1
    paired = f"{len(items):,} item{'s' * (len(items) > 1)}"
    paired += f" in {k:,} cluster{'s' * (k > 1)}, paired." if k < len(items) else ", paired."
    said = [*notes, *remarks, *_cautions(pairs), *_brackets(means, scores), f"{paired} {pairs.method()}"]
    return LogComparison(metric, means, pairs.pairs, len(items), k, tuple(said))


def _cautions(pairs: Sequence[PairedDifference]) -> list[str]:
    """Return which systems no item tells apart."""
    alike = [f"{pair.first} and {pair.second}" for pair in pairs if not pair.n_differing]
    return [f"No item tells {'; '.join(alike[:3])} apart, so nothing is known about power."] * bool(alike)


def _brackets(means: Mapping[str, Interval], scores: Mapping[str, FloatArray]) -> list[str]:
    """Return which interval stands beside a mean, as `mean_over_clusters` chooses it."""
    shown = [name for name, mean in means.items() if mean.low is not None]
    level = means[shown[0]].level if shown else LEVEL
    kinds = {name: "Wilson" if all_in_unit_interval(scores[name]) else "t" for name in shown}
    if len(set(kinds.values())) < 2:
        return [f"Beside a mean in brackets: the {interval_name(level, kind)}." for kind in set(kinds.values())]
    others = ", ".join(name for name, kind in kinds.items() if kind == "t")
    wilsons, ts = (interval_name(level, kind) for kind in ("Wilson", "t"))
    return [f"Beside a mean in brackets: the {wilsons}; the {ts} for {others}, with scores outside 0 to 1."]


def _notes(logs: Sequence[ScoreLog]) -> list[str]:
    notes = [note for log in logs for note in log.notes]
    metrics = {log.metric: log for log in logs}
    if len(metrics) > 1:
        named = ", ".join(f"{metric} of {log.system}" for metric, log in metrics.items())
        notes.append(f"Different scores are compared: {named}. Name one with --metric.")
    others = [name for name in dict.fromkeys(m for log in logs for m in log.metrics) if name not in metrics]
    if others:
        notes.append(f"Other scores in these logs: {', '.join(others[:8])} (--metric).")
    return notes


def _short(name: str) -> str:
    """Return a name that fits beside a plot: the end of a long one, where models differ."""
    return name if len(name) <= 26 else "…" + name[-25:]


Systems = Mapping[str, Mapping[str, ScoredItem]]
Unscored = Literal["exclude", "zero"]
UNSCORED: tuple[Unscored, ...] = ("exclude", "zero")
"""The treatment of items that a system has no score for: leave them out for all systems, or count as 0."""


def align(systems: Systems, unscored: Unscored) -> tuple[list[str], dict[str, FloatArray], list[str]]:
    """Return the common items, the scores of each system on them, and remarks on what was left out."""
    every = list(dict.fromkeys(item for rows in systems.values() for item in rows))
    common = [item for item in every if all(item in rows for rows in systems.values())]
    if not common:
        pairs = list(combinations(systems.items(), 2))
        # The pair that does not fit, not the first two: eleven logs may fit and one be of another task.
        (one, first), (other, second) = next((p for p in pairs if p[0][1].keys().isdisjoint(p[1][1])), pairs[0])
        raise DataError(
            f"{one} and {other} have no item in common (such as {next(iter(first), '')[:80]!r} and "
            f"{next(iter(second), '')[:80]!r}): compare results on the same items"
        )
    _check_questions(systems, common)
    remarks = []
    if len(common) < len(every):
        remarks.append(f"{_left_out(len(every) - len(common), 'not in all logs')}.")
    scored = [item for item in common if all(rows[item].score is not None for rows in systems.values())]
    if len(scored) < len(common) and unscored == "exclude":
        by = {name: sum(rows[item].score is None for item in common) for name, rows in systems.items()}
        worst = ", ".join(f"{name} {count:,}" for name, count in by.items() if count)
        remarks.append(f"{_left_out(len(common) - len(scored), 'without a score')} ({worst}).")
    kept = scored if unscored == "exclude" else common
    if not kept:
        raise DataError("no item has a score from every system: count missing scores as 0 with --unscored zero")
    return kept, {name: np.array([rows[item].score or 0.0 for item in kept], dtype=np.float64)
                  for name, rows in systems.items()}, remarks  # fmt: skip


def _check_questions(systems: Systems, common: Sequence[str]) -> None:
    """Refuse logs in which one id stands for different questions."""
    differing = [item for item in common if len({rows[item].question for rows in systems.values()} - {""}) > 1]
    if differing:
        raise DataError(
            f"{len(differing):,} of {len(common):,} items have different questions in different logs, first "
            f"{differing[0]!r}: compare results on the same version of the data"
        )


def clusters_by_item(systems: Systems, items: Sequence[str]) -> list[str]:
    """Return the cluster of each item; logs that name another one for the same item are refused."""
    found = [{rows[item].cluster for rows in systems.values()} - {""} for item in items]
    differing = [(item, names) for item, names in zip(items, found, strict=True) if len(names) > 1]
    if differing:
        item, names = differing[0]
        raise DataError(
            f"item {item!r} is in the clusters {' and '.join(map(repr, sorted(names)))} in different logs: "
            "give every item one cluster"
        )
    return [next(iter(names), "") for names in found]


def _left_out(n: int, why: str) -> str:
    return f"1 item {why} is left out" if n == 1 else f"{n:,} items {why} are left out"


def by_system(logs: Sequence[ScoreLog]) -> dict[str, dict[str, ScoredItem]]:
    """Return the items of each system. Logs of one system are joined, unless they are of the same items."""
    found: dict[str, list[ScoreLog]] = {}
    for log in logs:
        found.setdefault(log.system, []).append(log)
    systems: dict[str, dict[str, ScoredItem]] = {}
    for system, same in found.items():
        total = sum(len(log.items) for log in same)
        joined = {item: row for log in same for item, row in log.items.items()}
        if len(joined) == total:
            systems[system] = joined
            continue
        for log in same:
            stem = log.path.stem if log.path.is_file() else log.path.name
            name = stem if len(found) == 1 else f"{system} ({stem})"
            systems[name if name not in systems else str(log.path)] = dict(log.items)
    return systems
