"""The study leader's pages: from an upload to a release, and everything that can be changed meanwhile."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

CSV = "글,parent,label\n와 정말 대단하다,A: 비가 와\\nB: 또?,sarcastic\nFine.,It rains.,0\n"
CSV = CSV.replace("\\n", "\n").replace("A: 비가 와\nB: 또?", '"A: 비가 와\nB: 또?"')


def new(owner, protocol="reader-judgment", file="items.csv", content=CSV, **more):
    form = {"protocol": protocol, "name": "up", "title": "업로드", "language": "ko", "raters": "2", **more}
    if file:
        form["file"] = SimpleUploadedFile(file, content.encode() if isinstance(content, str) else content)
    return owner.post("/new", form)


def test_a_study_is_made_from_a_table_with_a_column_picker_and_a_preview(site):
    from deadpan.studio.models import StoredStudy

    owner = site.owner()
    assert new(owner).url == "/new/columns"
    page = owner.get("/new/columns").content.decode()
    assert 'value="글" selected' in page and "와 정말 대단하다" in page and "비가 와" in page
    assert "2 items" in page
    empty = owner.post("/new/columns", {"column.text": ""})
    assert empty.status_code == 400 and b"Choose a column for: text" in empty.content
    chosen = {"column.text": "글", "column.context": "parent", "column.label": "label", "create": "yes"}
    assert owner.post("/new/columns", chosen).url == "/s/up/dashboard"
    study = StoredStudy.objects.get()
    assert (study.title, study.language, study.raters_per_item) == ("업로드", "ko", 2)
    first = study.items.get(item_id="row1")
    assert first.context == [{"speaker": "A", "text": "비가 와"}, {"speaker": "B", "text": "또?"}]
    assert first.hidden["label"] is True
    assert not list((site.home / "uploads").iterdir())
    assert "와 정말" in owner.get("/s/up/preview").content.decode()


def test_a_round_and_who_may_take_part_are_chosen_with_the_study(site):
    from deadpan.studio.models import StoredStudy
    from deadpan.studio.records.steering import change_study

    owner = site.owner()
    bad = new(owner, qualification="-1", overlap="2", country="Atlantis")
    for name in ("qualification", "overlap", "country"):
        assert f'id="id_{name}_error"' in bad.content.decode(), name
    more = {"qualification": "1", "overlap": "0.5", "country": "KR", "gender": "female"}
    assert new(owner, **more).url == "/new/columns"
    chosen = {"column.text": "글", "column.context": "parent", "column.label": "label", "create": "yes"}
    assert owner.post("/new/columns", chosen).url == "/s/up/dashboard"
    study = StoredStudy.objects.get()
    assert (study.round_items, study.main_items) == (1, 1)
    assert study.settings["match"] == {"country": "KR", "gender": "female"}
    assert study.stage == "draft" and b"has not begun" in site.person(study, consent=False).get("/s/up/").content
    refused = owner.post("/s/up/stage", {"stage": "open"})
    assert refused.status_code == 400 and b"contact" in refused.content
    change_study(study, {"contact": "lab@example.org"}, "test", stage="open")
    client = site.person(study, consent=False)
    assert 'name="country"' in client.get("/s/up/consent").content.decode()


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("x.exe", "MZ", b"cannot be read"),
        ("x.csv", "", b""),
        ("x.zip", b"PK\x03\x04nonsense", b"not a zip"),
        ("x.json", '[{"data": 3}]', b"not a Label Studio export"),
        ("x.jsonl", '{"response": {"text": "a"}}\n', b""),
    ],
)
def test_a_bad_file_is_said_and_nothing_is_made(site, file, content, says):
    from deadpan.studio.models import StoredStudy

    owner = site.owner()
    response = new(owner, file=file, content=content)
    if response.status_code == 302:
        response = owner.get("/new/columns")
    assert response.status_code < 500 and says in response.content and b"error" in response.content
    assert not StoredStudy.objects.exists()


def test_items_of_our_own_folder_are_taken_from_a_zip(site, tmp_path):
    from deadpan.formats.study import PairwiseItem, Study, write_study
    from deadpan.records import Turn
    from deadpan.studio.models import StoredStudy

    item = PairwiseItem("a", Turn("", "It rains."), options=("Lovely.", "Take a coat."), answer=0)
    write_study(tmp_path / "study", Study("pairwise", "Pairs"), [item])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in (tmp_path / "study").iterdir():
            archive.write(path, f"../study/{path.name}")
    owner = site.owner()
    assert new(owner, "pairwise", "study.zip", packed.getvalue()).url == "/new/columns"
    assert owner.post("/new/columns", {"create": "yes"}).url == "/s/up/dashboard"
    assert StoredStudy.objects.get().main_items == 1
    assert not list((site.home / "uploads").iterdir())


def test_only_an_owner_makes_a_study(site, judged):
    client = site.person(judged)
    assert [client.get(a).status_code for a in ("/new", "/new/columns", "/s/s/settings", "/s/s/people")] == [404] * 4


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(6), raters_per_item=3)


def settings_form(owner, **changes):
    import re

    page = owner.get("/s/s/settings").content.decode()
    form = dict(re.findall(r'<input[^>]*name="([a-z_]+)"[^>]*value="([^"]*)"', page))
    form.pop("csrfmiddlewaretoken", None)
    form.pop("next", None)
    return {**form, "title": "A study", "language": "en", "context": "full", **changes}


def test_settings_are_typed_and_an_error_stands_at_its_field(site, study):
    owner = site.owner()
    bad = owner.post("/s/s/settings", settings_form(owner, attention_every="x", threshold="7"))
    text = bad.content.decode()
    assert bad.status_code == 200 and 'id="id_attention_every_error"' in text and 'id="id_threshold_error"' in text
    study.refresh_from_db()
    assert "attention_every" not in study.settings
    good = owner.post(
        "/s/s/settings",
        settings_form(
            owner, attention_every="7", per_group="expert=1", guideline="# Read\n\n<script>x</script> **all**"
        ),
    )
    assert good.status_code == 302, good.content.decode()
    study.refresh_from_db()
    assert study.settings["attention_every"] == 7 and study.settings["per_group"] == {"expert": 1}
    page = site.person(study).get("/s/s/guideline").content.decode()
    assert "<strong>all</strong>" in page and "<script>x" not in page


def test_the_log_names_what_was_changed_in_the_readers_words(site, study):
    from deadpan.studio.models import Event

    owner = site.owner()
    owner.post("/s/s/settings", settings_form(owner, per_person="4", rate="12"))
    assert Event.objects.get(what="settings").detail == {"changed": ["per_person", "rate"]}
    owner.post("/language", {"language": "ko", "next": "/"})
    assert "시간당 보수" in owner.get("/s/s/log").content.decode()


def test_errors_of_settings_are_in_the_readers_language(site, study):
    owner = site.owner()
    owner.post("/language", {"language": "ko", "next": "/"})
    form = settings_form(owner, threshold="7", completion_url="javascript:x", abandon_minutes="0")
    page = owner.post("/s/s/settings", form).content.decode()
    for name in ("threshold", "completion_url", "abandon_minutes"):
        said = page.split(f'id="id_{name}_error">')[1].split("<")[0]
        assert any("가" <= letter <= "힣" for letter in said), said


def test_a_leader_invites_another_leader(site, study):
    owner = site.owner()
    assert '<option value="owner">' in owner.get("/s/s/people").content.decode()
    assert '<option value="owner">' in owner.get("/s/s/dashboard").content.decode()


def test_a_study_is_paused_closed_and_opened(site, study):
    owner, client = site.owner(), site.person(study)
    address = site.open_item(client, study)
    for stage, word in (("paused", b"paused"), ("closed", b"closed")):
        owner.post("/s/s/stage", {"stage": stage})
        assert word in client.get("/s/s/").content
        assert site.save(client, address, sarcastic="sarcastic").status_code == 400
    owner.post("/s/s/stage", {"stage": "open"})
    assert site.save(client, address, sarcastic="sarcastic").status_code == 200
    log = owner.get("/s/s/log").content.decode()
    assert all(word in log for word in ("paused", "closed", "owner"))


def test_a_draft_is_opened_before_it_is_paused_or_closed(site, items):
    from deadpan.errors import ConfigError
    from deadpan.studio.records.steering import set_stage

    draft, owner = site.make("annotate", items(1), draft=True), site.owner()
    for stage in ("paused", "closed"):
        assert owner.post("/s/s/stage", {"stage": stage}).status_code == 400
        with pytest.raises(ConfigError, match="open it first"):
            set_stage(draft, stage, "test")
    draft.refresh_from_db()
    assert draft.stage == "draft"


def test_seven_people_share_the_work(site, items):
    study = site.make("reader-judgment", items(14), raters_per_item=3)
    people = [site.person(study) for _ in range(7)]
    from deadpan.studio.people.assignment import even_share
    from deadpan.studio.records.steering import change_study

    assert even_share(study) == 6
    change_study(study, {"per_person": 6}, "test")
    done = [site.answer_all(p, study, lambda item: {"sarcastic": "sarcastic"}) for p in people]
    assert done == [6] * 7
    assert "6 of 6 done" not in people[0].get("/s/s/").content.decode()


def test_a_group_gets_its_share_of_an_item_only(site, items):
    from django.utils import timezone

    from deadpan.studio.people.admission import make_invite

    study = site.make("reader-judgment", items(2), raters_per_item=3, settings={"per_group": {"expert": 1}})
    done = []
    for name in ("e1", "e2"):
        token = make_invite(study, "annotator", 1, timezone.now(), "test", group="expert")
        client = site.client()
        client.post(f"/join/{token}", {"name": name, "password": "correct horse battery"})
        client.post("/s/s/consent", {"agree": "yes"})
        done.append(site.answer_all(client, study, lambda item: {"sarcastic": "sarcastic"}))
    assert done == [2, 0]


def test_members_are_removed_and_restored_and_links_revoked_and_renewed(site, study):
    from deadpan.studio.models import Invite

    owner, client = site.owner(), site.person(study, name="ann")
    member = site.member(client)
    address = site.open_item(client, study)
    owner.post(f"/s/s/member/{member.pk}", {"do": "remove"})
    assert client.get("/s/s/").status_code == 404
    assert site.save(client, address, sarcastic="sarcastic").status_code == 404
    assert study.items.filter(taken__gt=0).count() == 0
    owner.post(f"/s/s/member/{member.pk}", {"do": "restore"})
    assert site.open_item(client, study)
    link = site.link(study, uses=5)
    invite = Invite.objects.order_by("-pk").first()
    page = owner.post(f"/s/s/invite/{invite.pk}", {"do": "renew"}).content.decode()
    assert "/join/" in page and site.client().get(link).status_code == 404
    newest = Invite.objects.order_by("-pk").first()
    assert newest.uses_left == 5
    owner.post(f"/s/s/invite/{newest.pk}", {"do": "revoke"})
    newest.refresh_from_db()
    assert newest.revoked_at is not None


def test_a_password_is_reset_by_a_link_that_works_once(site, study):
    import re

    owner, client = site.owner(), site.person(study, name="ann")
    member = site.member(client)
    page = owner.post(f"/s/s/member/{member.pk}", {"do": "password"}).content.decode()
    link = re.search(r"/reset/[^<\s]+", page)[0]
    fresh = site.client()
    assert fresh.post(link, {"password": "short"}).status_code == 200
    assert fresh.post(link, {"password": "another long secret"}).status_code == 302
    assert site.client().get(link).status_code == 404
    entered = site.client().post("/login", {"name": "ann", "password": "another long secret"})
    assert entered.status_code == 302
    assert client.get("/s/s/").url.startswith("/login")  # the old session has ended


@pytest.mark.parametrize("what", ["export", "figures", "label-studio"])
def test_files_are_downloaded(site, judged, what):
    owner = site.owner()
    response = owner.get(f"/s/s/download/{what}")
    names = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))).namelist()
    assert names and "zip" in response.headers["Content-Disposition"]
    assert owner.get("/s/s/download/nothing").status_code == 404


def test_a_release_is_downloaded_or_refused_with_the_reason(site, judged, items):
    owner = site.owner()
    response = owner.post("/s/s/release", {"mode": "ids", "licence": "CC-BY-4.0"})
    names = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))).namelist()
    assert "judgments.parquet" in names and "README.md" in names
    site.make("reader-judgment", items(2), name="empty")
    refused = owner.post("/s/empty/release", {"mode": "ids"})
    assert refused.status_code == 400 and b"nothing to release" in refused.content


def test_items_are_added(site, study):
    owner = site.owner()
    file = SimpleUploadedFile("more.csv", b"id,text\nnew1,Lovely.\nnew2,Fine.\n")
    assert owner.post("/s/s/items", {"file": file}).status_code == 302
    study.refresh_from_db()
    assert study.main_items == 8
    again = SimpleUploadedFile("more.csv", b"id,text\nnew1,Lovely.\n")
    refused = owner.post("/s/s/items", {"file": again})
    assert refused.status_code == 400 and b"in the study already" in refused.content


def test_a_skipped_item_goes_to_somebody_else_and_a_flag_is_kept(site, items):
    from deadpan.studio.models import Assignment

    study = site.make("reader-judgment", items(1), raters_per_item=1)
    one, two = site.person(study), site.person(study)
    address = site.open_item(one, study)
    assert one.post(f"{address}/skip", {"reason": ""}).status_code == 400
    one.post(f"{address}/flag", {"flag": "the text is cut off"})
    one.post(f"{address}/skip", {"reason": "I know the author"})
    assert site.open_item(one, study) == "" and site.open_item(two, study)
    assert Assignment.objects.get(member=site.member(one)).flag == "the text is cut off"
    assert "skipped" in one.get("/s/s/answers").content.decode()


def test_people_per_item_are_raised_and_never_lowered(deadpan, site, items):
    study = site.make("reader-judgment", items(2), raters_per_item=1)
    says = {"sarcastic": "sarcastic"}
    assert site.answer_all(site.person(study), study, lambda item: says) == 2
    late = site.person(study)
    assert site.open_item(late, study) == ""
    assert deadpan("studio", "set", "s", "--raters", "2", "--home", site.home).status == 0
    assert site.answer_all(late, study, lambda item: says) == 2
    lowered = deadpan("studio", "set", "s", "--raters", "1", "--home", site.home)
    assert lowered.status != 0 and "raised, not lowered" in lowered.err
    study.refresh_from_db()
    assert study.raters_per_item == 2
