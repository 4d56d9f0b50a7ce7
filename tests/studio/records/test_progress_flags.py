"""What people flag and why they skip reaches the study leader."""

from __future__ import annotations

from datetime import UTC, datetime

from deadpan.studio.records.progress import studio_status


def test_the_leader_sees_flags_and_reasons_without_names(site, items):
    study = site.make("reader-judgment", items(2), raters_per_item=1)
    owner = site.owner()
    assert b"Nobody has flagged" in owner.get("/s/s/flags").content
    client = site.person(study, name="erika")
    address = site.open_item(client, study)
    client.post(f"{address}/flag", {"flag": "the text is <b>cut off"})
    client.post(f"{address}/skip", {"reason": "I know the author"})
    page = owner.get("/s/s/flags").content.decode()
    who = site.member(client).pseudonym
    assert "the text is &lt;b&gt;cut off" in page and "I know the author" in page and who in page
    assert "erika" not in page and 'href="/s/s/flags"' in owner.get("/s/s/dashboard").content.decode()
    assert client.get("/s/s/flags").status_code == 404
    found = studio_status(study, datetime.now(UTC))
    assert [(f.what, f.said, f.annotator) for f in found.flags] == [
        ("flagged", "the text is <b>cut off", who),
        ("skipped", "I know the author", who),
    ]
    assert "I know the author" in str(found)


def test_a_flag_taken_back_is_gone(site, items):
    study = site.make("reader-judgment", items(1))
    client = site.person(study)
    address = site.open_item(client, study)
    for words in ("a typo", ""):
        client.post(f"{address}/flag", {"flag": words})
    assert studio_status(study, datetime.now(UTC)).flags == ()
