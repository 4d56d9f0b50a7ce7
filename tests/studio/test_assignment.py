"""Who gets which item."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from deadpan.records import Turn
from deadpan.studies import StudyItem
from deadpan.studio.judgments import latest_records
from deadpan.studio.progress import progress

YES = {"sarcastic": "sarcastic"}


def test_every_item_gets_as_many_people_as_wanted_and_nobody_twice(site, items):
    study = site.make("perceive", items(6), raters_per_item=2)
    people = [site.person(study) for _ in range(3)]
    counts = [0, 0, 0]
    going = True
    while going:  # in turns, as people do
        going = False
        for at, client in enumerate(people):
            if address := site.open_item(client, study):
                site.save(client, address, **YES)
                counts[at] += 1
                going = True
    found = latest_records(study)
    assert len(found) == 12 and sum(counts) == 12
    assert set(Counter(r.item_id for r in found).values()) == {2}
    assert len({(r.item_id, r.annotator) for r in found}) == 12
    assert b"All done" in people[0].get(f"/s/{study.slug}/").content


def test_overlap_gives_the_rest_to_one_person(site, items):
    study = site.make("perceive", items(10), raters_per_item=3, settings={"overlap": 0.2})
    assert Counter(study.items.values_list("wanted", flat=True)) == {3: 2, 1: 8}


def test_an_open_item_stays_theirs_and_previous_next_lose_nothing(site, items):
    study = site.make("perceive", items(5), raters_per_item=1)
    client = site.person(study)
    first = site.open_item(client, study)
    assert site.open_item(client, study) == first
    site.save(client, first, **YES)
    second = site.open_item(client, study)
    assert second != first
    page = client.get(first).content.decode()
    assert "checked" in page
    assert client.get(f"/s/{study.slug}/next?after=1").url == second
    assert client.get(f"/s/{study.slug}/next?after=x").url == f"/s/{study.slug}/"


def test_what_lies_abandoned_goes_back_and_can_be_taken_up_again(site, items):
    from deadpan.studio.models import Assignment, Item

    study = site.make("perceive", items(1), raters_per_item=1)
    slow, quick = site.person(study), site.person(study)
    address = site.open_item(slow, study)
    assert site.open_item(quick, study) == ""
    held = Assignment.objects.get()
    Assignment.objects.update(touched_at=held.touched_at - timedelta(minutes=61))
    taken = site.open_item(quick, study)
    site.save(quick, taken, **YES)
    assert site.open_item(slow, study) == ""
    site.save(slow, address, **YES)  # their page was still open: the answer counts
    assert len(latest_records(study)) == 2
    assert Item.objects.get().taken == 2


def test_attention_checks_come_in_between_and_are_left_out_of_labels(site, items):
    from django.utils import timezone

    check = StudyItem(
        "c1", Turn("", "Press not sarcastic, please."), hidden={"check": {"sarcastic": "not sarcastic"}}
    )
    study = site.make("perceive", [*items(6), check], raters_per_item=2, settings={"attention_every": 3})
    awake, asleep = site.person(study), site.person(study)
    site.answer_all(awake, study, lambda item: {"sarcastic": "not sarcastic"})
    site.answer_all(asleep, study, lambda item: YES)
    workers = progress(study, timezone.now()).workers
    assert [(w.checks, w.checks_passed) for w in workers] == [(1, 1), (1, 0)]
    assert "c1" not in {r.item_id for r in latest_records(study)}


def test_hours_and_pay(site, items):
    from django.utils import timezone

    from deadpan.studio.models import Assignment

    study = site.make("perceive", items(2), raters_per_item=1, settings={"rate": 12, "currency": "EUR"})
    client = site.person(study)
    for _ in range(2):
        address = site.open_item(client, study)
        Assignment.objects.update(given_at=timezone.now() - timedelta(hours=1))
        site.save(client, address, seconds=900.0, **YES)
    worker = progress(study, timezone.now()).workers[0]
    assert (worker.hours, worker.owed, worker.done) == (0.5, 6.0, 2)


def test_raters_must_match_where_the_study_says_so(site, items):
    study = site.make("perceive", items(2), settings={"match": {"country": "UK", "gender": "female"}})
    fits, other = site.person(study, consent=False), site.person(study, consent=False)
    assert b"Country you live in" in fits.get("/s/s/consent").content
    fits.post("/s/s/consent", {"agree": "yes", "country": "uk", "gender": "Female"})
    other.post("/s/s/consent", {"agree": "yes", "country": "FR", "gender": "female"})
    assert site.open_item(fits, study)
    assert site.open_item(other, study) == ""


def test_a_closed_study_takes_nothing_more(site, items):
    study = site.make("perceive", items(2))
    client = site.person(study)
    address = site.open_item(client, study)
    study.is_open = False
    study.save()
    assert site.save(client, address, **YES).status_code == 400
    assert b"closed" in client.get("/s/s/").content


def test_two_windows_that_ask_at_the_same_moment_get_one_item(site, items, monkeypatch):
    from django.utils import timezone

    from deadpan.studio import assignment

    study = site.make("perceive", items(3))
    member = site.member(site.person(study))
    first = assignment.next_assignment(member, timezone.now())
    # The second window looked before the first had its item.
    looked, real = iter([None]), assignment._left_open
    monkeypatch.setattr(assignment, "_left_open", lambda member: next(looked, real(member)))
    monkeypatch.setattr(
        assignment, "_so_far", lambda member: dict.fromkeys(("last", "main", "checks", "returned"), 0)
    )
    assert assignment.next_assignment(member, timezone.now()).pk == first.pk
    assert sum(study.items.values_list("taken", flat=True)) == 1
