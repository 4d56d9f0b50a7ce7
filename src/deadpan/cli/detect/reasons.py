"""deadpan detect explain: which words and which context moved a score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.detect.options import model_option
from deadpan.cli.output import emit, json_option, label_word, table
from deadpan.palette import SARCASTIC, SINCERE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from deadpan.detect.detector import Detector
    from deadpan.detect.explanation import Explanation, Influence

LITTLE = 0.1
"""Log odds below which a word is left uncoloured."""
WIDEST = 60
"""Characters of a turn in the table."""
HEIGHT, LABEL, WIDTH, NUMBER = 24, 200, 560, 60


@click.command()
@click.argument("text", required=False)
@model_option
@click.option("--context", "before", multiple=True, help="What was said before; give it once a turn.")
@click.option(
    "--top", type=click.IntRange(min=1), help="Instead of a text: the most telling n-grams of the model."
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page as well.")
@json_option
def explain(
    text: str | None, model: str, before: tuple[str, ...], top: int | None, html: Path | None, as_json: bool
) -> None:
    """Show which words and which turns moved the score: each is left out in turn, and the change is its push.

    A push is in log odds: +0.7 doubles the odds of sarcasm, -0.7 halves them.
    """
    from deadpan.detect.detector import Detector
    from deadpan.detect.explanation import explain as take_apart
    from deadpan.errors import ConfigError
    from deadpan.records import Example, Turn

    detector = Detector.load(model)
    if top is not None:
        _telling(detector, model, top, as_json)
        return
    if not text or not text.strip():
        raise ConfigError("give a text to explain, or --top N for the most telling n-grams of the model")
    example = Example("text", Turn("", text), tuple(Turn("", turn) for turn in before))
    found = take_apart(detector.predict, example)
    blind = detector.predictor.context.turns == 0 and bool(before)
    if html:
        write_page(html, found, model)

    def show(out: Console) -> None:
        from rich.text import Text

        out.print(
            label_word(found.label).append(
                f", {found.score:.0%} likely to be sarcastic (a statistical guess)"
            )
        )
        for turn in found.context:
            out.print(_painted([turn], dim=True))
        out.print(_painted(found.words))
        strongest = sorted((*found.context, *found.words), key=lambda word: -abs(word.push))[:12]
        rows = [
            (
                w.text if len(w.text) <= WIDEST else f"{w.text[: WIDEST - 1]}…",
                f"{w.push:+.2f}",
                "sarcastic" if w.push > 0 else "sincere",
            )
            for w in strongest
            if abs(w.push) >= 0.01
        ]
        if rows:
            out.print(table(("left out", "push", "towards"), rows, numbers=("push",)))
        else:
            out.print(Text("Nothing moves the score when it alone is left out.", style="dim"))
        if blind:
            out.print(
                Text(
                    "This model sees the response only: train with --context to have it see more.",
                    style="yellow",
                )
            )
        if html:
            out.print(f"written to {html}")

    emit(as_json, {**found.as_dict(), "model": model}, show)


def _painted(words: list[Influence] | tuple[Influence, ...], dim: bool = False) -> Text:
    """Words in the hue they push towards, underlined as well: never colour alone."""
    from rich.text import Text

    line = Text("  ")
    for word in words:
        hue = SARCASTIC if word.push > 0 else SINCERE
        strong = "bold underline" if abs(word.push) > 0.5 else "underline"
        style = f"{strong} {hue}" if abs(word.push) >= LITTLE else "dim" if dim else ""
        line.append(word.text, style=style)
        if abs(word.push) >= LITTLE:
            line.append(f" {word.push:+.1f}", style="dim")
        line.append(" ")
    return line


def _telling(detector: Detector, model: str, top: int, as_json: bool) -> None:
    """SARC's Table 3: the n-grams with the largest weights on either side."""
    from deadpan.errors import ConfigError

    telling = getattr(detector.predictor, "telling", None)
    if telling is None:
        raise ConfigError(f"{model}: this system has no n-grams with weights; explain a text instead")
    for_it, against = telling(top)
    data = {"sarcastic": [list(pair) for pair in for_it], "sincere": [list(pair) for pair in against]}
    filled = max(len(for_it), len(against))
    pad = (
        [*for_it, *[("", None)] * (filled - len(for_it))],
        [*against, *[("", None)] * (filled - len(against))],
    )
    rows = [
        (one, "" if a is None else f"{a:+.2f}", other, "" if b is None else f"{b:+.2f}")
        for (one, a), (other, b) in zip(*pad, strict=True)
    ]
    columns = ("sarcastic", "weight", "sincere", "weight ")
    emit(as_json, data, lambda out: out.print(table(columns, rows, numbers=("weight", "weight "))))


def write_page(path: Path, found: Explanation, model: str) -> None:
    """The same as a page: the conversation, a bar a word, the numbers."""
    from deadpan.page import Page, Table

    word = "sarcastic" if found.label else "sincere"
    page = Page(
        f"Why this was called {word}", f"Score {found.score:.2f} by the model {model}: a statistical guess."
    )
    page.conversation(found.example, found.label, note=f"score {found.score:.2f}")
    pieces = [*found.words, *found.context]
    rows = tuple((piece.text, piece.push) for piece in pieces)
    page.figure(
        draw(pieces),
        "What each word pushes towards, in log odds",
        Table(("left out", "push, log odds"), rows),
    )
    page.note(
        "A push is how much the log odds of sarcasm fall when the word, or the turn before, is left out: "
        "+0.7 doubles the odds, -0.7 halves them. Words work together, so pushes need not add up."
    )
    page.write(path)


def draw(pieces: list[Influence]) -> str:
    """A bar a piece, to the right for sarcastic and to the left for sincere."""
    from html import escape

    from deadpan.palette import LIGHT
    from deadpan.text import printable

    largest = max(0.5, *(abs(piece.push) for piece in pieces))
    middle, half = LABEL + (WIDTH - LABEL) / 2, (WIDTH - LABEL) / 2 - NUMBER
    lines = []
    for place, piece in enumerate(pieces):
        y = place * HEIGHT
        length = half * abs(piece.push) / largest
        left = middle if piece.push > 0 else middle - length
        hue = LIGHT["sarcastic" if piece.push > 0 else "sincere"]
        name = piece.text if len(piece.text) <= 24 else f"{piece.text[:23]}…"
        side, at = ("start", middle + length + 6) if piece.push > 0 else ("end", middle - length - 6)
        lines.append(
            f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end" style="fill: {LIGHT["ink"]}">'
            f"{escape(printable(name))}</text>"
            f'<rect x="{left:.1f}" y="{y + 4}" width="{length:.1f}" height="{HEIGHT - 8}" '
            f'style="fill: {hue}"/>'
            f'<text x="{at:.1f}" y="{y + 16}" text-anchor="{side}" style="fill: {LIGHT["muted"]}">'
            f"{piece.push:+.2f}</text>"
        )
    bottom = len(pieces) * HEIGHT
    words = "".join(
        f'<text x="{at}" y="{bottom + 20}" text-anchor="{side}" style="fill: {LIGHT[role]}">{mark}</text>'
        for at, side, role, mark in (
            (middle - 8, "end", "sincere-text", "● sincere"),
            (middle + 8, "start", "sarcastic-text", "▲ sarcastic"),
        )
    )
    axis = f'<path d="M{middle} 0V{bottom}" style="stroke: {LIGHT["rule"]}"/>{words}'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 30}" width="{WIDTH}" '
        f'style="font: 14px system-ui, sans-serif">{axis}{"".join(lines)}</svg>'
    )
