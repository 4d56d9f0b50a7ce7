"""Every protocol in a real browser: desktop and phone, English and Korean, by keyboard and by touch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from deadpan.records import Turn
from deadpan.studies import Study, StudyItem, read_export, write_study
from studio.browsing import Studio, answer, at_work, axe, check, saved

pytestmark = pytest.mark.slow
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
SAID = {
    "en": ("Oh, what a lovely surprise.", "The train is late again."),
    "ko": ("와, 정말 놀랍기도 하네.", "기차가 또 늦는대."),
}
PASSWORD = "correct horse battery"


def items(protocol: str, language: str) -> list[StudyItem]:
    response, before = SAID[language]
    extra = {
        "annotate": {"shown": {"explanation": before}},
        "categorise": {"shown": {"explanation": before, "rephrase": before}},
        "choose": {"options": (response, before)},
        "quiz": {"options": tuple(f"{before} {n}" for n in range(6)), "shown": {"question": response}},
    }.get(protocol, {})
    hidden = {"label": True, "answer": 0, "category": "intended_meaning"}
    context = () if protocol == "choose" else (Turn("A", before), Turn("B", "…"), Turn("A", before))
    return [
        StudyItem(f"{protocol}-{at}", Turn("B", response), context, hidden=hidden, **extra) for at in range(3)
    ]


@pytest.fixture(scope="module", autouse=True)
def beside_playwright():
    """Playwright's loop runs in this thread, so Django thinks it is in a coroutine. It is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    found = Studio(tmp_path_factory.mktemp("served"))
    for language in ("en", "ko"):
        for protocol in ("annotate", "categorise", "perceive", "audit", "choose", "quiz"):
            folder = tmp_path_factory.mktemp("study")
            write_study(
                folder,
                Study(protocol, f"{protocol} ({language})", language=language, raters_per_item=6),
                items(protocol, language),
            )
            found.run("create", protocol, "--name", f"{protocol}-{language}", "--study", str(folder))
        config = tmp_path_factory.mktemp("tell") / "study.toml"
        config.write_text(
            f'protocol = "tell"\ntitle = "tell ({language})"\nlanguage = "{language}"\n[settings]\nminutes = 0.0\ncompletion_code = "DONE"\n',
            "utf-8",
        )
        found.run("create", "tell", "--name", f"tell-{language}", "--config", str(config))
    with found.served():
        yield found


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("needs a browser: apt-get install chromium fonts-nanum")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page_for(browser):
    """A browser window of its own; anything the page complains of, or loads from elsewhere, fails the test."""
    contexts = []

    def make(size: str = "desktop", language: str = "en"):
        context = browser.new_context(
            viewport=SIZES[size], has_touch=size == "phone", is_mobile=size == "phone",
            locale={"en": "en-GB", "ko": "ko-KR"}[language],
        )  # fmt: skip
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                page.complaints.append(request.url)
                if "//localhost:" not in request.url and not request.url.startswith("data:")
                else None
            ),
        )
        contexts.append(context)
        return page

    yield make
    for context in contexts:
        context.close()


def test_axe_finds_what_is_wrong(browser):
    """A check that cannot fail checks nothing."""
    page = browser.new_page()
    page.set_content("<html lang=en><title>x</title><main><img src='data:,'><input></main></html>")
    page.evaluate(axe())
    found = {v["id"] for v in page.evaluate("axe.run(document, {runOnly: ['wcag2a']})")["violations"]}
    page.close()
    assert {"image-alt", "label"} <= found


