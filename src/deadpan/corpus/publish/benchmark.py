"""Benchmarks: the choice of replies, the drawing of pairs, and the division into train and test.

Every draw depends on the seed and an id alone, so a corpus built month by month has the same benchmarks as
one built at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from deadpan.corpus.settings import BenchmarkRules
from deadpan.draws import draw
from deadpan.text import sarc_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
Similarity = Callable[[Sequence[str], Sequence[str]], "NDArray[np.float32]"]
"""Returns the cosine similarity of each pair of texts."""

SEQUENCES_AT_ONCE = 1_000  # whose similarities are computed together
_OPENING = frozenset("\"'“‘«„")
_STRICT_END = re.compile(r"[.!?][\"'”’»)\]}]*\Z")


@dataclass(frozen=True, slots=True)
class BenchmarkReply:
    """One reply: its id, whether its author marked it, and its text."""

    id: str
    label: bool
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """One sequence: the path from the post to the last ancestor, and the kept replies to that."""

    post: str
    last: str
    ancestors: str
    subreddit: str
    replies: tuple[BenchmarkReply, ...]


@dataclass(frozen=True, slots=True)
class PairChoice:
    """The part of a sequence in a benchmark: all fitting replies, and the pair, if one could be drawn."""

    thread: Thread
    test: bool
    replies: tuple[BenchmarkReply, ...]
    pair: tuple[BenchmarkReply, BenchmarkReply] | None


def unfit(text: str, rules: BenchmarkRules) -> str:
    """Return the reason to exclude a reply from a benchmark; empty if there is none."""
    tokens = len(sarc_tokens(text))
    if tokens < rules.min_tokens:
        return "too_short"
    if tokens > rules.max_tokens:
        return "too_long"
    if rules.letter and not any(map(str.isalpha, text)):
        return "no_letter"
    if rules.sentences == "strict" and not is_sentence(text):
        return "not_a_sentence"
    return ""


def is_sentence(text: str) -> bool:
    """Return whether a text starts like a sentence (capital, digit, quote) and ends like one (. ! ?)."""
    first = text[:1]
    return (first.isupper() or first.isdigit() or first in _OPENING) and bool(_STRICT_END.search(text))


def is_test(post: str, rules: BenchmarkRules, seed: int) -> bool:
    """Return whether a post, with everything below it, belongs to the test set."""
    return int.from_bytes(draw(seed, f"split {post}")[:8], "big") < rules.test_share * 2**64


def choose(
    threads: Iterable[Thread], rules: BenchmarkRules, seed: int, similarity: Similarity, drops: Counter[str]
) -> Iterator[PairChoice]:
    """Yield the benchmark's part of every sequence with a fitting sarcastic reply; count the drops."""
    fitting = _fitting(threads, rules, drops)
    for some in _chunks(fitting, SEQUENCES_AT_ONCE):
        pairs = _pairs(some, rules, seed, similarity, drops)
        for thread, replies, pair in zip(*zip(*some, strict=True), pairs, strict=True):
            yield PairChoice(thread, is_test(thread.post, rules, seed), replies, pair)


def _fitting(
    threads: Iterable[Thread], rules: BenchmarkRules, drops: Counter[str]
) -> Iterator[tuple[Thread, tuple[BenchmarkReply, ...]]]:
    for thread in threads:
        kept = []
        for reply in thread.replies:
            if reason := unfit(reply.text, rules):
                drops[f"reply_{reason}"] += 1
            else:
                kept.append(reply)
        if any(reply.label for reply in kept):
            yield thread, tuple(kept)
        else:
            drops["no_fitting_sarcasm"] += 1


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


def _pairs(
    some: Sequence[tuple[Thread, tuple[BenchmarkReply, ...]]],
    rules: BenchmarkRules,
    seed: int,
    similarity: Similarity,
    drops: Counter[str],
) -> list[tuple[BenchmarkReply, BenchmarkReply] | None]:
    """Draw a sarcastic and a sincere reply for each sequence: the first sincere one that is not too similar.

    Most sequences need only their first candidate, so candidates are compared in rounds, not all at once.
    """
    drawn = [_drawn(replies, seed) for _, replies in some]
    pairs: list[tuple[BenchmarkReply, BenchmarkReply] | None] = [None] * len(some)
    waiting = [at for at, (_, sincere) in enumerate(drawn) if sincere]
    drops["no_contrast"] += len(some) - len(waiting)
    turn = 0
    while waiting:
        closeness = similarity(
            [drawn[at][0].text for at in waiting], [drawn[at][1][turn].text for at in waiting]
        )
        far = closeness <= rules.max_similarity
        for at, different in zip(waiting, far.tolist(), strict=True):
            if different:
                pairs[at] = _ordered(drawn[at][0], drawn[at][1][turn], some[at][0].last, seed)
        turn += 1
        left = [at for at in waiting if pairs[at] is None]
        waiting = [at for at in left if turn < len(drawn[at][1])]
        drops["too_similar"] += len(left) - len(waiting)
    return pairs


def _drawn(replies: Sequence[BenchmarkReply], seed: int) -> tuple[BenchmarkReply, list[BenchmarkReply]]:
    """Return the sarcastic reply of the pair, and the sincere ones in the order they are tried."""
    order = sorted(replies, key=lambda reply: draw(seed, f"reply {reply.id}"))
    return next(reply for reply in order if reply.label), [reply for reply in order if not reply.label]


def _ordered(
    sarcastic: BenchmarkReply, sincere: BenchmarkReply, last: str, seed: int
) -> tuple[BenchmarkReply, BenchmarkReply]:
    """Return the pair in random order, so that the order does not reveal the label."""
    return (sarcastic, sincere) if draw(seed, f"order {last}")[0] & 1 else (sincere, sarcastic)
