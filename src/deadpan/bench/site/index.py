"""The front page: the finding, the table, small multiples, cost, items, downloads."""

from __future__ import annotations

from collections.abc import Sequence

from deadpan.bench.scores.difficulty import ItemFacts
from deadpan.bench.scores.score import LANGUAGES, MAJORITY, RunScores
from deadpan.bench.site.board import Board, BoardEntry, PartEntry, named
from deadpan.bench.site.cells import cell, score_cell, small
from deadpan.bench.site.drawings import bar, cost_scatter, multiples, token_scatter
from deadpan.bench.site.pages import about, document, families, reach, take_part
from deadpan.page.markup import escape
from deadpan.page.numbers import PValue, digits, number
from deadpan.records import Item
from deadpan.stats import Interval, PairedDifference

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def index_page(
    board: Board, facts: Sequence[ItemFacts], downloads: Sequence[tuple[str, str]], items: Sequence[Item]
) -> str:
    """Return the whole page; `items` are those that may be shown, none of a private set."""
    parts = [
        f"<header><h1>SarcBench</h1>\n<p class='lead'>{escape(finding(board))}</p></header>",
        _facts(board),
        '<h2 id="leaderboard" class="sr">Leaderboard</h2>',
        _table(board),
        '<p class="sr" role="status" id="sorted"></p>',
        _explained(board),
        families(board),
        _excluded(board),
        about(items),
        reach(board),
        _part_table(board),
        _language_tables(board),
        "<h2>Accuracy by category</h2>",
        "<p>Scales run from chance to 1; the whisker is the 95 % confidence interval, and a score below chance is "
        "at the left end.</p>",
        multiples(board),
        "<h2>Accuracy and cost</h2>",
        "<p>Accuracy (Avg over runs) against the cost of the whole run, at the provider’s prices on the date "
        "stored in the run.</p>",
        '<div class="drawing" role="region" aria-label="Accuracy against cost" tabindex="0">'
        f"{cost_scatter(board)}</div>",
        "<h2>Accuracy and tokens</h2>",
        "<p>Accuracy against the tokens that a model writes per answer, reasoning included.</p>",
        '<div class="drawing" role="region" aria-label="Accuracy against tokens" tabindex="0">'
        f"{token_scatter(board)}</div>",
        _items(facts) if items else "" if board.visibility == "public" else _private(board),
        take_part(board),
        _method(board),
        _downloads(downloads),
    ]
    return document("SarcBench leaderboard", "\n".join(part for part in parts if part), script=True)


def finding(board: Board) -> str:
    """Return what the table shows, in a sentence or two."""
    models = [entry for entry in board.models if entry.ranks]
    if not board.models:
        return "No model has a complete run yet; below are the baselines a model has to beat."
    if not models:
        return "No model is ranked: each row of the table says why."
    best = [entry for entry in models if entry.ranks and entry.ranks[0] == 1]
    value = best[0].scores.avg.value or 0.0
    if len(models) == 1:
        words = f"{best[0].name} answers {100 * value:.0f} % of the questions correctly"
    elif best[0].ranks == (1, 1):
        words = f"{best[0].name} leads with {100 * value:.0f} % right, significantly ahead of the rest"
    elif len(best) == 1:
        words = f"{best[0].name} leads with {100 * value:.0f} % right, not significantly ahead of all others"
    else:
        names = [f"{entry.name} ({100 * (entry.scores.avg.value or 0.0):.0f} %)" for entry in best[:4]]
        more = [f"{len(best) - 4} more"] if len(best) > 4 else []
        listed = " and ".join(filter(None, [", ".join([*names, *more][:-1]), [*names, *more][-1]]))
        words = f"{listed} may each be first: none of them is significantly worse than another model"
    return f"{words}. Chance is {100 * board.chance:.0f} %{_luck(board, models)}."


def _luck(board: Board, models: Sequence[BoardEntry]) -> str:
    """Return that no model has shown anything, if so: a rank alone would sound like more."""
    low = models[0].scores.avg.low
    if low is not None and low <= board.chance:
        return "; no model is significantly above chance"
    if any(entry.beats_baselines for entry in models):
        return ""
    return "; no model is significantly above all baselines"


