"""The board by language: the same models, ranked on the items of each language alone."""

from __future__ import annotations

from deadpan.bench.scores.languages import LANGUAGES
from deadpan.bench.site.board import Board, BoardEntry
from deadpan.bench.site.cells import cell, score_cell
from deadpan.page.markup import escape

COLUMNS = (("#", "rank"), ("Model", ""), ("Right", "n"), ("Majority", "n"), ("Both of a pair", "n"))


def language_tables(board: Board) -> str:
    """Return a table per language; nothing for a set in one language."""
    if not board.languages:
        return ""
    tables = [_table(name, part) for name, part in board.languages]
    return (
        '<h2 id="languages">By language</h2>\n<p>Ranks and intervals on the items of one language alone; '
        f"with fewer items, fewer differences are significant.</p>\n{chr(10).join(tables)}"
    )


def _table(language: str, board: Board) -> str:
    name = LANGUAGES.get(language, language)
    head = "".join(f'<th scope="col" class="{kind}"><span>{words}</span></th>' for words, kind in COLUMNS)
    rows = "\n".join(_row(entry) for entry in board.entries)
    first = board.entries[0].scores
    size = f"{first.n} questions in {first.families} families"
    label = f"language-{escape(language)}"
    return (
        f'<h3 id="{label}">{escape(name)} <small>{size}</small></h3>'
        f'<div class="table" role="region" aria-labelledby="{label}" tabindex="0"><table class="board">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(entry: BoardEntry) -> str:
    scores = entry.scores
    rank = f"{entry.rank}{'=' if entry.tied else ''}" if entry.rank else "–"
    kind = "" if entry.kind == "model" else ' class="aside"'
    return (
        f"<tr{kind}>{cell('rank', rank, entry.rank or None)}"
        f'<th scope="row" class="who"><b>{escape(entry.name)}</b></th>'
        f"{score_cell(scores.avg, chance=scores.chance)}"
        f"{score_cell(scores.maj)}{score_cell(scores.pairs)}</tr>"
    )
