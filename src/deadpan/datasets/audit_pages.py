"""Pages of an audit: one per corpus, and the atlas over all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.datasets.audit import (
    ERRORS_LISTED,
    Atlas,
    CorpusAudit,
    explained_figure,
    noise_sentence,
    rescored_table,
    shortcut_rows,
)
from deadpan.datasets.noise import Cartography
from deadpan.datasets.shortcuts import Shortcuts
from deadpan.page import Link, Page
from deadpan.page.results import add_figure, output_page
from deadpan.storage import OutputPage, prepare_output, write_json, write_manifest

if TYPE_CHECKING:
    from deadpan.figures import Figure


_SHORTCUTS = (
    "Each row is a logistic regression that sees nothing but these features, scored on held-out folds; "
    "duplicates, threads and pairs are never in two folds. An AUC of 0.5 is chance. “Explains” is how much "
    "of the word model's AUC above chance disappears among examples that the features score alike."
)
_CARTOGRAPHY = (
    "Each point is an example: the probability of its label in models that did not see it, and how much "
    "that varies between cross-validations. Labels at the lower left are consistently not believed."
)

_RESCORED = (
    "Each system is scored on the corpus as it is (its published splits, or folds of single rows), and again "
    "without copies and texts with both labels, in folds that cross no thread or pair. “Explained” is "
    "how much of its AUC above chance disappears among examples that all shortcuts together score alike."
)


def write_atlas(atlas: Atlas, folder: Path, *, seed: int, inputs: Iterable[Path]) -> None:
    """Write index.html, a page per corpus, the figures, atlas.json and manifest.json."""
    before = prepare_output(folder)
    slugs = page_names([audit.name for audit in atlas.audits])
    for audit in atlas.audits:
        _corpus_page(audit, atlas, folder, slugs[audit.name]).write(folder / f"{slugs[audit.name]}.html")
    _index(atlas, folder, slugs).write(folder / "index.html")
    write_json(folder / "atlas.json", atlas.as_dict())
    write_manifest(
        folder, command="datasets audit", seed=seed, inputs=inputs, before=before,
        config={"corpora": [audit.name for audit in atlas.audits]},
        counts={audit.name: audit.n for audit in atlas.audits}, about=_about(atlas),
    )  # fmt: skip


def page_names(corpora: Iterable[str]) -> dict[str, str]:
    """Return the file name of each corpus's page, without its ending: no two alike, and none is index."""
    found: dict[str, str] = {}
    for name in corpora:
        slug = base = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "corpus"
        number = 1
        while slug.lower() in {"index", *(other.lower() for other in found.values())}:
            number += 1
            slug = f"{base}-{number}"
        found[name] = slug
    return found


def _index(atlas: Atlas, folder: Path, slugs: Mapping[str, str]) -> Page:
    page = output_page(_about(atlas))
    audited = [audit for audit in atlas.audits if audit.shortcuts]
    if audited:
        add_figure(page, folder, "shortcuts", lambda: _matrix(audited))
    table = atlas.table()
    rows = [(Link(str(row[0]), f"{slugs[str(row[0])]}.html"), *row[1:]) for row in table.rows]
    page.table(table.columns, rows, caption=table.title, numeric=("repeated", "explained"))
    page.text(_SHORTCUTS)
    if atlas.rescored or atlas.skipped:
        page.heading("Rescored on cleaned splits").text(_RESCORED)
    if any(share.value is not None for one in atlas.rescored.values() for share in one.explained.values()):
        add_figure(page, folder, "explained", lambda: explained_figure(atlas.rescored))
    if atlas.rescored:
        again = rescored_table(atlas.rescored)
        page.table(again.columns, again.rows, caption=again.title, numeric=("explained",))
        page.bullets(f"{name}: {one.design}" for name, one in atlas.rescored.items())
    for name, why in atlas.skipped.items():
        page.note(f"{name} is not rescored: {why}.")
    noisy = [(a.name, a.noise.flagged, f"{100 * (a.noise.found.value or 0):.0f} %", a.noise.auc,
              "yes" if a.noise.trusted else "no") for a in atlas.audits if a.noise]  # fmt: skip
    if noisy:
        page.heading("Label noise")
        columns = ("corpus", "suspected", "planted found", "AUC", "worth reading")
        page.table(columns, noisy, numeric=("planted found",))
    page.heading("Findings, the most severe first").bullets(atlas.report.findings)
    return page


# An AUC that a family of shallow features must reach to be called a strong shortcut.
_STRONG = 0.65
# From this share of rows with the text of an earlier row on, a random split leaks.
_MANY = 0.05