def _facts(board: Board) -> str:
    # People take a quiz; all others get one prompt.
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
        "<p>A rank is a range: at best one after the models that are significantly better, at worst one before those "
        "that are significantly worse (paired by item, clustered on families, Holm over all pairs), widened where a "
        "model with a lower score would have a better one. A model with more than 2 % of its answers refused, cut "
        "off or unread, or with fewer runs than the others (five are enough), is shown but not ranked. Whiskers run "
        "from chance to 1. Select a heading to sort.</p>"
    )


_BOARD_COLUMNS = (
    ("rank", "#", "ascending", False),
    ("who", "Model", "ascending", False),
    ("avg", "Right", "descending", True),
    ("said", "Row above", "", False),
    ("maj", "Majority", "descending", True),
    ("pairs", "Both of a pair", "descending", True),
    ("same", "Consistency", "descending", True),
    ("cost", "Cost", "ascending", True),
    ("seconds", "Seconds", "ascending", True),
    ("faults", "Not read", "ascending", True),
)


def _table(board: Board) -> str:
    head = []
    for name, words, first, right in _BOARD_COLUMNS:
        kinds = " ".join(kind for kind in (name if name == "rank" else "", "n" if right else "") if kind)
        shown = f'<button type="button">{words}</button>' if first else f"<span>{words}</span>"
        sort = ' aria-sort="descending"' if name == "avg" else ""
        extra = f' data-first="{first}"' if first else ""
        head.append(f'<th scope="col" class="{kinds}"{extra}{sort}>{shown}</th>')
    places = score_decimals(board)
    rows = [_row(entry, places) for entry in board.entries]
    if board.human is None:
        rows.insert(0, _pending())
    at = next((i for i, e in enumerate(board.entries) if (e.scores.avg.value or 0) < board.chance), len(board.entries))
    rows.insert(at + (board.human is None), _chance(board.chance))
    return (
        '<div class="table" role="region" aria-labelledby="leaderboard" tabindex="0">'
        '<table class="board sortable" data-home="2"><thead><tr>'
        f"{''.join(head)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def score_decimals(board: Board) -> tuple[int, int, int, int]:
    """Return the decimals of the four columns of scores."""
    scores = [entry.scores for entry in board.entries]
    return (
        digits(each.avg for each in scores), digits(each.maj for each in scores),
        digits(each.pairs for each in scores), digits(each.consistency for each in scores),
    )  # fmt: skip


def _same_letter(scores: RunScores) -> Interval:
    return scores.shuffle_consistency or scores.letter_consistency


def _row(entry: BoardEntry, places: tuple[int, int, int, int]) -> str:
    scores = entry.scores
    returned = ", ".join(scores.returned)
    unranked = f"not ranked: {entry.not_ranked}" if entry.not_ranked else ""
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
    form = "" if scores.in_form in (None, 1.0) else f"{100 * (scores.in_form or 0.0):.1f} % in the asked form"
    reasoning = f"{scores.reasoning_tokens / scores.rows:,.0f} reasoning tokens" if scores.reasoning_tokens else ""
    same, shuffled = _same_letter(scores).value, scores.shuffle_consistency is not None
    letter = "" if same is None else f"same {'option, shuffled' if shuffled else 'letter'} {same:.{places[3]}f}"
    human = entry.kind == "human"
    cells = [
        cell("rank", entry.rank, entry.ranks[0] + entry.ranks[1] / 1000 if entry.ranks else None),
        f'<th scope="row" class="who" data-v="{escape(entry.name)}"><b>{escape(entry.name)}</b>'
        f"<span>{escape(_people(scores) if human else entry.provider)}</span>{small(note)}{small(unranked)}</th>",
        score_cell(scores.avg, _prompts(entry, places[0]), chance=scores.chance, decimals=places[0]),
        f'<td class="said"><span>{_against(entry.above)}</span></td>',
        score_cell(scores.maj, ties, decimals=places[1]),
        score_cell(scores.pairs, decimals=places[2]),
        score_cell(scores.consistency, letter, decimals=places[3]),
        cell("n", "–" if human else cost, None if human else scores.cost),
        cell("n", "–" if scores.seconds is None else f"{scores.seconds:.2f}", scores.seconds, reasoning),
        cell("n", f"{100 * sum(faults):.1f} %", sum(faults), *named_faults, again, form),
    ]
    kind = "" if entry.kind == "model" else ' class="aside"'
    family = "" if human else f' data-family="{escape(entry.provider)}"'
    return f"<tr{kind}{family}>{''.join(cells)}</tr>"


def _prompts(entry: BoardEntry, places: int) -> str:
    """Return the range over prompts; the score above it is that of the paper's prompt."""
    if entry.prompts is None:
        return ""
    low, high, flips = min(entry.prompts.values), max(entry.prompts.values), entry.prompts.flips.value or 0.0
    count = len(entry.prompts.scores)
    return f"{count} prompts: {low:.{places}f} to {high:.{places}f}\n{100 * flips:.0f} % of items flip"


def _people(scores: RunScores) -> str:
    """Return how many people answered, and how many of them each item."""
    least, most = scores.answers_per_item
    people = "1 person" if scores.runs == 1 else f"{scores.runs} people"
    return people if least == scores.runs else f"{people}, {least if least == most else f'{least} to {most}'} per item"


def _against(pair: PairedDifference | None) -> str:
    if pair is None:
        return "–"
    said = "p undefined" if pair.p_holm is None else PValue(pair.p_holm).equation()
    p = escape(said.replace(" ", "\u00a0"))
    size = abs(pair.difference.value or 0.0)
    if pair.significant:
        return f"<b>lower by {100 * size:.1f} points</b> ({p})"
    return f"not significantly different ({p})"


def _empty_row(name: str, provider: str, avg: str, value: str, said: str) -> str:
    rest = '<td class="n">–</td>' * 6
    return (
        f'<tr class="aside"><td class="rank">–</td><th scope="row" class="who" data-v="{name}"><b>{name}</b>'
        f'<span>{provider}</span></th><td class="n"{value}>{avg}</td>'
        f'<td class="said"><span>{said}</span></td>{rest}</tr>'
    )


def _pending() -> str:
    return _empty_row("People", "human baseline", "pending", "", "no answers by people yet")


def _chance(chance: float) -> str:
    drawn = bar(Interval(chance, None, None, 0.95, 0), chance)
    value, pair = f' data-v="{chance:.6g}"', f"a pair: {number(chance**2)}"
    return _empty_row("Chance", f"one of {_options(chance)}", f"<b>{number(chance)}</b>{drawn}", value, pair)


def _options(chance: float) -> str:
    """Return the number of options in words; items may offer different numbers of them."""
    n = 1 / chance
    if abs(n - round(n)) > 1e-6:
        return f"{n:.1f} options on average"
    return f"{_NUMBERS.get(round(n), round(n))} options"


def _excluded(board: Board) -> str:
    below = {part.scores.model for part in board.parts}
    lines = "".join(f"<li>{escape(name)}: {escape(why)}</li>" for name, why in board.excluded if name not in below)
    if not lines:
        return ""
    return f'<div class="note"><p>Not on the leaderboard:</p><ul>{lines}</ul></div>'


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
        "<h2>Items that separate models</h2>"
        f"<p>{sum(each.separates for each in facts)} of {len(facts)} items separate these models "
        "significantly (exact test over runs, false discovery rate of 5 % over items by Benjamini and "
        f"Hochberg); all models answered {right} items always right and {wrong} always wrong. On the "
        f"others, the difference may be due to chance. The hardest:</p><ul>{lines}</ul>"
        '<p><a href="items/index.html">All items with every answer</a></p>'
    )


