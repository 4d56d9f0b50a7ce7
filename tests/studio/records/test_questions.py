"""Questions of a custom study go to Label Studio and Potato and come back; what cannot be asked is an error with its name."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError
from deadpan.formats.study import CustomQuestion
from deadpan.studio.records.questions import parse_questions, read_questions, write_questions

EVERY_KIND = (
    CustomQuestion(name="sarcastic", text="Is this sarcastic?", options=("yes", "no & never"), predict=True),
    CustomQuestion(name="kinds", text="Which kinds?", kind="many", options=("irony", "satire"), required=False),
    CustomQuestion(
        name="strength", text="How strong?", kind="scale", ends=("weak", "strong"), after="sarcastic", when=("yes",)
    ),
    CustomQuestion(name="from-zero", text="From zero?", kind="scale", low=0, high=4),
    CustomQuestion(name="sure", text="How sure?", kind="slider", low=0, high=100, ends=("not", "very")),
    CustomQuestion(name="order", text="Put in order", kind="ranking", options=("first", "second", "third")),
    CustomQuestion(name="why", text="Why?", kind="text", required=False, after="kinds", when=("irony", "satire")),
    CustomQuestion(name="words", text="어떤 표현인가요?", kind="spans", options=("cue", "target")),
)


@pytest.mark.parametrize("name", ["q.xml", "q.yaml"])
def test_every_kind_comes_back_as_it_was(site, items, tmp_path, name):
    from deadpan.validation import encode

    study = site.make("custom", items(1), settings={"questions": encode(EVERY_KIND)})
    assert write_questions(study, tmp_path / name).questions == len(EVERY_KIND)
    assert read_questions(tmp_path / name) == EVERY_KIND


def test_toml_is_a_study_file(site, items, tmp_path):
    from deadpan.formats.study import Study
    from deadpan.validation import encode, read_config

    study = site.make("custom", items(1), settings={"questions": encode(EVERY_KIND)})
    write_questions(study, tmp_path / "study.toml")
    assert read_config(tmp_path / "study.toml", Study).typed_settings().questions == EVERY_KIND


def test_a_label_studio_configuration_as_people_write_it():
    xml = b"""<View className="template"><Style>.x {}</Style><HyperText name="h" value="$html"/>
    <Choices name="Sentiment" toName="h" choice="single-radio" required="true">
      <Choice value="Positive" hotkey="p"/><Choice value="Negative"/></Choices>
    <Header value="Why?"/><TextArea name="2 Why" toName="h" visibleWhen="choice-selected" whenTagName="Sentiment"/>
    </View>"""
    first, second = parse_questions(xml, "c.xml")
    assert (first.name, first.text, first.options) == ("sentiment", "Sentiment", ("Positive", "Negative"))
    assert (second.name, second.text, second.after, second.when) == ("why", "Why?", "sentiment", first.options)
    assert first.required and not second.required


def test_a_potato_configuration_as_people_write_it():
    yaml = b"""
annotation_task_name: Sentiment
annotation_schemes:
  - annotation_type: radio
    name: sentiment
    description: What is it?
    labels: [{name: positive, tooltip: good}, negative, 3]
  - {annotation_type: slider, name: sure, description: Sure, min_value: 0, max_value: 100, starting_value: 50}
  - annotation_type: likert
    name: strength
    size: 7
    min_label: weak
    max_label: strong
    label_requirement: {required: true}
