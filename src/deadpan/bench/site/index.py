"""The front page: the finding in words, the table, the small multiples, cost, items, downloads."""

from __future__ import annotations

from collections.abc import Sequence

from deadpan.bench.comparison import Pairing
from deadpan.bench.difficulty import ItemFacts
from deadpan.bench.items import CHANCE
from deadpan.bench.site.board import Board, Entry
from deadpan.bench.site.document import document
from deadpan.bench.site.drawings import bar, cost_scatter, multiples
from deadpan.page.markup import escape
from deadpan.stats import Interval


def index_page(
    board: Board, facts: Sequence[ItemFacts], downloads: Sequence[tuple[str, str]], item_pages: bool
) -> str:
    """The whole page."""
    parts = [
        f"<header><h1>SarcBench</h1>\n<p class='lead'>{escape(finding(board))}</p></header>",
        _facts(board),
        '<h2 id="leaderboard">Leaderboard</h2>',
        _explained(board),
        _table(board),
        '<p class="sr" role="status" id="sorted"></p>',
        _left_out(board),
        "<h2>Where models are right</h2>",
        "<p>One scale from 0 to 1 for all; the broken line is chance, the whisker the 95 % interval.</p>",
        multiples(board),
        "<h2>What it costs to be right</h2>",
        "<p>Accuracy (Avg over runs) against the price of the whole run, as the provider’s price list had it "
        "on the day named in the run.</p>",
        '<div class="drawing" role="region" aria-label="Accuracy against cost" tabindex="0">'
        f"{cost_scatter(board)}</div>",
        _items(facts) if item_pages else "" if board.visibility == "public" else _private(board),
        _method(board),
        _downloads(downloads),
    ]
    return document("SarcBench leaderboard", "\n".join(part for part in parts if part), script=True)


def finding(board: Board) -> str:
    """What the table shows, in a sentence or two."""
    models = board.models
    if not models:
        return "No model has a complete run yet; below are the baselines a model has to beat."
    best = [entry for entry in models if entry.rank == 1]
    value = best[0].scores.avg.value or 0.0
    if len(models) == 1:
        words = f"{best[0].name} is right in {100 * value:.0f} % of its answers"
    elif len(best) == 1:
        words = f"{best[0].name} leads with {100 * value:.0f} % right, ahead of the rest for sure"
    else:
        names = [f"{entry.name} ({100 * (entry.scores.avg.value or 0.0):.0f} %)" for entry in best[:4]]
        more = [f"{len(best) - 4} more"] if len(best) > 4 else []
        listed = " and ".join(filter(None, [", ".join([*names, *more][:-1]), [*names, *more][-1]]))
        words = f"{listed} share the first place: this set cannot tell them apart"
    low = models[0].scores.avg.low
    luck = "" if low is None or low > CHANCE else "; no model is above chance for sure"
    return f"{words}. Chance is {100 * CHANCE:.0f} %{luck}."


def _facts(board: Board) -> str:
    # People are asked by a quiz, all others by one prompt.
    first = next((entry for entry in board.entries if entry.kind != "human"), board.entries[0]).scores
    runs = sorted({entry.scores.runs for entry in board.entries if entry.kind != "human"})
    dates = sorted({date for entry in board.entries for date in entry.scores.dates if date})
    when = dates[0] if len(set(dates)) == 1 else f"{dates[0]} to {dates[-1]}" if dates else "unknown"
    shown = [
        (board.set, "set"),
        (board.set_hash[:12], "set hash"),
        (f"{first.n} in {first.families} families", "questions"),
        (" or ".join(str(run) for run in runs) or "–", "runs each"),
        (first.prompt, "prompt"),
        (when, "asked"),
    ]
    return '<ul class="facts">' + "".join(
        f"<li><b>{escape(value)}</b><span>{escape(name)}</span></li>" for value, name in shown
    ) + "</ul>"  # fmt: skip


def _explained(board: Board) -> str:
    return (
        "<p>Models share a rank where they do not differ for sure (paired by question, families resampled "
        "whole, Holm over all pairs). Press a heading to sort.</p>"
    )


