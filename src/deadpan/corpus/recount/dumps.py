"""Dumps read line by line for a recount: all of them, or a sample of threads with everything they need."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter

from deadpan.corpus.ingest.dumps import Dump
from deadpan.corpus.ingest.lines import LONGEST_LINE, open_lines
from deadpan.corpus.ingest.places import Place
from deadpan.corpus.recount.glance import Glance, glance
from deadpan.corpus.recount.node import Node, marker_of
from deadpan.corpus.recount.selection import Keep, Recounted, Selection, select, unique
from deadpan.corpus.settings import CorpusSettings
from deadpan.draws import draw

SHOWN = 100  # unreadable lines of a dump that a corpus lists
ROUNDS = 8  # of searching the dumps for comments whose link_id is wrong
_TOO_LONG = b"\x00 too long"


@dataclass(frozen=True, slots=True)
class Recount:
    """Dumps, settings and forgotten authors of the corpus that is checked."""

    dumps: Sequence[Dump]
    settings: CorpusSettings
    is_forgotten: Callable[[str], bool]

    def all(self) -> Selection:
        """Return everything in the dumps; it must fit in memory."""
        selection = Selection(self.settings)
        selection.comments = self._unique("comments", selection.tally)
        selection.posts = self._unique("posts", selection.tally)
        select(selection, self.is_forgotten)
        return selection

    def sample(self, count: int, seed: int) -> tuple[Selection, set[str]]:
        """Return the comments of `count` random threads, with all that decides about them, and their ids.

        The dumps are read several times, but only these threads are held in memory.
        """
        chosen = self._threads(count, seed)
        found = self._some("comments", lambda node: node.link in chosen, glance(["link_id"], chosen))
        for _ in range(ROUNDS):
            known, answered = set(found), {node.parent for node in found.values()}
            more = self._some(
                "comments",
                lambda node, known=known, answered=answered: (  # type: ignore[misc]
                    node.id in known
                    or f"t1_{node.id}" in answered
                    or node.parent[3:] in known
                    or (node.parent != "" and node.parent in answered)
                ),
                glance(["id", "parent_id"], known | answered),
            )
            done = set(more) <= known
            found |= more
            if done:
                break
        ids = {id for id, node in found.items() if node.link in chosen}
        selection = Selection(self.settings, comments={**self._marked_by(found), **found})
        answered = {node.parent[3:] for node in found.values() if node.parent.startswith("t3_")}
        selection.posts = self._some("posts", lambda node: node.id in answered, glance(["id"], answered))
        select(selection, self.is_forgotten)
        return selection, ids

    def _threads(self, count: int, seed: int) -> set[str]:
        links: dict[str, bytes] = {}

        def note(node: Node) -> bool:
            if node.link and node.link not in links:
                links[node.link] = draw(seed, node.link)
                if len(links) > 4 * count + 10_000:
                    kept = heapq.nsmallest(count, links, key=links.__getitem__)
                    worst = links[kept[-1]]
                    for link in [one for one, rank in links.items() if rank > worst]:
                        del links[link]
            return False

        self._some("comments", note)
        return set(heapq.nsmallest(count, links, key=links.__getitem__))

    def _marked_by(self, found: dict[str, Node]) -> dict[str, Node]:
        """Return the marked comments of the authors in a sample: since when they know the marker."""
        authors = {node.author for node in found.values()}
        rules = self.settings.text
        marked = self._some(
            "comments",
            lambda node: node.author in authors and bool(marker_of(node.body, rules)),
            glance(["author"], authors),
        )
        return self._some("comments", lambda node: node.id in marked, glance(["id"], marked))

    def _some(self, kind: str, keep: Keep, may_be: Glance | None = None) -> dict[str, Node]:
        """Return those to keep, and count nothing."""
        return self._unique(kind, Recounted(), keep, may_be)

    def _unique(
        self, kind: str, tally: Recounted, keep: Keep | None = None, may_be: Glance | None = None
    ) -> dict[str, Node]:
        words = "body" if kind == "comments" else "title"
        return unique(self._lines(kind, tally), words, self.settings, tally, keep, may_be)

    def _lines(self, kind: str, tally: Recounted) -> Iterator[bytes]:
        for place, dump in enumerate(self.dumps):
            if dump.kind == kind:
                for number, line in enumerate(read_lines(dump.path), 1):
                    tally.at = (place, number)
                    yield line

    def unreadable(self, tally: Recounted) -> list[tuple[str, int]]:
        """Return name and line of the first unreadable lines of each dump, in the order of the dumps."""
        found = sorted(tally.unreadable)
        listed = [list(islice(some, SHOWN)) for _, some in groupby(found, key=itemgetter(0))]
        return [(self.dumps[place].path.name, number) for some in listed for place, number in some]


def read_lines(path: Place) -> Iterator[bytes]:
    """Yield the lines of a dump; of one that is too long, something unreadable."""
    rest = b""
    with open_lines(path) as lines:
        for block in lines.blocks():
            *whole, rest = (rest + block).split(b"\n")
            yield from (line if len(line) <= LONGEST_LINE else _TOO_LONG for line in whole)
            if len(rest) > LONGEST_LINE:
                rest = rest[: LONGEST_LINE + 1]
    if rest:
        yield rest if len(rest) <= LONGEST_LINE else _TOO_LONG
