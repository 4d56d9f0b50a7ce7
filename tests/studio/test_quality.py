"""The survey's rules, one by one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.studio.quality import Limits, Post, Response, account, is_near, reasons, words

NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=30)
TEXTS = (
    "Oh great, the train is late again today",
    "I had soup for lunch and it was good",
    "The library opens at nine on weekdays now",
    "My sister moved to another city last week",
)
GOOD = Response(
    tuple(Post(text, f"https://x.com/ann/status/{at}", OLD) for at, text in enumerate(TEXTS)),
    120,
    False,
    400.0,
    NOW,
)


def first(**change) -> Response:
    return replace(GOOD, posts=(replace(GOOD.posts[0], **change), *GOOD.posts[1:]))


def test_a_good_submission_has_no_reason():
    assert reasons(GOOD, Limits(), []) == []


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (first(written_at=NOW - timedelta(hours=47)), "too_recent"),
        (first(link="https://x.com/bob/status/0"), "several_accounts"),
        (replace(GOOD, verified=True), "verified_account"),
        (replace(GOOD, followers=30_001), "too_many_followers"),
        (first(text="Oh great #late #train #again https://t.co/abcdef late"), "too_short"),
        (first(text=TEXTS[1]), "same_post_twice"),
        (first(link="https://twitter.com/ann/status/1"), "same_post_twice"),
        (replace(GOOD, seconds=179.0), "too_fast"),
    ],
)
def test_each_rule_finds_its_fault_and_no_other(response, reason):
    assert reasons(response, Limits(), []) == [reason]


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("https://mobile.twitter.com/ann/status/2/", "something else entirely, as it happens"),
        ("", TEXTS[2]),
        ("", "the library OPENS at nine, on weekdays now!"),
    ],
)
def test_what_was_handed_in_before_is_known_again(link, text):
    assert reasons(GOOD, Limits(), [(link, text)]) == ["submitted_before"]


def test_exactly_at_the_line_is_fine():
    at_line = replace(first(written_at=NOW - timedelta(hours=48)), followers=30_000, seconds=180.0)
    assert reasons(at_line, Limits(), []) == []
    assert reasons(first(text="five words are just enough"), Limits(), []) == []


@pytest.mark.parametrize(
    ("link", "whose"),
    [
        ("https://x.com/Ann/status/1", "x.com/ann"),
        ("https://www.twitter.com/ann/status/1?s=20", "x.com/ann"),
        ("https://reddit.com/user/ann/comments/1", "reddit.com/ann"),
        ("https://mastodon.social/@ann/1", "mastodon.social/ann"),
        ("https://x.com/i/status/1", ""),
        ("https://x.com", ""),
        ("", ""),
    ],
)
def test_whose_post_a_link_leads_to(link, whose):
    assert account(link) == whose


@given(st.text(), st.text())
def test_nearness_is_mutual_and_a_post_is_near_itself(one, other):
    assert is_near(one, other) == is_near(other, one)
    assert is_near(one, one) == bool(words(one))
