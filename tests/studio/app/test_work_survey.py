"""The survey as a participant meets it, and taking it back."""

from __future__ import annotations

import re

import pytest

from deadpan.formats.judgments import read_export
from deadpan.studio.records.export import export_study

TEXTS = (
    "Oh great, the train is late again today",
    "I had soup for lunch and it was good",
    "The library opens at nine on weekdays now",
    "My sister moved to another city last week",
)


def filled(who: str = "ann", **change) -> dict[str, str]:
    """A form that can be handed in."""
    form = {
        "explanation": "I was annoyed about the train that day.",
        "rephrase": "I am annoyed that the train is late.",
        "followers": "120",
        "own": "on",
        "age": "31",
        "gender": "female",
        "country": "UK",
    }
    for at, text in enumerate(TEXTS):
        form |= {
            f"text{at}": f"{text} {who} {who}{at}",
            f"link{at}": f"https://x.com/{who}/status/{at}",
            f"date{at}": "2024-01-0" + str(at + 1),
        }
    return {**form, **change}


@pytest.fixture
def study(site):
    return site.make("author-survey", settings={"minutes": 0.0, "completion_code": "DONE-77", "crowd": True})


def hand_in(site, study, who: str = "ann", **change):
    """Walk through the survey; the client and the withdrawal code."""
    client = site.person(study, role="participant")
    assert client.get("/s/s/").url == "/s/s/survey"
    assert "A post you meant sarcastically" in client.get("/s/s/survey").content.decode()
    done = client.post("/s/s/survey", filled(who, **{"crowd_id": f"crowd-{who}", **change}))
    code = re.search(r'id="code">([A-Z0-9-]+)<', client.get("/s/s/guideline").content.decode())[1]
    return client, code, done


def faults(page) -> list[str]:
    """The fields that have a message."""
    return re.findall(r'id="id_(\w+)_error"', page.content.decode())


def test_from_link_to_export(site, study, tmp_path):
    client, _, done = hand_in(site, study)
    assert done.url == "/s/s/thanks"
    assert "DONE-77" in client.get("/s/s/thanks").content.decode()
    assert client.get("/s/s/survey").url == "/s/s/thanks"  # once is enough
    export_study(study, tmp_path / "out")
    (submission,) = read_export(tmp_path / "out").submissions
    assert [post["sarcastic"] for post in submission.answers["posts"]] == [True, False, False, False]
    assert "crowd-ann" not in (tmp_path / "out" / "submissions.jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"text0": "too short"}, "fewer than 5 words"),
        ({"date0": "2999-01-01"}, "less than 48 hours"),
        ({"link1": "https://x.com/bob/status/9"}, "different accounts"),
        ({"text1": TEXTS[2], "text2": TEXTS[2]}, "are the same"),
        ({"link0": "javascript:alert(1)"}, "begins with https"),
        ({"rephrase": "no"}, "full sentence"),
        ({"own": ""}, "This field is required"),
    ],
)
def test_what_can_be_put_right_is_said_and_nothing_is_lost(site, study, change, says):
    _, _, page = hand_in(site, study, **change)
    text = page.content.decode()
    assert page.status_code == 200 and says in text
    assert "The library opens" in text and study.submissions.count() == 0


@pytest.mark.parametrize("link", ["https://[x", "https://", "http://:80/x", "nonsense", "https://x.com:port/1"])
def test_a_bad_address_gets_a_message_at_its_field(site, study, link):
    _, _, page = hand_in(site, study, link2=link)
    assert page.status_code == 200 and faults(page) == ["link2"] and study.submissions.count() == 0


@pytest.mark.parametrize(("hours", "kept"), [(47, False), (49, True)])
def test_the_48_hours_count_from_the_time_of_the_post(site, study, hours, kept):
    from datetime import UTC, datetime, timedelta

    written = datetime.now(UTC) - timedelta(hours=hours)
    _, _, page = hand_in(site, study, date1=f"{written:%Y-%m-%d}", time1=f"{written:%H:%M}")
    assert study.submissions.count() == kept
    if not kept:
        assert faults(page) == ["date1"]
        assert "less than 48 hours" in page.content.decode()


def test_the_time_of_a_post_is_the_participants_own(site, study):
    from datetime import UTC, datetime, timedelta
    from zoneinfo import ZoneInfo

    written = (datetime.now(UTC) - timedelta(hours=49)).astimezone(ZoneInfo("Asia/Seoul"))
    when = {"date1": f"{written:%Y-%m-%d}", "time1": f"{written:%H:%M}"}
    for zone in ("", "../etc/passwd", "Mars/Base"):  # not known: taken as UTC, nine hours later
        _, _, page = hand_in(site, study, **when, zone=zone)
        assert faults(page) == ["date1"]
    assert hand_in(site, study, **when, zone="Asia/Seoul")[2].status_code == 302


def test_messages_have_the_numbers_of_the_study(site):
    study = site.make("author-survey", settings={"minutes": 0.0, "words": 12, "hours": 24, "crowd": True})
    client, _, page = hand_in(site, study)
    assert "fewer than 12 words" in page.content.decode()
    assert "older than 24 hours" in client.get("/s/s/guideline").content.decode()


