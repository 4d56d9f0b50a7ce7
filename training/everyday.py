"""The everyday lines of data/everyday as Examples: short and plain, as people type when they try a detector.

Lines of frames_*.toml are made from frames and events. "Great" before bad news is sarcastic, before good news
it is not: only the whole line tells. An event is drawn into some frames by a hash of both, so that the lines
do not depend on the order of the files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from deadpan.draws import draw
from deadpan.records import Example, Turn

FOLDER = Path(__file__).parents[1] / "data" / "everyday"
SOURCE = "everyday-lines"
PAIRS = "everyday-pairs"
LANGUAGES = ("en", "ko", "ar")
BATCHES = tuple(range(10))
"""Values of the column `batch`, in the order in which the rows were added."""
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
        for name, text in tomllib.loads((FOLDER / f"frames_{language}.toml").read_text(encoding="utf-8")).items()
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


def everyday_pairs(languages: Sequence[str] = LANGUAGES, batches: Sequence[int] = BATCHES) -> list[Example]:
    """Return pairs, each a sequence of a sarcastic and a sincere example.

    In pairs_*.tsv two answers follow the same turns (separated by " / "), or none; in same_*.tsv one answer
    follows bad news or good news, and only what was said before tells which is meant.
    """
    return [pair for language in languages for pair in _pairs(language, batches)]


def _pairs(language: str, batches: Sequence[int]) -> Iterator[Example]:
    for number, (before, sarcastic, sincere) in _rows("pairs", language, batches):
        yield from _pair(f"{language}-pair-{number}", language, ((before, sarcastic), (before, sincere)))
    for number, (bad, good, answer) in _rows("same", language, batches):
        yield from _pair(f"{language}-same-{number}", language, ((bad, answer), (good, answer)))


def plain_lines(languages: Sequence[str] = LANGUAGES, batches: Sequence[int] = BATCHES) -> list[Example]:
    """Return sincere answers and lines: thanks, joy, complaints, anger, facts and questions."""
    return [
        _line(language, f"plain-{number}", text, text, False, before)
        for language in languages
        for number, (before, text) in _rows("plain", language, batches)
    ]


def lines_alone(languages: Sequence[str] = LANGUAGES, batches: Sequence[int] = BATCHES) -> list[Example]:
    """Return lines that stand alone: sarcastic ones, and sincere ones with as much feeling in them."""
    return [
        _line(language, f"alone-{number}", text, text, label == "sarcastic")
        for language in languages
        for number, (label, text) in _rows("alone", language, batches)
    ]


def _rows(shape: str, language: str, batches: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbered rows of some batches; not every language has a file of every shape."""
    path = FOLDER / f"{shape}_{language}.tsv"
    rows = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    for number, row in enumerate(rows):
        batch, *cells = row.split("\t")
        if int(batch) in batches:
            yield number, cells


def _pair(name: str, language: str, sides: Sequence[tuple[str, str]]) -> Iterator[Example]:
    for label, (before, text) in zip((True, False), sides, strict=True):
        yield Example(
            f"{PAIRS}/{name}-{label}", Turn("", text), _turns(before), label=label,
            label_kind="author", group=f"{PAIRS}/{name}", sequence=f"{PAIRS}/{name}", source=PAIRS,
            language=language,
        )  # fmt: skip


def _line(language: str, number: int | str, text: str, group: str, label: bool, before: str = "") -> Example:
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
