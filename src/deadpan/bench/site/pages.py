"""The frame of every page, and what it is about: the introduction, items to try, one page per item."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from deadpan import __version__
from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import NARRATORS, REASONED, TEMPLATES, ZERO_SHOT
from deadpan.bench.items.sets import shipped
from deadpan.bench.people import AGREEMENT
from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.runs.settings import LONGEST_EXPLANATION
from deadpan.bench.scores.difficulty import ItemFacts
from deadpan.bench.scores.score import ItemAnswers, system_kind
from deadpan.bench.site.board import Board, named
from deadpan.llm.settings import EMBEDDED_PREFIX
from deadpan.page import stylesheet
from deadpan.page.markup import escape
from deadpan.page.numbers import number
from deadpan.records import Item, Turn


@cache
def _asset(name: str) -> str:
    """Return a file that is embedded in pages."""
    return files("deadpan.bench.site").joinpath(name).read_text(encoding="utf-8")


def document(title: str, body: str, *, script: bool = False, language: str = "en", home: str = "") -> str:
    """Return a whole page. It loads nothing, and only the script with the given hash can run."""
    code = files("deadpan.page").joinpath("sort.js").read_text("utf-8") + _asset("filter.js") if script else ""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    policy = (
        f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    back = f'<nav aria-label="Site"><a href="{home}">SarcBench leaderboard</a></nav>' if home else ""
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{stylesheet()}{_asset('site.css')}</style>\n</head>\n<body>\n"
        f"{back}<main>\n{body}\n</main>\n<footer>Written by deadpan {__version__}</footer>\n"
        + (f"<script>{code}</script>\n" if script else "")
        + "</body>\n</html>\n"
    )


TRIED = 10
_SHOWN_PROMPTS = {ZERO_SHOT: "", REASONED: " with reasoning"}
_PAPER = (
    "N. Budda, SarcBench: A Pilot Benchmark for Sarcasm Understanding in Language Models. Categories, item "
    "format, runs and metrics are the paper’s; the items are not."
)


def about(items: Sequence[Item]) -> str:
    """Return what SarcBench is, in two sentences, and one worked example if items may be shown."""
    words = (
        "<h2>What it is</h2><p>SarcBench asks what a speaker means: a short scene, a remark, a question and "
        "six readings, one of which is best. Half of the difficulty is knowing when a remark that looks "
        "sarcastic is meant sincerely, so most items have a twin in which one small change to the scene "
        "flips the answer.</p>"
    )
    example = ""
    if items:
        item = items[0]
        example = (
            "<details><summary>One item, with its answer</summary>"
            f"{scene(item)}<p><b>{escape(item.question)}</b></p>{_options(item, answer=True)}"
            f"<p>{escape(item.difficulty)}</p></details>"
        )
    tried = f'<p><a href="try.html">Try {min(TRIED, len(items))} items yourself</a></p>' if items else ""
    return f"{words}{example}{tried}<p class='dim'>{escape(_PAPER)}</p>"


def reach(board: Board) -> str:
    """Return what the default set can tell; nothing for other sets, whose difficulty is unknown."""
    if board.set != DEFAULT_SET:
        return ""
    return (
        "<h2>What it can tell</h2><p>This set is a floor test. Two language models read it blind: the first chose the "
        "key of 232 of 236 items of a draft, whose differing pairs were removed, the second that of all 228. "
        "The set shows whether a model understands sarcasm at all, not which strong model understands it best. "
        "A harder question is about what people really wrote: of six replies to a comment, which one did its "
        "author mean sarcastically?</p>"
        '<pre tabindex="0">deadpan bench organic CORPUS --options 6 --out organic.jsonl\n'
        "deadpan bench run --set organic.jsonl --llm PROVIDER/NAME</pre>"
    )


def _options(item: Item, answer: bool) -> str:
    rows = []
    for place, option in enumerate(item.options):
        best = answer and place == item.answer
        word = ' <span class="verdict-word" lang="en">✓ the answer</span>' if best else ""
        kind = ' class="best"' if best else ""
        rows.append(f'<li{kind}><span class="letter">{LETTERS[place]}</span><p>{escape(option)}{word}</p></li>')
    return f'<ol class="options" lang="{escape(item.language)}">{"".join(rows)}</ol>'


def take_part(board: Board) -> str:
    """Return the exact prompt, and the commands that run a model and check a submission."""
    prompts = "".join(
        f"<details><summary>The prompt{_SHOWN_PROMPTS[name]}, word for word ({escape(language)})</summary>"
        f'<pre tabindex="0" lang="{escape(language)}">{escape(text)}</pre></details>'
        for (name, language), text in TEMPLATES.items()
        if name in _SHOWN_PROMPTS
    )
    known, asked, file = board.set, "", ""
    if board.set not in shipped():
        known, asked = "FILE", "FILE "
        file = f"<p>FILE is the file of {escape(board.set)}, whose hash begins with {board.set_hash[:12]}.</p>"
    commands = (
        "pip install 'deadpan[bench,llm]'\n"
        f"deadpan bench run --llm PROVIDER/NAME --set {known} --out runs\n"
        f"deadpan bench check {asked}--submission runs/PROVIDER-NAME\n"
    )
    return (
        f"<h2>Run it and send it in</h2>{prompts}{_held_to_form(board)}"
        f'<pre tabindex="0">{escape(commands)}</pre>{file}'
        "<p>A submission is the folder of one run with its manifest. The check compares the set’s hash and "
        "every item, key and row, and reports the first error. Add the folder to the others and write the "
        "board again with <code>deadpan bench site</code>.</p>"
    )


def _held_to_form(board: Board) -> str:
    """Return how models on this machine answer, if there are any: it is part of what their rows measure."""
    if not any(entry.scores.model.startswith(EMBEDDED_PREFIX) for entry in board.entries):
        return ""
    return (
        "<p>A grammar constrains the answers of models that run on this machine, so that their rows measure "
        "understanding rather than formatting: one letter or, with reasoning, up to "
        f"{LONGEST_EXPLANATION} characters of explanation and then the line with the letter. The "
        "<code>constrained</code> field of a run records this.</p>"
    )


def families(board: Board) -> str:
    """Return boxes that show or hide the models of a family; nothing for fewer than two families."""
    names = sorted({entry.provider for entry in board.entries if entry.kind == "model"})
    if any(entry.kind == "baseline" for entry in board.entries):
        names.append("baseline")
    if len(names) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" value="{escape(name)}" checked> {escape(name)}</label>' for name in names
    )
    return f'<fieldset class="families" hidden><legend>Families</legend>{boxes}</fieldset>'


def try_page(items: Sequence[Item]) -> str:
    """Return a page of items, one per family, with answers that open on request."""
    parts = [
        "<header><h1>Try it</h1><p class='lead'>Choose an option for each item, then open the answer. "
        "Nothing is recorded.</p></header>"
    ]
    for place, item in enumerate(items, 1):
        language = escape(item.language)
        parts.append(
            f"<h2>{place}</h2>{scene(item)}<p lang='{language}'><b>{escape(item.question)}</b></p>"
            f"{_options(item, answer=False)}"
            f"<details><summary>The answer</summary><p lang='{language}'><b>{LETTERS[item.answer]}</b> "
            f"{escape(item.options[item.answer])}</p><p>{escape(item.difficulty)}</p></details>"
        )
    return document("Try SarcBench", "\n".join(parts), home="index.html")


def tried_items(items: Sequence[Item]) -> list[Item]:
    """Return ten items spread over the set, at most one of each pair."""
    firsts = list({item.pair_id or item.id: item for item in reversed(items)}.values())[::-1]
    step = max(1, len(firsts) // TRIED)
    return firsts[::step][:TRIED]


Answers = Sequence[tuple[str, ItemAnswers]]
"""The names of models, baselines or people with their answers."""


def scene(item: Item) -> str:
    """Return what happened, the remark set apart, and what followed it."""
    language = f' lang="{escape(item.language)}"'
    after = f'<div class="story"{language}>{_turns(item.after)}</div>' if item.after else ""
    return (
        f'<div class="story"{language}>{_turns(item.context)}</div>'
        f'<blockquote class="remark"{language}>“{escape(item.utterance)}”'
        f"<cite>{escape(item.speaker or 'the speaker')}</cite></blockquote>{after}"
    )


def _turns(turns: Sequence[Turn]) -> str:
    return "".join(
        f"<p>{escape(turn.text)}</p>"
        if turn.speaker in NARRATORS
        else f"<p><b>{escape(turn.speaker)}:</b> “{escape(turn.text)}”</p>"
        for turn in turns
    )


def item_page(item: Item, answers: Answers, facts: ItemFacts | None, neighbours: tuple[str, str, str]) -> str:
    """Return the page of an item. `neighbours`: the ids before, after and of its pair; empty if none."""
    # Unread answers count under no letter: shares are of all answers.
    voted = Counter(letter for name, each in answers if system_kind(name) == "model" for letter in each.predictions)
    title = f"Item {item.id}"
    language = f' lang="{escape(item.language)}"'
    category = item.category.replace("_", " ")
    state = f" · {100 * facts.easiness:.0f} % of models’ answers right" if facts else ""
    body = (
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(category)}{escape(state)}</p></header>"
        f"{scene(item)}<h2{language}>{escape(item.question)}</h2>"
        f'<ol class="options"{language}>{_voted_options(item, voted)}</ol>'
        + (f"<p>Cue: <q{language}>{escape(item.cue)}</q></p>" if item.cue else "")
        + (f'<p class="note">{escape(item.difficulty)}</p>' if item.difficulty else "")
        + _who(item, answers)
        + _pager(neighbours)
    )
    return document(f"{title} · SarcBench", body, home="../index.html")


def _voted_options(item: Item, voted: Counter[str]) -> str:
    total = voted.total()
    rows = []
    for place, option in enumerate(item.options):
        letter = LETTERS[place]
        best = place == item.answer
        word = '<span class="verdict-word" lang="en">✓ the answer</span>' if best else ""
        if item.mistakes and item.mistakes[place]:
            word = f'<small class="dim" lang="en">{escape(item.mistakes[place])}</small>'
        share = voted[letter] / total if total else 0.0
        drawn = (
            f'<div class="share" lang="en"><i style="width:{100 * share:.0f}px"></i>{100 * share:.0f} % of '
            f"models’ answers</div>"
            if total
            else ""
        )
        rows.append(
            f"<li{' class=best' if best else ''}><span class='letter'>{letter}</span>"
            f"<p>{escape(option)} {word}</p>{drawn}</li>"
        )
    return "".join(rows)


def _who(item: Item, answers: Answers) -> str:
    if not answers:
        return ""
    rows = []
    for name, each in answers:
        shown = "".join(f"<b>{letter}</b>" if letter == each.answer else (letter or "·") for letter in each.predictions)
        rows.append(
            f"<tr><th scope='row'>{escape(named(name)[0])}</th><td class='runs'>{shown}</td>"
            f"<td class='n'>{number(each.right)}</td></tr>"
        )
    doubted = any(
        system_kind(name) == "human" and len(each.predictions) > 1 and each.right < AGREEMENT for name, each in answers
    )
    flag = '<p class="note">Flagged: fewer than 70 % of people chose the key.</p>' if doubted else ""
    return flag + (
        "<h2>Who chose what</h2>"
        "<p>One letter per run; right ones are underlined, a dot is an unread answer.</p>"
        '<div class="table" role="region" aria-label="Who chose what" tabindex="0"><table><thead><tr>'
        "<th scope='col'>model</th><th scope='col'>letters</th>"
        "<th scope='col' class='n'>right</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _pager(neighbours: tuple[str, str, str]) -> str:
    before, after, twin = neighbours
    links = [
        f'<a href="{before}.html">← {before}</a>' if before else "<span></span>",
        f'<a href="{twin}.html">the other item of the pair: {twin}</a>' if twin else "<span></span>",
        f'<a href="{after}.html">{after} →</a>' if after else "<span></span>",
    ]
    return f'<nav class="pager" aria-label="Items">{"".join(links)}</nav>'


def _erred(answers: Answers) -> str:
    """Return the models that were not always right, with the letters they chose instead."""
    found = []
    for name, each in answers:
        wrong = sorted({letter or "·" for letter in each.predictions if letter != each.answer})
        if wrong and system_kind(name) == "model":
            found.append(f"{escape(named(name)[0])} <b>{''.join(wrong)}</b>")
    return ", ".join(found) or "–"


def items_index(items: Sequence[Item], facts: Mapping[str, ItemFacts], answers: Mapping[str, Answers]) -> str:
    """Return a sortable table of all items: how hard they are, and which models erred how."""
    columns = (
        ("Item", "ascending"), ("Remark", ""), ("Category", "ascending"), ("Right", "ascending"),
        ("Discrimination", "descending"), ("State", "ascending"), ("Erred", ""),
    )  # fmt: skip
    head = "".join(
        f'<th scope="col"{" data-first=" + first if first else ""}>'
        + (f'<button type="button">{name}</button>' if first else f"<span>{name}</span>")
        + "</th>"
        for name, first in columns
    )
    rows = []
    for item in items:
        found = facts.get(item.id)
        right = f'<td class="n" data-v="{found.easiness:.4f}">{number(found.easiness)}</td>' if found else "<td>–</td>"
        known = found is not None and found.discrimination is not None
        apart = (
            f'<td class="n" data-v="{found.discrimination:.4f}">{number(found.discrimination or 0.0)}</td>'
            if found is not None and known
            else '<td class="n">–</td>'
        )
        state = found.state if found else "–"
        rows.append(
            f'<tr><th scope="row" data-v="{escape(item.id)}"><a href="{escape(item.id)}.html">'
            f'{escape(item.id)}</a></th><td lang="{escape(item.language)}">{escape(item.utterance)}</td>'
            f'<td data-v="{item.category}">{escape(item.category.replace("_", " "))}</td>{right}{apart}'
            f'<td data-v="{escape(state)}">{escape(state)}</td>'
            f"<td>{_erred(answers.get(item.id, ()))}</td></tr>"
        )
    body = (
        f"<header><h1>Items</h1><p class='lead'>All {len(items)} items of a public set, with every "
        "answer.</p></header><p>Discrimination: the correlation of an item with the rest of the set, "
        "across models. All models answer a dead item alike; weaker models answer a backwards item "
        "correctly more often than stronger ones, so check its key and its wording.</p>"
        '<div class="table" role="region" aria-label="Items" tabindex="0">'
        f'<table class="board sortable" data-home="0"><thead><tr>{head}</tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table></div><p class="sr" role="status" id="sorted"></p>'
    )
    return document("Items · SarcBench", body, script=True, home="../index.html")


def answers_by_item(
    runs: Sequence[BenchRun], asked: Sequence[Sequence[ItemAnswers]]
) -> dict[str, list[tuple[str, ItemAnswers]]]:
    """Return per item who answered it and how, in the order of the board."""
    by_item: dict[str, list[tuple[str, ItemAnswers]]] = {}
    for run, answers in zip(runs, asked, strict=True):
        for answer in answers:
            by_item.setdefault(answer.item, []).append((run.plan.system, answer))
    return by_item
