"""Ways in and back: guests, used links, platforms, and roles that need a password."""

from __future__ import annotations

import re

import pytest


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(2), raters_per_item=5, settings={
        "completion_code": "C0DE", "completion_url": "https://platform.example/done?id={PROLIFIC_PID}",
        "screenout_url": "https://platform.example/out", "match": {"gender": "female"},
    })  # fmt: skip


def agree(client, gender="female"):
    return client.post("/s/s/consent", {"agree": "yes", "gender": gender})


def test_a_guest_has_a_link_back_and_logging_out_shows_it(site, study):
    client = site.person(study, role="participant", consent=False)
    agree(client)
    page = client.get("/s/s/guideline").content.decode()
    link = re.search(r'id="return" href="http://localhost(/return/[^"]+)"', page)[1]
    left = client.post("/logout").content.decode()
    assert link.split("/return/")[0] in left and "/return/" in left
    again = site.client()
    assert again.get(link).status_code == 200  # a preview of the link logs nobody in
    assert again.get("/").url.startswith("/login")
    assert again.post(link).status_code == 302
    assert site.open_item(again, study)
    assert site.client().get(link[:-3] + "abc").status_code == 404


def test_a_link_for_one_works_again_for_its_own_guest(site, study):
    from deadpan.studio.models import Member

    link = site.link(study, "participant")
    client = site.client()
    client.post(link)
    agree(client)
    later = site.client()  # another browser, or no cookies any more
    assert b"continue where you left off" in later.get(link).content
    assert later.post(link).url == "/s/s/"
    assert Member.objects.count() == 1 and site.open_item(later, study)
    assert client.get(link).url == "/s/s/"


def test_a_finished_guests_link_shows_neither_answers_nor_code(site, study):
    link = site.link(study, "participant")
    client = site.client()
    client.post(link)
    agree(client)
    code = re.search(r'id="code">([A-Z0-9-]+)<', client.get("/s/s/guideline").content.decode())[1]
    back = re.search(r'href="http://localhost(/return/[^"]+)"', client.get("/s/s/guideline").content.decode())[1]
    assert site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"}) == 2
    finder = site.client()
    for page in (finder.get(link), finder.post(link)):
        assert page.status_code == 200
        for secret in (code, "C0DE", "platform.example", "/return/"):
            assert secret not in page.content.decode(), secret
    assert "everything is done" in page.content.decode()
    for address in ("/s/s/answers", "/s/s/item/1", "/s/s/guideline"):
        assert finder.get(address).url.startswith("/login")
    owner_of_it = site.client()
    assert owner_of_it.post(back).status_code == 302
    assert b"reply number" in owner_of_it.get("/s/s/answers").content


def test_somebody_who_does_not_agree_is_forgotten(site, study):
    from deadpan.studio.models import Identity, Invite, Member, Person

    link = site.link(study, "participant")
    client = site.client()
    client.post(f"{link}?PROLIFIC_PID=p1")
    assert 'value="no"' in client.get("/s/s/consent").content.decode()
    page = client.post("/s/s/consent", {"agree": "no"})
    assert b"Nothing about you is stored" in page.content and b"https://platform.example/out" in page.content
    assert not Member.objects.exists() and not Identity.objects.exists() and not Person.objects.exists()
    assert Invite.objects.get().uses_left == 1 and client.get("/s/s/").url.startswith("/login")
    # After a change of mind the same link works; who has agreed withdraws by the code instead.
    client.post(f"{link}?PROLIFIC_PID=p1")
    agree(client)
    client.post("/s/s/consent", {"agree": "no"})
    assert Member.objects.get().consented_at is not None


def test_a_used_link_of_an_account_leads_to_the_login(site, study):
    link = site.link(study)
    client = site.client()
    client.post(link, {"name": "ann", "password": "correct horse battery"})
    page = site.client().get(link)
    assert page.status_code == 404 and b"/login?next=/s/s/" in page.content
    assert client.get(link).url == "/s/s/"


def test_a_guest_never_becomes_an_owner_without_a_password(site, study):
    from deadpan.studio.models import Member

    client = site.person(study, role="participant", consent=False)
    link = site.link(study, "owner")
    assert client.post(link).status_code == 200  # asks for a name and a password
    assert not Member.objects.filter(role="owner").exists()
    client.post(link, {"name": "leader", "password": "correct horse battery"})
    owner = Member.objects.get(role="owner")
    assert owner.person.name == "leader" and owner.person.has_usable_password()
    assert client.get("/s/s/").url == "/s/s/dashboard"
    assert client.get("/s/s/dashboard").status_code == 200


