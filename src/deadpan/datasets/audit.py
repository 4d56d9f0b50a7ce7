"""Audits: shortcuts, label noise and leaks of corpora, and the atlas of several side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.arguments import (
    check_examples,
    check_list,
    check_mapping,
    check_path,
    check_progress,
    check_seed,
    check_whole,
)
from deadpan.datasets import read_source
from deadpan.datasets.cleaning import Rescored, Rescorer, clean_examples
from deadpan.datasets.leaks import CorpusLeaks, LeakReport, find_leaks
from deadpan.datasets.noise import Cartography, LabelNoise, find_label_errors
from deadpan.datasets.reading import Reading
from deadpan.datasets.shortcuts import Shortcuts, find_shortcuts
from deadpan.draws import sample
from deadpan.errors import ConfigError, DataError
from deadpan.page.numbers import score
from deadpan.page.table import Cell, Table
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.stats.interval import Interval
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.page.summary import Summary
    from deadpan.page.table import Cell


# Examples that classifiers are trained on; of larger corpora a random sample.
_MAX_ROWS = 6_000
# Findings on a terminal; the page has all.
_FINDINGS_SHOWN = 12


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

        shown = self.report.findings[:_FINDINGS_SHOWN]
        more = len(self.report.findings) - len(shown)
        notes = [f"- {finding}" for finding in shown] + ([f"- and {more:,} more"] if more > 0 else [])
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
        found.words.value, "" if share is None else _percent(share),
    )  # fmt: skip


def audit_sources(
    sources: Sequence[str | Path],
    *,
    reading: Reading | None = None,
    out: Path | str | None = None,
    seed: int = 0,
    rows: int = _MAX_ROWS,
    rescorer: Rescorer | None = None,
    progress: Progress = silent,
) -> Atlas:
    """Audit corpora by name or table by path: leaks, shortcuts to the label, and label noise.

    With `out`, a page per corpus and one over all of them are written to that folder, with figures and
    JSON. Classifiers see at most `rows` examples per corpus. A `rescorer` scores systems on every corpus as
    it is and cleaned (`deadpan.detect.studies.rescoring.rescorer`).
    """
    from deadpan.datasets.audit_pages import write_atlas

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


ERRORS_LISTED = 12
"""Suspected label errors shown."""


@dataclass(frozen=True, slots=True, repr=False)
class CorpusAudit(Result):
    """Everything found in one corpus. Without both labels there are leaks only, and `why` says so."""

    name: str
    n: int
    leaks: CorpusLeaks
    shortcuts: Shortcuts | None
    noise: LabelNoise | None
    cartography: Cartography | None
    sampled: int
    why: str = ""

    def __repr__(self) -> str:
        return f"CorpusAudit({self.name}: {self.n:,} examples)"

    @property
    def repeated(self) -> float:
        """The share of rows that repeat the text of an earlier row or split, or nearly do; at most 1."""
        rows = sum(part.repeated + part.near for part in self.leaks.repeats) + self.across_splits
        return min(rows / self.n, 1.0) if self.n else 0.0

    @property
    def across_splits(self) -> int:
        """Rows of a later split whose text is in an earlier one."""
        return sum(overlap.right.identical + overlap.right.near for overlap in self.leaks.overlaps)

    def as_dict(self) -> dict[str, object]:
        """Return all counts and scores, without the map of examples."""
        return {
            "name": self.name,
            "n": self.n,
            "sampled": self.sampled,
            "repeated_share": self.repeated,
            "across_splits": self.across_splits,
            "leaks": encode(self.leaks),
            "shortcuts": encode(replace(self.shortcuts, scores={})) if self.shortcuts else None,
            "label_noise": encode(self.noise) | {"trusted": self.noise.trusted} if self.noise else None,
            "why": self.why,
        }

    def summary(self) -> Summary:
        """Return the shortcuts and the label noise; the leaks are in `leaks`."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        tables: list[Table] = []
        notes = [self.why] if self.why else []
        if self.shortcuts:
            title = f"{self.name}: AUC of classifiers that see only one kind of feature"
            tables.append(Table(("only", "AUC", "explains", "n"), tuple(shortcut_rows(self.shortcuts)), title))
        if self.noise:
            notes.append(noise_sentence(self.noise))
        return Summary((*tables, *self.leaks.tables()), tuple(notes))


def shortcut_rows(shortcuts: Shortcuts) -> list[tuple[Cell, ...]]:
    """Return the rows of the table of shortcuts: the family, its AUC, and what it explains."""
    rows = [(s.family, s.auc, _percent(s.explained.value), s.auc.n) for s in (*shortcuts.families, shortcuts.together)]
    return [*rows, ("words of the text", shortcuts.words, "", shortcuts.words.n)]


def _percent(value: float | None) -> str:
    # An estimate of a share may lie outside of 0 and 1; the share cannot.
    return "" if value is None else f"{100 * min(max(value, 0.0), 1.0):.0f} %"


def noise_sentence(noise: LabelNoise) -> str:
    """Return what confident learning found, and whether planted errors say that it can be trusted."""
    flagged, found, alarms = (100 * (i.value or 0.0) for i in (noise.flagged, noise.found, noise.false_alarms))
    sentence = (
        f"Confident learning suspects {flagged:.1f} % of the labels. It finds {found:.0f} % of "
        f"the labels flipped on purpose and suspects {alarms:.0f} % of all others (AUC {noise.auc:.2f})"
    )
    if not noise.trusted:
        sentence += ": it cannot tell errors from hard examples here, so the list proves nothing"
    if noise.estimate is None:
        return f"{sentence}. How many labels are wrong cannot be estimated: flipping more did not show as many."
    low, value, high = (100 * (end or 0.0) for end in (noise.estimate.low, noise.estimate.value, noise.estimate.high))
    return (
        f"{sentence}. Up to {value:.1f} % [{low:.1f}, {high:.1f}] of the labels are wrong at random: so many "
        f"contradict the {noise.estimate.n:,} surest held-out answers."
    )


