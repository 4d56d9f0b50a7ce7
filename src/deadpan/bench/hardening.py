"""Hardening: drafts, findings, a panel of runs and people in; kept, revised and dropped items out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from deadpan.bench.api import run_bench
from deadpan.bench.items.check import Giveaway, SetAudit, SetProblem, audit_set, validate_set
from deadpan.bench.items.item import write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.people import ItemAgreement, item_agreement, kept_items, latest_answers, read_answers
from deadpan.bench.response_theory import ItemParameters, ResponseModel, fit_responses
from deadpan.bench.runs.folder import BenchRun, find_runs, make_folder
from deadpan.bench.runs.run import Watch
from deadpan.bench.scores.comparison import check_same, names_of
from deadpan.bench.scores.score import item_answers, score_run, system_kind
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.page import Page, Table
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.records import Judgment
from deadpan.results import Result
from deadpan.stats import Interval, wilson
from deadpan.stats.interval import FloatArray
from deadpan.storage import manifest_path, write_json, write_manifest
from deadpan.validation import encode

REPORT, _PAGE, _KEPT, PANEL = "hardening.json", "index.html", "kept.jsonl", "panel"
LEAST_PEOPLE = 3
_SHOWN_ITEMS = 15
FITTED = (
    "Abilities have mean 0 and standard deviation 1. A respondent of the item's difficulty is halfway "
    "between guessing and certainty; the discrimination is how fast that changes. Intervals hold 95 %."
)


@dataclass(frozen=True, slots=True)
class HardenedSet(Result):
    """The verdict on every draft, with everything it rests on."""

    out: Path
    set: str
    set_hash: str
    verdicts: tuple[DraftVerdict, ...]
    findings: tuple[SetProblem, ...] = field(repr=False)
    """Findings about the whole set."""
    audit: SetAudit = field(repr=False)
    panel: Panel = field(repr=False)
    tally: Tally = field(repr=False)
    recorded: bool = False
    """True if the panel is made of the runs that come with the package."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of drafts with each verdict."""
        states = Counter(each.state for each in self.verdicts)
        return {state: states[state] for state in ("kept", "revise", "dropped")}

    @property
    def obstacles(self) -> tuple[str, ...]:
        """The reasons why the kept items are not yet a set to release; none if they are."""
        found = [f"{each.item}: {each.what}" for each in self.findings]
        found += [f"audit: {probe.name} {probe.verdict}" for probe in self.audit.probes if not probe.passed]
        few = sum(each.people < LEAST_PEOPLE for each in self.verdicts if each.state == "kept")
        if few:
            found.append(f"{few} kept items have answers from fewer than {LEAST_PEOPLE} people")
        if not self.counts["kept"]:
            found.append("no draft is kept")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        """Return every verdict with its reasons, the panel, the fit and the findings about the set."""
        return {
            "set": self.set,
            "set_hash": self.set_hash,
            "counts": self.counts,
            "releasable": not self.obstacles,
            "obstacles": list(self.obstacles),
            "panel": encode(self.panel.panelists),
            "panel_is_recorded": self.recorded,
            "panel_shows_nothing": self.panel.shows_nothing,
            "abilities": {name: encode(at) for name, at in self.panel.fit.abilities} if self.panel.fit else {},
            "audit": self.audit.as_dict(),
            "items": encode(self.verdicts),
            **self.tally.as_dict(),
        }

    def summary(self) -> Summary:
        """Return the panel, the first drafts that are not kept, and what the panel can show."""
        tables = [_panel_table(self.panel)] if self.panel.panelists else []
        left = [each for each in self.verdicts if each.state != "kept"]
        if left:
            rows: tuple[tuple[Cell, ...], ...] = tuple(
                (each.item, each.state, "; ".join(each.reasons)) for each in left[:_SHOWN_ITEMS]
            )
            more = f" (the first {_SHOWN_ITEMS} of {len(left)})" if len(left) > _SHOWN_ITEMS else ""
            tables.append(Table(("item", "verdict", "because"), rows, f"Not kept{more}"))
        return Summary(tuple(tables), (*self.tally.notes(), *self.notes()))

    def notes(self) -> list[str]:
        """Return the counts, what the panel can and cannot show, and what prevents a release."""
        counts = ", ".join(f"{n} {state}" for state, n in self.counts.items())
        notes = [f"{self.set}: {counts} of {len(self.verdicts)} drafts."]
        if self.recorded:
            notes.append("The panel is the recorded runs of this set that come with the package.")
        mute = self.panel.shows_nothing
        if mute:
            notes.append(
                f"The panel shows nothing about discrimination ({mute}): its parameters are mostly the "
                "prior, and no draft was judged by them."
            )
        if not any(each.people for each in self.verdicts):
            notes.append("No person has answered: kept means that nothing was found against an item.")
        notes.append("Not ready for release: " + "; ".join(self.obstacles) + "." if self.obstacles
                     else "The kept items are ready for a release.")  # fmt: skip
        notes.append(f"Report: {self.out / _PAGE}")
        return notes


