"""A whole study in a browser, for every protocol, in English and Korean: from an upload to a release.

DEADPAN_PICTURES=folder keeps a picture of every page at 1280 and 390 pixels.
"""

from __future__ import annotations

import csv
import json
import shutil
import zipfile

import pytest

from deadpan.formats.judgments import read_export
from studio.app.test_work_browser import LOOKS, PASSWORD, SIZES, beside_playwright, browser, items, page_for  # noqa: F401 - fixtures
from studio.browsing import Studio, answer, check

pytestmark = pytest.mark.slow
LANGUAGES = ("en", "ko")
PROTOCOLS = ("annotate", "categorise", "reader-judgment", "audit", "pairwise", "quiz")
WORDS = {"en": ("alpha", "beta", "gamma", "delta"), "ko": ("가을", "나무", "다리", "라면")}


@pytest.fixture(scope="module")
def studio(tmp_path_factory, template):
    found = Studio(tmp_path_factory.mktemp("walked"), template)
    with found.served():
        yield found


@pytest.fixture(scope="module")
def leader(studio, browser):  # noqa: F811
    """The study leader's window, logged in."""
    context = browser.new_context(viewport=SIZES["desktop"], accept_downloads=True)
    context.set_default_timeout(180_000)
    page = context.new_page()
    page.goto(studio.start[0].replace("127.0.0.1", "localhost"))
    page.fill("[name=name]", "the-leader")
    page.fill("[name=password]", PASSWORD)
    page.click("main button.main")
    page.wait_for_url(f"{studio.site}/")
    yield page
    context.close()


def upload(folder, protocol: str, language: str):
    """A file as a study leader has it: a table where the protocol's items fit in one, else a study folder."""
    made = items(protocol, language)
    if protocol in ("reader-judgment", "audit"):
        path = folder / f"{protocol}.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "text", "context", "label"])
            for item in made:
                turns = "\n".join(f"{turn.speaker}: {turn.text}" for turn in item.context)
                table.writerow([item.id, item.response.text, turns, "sarcastic"])
        return path
    if protocol == "annotate":  # Label Studio
        tasks = [
            {"id": n, "data": {"id": i.id, "text": i.response.text, "explanation": i.explanation,
                               "context": [{"speaker": t.speaker, "text": t.text} for t in i.context]}}
            for n, i in enumerate(made)
        ]  # fmt: skip
        path = folder / "tasks.json"
        path.write_text(json.dumps(tasks, ensure_ascii=False), "utf-8")
        return path
    from deadpan.formats.study import Study, write_study

    write_study(folder / "study", Study(protocol, "x", language=language), made)
    shutil.make_archive(str(folder / protocol), "zip", folder / "study")
    return folder / f"{protocol}.zip"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("protocol", [*PROTOCOLS, "author-survey"])
def test_a_study_from_upload_to_release(studio, leader, page_for, tmp_path, protocol, language):  # noqa: F811
    name, look = f"{protocol}-{language}", f"walk-{protocol}-{language}"
    begin(leader, studio, protocol, language, name, tmp_path, look)
    # Options stand in each person's own order: two who choose the first may tie, and a tie is not released.
    for person, size in enumerate(list(SIZES)[: 1 if protocol == "pairwise" else None]):
        # Somebody with an account by keyboard, and a guest by thumb; one of them is looked at in each language.
        role = "participant" if size == "phone" or protocol in ("quiz", "author-survey") else "annotator"
        looked_at = protocol != "author-survey" and (language, size) in LOOKS
        page = page_for(size, language)
        page.goto(studio.invite(name, role))
        look_at(page, looked_at, f"{look}-{size}-1-join")
        if role == "annotator":
            page.fill("[name=name]", f"{look}-person")
            page.fill("[name=password]", PASSWORD)
        with page.expect_navigation():
            page.click("main button.main")
        look_at(page, looked_at, f"{look}-{size}-2-consent")
        page.click("[name=agree]")
        page.wait_for_selector("#code")
        look_at(page, looked_at, f"{look}-{size}-3-guideline")
        page.click("a.main")
        if protocol == "author-survey":
            hand_in(page, f"{look}{person}", WORDS[language])
        else:
            work(page, size, f"{look}-{size}")
            look_at(page, looked_at, f"{look}-{size}-6-done")
        assert page.complaints == []
    if protocol != "author-survey":
        studio.run("export", name, "--out", str(tmp_path / "out"))
        assert {j.item_id for j in read_export(tmp_path / "out").judgments} == {
            item.id for item in items(protocol, language)
        }
    finish(leader, studio, protocol, name, tmp_path, look)


