"""Pages in the reader's language, and what a browser keeps under whose name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import deadpan.studio
from deadpan.studio.app.templating import sides_after, study_title
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.records.sources import empty_plan

SCRIPTS = Path(deadpan.studio.__file__).parent / "static" / "studio"


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_default_titles_are_in_the_readers_language(name):
    from django.utils import translation

    from deadpan.studio.models import StoredStudy

    study = StoredStudy(protocol=name, title=empty_plan(name).study.title)
    with translation.override("ko"):
        assert re.search("[가-힣]", study_title(study))
        study.title = "My own"
        assert study_title(study) == "My own"


def test_a_default_title_on_the_page(site, items):
    study = site.make("reader-judgment", items(1), title="Is it sarcastic?")
    link, client = site.link(study), site.client()
    assert "<h1>Is it sarcastic?</h1>" in client.get(link).content.decode()
    client.post("/language", {"language": "ko", "next": "/"})
    page = client.get(link).content.decode()
    assert re.search(r"<h1>[^<]*[가-힣][^<]*</h1>", page) and "Is it sarcastic?" not in page


def test_turns_after_a_response_alternate_where_nobody_is_named():
    from deadpan.records import Turn

    placed = sides_after((Turn("", "one"), Turn("", "two")), Turn("", "said"))
    assert [turn["side"] for turn in placed] == ["left", "right"]


def name_on(page) -> str:
    return re.search(r'<body data-who="(\w*)"', page.content.decode())[1]


def test_what_a_browser_keeps_is_kept_under_the_persons_own_name(site, items):
    study = site.make("reader-judgment", items(4), raters_per_item=2)
    first = site.person(study, name="ann")
    item = first.get(site.open_item(first, study))
    kept = name_on(item)
    assert len(kept) == 16 and 'data-study="s"' in item.content.decode()
    assert name_on(first.get("/")) == kept
    assert "leave.js" in item.content.decode() and 'id="logout"' in item.content.decode()
    first.post("/logout")
    assert name_on(first.get("/login")) == ""
    # The next person on the same browser has another name, and the same person the same again.
    second = site.person(study, name="ben", client=first)
    assert name_on(second.get(site.open_item(second, study))) not in ("", kept)
    second.post("/logout")
    again = {"name": "ann", "password": "correct horse battery"}
    assert second.post("/login", again).status_code == 302
    assert name_on(second.get("/")) == kept


def test_scripts_keep_everything_under_a_person():
    """Every name in the browser's store has the person in it; log-out removes this person's."""
    found = [
        name for path in SCRIPTS.glob("*.js") for name in re.findall(r"`(deadpan:[^`]+)`", path.read_text("utf-8"))
    ]
    assert len(found) >= 4
    assert all(re.match(r"deadpan:\w+:\$\{(who|document\.body\.dataset\.who)\}", name) for name in found), found
    leaving = (SCRIPTS / "leave.js").read_text("utf-8")
    assert 'name.split(":")[2] === who' in leaving and "removeItem" in leaving


def test_remarks_with_numbers_are_in_the_readers_language():
    from django.utils import translation

    from deadpan.stats import Interval
    from deadpan.studio.app.templating import _with_translated_reason

    told = "4 of 6 pairs of raters excluded: no common item, or all answers the same"
    with translation.override("ko"):
        said = _with_translated_reason(
            Interval(0.5, 0.4, 0.6, 6, 0.95, why=f"{told}; 3 of 500 resamples undefined, left out")
        )
    assert "6개 중 4개" in said.why and "500개 중 3개" in said.why
    assert not [letter for letter in said.why if letter.isascii() and letter.isalpha()]
