"""A page an item of a public set: the story, the options, and who chose what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from deadpan.bench.difficulty import ItemFacts
from deadpan.bench.folder import RunFolder
from deadpan.bench.items import LETTERS
from deadpan.bench.prompts import NARRATORS
from deadpan.bench.scores import Answered, kind_of
from deadpan.bench.site.board import named
from deadpan.bench.site.document import document
from deadpan.page.markup import escape
from deadpan.records import Item

Answers = Sequence[tuple[str, Answered]]
"""Who answered (a model, a baseline, people), and how."""


def item_page(item: Item, answers: Answers, facts: ItemFacts | None, neighbours: tuple[str, str, str]) -> str:
    """One item. `neighbours` are the ids before and after it, and of its twin; empty where there is none."""
    # What could not be read counts too, under no letter: shares are of all answers.
    voted = Counter(
        letter for name, each in answers if kind_of(name) == "model" for letter in each.predictions
    )
    title = f"Item {item.id}"
    story = "".join(
        f"<p>{escape(turn.text)}</p>"
        if turn.speaker in NARRATORS
        else f"<p><b>{escape(turn.speaker)}:</b> “{escape(turn.text)}”</p>"
        for turn in item.context
    )
    language = f' lang="{escape(item.language)}"'
    category = item.category.replace("_", " ")
    state = f" · {100 * facts.easiness:.0f} % of models’ answers right" if facts else ""
    body = (
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(category)}{escape(state)}</p></header>"
        f'<div class="story"{language}>{story}</div>'
        f'<blockquote class="remark"{language}>“{escape(item.utterance)}”'
        f"<cite>{escape(item.speaker or 'the speaker')}</cite></blockquote>"
        f"<h2{language}>{escape(item.question)}</h2>"
        f'<ol class="options"{language}>{_options(item, voted)}</ol>'
        + (f'<p class="note">{escape(item.difficulty)}</p>' if item.difficulty else "")
        + _who(item, answers)
        + _pager(neighbours)
    )
    return document(f"{title} · SarcBench", body, home="../index.html")


def _options(item: Item, voted: Counter[str]) -> str:
    total = voted.total()
    rows = []
    for place, option in enumerate(item.options):
        letter = LETTERS[place]
        best = place == item.answer
        word = '<span class="verdict-word" lang="en">✓ the answer</span>' if best else ""
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
        shown = "".join(
            f"<b>{letter}</b>" if letter == each.answer else (letter or "·") for letter in each.predictions
        )
        rows.append(
            f"<tr><th scope='row'>{escape(named(name)[0])}</th><td class='runs'>{shown}</td>"
            f"<td class='n'>{each.right:.2f}</td></tr>"
        )
    return (
        "<h2>Who chose what</h2>"
        "<p>A letter a run; right ones underlined, a dot where nothing could be read.</p>"
        '<div class="table" role="region" aria-label="Who chose what" tabindex="0"><table><thead><tr>'
        "<th scope='col'>model</th><th scope='col'>letters</th>"
        "<th scope='col' class='n'>right</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _pager(neighbours: tuple[str, str, str]) -> str:
    before, after, twin = neighbours
    links = [
        f'<a href="{before}.html">← {before}</a>' if before else "<span></span>",
        f'<a href="{twin}.html">its twin, one change away: {twin}</a>' if twin else "<span></span>",
        f'<a href="{after}.html">{after} →</a>' if after else "<span></span>",
    ]
    return f'<nav class="pager" aria-label="Items">{"".join(links)}</nav>'


def items_index(items: Sequence[Item], facts: Mapping[str, ItemFacts]) -> str:
    """All items in a table that sorts."""
    columns = (
        ("Item", "ascending"), ("Remark", ""), ("Category", "ascending"), ("Right", "ascending"),
        ("Discrimination", "descending"), ("State", "ascending"),
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
        right = (
            f'<td class="n" data-v="{found.easiness:.4f}">{found.easiness:.2f}</td>'
            if found
            else "<td>–</td>"
        )
        known = found is not None and found.discrimination is not None
        apart = (
            f'<td class="n" data-v="{found.discrimination:.4f}">{found.discrimination:.2f}</td>'
            if found is not None and known
            else '<td class="n">–</td>'
        )
        state = found.state if found else "–"
        rows.append(
            f'<tr><th scope="row" data-v="{escape(item.id)}"><a href="{escape(item.id)}.html">'
            f'{escape(item.id)}</a></th><td lang="{escape(item.language)}">{escape(item.utterance)}</td>'
            f'<td data-v="{item.category}">{escape(item.category.replace("_", " "))}</td>{right}{apart}'
            f'<td data-v="{escape(state)}">{escape(state)}</td></tr>'
        )
    body = (
        f"<header><h1>Items</h1><p class='lead'>All {len(items)} questions of a public set, with every "
        "answer models gave.</p></header><p>Discrimination: how far an item goes with the rest of the set, "
        "across models. A dead item is the same for all of them; one that is backwards is right more often "
        "for weaker models, so its key or its wording wants a second look.</p>"
        '<div class="table" role="region" aria-label="Items" tabindex="0">'
        f'<table class="board sortable" data-home="0"><thead><tr>{head}</tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table></div><p class="sr" role="status" id="sorted"></p>'
    )
    return document("Items · SarcBench", body, script=True, home="../index.html")


def answers_by_item(
    runs: Sequence[RunFolder], asked: Sequence[Sequence[Answered]]
) -> dict[str, list[tuple[str, Answered]]]:
    """Who answered each item and how, in the board's order."""
    found: dict[str, list[tuple[str, Answered]]] = {}
    for run, each in zip(runs, asked, strict=True):
        for answer in each:
            found.setdefault(answer.item, []).append((run.plan.model, answer))
    return found
