"""Ten items for anybody."""

from __future__ import annotations

import re

from deadpan.formats.study import QuizItem
from deadpan.records import Turn


def scene(at: int, **extra) -> QuizItem:
    options = tuple(f"meaning {letter} of {at}" for letter in "abcdef")
    return QuizItem(f"q{at}", Turn("Ann", f"Perfect timing {at}."), options=options, answer=at % 6, **extra)


def made(site, count: int = 30, **settings):
    items = [scene(at, pair=f"p{at // 2}") for at in range(count)]
    return site.make("quiz", items, settings={"public_try": True, **settings})


def shown(page: str) -> list[int]:
    """The numbers of the items on a page."""
    return [int(number) for number in re.findall(r"Perfect timing (\d+)\.", page)]


def test_ten_items_give_a_score_and_nothing_is_stored(site):
    from deadpan.studio.models import Assignment, Member, StoredItem

    study, client = made(site), site.client()
    page = client.get("/try/s").content.decode()
    numbers = shown(page)
    assert len(numbers) == 10 and len({at // 2 for at in numbers}) == 10  # never both twins
    form = {"items": re.search(r'name="items" value="([^"]+)"', page)[1]}
    for place, at in enumerate(numbers):
        row = StoredItem.objects.get(study=study, item_id=f"q{at}")
        right = "ABCDEF"[at % 6]
        form[f"a.{row.pk}"] = right if place < 7 else "ABCDEF"[(at + 1) % 6]
    result = client.post("/try/s", form)
    text = result.content.decode()
    assert result.status_code == 200 and "You have 7 of 10 right." in text and shown(text) == numbers
    assert Member.objects.count() == Assignment.objects.count() == 0


def test_a_score_without_answers_is_nought(site):
    client = site.client() if made(site) else None
    signed = re.search(r'name="items" value="([^"]+)"', client.get("/try/s").content.decode())[1]
    assert "You have 0 of 10 right." in client.post("/try/s", {"items": signed}).content.decode()


def test_items_nobody_was_given_get_no_score(site):
    made(site)
    for bad in ("", "[1,2,3]", "WzEsMl0:forged:forged", "\x00"):
        assert site.client().post("/try/s", {"items": bad}).status_code == 404


def test_only_an_open_study_that_allows_it(site):
    study = made(site)
    assert site.client().get("/try/none").status_code == 404
    study.is_open = False
    study.save()
    assert site.client().get("/try/s").status_code == 404
    site.make("quiz", [scene(0)], name="closed")
    site.make("reader-judgment", [scene(0)], name="other")
    assert {site.client().get(f"/try/{name}").status_code for name in ("closed", "other")} == {404}


def test_items_are_in_the_readers_language(site):
    items = [scene(at, language="ko" if at < 4 else "en") for at in range(12)]
    site.make("quiz", items, settings={"public_try": True})
    client = site.client()
    client.post("/language", {"language": "ko", "next": "/"})
    page = client.get("/try/s").content.decode()
    assert sorted(shown(page)) == [0, 1, 2, 3]
    # The study is English, its Korean items are not: a screen reader must not read them as English.
    assert page.count('class="conversation" lang="ko"') == 4
    assert page.count('<span dir="auto" lang="ko">') == 24


def test_an_items_own_question_is_in_its_language(site):
    items = [scene(0, language="ko", question="무슨 뜻입니까?"), scene(1, language="en")]
    site.make("quiz", items, settings={"public_try": True})
    korean = site.client()
    korean.post("/language", {"language": "ko", "next": "/"})
    assert '<legend lang="ko">무슨 뜻입니까?' in korean.get("/try/s").content.decode()
