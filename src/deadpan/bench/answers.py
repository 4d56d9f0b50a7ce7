"""Reading the letter out of a reply. What cannot be read for sure is unread, never a guess."""

from __future__ import annotations

import re

from deadpan.bench.items import LETTERS

_MARK = re.compile(r"(?:final\s+answer|최종\s*(?:정답|답변|답))[\s*_`]*[:：][\s*_`]*", re.IGNORECASE)
_OPEN = r"(?:(?i:option)\s+)?[\s*_`$(\[{\"'“‘]*(?:\\boxed\{|\\text\{|\\mathbf\{)?[\s*_`$(\[{\"'“‘]*"
_LETTER = re.compile(rf"{_OPEN}([A-Fa-f])(?![^\W_])(.*)", re.DOTALL)
_BARE = re.compile(r"[\s*_`$(\[{\"']*([A-Fa-f])[\s*_`$)\]}\"'.]*")
_ANOTHER = re.compile(
    r"[\s*_`$)\]}.\"']*(?:or|and|,|/|&|and/or|또는|혹은|와|과)[\s*_`$(\[{\"']*[A-Fa-f](?![^\W_])",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[ \t]+[^\W\d_]")


def read_letter(text: str) -> str | None:
    """The letter of the last `Final Answer: X`, or of a reply that is a letter and nothing else.

    `**B**`, `(B)`, `$B$` and lower case are read. "Final Answer: all of them", "A good question" and
    "B or C" are not: the first two have no letter that stands alone, the third has two.
    """
    marks = list(_MARK.finditer(text))
    if not marks:
        bare = _BARE.fullmatch(text)
        return bare[1].upper() if bare else None
    found = _LETTER.match(text[marks[-1].end() :])
    if not found:
        return None
    letter, rest = found[1], found[2]
    if _ANOTHER.match(rest):
        return None
    # "a man" and "A man" are an article; "B because" is an answer with its reason.
    if letter in "aA" and _PROSE.match(rest):
        return None
    if letter.islower() and _PROSE.match(rest):
        return None
    return letter.upper()


def place_of(letter: str | None, order: tuple[int, ...]) -> int | None:
    """The item's own option behind a letter, given the order in which options were shown."""
    return None if letter is None else order[LETTERS.index(letter)]
