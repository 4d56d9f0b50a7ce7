"""Time that counts: reading, guideline and checks; shown to both sides."""

from __future__ import annotations

from datetime import timedelta

import pytest


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(2), raters_per_item=1, settings={"rate": 12, "currency": "EUR"})


def test_time_on_pages_without_answers_counts_but_no_more_than_has_passed(site, study):
    from django.utils import timezone

    from deadpan.studio.models import Member
    from deadpan.studio.records.progress import study_progress

    client = site.person(study)
    Member.objects.update(joined_at=timezone.now() - timedelta(seconds=70))
    assert client.post("/s/s/time", {"seconds": "41"}).status_code == 204
    for told in ("1e9", "nan", "-5", "x", "inf"):
        assert client.post("/s/s/time", {"seconds": told}).status_code == 204
    assert 41 <= Member.objects.get().page_seconds < 45
    (worker,) = study_progress(study, timezone.now()).workers
    assert worker.hours == pytest.approx(41 / 3600, abs=0.001)


def test_the_rule_is_shown_to_the_participant_and_to_the_leader(site, study):
    client = site.person(study)
    for page in (client.get("/s/s/consent"), client.get("/s/s/guideline"), site.owner().get("/s/s/dashboard")):
        text = page.content.decode()
        assert "Time counts while" in text and "12 EUR" in text


def test_the_pages_script_has_the_same_limit():
    from pathlib import Path

    import deadpan.studio
    from deadpan.studio.records.progress import IDLE_MINUTES

    script = Path(deadpan.studio.__file__).parent / "static" / "studio" / "attention.js"
    assert f"IDLE = {IDLE_MINUTES * 60_000};" in script.read_text("utf-8")


def test_a_forged_claim_pays_no_more_than_the_time_that_has_passed(site, study):
    """Saving finished items again with huge times, in two windows, with old times and page time on top."""
    from django.utils import timezone

    from deadpan.studio.models import Member
    from deadpan.studio.records.progress import study_progress

    client = site.person(study)
    Member.objects.update(joined_at=timezone.now() - timedelta(seconds=189))
    address = site.open_item(client, study)
    for answer in ("sarcastic", "not sarcastic", "sarcastic"):
        assert site.save(client, address, seconds=999_999, sarcastic=answer).status_code == 200
        assert client.post("/s/s/time", {"seconds": "3600"}).status_code == 204
    body = {"answers": {"sarcastic": "sarcastic"}, "seconds": 100, "ago": -10_000, "key": "early"}
    assert client.post(f"{address}/save", body, content_type="application/json").status_code == 200
    (worker,) = study_progress(study, timezone.now()).workers
    passed = (timezone.now() - Member.objects.get().joined_at).total_seconds()
    assert 180 < worker.hours * 3600 <= passed + 2
    assert worker.claims_too_much and worker.claimed > 800
    page = site.owner().get("/s/s/dashboard").content.decode()
    assert "Look at the answers before you pay" in page


def test_answers_kept_on_the_device_are_paid_for_the_time_they_took(site, study):
    """Twenty seconds of work, sent an hour later with an answer of now: both count, the hour between does not."""
    from django.utils import timezone

    from deadpan.studio.models import Member

    client = site.person(study)
    Member.objects.update(joined_at=timezone.now() - timedelta(hours=2))
    address = site.open_item(client, study)
    for seconds, ago, key in ((20, 3600, "a"), (20, 3590, "b"), (30, 0, "c")):
        body = {"answers": {"sarcastic": "sarcastic"}, "seconds": seconds, "ago": ago, "key": key}
        assert client.post(f"{address}/save", body, content_type="application/json").status_code == 200
    assert Member.objects.get().seconds == pytest.approx(20 + 10 + 30, abs=1)
