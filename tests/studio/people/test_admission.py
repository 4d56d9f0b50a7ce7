"""The qualification round: the same items for all, matched against the others, decided by the owner."""

from __future__ import annotations

import pytest

from deadpan.ratings import match_majority, ratings_from_judgments
from deadpan.studio.people.admission import applicants
from deadpan.studio.records.journal import latest_records

SARCASM = {"response": "sarcasm", "context": "normal"}
ABNORMAL = {"response": "abnormal", "kind": "contextual awkwardness", "context": "normal"}


@pytest.mark.slow
def test_a_round_from_application_to_admission(site, items):
    study = site.make("annotate", items(60), raters_per_item=2)
    assert study.items.filter(kind="qualification").count() == 20
    people = [site.person(study) for _ in range(4)]
    done = [site.answer_all(p, study, lambda item: SARCASM) for p in people[:3]]
    done.append(site.answer_all(people[3], study, lambda item: ABNORMAL))
    assert done == [20] * 4
    assert b"qualification round is done" in people[0].get("/s/s/").content
    table = applicants(study)
    assert [a.passed for a in table] == [True, True, True, False]
    assert table[3].match.value == 0.0
    rows = [r for r in latest_records(study, ("qualification",)) if r.question == "response"]
    shares = {
        m.annotator: m.share
        for m in match_majority(ratings_from_judgments(rows, "response", ["sarcasm", "non-sarcasm", "abnormal"]))
    }
    assert all(shares[a.member.pseudonym] == a.match for a in table)

    owner = site.owner()
    page = owner.get("/s/s/dashboard").content.decode()
    assert "Qualification round" in page and all(a.member.pseudonym in page for a in table)
    names = [site.member(p).pseudonym for p in people]
    owner.post("/s/s/decide", {"member": names[0], "decision": "admit"})
    owner.post("/s/s/decide", {"member": names[3], "decision": "refuse"})
    assert site.open_item(people[0], study).endswith("/21")
    assert site.open_item(people[3], study) == "" and b"nothing for you to do" in people[3].get("/s/s/").content
    assert site.open_item(people[1], study) == ""  # still waits


def test_the_owner_decides_on_the_command_line(deadpan, site, items):
    study = site.make("annotate", items(9), raters_per_item=2, settings={"qualification": 3})
    people = [site.person(study) for _ in range(4)]
    for number, client in enumerate(people):
        site.answer_all(client, study, lambda item, n=number: SARCASM if n < 3 else ABNORMAL)
    command = ("studio", "members", "s", "--applicants", "--home", site.home)
    listed = deadpan(*command, "--json").json["applicants"]
    assert [row["proposal"] for row in listed] == ["admit"] * 3 + ["not yet"]
    assert {row["state"] for row in listed} == {"applicant"}
    unknown = deadpan(*command, "--admit", "nobody")
    assert unknown.status == 2 and "no applicant 'nobody'" in unknown.err
    names = [site.member(client).pseudonym for client in people]
    both = deadpan(*command, "--admit", names[0], "--refuse", names[0])
    assert both.status == 2 and "choose one" in both.err
    decided = deadpan(*command, "--admit-proposed", "--refuse", names[1], "--json").json["applicants"]
    states = {row["pseudonym"]: row["state"] for row in decided}
    assert [states[name] for name in names] == ["active", "refused", "active", "applicant"]
    assert site.open_item(people[0], study).endswith("/4") and site.open_item(people[1], study) == ""
    shown = deadpan(*command).out
    assert names[3] in shown and "not yet" in shown
    site.make("reader-judgment", items(2), name="open")
    assert "no qualification round" in deadpan("studio", "members", "open", "--applicants", "--home", site.home).err


def test_the_rounds_answers_are_in_the_export(site, items, tmp_path):
    """In a file of their own: agreement is measured without them, and the dialogues come back judged."""
    from deadpan.formats.judgments import read_export
    from deadpan.generate.people import verdicts
    from deadpan.studio.records.export import export_study

    study = site.make("annotate", items(4), raters_per_item=2, settings={"qualification": 2})
    for answers in (SARCASM, SARCASM, ABNORMAL):
        site.answer_all(site.person(study), study, lambda item, answers=answers: answers)
    asked = {item.item_id for item in study.items.filter(kind="qualification")}
    export_study(study, tmp_path / "out")
    found = read_export(tmp_path / "out")
    assert found.judgments == () and {one.item_id for one in found.qualification} == asked
    assert {item: verdict.response for item, verdict in verdicts(found).items()} == dict.fromkeys(asked, "sarcasm")
    export_study(study, tmp_path / "out", qualification=True)
    again = read_export(tmp_path / "out")
    assert again.qualification == () and len(again.judgments) == len(found.qualification)


def test_small_studies_have_no_round_unless_asked(site, items):
    assert site.make("annotate", items(30), name="small").settings["qualification"] == 0
    asked = site.make("annotate", items(30), name="asked", settings={"qualification": 5})
    assert asked.items.filter(kind="qualification").count() == 5


def test_applicants_cannot_reach_the_main_items(site, items):
    study = site.make("annotate", items(6), settings={"qualification": 2})
    client = site.person(study)
    site.answer_all(client, study, lambda item: SARCASM)
    assert client.get("/s/s/item/3").status_code == 404
