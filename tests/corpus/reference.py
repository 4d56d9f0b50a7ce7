"""Rules 1 to 9 as plainly as they can be said, in Python, on dumps that fit a memory: what the engine must equal.

Nothing here is shared with the engine but the tokeniser and the draw, which are deadpan's own vocabulary.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from deadpan.draws import draw
from deadpan.text import sarc_tokens

SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
COLUMNS = (
    "label", "comment", "author", "subreddit", "score", "ups", "downs", "date", "created_utc", "parent_comment",
    "id", "parent_id", "link_id",
)  # fmt: skip
GONE = ("[deleted]", "[removed]")


def squeeze(text: str) -> str:
    out = ""
    for character in text:
        if character in SPACES:
            if out and out[-1] != " ":
                out += " "
        else:
            out += character
    return out.rstrip(" ")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def is_marked(body: str) -> bool:
    end = body.rstrip(SPACES)
    if not end.endswith("/s"):
        return False
    before = end[:-2][-1:]
    return not (before and before in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/<")


def without_marker(body: str) -> str:
    return body.rstrip(SPACES)[:-2].rstrip(SPACES)


def text_reason(author: str, body: str) -> str:
    if author in GONE or body in GONE:
        return "deleted"
    if any(sign in body for sign in ("http://", "https://", "www.", "](")):
        return "url"
    if any(ord(character) > 127 for character in body):
        return "non_ascii"
    if not squeeze(without_marker(body) if is_marked(body) else body):
        return "empty"
    return ""


def month_of(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m").rjust(7, "0")


# ---------------------------------------------------------------- reading


@dataclass
class Node:
    """A comment or a post."""

    id: str
    author: str
    subreddit: str
    score: int
    ups: int
    downs: int
    created: int
    body: str
    copy: tuple[bool, int, bytes]
    parent: str = ""  # t1_x, t3_x or nothing
    link: str = ""
    reason: str = ""
    marked: bool = False
    forgotten: bool = False

    @property
    def month(self) -> str:
        return month_of(self.created)

    @property
    def text(self) -> str:
        if self.forgotten:
            return ""
        return squeeze(without_marker(self.body) if self.marked else self.body)


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def as_number(value: Any) -> int | None:
    text = as_text(value)
    try:
        number = math.floor(float(text))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if -(2**63) <= number < 2**63 else None


def bare(id: str) -> str:
    return id[3:] if id[:3] in ("t1_", "t3_") else id


def sound(id: str | None) -> bool:
    return bool(id) and re.fullmatch(r"[0-9A-Za-z_-]+", id, re.ASCII) is not None  # type: ignore[arg-type]


def read_line(line: bytes, words: str) -> Node | None:
    try:
        row = json.loads(line.decode("utf-8"))
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except ValueError:  # not JSON, not UTF-8, or half a surrogate pair
        return None
    if not isinstance(row, dict):
        return None
    id, body, created = as_text(row.get("id")), as_text(row.get(words)), as_number(row.get("created_utc"))
    if not sound(id) or body is None or created is None or not 0 <= created <= 253_402_300_799:
        return None
    author = as_text(row.get("author"))
    node = Node(
        id=str(id),
        author="[deleted]" if author is None else author,
        subreddit=as_text(row.get("subreddit")) or "",
        score=as_number(row.get("score")) or 0,
        ups=_or(as_number(row.get("ups")), -1),
        downs=_or(as_number(row.get("downs")), -1),
        created=created,
        body=unescape(body),
        copy=(True, max(0, as_number(row.get("retrieved_on")) or 0), line.rstrip(b"\r")),
    )
    node.copy = (not (node.author in GONE or node.body in GONE), *node.copy[1:])
    link, parent = as_text(row.get("link_id")) or "", as_text(row.get("parent_id")) or ""
    node.link = bare(link)
    if parent[:3] not in ("t1_", "t3_") and parent:
        parent = f"t3_{parent}" if parent == node.link else f"t1_{parent}"
    node.parent = (
        "" if parent in ("t1_", "t3_") or (parent[:3] == "t3_" and not sound(parent[3:])) else parent
    )
    return node


def _or(value: int | None, other: int) -> int:
    return other if value is None else value


# ---------------------------------------------------------------- the rules


@dataclass
class Corpus:
    """What a build must give."""

    files: dict[str, bytes] = field(default_factory=dict)
    drops: Counter[str] = field(default_factory=Counter)
    by_month: Counter[str] = field(default_factory=Counter)


def build(
    comment_files: Iterable[bytes],
    post_files: Iterable[bytes],
    *,
    first: str = "0000-00",
    last: str = "9999-99",
    seed: int = 0,
    vectors: Mapping[str, tuple[float, ...]],
    forget: frozenset[str] = frozenset(),
) -> Corpus:
    """The files of a corpus from the plain bytes of dumps."""
    corpus = Corpus()
    comments = _unique(comment_files, "body", corpus, "")
    posts = _unique(post_files, "title", corpus, "_posts")
    for node in (*comments.values(), *posts.values()):
        node.forgotten = node.author.lower() in forget
    for node in comments.values():
        node.marked = is_marked(node.body)
    _give_reasons(comments, corpus, first, last)
    kept = {id: node for id, node in comments.items() if not node.reason}
    for node in comments.values():
        corpus.by_month[f"{node.month}/{node.reason or 'kept'}"] += 1
        if node.reason:
            corpus.drops[node.reason] += 1
    _write_raw(corpus, kept, comments, posts)
    _write_sequences(corpus, kept, comments, posts, seed, vectors)
    return corpus


def _unique(files: Iterable[bytes], words: str, corpus: Corpus, suffix: str) -> dict[str, Node]:
    best: dict[str, Node] = {}
    for text in files:
        for line in text.split(b"\n"):
            if not line.strip(b" \t\r\v\f"):
                continue
            node = read_line(line, words)
            if node is None:
                corpus.drops[f"unreadable{suffix}"] += 1
                continue
            old = best.get(node.id)
            if old:
                corpus.drops[f"duplicate{suffix}"] += 1
                loser = min(old, node, key=lambda one: one.copy)
                if not suffix:
                    corpus.by_month[f"{loser.month}/duplicate"] += 1
            best[node.id] = max(old, node, key=lambda one: one.copy) if old else node
    return best


def _give_reasons(comments: dict[str, Node], corpus: Corpus, first: str, last: str) -> None:
    aware: dict[str, str] = {}
    for node in comments.values():
        if node.marked and not node.forgotten:
            aware[node.author] = min(node.month, aware.get(node.author, node.month))
    for node in comments.values():
        if not first <= node.month <= last:
            node.reason = "outside_months"
        elif node.forgotten:
            node.reason = "forgotten"
        elif reason := text_reason(node.author, node.body):
            node.reason = reason
        elif aware.get(node.author, "9999-99") > node.month:
            node.reason = "author_unaware"
        elif _has_marked_ancestor(node, comments):
            node.reason = "under_sarcasm"


def _has_marked_ancestor(node: Node, comments: dict[str, Node]) -> bool:
    seen: set[str] = set()
    parent = node.parent
    while parent.startswith("t1_") and parent[3:] in comments and parent not in seen:
        seen.add(parent)
        above = comments[parent[3:]]
        if above.marked:
            return True
        parent = above.parent
    return False


def _path(parent: str, comments: dict[str, Node]) -> list[str] | None:
    """Ids from the post down to `parent`; None if something is missing or turns in a circle."""
    path: list[str] = []
    seen: set[str] = set()
    while parent.startswith("t1_"):
        if parent in seen or parent[3:] not in comments:
            return None
        seen.add(parent)
        path.append(parent[3:])
        parent = comments[parent[3:]].parent
    return [parent[3:], *reversed(path)] if parent else None


def _write_raw(
    corpus: Corpus, kept: dict[str, Node], comments: dict[str, Node], posts: dict[str, Node]
) -> None:
    table, tabbed = io.StringIO(newline=""), ""
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for node in sorted(kept.values(), key=lambda one: (one.created, one.id)):
        above = (comments if node.parent.startswith("t1_") else posts).get(node.parent[3:])
        row = [
            str(int(node.marked)), node.text, squeeze(node.author), squeeze(node.subreddit), str(node.score),
            str(node.ups), str(node.downs), node.month, str(node.created), above.text if above else "",
            node.id, node.parent[3:], node.link,
        ]  # fmt: skip
        writer.writerow(row)
        tabbed += "\t".join(row[:10]) + "\n"
    corpus.files["raw/sarc.csv"] = table.getvalue().encode()
    corpus.files["raw/sarc.tsv"] = tabbed.encode()


@dataclass
class Sequence:
    path: list[str]
    replies: list[Node]


def _sequences(corpus: Corpus, kept: dict[str, Node], comments: dict[str, Node]) -> list[Sequence]:
    replies: dict[str, list[Node]] = defaultdict(list)
    for node in kept.values():
        if node.parent:
            replies[node.parent].append(node)
    found = []
    for parent, nodes in replies.items():
        if any(node.marked for node in nodes):
            path = _path(parent, comments)
            if path is None:
                corpus.drops["broken_chain"] += 1
            else:
                found.append(Sequence(path, sorted(nodes, key=lambda one: (one.created, one.id))))
    return sorted(found, key=lambda one: (one.path[0], one.path[-1]))


def index_line(path: list[str], replies: list[Node]) -> str:
    ids, labels = " ".join(one.id for one in replies), " ".join(str(int(one.marked)) for one in replies)
    return f"{' '.join(path)}|{ids}|{labels}\n"


def _write_sequences(
    corpus: Corpus,
    kept: dict[str, Node],
    comments: dict[str, Node],
    posts: dict[str, Node],
    seed: int,
    vectors: Mapping[str, tuple[float, ...]],
) -> None:
    sequences = _sequences(corpus, kept, comments)
    corpus.files["raw/sequences.csv"] = "".join(index_line(s.path, s.replies) for s in sequences).encode()
    corpus.files["raw/comments.json"] = _table(sequences, comments, posts, sequences)
    chosen: dict[str, list[Sequence]] = {"main": [], "pol": []}
    indexes: dict[str, str] = defaultdict(str)
    for sequence in sequences:
        fitting = Sequence(sequence.path, [one for one in sequence.replies if _fits(one.text, corpus)])
        if not any(one.marked for one in fitting.replies):
            corpus.drops["no_fitting_sarcasm"] += 1
            continue
        pair = _pair(fitting, seed, vectors, corpus)
        side = int.from_bytes(draw(seed, f"split {sequence.path[0]}")[:8], "big") < 0.2 * 2**64
        for folder in ("main", "pol"):
            if folder == "pol" and sequence.replies[0].subreddit.lower() != "politics":
                continue
            chosen[folder].append(fitting)
            name = f"{folder}/{'test' if side else 'train'}"
            indexes[f"{name}-unbalanced.csv"] += index_line(fitting.path, fitting.replies)
            if pair:
                indexes[f"{name}-balanced.csv"] += index_line(fitting.path, pair)
    for folder in ("main", "pol"):
        corpus.files[f"{folder}/comments.json"] = _table(chosen[folder], comments, posts, sequences)
        for part in ("train", "test"):
            for balance in ("balanced", "unbalanced"):
                name = f"{folder}/{part}-{balance}.csv"
                corpus.files[name] = indexes[name].encode()


def _fits(text: str, corpus: Corpus) -> bool:
    count = len(sarc_tokens(text))
    why = "too_short" if count < 2 else "too_long" if count > 50 else ""
    why = why or ("" if any(one.isalpha() for one in text) else "no_letter")
    if why:
        corpus.drops[f"reply_{why}"] += 1
    return not why


def _pair(
    sequence: Sequence, seed: int, vectors: Mapping[str, tuple[float, ...]], corpus: Corpus
) -> list[Node] | None:
    order = sorted(sequence.replies, key=lambda one: draw(seed, f"reply {one.id}"))
    sarcastic = next(one for one in order if one.marked)
    sincere = [one for one in order if not one.marked]
    far = [one for one in sincere if _cosine(sarcastic.text, one.text, vectors) <= 0.95]
    if not far:
        corpus.drops["too_similar" if sincere else "no_contrast"] += 1
        return None
    first = draw(seed, f"order {sequence.path[-1]}")[0] & 1
    return [sarcastic, far[0]] if first else [far[0], sarcastic]


def _cosine(one: str, other: str, vectors: Mapping[str, tuple[float, ...]]) -> float:
    size = len(next(iter(vectors.values())))
    sums = []
    for text in (one, other):
        known = [vectors[token] for token in sarc_tokens(text) if token in vectors]
        sums.append([sum(vector[place] for vector in known) for place in range(size)])
    lengths = [math.sqrt(sum(part * part for part in vector)) for vector in sums]
    if not all(lengths):
        return 0.0
    return sum(a * b for a, b in zip(*sums, strict=True)) / (lengths[0] * lengths[1])


def _table(
    some: list[Sequence], comments: dict[str, Node], posts: dict[str, Node], every: list[Sequence]
) -> bytes:
    homes: dict[str, str] = {}
    for sequence in every:
        post, home = sequence.path[0], sequence.replies[0].subreddit
        homes[post] = min(home, homes.get(post, home))
    spoken = {id for s in every for id in (*s.path[1:], *(one.id for one in s.replies))}
    wanted = {id for s in some for id in (*s.path, *(one.id for one in s.replies))}
    entries = []
    for id in sorted(wanted):
        node = comments[id] if id in spoken else posts.get(id)
        if node is None:
            row = ["", "", 0, -1, -1, "", 0, squeeze(homes[id])]
        else:
            author = "" if node.forgotten else squeeze(node.author)
            row = [
                node.text,
                author,
                node.score,
                node.ups,
                node.downs,
                node.month,
                node.created,
                squeeze(node.subreddit),
            ]
        keys = ("text", "author", "score", "ups", "downs", "date", "created_utc", "subreddit")
        value = json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False, separators=(",", ":"))
        # JSON may spell control characters either way; the engine's library has upper case.
        value = re.sub(r"\\u00[0-9a-f]{2}", lambda found: "\\u" + found[0][2:].upper(), value)
        entries.append(f"\n{json.dumps(id)}: {value}")
    return ("{" + ",".join(entries) + "\n}\n").encode()