def look_at(page, looked_at: bool, name: str) -> None:
    if looked_at:
        check(page, name)


def begin(leader, studio, protocol, language, name, folder, look) -> None:
    """Create the study: the form, the columns, the preview, and its settings."""
    leader.goto(f"{studio.site}/new")
    leader.select_option("[name=protocol]", protocol)
    leader.fill("[name=name]", name)
    leader.fill("[name=title]", f"{protocol} ({language})")
    leader.select_option("select[name=language]", language)
    leader.fill("[name=raters]", "2")
    if protocol != "author-survey":
        leader.set_input_files("[name=file]", str(upload(folder, protocol, language)))
    check(leader, f"{look}-1-new")
    leader.click("main button.main")
    if protocol != "author-survey":
        leader.wait_for_selector("[name=create]")
        check(leader, f"{look}-2-columns")
        leader.click("[name=create]")
    leader.wait_for_url(f"{studio.site}/s/{name}/dashboard")
    leader.goto(f"{studio.site}/s/{name}/settings")
    leader.fill("[name=guideline]", "## Read first\n\nTake your **time**.")
    leader.fill("[name=contact]", "lab@example.org")
    if protocol == "author-survey":
        leader.fill("[name=minutes]", "0")
    leader.click("main button.main")
    leader.wait_for_url(f"{studio.site}/s/{name}/dashboard")
    leader.click("button[name=stage][value=open]")
    leader.wait_for_selector("button[name=stage][value=paused]")


def work(page, size, look: str) -> None:
    """Answer everything: by one key an answer, or by thumb."""
    for at in range(20):
        page.wait_for_selector("#answers[data-ready], #end")
        if not page.locator("#answers").count():
            return
        page.wait_for_load_state("load")
        if at == 0:
            check(page, f"{look}-4-item")
        here = page.url
        answer(page, size)
        if size == "phone":  # a keyboard goes on by itself
            if at == 0:
                check(page, f"{look}-5-answered")
            page.tap("#forward")
        page.wait_for_url(lambda url, here=here: url != here)
    raise AssertionError("the items do not end")


def hand_in(page, word: str, words) -> None:
    page.wait_for_selector("#survey")
    fields = {
        "explanation": "Because the train was late again, of course.",
        "rephrase": "I am annoyed about the train.",
        "followers": "12",
    }
    for at, each in enumerate(words):
        fields |= {f"text{at}": " ".join(f"{each}{word}{n}" for n in range(7)), f"date{at}": "2024-01-01"}
    for field, value in fields.items():
        page.fill(f"[name={field}]", value)
    page.check("[name=own]")
    page.click("main button.main")
    page.wait_for_url(lambda url: url.endswith("/thanks"))


def finish(leader, studio, protocol, name, folder, look) -> None:
    """Look at the figures, close the study and download the release; a quiz gives scores, so its export."""
    leader.goto(f"{studio.site}/s/{name}/dashboard")
    for size in SIZES:
        leader.set_viewport_size(SIZES[size])
        check(leader, f"{look}-3-dashboard-{size}")
    leader.set_viewport_size(SIZES["desktop"])
    leader.click("button[name=stage][value=closed]")
    leader.wait_for_selector("button[name=stage][value=open]")
    with leader.expect_download() as waiting:
        if protocol == "quiz":
            leader.click("a[href$='download/export']")
        else:
            leader.click("form[action$=release] button")
    path = folder / "out.zip"
    waiting.value.save_as(path)
    names = zipfile.ZipFile(path).namelist()
    assert ("judgments.jsonl" if protocol == "quiz" else "README.md") in names
    leader.goto(f"{studio.site}/s/{name}/log")
    said = leader.inner_text("main")
    assert "settings" in said and "closed" in said
