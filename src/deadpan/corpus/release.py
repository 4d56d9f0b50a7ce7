"""From finished steps to the files people get: benchmarks drawn, everything written, then put in place."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.benchmark import Choice, Reply, Thread, choose, line
from deadpan.corpus.engine import files_of
from deadpan.corpus.outputs import Outputs
from deadpan.corpus.rules import literal
from deadpan.corpus.settings import BenchmarkRules, Settings
from deadpan.corpus.similarity import WordSums
from deadpan.corpus.statistics import mean_share
from deadpan.corpus.workshop import Workshop, flush
from deadpan.fields import encode
from deadpan.storage import Manifest, digest, manifest_path, read_json, write_json

PUBLISHED = "published.json"
IDS_TOGETHER = 100_000


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """What was drawn: sizes by folder and file, and what was left out."""

    sizes: dict[str, dict[str, Any]]
    drops: Counter[str]


class Drawing:
    """Writes the indexes of main and the subsets, and the comments.json each of them needs."""

    def __init__(
        self, outputs: Outputs, settings: Settings, threads: Path, entries: Path, work: Path
    ) -> None:
        self.outputs = outputs
        self.rules: BenchmarkRules = settings.benchmark
        self.seed = settings.seed
        self.threads = threads
        self.entries = entries
        self.work = work

    def run(self) -> Benchmarks:
        """One pass over the sequences (two, where a file of vectors must know its words first)."""
        drops: Counter[str] = Counter()
        words = (reply.text for thread in self._sequences() for reply in thread.replies)
        similarity = WordSums(self.rules.vectors, words)
        with ExitStack() as stack:
            parts = [
                stack.enter_context(_Part(self.outputs, name, subreddits, self.work))
                for name, subreddits in (("main", None), *sorted(self.rules.subsets.items()))
            ]
            for choice in choose(self._sequences(), self.rules, self.seed, similarity, drops):
                for part in parts:
                    part.take(choice)
        for part in parts:
            self.outputs.comments(part.name, self.entries, f"read_parquet({literal(str(part.ids))})")
        return Benchmarks({part.name: part.sizes() for part in parts}, +drops)

    def _sequences(self) -> Iterator[Thread]:
        """By (post, last ancestor), each with its replies in order."""
        rows = (row for batch in self.outputs.batches(self._query()) for row in batch.to_pylist())
        for _, group in groupby(rows, key=lambda row: (row["post"], row["last"])):
            replies = list(group)
            first = replies[0]
            yield Thread(
                first["post"], first["last"], first["ancestors"], first["subreddit"],
                tuple(Reply(row["id"], row["label"] == "1", row["text"]) for row in replies),
            )  # fmt: skip

    def _query(self) -> str:
        unnested = (
            "SELECT post, last, ancestors, subreddit, unnest(string_split(responses, ' ')) AS id,"
            " unnest(string_split(labels, ' ')) AS label,"
            " generate_subscripts(string_split(labels, ' '), 1) AS place"
            f" FROM {files_of(self.threads / 'sequences')}"
        )
        return (
            f"SELECT s.post, s.last, s.ancestors, s.subreddit, s.id, s.label, e.text FROM ({unnested}) s"
            f" JOIN {files_of(self.entries / 'said')} e ON s.id = e.id ORDER BY s.post, s.last, s.place"
        )


class _Part:
    """One folder of the benchmarks while it is written."""

    def __init__(self, outputs: Outputs, name: str, subreddits: Sequence[str] | None, work: Path) -> None:
        self.outputs = outputs
        self.name = name
        self.subreddits = None if subreddits is None else {one.lower() for one in subreddits}
        self.ids = work / f"ids-{name}.parquet"
        self.counts: dict[str, Counter[tuple[int, int]]] = {}
        self.files: dict[str, IO[bytes]] = {}
        self.held: list[str] = []
        self.stack = ExitStack()

    def __enter__(self) -> _Part:
        for side in ("train", "test"):
            for balance in ("balanced", "unbalanced"):
                key = f"{side}-{balance}"
                self.files[key] = self.stack.enter_context(self.outputs.open(Path(self.name, f"{key}.csv")))
                self.counts[key] = Counter()
        self.writer = self.stack.enter_context(pq.ParquetWriter(self.ids, pa.schema([("id", pa.string())])))
        return self

    def __exit__(self, *failure: object) -> None:
        self._flush()
        self.stack.close()

    def take(self, choice: Choice) -> None:
        """Write what belongs here."""
        if self.subreddits is not None and choice.thread.subreddit.lower() not in self.subreddits:
            return
        side = "test" if choice.test else "train"
        self._write(f"{side}-unbalanced", choice.thread, choice.replies)
        if choice.pair:
            self._write(f"{side}-balanced", choice.thread, choice.pair)
        self.held += choice.thread.ancestors.split(" ")
        self.held += [reply.id for reply in choice.replies]
        if len(self.held) > IDS_TOGETHER:
            self._flush()

    def _write(self, key: str, thread: Thread, replies: Sequence[Reply]) -> None:
        self.files[key].write(line(thread, replies).encode())
        self.counts[key][sum(reply.label for reply in replies), len(replies)] += 1

    def _flush(self) -> None:
        self.writer.write_table(pa.table({"id": pa.array(self.held, pa.string())}))
        self.held = []

    def sizes(self) -> dict[str, Any]:
        """Sequences, replies, sarcastic replies and their mean share, for each file."""
        return {
            key: {
                **mean_share([(s, n, times) for (s, n), times in counts.items()]),
                "sarcastic": sum(s * times for (s, _), times in counts.items()),
            }
            for key, counts in self.counts.items()
        }


def publish(
    workshop: Workshop,
    fresh: Path,
    hashes: Mapping[Path, str],
    settings: Mapping[str, Any],
    seed: int,
    inputs: Mapping[str, str],
    counts: Mapping[str, int],
    drops: Mapping[str, int],
) -> Manifest:
    """Put finished files in place, take away those of an earlier build, and write the manifest last."""
    out = workshop.out
    names = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
    files = {name: _facts(fresh / name, hashes.get(fresh / name)) for name in names}
    known = published(workshop)
    write_json(workshop.root / PUBLISHED, sorted({*known, *names}))
    manifest_path(out).unlink(missing_ok=True)
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(out / name)
    for name in sorted(set(known) - set(names)):
        (out / name).unlink(missing_ok=True)
    _remove_empty(out, known)
    shutil.rmtree(fresh)
    workshop.sweep()
    manifest = Manifest(
        command="corpus build", config=dict(settings), seed=seed, inputs=dict(inputs), files=files,
        counts=dict(counts), drops=dict(drops),
    )  # fmt: skip
    write_json(manifest_path(out), encode(manifest))
    write_json(workshop.root / PUBLISHED, names)
    return manifest


def _facts(path: Path, sha256: str | None) -> dict[str, Any]:
    """What the manifest says of a file."""
    if not sha256:
        flush(path)
        sha256 = digest(path)
    return {"bytes": path.stat().st_size, "sha256": sha256}


def published(workshop: Workshop) -> list[str]:
    """Files of this folder that are ours, so that they may be replaced or taken away."""
    path = workshop.root / PUBLISHED
    return list(read_json(path)) if path.is_file() else []


def _remove_empty(out: Path, known: Sequence[str]) -> None:
    for name in sorted({name.split("/")[0] for name in known if "/" in name}):
        folder = out / name
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
