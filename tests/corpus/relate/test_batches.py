"""Jobs that workers run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.corpus.relate import batches


def test_a_job_has_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source, target, *rest = json.loads(batches.job(Path("rows"), Path("out"), 3, True))
    assert (source, target) == (str(tmp_path / "rows"), str(tmp_path / "out"))
    assert rest == [3, True]


def test_without_threads_there_are_files_without_rows(tmp_path: Path) -> None:
    fields = {name: pa.string() for name in batches.TREE_COLUMNS}
    fields |= dict.fromkeys(("marked", "candidate"), pa.bool_())
    fields |= {"created_utc": pa.int64(), "month": pa.int32()}
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.schema(fields.items()).empty_table(), tmp_path / "rows" / "part.parquet")
    batches.work(batches.job(tmp_path / "rows", tmp_path, 0, True))
    for name, schema in batches.SCHEMAS.items():
        assert pq.read_table(tmp_path / name / "00000.parquet").schema.equals(schema)


def test_a_parent_in_another_thread_of_the_batch_is_missing() -> None:
    """Else the threads would be merged or not depending on what else is in the batch."""
    kinds = {"marked": pa.bool_(), "candidate": pa.bool_(), "created_utc": pa.int64(), "month": pa.int32()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in batches.TREE_COLUMNS])
    rows = [
        {"thread": "p", "id": "a", "top": "p", "marked": False, "candidate": True},
        {"thread": "q", "id": "b", "up": "a", "marked": False, "candidate": True},
        {"thread": "q", "id": "c", "up": "b", "marked": True, "candidate": True},
    ]
    found = batches.results(pa.Table.from_pylist(rows, schema), drop_under=True)
    assert found["missing"].to_pylist() == [{"id": "a", "thread": "q"}]
    assert found["sequences"].num_rows == 0
    assert found["broken"]["last"].to_pylist() == ["b"]
