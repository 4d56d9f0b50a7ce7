"""One page per item of a public set: the scene, the options, and who chose what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import NARRATORS
from deadpan.bench.runs.folder import BenchRun
from deadpan.bench.scores.difficulty import ItemFacts
from deadpan.bench.scores.people import AGREEMENT
from deadpan.bench.scores.score import ItemAnswers, kind_of
from deadpan.bench.site.board import named
from deadpan.bench.site.document import document
from deadpan.page.markup import escape
from deadpan.records import Item, Turn

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
    voted = Counter(
        letter for name, each in answers if kind_of(name) == "model" for letter in each.predictions
    )
    title = f"Item {item.id}"
    language = f' lang="{escape(item.language)}"'
    category = item.category.replace("_", " ")
    state = f" · {100 * facts.easiness:.0f} % of models’ answers right" if facts else ""
    body = (
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(category)}{escape(state)}</p></header>"
        f"{scene(item)}<h2{language}>{escape(item.question)}</h2>"
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
    doubted = any(
        kind_of(name) == "human" and len(each.predictions) > 1 and each.right < AGREEMENT
        for name, each in answers
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
        if wrong and kind_of(name) == "model":
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
