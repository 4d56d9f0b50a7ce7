"""The survey's rules, one by one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.formats.study import AuthorSurveySettings
from deadpan.studio.protocols.author_survey import (
    SurveyPost,
    SurveyResponse,
    account_of_link,
    broken_rules,
    is_full_sentence,
    is_near_duplicate,
    normalize_link,
    post_words,
    posts_that_break,
    split_link,
)

NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=30)
TEXTS = (
    "Oh great, the train is late again today",
    "I had soup for lunch and it was good",
    "The library opens at nine on weekdays now",
    "My sister moved to another city last week",
)
GOOD = SurveyResponse(
    tuple(SurveyPost(text, f"https://x.com/ann/status/{at}", OLD) for at, text in enumerate(TEXTS)),
    120,
    False,
    400.0,
    NOW,
)


def first(**change) -> SurveyResponse:
    return replace(GOOD, posts=(replace(GOOD.posts[0], **change), *GOOD.posts[1:]))


def test_a_good_submission_has_no_reason():
    assert broken_rules(GOOD, AuthorSurveySettings(), []) == []


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
    assert broken_rules(response, AuthorSurveySettings(), []) == [reason]


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("https://mobile.twitter.com/ann/status/2/", "something else entirely, as it happens"),
        ("", TEXTS[2]),
        ("", "the library OPENS at nine, on weekdays now!"),
    ],
)
def test_what_was_handed_in_before_is_known_again(link, text):
    assert broken_rules(GOOD, AuthorSurveySettings(), [(link, text)]) == ["submitted_before"]


def test_exactly_at_the_line_is_fine():
    at_line = replace(first(written_at=NOW - timedelta(hours=48)), followers=30_000, seconds=180.0)
    assert broken_rules(at_line, AuthorSurveySettings(), []) == []
    assert broken_rules(first(text="five words are just enough"), AuthorSurveySettings(), []) == []


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
    assert account_of_link(link) == whose


@given(st.text(), st.text())
def test_nearness_is_mutual_and_a_post_is_near_itself(one, other):
    assert is_near_duplicate(one, other) == is_near_duplicate(other, one)
    assert is_near_duplicate(one, one) == bool(post_words(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "https://www.facebook.com/permalink.php?story_fbid=1&id=9",
            "https://www.facebook.com/permalink.php?story_fbid=2&id=9",
        ),
        ("https://news.example/item?id=41", "https://news.example/item?id=42"),
        ("https://forum.example/viewtopic.php?t=41", "https://forum.example/viewtopic.php?t=42"),
        ("https://forum.example/viewtopic.php?t=41#p7", "https://forum.example/viewtopic.php?t=41#p8"),
        ("https://forum.example/showthread.php?41", "https://forum.example/showthread.php?42"),
        ("https://shop.example/reviews?reference=41", "https://shop.example/reviews?reference=42"),
        ("https://www.youtube.com/watch?v=aaa&lc=1", "https://www.youtube.com/watch?v=aaa&lc=2"),
    ],
)
def test_links_with_ids_in_the_query_are_different_posts(one, other):
    assert normalize_link(one) != normalize_link(other)
    posts = (replace(GOOD.posts[0], link=one), replace(GOOD.posts[1], link=other), *GOOD.posts[2:])
    assert "same_post_twice" not in broken_rules(replace(GOOD, posts=posts), AuthorSurveySettings(), [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://x.com/ann/status/1?s=20&t=Ab3", "https://twitter.com/ann/status/1"),
        ("https://www.instagram.com/p/1/?igsh=abc", "https://instagram.com/p/1"),
        ("https://youtu.be/aaa?si=xyz&t=30", "https://youtu.be/aaa"),
        ("https://news.example/item?id=41&utm_source=mail", "https://news.example/item?utm_medium=a&id=41"),
        ("https://news.example/item?b=2&id=41", "https://news.example/item?id=41&b=2"),
    ],
)
def test_ways_to_share_a_link_are_one_post(one, other):
    assert normalize_link(one) == normalize_link(other)


@pytest.mark.parametrize("link", ["https://[x", "https://x.com:port/1", "http://", "nonsense", "https://[::1"])
def test_a_broken_link_breaks_nothing(link):
    assert split_link(link) is not None and account_of_link(link) == ""
    assert "same_post_twice" not in broken_rules(first(link=link), AuthorSurveySettings(), [(link, "")])


def test_errors_name_the_posts_that_break_a_rule():
    late = replace(GOOD.posts[2], written_at=NOW - timedelta(hours=1))
    response = replace(GOOD, posts=(GOOD.posts[0], replace(GOOD.posts[1], text="short"), late, GOOD.posts[3]))
    assert posts_that_break("too_short", response, AuthorSurveySettings()) == [1]
    assert posts_that_break("too_recent", response, AuthorSurveySettings()) == [2]
    assert posts_that_break("verified_account", response, AuthorSurveySettings()) == []


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("기차가 또 늦어서 짜증이 났어요.", True),
        ("짜증이 나서 그랬습니다.", True),
        ("짜증", False),
        ("그냥 짜증", False),
        ("ㅋㅋ ㅋㅋ", False),
        ("ㅋㅋㅋㅋ ㅋㅋㅋㅋㅋ ㅎㅎ ㅎㅎ", False),
        ("I was annoyed that day.", True),
        ("so annoyed", False),
    ],
)
def test_a_sentence_in_english_and_korean(text, full):
    assert is_full_sentence(text) is full