@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("protocol", ["annotate", "categorise", "perceive", "audit", "choose", "quiz"])
def test_a_protocol_from_invitation_to_export(studio, page_for, tmp_path, protocol, language, size):
    name, look = f"{protocol}-{language}", f"{protocol}-{language}-{size}"
    page = page_for(size, language)
    role = "participant" if protocol == "quiz" else "annotator"
    page.goto(studio.invite(name, role))
    check(page, f"{look}-1-join")
    if role == "annotator":
        page.fill("[name=name]", f"{look}-person")
        page.fill("[name=password]", PASSWORD)
    with page.expect_navigation():
        page.click("main button.main")
    check(page, f"{look}-2-consent")
    page.click("[name=agree]")
    page.wait_for_selector("#code")
    check(page, f"{look}-3-guideline")
    page.click("a.main")
    for at in range(3):
        at_work(page)
        if at == 0:
            check(page, f"{look}-4-item")
        answer(page, size)
        if at == 0:
            check(page, f"{look}-5-answered")
        page.keyboard.press("ArrowRight") if size == "desktop" else page.tap("#forward")
        page.wait_for_url(lambda url, at=at: not url.endswith(f"/item/{at + 1}"))
    page.wait_for_selector("text=/All done|모두 마쳤습니다/")
    check(page, f"{look}-6-done")
    assert page.complaints == []
    studio.run("export", name, "--out", str(tmp_path / "out"))
    mine = {j.item_id for j in read_export(tmp_path / "out").judgments}
    assert mine == {f"{protocol}-{at}" for at in range(3)}


@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_survey_its_export_and_its_withdrawal(studio, page_for, tmp_path, language, size):
    look = f"tell-{language}-{size}"
    page = page_for(size, language)
    page.goto(studio.invite(f"tell-{language}", "participant"))
    page.click("main button.main")
    page.click("[name=agree]")
    page.wait_for_selector("#code")
    code = page.inner_text("#code")
    check(page, f"{look}-1-guideline")
    page.click("a.main")
    page.wait_for_selector("#survey")
    page.wait_for_load_state("load")
    check(page, f"{look}-2-survey")
    page.fill("[name=text0]", "Written before the tab was closed")
    page.wait_for_selector("#state:not(:empty)")
    page.reload()
    assert page.input_value("[name=text0]") == "Written before the tab was closed"
    page.click("main button.main")
    page.wait_for_selector(".errors")
    check(page, f"{look}-3-errors")
    fields = {
        "explanation": "Because the train was late again.",
        "rephrase": "I am annoyed about the train.",
        "followers": "12",
    }
    for at, word in enumerate(("alpha", "beta", "gamma", "delta")):
        fields |= {f"text{at}": " ".join(f"{word}{look}{n}" for n in range(7)), f"date{at}": "2024-01-01"}
    for field, value in fields.items():
        page.fill(f"[name={field}]", value)
    page.check("[name=own]")
    page.click("main button.main")
    page.wait_for_selector("#completion")
    check(page, f"{look}-4-thanks")
    assert handed_in(studio, f"tell-{language}", tmp_path / "before", look)
    page.goto(f"{studio.site}/withdraw")
    check(page, f"{look}-5-withdraw")
    page.fill("#code", code)
    page.click("main button.main")
    page.wait_for_selector("[role=status]")
    check(page, f"{look}-6-withdrawn")
    assert not handed_in(studio, f"tell-{language}", tmp_path / "after", look)
    assert page.complaints == []


def handed_in(studio, name: str, out: Path, word: str) -> bool:
    """Whether an export holds a submission with this word in its posts."""
    studio.run("export", name, "--out", str(out))
    return any(word in submission.answers["posts"][0]["text"] for submission in read_export(out).submissions)


def test_offline_answers_are_kept_and_arrive_once(studio, page_for, tmp_path):
    page = page_for()
    page.goto(studio.invite("perceive-en", "annotator"))
    page.fill("[name=name]", "offline")
    page.fill("[name=password]", PASSWORD)
    page.click("main button.main")
    page.click("[name=agree]")
    page.click("a.main")
    at_work(page)
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.wait_for_selector("#state[data-now=offline]")
    check_state = page.inner_text("#state")
    assert "kept" in check_state
    page.context.set_offline(False)
    saved(page)
    studio.run("export", "perceive-en", "--out", str(tmp_path / "out"))
    rows = [
        j
        for j in read_export(tmp_path / "out").judgments
        if j.annotator == pseudonym(studio, "perceive-en", "offline")
    ]
    assert [row.answer for row in rows] == ["sarcastic"] and rows[0].seconds < 60


