"""Authors tell, a linguist categorises, others perceive; every release is read again and loads elsewhere."""

from __future__ import annotations

import pytest

from story.visitor import Person, Program, served_studio

pytestmark = pytest.mark.slow
TEXTS = (
    "Oh great, the train is late again today",
    "I had soup for lunch and it was good",
    "The library opens at nine on weekdays now",
    "My sister moved to another city last week",
)


def hand_in(site: str, link: str, who: str) -> None:
    """Fill the survey as one author."""
    person = Person(site, "told", link)
    form = {
        "explanation": "I was annoyed about the train that day.",
        "rephrase": "I am annoyed that the train is late.",
        "followers": "120", "own": "on", "age": "31", "gender": "female", "country": "UK",
    }  # fmt: skip
    for at, text in enumerate(TEXTS):
        form |= {
            f"text{at}": f"{text} {who} {who}{at}",
            f"link{at}": f"https://x.com/{who}/status/{at}",
            f"date{at}": f"2024-01-0{at + 1}",
        }
    path, page = person.get("/s/told/survey")
    ended, page = person.post(path, form, page)
    assert ended.endswith("/thanks"), page


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Program:
    return Program(tmp_path_factory.mktemp("told"))


@pytest.fixture(scope="module")
def told(program: Program) -> str:
    """A survey that two authors filled in, released with its texts."""
    (program.folder / "survey.toml").write_text(
        'protocol = "author-survey"\ntitle = "Your own posts"\n[settings]\nminutes = 0.0\n', encoding="utf-8"
    )
    program(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "author-survey",
        "--name",
        "told",
        "--config",
        "survey.toml",
    )
    link = program.json("studio", "invite", "told", "--role", "participant", "--uses", "2")["link"]
    with served_studio(program) as site:
        for who in ("ann", "bob"):
            hand_in(site, link, who)
    program("studio", "release", "told", "--mode", "gated", "--out", "told")
    return "told"


def test_a_survey_is_a_corpus(program, told):
    assert program.json("datasets", "stats", told)[told]["n"] == 8
    loaded = program.load_dataset(told)
    assert sum(len(rows) for rows in loaded.values()) == 8
    program("detect", "train", told, "--system", "bigrams", "--out", "model")


def test_a_linguist_and_other_people_judge_what_authors_told(program, told):
    program(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "categorise",
        told,
        "--name",
        "kinds",
        "--raters",
        "1",
    )
    program(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "reader-judgment",
        told,
        "--name",
        "seen",
        "--raters",
        "2",
    )
    links = {name: program.json("studio", "invite", name, "--role", "participant", "--uses", "2")["link"]
             for name in ("kinds", "seen")}  # fmt: skip
    with served_studio(program) as site:
        linguist = Person(site, "kinds", links["kinds"])
        assert linguist.answer_all(lambda screen, question: "irony") == 2  # the sarcastic posts only
        for _ in range(2):
            reader = Person(site, "seen", links["seen"])
            assert reader.answer_all(lambda screen, question: screen.choices[question][0]) == 8
    program("studio", "release", "kinds", "--mode", "gated", "--out", "kinds")
    program("studio", "release", "seen", "--mode", "gated", "--out", "seen")
    for name, n in (("kinds", 2), ("seen", 8)):
        assert program.json("datasets", "stats", name)[name]["n"] == n
        assert sum(len(rows) for rows in program.load_dataset(name).values()) == n
    shown = program("datasets", "show", "kinds", "--sample", "1")
    assert "irony" in shown
