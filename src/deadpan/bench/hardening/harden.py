"""The hardening loop: drafts, findings, panel and people in; kept, revised and dropped items out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deadpan.bench.api import run_bench
from deadpan.bench.hardening.panel import Panel, gather_panel
from deadpan.bench.hardening.verdicts import SOUND, DraftVerdict, judge_drafts
from deadpan.bench.items.audit import SetAudit, audit_set
from deadpan.bench.items.item import write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.items.validation import SetProblem, validate_set
from deadpan.bench.runs.folder import BenchRun, find_runs, make_folder
from deadpan.bench.runs.humans import latest_answers, read_answers
from deadpan.bench.runs.run import Watch
from deadpan.bench.scores.agreement import item_agreement
from deadpan.bench.scores.score import kind_of
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.page import Page, Table
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.records import Item, Judgment
from deadpan.results import Result
from deadpan.storage import manifest_path, write_json, write_manifest
from deadpan.validation import encode

REPORT, PAGE, KEPT, PANEL = "hardening.json", "index.html", "kept.jsonl", "panel"
LEAST_PEOPLE = 3
SHOWN_ITEMS = 15
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
            "abilities": self.panel.fit.as_dict()["abilities"] if self.panel.fit else {},
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
                (each.item, each.state, "; ".join(each.reasons)) for each in left[:SHOWN_ITEMS]
            )
            more = f" (the first {SHOWN_ITEMS} of {len(left)})" if len(left) > SHOWN_ITEMS else ""
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
        notes.append(f"Report: {self.out / PAGE}")
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
    if people and any(kind_of(run.plan.model) == "human" for run in runs):
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
    result = HardenedSet(
        out, opened.label, opened.hash, tuple(verdicts), findings, audit, panel, tally, recorded
    )
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
    (result.out / KEPT).unlink(missing_ok=True)
    names = {each.item for each in result.verdicts if each.state == "kept"}
    kept = _singled([item for item in items.items if item.id in names])
    if kept:
        write_items(result.out / KEPT, kept)
    write_json(result.out / REPORT, result.as_dict())
    harden_page(result).write(result.out / PAGE)
    config = {"set": result.set, "set_hash": result.set_hash,
              "panel": [each.name for each in result.panel.panelists]}  # fmt: skip
    write_manifest(result.out, command="bench harden", config=config, seed=seed, counts=result.counts)


def _singled(kept: Sequence[Item]) -> list[Item]:
    """Return the kept items; one that lost the other half of its pair becomes a single item."""
    sizes = Counter(item.pair_id for item in kept)
    return [item if sizes[item.pair_id] > 1 else replace(item, pair_id="") for item in kept]


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