COLUMNS = (
    ("rank", "#", "ascending", False),
    ("who", "Model", "ascending", False),
    ("avg", "Right", "descending", True),
    ("said", "Row above", "", False),
    ("maj", "Majority", "descending", True),
    ("pairs", "Both of a pair", "descending", True),
    ("same", "Same letter", "descending", True),
    ("cost", "Cost", "ascending", True),
    ("seconds", "Seconds", "ascending", True),
    ("faults", "Not read", "ascending", True),
)


def _table(board: Board) -> str:
    head = []
    for name, words, first, number in COLUMNS:
        kinds = " ".join(kind for kind in (name if name == "rank" else "", "n" if number else "") if kind)
        shown = f'<button type="button">{words}</button>' if first else f"<span>{words}</span>"
        sort = ' aria-sort="descending"' if name == "avg" else ""
        extra = f' data-first="{first}"' if first else ""
        head.append(f'<th scope="col" class="{kinds}"{extra}{sort}>{shown}</th>')
    rows = [_row(entry) for entry in board.entries]
    if board.human is None:
        rows.insert(0, _pending())
    at = next(
        (i for i, e in enumerate(board.entries) if (e.scores.avg.value or 0) < CHANCE), len(board.entries)
    )
    rows.insert(at + (board.human is None), _chance())
    return (
        '<div class="table" role="region" aria-labelledby="leaderboard" tabindex="0">'
        '<table class="board sortable" data-home="2"><thead><tr>'
        f"{''.join(head)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _row(entry: Entry) -> str:
    scores = entry.scores
    rank = f"{entry.rank}{'=' if entry.tied else ''}" if entry.rank else "–"
    returned = ", ".join(scores.returned)
    note = f"answered as {returned}" if returned and entry.name not in returned else ""
    ties = f"{scores.ties} tie{'s' if scores.ties > 1 else ''}" if scores.ties else ""
    cost = "unknown" if scores.cost is None else "free" if not scores.cost else f"${scores.cost:.2f}"
    if scores.cost and scores.cost < 0.01:
        cost = f"${scores.cost:.4f}"
    faults = (scores.unread, scores.truncated, scores.refused)
    named_faults = [
        f"{100 * rate:.1f} % {word}"
        for rate, word in zip(faults, ("unread", "cut off", "refused"), strict=True)
        if rate
    ]
    again = f"{100 * scores.escalated:.1f} % asked again" if scores.escalated else ""
    human = entry.kind == "human"
    people = f"{scores.runs} people" if human else entry.provider
    cells = [
        _cell("rank", rank, entry.rank or None),
        f'<th scope="row" class="who" data-v="{escape(entry.name)}"><b>{escape(entry.name)}</b>'
        f"<span>{escape(people)}</span>{_small(note)}</th>",
        _score_cell(scores.avg, whisker=True),
        f'<td class="said"><span>{_against(entry.above)}</span></td>',
        _score_cell(scores.maj, ties),
        _score_cell(scores.pairs),
        _score_cell(scores.letter_consistency),
        _cell("n", "–" if human else cost, None if human else scores.cost),
        _cell("n", "–" if human else f"{scores.seconds:.2f}", None if human else scores.seconds),
        _cell("n", f"{100 * sum(faults):.1f} %", sum(faults), *named_faults, again),
    ]
    kind = "" if entry.kind == "model" else ' class="aside"'
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _cell(kind: str, text: str, value: float | None, *notes: str) -> str:
    data = "" if value is None else f' data-v="{value:.6g}"'
    return f'<td class="{kind}"{data}>{escape(text)}{"".join(map(_small, notes))}</td>'


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""


def _score_cell(interval: Interval, note: str = "", whisker: bool = False) -> str:
    if interval.value is None:
        return '<td class="n">–</td>'
    places = 3 if whisker else 2
    around = ""
    if interval.low is not None and interval.high is not None:
        around = f"<small>[{interval.low:.{places}f}, {interval.high:.{places}f}]</small>"
    drawn = bar(interval) if whisker else ""
    return (
        f'<td class="n" data-v="{interval.value:.6g}"><b>{interval.value:.{places}f}</b>{around}{drawn}'
        f"{_small(note)}</td>"
    )


def _against(pair: Pairing | None) -> str:
    if pair is None:
        return "–"
    gap = f"p\u00a0=\u00a0{pair.p_holm:.3f}" if pair.p_holm >= 0.001 else "p\u00a0&lt;\u00a00.001"
    size = abs(pair.difference.value or 0.0)
    if pair.differ:
        return f"<b>lower by {100 * size:.1f} points</b> ({gap})"
    return f"not different ({gap})"


def _empty_row(name: str, provider: str, avg: str, value: str, said: str) -> str:
    rest = '<td class="n">–</td>' * 6
    return (
        f'<tr class="aside"><td class="rank">–</td><th scope="row" class="who" data-v="{name}"><b>{name}</b>'
        f'<span>{provider}</span></th><td class="n"{value}>{avg}</td>'
        f'<td class="said"><span>{said}</span></td>{rest}</tr>'
    )


def _pending() -> str:
    return _empty_row("People", "human baseline", "pending", "", "no answers by people yet")


def _chance() -> str:
    drawn = bar(Interval(CHANCE, None, None, 0.95, 6))
    value = f' data-v="{CHANCE:.6g}"'
    return _empty_row("Chance", "one of six options", f"<b>{CHANCE:.3f}</b>{drawn}", value, "a pair: 0.03")


def _left_out(board: Board) -> str:
    if not board.left_out:
        return ""
    lines = "".join(f"<li>{escape(name)}: {escape(why)}</li>" for name, why in board.left_out)
    return f'<div class="note"><p>Not on the board:</p><ul>{lines}</ul></div>'


def _items(facts: Sequence[ItemFacts]) -> str:
    if not facts:
        return '<h2>Items</h2><p><a href="items/index.html">All items with every answer</a></p>'
    right = sum(each.state == "dead: all right" for each in facts)
    wrong = sum(each.state == "dead: all wrong" for each in facts)
    hard = sorted(facts, key=lambda each: each.easiness)[:5]
    lines = "".join(
        f'<li><a href="items/{escape(each.item)}.html">{escape(each.item)}</a> '
        f'<span class="dim">{escape(each.category.replace("_", " "))}, {100 * each.easiness:.0f} % right'
        f"{f', {each.tempting} tempts' if each.tempting else ''}</span></li>"
        for each in hard
    )
    return (
        "<h2>Which items separate models</h2>"
        f"<p>Of {len(facts)} items, {len(facts) - right - wrong} separate the models here; {right} were "
        f"always right and {wrong} always wrong for all of them. The hardest:</p><ul>{lines}</ul>"
        '<p><a href="items/index.html">All items with every answer</a></p>'
    )


def _private(board: Board) -> str:
    return (
        f"<h2>Items</h2><p>The set is {escape(board.visibility)}: its items and the answers to them are not "
        "shown anywhere, only what they add up to.</p>"
    )


def _method(board: Board) -> str:
    lines = (
        "The question is the unit, not the run: a score is the mean over questions of the share of runs that "
        "got it right, and intervals resample whole families (a minimal pair is one).",
        "Right is Avg@k. Same letter: the share of questions with one and the same letter in all runs. "
        "Seconds: the median answer.",
        "Majority (Maj@k) is the letter most runs gave; a tie is not right and is counted.",
        "What could not be read, was cut off at the largest limit or was refused is not right, stays in the "
        "denominator and is shown. A cut-off answer is asked again with a larger limit first.",
        "Not read: the share of answers that were unread, cut off or refused; those asked again with a "
        "larger limit are named, since their score needed it.",
        "Runs with a missing row stay off this page.",
        "Both of a pair: the two items differ in one small change that flips the answer; by luck 1 in 36.",
    )
    return "<h2>How to read it</h2><ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _downloads(downloads: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f'<li><a href="{escape(href)}">{escape(words)}</a></li>' for href, words in downloads)
    return f"<h2>Download</h2><ul>{lines}</ul>"
