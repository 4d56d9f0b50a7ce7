"""A reproduction: the jobs of each paper, every published cell beside ours with its verdict, and the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from deadpan.arguments import check_path
from deadpan.errors import ConfigError, DeadpanError, MissingExtra
from deadpan.journal import Journal
from deadpan.page import Cell, Link, Page, Summary, Table
from deadpan.page.numbers import score
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.reproduce.people import check_people
from deadpan.reproduce.published import (
    LEGEND,
    MARKS,
    PAPERS,
    WORDS,
    Exhibit,
    Measured,
    Needed,
    Paper,
    PublishedCell,
    judge,
    need_from,
    need_of,
    read_paper,
)
from deadpan.reproduce.trials import Job, ReproductionOptions, TrialRunner, wanted
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.storage import Mark, OutputPage, begin_folder, lock_folder, write_json, write_manifest
from deadpan.validation import encode

# Cells that differ in the summary.
_SHOWN = 6
_MEASURED = ("reproduced", "consistent", "exceeds", "differs")
_VERBS = {"consistent": "consistent on other systems or samples", "exceeds": "better", "differs": "different"}
QUICK = "Quick: the first of five folds, small samples, few epochs, one seed; nothing of it is the full measurement."


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """A published cell, what was measured, and the verdict."""

    published: PublishedCell
    ours: Measured
    verdict: Needed
    job: str = ""

    @property
    def interval(self) -> Interval | None:
        """Our value on the published scale."""
        value, scale = self.ours.value, self.published.scale
        if value is None or value.value is None:
            return value
        low, high = (None if end is None else end * scale for end in (value.low, value.high))
        return Interval(value.value * scale, low, high, value.level, value.n, value.why)

    @property
    def text(self) -> str:
        """Our value as people read it, with as many decimals as the paper has."""
        if self.ours.text:
            return self.ours.text
        interval = self.interval
        if interval is None:
            return ""
        if interval.low is None and interval.value is not None and self.published.judged == "count":
            return f"{interval.value:,.{self.published.decimals}f}"
        return score(interval, None if self.published.value is None else max(self.published.decimals, 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the cell for JSON."""
        interval = self.interval
        return {
            "id": self.published.id, "row": self.published.row, "column": self.published.column,
            "published": self.published.said if self.published.value is None else self.published.value,
            "published_text": self.published.text,
            "ours": None if interval is None else interval.as_dict(), "ours_text": self.text,
            "verdict": self.verdict.word, "why": self.verdict.why, "how": self.ours.how, "job": self.job,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PaperReproduction:
    """A paper with a judged cell for every published one; `drawings` are figures by exhibit."""

    paper: Paper
    cells: Mapping[str, JudgedCell] = field(repr=False)
    drawings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def of(self, exhibit: Exhibit) -> list[JudgedCell]:
        """Return the cells of a table or figure, in order."""
        return [self.cells[cell.id] for cell in exhibit.cells if cell.id in self.cells]

    @property
    def counts(self) -> Counter[str]:
        """Cells by verdict."""
        return Counter(cell.verdict.word for cell in self.cells.values())

    def as_dict(self) -> dict[str, Any]:
        """Return every exhibit with its cells."""
        exhibits = [
            {"id": each.id, "title": each.title, "cells": [cell.as_dict() for cell in self.of(each)]}
            for each in self.paper.exhibits
            if self.of(each)
        ]
        return {
            "name": self.paper.name, "short": self.paper.short, "title": self.paper.title,
            "citation": self.paper.citation,
            "counts": dict(self.counts), "exhibits": exhibits,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction(Result):
    """The papers that were measured again."""

    papers: tuple[PaperReproduction, ...]
    quick: bool
    seeds: int
    resumed: int
    out: Path | None = None

    def __repr__(self) -> str:
        names = ", ".join(each.paper.name for each in self.papers)
        return f"<Reproduction of {names}: {self.counts['reproduced']} of {len(self)} cells reproduced>"

    def __len__(self) -> int:
        return sum(len(each.cells) for each in self.papers)

    @property
    def counts(self) -> Counter[str]:
        """Cells of all papers by verdict."""
        return sum((each.counts for each in self.papers), Counter[str]())

    def cells(self) -> Iterator[tuple[str, JudgedCell]]:
        """Yield the name of the paper and every cell."""
        for each in self.papers:
            for cell in each.cells.values():
                yield each.paper.name, cell

    def headline(self) -> str:
        """Return the finding in one sentence."""
        counts = self.counts
        measured = sum(counts[word] for word in _MEASURED)
        rest = len(self) - measured - counts["stated"]
        if not measured:
            return f"None of the {len(self):,} cells could be measured: they need data, people or weights."
        others = ", ".join(f"{counts[word]:,} {_VERBS[word]}" for word in _MEASURED[1:] if counts[word])
        stated = f"; {counts['stated']:,} are statements" if counts["stated"] else ""
        return (
            f"{counts['reproduced']:,} of {measured:,} measured cells are reproduced with the same system on the "
            f"same data{f', {others}' if others else ''}{stated}; {rest:,} need data, people or weights."
        )

    def summary(self) -> Summary:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (word, *(each.counts[word] for each in self.papers)) for word in WORDS if self.counts[word]
        )
        differing = tuple(
            (f"{name} {cell.published.exhibit}, {cell.published.row}, {cell.published.column}",
             cell.published.text, cell.text)
            for name, cell in self.cells() if cell.verdict.word == "differs"
        )  # fmt: skip
        total: tuple[Cell, ...] = ("cells", *(len(each.cells) for each in self.papers))
        tables = [Table(("verdict", *(each.paper.name for each in self.papers)), (*rows, total))]
        if differing:
            tables.append(Table(("differs", "published", "ours"), differing[:_SHOWN]))
        notes = [self.headline()]
        if len(differing) > _SHOWN:
            notes.append(f"{len(differing) - _SHOWN:,} more differ: see the pages.")
        if self.quick:
            notes.append(QUICK)
        if self.resumed:
            notes.append(f"{self.resumed:,} jobs were finished by an earlier start.")
        if self.out:
            notes.append(f"Every cell with its reason: {self.out / 'index.html'}")
        return Summary(tuple(tables), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        return {
            "quick": self.quick,
            "seeds": self.seeds,
            "headline": self.headline(),
            "counts": {word: self.counts[word] for word in WORDS},
            "papers": [each.as_dict() for each in self.papers],
        }


_MANIFEST = "manifest.json"
_PART = (
    "Where only the training part of a corpus is in the data folder, systems are tested by cross-validation "
    "inside it, and the column “how” says so. With the published test files in the folder, they are used."
)


def write_reproduction(
    result: Reproduction, folder: Path, options: ReproductionOptions, inputs: Iterable[Path], before: Mapping[str, Mark]
) -> None:
    """Write reproduction.json, index.html, a page per paper, and manifest.json last.

    `before` marks what was in the folder: files that stay the same are not listed in the manifest.
    """
    write_json(folder / "reproduction.json", result.as_dict())
    for each in result.papers:
        paper_page(each, result).write(folder / f"{each.paper.name}.html")
    overview(result).write(folder / "index.html")
    config = {name: str(value) if isinstance(value, Path) else value for name, value in encode(options).items()}
    papers = [each.paper.name for each in result.papers]
    counts: dict[str, int] = {word: result.counts[word] for word in WORDS}
    facts = ("quick" if result.quick else "full", f"{len(result):,} cells", f"seed {options.seed}")
    title = f"Papers measured again: {', '.join(each.paper.short for each in result.papers)}"
    write_manifest(
        folder, command=f"reproduce {' '.join(papers)}", config=config, seed=options.seed, counts=counts,
        inputs=[path for path in inputs if path.is_file()], before=before,
        about=OutputPage(title, result.headline(), facts, "index.html"),
    )  # fmt: skip


def overview(result: Reproduction) -> Page:
    """Return the front page: verdicts per paper, then what is missing."""
    title = "Four papers" if len(result.papers) == len(PAPERS) else "Published results"
    page = Page(f"{title}, measured again", result.headline())
    rows: list[tuple[Cell, ...]] = [
        (Link(each.paper.short, f"{each.paper.name}.html"), *(each.counts[word] for word in WORDS), len(each.cells))
        for each in result.papers
    ]
    columns = ("paper", *(f"{MARKS[word]} {word}" for word in WORDS), "cells")
    page.table(columns, rows, caption="Cells of tables and figures by verdict", source=_MANIFEST)
    _legend(page)
    if result.quick:
        page.note(QUICK)
    page.heading("What is needed for the rest")
    needs: dict[tuple[str, str], dict[str, None]] = {}
    for each in result.papers:
        for cell in each.cells.values():
            if cell.verdict.word.startswith("needs"):
                where = f"{each.paper.short} {cell.published.exhibit}"
                needs.setdefault((cell.verdict.word, cell.verdict.why), {})[where] = None
    rows = [
        (f"{MARKS[word]} {word}".replace(" ", "\u00a0"), why, ", ".join(where)) for (word, why), where in needs.items()
    ]
    page.table(("verdict", "what", "for"), rows, sortable=True)
    page.bullets(
        [Link("Every cell as JSON", "reproduction.json"), Link("Command, seed, inputs: the manifest", _MANIFEST)]
    )
    return page


def paper_page(each: PaperReproduction, result: Reproduction) -> Page:
    """Return the page of a paper: its tables and figures in order."""
    counts = each.counts
    lead = ", ".join(f"{counts[word]:,} {word}" for word in WORDS if counts[word])
    page = Page(each.paper.title, f"{each.paper.citation}. Of {len(each.cells):,} cells: {lead}.",
                nav=(Link("All papers", "index.html"), Link("Manifest", _MANIFEST)))  # fmt: skip
    for exhibit in each.paper.exhibits:
        cells = each.of(exhibit)
        if cells:
            page.heading(exhibit.title)
            _exhibit(page, exhibit, cells)
            _drawing(page, each.drawings.get(exhibit.id))
    _legend(page)
    return page


def _legend(page: Page) -> None:
    rows = [(f"{MARKS[word]} {word}".replace(" ", "\u00a0"), LEGEND[word]) for word in WORDS]
    page.table(("verdict", "rule"), rows, caption="How a cell is judged")
    page.note(_PART)


def _exhibit(page: Page, exhibit: Exhibit, cells: list[JudgedCell]) -> None:
    several = len({cell.published.column for cell in cells}) > 1
    columns = ("cell" if several else cells[0].published.column, "published", "ours", "verdict", "how, and why")
    rows: list[tuple[Cell, ...]] = []
    for cell in cells:
        why = "; ".join(filter(None, (cell.ours.how, cell.verdict.why)))
        mark = f"{MARKS[cell.verdict.word]} {cell.verdict.word}".replace(" ", "\u00a0")
        # A number with its interval gets a whisker; statements and counts are text.
        interval = cell.interval
        drawn = interval is not None and interval.low is not None and not cell.ours.text
        ours: Cell = interval if drawn else (cell.text or None)
        name = f"{cell.published.row}, {cell.published.column}" if several else cell.published.row
        rows.append((name, cell.published.text, ours, mark, why))
    numeric = ("published", "ours") if all(cell.published.value is not None for cell in cells) else ()
    page.table(columns, rows, label=exhibit.title, numeric=numeric, source=_MANIFEST, sortable=True)


def _drawing(page: Page, figure: object) -> None:
    from deadpan.figures import Figure

    if not isinstance(figure, Figure):
        return
    try:
        page.figure(figure.svg(), figure.title, figure.table, source=_MANIFEST)
    except MissingExtra as missing:
        page.note(str(missing))


_ALL = "all"
_JOURNAL = ".journal.sqlite"
_TITLE = "reproducing, cells"
# Seconds from which a job counts as a training.
_TRAINING = 5.0


def reproduce(
    papers: str | Sequence[str],
    out: Path | str,
    *,
    only: Sequence[str] = (),
    progress: Progress = silent,
    on_estimate: Callable[[str], None] | None = None,
    **options: Any,
) -> Reproduction:
    """Measure every cell of some papers again and write pages, JSON and a manifest to `out`.

    `papers` are names (sarc, isarcasm, kocosa, sarcbench) or "all"; `only` names tables and figures, such as
    "table-2"; `on_estimate` gets a line about the time it takes. The other arguments are those of
    `ReproductionOptions`. A cell that cannot be measured gets the verdict that names what it needs. The same
    call continues after a kill: finished trials are in a journal in `out`.

    reproduce("sarc", "sarc-again", data_dir="DATA", quick=True, only=["table-2"])
    """
    names = [papers] if isinstance(papers, str) else list(papers)
    read = [read_paper(name) for name in (PAPERS if _ALL in names else dict.fromkeys(names))]
    exhibits = list(dict.fromkeys(exhibit.id for paper in read for exhibit in paper.exhibits))
    if strange := [name for name in only if name not in exhibits]:
        raise ConfigError(unknown("table or figure", strange[0], exhibits))
    settings = options_from(options)
    check_people(settings)
    folder = check_path(out, "out")
    ours = ("reproduction.json", _JOURNAL)
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in ours):
        raise ConfigError(f"{folder}: holds something that is not a reproduction; choose another --out")
    there = begin_folder(folder)
    with lock_folder(folder), Journal(folder / _JOURNAL) as journal:
        runner = TrialRunner(settings, journal, folder / ".scratch")
        before = len(journal)
        started = [_PaperJobs(paper, runner, only) for paper in read]
        # The cheapest first: most cells are there after a minute, whatever the trainings take.
        todo = sorted(((seconds, each, job) for each in started for seconds, job in each.jobs), key=lambda row: row[0])
        if on_estimate is not None:
            on_estimate(_estimate([seconds for seconds, _, _ in todo], settings.quick))
        total = sum(len(each.cells) for each in started)
        for _, each, job in todo:
            progress(_TITLE, sum(len(one.judged) for one in started), total)
            each.measure(job)
        result = Reproduction(
            tuple(each.finish() for each in started), settings.quick, len(settings.all_seeds), before, folder
        )
        progress(_TITLE, total, total)
        write_reproduction(result, folder, settings, runner.read, there)
    return result


def _estimate(seconds: Sequence[float], quick: bool) -> str:
    """Return what the work takes, in words."""
    trainings = sum(each >= _TRAINING for each in seconds)
    minutes = sum(seconds) / 60
    time = f"{minutes / 60:.0f} hours" if minutes >= 120 else f"{max(minutes, 1):.0f} min"
    more = "" if quick or minutes < 15 else "; --quick: minutes"
    return f"About {time} on two idle cores: {trainings:,} trainings, the cheapest cells first{more}."


def options_from(options: Mapping[str, Any]) -> ReproductionOptions:
    """Return the options, with paths as paths; a wrong name is an error that lists the names."""
    known = ReproductionOptions.__dataclass_fields__
    for name in options:
        if name not in known:
            raise ConfigError(unknown("option", name, known))
    paths = {"data_dir", "vectors", "encoder", "items", "people", "runs"}
    given: dict[str, Any] = {
        name: check_path(value, name) if name in paths and value is not None else value
        for name, value in options.items()
    }
    made = ReproductionOptions(**{"data_dir": None, **given})
    for name in sorted(paths):
        path = getattr(made, name)
        if path is not None and not path.exists():
            raise ConfigError(f"--{name.replace('_', '-')} {path}: no such file or folder")
    return made


class _PaperJobs:
    """The jobs of a paper with their seconds, and the cells that they have measured so far."""

    def __init__(self, paper: Paper, runner: TrialRunner, only: Sequence[str]) -> None:
        self.paper, self.runner = paper, runner
        self.cells = {cell.id: cell for cell in wanted(paper.cells(), only)}
        self.judged: dict[str, JudgedCell] = {}
        self.drawings: dict[str, Any] = {}
        made: list[Job] = import_module(f"deadpan.reproduce.{paper.name}").jobs(runner.options)
        chosen = [job for job in made if any(id in self.cells for id in job.cells)]
        self.jobs = [(job.seconds if self._has_data(job) else 0.0, job) for job in chosen]

    def _has_data(self, job: Job) -> bool:
        try:
            return all(self.runner.files(source) for source in job.sources)
        except DeadpanError:
            return False

    def measure(self, job: Job) -> None:
        """Do the work of a job; where it stops with an error, its cells name what they need."""
        ids = [id for id in job.cells if id in self.cells]
        try:
            measured = job.work(self.runner)
            for id in ids:
                self.judged[id] = JudgedCell(
                    self.cells[id], measured[id], judge(self.cells[id], measured[id]), job.name
                )
            self.drawings |= {exhibit: draw(self.runner) for exhibit, draw in job.draws.items()}
        except DeadpanError as missing:
            need = need_of(missing)
            missed = [id for id in ids if id not in self.judged]
            self.judged |= {id: JudgedCell(self.cells[id], Measured(), need, job.name) for id in missed}

    def finish(self) -> PaperReproduction:
        """Return every cell in the order of the paper; one without a job has the verdict it comes with."""
        for id, cell in self.cells.items():
            if id not in self.judged:
                verdict = need_from(cell.needs) if cell.needs else judge(cell, Measured())
                self.judged[id] = JudgedCell(cell, Measured(), verdict)
        return PaperReproduction(self.paper, {id: self.judged[id] for id in self.cells}, self.drawings)
