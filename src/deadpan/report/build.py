"""Writing a report: an index of findings, and a copy of every output's own pages with its manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadpan.arguments import check_path
from deadpan.errors import ConfigError
from deadpan.page import Cell, Link, Page, Summary, Table
from deadpan.report.outputs import MANIFEST, Output, find_outputs
from deadpan.results import Result
from deadpan.storage import Manifest, atomic, file_marks, manifest_path, read_manifest, save_manifest, write_manifest

_COMMAND = "report"
_SITE_FILES = (".html", ".json", ".svg", ".csv", ".css", ".png")
_HASH = "SHA-256, first 12 digits"


@dataclass(frozen=True, slots=True)
class ReportSite(Result):
    """A site that was written."""

    out: Path
    outputs: tuple[Output, ...]
    pages: int

    def __repr__(self) -> str:
        return f"ReportSite({len(self.outputs)} outputs, {self.pages} pages, out={str(self.out)!r})"

    @property
    def findings(self) -> tuple[str, ...]:
        """The findings of all outputs that have one."""
        return tuple(each.about.finding for each in self.outputs if each.manifest.about and not each.problem)

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """Outputs that are not shown, and why."""
        return tuple((output.name, output.problem) for output in self.outputs if output.problem)

    def summary(self) -> Summary:
        """Return the findings, what is not shown, and the page to open."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (output.name, output.command, "not shown" if output.problem else "shown") for output in self.outputs
        )
        notes = [f"{number}. {text}" for number, text in enumerate(self.findings, 1)]
        notes += [f"{name} is not shown: {why}" for name, why in self.problems]
        notes.append(f"{self.pages:,} pages; open {self.out / 'index.html'}")
        return Summary((Table(("output", "written by", "state"), rows),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the outputs, findings and problems."""
        return {
            "out": str(self.out), "pages": self.pages, "findings": list(self.findings),
            "outputs": [
                {"name": each.name, "command": each.command, "problem": each.problem} for each in self.outputs
            ],
        }  # fmt: skip


def build_report(folders: Sequence[Path | str], out: Path | str, *, title: str = "Report") -> ReportSite:
    """Write one static site about everything that some folders hold; it needs no network.

    Every output of the program in the folders is listed with the finding of its own page: corpora, runs,
    studies, comparisons, reproductions. A folder without any is an error; an output that was changed, or
    written by a newer version, is listed with the reason and without numbers.

    build_report(["runs", "comparison"], "site")
    """
    if isinstance(folders, str | Path) or not folders:
        raise ConfigError("a report needs folders that deadpan wrote: name one or more")
    target = check_path(out, "out")
    outputs = [
        each for each in find_outputs([check_path(folder, "a folder") for folder in folders])
        if each.command != _COMMAND
    ]  # fmt: skip
    _prepare(target, [Path(folder) for folder in folders])
    before = file_marks(target)
    homes, pages = {}, 1
    for output in outputs:
        folder = target / output.name
        _copy(output.folder / MANIFEST, folder / MANIFEST)
        own = _own_pages(output, folder)
        homes[output.name] = f"{output.name}/{own[0]}" if own else output.source
        manifest_page(output, own[0] if own else "").write(folder / "manifest.html")
        pages += 1 + sum(name.endswith(".html") for name in own)
    _front(title, outputs, homes).write(target / "index.html")
    inputs = [output.folder / MANIFEST for output in outputs]
    config = {"folders": [str(folder) for folder in folders], "title": title}
    counts = {"outputs": len(outputs), "pages": pages}
    write_manifest(target, command=_COMMAND, config=config, counts=counts, inputs=inputs, before=before)
    return ReportSite(target, tuple(outputs), pages)


def _prepare(out: Path, folders: Iterable[Path]) -> None:
    """Make the folder; remove the pages of an earlier site, and nothing else."""
    for folder in folders:
        if out.resolve() == folder.resolve() or folder.resolve().is_relative_to(out.resolve()):
            raise ConfigError(f"{out}: contains folders that the report is about: choose another --out")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is a file: choose another --out")
    if out.is_dir() and any(out.iterdir()):
        if not manifest_path(out).is_file() or read_manifest(out, any_version=True).command != _COMMAND:
            raise ConfigError(f"{out}: not empty and not a report: choose another --out")
        for name in read_manifest(out, any_version=True).files:
            path = out / name
            if not Path(name).is_absolute() and ".." not in Path(name).parts:
                path.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    # By this manifest, without files, a report that is cut short can be written again.
    save_manifest(manifest_path(out), Manifest(_COMMAND))


def _own_pages(output: Output, folder: Path) -> list[str]:
    """Copy the pages that an output has of its own; return their names in the site, the first one to open."""
    name = output.about.file
    if not name:
        return []
    if name != "index.html":
        _copy(output.folder / name, folder / name)
        return [name]
    # A site of several pages, which link to one another, to figures and to the manifest.
    rest = [each for each in output.manifest.files if each != name and each.endswith(_SITE_FILES)]
    for each in (name, *rest, MANIFEST):
        _copy(output.folder / each, folder / "pages" / each)
    return [f"pages/{each}" for each in (name, *rest)]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)


def _front(title: str, outputs: Sequence[Output], homes: dict[str, str]) -> Page:
    hidden = sum(bool(output.problem) for output in outputs)
    lead = f"{len(outputs):,} {'output' if len(outputs) == 1 else 'outputs'} of deadpan on one site."
    page = Page(title, lead + (f" {hidden:,} cannot be shown; the last table says why." if hidden else ""))
    page.heading("Results")
    page.cards(
        (Link(output.about.title, homes[output.name]), output.about.finding, output.about.facts) for output in outputs
    )
    page.heading("What was done")
    rows: list[tuple[Cell, ...]] = [
        (Link(output.name, output.source), f"deadpan {output.command}", output.manifest.seed,
         len(output.manifest.files), output.manifest.version, output.problem or "complete")
        for output in outputs
    ]  # fmt: skip
    columns = ("output", "command", "seed", "files", "version", "state")
    return page.table(columns, rows, caption="Every output and the command that wrote it", sortable=True)


def manifest_page(output: Output, own: str) -> Page:
    """Return everything that is needed to make an output again; `own` is the page it has, if any."""
    manifest, about = output.manifest, output.about
    seed = "" if manifest.seed is None else f", random seed {manifest.seed}"
    links = [Link("All results", "../index.html"), *([Link("The result", own)] if own else [])]
    page = Page(
        f"Where {output.name} comes from",
        f"deadpan {manifest.command}, version {manifest.version}{seed}.",
        nav=(*links, Link("As JSON", MANIFEST)),
    )
    page.note(about.finding) if output.problem else page.text(about.finding)
    page.heading("Command").code(f"deadpan {manifest.command}")
    shown = {"settings": manifest.config, "inputs": manifest.inputs}
    parts = " and ".join(name for name, there in shown.items() if there)
    given = f"the {parts} below" if parts else "no settings and no inputs"
    page.text(f"Run with {given}. The command line as typed is not recorded, because it would contain paths.")
    if manifest.config:
        rows: list[tuple[Cell, ...]] = [(name, _text(value)) for name, value in manifest.config.items()]
        page.heading("Settings").table(("setting", "value"), rows, label="Settings")
    page.heading("Inputs")
    if manifest.inputs:
        inputs: list[tuple[Cell, ...]] = [(name, found[:12]) for name, found in manifest.inputs.items()]
        page.table(("file", _HASH), inputs, label="Inputs")
    else:
        page.text("None recorded: the command read no files, or its version did not record them.")
    parts_of = {"Counts": manifest.counts, "Dropped": manifest.drops, "Changed": manifest.changes}
    for title, counts in parts_of.items():
        if counts:
            page.heading(title).table(("what", "number"), [_count(*one) for one in counts.items()], label=title)
    if manifest.files:
        files: list[tuple[Cell, ...]] = [
            (name, int(facts.get("bytes", 0)), str(facts.get("sha256", ""))[:12])
            for name, facts in manifest.files.items()
        ]
        page.heading("Files").table(("file", "bytes", _HASH), files, label="Files", sortable=True)
    return page


def _count(name: str, count: int) -> tuple[Cell, ...]:
    if name == "cost_micros":  # millionths, so that a manifest has whole numbers only
        return "cost, US $", f"{count / 1e6:,.2f}"
    return name.replace("_", " "), count


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
