"""Introduction of the board: what SarcBench is, an example, the exact prompt, how to run and submit."""

from __future__ import annotations

from collections.abc import Sequence

from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import REASONED, TEMPLATES, ZERO_SHOT
from deadpan.bench.items.sets import shipped
from deadpan.bench.runs.settings import LONGEST_EXPLANATION
from deadpan.bench.site.board import Board
from deadpan.bench.site.document import document
from deadpan.bench.site.item_pages import scene
from deadpan.llm.settings import EMBEDDED_PREFIX
from deadpan.page.markup import escape
from deadpan.records import Item

TRIED = 10
SHOWN = {ZERO_SHOT: "", REASONED: " with reasoning"}
PAPER = (
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
    return f"{words}{example}{tried}<p class='dim'>{escape(PAPER)}</p>"


def reach(board: Board) -> str:
    """Return what the sets of the package can tell; nothing for other sets, whose difficulty is unknown."""
    if board.set not in shipped():
        return ""
    return (
        "<h2>What it can tell</h2><p>This set is a floor test: a strong language model that read it with the "
        "keys hidden chose the key of 99 % of the items. The set shows whether a model understands sarcasm "
        "at all, not which strong model understands it best. Strong systems differ on what people really "
        "wrote: of two replies to a comment, which one did its author mean sarcastically?</p>"
        '<pre tabindex="0">deadpan bench organic sarc-main --data-dir DIR --model PROVIDER/NAME</pre>'
    )


def _options(item: Item, answer: bool) -> str:
    rows = []
    for place, option in enumerate(item.options):
        best = answer and place == item.answer
        word = ' <span class="verdict-word" lang="en">✓ the answer</span>' if best else ""
        kind = ' class="best"' if best else ""
        rows.append(
            f'<li{kind}><span class="letter">{LETTERS[place]}</span><p>{escape(option)}{word}</p></li>'
        )
    return f'<ol class="options" lang="{escape(item.language)}">{"".join(rows)}</ol>'


def take_part(board: Board) -> str:
    """Return the exact prompt, and the commands that run a model and check a submission."""
    prompts = "".join(
        f"<details><summary>The prompt{SHOWN[name]}, word for word ({escape(language)})</summary>"
        f'<pre tabindex="0" lang="{escape(language)}">{escape(text)}</pre></details>'
        for (name, language), text in TEMPLATES.items()
        if name in SHOWN
    )
    known = board.set if board.visibility == "public" else "SET"
    commands = (
        "pip install 'deadpan[bench,llm]'\n"
        f"deadpan bench run --model PROVIDER/NAME --set {known} --out runs\n"
        "deadpan bench check-submission runs/PROVIDER-NAME\n"
    )
    return (
        f"<h2>Run it and send it in</h2>{prompts}{_held_to_form(board)}"
        f'<pre tabindex="0">{escape(commands)}</pre>'
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
        f'<label><input type="checkbox" value="{escape(name)}" checked> {escape(name)}</label>'
        for name in names
    )
    return f'<fieldset class="families" hidden><legend>Families</legend>{boxes}</fieldset>'


def try_page(items: Sequence[Item]) -> str:
    """Return a page of items, one per family, with answers that open on request."""
    parts = [
        "<header><h1>Try it</h1><p class='lead'>Choose an option for each item, then open the answer. "
        "Nothing is recorded.</p></header>"
    ]
    for number, item in enumerate(items, 1):
        language = escape(item.language)
        parts.append(
            f"<h2>{number}</h2>{scene(item)}<p lang='{language}'><b>{escape(item.question)}</b></p>"
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
