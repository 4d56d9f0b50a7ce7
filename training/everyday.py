"""Everyday lines from frames and events (everyday/*.toml): short and plain, as people type when they try it.

"Great" before bad news is sarcastic, before good news it is not: only the whole line tells. An event is drawn
into some frames by a hash of both, so that the lines do not depend on the order of the files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from deadpan.draws import draw
from deadpan.records import Example, Turn

FOLDER = Path(__file__).with_name("everyday")
SOURCE = "everyday-lines"
PAIRS = "everyday-pairs"
LANGUAGES = ("en", "ko", "ar")
WRITTEN = ("", "later_", "more_", "wide_", "voices_", "calm_", "answers_")
"""Beginnings of the names of files with pairs, in the order in which they were written."""
SHARE = {"en": 0.18, "ko": 0.6, "ar": 0.6}
"""Share of all combinations of event and frame that become a line."""


def everyday_lines(more: bool = False) -> list[Example]:
    """Return all lines; those about one event are one group, which no fold cuts in two.

    With `more`, also the plain lines that were written after the student's first training.
    """
    return [example for language in LANGUAGES for example in _lines(language, more)]


def _lines(language: str, more: bool) -> Iterator[Example]:
    parts = {
        name: [piece.strip() for line in text.splitlines() for piece in line.split(" | ") if piece.strip()]
        for name, text in tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8")).items()
    }
    number = 0
    for label, frames in ((True, "sarcastic"), (False, "sincere_good"), (False, "sincere_bad")):
        for frame in parts[frames]:
            for event in parts[_slot(frame)]:
                if _drawn(f"{frame}{event}", SHARE[language]):
                    number += 1
                    yield _line(language, number, _filled(frame, event), event, label)
    for label, answers, events in (
        (True, "praise", "bad"), (True, "mock", "bad"), (False, "praise", "good"), (False, "kind", "bad"),
    ):  # fmt: skip
        for answer in parts[answers]:
            for event in parts[events]:
                if _drawn(f"{event}{answer}", SHARE[language] / 2):
                    number += 1
                    yield _line(language, number, answer, event, label, _sentence(event))
    for label, alone in ((False, "plain"), (True, "sharp"), (False, "more")):
        for text in parts.get(alone, []) if more or alone != "more" else []:
            number += 1
            yield _line(language, number, text, text, label)


def everyday_pairs(languages: Sequence[str] = LANGUAGES, written: Sequence[str] = WRITTEN) -> list[Example]:
    """Return the pairs of everyday/*.tsv, each a sequence of a sarcastic and a sincere example.

    In pairs_*.tsv two answers follow the same turns (separated by " / "), or none; in same_*.tsv one answer
    follows bad news or good news, and only what was said before tells which is meant.
    """
    return [pair for language in languages for name in written for pair in _pairs(language, name)]


def _pairs(language: str, written: str) -> Iterator[Example]:
    for number, (before, sarcastic, sincere) in enumerate(_table(f"{written}pairs_{language}.tsv")):
        name = f"{language}-{written}pair-{number}"
        yield from _pair(name, language, ((before, sarcastic), (before, sincere)))
    for number, (bad, good, answer) in enumerate(_table(f"{written}same_{language}.tsv")):
        yield from _pair(f"{language}-{written}same-{number}", language, ((bad, answer), (good, answer)))


def plain_lines(written: Sequence[str] = WRITTEN) -> list[Example]:
    """Return sincere English answers and lines: thanks, joy, complaints, anger, facts and questions."""
    return [
        _line("en", _first_number(name) + number, text, text, False, before)
        for name in written
        for number, (before, text) in enumerate(_table(f"{name}plain_en.tsv"))
    ]


def _first_number(written: str) -> int:
    """Return where the numbers of plain lines begin, apart from those of lines that stand alone."""
    return 100_000 * WRITTEN.index(written) + 50_000 if written else 100_000


def lines_alone(languages: Sequence[str] = LANGUAGES, written: Sequence[str] = WRITTEN) -> list[Example]:
    """Return lines that stand alone: sarcastic ones, and sincere ones with as much feeling in them."""
    return [
        _line(language, 100_000 * WRITTEN.index(name) + number, text, text, label == "sarcastic")
        for language in languages
        for name in written
        for number, (label, text) in enumerate(_table(f"{name}alone_{language}.tsv"))
    ]


def _table(name: str) -> list[list[str]]:
    """Return the rows of a file below its header; not every language has a file of every kind."""
    path = FOLDER / name
    rows = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    return [row.split("\t") for row in rows]


def _pair(name: str, language: str, sides: Sequence[tuple[str, str]]) -> Iterator[Example]:
    for label, (before, text) in zip((True, False), sides, strict=True):
        yield Example(
            f"{PAIRS}/{name}-{label}", Turn("", text), _turns(before), label=label,
            label_kind="author", group=f"{PAIRS}/{name}", sequence=f"{PAIRS}/{name}", source=PAIRS,
            language=language,
        )  # fmt: skip


def _line(language: str, number: int, text: str, group: str, label: bool, before: str = "") -> Example:
    return Example(
        f"{SOURCE}/{language}-{number}", Turn("", text), _turns(before), label=label,
        label_kind="author", group=f"{SOURCE}/{group}", source=SOURCE, language=language,
    )  # fmt: skip


def _turns(before: str) -> tuple[Turn, ...]:
    return tuple(Turn("", turn) for turn in before.split(" / ") if turn)


def _slot(frame: str) -> str:
    return frame[frame.index("{") + 1 : frame.index("}")].lower()


def _filled(frame: str, event: str) -> str:
    slot = frame[frame.index("{") + 1 : frame.index("}")]
    return frame.replace(f"{{{slot}}}", event[:1].upper() + event[1:] if slot[0].isupper() else event)


def _sentence(event: str) -> str:
    return f"{event[:1].upper()}{event[1:]}."


def _drawn(name: str, share: float) -> bool:
    return int.from_bytes(draw(0, name)[:4], "big") < share * 2**32
