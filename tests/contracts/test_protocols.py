"""What holds for every protocol: from records to a study folder, a studio, answers, a report and a release."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.study import HIDDEN, Study, item_type, read_study, settings_type, write_study
from deadpan.records import Example, Item, Turn

if not all(find_spec(library) for library in ("django", "argon2", "whitenoise", "csp")):
    pytest.skip("needs deadpan[studio]", allow_module_level=True)

from deadpan.studio.protocols import PROTOCOLS

SOURCE = Path(__file__).parent.parent.parent / "src" / "deadpan"
SECRET = "kept-on-the-server"
CONTEXT = (Turn("A", "It rains."), Turn("B", "Again?"))
EXAMPLES = [
    Example(
        f"e{number}",
        Turn("A", f"Lovely, number {number}." if number % 2 else f"Take coat {number}."),
        CONTEXT,
        label=bool(number % 2),
        sequence=f"s{number // 2}",
        source=SECRET,
        explanation="It is not lovely.",
        rephrase="I dislike rain.",
    )
    for number in range(8)
]
ITEMS = [
    Item(
        f"q{number}",
        "1.0.0",
        CONTEXT,
        "Perfect timing.",
        "What is meant?",
        tuple(f"meaning {letter} of {number}" for letter in "abcdef"),
        number % 6,
        SECRET,
    )
    for number in range(8)
]
POSTS = (
    "Oh great, the train is late again today",
    "I had soup for lunch and it was good",
    "The library opens at nine on weekdays now",
    "My sister moved to another city last week",
)


def made(protocol):
    """Items of a protocol: from Examples or Items, whichever it reads; none for a survey."""
    records = {"examples": EXAMPLES, "items": ITEMS}[protocol.reads]
    return [] if protocol.survey else protocol.items_from(records, seed=1)


@pytest.fixture(params=list(PROTOCOLS))
def protocol(request):
    return PROTOCOLS.load(request.param)()


def test_items_and_settings_are_of_the_types_on_the_floor(protocol):
    """A folder is read without the studio, so both sides must name the same types."""
    assert protocol.item_type is item_type(protocol.name)
    assert protocol.settings_type is settings_type(protocol.name)
    assert all(type(item) is protocol.item_type for item in made(protocol))


def test_items_come_back_from_a_study_folder(protocol, tmp_path):
    study, items = Study(protocol.name, "A study"), made(protocol)
    assert write_study(tmp_path / "study", study, items) == len(items)
    assert read_study(tmp_path / "study") == (study, items)


def test_a_sample_depends_on_the_seed_alone(protocol):
    if protocol.survey:
        with pytest.raises(ConfigError, match="survey"):
            protocol.items_from(EXAMPLES)
        return
    records = {"examples": EXAMPLES, "items": ITEMS}[protocol.reads]
    few = protocol.items_from(records, sample=2, seed=3)
    assert 0 < len(few) < len(made(protocol)) or len(few) == 2
    assert protocol.items_from(records[::-1], sample=2, seed=3) == few


def test_no_hidden_field_is_shown(protocol):
    from django.utils.encoding import force_str

    settings = protocol.settings_type()
    for item in made(protocol):
        screen = protocol.screen(item, settings, "1:1")
        shown = force_str([screen.context, screen.response, screen.notes]) + "".join(
            force_str(choice.label) for question in screen.questions for choice in question.choices
        )
        assert SECRET not in shown
        assert not {f.name for f in fields(item) if HIDDEN in f.metadata} & item.shown_fields().keys()


def test_from_creation_to_release(protocol, site, tmp_path):
    """Three people answer everything alike; the report and the release follow from their answers."""
    study = site.make(protocol.name, made(protocol), raters_per_item=3, settings=quick(protocol))
    for number in range(3):
        if protocol.survey:
            hand_in(site, study, f"ann{number}")
        else:
            assert site.answer_all(site.person(study), study, lambda id: first_answers(study, id))
    from deadpan.studio.records.labels import answers_of, study_results

    for section in study_results(study).report:
        assert section.title and section.table.columns
    assert study_results(study).report
    given = answers_of(study, labels=labels_of(study))
    try:
        examples = list(protocol.to_examples(given, Tally()))
    except ConfigError as refused:  # a protocol that gives scores, not labels
        assert "export" in str(refused)
        return
    assert examples and len({example.id for example in examples}) == len(examples)
    assert all(example.label is not None and example.label_kind for example in examples)
    assert {example.language for example in examples} == {"en"}


def quick(protocol) -> dict:
    return {"minutes": 0.0} if protocol.survey else {"qualification": 0}


def first_answers(study, id: str) -> dict[str, str]:
    """The first possible choice of every question that is asked."""
    from deadpan.studio.records.studies import protocol_of, screen_of, settings_of

    # In the protocol's order, not in the order of one person's screen.
    order = {q.name: q.values for q in protocol_of(study).questions(settings_of(study))}
    chosen: dict[str, str] = {}
    for question in screen_of(study.items.get(item_id=id), study, "any").questions:
        if question.choices and question.asked(chosen):
            allowed = [value for value in order[question.name] if question.allows(value, chosen)]
            chosen[question.name] = allowed[0]
    return chosen


def labels_of(study) -> dict[str, dict[str, str]]:
    from deadpan.studio.records.labels import study_labels

    final: dict[str, dict[str, str]] = {}
    for label in study_labels(study):
        if label.value is not None:
            final.setdefault(label.item_id, {})[label.question] = label.value
    return final


def hand_in(site, study, who: str) -> None:
    """Fill in the survey: four posts and what they mean."""
    client = site.person(study, role="participant")
    form = {
        "explanation": "I was annoyed about the train.",
        "rephrase": "I am annoyed that it is late.",
        "followers": "12",
        "own": "on",
    }
    for at, text in enumerate(POSTS):
        form |= {
            f"text{at}": f"{text} {who} {who}{at}",
            f"link{at}": f"https://x.com/{who}/status/{at}",
            f"date{at}": "2024-01-01",
        }
    assert client.post(f"/s/{study.slug}/survey", form).url == f"/s/{study.slug}/thanks"


def test_no_file_asks_for_a_protocols_name():
    """A new protocol is one file and one registration: `protocol == "quiz"` elsewhere would be a second."""
    names = set(PROTOCOLS)
    branches = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            tests = []
            if isinstance(node, ast.Compare):
                tests = [node.left, *node.comparators]
            elif isinstance(node, ast.Match):
                tests = [node.subject]
            words = {part.value for test in tests for part in ast.walk(test) if isinstance(part, ast.Constant)}
            if words & names and any(re.search(r"\bprotocol\b", ast.unparse(test)) for test in tests):
                branches.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert branches == []
