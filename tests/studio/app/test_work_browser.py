"""Single situations in a real browser: the survey, a lost connection, keys, the leader's and the judge's pages.

test_server_walk.py works through every protocol in both languages on both sizes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chromium import ARGS, CHROMIUM
from deadpan.formats.judgments import read_export
from deadpan.formats.study import Study, StudyItem, item_type, write_study
from deadpan.records import Turn
from studio.browsing import Studio, at_work, axe, check, saved

pytestmark = pytest.mark.slow
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
LOOKS = (("en", "desktop"), ("ko", "phone"))
STUDIES = ("annotate-en", "annotate-ko", "reader-judgment-en", "audit-en", "quiz-en")
SAID = {
    "en": ("Oh, what a lovely surprise.", "The train is late again."),
    "ko": ("와, 정말 놀랍기도 하네.", "기차가 또 늦는대."),
}
PASSWORD = "correct horse battery"


def items(protocol: str, language: str) -> list[StudyItem]:
    response, before = SAID[language]
    extra = {
        "annotate": {"explanation": before},
        "categorise": {"explanation": before, "rephrase": before},
        "audit": {"label": True},
        "pairwise": {"options": (response, before), "answer": 0},
        "quiz": {
            "options": tuple(f"{before} {n}" for n in range(6)),
            "question": response,
            "answer": 0,
            "category": "intended_meaning",
        },
    }.get(protocol, {})
    kind = item_type(protocol)
    context = () if protocol == "pairwise" else (Turn("A", before), Turn("B", "…"), Turn("A", before))
    return [kind(f"{protocol}-{at}", Turn("B", response), context, **extra) for at in range(3)]


@pytest.fixture(scope="module", autouse=True)
def beside_playwright():
    """Playwright's loop runs in this thread, so Django thinks it is in a coroutine. It is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture(scope="module")
def studio(tmp_path_factory, template):
    found = Studio(tmp_path_factory.mktemp("served"), template)
    for name in STUDIES:
        protocol, language = name.rsplit("-", 1)
        folder = tmp_path_factory.mktemp("study")
        study = Study(protocol, f"{protocol} ({language})", language=language, raters_per_item=6)
        write_study(folder, study, items(protocol, language))
        found.run("create", protocol, "--open", "--setting", "contact=lab@example.org", "--name", name, str(folder))
    for language in ("en", "ko"):
        config = tmp_path_factory.mktemp("author-survey") / "study.toml"
        config.write_text(
            f'protocol = "author-survey"\ntitle = "author-survey ({language})"\nlanguage = "{language}"\n[settings]\nminutes = 0.0\ncompletion_code = "DONE"\n',
            "utf-8",
        )
        found.run(
            "create",
            "author-survey",
            "--open",
            "--setting",
            "contact=lab@example.org",
            "--name",
            f"author-survey-{language}",
            "--config",
            str(config),
        )
    with found.served():
        yield found


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    if not CHROMIUM:
        pytest.skip("needs a browser: apt-get install chromium-headless-shell fonts-nanum")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=ARGS)
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
        context.set_default_timeout(180_000)
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
    page.set_default_timeout(180_000)
    page.set_content("<html lang=en><title>x</title><main><img src='data:,'><input></main></html>")
    page.evaluate(axe())
    found = {v["id"] for v in page.evaluate("axe.run(document, {runOnly: ['wcag2a']})")["violations"]}
    page.close()
    assert {"image-alt", "label"} <= found


