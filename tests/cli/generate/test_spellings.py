"""Old spellings of options: they still work, with one line that names the new one."""

from __future__ import annotations

import pytest


def test_a_plan_with_old_options(deadpan, tmp_path):
    done = deadpan("generate", "plan", tmp_path / "p.toml", "--source", "chats/", "--url", "http://x/v1",
                   "--model", "m")  # fmt: skip
    assert done.status == 0 and "--source is now SOURCE" in done.err and "--url is now --base-url" in done.err
    text = (tmp_path / "p.toml").read_text("utf-8")
    assert 'path = "chats/"' in text and 'base_url = "http://x/v1"' in text


@pytest.mark.slow
def test_beside_an_old_option_out_is_the_run_folder(deadpan, plan_of, tmp_path):
    plan = plan_of(4)
    assert deadpan("generate", "run", plan, "--out", tmp_path / "other").status == 0
    page, data = tmp_path / "page.html", tmp_path / "data"
    done = deadpan("generate", "report", plan, "--out", tmp_path / "other", "--out-page", page)
    assert done.status == 0 and "--out-page is now --out" in done.err and page.is_file()
    done = deadpan("generate", "release", plan, "--out", tmp_path / "other", "--to", data, "--unjudged")
    assert done.status == 0 and "--to is now --out" in done.err and (data / "README.md").is_file()
    again = tmp_path / "again"
    done = deadpan("generate", "release", plan, "--run", tmp_path / "other", "--out", again, "--unjudged")
    assert done.status == 0 and done.err == ""
    assert (again / "statistics.json").read_bytes() == (data / "statistics.json").read_bytes()


def test_usage_errors_are_one_line(deadpan, plan_of, tmp_path):
    missing = deadpan("generate", "release", plan_of(2))
    assert missing.status == 2 and "--out" in missing.err and missing.err.count("\n") == 1
    neither = deadpan("generate", "people", plan_of(2))
    assert neither.status == 2 and "either --study FOLDER" in neither.err and neither.err.count("\n") == 1


def test_status_while_a_run_is_at_work(deadpan, plan_of, tmp_path):
    from deadpan.generate.folder import GenerationFolder

    plan = plan_of(3)
    assert deadpan("generate", "source", plan).status == 0
    with GenerationFolder(tmp_path / "run").lock():
        done = deadpan("generate", "status", plan, "--json")
    assert done.status == 0 and done.json["waiting"][0] == "situation" and done.json["kept"] == 3
