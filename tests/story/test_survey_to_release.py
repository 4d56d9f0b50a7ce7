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


def test_one_command_joins_authors_and_linguist(program, told):
    program("studio", "create", "categorise", told, "--name", "linguist", "--preset", "isarcasm",
            "--open", "--setting", "contact=lab@example.org")  # fmt: skip
    link = program.json("studio", "invite", "linguist", "--role", "participant")["link"]
    with served_studio(program) as site:
        judged = lambda screen, question: "invalid" if "bob" in screen.page else "satire"  # noqa: E731
        assert Person(site, "linguist", link).answer_all(judged) == 2
    done = program.json("studio", "release", "told", "--categories", "linguist", "--out", "joined")
    assert done["examples"] == 7 and done["drops"]["invalid"] == 1
    parts = {name: (program.folder / "joined" / f"isarcasm_{name}.csv").read_text() for name in ("train", "test")}
    rows = [line.split(",") for text in parts.values() for line in text.splitlines()[1:]]
    assert all(text.startswith("tweet_id,sarcasm_label,sarcasm_type") for text in parts.values())
    assert sorted(row[1:] for row in rows if row[1] == "sarcastic") == [["sarcastic", "satire"]]
    assert len(rows) == 7 and all(text.count("\n") > 1 for text in parts.values())
    (program.folder / "data" / "isarcasm").mkdir(parents=True)
    for name, text in parts.items():
        (program.folder / "data" / "isarcasm" / f"isarcasm_{name}.csv").write_text(text)
    read = program.json("datasets", "stats", "isarcasm", "--ids-only", "--data-dir", "data")
    assert read["isarcasm"]["n"] == 7
    program("studio", "release", "linguist", "--categories", "told", "--out", "wrong", status=2)
