"""Reproduction of papers: the jobs of each, one after the other, resumed where an earlier start stopped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from deadpan.arguments import check_path
from deadpan.errors import ConfigError, DeadpanError
from deadpan.journal import Journal
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.reproduce.published import PAPERS, Measured, Paper, judge, need_from, need_of, read_paper
from deadpan.reproduce.reproduction import JudgedCell, PaperReproduction, Reproduction, write_reproduction
from deadpan.reproduce.trials import Job, ReproductionOptions, TrialRunner, wanted
from deadpan.storage import begin_folder, lock_folder

_ALL = "all"
_JOURNAL = ".journal.sqlite"
_TITLE = "reproducing, cells"


def reproduce(
    papers: str | Sequence[str],
    out: Path | str,
    *,
    only: Sequence[str] = (),
    progress: Progress = silent,
    **options: Any,
) -> Reproduction:
    """Measure every cell of some papers again and write pages, JSON and a manifest to `out`.

    `papers` are names (sarc, isarcasm, kocosa, sarcbench) or "all"; `only` names tables and figures, such as
    "table-2". The other arguments are those of `ReproductionOptions`. A cell that cannot be measured gets
    the verdict that names what it needs. The same call continues after a kill: finished trials are in
    a journal in `out`.

    reproduce("sarc", "sarc-again", data_dir="DATA", quick=True, only=["table-2"])
    """
    names = [papers] if isinstance(papers, str) else list(papers)
    read = [read_paper(name) for name in (PAPERS if _ALL in names else dict.fromkeys(names))]
    _check_only(read, only)
    settings = options_from(options)
    folder = check_path(out, "out")
    there = begin_folder(_checked(folder))
    with lock_folder(folder), Journal(folder / _JOURNAL) as journal:
        runner = TrialRunner(settings, journal, folder / ".scratch")
        before = len(journal)
        total = sum(len(wanted(paper.cells(), only)) for paper in read)
        done: list[PaperReproduction] = []
        for paper in read:
            passed = sum(len(each.cells) for each in done)
            done.append(_paper(paper, runner, only, lambda n, p=passed: progress(_TITLE, p + n, total)))
        result = Reproduction(tuple(done), settings.quick, len(settings.all_seeds), before, folder)
        write_reproduction(result, folder, settings, runner.read, there)
    return result


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


def _paper(paper: Paper, runner: TrialRunner, only: Sequence[str], tell: Any) -> PaperReproduction:
    jobs: list[Job] = import_module(f"deadpan.reproduce.{paper.name}").jobs(runner.options)
    cells = {cell.id: cell for cell in wanted(paper.cells(), only)}
    judged: dict[str, JudgedCell] = {}
    drawings: dict[str, Any] = {}
    tell(0)
    for job in jobs:
        ids = [id for id in job.cells if id in cells]
        if not ids:
            continue
        try:
            measured = job.work(runner)
            judged |= {id: _judged(cells[id], measured, job.name) for id in ids}
            drawings |= {exhibit: draw(runner) for exhibit, draw in job.draws.items()}
        except DeadpanError as missing:
            need = need_of(missing)
            judged |= {id: JudgedCell(cells[id], Measured(), need, job.name) for id in ids if id not in judged}
        tell(len(judged))
    for id, cell in cells.items():
        if id not in judged:
            judged[id] = JudgedCell(cell, Measured(), need_from(cell.needs))
    tell(len(judged))
    ordered = {id: judged[id] for id in cells}
    return PaperReproduction(paper, ordered, drawings)


def _judged(cell: Any, measured: Mapping[str, Measured], job: str) -> JudgedCell:
    ours = measured[cell.id]
    return JudgedCell(cell, ours, judge(cell, ours), job)
