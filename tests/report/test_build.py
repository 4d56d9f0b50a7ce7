"""The site: findings that are significant, a page per output, no link is dead."""

from __future__ import annotations

import re
import shutil

import pytest

from deadpan.errors import ConfigError
from deadpan.report import build, build_report
from deadpan.storage import read_manifest

LINK = re.compile(r'<a[^>]* href="([^"]+)"')


def test_no_link_is_dead(site):
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        for to in LINK.findall(page.read_text(encoding="utf-8")):
            assert not to.startswith("http"), f"{page}: {to}"
            assert (page.parent / to.partition("#")[0]).resolve().is_file(), f"{page}: {to}"
    assert len(pages) > 10


def test_the_front_page_has_a_card_per_output_and_what_was_done(site, made):
    html = (site / "index.html").read_text(encoding="utf-8")
    assert "<h1>Pilot</h1>" in html
    for title in (
        "Systems on words.csv",
        "From one corpus to another",
        "Study “pilot”",
        "baseline/first on",
        "Papers measured",
    ):
        assert title in html
    assert "deadpan detect compare" in html
    assert read_manifest(site).counts["outputs"] == 8


def test_a_winner_is_named_only_if_it_is_significant(made, noise, tmp_path):
    (nobody,) = build_report([noise], tmp_path / "a").findings
    assert nobody.startswith("No system is significantly better than ")
    (words,) = build_report([made / "comparison"], tmp_path / "b").findings
    assert words.startswith("bow does best on words.csv")


def test_an_output_that_cannot_be_trusted_is_listed_without_numbers(made, tmp_path):
    shutil.copytree(made / "comparison", tmp_path / "in" / "comparison")
    with (tmp_path / "in" / "comparison" / "compare.json").open("a") as file:
        file.write(" ")
    result = build_report([tmp_path / "in"], tmp_path / "site")
    assert "compare.json" in result.problems[0][1]
    page = (tmp_path / "site" / "in-comparison" / "manifest.html").read_text(encoding="utf-8")
    assert "Its numbers are not shown" in page
    assert not (tmp_path / "site" / "in-comparison" / "report.html").exists()


def test_a_second_build_replaces_the_first_and_nothing_else(made, tmp_path):
    out = tmp_path / "site"
    build_report([made / "comparison", made / "transfer"], out)
    (out / "notes.txt").write_text("mine")
    build_report([made / "comparison"], out)
    assert not (out / "transfer" / "manifest.html").exists()
    assert (out / "notes.txt").exists()
    build_report([made / "comparison"], out)
    assert (out / "notes.txt").read_text() == "mine"
    assert {"index.html", "comparison/report.html"} <= read_manifest(out).files.keys()
    with pytest.raises(ConfigError, match="not a report"):
        build_report([made / "comparison"], made / "transfer")
    with pytest.raises(ConfigError, match="contains folders that the report is about"):
        build_report([made / "comparison"], made)


def test_a_report_that_was_cut_short_can_be_written_again(made, tmp_path, monkeypatch):
    def stop(*of: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "site"
    with monkeypatch.context() as interrupted:
        interrupted.setattr(build, "manifest_page", stop)
        with pytest.raises(KeyboardInterrupt):
            build_report([made], out)
    assert not (out / "index.html").exists()
    assert read_manifest(out).files == {}
    build_report([made], out)
    assert (out / "index.html").is_file() and "index.html" in read_manifest(out).files


def test_the_command_and_its_mistakes(made, tmp_path, deadpan):
    ran = deadpan("report", made / "comparison", "--out", tmp_path / "site", "--json")
    assert ran.status == 0
    assert ran.json["pages"] >= 3
    (tmp_path / "empty").mkdir()
    wrong = deadpan("report", tmp_path / "empty", "--out", tmp_path / "other")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)
    text = deadpan("report", made / "comparison", made / "export", "--out", tmp_path / "all").out
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 80