def harden_set(
    drafts: str | Path | ItemSet,
    folders: Sequence[Path] = (),
    *,
    out: str | Path,
    answers: Path | None = None,
    models: Sequence[str] = (),
    seed: int = 0,
    ask: AskPassphrase | None = None,
    watch: Watch | None = None,
) -> HardenedSet:
    """Judge drafts by validation, audit, a panel and people; write the report and the kept items.

    `folders` are runs of the drafts by models and baselines; `models` are asked first, five runs each, into
    the folder `panel` of `out`. Without both, the runs that were recorded on these items are the panel, if
    there are any. `answers` are people's, a studio export or a CSV.

    Items with a finding are to be revised; those that all models always answer correctly, or on which people
    do not agree, are dropped. Difficulty and discrimination are fitted with intervals; they decide only where
    the panel is large enough to show them.
    """
    opened, out, tally = open_set(drafts, ask), Path(out), Tally()
    _check_out(out)
    if models:
        run_bench(models, opened, out=out / PANEL, seed=seed, watch=watch)
        folders = [*folders, out / PANEL]
    runs = find_runs(folders) if folders else recorded_on(opened)
    judgments: list[Judgment] = read_answers(answers, opened) if answers is not None else []
    people = latest_answers(opened, judgments, tally) if judgments else {}
    if people and any(system_kind(run.plan.model) == "human" for run in runs):
        raise DataError("people are given twice, as --answers and as a run: give one of them")
    if answers is not None and not people:
        raise DataError(f"{answers}: no answer to an item of {opened.label}: give answers to these drafts")
    panel = gather_panel(opened, runs, people, seed)
    problems, audit = validate_set(opened).problems, audit_set(opened, seed=seed)
    agreement = item_agreement(opened, judgments, Tally(), SOUND, LEAST_PEOPLE)
    verdicts = judge_drafts(opened, problems, audit.failed_items, panel, agreement)
    own = {name for item in opened.items for name in (item.id, item.pair_id)}
    findings = tuple(each for each in problems if each.item not in own)
    recorded = bool(runs) and not folders
    result = HardenedSet(out, opened.label, opened.hash, tuple(verdicts), findings, audit, panel, tally, recorded)
    _write(result, opened, seed)
    return result


def recorded_on(items: ItemSet) -> list[BenchRun]:
    """Return the runs of these items that come with the package; none for drafts of one's own.

    Those with reasoning are left out, so that every model is one respondent.
    """
    known = [run for run in find_runs([]) if run.plan.set_hash == items.hash]
    return [run for run in known if run.plan.system == run.plan.model]


def _check_out(out: Path) -> None:
    """Raise unless the folder is empty, holds an earlier report, or only the panel of an interrupted one."""
    found = {each.name for each in out.iterdir()} if out.is_dir() else set()
    if (out.exists() and not out.is_dir()) or (found - {PANEL} and REPORT not in found):
        raise DataError(f"{out}: not empty and not a report of drafts: choose another --out")