def _private(board: Board) -> str:
    return (
        f"<h2>Items</h2><p>The set is {escape(board.visibility)}: only aggregate scores are published, no "
        "items and no answers.</p>"
    )


def _method(board: Board) -> str:
    lines = (
        "The unit is the item, not the run: a score is the mean over items of the share of runs with the "
        "right answer, and 95 % confidence intervals resample whole families (a minimal pair is one).",
        "Right is Avg@k. Consistency is the paper's rate: the share of items that are right in all runs or wrong "
        "in all runs. Same letter: the share of items with the same letter in all runs. Seconds: the median "
        "request, without waiting and retries. The people's interval resamples people and items.",
        f"Majority: {MAJORITY} The number of ties is shown.",
        "An answer is read as a person would read it: a letter, a statement such as “the answer is B”, or "
        "the option’s text. The share in exactly the form asked for is shown where it is below 100 %.",
        "Answers that are unread, refused or cut off at the largest token limit count as wrong and stay "
        "in the denominator. A cut-off answer is first requested again with a larger limit.",
        "Not read: the share of answers that were unread, cut off or refused. The share that was requested "
        "again with a larger limit is shown below it.",
        "Incomplete runs are not shown.",
        "Over several prompts: the score is that of the paper’s prompt, the line below it the lowest and the highest "
        "over all prompts. An item flips if its most frequent answer is not the same by every prompt.",
        "Both of a pair: the two items differ in one small change that flips the answer; chance is "
        f"{_one_in(board.chance**2)}.",
    )
    return "<h2>How to read it</h2><ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _one_in(share: float) -> str:
    n = 1 / share
    return f"1 in {round(n)}" if abs(n - round(n)) < 1e-6 else number(share)


