"""The rules again in plain Python, from the lines of dumps to the files of a corpus: what tests compare it with.

It shares no code with the engine but the names of files and columns, the tokenizer and the random draw.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from deadpan.corpus.lines import LONGEST_LINE
from deadpan.corpus.settings import CorpusSettings, TextRules
from deadpan.draws import draw
from deadpan.formats.sarc import COMMENT_FIELDS, RAW_COLUMNS, TSV_COLUMNS
from deadpan.text import sarc_tokens

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
    """Return a text without the markers at its end and the signs that format them."""
    while marker := marker_of(body, rules):
        body = body.rstrip(SPACES)[: -len(marker)].rstrip("^\\").rstrip(SPACES)
    return body


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
    score: int | None
    ups: int | None
    downs: int | None
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


def is_placeholder(text: str, rules: TextRules) -> bool:
    longest = max(map(len, rules.deleted)) + 20  # with more white space it is no placeholder
    return len(text.encode()) <= longest and text.strip(SPACES).lower() in {one.lower() for one in rules.deleted}


def cell(value: int | None) -> str:
    return "" if value is None else str(value)


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
    author, said = as_text(row.get("author")) or DELETED, unescape(body.replace("\0", ""))
    gone, later = author in rules.deleted or is_placeholder(said, rules), _later(row)
    node = Node(
        id=str(id),
        author=author,
        subreddit=as_text(row.get("subreddit")) or "",
        score=as_number(row.get("score")),
        ups=as_number(row.get("ups")),
        downs=as_number(row.get("downs")),
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


# ---------------------------------------------------------------- selection


@dataclass(slots=True)
class Recounted:
    """Drops by reason, comments by month and reason, and the places of lines that are no record."""

    drops: Counter[str] = field(default_factory=Counter)
    by_month: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    unreadable: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Selection:
    """Comments and submissions by id; `kept` are the comments of the corpus."""

    settings: CorpusSettings
    comments: dict[str, Node] = field(default_factory=dict)
    posts: dict[str, Node] = field(default_factory=dict)
    kept: dict[str, Node] = field(default_factory=dict)
    tally: Recounted = field(default_factory=Recounted)

    def path(self, parent: str) -> list[str] | None:
        """Return the ids from the post down to a parent; None if one is missing or there is a cycle."""
        path: list[str] = []
        seen: set[str] = set()
        while parent.startswith("t1_"):
            if parent in seen or parent[3:] not in self.comments:
                return None
            seen.add(parent)
            path.append(parent[3:])
            parent = self.comments[parent[3:]].parent
        return [parent[3:], *reversed(path)] if parent else None

    def sequences(self) -> list[Branch]:
        """Return what has a kept sarcastic reply, with all its kept replies, sorted."""
        replies: dict[str, list[Node]] = defaultdict(list)
        for node in self.kept.values():
            if node.parent:
                replies[node.parent].append(node)
        found = []
        for parent, nodes in replies.items():
            if any(node.marked for node in nodes):
                path = self.path(parent)
                if path is None:
                    self.tally.drops["broken_chain"] += 1
                else:
                    found.append(Branch(path, sorted(nodes, key=lambda one: (one.created, one.id))))
        return sorted(found, key=lambda one: (one.path[0], one.path[-1]))


@dataclass(slots=True)
class Branch:
    """A path from a post, and the kept replies to its end."""

    path: list[str]
    replies: list[Node]


def unique(
    lines: Iterable[tuple[tuple[int, int], bytes]], words: str, settings: CorpusSettings, tally: Recounted
) -> dict[str, Node]:
    """Return the best copy of each comment (`words` is "body") or submission ("title").

    `lines` come with the number of their dump and of the line in it.
    """
    suffix = "" if words == "body" else "_posts"
    best: dict[str, Node] = {}
    for at, line in lines:
        if not line.strip(b" \t\r\v\f\n"):
            continue
        tally.lines += not suffix
        node = read_node(line, words, settings.text) if len(line) <= LONGEST_LINE else None
        if node is None:
            tally.drops[f"unreadable{suffix}"] += 1
            tally.unreadable.append(at)
            continue
        old = best.get(node.id)
        if old is None:
            best[node.id] = node
            continue
        loser, winner = sorted((old, node), key=lambda one: one.copy)
        winner.had_text |= loser.had_text or not loser.gone
        best[node.id] = winner
        tally.drops[f"duplicate{suffix}"] += 1
        if not suffix:
            tally.by_month[f"{loser.month}/duplicate"] += 1
    return best


def select(selection: Selection, is_forgotten: Callable[[str], bool]) -> None:
    """Give every comment the first reason that applies; the others are kept."""
    for node in (*selection.comments.values(), *selection.posts.values()):
        node.forgotten = is_forgotten(node.author) and not node.later
    for node in selection.comments.values():
        node.marked = bool(marker_of(node.body, selection.settings.text))
    aware = aware_since(selection.comments.values())
    for node in selection.comments.values():
        node.reason = _reason(node, selection, aware)
        selection.tally.by_month[f"{node.month}/{node.reason or 'kept'}"] += 1
        if node.reason:
            selection.tally.drops[node.reason] += 1
    selection.kept = {id: node for id, node in selection.comments.items() if not node.reason}


def aware_since(comments: Iterable[Node]) -> dict[str, str]:
    """Return the month of each author's first marked comment."""
    aware: dict[str, str] = {}
    for node in comments:
        if node.marked and not node.forgotten and not node.later:
            aware[node.author] = min(node.month, aware.get(node.author, node.month))
    return aware


