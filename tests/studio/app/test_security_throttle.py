"""The rate limit of logins: per name, per address, and for tries at the same moment."""

from __future__ import annotations

import pytest

from deadpan.studio.app.security import _NAME_LIMIT, _PAIR_LIMIT, LoginAttempt

GOOD = "correct horse battery"


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(2))


def test_a_name_is_limited_over_all_addresses(site, study):
    """Somebody with many addresses who guesses one password."""
    site.person(study, name="ann")
    codes = [
        site.client(REMOTE_ADDR=f"10.0.{at}.1").post("/login", {"name": "Ann", "password": "wrong one"})
        for at in range(_NAME_LIMIT + 1)
    ]
    assert [code.status_code for code in codes] == [200] * _NAME_LIMIT + [429]
    # Who comes by a new address is refused too, and others are not.
    assert site.client(REMOTE_ADDR="10.1.0.1").post("/login", {"name": "ann", "password": GOOD}).status_code == 429
    site.person(study, name="ben")
    assert site.client(REMOTE_ADDR="10.1.0.1").post("/login", {"name": "ben", "password": GOOD}).status_code == 302


def test_tries_at_the_same_moment_count(site, rf):
    """All begin before one of them ends: the ninth is refused although no failure is known yet."""
    from django.utils import timezone

    now = timezone.now()
    begun = [LoginAttempt(rf.post("/login"), "ann", now) for _ in range(_PAIR_LIMIT + 3)]
    assert [one.refused for one in begun] == [False] * _PAIR_LIMIT + [True] * 3


def test_guesses_of_the_old_password_are_limited(site, study):
    """Somebody at a machine that was left logged in."""
    client = site.person(study, name="ann")
    form = {
        "old_password": "a guess",
        "new_password1": "another horse battery",
        "new_password2": "another horse battery",
    }
    pages = [client.post("/account/password", form).content.decode() for _ in range(_PAIR_LIMIT + 1)]
    assert "Too many attempts" in pages[-1] and "Too many attempts" not in pages[-2]
    right = client.post("/account/password", {**form, "old_password": GOOD})
    assert right.status_code == 200 and "Too many attempts" in right.content.decode()


@pytest.fixture
def rf():
    from django.test import RequestFactory

    return RequestFactory()