def _about(atlas: Atlas) -> OutputPage:
    worst = max(atlas.audits, key=lambda audit: audit.repeated)
    copies = f"{100 * worst.repeated:.1f} % of the texts of {worst.name} are copies. "
    found = [audit.shortcuts.families for audit in atlas.audits if audit.shortcuts]
    best = [families[0].auc for families in found if families]
    strong = sum((auc.low or 0.0) >= _STRONG for auc in best)
    corpora = "1 corpus" if len(atlas.audits) == 1 else f"{len(atlas.audits)} corpora"
    leaking = max(atlas.audits, key=lambda audit: audit.across_splits)
    across = f"{leaking.across_splits:,} texts of {leaking.name} are also in an earlier split. "
    finding = (
        (across if leaking.across_splits else "")
        + (copies if worst.repeated >= _MANY else "")
        + (
            f"In {strong} of {corpora} one family of shallow features alone reaches an AUC significantly above "
            f"{_STRONG}."
        )
    )
    facts = (corpora, f"{sum(audit.n for audit in atlas.audits):,} examples")
    return OutputPage("Leaks and shortcuts", finding, facts, "index.html")


def _corpus_page(audit: CorpusAudit, atlas: Atlas, folder: Path, slug: str) -> Page:
    splits = ", ".join(f"{split or 'no split'} {n:,}" for split, n in audit.leaks.splits.items())
    page = Page(audit.name, f"{audit.n:,} examples ({splits}).")
    own = [f for f in atlas.report.findings if audit.name in re.split(r"[\s:,/()]+", f)]
    page.heading("Findings").bullets(own or ["no leaks found"])
    if audit.why:
        page.note(audit.why)
    found, noise, where = audit.shortcuts, audit.noise, audit.cartography
    if found:
        page.heading("Shortcuts to the label")
        add_figure(page, folder, f"{slug}-shortcuts", lambda: _whiskers(found))
        page.table(("only", "AUC", "explains", "n"), shortcut_rows(found), numeric=("explains",)).text(_SHORTCUTS)
        if audit.sampled < audit.n:
            page.note(f"Classifiers saw a random {audit.sampled:,} of the {audit.n:,} examples.")
    if noise and where:
        page.heading("Label noise").text(noise_sentence(noise))
        add_figure(page, folder, f"{slug}-map", lambda: _map(where))
        page.text(_CARTOGRAPHY)
        if noise.trusted and noise.errors:
            rows = [
                (e.id, e.text, "sarcastic" if e.label else "sincere", e.margin) for e in noise.errors[:ERRORS_LISTED]
            ]
            page.table(("id", "text", "label", "margin"), rows, caption="Labels to check first")
    for table in audit.leaks.tables():
        page.table(table.columns, table.rows, caption=table.title)
    return page


def _matrix(audits: list[CorpusAudit]) -> Figure:
    from deadpan.figures.plots import heat

    families = list(dict.fromkeys(s.family for a in audits if a.shortcuts for s in a.shortcuts.families))
    columns = [*families, "all shortcuts", "words"]
    rows = []
    for audit in audits:
        assert audit.shortcuts is not None
        known = {s.family: s.auc.value for s in (*audit.shortcuts.families, audit.shortcuts.together)}
        known["words"] = audit.shortcuts.words.value
        rows.append([_hundred(known.get(name)) for name in columns])
    strong = sum(max((v or 0 for v in row[: len(families)]), default=0) >= 65 for row in rows)
    title = f"In {strong} of {len(audits)} corpora one shallow family alone reaches an AUC of 0.65"
    if len(audits) == 1:
        title = f"{'One' if strong else 'No'} shallow family alone reaches an AUC of 0.65"
    return heat(title, rows, rows=("corpus", [a.name for a in audits]), columns=("only", columns),
                unit="AUC × 100", limits=(50, 100), decimals=0)  # fmt: skip


def _hundred(value: float | None) -> float | None:
    """Return an AUC as a number of two digits, which fits a narrow cell."""
    return None if value is None else 100 * value


def _whiskers(found: Shortcuts) -> Figure:
    from deadpan.figures.plots import whiskers

    scores = {s.family: s.auc for s in (*found.families, found.together)} | {"words of the text": found.words}
    sure = [shortcut for shortcut in found.families if shortcut.gives_away]
    title = "No shallow family of features alone is better than chance"
    if sure:
        title = f"{sure[0].family.capitalize()} alone reaches an AUC of {sure[0].auc.value:.2f}"
    return whiskers(title, scores, unit="AUC on held-out folds", mark=("chance", 0.5))


def _map(where: Cartography) -> Figure:
    from deadpan.figures.plots import points

    pairs = list(zip(where.variability.tolist(), where.confidence.tolist(), strict=True))
    groups = {
        word: [pair for pair, label in zip(pairs, where.labels, strict=True) if bool(label) is truth]
        for word, truth in (("sarcastic", True), ("sincere", False))
    }
    low = sum(y < 0.25 for _, y in pairs) / len(pairs)
    title = f"{100 * low:.0f} % of the labels are consistently not believed"
    return points(
        title,
        groups,
        x_unit="variability",
        y_unit="probability of its label",
        limits=(-0.01, float(where.variability.max()) + 0.02, 0.0, 1.25),
        highest=1.0,
    )
