"""Benchmarks: the choice of replies, the drawing of pairs, and the division into train and test.

Every draw depends on the seed and an id alone, so a corpus built month by month has the same benchmarks as
one built at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.checkpoints import attempt
from deadpan.corpus.engines.duckdb import job_connection, read_folder
from deadpan.corpus.engines.engine import Engine, Frame, Report, Share, ignore, parts_of
from deadpan.corpus.settings import EMBEDDED_VECTORS, BenchmarkRules, CorpusSettings
from deadpan.corpus.write import STREAM_ROWS
from deadpan.draws import draw
from deadpan.errors import ConfigError
from deadpan.formats.sarc import format_index_line
from deadpan.storage import read_json, write_json
from deadpan.text import sarc_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deadpan.vectors import Vectors

SHARE_DIGITS = 6  # of shares, rounded so that they print the same on every machine
INDEXES = ("train-balanced", "train-unbalanced", "test-balanced", "test-unbalanced")
SEQUENCES = "raw/sequences.csv"
LINES_AT_ONCE = 20_000
_LINES = pa.schema([(name, pa.string()) for name in ("post", "last", "file", "line")])
_IDS = pa.schema([("folder", pa.string()), ("id", pa.string())])


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Folders of the lines and of the ids in them, sizes by folder and index, and drops by reason."""

    lines: Path
    ids: Path
    folders: tuple[str, ...]
    sizes: dict[str, dict[str, Any]]
    drops: Counter[str]

    @property
    def files(self) -> list[str]:
        """Names of all files of lines."""
        return [SEQUENCES, *(f"{folder}/{index}.csv" for folder in self.folders for index in INDEXES)]


def draw_benchmarks(engine: Engine, settings: CorpusSettings, replies: Frame, scratch: Path) -> Benchmarks:
    """Draw the benchmarks of all sequences; `replies` is the result of `RawRows.replies`."""
    scratch = scratch.resolve()
    engine.scatter(replies, scratch / "replies", "post", engine.job_bytes)
    target, sources = scratch / "drawn", parts_of(scratch / "replies")
    share = engine.share(len(sources))
    jobs = [
        DrawJob(str(source), str(target), number, settings.benchmark, settings.seed, share, str(scratch))
        for number, source in enumerate(sources)
    ]
    engine.run_jobs(draw_pairs, jobs, at_once=share.at_once)
    counts, drops = Counter[tuple[str, str, int, int]](), Counter[str]()
    for path in sorted((target / "counts").glob("*.json")):
        found = read_json(path)
        drops.update(found["drops"])
        counts.update({tuple(cell): times for *cell, times in found["counts"]})
    folders = ("main", *sorted(settings.benchmark.subsets))
    return Benchmarks(target / "lines", target / "ids", folders, _index_sizes(folders, counts), +drops)


def _index_sizes(folders: Sequence[str], counts: Counter[tuple[str, str, int, int]]) -> dict[str, dict[str, Any]]:
    """Return sequences, replies, sarcastic replies and their mean share, for each index."""
    sizes: dict[str, dict[str, Any]] = {folder: {} for folder in folders}
    for folder in folders:
        for index in INDEXES:
            cells = [(s, n, t) for (f, i, s, n), t in sorted(counts.items()) if (f, i) == (folder, index)]
            sarcastic = sum(s * times for s, _, times in cells)
            sizes[folder][index] = {**mean_share(cells), "sarcastic": sarcastic}
    return sizes