def audit_corpora(
    corpora: Mapping[str, Iterable[Example]], *, seed: int = 0, rows: int = _MAX_ROWS, progress: Progress = silent
) -> tuple[tuple[CorpusAudit, ...], LeakReport]:
    """Audit corpora given as {name: examples}; return an audit of each, and the leaks between them.

    Classifiers see at most `rows` examples of a corpus, drawn at random with whole pairs.
    """
    check_mapping(corpora, "corpora", "pass {name: examples}")
    check_seed(seed)
    check_whole(rows, "rows", 2)
    progress = check_progress(progress)
    read = {name: check_examples(examples) for name, examples in corpora.items()}
    if not read:
        raise DataError("there is nothing to audit: pass {name: examples}")
    progress("looking for duplicates", 0, len(read))
    report = find_leaks(read)
    audits = []
    for done, (leaks, examples) in enumerate(zip(report.corpora, read.values(), strict=True), 1):
        audits.append(_audit(leaks, examples, seed, rows))
        progress("auditing", done, len(read))
    return tuple(audits), report


def _audit(leaks: CorpusLeaks, examples: Sequence[Example], seed: int, rows: int) -> CorpusAudit:
    chosen = _sample(examples, rows, seed)
    try:
        shortcuts = find_shortcuts(chosen, seed)
        noise, cartography = find_label_errors(chosen, seed)
    except DataError as wrong:
        return CorpusAudit(leaks.name, len(examples), leaks, None, None, None, len(chosen), str(wrong))
    return CorpusAudit(leaks.name, len(examples), leaks, shortcuts, noise, cartography, len(chosen))


def _sample(examples: Sequence[Example], rows: int, seed: int) -> list[Example]:
    """Return a random sample of the labelled examples; pairs and sequences stay whole."""
    labelled = [example for example in examples if example.label is not None]
    if len(labelled) <= rows:
        return labelled
    units = list(dict.fromkeys(example.sequence or example.id for example in labelled))
    share = rows * len(units) // len(labelled)
    kept = set(sample(units, share, seed=seed, key=str))
    return [example for example in labelled if (example.sequence or example.id) in kept]


def rescore_corpora(
    corpora: Mapping[str, Sequence[Example]],
    audits: Sequence[CorpusAudit],
    rescorer: Rescorer,
    progress: Progress = silent,
) -> tuple[dict[str, Rescored], dict[str, str]]:
    """Clean every corpus that was audited with both labels, and score systems before and after.

    The second table says why a corpus was not scored: one label only, or too little to be divided.
    """
    found: dict[str, Rescored] = {}
    skipped: dict[str, str] = {}
    for done, audit in enumerate(audits):
        progress("rescoring", done, len(audits))
        if audit.shortcuts is None:
            skipped[audit.name] = audit.why
            continue
        try:
            cleaned = clean_examples(corpora[audit.name], name=audit.name).examples
            found[audit.name] = rescorer(corpora[audit.name], cleaned, audit.shortcuts.scores)
        except DataError as wrong:  # too little is left of it to be divided, or its ids are not unique
            skipped[audit.name] = str(wrong)
    return found, skipped


def rescored_table(found: Mapping[str, Rescored]) -> Table:
    """Return one row per corpus and system: the AUC as it is and cleaned, and what shortcuts explain."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        for system in one.before:
            share = one.explained.get(system)
            # As text: two columns of whiskers would not fit on a page.
            before, after = (score(table[system]["auc"], 2) for table in (one.before, one.after))
            rows.append((name, system, one.removed, before, after, _share(share)))
    columns = ("corpus", "system", "removed", "AUC as it is", "cleaned", "explained")
    return Table(columns, tuple(rows), "Systems on the corpus as it is and on its cleaned splits")


def _share(share: Interval | None) -> str:
    """Return a share in percent with its interval; nothing where it is undefined."""
    if share is None or share.value is None:
        return ""
    value, low, high = (None if end is None else 100 * min(max(end, 0.0), 1.0)
                        for end in (share.value, share.low, share.high))  # fmt: skip
    return f"{value:.0f} %" + ("" if low is None or high is None else f" [{low:.0f}, {high:.0f}]")


def explained_figure(found: Mapping[str, Rescored]) -> Figure:
    """Draw the share of the strongest system's score that shortcuts explain, one row per corpus."""
    from deadpan.figures.plots import whiskers

    shares: dict[str, Interval] = {}
    for name, one in found.items():
        known = {s: i for s, i in one.explained.items() if i.value is not None}
        if known:
            best = max(known, key=lambda system: one.after[system]["auc"].value or 0.0)
            shares[f"{name}, {best}"] = known[best]
    ordered = dict(sorted(shares.items(), key=lambda pair: -(pair[1].value or 0.0)))
    half = sum((share.value or 0.0) >= 0.25 for share in ordered.values())
    title = f"In {half} of {len(ordered)} corpora shortcuts explain a quarter of the best score or more"
    if len(ordered) == 1:
        title = f"Shortcuts explain {'a quarter of the best score or more' if half else 'less than a quarter'}"
    return whiskers(title, ordered, unit="share explained", mark=("nothing", 0.0))
