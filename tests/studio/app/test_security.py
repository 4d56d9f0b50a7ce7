"""One test a rule."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from deadpan.errors import ConfigError
from deadpan.formats.study import AnnotateItem, item_type
from deadpan.records import Turn
from deadpan.studio.records.export import export_study

ROOT = Path(__file__).parent.parent.parent
ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
PRIVATE = ["/", "/s/s/", "/s/s/consent", "/s/s/guideline", "/s/s/next", "/s/s/item/1", "/s/s/survey", "/s/s/thanks",
           "/s/s/dashboard", "/s/s/dashboard/live", "/s/s/adjudicate", "/s/s/adjudicate/1/sarcastic"]  # fmt: skip
POSTED = ["/s/s/item/1/save", "/s/s/undo", "/s/s/invite", "/s/s/decide", "/s/s/consent"]


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(3), raters_per_item=2)


@pytest.mark.parametrize("address", PRIVATE)
def test_no_page_without_login(site, study, address):
    response = site.client().get(address)
    assert response.status_code == 302 and response.url.startswith("/login")


@pytest.mark.parametrize("address", POSTED)
def test_nothing_is_changed_without_login(site, study, address):
    response = site.client().post(address, {"agree": "yes"})
    assert response.status_code == 302 and response.url.startswith("/login")


@pytest.mark.parametrize("address", ["/join/nonsense", "/start/nonsense"])
def test_no_way_in_without_a_token(site, study, address):
    assert site.client().get(address).status_code == 404


def test_a_link_works_as_often_as_it_says_and_not_after_its_time(site, study):
    from django.utils import timezone

    from deadpan.studio.models import Invite

    link = site.link(study, uses=1)
    form = {"name": "one", "password": "correct horse battery"}
    assert site.client().post(link, form).status_code == 302
    assert site.client().post(link, {**form, "name": "two"}).status_code == 404
    late = site.link(study)
    Invite.objects.update(expires_at=timezone.now())
    assert site.client().get(late).status_code == 404


def test_tokens_are_not_stored(site, study):
    from deadpan.studio.models import Invite

    token = site.link(study).rsplit("/", 1)[1]
    assert token not in str(list(Invite.objects.values()))


@pytest.mark.parametrize("address", PRIVATE[1:])
def test_a_stranger_to_the_study_finds_nothing(site, items, study, address):
    other = site.make("reader-judgment", items(2), name="other")
    client = site.person(other)
    assert client.get(address).status_code == 404


def test_an_annotator_sees_no_others_answers_and_no_owners_page(site, study):
    one, two = site.person(study), site.person(study)
    address = site.open_item(one, study)
    site.save(one, address, sarcastic="sarcastic")
    page = two.get(site.open_item(two, study)).content.decode()
    assert "checked" not in page and site.member(one).pseudonym not in page
    assert two.get("/s/s/item/2").status_code == 404  # only items of one's own
    for owners in ("/s/s/dashboard", "/s/s/dashboard/live", "/s/s/adjudicate"):
        assert two.get(owners).status_code == 404
    assert two.post("/s/s/invite", {"role": "owner", "uses": "1"}).status_code == 404


def test_an_adjudicator_lands_on_their_page_and_sees_no_dashboard(site, study):
    judge = site.person(study, role="adjudicator")
    assert judge.get("/s/s/").url == "/s/s/adjudicate"
    assert [judge.get(a).status_code for a in ("/s/s/consent", "/s/s/dashboard")] == [404, 404]


def test_hidden_fields_never_reach_a_browser(site):
    secret = "the-hidden-truth"
    item = AnnotateItem("a", Turn("", "Fine."), label=True, topic=secret, suspect=secret, source=secret)
    study = site.make("annotate", [item])
    client = site.person(study)
    pages = [client.get(a) for a in (site.open_item(client, study), "/s/s/guideline")]
    assert all(secret not in page.content.decode() for page in pages)


@pytest.mark.parametrize("address", [*POSTED, "/logout", "/language", "/login", "/withdraw"])
def test_forms_need_their_token(site, study, address):
    strict = site.client(enforce_csrf_checks=True)
    client = site.person(study)
    strict.cookies = client.cookies
    response = strict.post(address, {"agree": "yes"})
    assert response.status_code == 403 and "Nothing was changed" in response.content.decode()


def test_imported_items_cannot_become_markup(site):
    item = AnnotateItem(ATTACK, Turn(ATTACK, ATTACK), (Turn(ATTACK, ATTACK),), explanation=ATTACK)
    study = site.make(
        "annotate",
        [item],
        title=ATTACK,
        raters_per_item=1,
        settings={"instructions": ATTACK, "consent": ATTACK, "contact": ATTACK},
    )
    client = site.person(study, name=ATTACK, consent=False)
    pages = [client.get("/s/s/consent")]
    client.post("/s/s/consent", {"agree": "yes"})
    address = site.open_item(client, study)
    site.save(client, address, response="sarcasm", context="normal", explanation="normal", comment=ATTACK)
    other = site.person(study, name="other")
    pages += [
        client.get(address),
        client.get("/s/s/guideline"),
        client.get("/"),
        client.get("/s/s/"),
        other.get("/s/s/"),
    ]
    owner = site.owner()
    pages += [owner.get("/s/s/dashboard"), owner.get("/")]
    for page in pages:
        text = page.content.decode()
        assert "<script>alert" not in text and "<img src=x" not in text


@pytest.mark.parametrize("protocol", ["categorise", "reader-judgment", "audit", "pairwise", "quiz"])
def test_no_part_of_an_item_can_become_markup(site, protocol):
    """Whatever a protocol shows of an item, on its own page and to who decides between answers."""
    n = {"pairwise": 2, "quiz": 6}.get(protocol, 0)
    kind = item_type(protocol)
    values = dict.fromkeys(("explanation", "rephrase", "original", "subreddit", "question", "category"), ATTACK) | {
        "label": True,
        "answer": 0,
        "options": tuple(f"{at}{ATTACK}" for at in range(n)),
    }
    known = {name: value for name, value in values.items() if name in kind.__dataclass_fields__}
    item = kind("a", Turn(ATTACK, ATTACK), (Turn(ATTACK, ATTACK),), **known)
    study = site.make(
        protocol, [item], raters_per_item=2, settings={"context": "full"} if protocol == "reader-judgment" else {}
    )
    from deadpan.studio.records.studies import protocol_of, settings_of

    question = protocol_of(study).questions(settings_of(study))[0]
    pages = []
    for at in range(2):
        client = site.person(study)
        address = site.open_item(client, study)
        pages.append(client.get(address))
        assert site.save(client, address, **{question.name: question.choices[at].value}).json()["complete"]
    judge = site.person(study, role="adjudicator", name="judge")
    pk = study.items.get().pk
    pages += [judge.get("/s/s/adjudicate"), judge.get(f"/s/s/adjudicate/{pk}/{question.name}")]
    pages.append(site.owner().get("/s/s/dashboard"))
    assert [page.status_code for page in pages] == [200] * 5
    for page in pages:
        text = page.content.decode()
        assert "<script>alert" not in text and "<img src=x" not in text
    assert "&lt;script&gt;" in pages[0].content.decode()


def test_survey_fields_cannot_become_markup(site):
    study = site.make("author-survey", settings={"minutes": 0.0, "crowd": True})
    client = site.person(study, role="participant")
    form = dict.fromkeys(
        ("text0", "link0", "explanation", "rephrase", "country", "region", "crowd_id", "age", "gender", "date0"), ATTACK
    )
    text = client.post("/s/s/survey", form).content.decode()
    assert "<script>alert" not in text and "<img src=x" not in text and "&lt;script&gt;" in text


def test_login_and_withdraw_fields_cannot_become_markup(site):
    for address, form in (
        ("/login", {"name": ATTACK, "password": "x", "next": ATTACK}),
        ("/withdraw", {"code": ATTACK, "sure": "yes"}),
    ):
        text = site.client().post(address, form).content.decode()
        assert "<script>alert" not in text and "<img src=x" not in text


def test_a_spreadsheet_runs_no_formula(site, tmp_path):
    item = AnnotateItem("=HYPERLINK(1)", Turn("", "Fine."))
    study = site.make("annotate", [item], raters_per_item=1)
    client = site.person(study)
    site.save(client, site.open_item(client, study), response="sarcasm", context="normal", comment="=cmd|'/c calc'!A1")
    export_study(study, tmp_path / "out", csv=True)
    cells = (tmp_path / "out" / "judgments.csv").read_text("utf-8-sig").replace("\n", ",").split(",")
    assert not any(cell.lstrip('"').startswith(("=", "+", "@")) for cell in cells)


def test_a_session_known_from_before_is_worth_nothing(site, study):
    site.person(study, name="ann")
    client = site.client()
    client.get("/login")
    session = client.session
    session["planted"] = 1
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    assert client.post("/login", {"name": "ann", "password": "correct horse battery"}).status_code == 302
    assert client.session.session_key != planted
    stranger = site.client()
    stranger.cookies["sessionid"] = planted
    assert stranger.get("/").status_code == 302


def test_joining_and_leaving_change_the_session_too(site, study):
    client = site.client()
    client.get("/login")
    session = client.session
    session["planted"] = 1
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    site.person(study, client=client)
    inside = client.session.session_key
    assert inside != planted
    client.post("/logout")
    stranger = site.client()
    stranger.cookies["sessionid"] = inside
    assert stranger.get("/").status_code == 302


def test_guessing_is_limited_by_name_and_address(site, study):
    site.person(study, name="ann")
    client = site.client()
    tries = [client.post("/login", {"name": "ann", "password": f"guess {at}"}).status_code for at in range(9)]
    assert tries == [200] * 8 + [429]
    assert client.post("/login", {"name": "ann", "password": "correct horse battery"}).status_code == 429
    elsewhere = site.client(REMOTE_ADDR="10.0.0.9")
    assert elsewhere.post("/login", {"name": "ann", "password": "correct horse battery"}).status_code == 302


def test_codes_cannot_be_guessed_either(site):
    client = site.client()
    assert [client.post("/withdraw", {"code": f"A{at}"}).status_code for at in range(9)][-1] == 429


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "A", "x" * 60, "", "a\x00b", "study.toml"])
def test_a_study_cannot_be_named_like_a_path(site, items, name):
    with pytest.raises(ConfigError, match="part of an address"):
        site.make("reader-judgment", items(2), name=name)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py",
        "/static/studio/..%2f..%2fsettings.py",
        "/static/%2e%2e/models.py",
        "/s/../../etc/passwd/",
    ],
)
def test_files_outside_are_not_served(site, path):
    response = site.client().get(path)
    assert response.status_code == 404 and b"SECRET" not in response.content


def test_going_on_after_login_stays_here(site, study):
    site.person(study, name="ann")
    for where in ("https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"):
        done = site.client().post("/login", {"name": "ann", "password": "correct horse battery", "next": where})
        assert done.url == "/"


def test_every_page_has_the_policy(site, study):
    client = site.person(study)
    for address in ("/login", site.open_item(client, study), "/nowhere"):
        headers = client.get(address).headers
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy and "default-src 'none'" in policy
        assert "object-src 'none'" in policy and "charset=utf-8" in headers["Content-Type"]
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["X-Frame-Options"] == "DENY" and headers["X-Content-Type-Options"] == "nosniff"
        assert "no-store" in headers["Cache-Control"]


def test_templates_and_scripts_hold_nothing_inline_and_nothing_from_elsewhere():
    for path in (ROOT / "src/deadpan/studio/templates").rglob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|javascript:|https?://|\|safe|autoescape", text), (
            path
        )
    for path in (ROOT / "src/deadpan/studio/static").rglob("*.*"):
        if not path.name.startswith("htmx"):
            text = path.read_text("utf-8")
            assert not re.search(r"https?://|eval\(|innerHTML|document\.write|import\(", text), path


def test_debug_is_off_and_cookies_are_safe(tmp_path):
    from deadpan.studio.app.settings import settings_for

    settings = settings_for(tmp_path)
    assert settings["DEBUG"] is False
    assert settings["SESSION_COOKIE_SECURE"] and settings["CSRF_COOKIE_SECURE"] and settings["SESSION_COOKIE_HTTPONLY"]
    assert settings["PASSWORD_HASHERS"] == ["django.contrib.auth.hashers.Argon2PasswordHasher"]


def test_passwords_are_hashed_by_argon2_and_weak_ones_refused(site, study):
    from django.contrib.auth.hashers import make_password

    assert make_password("correct horse battery", hasher="argon2").startswith("argon2$argon2id$")
    for weak in ("short", "password123", "1234567890123", "**sunshine2026**", "Deadpan Studio 1", "sarcasm!!!!"):
        page = site.client().post(site.link(study), {"name": "weak", "password": weak})
        assert page.status_code == 200 and "error" in page.content.decode()


def test_a_password_is_taken_as_it_is(site, study):
    """Not trimmed, not cut, any characters; masked, and password managers know the field."""
    link, password = site.link(study), " 긴 비밀번호 " + "x y" * 25 + "  "
    page = site.client().get(link).content.decode()
    assert 'type="password"' in page and 'autocomplete="new-password"' in page and "onpaste" not in page
    assert site.client().post(link, {"name": "ann", "password": password}).status_code == 302
    for other in (password.strip(), password.upper(), password[:64]):
        assert site.client().post("/login", {"name": "ann", "password": other}).status_code == 200
    assert site.client().post("/login", {"name": "ann", "password": password}).status_code == 302


def test_the_secret_is_made_at_home_and_readable_by_its_owner_only(tmp_path):
    from deadpan.studio.app.settings import secret_key

    key = secret_key(tmp_path)
    assert len(key) > 40 and secret_key(tmp_path) == key
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def test_no_secret_is_in_the_repository():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = listed.stdout.split()
    assert not [n for n in names if n.endswith(("secret.key", ".sqlite3", ".pem", ".env"))]
    pattern = re.compile(r"SECRET_KEY\s*=\s*['\"][^'\"]{16,}|BEGIN (RSA|EC|OPENSSH) PRIVATE KEY|AKIA[0-9A-Z]{16}")
    for name in names:
        path = ROOT / name
        if path.suffix in (".py", ".toml", ".cfg", ".yml", ".sh") and path.is_file() and path != Path(__file__):
            assert not pattern.search(path.read_text("utf-8", errors="replace")), name


def test_a_broken_page_says_what_is_safe(site, study, monkeypatch):
    from deadpan.studio.app import accounts

    client = site.client()
    client.raise_request_exception = False
    monkeypatch.setattr(accounts, "stylesheet", lambda: 1 / 0)
    response = client.get("/look.css")
    assert response.status_code == 500
    text = response.content.decode()
    assert "shown as saved is safe" in text and "ZeroDivisionError" not in text


def test_a_host_that_is_not_ours_is_refused(site):
    assert site.client().get("/login", headers={"host": "evil.example"}).status_code == 400