def _write(result: HardenedSet, items: ItemSet, seed: int) -> None:
    """Write the kept items, the JSON, the page and then the manifest."""
    make_folder(result.out, items.visibility)
    manifest_path(result.out).unlink(missing_ok=True)
    (result.out / _KEPT).unlink(missing_ok=True)
    names = {each.item for each in result.verdicts if each.state == "kept"}
    kept = kept_items(items, names)
    if kept:
        write_items(result.out / _KEPT, kept)
    write_json(result.out / REPORT, result.as_dict())
    harden_page(result).write(result.out / _PAGE)
    config = {"set": result.set, "set_hash": result.set_hash,
              "panel": [each.name for each in result.panel.panelists]}  # fmt: skip
    write_manifest(result.out, command="bench harden", config=config, seed=seed, counts=result.counts)


def _panel_table(panel: Panel) -> Table:
    able = dict(panel.fit.abilities) if panel.fit else {}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (each.name, each.kind, each.accuracy or each.right, able.get(each.name), each.answered)
        for each in panel.panelists
    )
    return Table(("respondent", "kind", "right", "ability", "n"), rows, "Panel")


def harden_page(result: HardenedSet) -> Page:
    """Return the report as a page: the verdicts, the panel, the fitted items, the audit."""
    first, *rest = result.notes()[:-1]
    page = Page(f"Hardening of {result.set}", first)
    for note in rest:
        page.text(note)
    rows: list[tuple[Cell, ...]] = [
        (e.item, e.state, "; ".join(e.reasons) or "nothing found", e.panel_right, e.people, e.people_right)
        for e in result.verdicts
    ]
    columns = ("item", "verdict", "because", "models right", "people", "people right")
    page.heading("Drafts").table(columns, rows, caption="Every draft", sortable=True)
    fits = [(e.item, e.difficulty, e.discrimination) for e in result.panel.parameters().values()]
    if fits:
        page.heading("Difficulty and discrimination").text(FITTED)
        page.table(("item", "difficulty", "discrimination"), fits, sortable=True)
    if result.panel.panelists:
        table = _panel_table(result.panel)
        page.heading("Panel").table(table.columns, table.rows, caption="Who answered the drafts")
    page.heading("Audit")
    for table in result.audit.summary().tables:
        page.table(table.columns, table.rows, caption="Ways to guess without reading")
    return page


State = Literal["kept", "revise", "dropped"]
Reasons = dict[str, list[tuple[State, str]]]
LEAST_MODELS = 3
"""The number of models that must all be right before an item counts as too easy."""
SOUND = 0.7
"""The share of people who must choose the keyed answer."""
_HOPELESS = 0.5
FLAT = 0.5
"""An item whose discrimination is certainly below this separates nobody."""


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """One draft: its verdict, the reasons, and what panel and people did with it."""

    item: str
    state: State
    reasons: tuple[str, ...]
    panel_right: float | None
    people: int
    people_right: float | None
    parameters: ItemParameters | None


def judge_drafts(
    items: ItemSet,
    problems: Sequence[SetProblem],
    giveaways: Sequence[Giveaway],
    panel: Panel,
    agreement: Sequence[ItemAgreement],
) -> list[DraftVerdict]:
    """Return a verdict per draft: the worst that any reason asks for; kept if there is none."""
    reasons: Reasons = defaultdict(list)
    pairs: dict[str, list[str]] = defaultdict(list)
    for item in items.items:
        pairs[item.pair_id].append(item.id)
    for problem in problems:
        for id in pairs.get(problem.item, [problem.item]) if problem.item else []:
            reasons[id].append(("revise", f"{problem.what}: {problem.hint}"))
    for giveaway in giveaways:
        reasons[giveaway.item].append(("revise", f"audit: {giveaway.what}"))
    _by_panel(items, panel, reasons)
    answered = {each.item: each for each in agreement if each.n}
    for each in answered.values():
        reasons[each.item] += _by_people(each)
    fitted = panel.parameters()
    return [
        _verdict(item.id, reasons[item.id], column, answered, fitted.get(item.id))
        for item, column in zip(items.items, _columns(items, panel), strict=True)
    ]