@pytest.mark.parametrize(("language", "size"), LOOKS)
def test_the_survey_its_export_and_its_withdrawal(studio, page_for, tmp_path, language, size):
    look = f"author-survey-{language}-{size}"
    page = page_for(size, language)
    page.goto(studio.invite(f"author-survey-{language}", "participant"))
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
    page.wait_for_selector("#survey .errors")
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
    assert handed_in(studio, f"author-survey-{language}", tmp_path / "before", look)
    page.goto(f"{studio.site}/withdraw")
    check(page, f"{look}-5-withdraw")
    page.fill("#code", code)
    page.click("main button.main")
    page.click("[name=sure]")
    page.wait_for_selector("[role=status]:not([hidden])")
    check(page, f"{look}-6-withdrawn")
    assert not handed_in(studio, f"author-survey-{language}", tmp_path / "after", look)
    assert page.complaints == []


def handed_in(studio, name: str, out: Path, word: str) -> bool:
    """Whether an export holds a submission with this word in its posts."""
    studio.run("export", name, "--out", str(out))
    return any(word in submission.answers["posts"][0]["text"] for submission in read_export(out).submissions)


def begin(studio, page, study: str, name: str) -> None:
    """Follow an annotator's invitation to the first item."""
    page.goto(studio.invite(study, "annotator"))
    page.fill("[name=name]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("main button.main")
    page.click("[name=agree]")
    page.click("a.main")


def test_offline_answers_are_kept_and_arrive_once(studio, page_for, tmp_path):
    page = page_for()
    begin(studio, page, "reader-judgment-en", "offline")
    at_work(page)
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.wait_for_selector("#state[data-now=offline]")
    check_state = page.inner_text("#state")
    assert "1 kept" in check_state
    page.context.set_offline(False)
    page.wait_for_url(lambda url: not url.endswith("/item/1"))
    studio.run("export", "reader-judgment-en", "--out", str(tmp_path / "out"))
    rows = [
        j
        for j in read_export(tmp_path / "out").judgments
        if j.annotator == pseudonym(studio, "reader-judgment-en", "offline")
    ]
    assert [row.answer for row in rows] == ["sarcastic"] and rows[0].seconds < 60


def pseudonym(studio, study: str, name: str) -> str:
    return next(w["pseudonym"] for w in studio.run("status", study)["studies"][0]["workers"] if w["name"] == name)


def test_keys_undo_and_help(studio, page_for):
    page = page_for()
    begin(studio, page, "annotate-en", "keys")
    at_work(page)
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    check(page, "keys-help")
    page.keyboard.press("Escape")
    page.wait_for_selector("#keys", state="hidden")  # the browser closes dialogs in its own time
    page.keyboard.press("2")
    saved(page)
    assert (
        page.is_visible("[data-question=kind]")
        and page.locator("[data-question=kind] .choice:not([hidden])").count() == 2
    )
    page.keyboard.press("1")  # the next open question: the context
    saved(page)
    assert page.is_checked("[data-question=context] input[value=normal]")
    # While Hangul is typed the key's letter is another one; its place on the keyboard is the same.
    with page.expect_navigation():
        page.evaluate(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {code: 'KeyU', key: 'ㅕ', bubbles: true}))"
        )
    at_work(page)
    assert not page.is_checked("[data-question=context] input[value=normal]")
    assert page.is_checked("input[value='non-sarcasm']")
    page.keyboard.press("Enter")  # not complete: it stays, says what is missing, and puts the focus there
    page.wait_for_selector("#notice:not([hidden])")
    assert page.url.endswith("/item/1") and "natural dialogue" in page.inner_text("#notice")
    check(page, "keys-missing")
    page.evaluate("document.activeElement.blur()")
    page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {code: 'Digit1', key: '1', bubbles: true}))"
    )
    saved(page)
    page.click("#help")
    page.uncheck("#use-keys")
    page.keyboard.press("Escape")
    before = page.locator("input:checked").count()
    page.keyboard.press("1")
    assert page.locator("input:checked").count() == before  # single keys are switched off
    assert page.complaints == []