"""
    radio, slider, likert = parse_questions(yaml, "c.yaml")
    assert radio.options == ("positive", "negative", "3") and (slider.low, slider.high) == (0, 100)
    assert (likert.high, likert.ends, likert.required, likert.text) == (7, ("weak", "strong"), True, "strength")


_CHOICE = '<Choices name="a" toName="t"><Choice value="1"/><Choice value="2"/></Choices>'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('<View><Image name="i" value="$i"/></View>', "<Image>"),
        (f'<View>{_CHOICE}<RectangleLabels name="r" toName="i"/></View>', "<RectangleLabels>"),
        (f"<View>{_CHOICE}{_CHOICE}</View>", "two questions"),
        ('<View><Choices name="a" toName="t" value="$list"/></View>', "<Choices name='a'>"),
        ('<View><Ranker name="r" toName="l"/></View>', "<Ranker name='r'>"),
        ('<View><Number name="n" toName="t" max="3"/></View>', "<Number name='n'>"),
        ('<View><Rating name="n" toName="t" maxRating="many"/></View>', "many"),
        (f'<View>{_CHOICE}<View visibleWhen="region-selected"><TextArea name="x"/></View></View>', "<View>"),
        (f'<View>{_CHOICE}<TextArea name="x" perRegion="true"/></View>', "perRegion"),
        ("<View>", "not XML"),
        ("<View/>", "needs a question"),
        ('<!DOCTYPE b [<!ENTITY a "aaa"><!ENTITY c "&a;&a;">]><View>&c;</View>', "DOCTYPE"),
        ("<View>" * 100_000 + "</View>" * 100_000, ""),
        ("<View>" * 5_000 + "</View>" * 5_000, "nested too deeply"),
    ],
)
def test_a_bad_label_studio_configuration_is_an_error_that_names_the_tag(text, named):
    with pytest.raises(DataError, match=r"^bad\.xml") as error:
        parse_questions(text.encode(), "bad.xml")
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("annotation_schemes: [{annotation_type: image_annotation, name: box, labels: [a]}]", "'box'"),
        ("annotation_schemes: [{annotation_type: slider, name: s}]", "'s'"),
        ("annotation_schemes: [{annotation_type: likert, name: l, size: five}]", "'l'"),
        ("annotation_schemes: [{annotation_type: slider, name: s, min: 0, max: x}]", "'s'"),
        ("annotation_schemes: [{annotation_type: text, name: t, labels: [a, b]}]", "'t'"),
        ("annotation_schemes: [{annotation_type: radio, name: r, labels: 5}]", ""),
        ("annotation_schemes: [{annotation_type: text, name: t, display_logic: {show_when: []}}]", "'t'"),
        ("annotation_schemes: [{annotation_type: text, name: t, label_requirement: 3}]", ""),
        ("annotation_schemes: 5", "annotation_schemes"),
        ("annotation_schemes: [{annotation_type: radio, name: r, labels: [yes, no]}]", "in quotes"),
        ("annotation_schemes: [{annotation_type: radio, name: r, labels: yes or no}]", "labels are a list"),
        ("annotation_schemes: [{annotation_type: slider, name: s, min: 0.5, max: 9}]", "whole numbers"),
        ("annotation_schemes: [{annotation_type: likert, name: s, size: .inf}]", "infinity"),
        ("annotation_schemes: !!bool maybe", "maybe"),
        ("annotation_schemes: !!int ''", ""),
        ("#" * 100_001, "100 kB"),
        ("a: &a [x]\nb: &b [*a, *a]", "aliases"),
        ("a: [", "not YAML"),
        ("!!python/object/apply:os.system [ls]", "not YAML"),
        ("[" * 20_000, ""),
    ],
)
def test_a_bad_potato_configuration_is_an_error_that_names_the_scheme(text, named):
    with pytest.raises(DataError, match=r"^bad\.yaml") as error:
        parse_questions(text.encode(), "bad.yaml")
    assert named in str(error.value)


def test_other_protocols_and_endings_are_refused(site, items, tmp_path):
    from deadpan.errors import ConfigError

    with pytest.raises(ConfigError, match="only custom"):
        write_questions(site.make("reader-judgment", items(1)), tmp_path / "q.xml")
    with pytest.raises(DataError, match="expected a configuration"):
        parse_questions(b"", "q.json")
    with pytest.raises(DataError, match="not UTF-8"):
        parse_questions(b"\xff\xfe<", "q.xml")


def test_the_builder_takes_a_file_and_gives_one(site, items):
    from django.core.files.uploadedfile import SimpleUploadedFile

    study = site.make("custom", items(1))
    study.is_draft, study.is_open = True, False
    study.save()
    owner = site.owner()
    xml = f"<View>{_CHOICE}</View>".encode()
    assert owner.post("/s/s/questions", {"file": SimpleUploadedFile("q.xml", xml)}).status_code == 302
    given = b"".join(owner.get("/s/s/download/questions-yaml").streaming_content)
    assert parse_questions(given, "q.yaml") == parse_questions(xml, "q.xml")
    refused = owner.post("/s/s/questions", {"file": SimpleUploadedFile("q.xml", b"<View><Video/></View>")})
    assert refused.status_code == 400 and "&lt;Video&gt;" in refused.content.decode()