def test_participants_from_a_platform_come_once_and_go_back(site, study):
    from deadpan.studio.models import Identity

    link = site.link(study, "participant", uses=5)
    client = site.client()
    client.post(f"{link}?PROLIFIC_PID=p-17&STUDY_ID=s1&SESSION_ID=x")
    agree(client)
    assert Identity.objects.get().crowd_id == "p-17" and Identity.objects.get().platform["STUDY_ID"] == "s1"
    site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"})
    page = client.get("/s/s/").content.decode()
    assert "C0DE" in page and "https://platform.example/done?id=p-17" in page
    twice = site.client().post(f"{link}?PROLIFIC_PID=p-17")
    assert twice.status_code == 409
    assert "taken part" in twice.content.decode() and "To the start" not in twice.content.decode()
    out = site.client()
    out.post(f"{link}?workerId=w1&assignmentId=a")
    agree(out, "male")
    assert "https://platform.example/out" in out.get("/s/s/").content.decode()
    preview = site.client().get(f"{link}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE").content.decode()
    assert "Accept the task" in preview


def test_who_comes_when_the_study_is_full_is_sent_back_too(site, study):
    first = site.person(study, role="participant", consent=False)
    agree(first)
    site.answer_all(first, study, lambda item: {"sarcastic": "sarcastic"})
    study.items.update(wanted=1)
    late = site.person(study, role="participant", consent=False)
    agree(late)
    page = late.get("/s/s/").content.decode()
    assert "https://platform.example/out" in page and "C0DE" not in page


def test_people_agree_to_a_text_they_can_read(site, items):
    from deadpan.studio.models import Identity

    study = site.make("reader-judgment", items(1), language="en")
    client = site.person(study, consent=False)
    client.post("/language", {"language": "ko", "next": "/"})
    assert "언제든지 그만둘 수 있습니다" in client.get("/s/s/consent").content.decode()
    client.post("/s/s/consent", {"agree": "yes"})
    assert "언제든지" in Identity.objects.get().consent_text  # what was agreed to, word for word


def test_a_guest_whose_session_ended_is_shown_their_own_link(site, items):
    study = site.make("reader-judgment", items(1))
    for role, has in (("participant", True), ("annotator", False)):
        client = site.person(study, role=role)
        page = client.get(site.open_item(client, study)).content.decode()
        assert ("data-back" in page) == has, role


def test_a_guest_is_called_by_the_pseudonym_that_exports_have(site, items):
    study = site.make("reader-judgment", items(1))
    client = site.person(study, role="participant")
    page = site.owner().get("/s/s/dashboard").content.decode()
    assert f"guest {site.member(client).pseudonym}" in page and client.get("/").status_code == 200
    assert site.member(client).person.name not in page


def test_facts_match_however_they_are_written():
    from deadpan.studio.people.demographics import same_fact

    for one in ("UK", "United Kingdom", "영국", "gb", "the United Kingdom"):
        assert same_fact("country", "Great Britain", one)
    assert same_fact("country", "한국", "South Korea") and not same_fact("country", "UK", "US")
    assert same_fact("gender", "Female", "여성") and not same_fact("gender", "female", "male")


def test_a_save_after_the_session_ended_is_told_to_log_in(site, study):
    client = site.person(study, consent=False)
    agree(client)
    address = site.open_item(client, study)
    stranger = site.client()
    answer = site.save(stranger, address, sarcastic="sarcastic")
    assert answer.status_code == 401 and answer.json() == {"login": True}


def test_tries_from_one_address_are_limited_over_all_names(site):
    client = site.client()
    codes = [client.post("/login", {"name": f"n{at}", "password": "x" * 12}).status_code for at in range(62)]
    assert codes[59] == 200 and codes[60] == 429


def test_the_proxys_header_names_the_client(site, settings_of_site):
    with settings_of_site(STUDIO_CLIENT_HEADER="HTTP_X_FORWARDED_FOR"):
        bad = {"name": "ann", "password": "wrong password"}
        one = site.client(HTTP_X_FORWARDED_FOR="6.6.6.6, 10.0.0.1")
        assert [one.post("/login", bad).status_code for _ in range(9)][-1] == 429
        other = site.client(HTTP_X_FORWARDED_FOR="10.0.0.1, 10.0.0.2")
        assert other.post("/login", bad).status_code == 200
        spoofed = site.client(HTTP_X_FORWARDED_FOR="1.2.3.4, 10.0.0.1")
        assert spoofed.post("/login", bad).status_code == 429  # the proxy's word counts, not the client's


@pytest.fixture
def settings_of_site():
    from django.test import override_settings

    return override_settings


def test_a_lost_database_is_said_in_the_readers_language(site, study, monkeypatch):
    from django.db import OperationalError

    from deadpan.studio.app import accounts

    def gone(*args, **kwargs):
        raise OperationalError("unable to open database file")

    client = site.person(study, consent=False)
    client.raise_request_exception = False
    monkeypatch.setattr(accounts.models.Member.objects, "filter", gone)
    client.cookies["django_language"] = "ko"
    page = client.get("/")
    assert page.status_code == 503 and "이 기기에 보관" in page.content.decode()


def test_a_large_body_is_refused_before_it_is_read(site, study):
    client = site.person(study, consent=False)
    response = client.post("/login", b"x" * 600_000, content_type="application/octet-stream")
    assert response.status_code == 413
    response = site.client().post("/new", b"x" * 600_000, content_type="multipart/form-data; boundary=x")
    assert response.status_code == 413
