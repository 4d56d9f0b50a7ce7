"""The audit of one corpus: leaks, shortcuts and label noise together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deadpan.arguments import check_examples, check_mapping, check_progress, check_seed, check_whole
from deadpan.datasets.audit.noise import Cartography, LabelNoise, find_label_errors
from deadpan.datasets.audit.shortcuts import Shortcuts, find_shortcuts
from deadpan.datasets.leaks import CorpusLeaks, LeakReport, find_leaks
from deadpan.draws import sample
from deadpan.errors import DataError
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Cell

ROWS = 6_000
"""Examples that classifiers are trained on; of larger corpora a random sample."""

LISTED = 12
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
        """The share of rows that repeat the text of an earlier row, or nearly do."""
        rows = sum(part.repeated + part.near for part in self.leaks.repeats)
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
            tables.append(
                Table(("only", "AUC", "explains", "n"), tuple(shortcut_rows(self.shortcuts)), title)
            )
        if self.noise:
            notes.append(noise_sentence(self.noise))
        return Summary((*tables, *self.leaks.tables()), tuple(notes))


def shortcut_rows(shortcuts: Shortcuts) -> list[tuple[Cell, ...]]:
    """Return the rows of the table of shortcuts: the family, its AUC, and what it explains."""
    rows = [
        (s.family, s.auc, _percent(s.explained.value), s.auc.n)
        for s in (*shortcuts.families, shortcuts.together)
    ]
    return [*rows, ("words of the text", shortcuts.words, "", shortcuts.words.n)]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * max(value, 0.0):.0f} %"


def noise_sentence(noise: LabelNoise) -> str:
    """Return what confident learning found, and whether planted errors say that it can be trusted."""
    flagged, found, alarms = (
        100 * (i.value or 0.0) for i in (noise.flagged, noise.found, noise.false_alarms)
    )
    said = (
        f"Confident learning suspects {flagged:.1f} % of the labels. It finds {found:.0f} % of "
        f"the labels flipped on purpose and suspects {alarms:.0f} % of all others (AUC {noise.auc:.2f})"
    )
    if not noise.trusted:
        return f"{said}: it cannot tell errors from hard examples here, so the list proves nothing."
    rate = (
        "" if noise.estimate is None else f" About {100 * noise.estimate:.1f} % of the labels may be wrong."
    )
    return f"{said}.{rate}"


def audit_corpora(
    corpora: Mapping[str, Iterable[Example]], *, seed: int = 0, rows: int = ROWS, progress: Progress = silent
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
