"""One comment or submission, read from its line by plain Python."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deadpan.corpus.settings import TextRules

SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
DELETED = "[deleted]"
LAST_SECOND = 253_402_300_799
LAST_RETRIEVAL = 2**59  # later times of retrieval, which no clock shows, count as this one
_SOUND = re.compile(r"[0-9A-Za-z_-]+", re.ASCII)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def squeeze(text: str) -> str:
    """Return a text with each run of white space as one space, and none at its ends."""
    return " ".join(filter(None, re.split(f"[{re.escape(SPACES)}]+", text)))


def unescape(text: str) -> str:
    """Return a text without the escapes of Reddit's API."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def marker_of(body: str, rules: TextRules) -> str:
    """Return the marker that a text ends in as a separate token; empty if there is none."""
    end = body.rstrip(SPACES)
    for marker in sorted(rules.markers, key=lambda one: (-len(one), one)):
        if end.endswith(marker):
            before = end[: -len(marker)][-1:]
            if not (before and rules.not_after and re.match(f"[{rules.not_after}]", before, re.ASCII)):
                return marker
    return ""


def without_marker(body: str, rules: TextRules) -> str:
    """Return a text without its last marker."""
    marker = marker_of(body, rules)
    return body.rstrip(SPACES)[: -len(marker)].rstrip(SPACES) if marker else body


def text_reason(body: str, rules: TextRules) -> str:
    """Return why a text alone excludes a comment; empty if it does not."""
    if any(sign in body for sign in rules.url_signs):
        return "url"
    if rules.ascii_only and not body.isascii():
        return "non_ascii"
    return "" if squeeze(without_marker(body, rules)) else "empty"


def month_of(moment: int) -> str:
    """Return the month of a time, such as 2009-01."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m").rjust(7, "0")


@dataclass(slots=True)
class Node:
    """A comment or a submission. `copy` orders the copies of one; `parent` is t1_x, t3_x or empty."""

    id: str
    author: str
    subreddit: str
    score: int
    ups: int
    downs: int
    created: int
    body: str
    copy: tuple[int, bool, bool, bytes]
    gone: bool
    rules: TextRules
    later: str = ""
    parent: str = ""
    link: str = ""
    reason: str = ""
    marked: bool = False
    forgotten: bool = False
    had_text: bool = False  # an earlier copy was not deleted

    @property
    def month(self) -> str:
        return month_of(self.created)

    @property
    def text(self) -> str:
        if self.forgotten:
            return ""
        if self.later:
            return DELETED
        return squeeze(without_marker(self.body, self.rules) if self.marked else self.body)

    @property
    def shown_author(self) -> str:
        if self.forgotten:
            return ""
        return DELETED if self.later else squeeze(self.author)


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def as_number(value: Any) -> int | None:
    try:
        number = math.floor(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return number if -(2**63) <= number < 2**63 else None


def _bare(id: str) -> str:
    return id[3:] if id[:3] in ("t1_", "t3_") else id


def _sound(id: str | None) -> bool:
    return bool(id) and _SOUND.fullmatch(id) is not None  # type: ignore[arg-type]


def _or(value: int | None, other: int) -> int:
    return other if value is None else value


def read_node(line: bytes, words: str, rules: TextRules) -> Node | None:
    """Return the comment (`words` is "body") or submission ("title") of a line; None if it is not one."""
    try:
        row = _parsed(line.decode("utf-8"))
        if b"\\u" in line:
            json.dumps(row, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or half a surrogate pair
        return None
    if not isinstance(row, dict):
        return None
    id, body, created = as_text(row.get("id")), row.get(words), as_number(row.get("created_utc"))
    if not _sound(id) or not isinstance(body, str) or created is None or not 0 <= created <= LAST_SECOND:
        return None
    author, said = as_text(row.get("author")) or DELETED, unescape(body)
    gone, later = author in rules.deleted or said in rules.deleted, _later(row)
    node = Node(
        id=str(id),
        author=author,
        subreddit=as_text(row.get("subreddit")) or "",
        score=as_number(row.get("score")) or 0,
        ups=_or(as_number(row.get("ups")), -1),
        downs=_or(as_number(row.get("downs")), -1),
        created=created,
        body=said,
        copy=(_retrieved(row), later != "", gone if later else not gone, line.rstrip(b"\r")),
        gone=gone,
        rules=rules,
        later=later,
        link=_bare(as_text(row.get("link_id")) or ""),
    )
    node.parent = _parent(as_text(row.get("parent_id")) or "", node.link)
    return node


def _parsed(text: str) -> Any:
    """Return a line of JSON as DuckDB reads it: the first of equal names, and a comma too many is allowed."""
    try:
        return json.loads(text, object_pairs_hook=_first_of_each)
    except json.JSONDecodeError:
        plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", text)
        return json.loads(plain, object_pairs_hook=_first_of_each)


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _meta(row: dict[str, Any]) -> dict[str, Any]:
    meta = row.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _retrieved(row: dict[str, Any]) -> int:
    second = _meta(row).get("retrieved_2nd_on")
    moments = (as_number(row.get("retrieved_on")), None if isinstance(second, bool) else as_number(second))
    return min(LAST_RETRIEVAL, max(0, *(moment or 0 for moment in moments)))


def _later(row: dict[str, Any]) -> str:
    meta = _meta(row)
    if meta.get("removal_type") not in (None, "", "deleted"):
        return "removed_later"
    gone = as_text(meta.get("was_deleted_later")) == "true" or meta.get("removal_type") == "deleted"
    return "deleted_later" if gone else ""


def _parent(parent: str, link: str) -> str:
    if parent and parent[:3] not in ("t1_", "t3_"):
        parent = f"t3_{parent}" if parent == link else f"t1_{parent}"
    lost = parent in ("t1_", "t3_") or (parent[:3] == "t3_" and not _sound(parent[3:]))
    return "" if lost else parent
