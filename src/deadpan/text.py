"""Text: tokens, markers that give the label away, folding, and conversations as lines."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from deadpan.records import Turn

# ---------------------------------------------------------------- tokens

_ASCII_SYMBOLS = r"!-/:-@\[-`{-~"
_SARC_ASCII = re.compile(rf"[{_ASCII_SYMBOLS}]+|[^{_ASCII_SYMBOLS}\s]+")

_URL = r"(?:https?://|www\.)[^\s<>\"]+"
_EMOTICON = (
    r"[<>]?[:;=8xX][\-o*']?[)\](\[dDpP/\\|}{@3]+(?![A-Za-z0-9/])"
    r"|<3+|\^_*\^|[oO][._][oO]|¯\\_\(ツ\)_/¯|[ㅋㅎㅠㅜㄷ]{2,}"
)
_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"
    f"|{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
_WORD = r"[^\W_]+(?:['’\-_.][^\W_]+)*"
_SOCIAL = re.compile(rf"{_URL}|[@#]\w+|{_EMOTICON}|{_EMOJI}|{_WORD}|\.{{2,}}|[!?]+|[^\w\s]|_+")


def sarc_tokens(text: str) -> list[str]:
    """Return SARC's tokens: lower case, split at white space and around runs of Unicode classes M, P, S."""
    pattern = _SARC_ASCII if text.isascii() else _sarc_unicode()
    return pattern.findall(text.lower())


@cache
def _sarc_unicode() -> re.Pattern[str]:
    """Return the pattern for all of Unicode; built on first use, since it looks at every code point."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] in "MPS":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    symbols = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
    return re.compile(rf"[{symbols}]+|[^{symbols}\s]+")


def social_tokens(text: str) -> list[str]:
    """Return tokens of social media text: URLs, @user, #tag, emoticons and emoji stay whole."""
    return _SOCIAL.findall(text)


# ---------------------------------------------------------------- markers

_TAGS = "sarcasm|sarcastic|sarcastictweet|sarcasmtweet|irony|ironic|not"
_MARKER = re.compile(
    rf"(?<![\w#])#(?:{_TAGS})(?!\w)"  # a hashtag that gives the label away, anywhere
    r"|(?<![A-Za-z0-9/<])/s(?=\s*\Z)"  # Reddit's marker, at the end only
    r"|</?sarcasm>",  # the origin of the marker
    re.IGNORECASE,
)
_GAPS = re.compile(r"[ \t]{2,}")


def strip_markers(text: str) -> tuple[str, int]:
    """Return the text without tags that give the label away (#sarcasm, #irony, #not, /s), and how many."""
    if "#" not in text and "/s" not in text and "/S" not in text and "sarcasm>" not in text:
        return text, 0
    total = 0
    # Removing one marker may expose another: "so fun /s #not".
    while True:
        text, found = _MARKER.subn("", text)
        if not found:
            break
        total += found
        text = _GAPS.sub(" ", text).strip()
    return text, total


# ---------------------------------------------------------------- comparing texts

_NOT_WORD = re.compile(r"[\W_]+")
# Vowel points and the tatweel: optional signs, which \w does not match, so that they would split words.
_VOWEL_SIGNS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
_LINK_OR_USER = re.compile(rf"{_URL}|@\w+")


def fold(text: str) -> str:
    """Return a text without case, punctuation, links, users, spacing and Arabic or Hebrew vowel signs."""
    folded = strip_markers(text)[0].lower()
    if not folded.isascii():  # ASCII is normal already
        folded = _VOWEL_SIGNS.sub("", unicodedata.normalize("NFKC", folded).lower())
    if "@" in folded or "http" in folded or "www." in folded:
        folded = _LINK_OR_USER.sub(" ", folded)
    return _NOT_WORD.sub(" ", folded).strip()


def printable(text: str) -> str:
    """Return the text with lone surrogates replaced, so that it can be written as UTF-8."""
    if text.isascii():  # cheap, and most texts are
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# ---------------------------------------------------------------- conversations


def last_turns(context: tuple[Turn, ...], turns: int | None) -> tuple[Turn, ...]:
    """Return the last n turns of a context; None keeps all, 0 none."""
    if turns is None or turns >= len(context):
        return context
    return context[len(context) - turns :]


def render_turn(turn: Turn) -> str:
    """Return a turn as one line, with its speaker where known."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def plural(n: int, noun: str) -> str:
    """Return a count with its noun: 1 row, 1,200 rows."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