def _columns(items: ItemSet, panel: Panel) -> Iterable[list[float]]:
    """Return the responses of the models to each item."""
    for at in range(len(items.items)):
        values = [float(panel.responses[model, at]) for model in panel.models]
        yield [value for value in values if not np.isnan(value)]


def _by_panel(items: ItemSet, panel: Panel, reasons: Reasons) -> None:
    """Add what models show; discriminations only if the panel can show them."""
    fitted, mute = panel.parameters(), panel.shows_nothing
    for at, (item, column) in enumerate(zip(items.items, _columns(items, panel), strict=True)):
        if len(column) >= LEAST_MODELS and min(column) == 1.0:
            reasons[item.id].append(("dropped", f"too easy: all {len(column)} models are always right"))
        if mute:
            continue
        apart = fitted[item.id].discrimination
        if _backwards(panel, at):
            reasons[item.id].append(("revise", "the better respondents miss it more often: check the key"))
        elif apart.high is not None and apart.high < FLAT:
            reasons[item.id].append(("revise", f"separates nobody: discrimination at most {apart.high:.2f}"))


def _backwards(panel: Panel, at: int) -> bool:
    """Return whether an item goes down with the rest of the set: by its correlation, at p < 0.01."""
    column = panel.responses[:, at]
    rest = np.nanmean(np.delete(panel.responses, at, axis=1), axis=1)
    both = ~np.isnan(column) & ~np.isnan(rest)
    n = int(both.sum())
    if n < 4 or column[both].std() == 0 or rest[both].std() == 0:
        return False
    r = float(np.corrcoef(column[both], rest[both])[0, 1])
    return float(np.arctanh(np.clip(r, -0.999999, 0.999999))) * float(np.sqrt(n - 3)) < -2.326


def _by_people(each: ItemAgreement) -> list[tuple[State, str]]:
    if each.right >= SOUND:
        return []
    shown = f"{each.right:.0%} of {each.n} people chose the key"
    if each.agreed >= SOUND:
        return [("revise", f"{shown}, {each.agreed:.0%} another option: check the key")]
    if each.right < _HOPELESS:
        return [("dropped", f"{shown}, and they do not agree on another")]
    return [("revise", f"{shown}, {SOUND:.0%} are needed")]


def _verdict(
    id: str,
    found: Sequence[tuple[State, str]],
    column: Sequence[float],
    answered: Mapping[str, ItemAgreement],
    fitted: ItemParameters | None,
) -> DraftVerdict:
    states = {state for state, _ in found}
    state: State = "dropped" if "dropped" in states else "revise" if "revise" in states else "kept"
    people = answered.get(id)
    return DraftVerdict(
        id,
        state,
        tuple(why for _, why in found),
        sum(column) / len(column) if column else None,
        people.n if people else 0,
        people.right if people else None,
        fitted,
    )


LEAST_RESPONDENTS = 10
"""Models and people together, baselines not counted: fewer cannot show how an item discriminates."""
LEAST_LEARNED = 0.2
"""The share of the prior's variance of the discrimination that must be gone at the median item."""


