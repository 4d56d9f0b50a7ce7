"""Reproduction of papers: the jobs of each, one after the other, resumed where an earlier start stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from deadpan.arguments import check_path
from deadpan.errors import ConfigError, DeadpanError
from deadpan.journal import Journal
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.reproduce.people import check_people
from deadpan.reproduce.published import PAPERS, Measured, Paper, judge, need_from, need_of, read_paper
from deadpan.reproduce.reproduction import JudgedCell, PaperReproduction, Reproduction, write_reproduction
from deadpan.reproduce.trials import Job, ReproductionOptions, TrialRunner, wanted
from deadpan.storage import begin_folder, lock_folder

_ALL = "all"
_JOURNAL = ".journal.sqlite"
_TITLE = "reproducing, cells"
_TRAINING = 5.0
"""Seconds from which a job counts as a training."""


def reproduce(
    papers: str | Sequence[str],
    out: Path | str,
    *,
    only: Sequence[str] = (),
    progress: Progress = silent,
    on_estimate: Callable[[str], None] = lambda line: None,
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
    _check_only(read, only)
    settings = options_from(options)
    check_people(settings)
    folder = check_path(out, "out")
    there = begin_folder(_checked(folder))
    with lock_folder(folder), Journal(folder / _JOURNAL) as journal:
        runner = TrialRunner(settings, journal, folder / ".scratch")
        before = len(journal)
        started = [_PaperJobs(paper, runner, only) for paper in read]
        # The cheapest first: most cells are there after a minute, whatever the trainings take.
        todo = sorted(((seconds, each, job) for each in started for seconds, job in each.jobs), key=lambda row: row[0])
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


def _checked(folder: Path) -> Path:
    """Refuse a folder that holds something else."""
    ours = ("reproduction.json", _JOURNAL)
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in ours):
        raise ConfigError(f"{folder}: holds something that is not a reproduction; choose another --out")
    return folder


def _check_only(papers: Iterable[Paper], only: Sequence[str]) -> None:
    known = list(dict.fromkeys(exhibit.id for paper in papers for exhibit in paper.exhibits))
    for name in only:
        if name not in known:
            raise ConfigError(unknown("table or figure", name, known))


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
