"""The site: findings that are significant, a page per output, every number's link opens its manifest."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from deadpan.errors import ConfigError
from deadpan.report import build, build_report
from deadpan.storage import read_manifest

LINK = re.compile(r'<a(?P<kind> class="source")? href="(?P<to>[^"]+)"')


def links(page: Path) -> list[tuple[bool, str]]:
    return [(bool(found["kind"]), found["to"]) for found in LINK.finditer(page.read_text(encoding="utf-8"))]


def test_no_link_is_dead_and_every_number_opens_its_manifest(site):
    numbers = 0
    for page in sorted(site.rglob("*.html")):
        if page.name == "report.html":
            continue  # a stage's own page, as it is
        for is_number, to in links(page):
            assert not to.startswith("http"), f"{page}: {to}"
            target = (page.parent / to.partition("#")[0]).resolve()
            assert target.is_file(), f"{page}: {to}"
            if is_number and "pages" not in page.parts:  # a stage's own pages link to the file itself
                numbers += 1
                assert target.name == "manifest.html"
                facts = json.loads((target.parent / "manifest.json").read_text(encoding="utf-8"))
                assert facts["command"] in target.read_text(encoding="utf-8")
    assert numbers > 100


def test_the_front_page_has_three_findings_a_card_per_story_and_what_was_done(site, made):
    html = (site / "index.html").read_text(encoding="utf-8")
    assert "<h1>Pilot</h1>" in html
    assert html.count("<li>", html.index('class="findings"'), html.index("</ol>")) == 3
    for title in (
        "Systems on words.csv",
        "From one corpus to another",
        "Study “pilot”",
        "SarcBench",
        "Papers measured",
    ):
        assert title in html
    assert "deadpan detect compare" in html
    assert read_manifest(site).counts["outputs"] == 8


def test_a_row_of_a_leaderboard_links_to_its_own_run(site):
    page = next(
        path for path in site.rglob("index.html") if "<h1>SarcBench" in path.read_text(encoding="utf-8")
    )
    targets = {to for is_number, to in links(page) if is_number and to.startswith("../")}
    assert len(targets) == 2


def test_a_winner_is_named_only_if_it_is_significant(made, noise, tmp_path):
    nobody = build_report([noise], tmp_path / "a").findings
    assert nobody == ("No system differs significantly from majority on mine.csv.",)
    (words,) = build_report([made / "comparison"], tmp_path / "b").findings
    assert words.startswith("bow does best on words.csv")


def test_an_output_that_cannot_be_trusted_is_listed_without_numbers(made, tmp_path):
    shutil.copytree(made / "comparison", tmp_path / "in" / "comparison")
    with (tmp_path / "in" / "comparison" / "compare.json").open("a") as file:
        file.write(" ")
    result = build_report([tmp_path / "in"], tmp_path / "site")
    assert "compare.json" in result.problems[0][1]
    page = (tmp_path / "site" / "in-comparison" / "index.html").read_text(encoding="utf-8")
    assert "Its numbers are not shown" in page
    assert 'class="source"' not in page


def test_a_second_build_replaces_the_first_and_nothing_else(made, tmp_path):
    out = tmp_path / "site"
    build_report([made / "comparison", made / "transfer"], out)
    (out / "notes.txt").write_text("mine")
    build_report([made / "comparison"], out)
    assert not (out / "transfer" / "index.html").exists()
    assert (out / "notes.txt").exists()
    build_report([made / "comparison"], out)
    assert (out / "notes.txt").read_text() == "mine"
    assert {"index.html", "comparison/index.html"} <= read_manifest(out).files.keys()
    with pytest.raises(ConfigError, match="not a report"):
        build_report([made / "comparison"], made / "transfer")
    with pytest.raises(ConfigError, match="contains folders that the report is about"):
        build_report([made / "comparison"], made)


def test_a_report_that_was_cut_short_can_be_written_again(made, tmp_path, monkeypatch):
    def stop(stories: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "site"
    with monkeypatch.context() as interrupted:
        interrupted.setattr(build, "top_findings", stop)
        with pytest.raises(KeyboardInterrupt):
            build_report([made], out)
    assert not (out / "index.html").exists()
    assert read_manifest(out).files == {}
    build_report([made], out)
    assert (out / "index.html").is_file() and "index.html" in read_manifest(out).files


def test_the_command_and_its_mistakes(made, tmp_path, deadpan):
    ran = deadpan("report", "build", made / "comparison", "--out", tmp_path / "site", "--json")
    assert ran.status == 0
    assert ran.json["pages"] >= 3
    (tmp_path / "empty").mkdir()
    wrong = deadpan("report", "build", tmp_path / "empty", "--out", tmp_path / "other")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)
    text = deadpan("report", "build", made / "comparison", made / "export", "--out", tmp_path / "all").out
    assert max(len(line) for line in text.splitlines() if "/" not in line) <= 80
