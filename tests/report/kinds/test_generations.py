"""A run of generate, as the program writes it, on a page of the report."""

from __future__ import annotations

from deadpan import generate_dialogues
from deadpan.report import build_report
from dialogue_server import sources
from generate_fixtures import own_cache, server

__all__ = ["own_cache", "server"]


def test_the_steps_of_a_run_and_what_was_kept(tmp_path, server):
    (tmp_path / "mine.jsonl").write_text(sources(6), encoding="utf-8")
    result = generate_dialogues(
        tmp_path / "mine.jsonl", out=tmp_path / "run", model="writer-1", base_url=server.url, n=4,
        model_settings={"key_env": "", "price": [1.0, 2.0]},
    )  # fmt: skip
    site = build_report([tmp_path / "run"], tmp_path / "site")
    assert site.findings == (f"{result.kept:,} of 4 source dialogues became dialogues ready for people.",)
    html = (tmp_path / "site" / "run" / "index.html").read_text(encoding="utf-8")
    assert "situation" in html and "dialogue" in html
    assert "The page that deadpan generate run wrote" in html
