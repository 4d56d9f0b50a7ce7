"""An export, as JSONL and Parquet."""

from __future__ import annotations

from deadpan.formats.export import read_export
from deadpan.records import Judgment
from deadpan.storage import read_records
from deadpan.studio.records.export import export_study


def test_parquet_holds_what_the_lines_hold(judged, tmp_path):
    export_study(judged, tmp_path / "out", parquet=True, csv=True)
    found = read_export(tmp_path / "out")
    assert tuple(read_records(tmp_path / "out" / "judgments.parquet", Judgment)) == found.judgments
    assert (tmp_path / "out" / "judgments.csv").is_file()
