"""Writing a report: the front page, a page per story, a page and a copy of every manifest."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadpan.arguments import check_path
from deadpan.errors import ConfigError, MissingExtra
from deadpan.page import Cell, Link, Page, Summary, Table
from deadpan.report.kinds import tell
from deadpan.report.manifests import manifest_page
from deadpan.report.outputs import MANIFEST, Output, find_outputs
from deadpan.report.stories import Draw, Finding, Story
from deadpan.results import Result
from deadpan.storage import (
    Manifest,
    atomic,
    file_marks,
    manifest_path,
    read_manifest,
    write_json,
    write_manifest,
)
from deadpan.validation import encode

COMMAND = "report build"
FINDINGS = 3
OWN_PAGE, OWN_SITE = "report.html", "index.html"
"""Pages that outputs bring with them: one page, or several that link to one another. They are copied."""
SITE_FILES = (".html", ".json", ".svg", ".csv", ".css", ".png")
TITLE = "Report"


@dataclass(frozen=True, slots=True)
class ReportSite(Result):
    """A site that was written."""

    out: Path
    outputs: tuple[Output, ...]
    findings: tuple[str, ...]
    pages: int
    address: str = ""
    """The address at which it is served; empty if it is only written."""

    def __repr__(self) -> str:
        return f"ReportSite({len(self.outputs)} outputs, {self.pages} pages, out={str(self.out)!r})"

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """Outputs that are not shown, and why."""
        return tuple((output.name, output.problem) for output in self.outputs if output.problem)

    def summary(self) -> Summary:
        """Return the findings, what is not shown, and the page to open."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (output.name, output.command, "not shown" if output.problem else "shown")
            for output in self.outputs
        )
        notes = [f"{number}. {text}" for number, text in enumerate(self.findings, 1)]
        notes += [f"{name} is not shown: {why}" for name, why in self.problems]
        where = f"{self.address} (Ctrl-C ends)" if self.address else self.out / "index.html"
        notes.append(f"{self.pages:,} pages; open {where}")
        return Summary((Table(("output", "written by", "state"), rows),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the outputs, findings and problems."""
        return {
            "out": str(self.out), "pages": self.pages, "findings": list(self.findings),
            "outputs": [
                {"name": each.name, "command": each.command, "problem": each.problem} for each in self.outputs
            ],
        }  # fmt: skip


def build_report(folders: Sequence[Path | str], out: Path | str, *, title: str = TITLE) -> ReportSite:
    """Write one static site about everything that some folders hold; it needs no network.

    Every output of the program in the folders is shown: corpora, runs, studies, comparisons, reproductions.
    A folder without any is an error; an output that was changed, or written by a newer version, is listed
    with the reason and without numbers.

    build_report(["runs", "comparison"], "site")
    """
    if isinstance(folders, str | Path) or not folders:
        raise ConfigError("a report needs folders that deadpan wrote: name one or more")
    target = check_path(out, "out")
    outputs = [
        each for each in find_outputs([check_path(folder, "a folder") for folder in folders])
        if each.command != COMMAND
    ]  # fmt: skip
    _prepare(target, [Path(folder) for folder in folders])
    before = file_marks(target)
    stories = tell(outputs)
    pages = 1
    for story in stories:
        pages += _write_story(target, story)
    findings = top_findings(stories)
    _front(title, stories, outputs, findings).write(target / "index.html")
    inputs = [output.folder / MANIFEST for output in outputs]
    config = {"folders": [str(folder) for folder in folders], "title": title}
    counts = {"outputs": len(outputs), "pages": pages}
    write_manifest(target, command=COMMAND, config=config, counts=counts, inputs=inputs, before=before)
    return ReportSite(target, tuple(outputs), tuple(finding.text for finding, _ in findings), pages)


def _prepare(out: Path, folders: Iterable[Path]) -> None:
    """Make the folder; remove the pages of an earlier site, and nothing else."""
    for folder in folders:
        if out.resolve() == folder.resolve() or folder.resolve().is_relative_to(out.resolve()):
            raise ConfigError(f"{out}: contains folders that the report is about: choose another --out")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is a file: choose another --out")
    if out.is_dir() and any(out.iterdir()):
        if not manifest_path(out).is_file() or read_manifest(out, any_version=True).command != COMMAND:
            raise ConfigError(f"{out}: not empty and not a report: choose another --out")
        for name in read_manifest(out, any_version=True).files:
            path = out / name
            if not Path(name).is_absolute() and ".." not in Path(name).parts:
                path.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    # By this manifest, without files, a report that is cut short can be written again.
    write_json(manifest_path(out), encode(Manifest(COMMAND)))


def top_findings(stories: Sequence[Story]) -> list[tuple[Finding, Output]]:
    """Return the three findings that matter most, each of another story, with the output it comes from."""
    candidates = [
        (max(story.findings, key=lambda finding: finding.weight), story.outputs[0])
        for story in stories
        if story.findings
    ]
    return sorted(candidates, key=lambda one: -one[0].weight)[:FINDINGS]


def _front(
    title: str,
    stories: Sequence[Story],
    outputs: Sequence[Output],
    findings: Sequence[tuple[Finding, Output]],
) -> Page:
    hidden = sum(bool(output.problem) for output in outputs)
    lead = f"{len(outputs):,} {'output' if len(outputs) == 1 else 'outputs'} of deadpan on one site."
    page = Page(title, lead + (f" {hidden:,} cannot be shown; the last table says why." if hidden else ""))
    if findings:
        page.heading("What was found")
        page.findings((finding.text, Link("source", output.source)) for finding, output in findings)
    page.heading("Results")
    page.cards((Link(story.title, story.outputs[0].home), story.lead, story.facts) for story in stories)
    page.heading("What was done")
    rows: list[tuple[Cell, ...]] = [
        (Link(output.name, output.source), f"deadpan {output.command}", output.manifest.seed,
         len(output.manifest.files), output.manifest.version, output.problem or "complete")
        for output in outputs
    ]  # fmt: skip
    columns = ("output", "command", "seed", "files", "version", "state")
    return page.table(columns, rows, caption="Every output and the command that wrote it", sortable=True)


def _write_story(out: Path, story: Story) -> int:
    """Write the page of a story, and the manifests and own pages of its outputs; return how many pages."""
    first = story.outputs[0]
    drawn = [_drawn(draw) for draw in story.figures]
    # The title of a figure that says the finding is not said again above it.
    said = any(not isinstance(each, str) and each[0] == story.lead for each in drawn)
    lead = " · ".join(story.facts) if said else story.lead
    page = Page(
        story.title, lead, nav=(Link("All results", "../index.html"), Link("Manifest", "manifest.html"))
    )
    for each in drawn:
        if isinstance(each, str):
            page.note(each)
        else:
            title, svg, numbers = each
            page.figure(svg, title, numbers, source="manifest.html")
    for told in story.tables:
        source: str | list[str] = "manifest.html"
        if told.outputs:
            source = [f"../{output.source}" for output in told.outputs]
        page.heading(told.table.title or "Numbers")
        page.table(told.table.columns, told.table.rows, label=told.table.title, numeric=told.numeric,
                   source=source, sortable=True)  # fmt: skip
    for note in story.notes:
        page.note(note)
    links = [
        Link(f"Command, seed, inputs and files of {output.name}", f"../{output.source}")
        for output in story.outputs
    ]
    pages = 1
    for output in story.outputs:
        folder = out / output.name
        folder.mkdir(parents=True, exist_ok=True)
        _copy(output.folder / MANIFEST, folder / MANIFEST)
        manifest_page(output, f"../{first.home}").write(folder / "manifest.html")
        pages += 1
        own = _own_pages(output, folder)
        if own:
            links.append(Link(f"The page that deadpan {output.command} wrote", f"../{output.name}/{own[0]}"))
            pages += sum(name.endswith(".html") for name in own)
    page.heading("Where the numbers come from").bullets(links)
    page.write(out / first.home)
    return pages


def _drawn(draw: Draw) -> tuple[str, str, Table] | str:
    """Return the title, drawing and numbers of a figure; where it cannot be drawn, what is missing."""
    try:
        figure = draw()
        return figure.title, figure.svg(), figure.table
    except MissingExtra as missing:
        return str(missing)


def _own_pages(output: Output, folder: Path) -> list[str]:
    """Copy the pages that an output has of its own; return their names in the site, the first one to open."""
    if output.problem:
        return []
    if output.has(OWN_PAGE):
        _copy(output.folder / OWN_PAGE, folder / OWN_PAGE)
        return [OWN_PAGE]
    if not output.has(OWN_SITE):
        return []
    rest = [name for name in output.manifest.files if name != OWN_SITE and name.endswith(SITE_FILES)]
    for name in (OWN_SITE, *rest, MANIFEST):
        _copy(output.folder / name, folder / "pages" / name)
    return [f"pages/{name}" for name in (OWN_SITE, *rest)]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