def pseudonym(studio, study: str, name: str) -> str:
    return next(w["pseudonym"] for w in studio.run("status", study)[0]["workers"] if w["name"] == name)


def test_keys_undo_and_help(studio, page_for):
    page = page_for()
    page.goto(studio.invite("annotate-en", "annotator"))
    page.fill("[name=name]", "keys")
    page.fill("[name=password]", PASSWORD)
    page.click("main button.main")
    page.click("[name=agree]")
    page.click("a.main")
    at_work(page)
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    check(page, "keys-help")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    saved(page)
    assert (
        page.is_visible("[data-question=kind]")
        and page.locator("[data-question=kind] .choice:not([hidden])").count() == 2
    )
    page.keyboard.press("1")
    saved(page)
    assert page.is_checked("input[value='casual dialogue']")
    page.keyboard.press("u")
    page.wait_for_load_state("networkidle")
    assert not page.is_checked("input[value='casual dialogue']") and page.is_checked(
        "input[value='non-sarcasm']"
    )
    page.keyboard.press("ArrowRight")  # not complete: it stays, and the open question has the focus
    assert page.url.endswith("/item/1")
    assert page.complaints == []


def test_the_owners_pages(studio, page_for):
    page = page_for()
    page.goto(studio.start[0].replace("127.0.0.1", "localhost"))
    check(page, "owner-1-start")
    page.fill("[name=name]", "the-owner")
    page.fill("[name=password]", PASSWORD)
    with page.expect_navigation():
        page.click("main button.main")
    check(page, "owner-2-home")
    for size in SIZES:
        page.set_viewport_size(SIZES[size])
        for study in ("annotate-ko", "perceive-en", "quiz-en", "tell-en"):
            page.goto(f"{studio.site}/s/{study}/dashboard")
            page.wait_for_selector("#live")
            check(page, f"owner-3-{study}-{size}")
    page.select_option("#role", "adjudicator")
    page.click("main form.inline button")
    page.wait_for_selector(".code code")
    assert "/join/" in page.inner_text(".code code")
    with page.expect_response(lambda response: response.url.endswith("/live"), timeout=15_000):
        pass
    with page.expect_navigation():
        page.click("text=한국어")
    page.goto(f"{studio.site}/s/perceive-en/dashboard")
    check(page, "owner-4-korean")
    said = page.inner_text("main")
    assert "일치도" in said and "평가자" in said
    assert not re.search(r"annotator|active|undefined|resample|all answers", said)
    page.goto(f"{studio.site}/nowhere")
    check(page, "owner-5-nowhere")
    assert [c for c in page.complaints if "404" not in c] == []


def test_the_adjudicators_pages(studio, page_for):
    """Two who disagree, one who decides."""
    for name, key in (("agrees", "1"), ("differs", "2")):
        page = page_for()
        page.goto(studio.invite("audit-en", "annotator"))
        page.fill("[name=name]", name)
        page.fill("[name=password]", PASSWORD)
        page.click("main button.main")
        page.click("[name=agree]")
        page.click("a.main")
        for at in range(3):
            at_work(page)
            page.keyboard.press(key)
            saved(page)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url, at=at: not url.endswith(f"/item/{at + 1}"))
    page = page_for("phone")
    page.goto(studio.invite("audit-en", "adjudicator"))
    page.fill("[name=name]", "the-judge")
    page.fill("[name=password]", PASSWORD)
    with page.expect_navigation():
        page.click("main button.main")
    page.goto(f"{studio.site}/s/audit-en/adjudicate")
    check(page, "judge-1-queue")
    with page.expect_navigation():
        page.locator(".cards a").first.click()
    check(page, "judge-2-case")
    page.locator("button[name=answer]").first.click()
    page.wait_for_url(re.compile("/adjudicate$"))
    assert page.locator(".cards a").count() == 2