def _reason(node: Node, selection: Selection, aware: dict[str, str]) -> str:
    scope, rules = selection.settings.scope, selection.settings.text
    if not (scope.first_month or "0000-00") <= node.month <= (scope.last_month or "9999-99"):
        return "outside_months"
    if scope.subreddits and node.subreddit.lower() not in {name.lower() for name in scope.subreddits}:
        return "other_subreddit"
    if node.forgotten:
        return "forgotten"
    if node.gone:
        return "deleted_later" if node.had_text else "deleted"
    if reason := node.later or text_reason(node.body, rules):
        return reason
    if scope.aware_authors and aware.get(node.author, "9999-99") > node.month:
        return "author_unaware"
    return "under_sarcasm" if scope.drop_under_sarcasm and _under_marked(node, selection.comments) else ""


def _under_marked(node: Node, comments: dict[str, Node]) -> bool:
    seen: set[str] = set()
    parent = node.parent
    while parent.startswith("t1_") and parent[3:] in comments and parent not in seen:
        seen.add(parent)
        above = comments[parent[3:]]
        if above.marked:
            return True
        parent = above.parent
    return False


# ---------------------------------------------------------------- files


Cosines = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""Returns the similarity of each pair of texts."""

SIDES = [f"{side}-{balance}" for side in ("train", "test") for balance in ("balanced", "unbalanced")]
_QUOTES = "\"'“‘«„"


@dataclass(slots=True)
class Contents:
    """Rows of the raw corpus, and lines of the other files by file."""

    rows: list[list[str]] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    branches: dict[str, list[list[Node]]] = field(default_factory=lambda: defaultdict(list))

    def files(self) -> dict[str, bytes]:
        """Return the text files, by name."""
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(RAW_COLUMNS)
        writer.writerows(self.rows)
        tabbed = "".join("\t".join(row[: len(TSV_COLUMNS)]) + "\n" for row in self.rows)
        found = {"raw/sarc.csv": table.getvalue().encode(), "raw/sarc.tsv": tabbed.encode()}
        for name, lines in self.lines.items():
            joined = "{" + ",".join(lines) + "\n}\n" if name.endswith(".json") else "".join(lines)
            found[name] = joined.encode()
        return found


def contents(selection: Selection, cosines: Cosines) -> Contents:
    """Return what a build must write; counts the drops of the benchmarks."""
    found = Contents()
    ordered = sorted(selection.kept.values(), key=lambda one: (one.created, one.id))
    found.rows = [_row(node, selection) for node in ordered]
    every = selection.sequences()
    found.lines["raw/sequences.csv"] = [index_line(one.path, one.replies) for one in every]
    found.lines["raw/comments.json"] = _entries(every, selection, every)
    _benchmarks(found, every, selection, cosines)
    return found


def _row(node: Node, selection: Selection) -> list[str]:
    source = selection.comments if node.parent.startswith("t1_") else selection.posts
    above = source.get(node.parent[3:])
    return [
        str(int(node.marked)), node.text, squeeze(node.author), squeeze(node.subreddit), cell(node.score),
        cell(node.ups), cell(node.downs), node.month, str(node.created), above.text if above else "",
        node.id, node.parent[3:], node.link,
    ]  # fmt: skip


def index_line(path: Sequence[str], replies: Sequence[Node]) -> str:
    """Return a line of an index."""
    ids, labels = " ".join(one.id for one in replies), " ".join(str(int(one.marked)) for one in replies)
    return f"{' '.join(path)}|{ids}|{labels}\n"


def _benchmarks(found: Contents, every: list[Branch], selection: Selection, cosines: Cosines) -> None:
    settings, drops = selection.settings, selection.tally.drops
    rules = settings.benchmark
    subsets: dict[str, set[str] | None] = {"main": None}
    subsets |= {name: {one.lower() for one in chosen} for name, chosen in rules.subsets.items()}
    chosen: dict[str, list[Branch]] = {name: [] for name in subsets}
    for folder in subsets:
        for side in SIDES:
            found.lines[f"{folder}/{side}.csv"] = []
    for branch in every:
        fitting = Branch(branch.path, [one for one in branch.replies if _fits(one.text, selection)])
        if not any(one.marked for one in fitting.replies):
            drops["no_fitting_sarcasm"] += 1
            continue
        pair = _pair(fitting, selection, cosines)
        test = int.from_bytes(draw(settings.seed, f"split {branch.path[0]}")[:8], "big")
        side = "test" if test < rules.test_share * 2**64 else "train"
        for folder, names in subsets.items():
            if names is not None and branch.replies[0].subreddit.lower() not in names:
                continue
            chosen[folder].append(fitting)
            for balance, replies in (("unbalanced", fitting.replies), ("balanced", pair)):
                if replies:
                    name = f"{folder}/{side}-{balance}.csv"
                    found.lines[name].append(index_line(branch.path, replies))
                    found.branches[name].append(list(replies))
    for folder, branches in chosen.items():
        found.lines[f"{folder}/comments.json"] = _entries(branches, selection, every)


def _fits(text: str, selection: Selection) -> bool:
    rules = selection.settings.benchmark
    count = len(sarc_tokens(text))
    why = "too_short" if count < rules.min_tokens else "too_long" if count > rules.max_tokens else ""
    if not why and rules.letter and not any(one.isalpha() for one in text):
        why = "no_letter"
    if not why and rules.sentences == "strict" and not _is_sentence(text):
        why = "not_a_sentence"
    if why:
        selection.tally.drops[f"reply_{why}"] += 1
    return not why


def _is_sentence(text: str) -> bool:
    begins = text[:1].isupper() or text[:1].isdigit() or (text[:1] and text[:1] in _QUOTES)
    return bool(begins) and re.search(r"[.!?][\"'”’»)\]}]*\Z", text) is not None


def _pair(branch: Branch, selection: Selection, cosines: Cosines) -> list[Node] | None:
    seed = selection.settings.seed
    order = sorted(branch.replies, key=lambda one: draw(seed, f"reply {one.id}"))
    sarcastic = next(one for one in order if one.marked)
    sincere = [one for one in order if not one.marked]
    for other in sincere:
        if cosines([sarcastic.text], [other.text])[0] <= selection.settings.benchmark.similarity_cut:
            first = draw(seed, f"order {branch.path[-1]}")[0] & 1
            return [sarcastic, other] if first else [other, sarcastic]
    selection.tally.drops["too_similar" if sincere else "no_contrast"] += 1
    return None


def _entries(some: list[Branch], selection: Selection, every: list[Branch]) -> list[str]:
    """Return the entries of a comments.json, sorted by id."""
    homes: dict[str, str] = {}
    for branch in every:
        post, home = branch.path[0], branch.replies[0].subreddit
        homes[post] = min(home, homes.get(post, home))
    spoken = {id for one in every for id in (*one.path[1:], *(reply.id for reply in one.replies))}
    wanted = {id for one in some for id in (*one.path, *(reply.id for reply in one.replies))}
    return [_entry(id, id in spoken, homes, selection) for id in sorted(wanted)]


def _entry(id: str, spoken: bool, homes: dict[str, str], selection: Selection) -> str:
    node = selection.comments[id] if spoken else selection.posts.get(id)
    row: list[object] = ["", "", None, None, None, "", 0, squeeze(homes.get(id, ""))]
    if node is not None:
        row = [
            node.text, node.shown_author, node.score, node.ups, node.downs, node.month, node.created,
            squeeze(node.subreddit),
        ]  # fmt: skip
    fields = dict(zip(COMMENT_FIELDS, row, strict=True))
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    # JSON may spell control characters either way; the engine's library has upper case.
    value = re.sub(r"\\u00[0-9a-f]{2}", lambda match: "\\u" + match[0][2:].upper(), value)
    return f"\n{json.dumps(id)}: {value}"


# ---------------------------------------------------------------- statistics


def statistics(selection: Selection, found: Contents) -> dict[str, Any]:
    """Return the contents of stats.json."""
    rows = [(row[3], int(row[0])) for row in found.rows]
    subreddits, sarcastic = Counter(name for name, _ in rows), Counter(name for name, label in rows if label)
    reasons = sorted({key.partition("/")[2] for key in selection.tally.by_month} - {"kept"})
    total, marked = len(rows), sarcastic.total()
    return {
        "totals": {
            "comments": total,
            "sarcastic": marked,
            "share_sarcastic": _share(marked, total),
            "authors": len({row[2] for row in found.rows}),
            "subreddits": len(subreddits),
            "parents_without_text": sum(row[9] == "" for row in found.rows),
        },
        "marker_use": _marker_use(selection),
        "sequences": _means([branch.replies for branch in selection.sequences()]),
        "benchmarks": {
            folder: {side: _sizes(found.branches[f"{folder}/{side}.csv"]) for side in _sides(found, folder)}
            for folder in ("main", *sorted(selection.settings.benchmark.subsets))
        },
        "months": _months(selection),
        "drops": {reason: _of(selection, reason) for reason in reasons},
        "subreddits": {
            name: {"comments": count, "sarcastic": sarcastic[name], "share_sarcastic": _share(sarcastic[name], count)}
            for name, count in sorted(subreddits.items(), key=lambda one: (-one[1], one[0]))
        },
    }


def _sides(found: Contents, folder: str) -> list[str]:
    return [side for side in SIDES if f"{folder}/{side}.csv" in found.lines]


def _of(selection: Selection, reason: str) -> int:
    cells = selection.tally.by_month.items()
    return sum(count for key, count in cells if key.partition("/")[2] == reason)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def _means(groups: Sequence[Sequence[Node]]) -> dict[str, Any]:
    total = sum((Fraction(sum(one.marked for one in group), len(group)) for group in groups), Fraction(0))
    return {
        "count": len(groups),
        "replies": sum(map(len, groups)),
        "share_sarcastic": _share(sum(one.marked for group in groups for one in group), sum(map(len, groups))),
        "mean_share_sarcastic": round(float(total / len(groups)), 6) if groups else 0.0,
    }


def _sizes(groups: Sequence[Sequence[Node]]) -> dict[str, Any]:
    return {**_means(groups), "sarcastic": sum(one.marked for group in groups for one in group)}


def _marker_use(selection: Selection) -> dict[str, Any]:
    named = [one for one in selection.comments.values() if not (one.forgotten or one.gone or one.later)]
    everyone, marking = {one.author for one in named}, {one.author for one in named if one.marked}
    return {
        "authors": len(everyone),
        "authors_marking": len(marking),
        "share_authors_marking": _share(len(marking), len(everyone)),
    }


def _months(selection: Selection) -> dict[str, dict[str, Any]]:
    cells: dict[str, dict[str, int]] = defaultdict(dict)
    for key, count in sorted(selection.tally.by_month.items()):
        month, _, reason = key.partition("/")
        cells[month][reason] = count
    authors: dict[str, set[str]] = defaultdict(set)
    marking: dict[str, set[str]] = defaultdict(set)
    for node in selection.comments.values():
        if node.author and not node.forgotten and not node.gone and not node.later:
            authors[node.month].add(node.author)
            if node.marked:
                marking[node.month].add(node.author)
    return {
        month: {
            **cells[month],
            "authors": len(authors[month]),
            "authors_marking": len(marking[month]),
            "share_authors_marking": _share(len(marking[month]), len(authors[month])),
        }
        for month in sorted(set(cells) | set(authors))
    }