def test_an_answer_before_the_scripts_are_there_is_saved(studio, page_for):
    """On a slow connection a person chooses before the page's scripts have come; keys wait for them."""
    page = page_for()
    late = []
    page.route("**/item*.js", lambda route: late.append(route))
    page.goto(studio.invite("reader-judgment-en", "annotator"))
    page.fill("[name=name]", "early")
    page.fill("[name=password]", PASSWORD)
    page.click("main button.main")
    page.click("[name=agree]")
    page.click("a.main", no_wait_after=True)
    page.wait_for_selector("#answers .choice")
    page.keyboard.press("2")
    assert page.locator("input:checked").count() == 0
    page.locator(".choice").first.click()
    while not late:  # the request is on its way
        page.wait_for_timeout(20)
    late[0].continue_()
    saved(page)
    page.unroute("**/item*.js")
    page.reload()
    at_work(page)
    assert page.locator("#answers input:checked").count() == 1 and page.complaints == []


def test_an_undo_waits_for_the_answer_before_it(studio, page_for):
    """An answer that is on its way when it is undone must not come back; a key held down is one answer."""
    page = page_for()
    begin(studio, page, "annotate-ko", "quick")
    at_work(page)
    page.keyboard.press("1")
    saved(page)
    waiting = []
    page.route("**/save", lambda route: waiting.append(route))
    page.keyboard.press("1")  # the context, on its way
    page.wait_for_selector("#state[data-now=saving]")
    page.keyboard.press("u")
    held = "document.body.dispatchEvent(new KeyboardEvent('keydown', {code: 'Digit2', key: '2', repeat: true, bubbles: true}))"
    page.evaluate(held)
    assert page.is_checked("[data-question=context] input[value=normal]") and page.url.endswith("/item/1")
    with page.expect_navigation():
        waiting[0].continue_()
    at_work(page)
    assert not page.is_checked("[data-question=context] input[value=normal]")
    assert page.is_checked("[data-question=response] input[value=sarcasm]")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('unsent'))") == []
    assert page.complaints == []


def check_sizes(page, name: str) -> None:
    for size in SIZES:
        page.set_viewport_size(SIZES[size])
        check(page, f"{name}-{size}")


def test_the_owners_pages(studio, page_for):
    page = page_for()
    page.goto(studio.start[0].replace("127.0.0.1", "localhost"))
    check(page, "owner-1-start")
    page.fill("[name=name]", "the-owner")
    page.fill("[name=password]", PASSWORD)
    with page.expect_navigation():
        page.click("main button.main")
    check(page, "owner-2-home")
    for study in ("annotate-ko", "reader-judgment-en", "quiz-en", "author-survey-en"):
        page.goto(f"{studio.site}/s/{study}/dashboard")
        page.wait_for_selector("#live")
        check_sizes(page, f"owner-3-{study}")
    page.select_option("#role", "adjudicator")
    page.click("main form[action$=invite] button")
    page.wait_for_selector(".code code")
    assert "/join/" in page.inner_text(".code code")
    for place in ("people", "settings", "preview", "items", "log", "adjudicate", "flags"):
        page.goto(f"{studio.site}/s/reader-judgment-en/{place}")
        check_sizes(page, f"owner-6-{place}")
    page.clock.install()
    page.goto(f"{studio.site}/s/reader-judgment-en/dashboard")
    with page.expect_response(lambda response: response.url.endswith("/live"), timeout=180_000):
        page.clock.fast_forward(11_000)  # it asks every ten seconds
    with page.expect_navigation():
        page.click("text=한국어")
    page.goto(f"{studio.site}/s/reader-judgment-en/dashboard")
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
        begin(studio, page, "audit-en", name)
        for at in range(3):
            at_work(page)
            page.keyboard.press(key)  # and it goes on by itself
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
        page.locator(".rows a").first.click()
    check(page, "judge-2-case")
    page.locator("button[name=answer]").first.click()
    page.wait_for_url(re.compile("/adjudicate/"))  # the next one
    page.goto(f"{studio.site}/s/audit-en/adjudicate")
    assert page.locator(".rows a").count() == 2
