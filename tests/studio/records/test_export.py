"""An export, as JSONL and Parquet."""

from __future__ import annotations

from deadpan.formats.judgments import read_export
from deadpan.records import Judgment
from deadpan.storage import read_records
from deadpan.studio.records.export import export_study


def test_parquet_holds_what_the_lines_hold(judged, tmp_path):
    export_study(judged, tmp_path / "out", parquet=True, csv=True)
    found = read_export(tmp_path / "out")
    assert tuple(read_records(tmp_path / "out" / "judgments.parquet", Judgment)) == found.judgments
    assert (tmp_path / "out" / "judgments.csv").is_file()


def test_the_manifest_is_written_once_and_an_earlier_parquet_goes(judged, tmp_path, monkeypatch):
    from deadpan.formats import judgments

    written = []
    write = judgments.write_manifest
    monkeypatch.setattr(judgments, "write_manifest", lambda *a, **k: written.append(a) or write(*a, **k))
    export_study(judged, tmp_path / "out", parquet=True)
    assert len(written) == 1
    listed = (tmp_path / "out" / "manifest.json").read_text("utf-8")
    assert "judgments.parquet" in listed and "labels.parquet" in listed
    export_study(judged, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.parquet"))
