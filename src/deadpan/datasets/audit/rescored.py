"""Systems rescored on the cleaned splits of every corpus of an atlas.

Detectors belong to another stage, so the function that scores them is passed in:
`deadpan.detect.studies.rescoring.rescore`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from deadpan.datasets.audit.audit import CorpusAudit
from deadpan.datasets.cleaning import Rescored, Rescorer, clean_examples
from deadpan.errors import DataError
from deadpan.page.numbers import score
from deadpan.page.table import Cell, Table
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.stats.interval import Interval

if TYPE_CHECKING:
    from deadpan.figures import Figure


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
    ends = (
        "" if share.low is None or share.high is None else f" [{100 * share.low:.0f}, {100 * share.high:.0f}]"
    )
    return f"{100 * share.value:.0f} %{ends}"


def explained_figure(found: Mapping[str, Rescored]) -> Figure:
    """Draw the share of the strongest system's score that shortcuts explain, one row per corpus."""
    from deadpan.figures.scores import whiskers

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
        title = (
            f"Shortcuts explain {'a quarter of the best score or more' if half else 'less than a quarter'}"
        )
    return whiskers(title, ordered, unit="share explained", mark=("nothing", 0.0))
