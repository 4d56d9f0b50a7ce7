"""The atlas: the audits of several corpora side by side, and the texts that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.arguments import check_list, check_path, check_progress
from deadpan.datasets import read_source
from deadpan.datasets.audit.audit import ROWS, CorpusAudit, audit_corpora
from deadpan.datasets.audit.rescored import rescore_corpora, rescored_table
from deadpan.datasets.cleaning import Rescored, Rescorer
from deadpan.datasets.leaks import LeakReport
from deadpan.datasets.reading import Reading
from deadpan.errors import ConfigError
from deadpan.page.table import Cell, Table
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

FINDINGS = 12
"""Findings on a terminal; the page has all."""


@dataclass(frozen=True, slots=True, repr=False)
class Atlas(Result):
    """The audit of each corpus, the leaks between them, and the folder of pages if one was written.

    `rescored` has the scores of systems as each corpus is and cleaned, if systems were named, and `skipped`
    why a corpus has none.
    """

    audits: tuple[CorpusAudit, ...]
    report: LeakReport
    out: Path | None = None
    rescored: Mapping[str, Rescored] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Atlas({len(self.audits)} corpora, {len(self.report.findings)} findings)"

    def as_dict(self) -> dict[str, object]:
        """Return every audit and finding."""
        return {
            "corpora": [audit.as_dict() for audit in self.audits],
            "overlaps": encode(self.report.overlaps),
            "findings": list(self.report.findings),
            "rescored": {name: one.as_dict() for name, one in self.rescored.items()},
            "not_rescored": dict(self.skipped),
            "out": str(self.out) if self.out else None,
        }

    def table(self) -> Table:
        """Return one row per corpus."""
        return Table(
            ("corpus", "n", "repeated", "strongest shortcut", "AUC", "all", "words", "explained"),
            tuple(_row(audit) for audit in self.audits),
            "Shortcuts: AUC of classifiers that see nothing else",
        )

    def summary(self) -> Summary:
        """Return the table, the findings and the place of the pages."""
        from deadpan.page.summary import Summary

        said = self.report.findings[:FINDINGS]
        more = len(self.report.findings) - len(said)
        notes = [f"- {finding}" for finding in said] + ([f"- and {more:,} more"] if more > 0 else [])
        notes += [f"{audit.name}: {audit.why}" for audit in self.audits if audit.why]
        notes += [f"{name} is not rescored: {why}" for name, why in self.skipped.items()]
        tables = [self.table()] + ([rescored_table(self.rescored)] if self.rescored else [])
        if len(self.audits) == 1:
            tables += self.audits[0].summary().tables
            notes += self.audits[0].summary().notes
        if self.out:
            notes.append(f"Pages: {self.out / 'index.html'}")
        return Summary(tuple(tables), tuple(notes))


def _row(audit: CorpusAudit) -> tuple[Cell, ...]:
    found = audit.shortcuts
    repeated = f"{100 * audit.repeated:.1f} %"
    if found is None or not found.families:
        return audit.name, audit.n, repeated, "", None, None, None, ""
    best = found.families[0]
    share = found.together.explained.value
    return (
        audit.name, audit.n, repeated, best.family, best.auc.value, found.together.auc.value,
        found.words.value, "" if share is None else f"{100 * max(share, 0):.0f} %",
    )  # fmt: skip


def audit_sources(
    sources: Sequence[str | Path],
    *,
    reading: Reading | None = None,
    out: Path | str | None = None,
    seed: int = 0,
    rows: int = ROWS,
    rescorer: Rescorer | None = None,
    progress: Progress = silent,
) -> Atlas:
    """Audit corpora by name or table by path: leaks, shortcuts to the label, and label noise.

    With `out`, a page per corpus and one over all of them are written to that folder, with figures and
    JSON. Classifiers see at most `rows` examples per corpus. A `rescorer` scores systems on every corpus as
    it is and cleaned (`deadpan.detect.studies.rescoring.rescorer`).
    """
    from deadpan.datasets.audit.pages import write_atlas

    sources, progress = check_list(sources, "sources"), check_progress(progress)
    folder = None if out is None else check_path(out, "the folder")
    names = [str(source) for source in sources]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]} is named twice: name every source once")
    read = [read_source(source, reading, progress) for source in sources]
    titles = {d.name for d in read}
    corpora = {(d.name if len(titles) == len(read) else name): d.examples
               for name, d in zip(names, read, strict=True)}  # fmt: skip
    audits, report = audit_corpora(corpora, seed=seed, rows=rows, progress=progress)
    found, skipped = rescore_corpora(corpora, audits, rescorer, progress) if rescorer else ({}, {})
    atlas = Atlas(audits, report, folder, found, skipped)
    if folder:
        write_atlas(atlas, folder, seed=seed, inputs=[file for d in read for file in d.files])
    return atlas
