"""A report: outputs found and checked, an index of findings, a copy of every output's own pages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan import __version__
from deadpan.arguments import check_path
from deadpan.errors import ConfigError, DataError
from deadpan.page import Cell, Link, Page, Summary, Table
from deadpan.results import Result
from deadpan.storage import (
    Manifest,
    OutputPage,
    atomic,
    digest,
    file_marks,
    manifest_path,
    read_json,
    read_manifest,
    save_manifest,
    write_manifest,
)

MANIFEST = "manifest.json"
HASHED = 256 * 2**20
"""Bytes of an output whose hashes are checked; of larger files only the size is."""


@dataclass(frozen=True, slots=True)
class Output:
    """A folder that a command wrote. `problem` says why its numbers are not shown; empty if they are."""

    name: str
    folder: Path
    manifest: Manifest
    problem: str = ""

    @property
    def command(self) -> str:
        """The command that wrote the folder."""
        return self.manifest.command

    @property
    def source(self) -> str:
        """The page of its manifest in the site."""
        return f"{self.name}/manifest.html"

    @property
    def about(self) -> OutputPage:
        """The words of the output: its own, or those of its manifest; or why its numbers are not shown."""
        manifest = self.manifest
        if self.problem:
            return OutputPage(self.name, f"Its numbers are not shown: {self.problem}.", ("not shown",), "")
        if manifest.about:
            return manifest.about
        files = f"{len(manifest.files):,} {'file' if len(manifest.files) == 1 else 'files'}"
        counts = [f"{n:,} {name.replace('_', ' ')}" for name, n in list(manifest.counts.items())[:3]]
        seed = [] if manifest.seed is None else [f"seed {manifest.seed}"]
        own = next((name for name in ("report.html", "index.html") if name in manifest.files), "")
        facts = (manifest.command, *counts, *seed)
        return OutputPage(self.name, f"Written by deadpan {manifest.command}: {files}.", facts, own)


def find_outputs(folders: Sequence[Path]) -> list[Output]:
    """Return the outputs in some folders, in their order; folders without any are an error.

    A manifest that is not ours, or that cannot be read, is an output with a problem and no command. An
    output inside another one, such as a step of a run, is part of it and not listed.
    """
    found: list[Output] = []
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: no such folder: give folders that deadpan wrote")
        manifests = _outermost(sorted(folder.rglob(MANIFEST)))
        if not manifests:
            raise DataError(f"{folder}: no manifest.json in it, so deadpan did not write it, or was stopped")
        for path in manifests:
            if all(path.parent.resolve() != each.folder.resolve() for each in found):
                found.append(_output(path.parent, folder, {each.name for each in found}))
    if not any(output.command for output in found):
        raise DataError(found[0].problem)
    return found


def _outermost(paths: Sequence[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in sorted(paths, key=lambda each: (len(each.parts), each)):
        hidden = any(part.startswith(".") for part in path.parts[-4:-1] if part not in (".", ".."))
        if not hidden and not any(path.is_relative_to(other.parent) for other in kept):
            kept.append(path)
    return kept


def _output(folder: Path, root: Path, taken: set[str]) -> Output:
    parts = folder.resolve().relative_to(root.resolve().parent).parts
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.") or "output"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    try:
        manifest = read_manifest(folder)
    except DataError as bad:
        return _unreadable(name, folder, str(bad))
    return Output(name, folder, manifest, check(folder, manifest))


def _unreadable(name: str, folder: Path, problem: str) -> Output:
    """Return an output whose manifest has unknown fields: of a newer version, damaged, or not of ours."""
    try:
        raw = read_json(folder / MANIFEST)
    except DataError:
        raw = None
    if not isinstance(raw, dict) or not isinstance(raw.get("command"), str):
        return Output(name, folder, Manifest(command="", version=""), problem)
    version = str(raw.get("version", ""))
    manifest = Manifest(command=raw["command"], version=version)
    return Output(name, folder, manifest, _newer(version) or problem)


def check(folder: Path, manifest: Manifest) -> str:
    """Return why an output cannot be shown: written by a newer version, or changed since; empty if it can."""
    if newer := _newer(manifest.version):
        return newer
    left = HASHED
    for name, facts in sorted(manifest.files.items(), key=_listed_size):
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            return f"manifest.json names a file outside of the folder, {name}"
        if not path.is_file():
            return f"{name}, which manifest.json lists, is missing: write the output again"
        size = path.stat().st_size
        left -= size
        if size != facts.get("bytes") or (left >= 0 and digest(path) != facts.get("sha256")):
            return f"{name} does not match manifest.json (changed, damaged or cut off): write the output again"
    return ""


def _listed_size(listed: tuple[str, Mapping[str, Any]]) -> int:
    size = listed[1].get("bytes")
    return size if isinstance(size, int) else 0  # a manifest that was edited may say anything


def _newer(version: str) -> str:
    if _numbers(version) > _numbers(__version__):
        return f"written by deadpan {version}, and this is {__version__}: update deadpan to read it"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


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
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (output.name, output.command, "not shown" if output.problem else "shown") for output in self.outputs
        )
        notes = [f"{number}. {text}" for number, text in enumerate(self.findings, 1)]
        notes += [f"{name} is not shown: {why}" for name, why in self.problems]
        notes.append(f"{self.pages:,} pages; open {self.out / 'index.html'}")
        return Summary((Table(("output", "written by", "state"), rows),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
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