@dataclass(frozen=True, slots=True)
class Panelist:
    """One respondent: a model, a baseline or a person, with the share right where it can be scored."""

    name: str
    kind: str
    right: float
    answered: int
    above_chance: bool
    accuracy: Interval | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """The respondents, their responses (one row each, NaN where there is none), and the fitted items."""

    panelists: tuple[Panelist, ...]
    responses: FloatArray = field(repr=False)
    fit: ResponseModel | None = field(repr=False)

    @property
    def models(self) -> list[int]:
        return [at for at, each in enumerate(self.panelists) if each.kind == "model"]

    @property
    def shows_nothing(self) -> str:
        """The reason why the panel says nothing about how items discriminate; empty if it does."""
        judges = [each for each in self.panelists if each.kind != "baseline"]
        if self.fit is None:
            return "nobody has answered the drafts"
        if len(judges) < LEAST_RESPONDENTS:
            return f"{len(judges)} models and people, fewer than {LEAST_RESPONDENTS}"
        if not any(each.above_chance for each in judges):
            return "no model and no person is significantly above chance"
        learned = float(np.median([each.learned_discrimination for each in self.fit.items]))
        if learned < LEAST_LEARNED:
            return f"its responses remove {100 * learned:.0f} % of the uncertainty at the median item"
        return ""

    def parameters(self) -> dict[str, ItemParameters]:
        """Return the fitted items by their ids."""
        return {each.item: each for each in self.fit.items} if self.fit else {}


def gather_panel(
    items: ItemSet, runs: Sequence[BenchRun], people: Mapping[str, Mapping[str, int]], seed: int = 0
) -> Panel:
    """Return the panel of runs and of people's answers (per item: person and chosen option).

    A run is one respondent however often it was asked; each person of a human run is one.
    """
    check_panel(items, runs)
    ids = [item.id for item in items.items]
    guessing = [1 / len(item.options) for item in items.items]
    chance = sum(guessing) / len(ids)
    panelists, rows = [], []
    for name, run in zip(names_of(runs) if runs else [], runs, strict=True):
        for one, answered, accuracy in _respondents(name, run, seed):
            panelists.append(_panelist(one, system_kind(run.plan.model), answered, accuracy, chance))
            rows.append([answered.get(item, np.nan) for item in ids])
    key = {item.id: item.answer for item in items.items}
    for person in sorted({name for by_person in people.values() for name in by_person}):
        given = {
            item: float(by_person[person] == key[item]) for item, by_person in people.items() if person in by_person
        }
        panelists.append(_panelist(f"person {person}", "human", given, None, chance))
        rows.append([given.get(item, np.nan) for item in ids])
    responses = np.array(rows, dtype=np.float64).reshape(len(rows), len(ids))
    names = [each.name for each in panelists]
    fit = fit_responses(responses, ids, names, guessing=guessing) if rows else None
    return Panel(tuple(panelists), responses, fit)


def check_panel(items: ItemSet, runs: Sequence[BenchRun]) -> None:
    """Raise unless every run was asked these drafts, whole, and with one prompt."""
    if runs:
        check_same(runs)
    for run in runs:
        if run.plan.set_hash != items.hash:
            raise DataError(
                f"{run.path} answers {run.plan.set} ({run.plan.set_hash[:12]}), not these drafts "
                f"({items.hash[:12]}): run them with `deadpan bench run --set DRAFTS`"
            )
        if not any(not row.error for row in run.rows):
            raise DataError(f"{run.path}: no answered row: repeat the `deadpan bench run` command")


def _respondents(name: str, run: BenchRun, seed: int) -> list[tuple[str, dict[str, float], Interval | None]]:
    """Return who answered in a run, with the share right per item: the model, or each person."""
    rows = [row for row in run.rows if not row.error]
    if system_kind(run.plan.model) != "human":
        right = {each.item: each.right for each in item_answers(rows)}
        return [(name, right, score_run(run, seed).avg)]
    people: dict[int, dict[str, float]] = {}
    for row in rows:
        people.setdefault(row.run, {})[row.item] = float(row.correct)
    return [(f"person {number}", answers, None) for number, answers in sorted(people.items())]


def _panelist(
    name: str, kind: str, answered: Mapping[str, float], accuracy: Interval | None, chance: float
) -> Panelist:
    right = sum(answered.values()) / len(answered)
    known = accuracy or wilson(round(sum(answered.values())), len(answered))
    above = known.low is not None and known.low > chance
    return Panelist(name, kind, right, len(answered), above, accuracy)
