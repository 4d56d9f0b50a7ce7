"""A study of one's own questions in a real browser, in English and in Korean on a phone: from upload to release."""

from __future__ import annotations

import json
import zipfile

import pytest

from deadpan.formats.judgments import read_export
from studio.app.test_server_walk import leader, studio  # noqa: F401 - fixtures
from studio.app.test_work_browser import LOOKS, SAID, SIZES, beside_playwright, browser, page_for  # noqa: F401 - fixtures
from studio.browsing import at_work, check, saved

pytestmark = pytest.mark.slow
CHOICES = {"en": ("sarcastic", "not sarcastic"), "ko": ("비꼼", "비꼼이 아님")}
MARKS = {"en": ("cue", "target"), "ko": ("단서", "대상")}


def build(leader, studio, name: str, language: str, folder, look: str) -> None:  # noqa: F811
    """Upload a table, build three questions, name a contact and open the study."""
    response, before = SAID[language]
    table = folder / "posts.csv"
    table.write_text(f'id,text,context\np1,"{response}","A: {before}"\n', "utf-8")
    leader.goto(f"{studio.site}/new")
    leader.select_option("[name=protocol]", "custom")
    leader.fill("[name=name]", name)
    leader.fill("[name=title]", name)
    leader.select_option("select[name=language]", language)
    leader.fill("[name=raters]", "1")
    leader.set_input_files("[name=file]", str(table))
    leader.click("main button.main")
    leader.click("[name=create]")
    leader.wait_for_url(f"{studio.site}/s/{name}/dashboard")
    leader.goto(f"{studio.site}/s/{name}/questions")
    # What a new study asks is replaced: its first question by ours, others are added one by one.
    asked = (
        {"name": "sarcastic", "text": "Sarcastic?", "kind": "choice", "options": "\n".join(CHOICES[language])},
        {"name": "strength", "text": "How strong?", "kind": "scale", "left": "weak", "right": "strong",
         "after": "sarcastic", "when": CHOICES[language][0]},
        {"name": "words", "text": "Which words?", "kind": "spans", "options": "\n".join(MARKS[language])},
    )  # fmt: skip
    for at, fields in enumerate(asked):
        for field, value in fields.items():
            place = leader.locator(f"[name=q{at}-{field}]")
            place.select_option(value) if field == "kind" else place.fill(value)
        check(leader, f"{look}-builder-{at}")
        with leader.expect_navigation():
            leader.click("[name=more]" if at < len(asked) - 1 else "main form.survey button.main")
    leader.wait_for_url(f"{studio.site}/s/{name}/preview")
    check(leader, f"{look}-preview")
    leader.goto(f"{studio.site}/s/{name}/settings")
    leader.fill("[name=contact]", "lab@example.org")
    leader.click("main button.main")
    leader.wait_for_url(f"{studio.site}/s/{name}/dashboard")
    leader.click("button[name=stage][value=open]")
    leader.wait_for_selector("button[name=stage][value=paused]")


def mark(page, size: str) -> None:
    """Mark the first three words of the response: by touch, or with arrows and Enter."""
    words = page.locator(".response .word")
    if size == "phone":
        words.nth(0).tap()
        words.nth(2).tap()
    else:
        words.nth(0).focus()
        for key in ("Enter", "ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
    page.wait_for_selector(".marks li")
    saved(page)


@pytest.mark.parametrize(("language", "size"), LOOKS)
def test_spans_and_a_scale_from_upload_to_release(studio, leader, page_for, tmp_path, language, size):  # noqa: F811
    name, look = f"own-{language}", f"own-{language}-{size}"
    build(leader, studio, name, language, tmp_path, look)
    page = page_for(size, language)
    page.goto(studio.invite(name, "participant"))
    page.click("main button.main")
    page.click("[name=agree]")
    page.click("a.main")
    at_work(page)
    assert not page.is_visible("[data-question=strength]")  # asked only about what is sarcastic
    page.locator("[data-question=sarcastic] .choice").first.click()
    page.wait_for_selector("[data-question=strength]:not([hidden])")
    page.locator("[data-question=strength] .choice").nth(3).click()
    mark(page, size)
    check(page, f"{look}-item")
    page.click("#forward")
    page.wait_for_selector("#end")
    assert page.complaints == []

    studio.run("export", name, "--out", str(tmp_path / "out"))
    latest = {j.question: j.answer for j in read_export(tmp_path / "out").judgments}
    assert (latest["sarcastic"], latest["strength"]) == (CHOICES[language][0], "4")
    length = len(" ".join(SAID[language][0].split()[:3]))
    assert json.loads(latest["words"]) == [{"turn": 1, "start": 0, "end": length, "label": MARKS[language][0]}]
    leader.goto(f"{studio.site}/s/{name}/dashboard")
    for width in SIZES:
        leader.set_viewport_size(SIZES[width])
        check(leader, f"{look}-dashboard-{width}")
    leader.set_viewport_size(SIZES["desktop"])
    with leader.expect_download() as waiting:
        leader.click("form[action$=release] button")
    waiting.value.save_as(tmp_path / "release.zip")
    assert "README.md" in zipfile.ZipFile(tmp_path / "release.zip").namelist()