def mean_share(rows: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Return count, replies, the share of sarcasm in all replies, and the mean of the shares of the sequences.

    A row is the number of sarcastic replies, of replies, and of sequences with so many.
    """
    count = sum(times for _, _, times in rows)
    total = sum((Fraction(sarcastic * times, replies) for sarcastic, replies, times in rows), Fraction(0))
    return {
        "count": count,
        "replies": (replies := sum(size * times for _, size, times in rows)),
        "share_sarcastic": round(sum(s * times for s, _, times in rows) / replies, SHARE_DIGITS) if replies else 0.0,
        "mean_share_sarcastic": round(float(total / count), SHARE_DIGITS) if count else 0.0,
    }


@dataclass(frozen=True, slots=True)
class DrawJob:
    """A folder of replies of whole threads, where to write, the rules and the seed."""

    source: str
    target: str
    number: int
    rules: BenchmarkRules
    seed: int
    share: Share
    scratch: str


def draw_pairs(job: DrawJob, report: Report = ignore) -> None:
    """Draw the benchmarks of some whole threads; a file of word vectors needs a first pass for the words."""
    rules = job.rules
    drops: Counter[str] = Counter()
    source = read_folder(Path(job.source))
    with job_connection(job.share, job.scratch) as connection:
        words = (row["text"] for row in _rows(connection, f"SELECT text FROM {source} WHERE place > 0"))
        similarity = WordSums(rules.vectors, words)
        name, target = f"{job.number:05}.parquet", Path(job.target)
        with (
            attempt(target / "lines" / name) as lines,
            attempt(target / "ids" / name) as ids,
            pq.ParquetWriter(lines, _LINES) as line_writer,
            pq.ParquetWriter(ids, _IDS) as id_writer,
        ):
            drawn = _Drawn(rules, line_writer, id_writer)
            threads = drawn.with_lines(_threads(connection, source))
            for choice in choose(threads, rules, job.seed, similarity, drops):
                drawn.write(choice)
                report(0)
            drawn.flush()
    listed = [[*cell, times] for cell, times in sorted(drawn.counts.items())]
    write_json(Path(job.target) / "counts" / f"{job.number:05}.json", {"drops": drops, "counts": listed})


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, Any]]:
    """Yield the result of a query row by row; a cursor of its own lets another query run meanwhile."""
    with closing(connection.cursor()) as cursor:
        for batch in cursor.sql(query).to_arrow_reader(STREAM_ROWS):
            yield from batch.to_pylist()


def _threads(connection: duckdb.DuckDBPyConnection, source: str) -> Iterator[Thread]:
    """Yield sequences sorted by (post, last ancestor), each with its replies in order."""
    rows = _rows(connection, f"FROM {source} ORDER BY post, last, place")
    for _, group in groupby(rows, key=lambda row: (row["post"], row["last"])):
        head, *found = group
        yield Thread(
            head["post"], head["last"], head["ancestors"], head["subreddit"],
            tuple(BenchmarkReply(row["id"], row["label"], row["text"]) for row in found),
        )  # fmt: skip


class _Drawn:
    """Tables of the lines and ids of one job, while they are written."""

    def __init__(self, rules: BenchmarkRules, lines: pq.ParquetWriter, ids: pq.ParquetWriter) -> None:
        self.line_writer, self.id_writer = lines, ids
        subsets = {name: {one.lower() for one in found} for name, found in rules.subsets.items()}
        self.folders: dict[str, set[str] | None] = {"main": None, **subsets}
        self.counts: Counter[tuple[str, str, int, int]] = Counter()
        self.lines: list[tuple[str, str, str, str]] = []
        self.ids: list[tuple[str, str]] = []

    def with_lines(self, threads: Iterator[Thread]) -> Iterator[Thread]:
        """Yield sequences, and write each as a line of raw/sequences.csv."""
        for thread in threads:
            self._add(SEQUENCES, thread, thread.replies)
            yield thread

    def write(self, choice: PairChoice) -> None:
        """Write a sequence and its pair to every folder that its subreddit belongs to."""
        side = "test" if choice.test else "train"
        thread = choice.thread
        for folder, subreddits in self.folders.items():
            if subreddits is not None and thread.subreddit.lower() not in subreddits:
                continue
            self._count(folder, f"{side}-unbalanced", thread, choice.replies)
            if choice.pair:
                self._count(folder, f"{side}-balanced", thread, choice.pair)
            ids = [*thread.ancestors.split(" "), *(reply.id for reply in choice.replies)]
            self.ids += [(folder, id) for id in ids]
        if len(self.lines) + len(self.ids) > LINES_AT_ONCE:
            self.flush()

    def _count(self, folder: str, index: str, thread: Thread, replies: Sequence[BenchmarkReply]) -> None:
        self._add(f"{folder}/{index}.csv", thread, replies)
        self.counts[folder, index, sum(reply.label for reply in replies), len(replies)] += 1

    def _add(self, file: str, thread: Thread, replies: Sequence[BenchmarkReply]) -> None:
        labels = [reply.label for reply in replies]
        line = format_index_line(thread.ancestors.split(" "), [reply.id for reply in replies], labels)
        self.lines.append((thread.post, thread.last, file, line))

    def flush(self) -> None:
        """Write what is held."""
        held = ((self.line_writer, _LINES, self.lines), (self.id_writer, _IDS, self.ids))
        for writer, schema, rows in held:
            columns = [pa.array([row[at] for row in rows], pa.string()) for at in range(len(schema))]
            writer.write_table(pa.table(columns, schema=schema))
            rows.clear()


# Returns the cosine similarity of each pair of texts.
Similarity = Callable[[Sequence[str], Sequence[str]], "NDArray[np.float32]"]

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
    if rules.sentences == "strict" and not looks_like_sentence(text):
        return "not_a_sentence"
    return ""


def looks_like_sentence(text: str) -> bool:
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
    while some := list(islice(fitting, SEQUENCES_AT_ONCE)):
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
        closeness = similarity([drawn[at][0].text for at in waiting], [drawn[at][1][turn].text for at in waiting])
        far = closeness <= rules.similarity_cut
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


def check_vectors(name: str) -> None:
    """Raise an error if the vectors are missing: now, not after hours of reading dumps."""
    if name == EMBEDDED_VECTORS:
        from deadpan.vectors import find_embedded

        find_embedded()
    elif not Path(name).is_file():
        raise ConfigError(f"vectors {name!r}: no such file; give a GloVe file, or {EMBEDDED_VECTORS} for deadpan's own")


class WordSums:
    """Cosine similarities from word vectors; of a file, only the vectors of the given words are read."""

    def __init__(self, name: str, texts: Iterable[str]) -> None:
        from deadpan.vectors import Vectors

        if name == EMBEDDED_VECTORS:
            self.vectors: Vectors = Vectors.embedded()
        else:
            words = {token for text in texts for token in sarc_tokens(text)}
            self.vectors = Vectors.read(Path(name), words)

    def __call__(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
        """Return a cosine per pair, computed row by row, so that it does not depend on the other pairs."""
        one = self.vectors.sentences(left, pool="sum")
        other = self.vectors.sentences(right, pool="sum")
        cosines: NDArray[np.float32] = (one * other).sum(axis=1)
        return cosines
