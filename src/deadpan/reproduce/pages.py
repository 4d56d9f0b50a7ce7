"""Pages of a reproduction: an overview, and one page per paper with every cell and its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from deadpan.errors import MissingExtra
from deadpan.page import Cell, Link, Page
from deadpan.reproduce.published import PAPERS, Exhibit
from deadpan.reproduce.reproduction import JudgedCell, PaperReproduction, Reproduction
from deadpan.reproduce.verdicts import MARKS, WORDS
from deadpan.reproduce.workshop import ReproductionOptions
from deadpan.storage import Mark, OutputPage, write_json, write_manifest
from deadpan.validation import encode

MANIFEST = "manifest.json"
RULES = (
    "Reproduced: the published number lies inside our 95 % confidence interval, or ours is better (precision "
    "and recall: inside only, since one is traded for the other; counts: equal in the digits published). "
    "Differs: it does not, with the reason as far as it is known. A wide interval reproduces easily: mind n."
)
PART = (
    "Where only the training part of a corpus is in the data folder, systems are tested by cross-validation "
    "inside it, and the column “how” says so. With the published test files in the folder, they are used."
)


def write_reproduction(
    result: Reproduction,
    folder: Path,
    options: ReproductionOptions,
    inputs: Iterable[Path],
    before: Mapping[str, Mark],
) -> None:
    """Write reproduction.json, index.html, a page per paper, and manifest.json last.

    `before` marks what was in the folder: files that stay the same are not listed in the manifest.
    """
    write_json(folder / "reproduction.json", result.as_dict())
    for each in result.papers:
        paper_page(each, result).write(folder / f"{each.paper.name}.html")
    overview(result).write(folder / "index.html")
    config = {name: str(value) if isinstance(value, Path) else value for name, value in _settings(options)}
    papers = [each.paper.name for each in result.papers]
    counts: dict[str, int] = {word: result.counts[word] for word in WORDS}
    write_manifest(
        folder, command=f"reproduce {' '.join(papers)}", config=config, seed=options.seed, counts=counts,
        inputs=[path for path in inputs if path.is_file()], before=before,
        about=_about(result, options.seed),
    )  # fmt: skip


def _about(result: Reproduction, seed: int) -> OutputPage:
    names = ", ".join(each.paper.short for each in result.papers)
    cells = f"{sum(result.counts.values()):,} cells"
    facts = ("quick" if result.quick else "full", cells, f"seed {seed}")
    return OutputPage(f"Papers measured again: {names}", result.headline(), facts, "index.html")


def _settings(options: ReproductionOptions) -> Iterable[tuple[str, object]]:
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        yield name, value if isinstance(value, Path) else encode(value)


def overview(result: Reproduction) -> Page:
    """Return the front page: verdicts per paper, then what is missing."""
    title = "Four papers" if len(result.papers) == len(PAPERS) else "Published results"
    page = Page(f"{title}, measured again", result.headline())
    rows: list[tuple[Cell, ...]] = [
        (
            Link(each.paper.short, f"{each.paper.name}.html"),
            *(each.counts[word] for word in WORDS),
            len(each.cells),
        )
        for each in result.papers
    ]
    columns = ("paper", *(f"{MARKS[word]} {word}" for word in WORDS), "cells")
    page.table(columns, rows, caption="Cells of tables and figures by verdict", source=MANIFEST)
    page.note(RULES)
    page.note(PART)
    if result.quick:
        page.note(
            "This is a quick reproduction: the first of five folds, networks trained for six epochs on "
            "samples of at most 3,000 texts, one random seed. Without --quick all folds and several seeds "
            "are run."
        )
    page.heading("What is needed for the rest")
    needs: dict[tuple[str, str], dict[str, None]] = {}
    for each in result.papers:
        for cell in each.cells.values():
            if cell.verdict.word.startswith("needs"):
                where = f"{each.paper.short} {cell.published.exhibit}"
                needs.setdefault((cell.verdict.word, cell.verdict.why), {})[where] = None
    rows = [
        (f"{MARKS[word]} {word}".replace(" ", "\u00a0"), why, ", ".join(where))
        for (word, why), where in needs.items()
    ]
    page.table(("verdict", "what", "for"), rows, sortable=True)
    page.bullets(
        [
            Link("Every cell as JSON", "reproduction.json"),
            Link("Command, seed, inputs: the manifest", MANIFEST),
        ]
    )
    return page


def paper_page(each: PaperReproduction, result: Reproduction) -> Page:
    """Return the page of a paper: its tables and figures in order."""
    counts = each.counts
    lead = ", ".join(f"{counts[word]:,} {word}" for word in WORDS if counts[word])
    page = Page(each.paper.title, f"{each.paper.citation}. Of {len(each.cells):,} cells: {lead}.",
                nav=(Link("All papers", "index.html"), Link("Manifest", MANIFEST)))  # fmt: skip
    for exhibit in each.paper.exhibits:
        cells = each.of(exhibit)
        if cells:
            page.heading(exhibit.title)
            _exhibit(page, exhibit, cells)
            _drawing(page, each.drawings.get(exhibit.id))
    page.note(RULES)
    page.note(PART)
    return page


def _exhibit(page: Page, exhibit: Exhibit, cells: list[JudgedCell]) -> None:
    several = len({cell.published.column for cell in cells}) > 1
    columns = (
        "cell" if several else cells[0].published.column,
        "published",
        "ours",
        "verdict",
        "how, and why",
    )
    rows: list[tuple[Cell, ...]] = []
    for cell in cells:
        why = "; ".join(filter(None, (cell.ours.how, cell.verdict.why)))
        mark = f"{MARKS[cell.verdict.word]} {cell.verdict.word}".replace(" ", "\u00a0")
        # A number with its interval gets a whisker; statements and counts are text.
        interval = cell.interval
        drawn = interval is not None and interval.low is not None and not cell.ours.text
        ours: Cell = interval if drawn else (cell.text or None)
        name = f"{cell.published.row}, {cell.published.column}" if several else cell.published.row
        rows.append((name, cell.published.text, ours, mark, why))
    numeric = ("published", "ours") if all(cell.published.value is not None for cell in cells) else ()
    page.table(columns, rows, label=exhibit.title, numeric=numeric, source=MANIFEST, sortable=True)


def _drawing(page: Page, figure: object) -> None:
    from deadpan.figures import Figure

    if not isinstance(figure, Figure):
        return
    try:
        page.figure(figure.svg(), figure.title, figure.table, source=MANIFEST)
    except MissingExtra as missing:
        page.note(str(missing))
