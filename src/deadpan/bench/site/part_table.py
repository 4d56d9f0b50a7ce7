"""The runs on a part of the set, as a table below the leaderboard."""

from __future__ import annotations

from deadpan.bench.site.board import Board, named
from deadpan.bench.site.cells import cell, score_cell
from deadpan.bench.site.parts import PartEntry
from deadpan.page.markup import escape

COLUMNS = (("Model", ""), ("Items", "n"), ("Right", "n"), ("Without reasoning", "n"), ("Difference", "n"))


def part_table(board: Board) -> str:
    """Return the table; nothing without such runs."""
    if not board.parts:
        return ""
    head = "".join(f'<th scope="col" class="{kind}"><span>{words}</span></th>' for words, kind in COLUMNS)
    rows = "\n".join(map(_row, board.parts))
    return (
        '<h3 id="parts">Runs on part of the set</h3>\n<p>These runs are not on the leaderboard. Beside each '
        "is the same model without reasoning on the same items; the difference is paired by item.</p>\n"
        '<div class="table" role="region" aria-labelledby="parts" tabindex="0"><table class="board">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(entry: PartEntry) -> str:
    scores, gap = entry.scores, entry.gap
    direct = score_cell(entry.direct) if entry.direct else cell("n", "–", None)
    verdict = "" if gap is None else f"{'' if gap.significant else 'not '}significant"
    difference = cell("n", "–", None) if gap is None else score_cell(gap.difference, verdict)
    return (
        f'<tr><th scope="row" class="who"><b>{escape(named(scores.model)[0])}</b></th>'
        f"{cell('n', f'{scores.n} of {entry.set_size}', scores.n)}"
        f"{score_cell(scores.avg, chance=scores.chance)}{direct}{difference}</tr>"
    )
