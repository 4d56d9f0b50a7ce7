"""All dumps as units: each is read once, by a job that an engine runs here or on a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Share
from deadpan.corpus.ingest import read
from deadpan.corpus.ingest.decoders import WINDOW
from deadpan.corpus.ingest.digests import hash_dumps
from deadpan.corpus.ingest.dumps import Dump
from deadpan.corpus.ingest.forget import Forgotten
from deadpan.corpus.ingest.units import Unit, check_unit, load_unit
from deadpan.corpus.settings import BuildOptions, TextRules
from deadpan.progress import Progress
from deadpan.validation import encode

FORMAT = 8  # of the rows; after a change every dump is read again


class Ingest:
    """Reads dumps into checkpoints, several dumps at a time."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        engine: Engine,
        rules: TextRules,
        options: BuildOptions,
        forgotten: Forgotten,
    ) -> None:
        self.checkpoints = checkpoints
        self.engine = engine
        self.rules = rules
        self.options = options
        self.forgotten = forgotten

    def run(self, dumps: Sequence[Dump], progress: Progress) -> list[Unit]:
        """Return every dump as a unit, in order. If one fails, the others stop; finished units stay."""
        hashes = hash_dumps(self.engine, self.checkpoints.root, self.checkpoints.scratch, dumps)
        keys = [self._key(dump, *mark) for dump, mark in zip(dumps, hashes, strict=True)]
        kinds = [dump.kind for dump in dumps]
        self.forgotten.adopt(self.checkpoints, self.engine, zip(kinds, keys, strict=True))
        self._read_new(dumps, keys, progress)
        units = [
            load_unit(self.checkpoints.folder(dump.kind, key), dump, key["sha256"])
            for dump, key in zip(dumps, keys, strict=True)
        ]
        for dump, unit in zip(dumps, units, strict=True):
            check_unit(dump, unit, self.options)
        return units

    def _read_new(self, dumps: Sequence[Dump], keys: Sequence[dict[str, Any]], progress: Progress) -> None:
        """Run a job for every dump that no earlier run has read, the largest first."""
        new = [(d, key) for d, key in zip(dumps, keys, strict=True) if not self.checkpoints.has(d.kind, key)]
        new.sort(key=lambda pair: -pair[0].size)
        share = self.engine.share(len(new), extra=WINDOW, at_once=self.options.workers)
        positions = {self._job(dump, key, share): 0 for dump, key in new}
        total = sum(dump.size for dump in dumps)
        done = total - sum(dump.size for dump, _ in new)

        def watch(job: str, position: int) -> None:
            positions[job] = position
            progress("ingest", done + sum(positions.values()), total)

        progress("ingest", done, total)
        self.engine.run_jobs(read.work, list(positions), watch, share.at_once)

    def _job(self, dump: Dump, key: dict[str, Any], share: Share) -> str:
        return read.ReadJob(
            path=str(dump.path.resolve()),
            kind=dump.kind,
            folder=str(self.checkpoints.folder(dump.kind, key).resolve()),
            key=key,
            tombstones=tuple(sorted(self.forgotten.tombstones)),
            allow_truncated=self.options.allow_truncated,
            memory=share.memory,
            threads=share.threads,
            scratch=str(self.checkpoints.scratch.resolve()),
        ).text()

    def _key(self, dump: Dump, sha256: str, copy: int) -> dict[str, Any]:
        """Return the key of a unit. A file given twice is two units, whose comments are duplicates."""
        return {
            "format": FORMAT,
            "kind": dump.kind,
            "sha256": sha256,
            "copy": copy,
            "rules": encode(self.rules),
            "truncated": self.options.allow_truncated,
            "forget": self.forgotten.key,
        }
