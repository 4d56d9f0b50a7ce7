"""All comments and submissions of some dumps, each once, with the reason it is excluded for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from deadpan.corpus.recount.glance import Glance
from deadpan.corpus.recount.node import Node, marker_of, read_node, text_reason
from deadpan.corpus.settings import CorpusSettings

Keep = Callable[[Node], bool]


@dataclass(slots=True)
class Recounted:
    """Drops by reason, comments by month and reason, and what the statistics count.

    `at` is the dump and the line that is read, `unreadable` those of lines that are no record.
    """

    drops: Counter[str] = field(default_factory=Counter)
    by_month: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    at: tuple[int, int] = (0, 0)
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
    lines: Iterable[bytes],
    words: str,
    settings: CorpusSettings,
    tally: Recounted,
    keep: Keep | None = None,
    may_be: Glance | None = None,
) -> dict[str, Node]:
    """Return the best copy of each comment (`words` is "body") or submission ("title").

    `keep` chooses some of them; with `may_be` most of the others are not parsed, and not counted.
    """
    suffix = "" if words == "body" else "_posts"
    best: dict[str, Node] = {}
    for line in lines:
        if not line.strip(b" \t\r\v\f\n") or (may_be and not may_be(line)):
            continue
        tally.lines += not suffix
        node = read_node(line, words, settings.text)
        if node is None:
            tally.drops[f"unreadable{suffix}"] += 1
            tally.unreadable.append(tally.at)
            continue
        if keep and not keep(node):
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
