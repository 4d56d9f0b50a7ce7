"""Connected components of threads that the dumps wrongly divide, computed by one job on any worker."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.corpus.engines.engine import Watch, ignore

SCHEMA = pa.schema([("thread", pa.string()), ("home", pa.string())])


def job(edges: Iterable[Path], target: Path) -> str:
    """Return the arguments of `work` as text."""
    return json.dumps([[str(path.resolve()) for path in edges], str(target.resolve())])


def work(job: str, watch: Watch = ignore) -> None:
    """Read pairs of threads that belong together; write every thread with the first of its component."""
    sources, target = json.loads(job)
    tables = [pq.ParquetFile(source).read(columns=SCHEMA.names) for source in sources]
    pairs = (pair for table in tables for pair in zip(*(c.to_pylist() for c in table.columns), strict=True))
    homes = connected_components(pairs)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table([list(homes), list(homes.values())], schema=SCHEMA), target)
    watch(job, len(homes))


def connected_components(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return every node with the first node, alphabetically, of its connected component."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for one, other in edges:
        first, second = sorted((find(one), find(other)))
        root[second] = first
    return {name: find(name) for name in list(root)}