@pytest.mark.parametrize("stage", ["paused", "closed"])
def test_a_survey_that_is_not_open_says_so(site, study, stage):
    from deadpan.studio.records.steering import set_stage

    client, done = site.person(study, role="participant"), hand_in(site, study)[0]
    set_stage(study, stage, "test")
    assert client.get("/s/s/survey").url == "/s/s/"
    assert f"The study is {stage}" in client.get("/s/s/").content.decode()
    assert "DONE-77" in done.get("/s/s/", follow=True).content.decode()


def test_who_does_not_match_cannot_hand_in(site):
    study = site.make("author-survey", settings={"minutes": 0.0, "match": {"gender": "female"}})
    client = site.person(study, role="participant", consent=False)
    client.post("/s/s/consent", {"agree": "yes", "gender": "male"})
    assert client.post("/s/s/survey", filled()).url == "/s/s/" and not study.submissions.exists()


def test_a_platforms_id_takes_part_once(site, study):
    hand_in(site, study)
    _, _, page = hand_in(site, study, "bob", crowd_id="crowd-ann")
    assert faults(page) == ["crowd_id"] and study.submissions.count() == 1
    sent = site.client()
    link = site.link(study, "participant")
    sent.post(f"{link}?PROLIFIC_PID=p9")
    sent.post("/s/s/consent", {"agree": "yes"})
    assert "crowd_id" not in sent.get("/s/s/survey").content.decode()  # the link said it
    sent.post("/s/s/survey", filled("eve"))
    assert study.submissions.count() == 2


def test_who_one_is_is_chosen_from_lists(site, study):
    client = site.person(study, role="participant")
    page = client.get("/s/s/survey").content.decode()
    for part in ('<select name="country"', '<select name="gender"', '<select name="age"'):
        assert part in page
    client.post("/language", {"language": "ko", "next": "/"})
    assert '<option value="GB">영국</option>' in client.get("/s/s/survey").content.decode()
    bad = client.post("/s/s/survey", filled(crowd_id="c", country="Atlantis", gender="yes", age="7"))
    assert set(faults(bad)) == {"country", "gender", "age"}
    client.post("/s/s/survey", filled(crowd_id="c", country="영국", birth_country="United Kingdom"))
    answers = study.submissions.get().answers
    assert (answers["country"], answers["birth_country"], answers["age"]) == ("GB", "GB", 31)


def test_what_cannot_be_used_is_counted_with_its_reason(site, tmp_path):
    study = site.make("author-survey", settings={"completion_code": "DONE-77", "crowd": True})
    client, _, _ = hand_in(site, study, followers="50000")
    page = client.get("/s/s/thanks").content.decode()
    assert "cannot be used" in page and "DONE-77" not in page
    exported = export_study(study, tmp_path / "out")
    counts, tally = exported.counts, exported.tally
    assert counts["submissions"] == 0 and tally.drops == {"too_many_followers": 1}
    assert study.submissions.get().reasons == ["too_many_followers", "too_fast"]


def test_the_same_posts_by_somebody_else_are_known(site, study):
    hand_in(site, study)
    client = site.person(study, role="participant")
    client.post("/s/s/survey", filled("ann", crowd_id="other"))
    assert study.submissions.order_by("-id").first().reasons == ["submitted_before"]


def test_withdrawal_erases_and_leaves_a_tombstone(site, study, tmp_path):
    from deadpan.studio.models import Identity, StoredSubmission, Tombstone

    client, code, _ = hand_in(site, study)
    hand_in(site, study, "bob")
    anybody = site.client()
    assert b"No such code" in anybody.post("/withdraw", {"code": "AAAA-BBBB", "sure": "yes"}).content
    assert (
        b"You have withdrawn"
        in anybody.post("/withdraw", {"code": code.lower().replace("-", " "), "sure": "yes"}).content
    )
    assert b"No such code" in anybody.post("/withdraw", {"code": code, "sure": "yes"}).content
    assert StoredSubmission.objects.count() == 1 and Identity.objects.count() == 1 and Tombstone.objects.count() == 1
    assert client.get("/s/s/").url.startswith("/login")
    exported = export_study(study, tmp_path / "out")
    counts, tally = exported.counts, exported.tally
    assert counts["submissions"] == 1 and tally.drops == {"withdrawn": 1}


def test_an_annotator_who_withdraws_is_left_out_and_their_items_go_back(site, items, tmp_path):
    study = site.make("reader-judgment", items(3), raters_per_item=1)
    client = site.person(study)
    code = re.search(r'id="code">([A-Z0-9-]+)<', client.get("/s/s/guideline").content.decode())[1]
    site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"})
    site.client().post("/withdraw", {"code": code, "sure": "yes"})
    exported = export_study(study, tmp_path / "out")
    counts, tally = exported.counts, exported.tally
    assert counts == {"judgments": 0, "labels": 0} and tally.drops == {"withdrawn": 3}
    other = site.person(study)
    assert site.answer_all(other, study, lambda item: {"sarcastic": "not sarcastic"}) == 3
