"""Who gets which item."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from deadpan.formats.study import ReaderJudgmentItem
from deadpan.records import Turn
from deadpan.studio.records.journal import latest_records
from deadpan.studio.records.progress import study_progress

YES = {"sarcastic": "sarcastic"}


def test_every_item_gets_as_many_people_as_wanted_and_nobody_twice(site, items):
    study = site.make("reader-judgment", items(6), raters_per_item=2)
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
    study = site.make("reader-judgment", items(10), raters_per_item=3, settings={"overlap": 0.2})
    assert Counter(study.items.values_list("wanted", flat=True)) == {3: 2, 1: 8}


def test_an_open_item_stays_theirs_and_previous_next_lose_nothing(site, items):
    study = site.make("reader-judgment", items(5), raters_per_item=1)
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
    from deadpan.studio.models import Assignment, StoredItem

    study = site.make("reader-judgment", items(1), raters_per_item=1)
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
    assert StoredItem.objects.get().taken == 2


def test_attention_checks_come_in_between_and_are_left_out_of_labels(site, items):
    from django.utils import timezone

    check = ReaderJudgmentItem("c1", Turn("", "Press not sarcastic, please."), check={"sarcastic": "not sarcastic"})
    study = site.make("reader-judgment", [*items(6), check], raters_per_item=2, settings={"attention_every": 3})
    awake, asleep = site.person(study), site.person(study)
    site.answer_all(awake, study, lambda item: {"sarcastic": "not sarcastic"})
    site.answer_all(asleep, study, lambda item: YES)
    workers = study_progress(study, timezone.now()).workers
    assert [(w.checks, w.checks_passed) for w in workers] == [(1, 1), (1, 0)]
    assert "c1" not in {r.item_id for r in latest_records(study)}


def test_hours_and_pay(site, items):
    from django.utils import timezone

    from deadpan.studio.models import Member

    study = site.make("reader-judgment", items(2), raters_per_item=1, settings={"rate": 12, "currency": "EUR"})
    client = site.person(study)
    for _ in range(2):
        address = site.open_item(client, study)
        Member.objects.update(joined_at=timezone.now() - timedelta(hours=1), counted_until=None)
        site.save(client, address, seconds=900.0, **YES)
    worker = study_progress(study, timezone.now()).workers[0]
    assert (worker.hours, worker.owed, worker.done) == (0.5, 6.0, 2)


def test_raters_must_match_where_the_study_says_so(site, items):
    study = site.make("reader-judgment", items(2), settings={"match": {"country": "UK", "gender": "female"}})
    fits, other = site.person(study, consent=False), site.person(study, consent=False)
    assert b"Country you live in" in fits.get("/s/s/consent").content
    fits.post("/s/s/consent", {"agree": "yes", "country": "uk", "gender": "Female"})
    other.post("/s/s/consent", {"agree": "yes", "country": "FR", "gender": "female"})
    assert site.open_item(fits, study)
    assert site.open_item(other, study) == ""


def test_a_closed_study_takes_nothing_more(site, items):
    study = site.make("reader-judgment", items(2))
    client = site.person(study)
    address = site.open_item(client, study)
    study.is_open, study.is_closed = False, True
    study.save()
    assert site.save(client, address, **YES).status_code == 400
    assert b"closed" in client.get("/s/s/").content
    study.is_closed = False
    study.save()
    assert b"paused" in client.get("/s/s/").content


def test_two_windows_that_ask_at_the_same_moment_get_one_item(site, items, monkeypatch):
    from django.utils import timezone

    from deadpan.studio.people import assignment

    study = site.make("reader-judgment", items(3))
    member = site.member(site.person(study))
    first = assignment.next_assignment(member, timezone.now())
    # The second window looked before the first had its item, and chose the same one.
    looked, real = iter([[], []]), assignment._left_open
    monkeypatch.setattr(assignment, "_left_open", lambda member: next(looked, real(member)))
    monkeypatch.setattr(assignment, "_pick", lambda member, at_work: first.item)
    monkeypatch.setattr(
        assignment,
        "_give",
        lambda member, item, now: first.__class__.objects.create(item=item, member=member, number=1),
    )
    assert assignment.next_assignment(member, timezone.now()).pk == first.pk
    assert sum(study.items.values_list("taken", flat=True)) == 1


@pytest.mark.parametrize("waiting, first", [(None, 1), (1, None)])
def test_of_two_requests_of_one_person_both_get_the_item_that_the_first_was_given(
    site, items, monkeypatch, waiting, first
):
    """The page fetches the next item while its reader goes on: one of the two waits for the other's lock."""
    from django.utils import timezone

    from deadpan.studio.people import assignment

    study = site.make("reader-judgment", items(2))
    member = site.member(site.person(study))
    done = assignment.next_assignment(member, timezone.now())
    done.__class__.objects.filter(pk=done.pk).update(state="done")
    given = []

    def other(_study) -> None:
        if not given:
            given.append(None)
            given[0] = assignment.next_assignment(member, timezone.now(), after=first)

    monkeypatch.setattr(assignment, "lock_study", other)
    mine = assignment.next_assignment(member, timezone.now(), after=waiting)
    assert mine is not None and mine.pk == given[0].pk
    assert mine.number == 2


def test_items_nearest_to_their_last_rater_come_first_then_those_first_in_order(site, items):
    """Finished items come in early, and everybody meets the others in the order that was drawn."""
    study = site.make("reader-judgment", items(6), raters_per_item=3)
    # Positions against the order of creation, so that neither can stand in for the other.
    ids = [item.item_id for item in study.items.order_by("pk")]
    order = [ids[place] for place in (3, 0, 5, 1, 4, 2)]
    taken = dict(zip(order, (0, 2, 1, 2, 0, 1), strict=True))
    for position, item in enumerate(order):
        study.items.filter(item_id=item).update(position=position, taken=taken[item])
    met: list[str] = []
    site.answer_all(site.person(study), study, lambda item: met.append(item) or YES)
    assert met == [order[place] for place in (1, 3, 2, 5, 0, 4)]


def test_applicants_meet_the_qualification_round_in_one_order(site, items):
    study = site.make("annotate", items(6), settings={"qualification": 4})
    ids = [item.item_id for item in study.items.filter(kind="qualification").order_by("pk")]
    order = [ids[place] for place in (2, 0, 3, 1)]
    for position, item in enumerate(order):
        study.items.filter(item_id=item).update(position=position)
    answers = {"response": "sarcasm", "context": "normal"}
    for _ in range(2):
        met: list[str] = []
        site.answer_all(site.person(study), study, lambda item, met=met: met.append(item) or answers)
        assert met == order


def test_the_order_of_items_depends_on_the_seed_alone(site, items):
    def order(name: str, seed: int, given: list) -> list[str]:
        study = site.make("reader-judgment", given, name=name, seed=seed)
        return list(study.items.order_by("position").values_list("item_id", flat=True))

    orders = [order("a", 1, items(12)), order("b", 1, items(12)[::-1]), order("c", 2, items(12))]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == sorted(orders[2])


def test_an_answer_saved_while_the_next_item_is_asked_for_counts_in_the_quota(site, items):
    from django.utils import timezone

    from deadpan.studio.people.assignment import next_assignment

    study = site.make("reader-judgment", items(5), settings={"per_person": 1})
    client = site.person(study)
    address = site.open_item(client, study)
    asking = site.member_of(client, study)  # read before the save, given an item after it
    site.save(client, address, **YES)
    assert next_assignment(asking, timezone.now(), after=1) is None