def _downloads(downloads: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f'<li><a href="{escape(href)}">{escape(words)}</a></li>' for href, words in downloads)
    return f"<h2>Download</h2><ul>{lines}</ul>"


_LANGUAGE_COLUMNS = (("#", "rank"), ("Model", ""), ("Right", "n"), ("Majority", "n"), ("Both of a pair", "n"))


def _language_tables(board: Board) -> str:
    """Return a table per language; nothing for a set in one language."""
    if not board.languages:
        return ""
    tables = [_language_table(name, part) for name, part in board.languages]
    return (
        '<h2 id="languages">By language</h2>\n<p>Ranks and intervals on the items of one language alone; '
        f"with fewer items, fewer differences are significant.</p>\n{chr(10).join(tables)}"
    )


def _language_table(language: str, board: Board) -> str:
    name = LANGUAGES.get(language, language)
    places = score_decimals(board)
    rows = [_language_row(entry, places) for entry in board.entries]
    first = board.entries[0].scores
    size = f"{first.n} questions in {first.families} families"
    label = f"language-{escape(language)}"
    return f'<h3 id="{label}">{escape(name)} <small>{size}</small></h3>{_plain_table(label, _LANGUAGE_COLUMNS, rows)}'


def _plain_table(label: str, columns: Sequence[tuple[str, str]], rows: Sequence[str]) -> str:
    """Return a table that is not sorted, under the heading with the id `label`."""
    head = "".join(f'<th scope="col" class="{kind}"><span>{words}</span></th>' for words, kind in columns)
    lines = "\n".join(rows)
    return (
        f'<div class="table" role="region" aria-labelledby="{label}" tabindex="0"><table class="board">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def _language_row(entry: BoardEntry, places: tuple[int, int, int, int]) -> str:
    scores = entry.scores
    kind = "" if entry.kind == "model" else ' class="aside"'
    return (
        f"<tr{kind}>{cell('rank', entry.rank, None)}"
        f'<th scope="row" class="who"><b>{escape(entry.name)}</b></th>'
        f"{score_cell(scores.avg, chance=scores.chance, decimals=places[0])}"
        f"{score_cell(scores.maj, decimals=places[1])}{score_cell(scores.pairs, decimals=places[2])}</tr>"
    )


_PART_COLUMNS = (("Model", ""), ("Items", "n"), ("Right", "n"), ("Without reasoning", "n"), ("Difference", "n"))


def _part_table(board: Board) -> str:
    """Return the table; nothing without such runs."""
    if not board.parts:
        return ""
    return (
        '<h3 id="parts">Runs on part of the set</h3>\n<p>These runs are not on the leaderboard. Beside each '
        "is the same model without reasoning on the same items; the difference is paired by item.</p>\n"
        f"{_plain_table('parts', _PART_COLUMNS, [_part_row(part) for part in board.parts])}"
    )


def _part_row(entry: PartEntry) -> str:
    scores, gap = entry.scores, entry.gap
    direct = score_cell(entry.direct) if entry.direct else cell("n", "–", None)
    verdict = "" if gap is None else f"{'' if gap.significant else 'not '}significant"
    difference = cell("n", "–", None) if gap is None else score_cell(gap.difference, verdict)
    return (
        f'<tr><th scope="row" class="who"><b>{escape(named(scores.model)[0])}</b></th>'
        f"{cell('n', f'{scores.n} of {entry.set_size}', scores.n)}"
        f"{score_cell(scores.avg, chance=scores.chance)}{direct}{difference}</tr>"
    )
