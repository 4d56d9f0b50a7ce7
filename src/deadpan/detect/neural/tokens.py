"""A conversation as the words a network reads: turns set apart, speakers marked, the response last."""

from __future__ import annotations

from deadpan.detect.context import Context
from deadpan.records import Example
from deadpan.text import printable, social_tokens

TURN = "<turn>"
RESPONSE = "<response>"
OWN = "<own>"
OTHER = "<other>"
NOTHING = "<nothing>"
LINK = "<link>"
USER = "<user>"
MARKS = (TURN, RESPONSE, OWN, OTHER, NOTHING)

LONGEST_WORD = 25  # letters of the longest word an embedding can be expected for
A_MEGABYTE = 40  # characters of text looked at for every token that may be kept


def words(text: str, limit: int) -> list[str]:
    """At most `limit` lower-case words of a text; links and users are told apart from words, not from one
    another. What cannot be reached is not looked at, so that a text of a megabyte costs no more."""
    seen = printable(text[: limit * A_MEGABYTE]).lower()
    return [_plain(token) for token in social_tokens(seen)[:limit]]


def tokens(example: Example, context: Context, limit: int) -> list[str]:
    """The last words of what was said before, a mark, and the response: at most about `limit` words.

    The response goes first in the claim for room; the oldest words are the first to be left out.
    """
    response = words(example.response.text, limit) or [NOTHING]
    before = context.before(example)
    if not before:
        return response
    said: list[str] = []
    for turn, own in zip(before, context.own(example), strict=True):
        said += [OWN if own else OTHER] if context.speakers else [TURN]
        said += words(turn.text, limit)
    room = limit - len(response)
    return [*(said[-room:] if room > 0 else []), RESPONSE, *response]


def _plain(token: str) -> str:
    if token[0] == "@" and len(token) > 1:
        return USER
    if token[0] in "hw" and token.startswith(("http://", "https://", "www.")):
        return LINK
    return token[:LONGEST_WORD]
