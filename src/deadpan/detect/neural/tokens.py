"""A conversation as the tokens a network reads: turns separated, speakers marked, the response last."""

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

LONGEST_WORD = 25  # characters: longer words are cut, since no embedding has them
CHARACTERS_PER_TOKEN = 40  # read per token that may be kept


def words(text: str, limit: int) -> list[str]:
    """Return at most `limit` lower-case words of a text; all links are one token, all users another.

    Text beyond the limit is not read, so that a text of a megabyte costs no more.
    """
    seen = printable(text[: limit * CHARACTERS_PER_TOKEN]).lower()
    return [_plain(token) for token in social_tokens(seen)[:limit]]


def tokens(example: Example, context: Context, limit: int) -> list[str]:
    """Return the last words of the context, a separator, and the response: at most about `limit` words.

    The response has priority; the oldest words are cut first.
    """
    response = words(example.response.text, limit) or [NOTHING]
    before = context.before(example)
    if not before:
        return response
    earlier: list[str] = []
    for turn, own in zip(before, context.own(example), strict=True):
        earlier += [OWN if own else OTHER] if context.speakers else [TURN]
        earlier += words(turn.text, limit)
    room = limit - len(response)
    return [*(earlier[-room:] if room > 0 else []), RESPONSE, *response]


def _plain(token: str) -> str:
    if token[0] == "@" and len(token) > 1:
        return USER
    if token[0] in "hw" and token.startswith(("http://", "https://", "www.")):
        return LINK
    return token[:LONGEST_WORD]
