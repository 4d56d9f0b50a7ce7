"""Families of shallow features, none of which should tell sarcasm: length, punctuation, links, source.

A family maps an example to a few named numbers, or to named values that are present. A classifier that sees
only one family measures how much of the label it gives away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from deadpan.datasets.leaks.tokens import real_name
from deadpan.records import Example

Features = dict[str, float]
Family = Callable[[Example], Features]

_LINK = re.compile(r"(?:https?://|www\.)(?:www\.)?([^\s/?#:]*)|<url>|\bhttpurl\b", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@\w+")
_HASHTAG = re.compile(r"(?<!\w)#(\w+)")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_EMOTICON = re.compile(r"[:;=8xX]['’-]?[)(DPpOo/\\|]+|[ㅋㅎㅠㅜ]{2,}|<3")
_MARKS = "!?.,;:…'\"()-*~"
_SOURCES = ("subreddit", "show", "dialect", "form", "domain", "article_link", "topic")
"""Metadata that says where a text comes from, never the label itself."""


def _length(example: Example) -> Features:
    text = example.response.text
    words = text.split()
    letters = sum(map(len, words)) / len(words) if words else 0.0
    return {"characters": float(len(text)), "words": float(len(words)), "letters per word": letters}


def _punctuation(example: Example) -> Features:
    text = example.response.text
    found = {f"count {mark}": float(text.count(mark)) for mark in _MARKS}
    found[f"ends in {_end(text)}"] = 1.0
    found["doubled mark"] = float(bool(re.search(r"([!?.])\1", text)))
    found["space before mark"] = float(bool(re.search(r"\w [,.!?]", text)))
    found["doubled space"] = float("  " in text.strip())
    found["space at an end"] = float(text != text.strip())
    return found


def _end(text: str) -> str:
    last = text.rstrip()[-1:]
    return last if last in _MARKS else "a letter" if last.isalpha() else "something else"


def _case(example: Example) -> Features:
    words = example.response.text.split()
    n = max(len(words), 1)
    return {
        "share in capitals": sum(w.isupper() and len(w) > 1 for w in words) / n,
        "share capitalised": sum(w[:1].isupper() for w in words) / n,
        "no capitals": float(example.response.text == example.response.text.lower()),
        "first is capital": float(example.response.text[:1].isupper()),
    }


def _links(example: Example) -> Features:
    text = example.response.text
    hosts = {f"host {host.lower()}": 1.0 for host in _LINK.findall(text)}
    return {**hosts, "links": float(len(_LINK.findall(text))), "mentions": float(len(_MENTION.findall(text)))}


def _hashtags(example: Example) -> Features:
    tags = _HASHTAG.findall(example.response.text)
    return {**{f"#{tag.lower()}": 1.0 for tag in tags}, "hashtags": float(len(tags))}


def _emoji(example: Example) -> Features:
    text = example.response.text
    found = _EMOJI.findall(text)
    return {**dict.fromkeys(found, 1.0), "emoji": float(len(found)),
            "emoticons": float(len(_EMOTICON.findall(text)))}  # fmt: skip


def _source(example: Example) -> Features:
    found = {f"source {example.source}": 1.0}
    for name in _SOURCES:
        value = example.meta.get(name)
        if isinstance(value, str) and value:
            host = _LINK.match(value)
            found[f"{name} {host[1] if host and host[1] else value}"] = 1.0
    return found


def _author(example: Example) -> Features:
    name = real_name(example.response.speaker) or real_name(str(example.meta.get("author") or ""))
    return {name: 1.0} if name else {}


def _context_shape(example: Example) -> Features:
    lengths = [len(turn.text) for turn in example.context]
    if not lengths:
        return {}
    same = any(turn.speaker and turn.speaker == example.response.speaker for turn in example.context)
    return {"turns": float(len(lengths)), "characters": float(sum(lengths)), "last turn": float(lengths[-1]),
            "responder spoke before": float(same)}  # fmt: skip


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "length": _length,
        "punctuation": _punctuation,
        "case": _case,
        "links and mentions": _links,
        "hashtags": _hashtags,
        "emoji": _emoji,
        "source": _source,
        "author": _author,
        "shape of the context": _context_shape,
    }
)
"""Families of features read from one example; topic and the words of the context need the whole corpus."""
