"""A language model writes dialogues, people judge them, the release is read and trains a detector."""

from __future__ import annotations

import pytest

from dialogue_server import DialogueServer, sources
from story.visitor import Person, Screen, served_studio

pytestmark = pytest.mark.slow

COUNT = 24
ANSWERS = {"response": "sarcasm", "context": "normal", "explanation": "normal"}


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A language model on loopback; nothing of another test is in the cache."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    with DialogueServer() as server:
        yield server


def judge(screen: Screen, question: str) -> str:
    """Answer as a reader who finds dialogues with a kettle sincere, and those with a violin broken."""
    if question == "kind":
        return screen.choices["kind"][0]
    if "kettle" in screen.page and question == "response":
        return "non-sarcasm"
    if "violin" in screen.page and question == "context":
        return "abnormal"
    return ANSWERS[question]


def asked(program, name, study, people, choose):
    """Put a study into the studio, let people answer it in a browser, and export the answers."""
    program(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "annotate",
        study,
        "--name",
        name,
        "--qualification",
        "0",
    )
    link = program.json("studio", "invite", name, "--role", "participant", "--uses", people)["link"]
    with served_studio(program) as site:
        answered = [Person(site, name, link).answer_all(choose) for _ in range(people)]
    program("studio", "export", name, "--out", f"{name}-answers")
    return answered


def test_from_a_language_model_to_a_detector(program, model):
    (program.folder / "chats.jsonl").write_text(sources(COUNT), encoding="utf-8")
    program("generate", "plan", "my.toml", "chats.jsonl", "--llm", "writer-1", "--base-url", model.url,
            "--contrast")  # fmt: skip
    written = program.json("generate", "run", "my.toml")
    suspects = written["steps"][6]["drops"]["awaiting_review"]
    assert written["read"] == COUNT == written["kept"] + written["dropped"]

    program("generate", "review", "my.toml", "--study", "queue")
    assert asked(program, "review", "queue", 1, lambda screen, q: ANSWERS.get(q, "")) == [suspects]
    reviewed = program.json("generate", "review", "my.toml", "--export", "review-answers")
    assert (reviewed["decided"], reviewed["waiting"], reviewed["kept"]) == (suspects, 0, COUNT)
    assert program.json("generate", "run", "my.toml", "--resume")["kept"] == COUNT

    program("generate", "people", "my.toml", "--study", "study", "--raters", "2")
    assert asked(program, "judge", "study", 2, judge) == [COUNT, COUNT]
    judged = program.json("generate", "people", "my.toml", "--export", "judge-answers")
    assert judged["judged"] == COUNT and judged["drops"]["context_abnormal"] > 0
    assert judged["changes"]["label_change.casual dialogue"] > 0

    released = program.json("generate", "release", "my.toml", "--out", "dataset")
    assert released["dialogues"] == judged["examples"] > released["judged"] > 0
    assert released["sarcastic"] > 0 and released["sincere"] > 0
    rows = program.load_dataset("dataset")
    assert sum(len(part) for part in rows.values()) == released["dialogues"]
    assert {row["label_kind"] for part in rows.values() for row in part} == {"perceived", "generated"}

    described = program.json("datasets", "stats", "dataset")["dataset"]
    assert (described["n"], described["sarcastic"]) == (released["dialogues"], released["sarcastic"])
    assert described["label_kinds"] == {
        "perceived": released["judged"],
        "generated": released["dialogues"] - released["judged"],
    }
    program("detect", "train", "dataset", "--system", "bigrams", "--split", "train", "--out", "detector")
    easy = program.json("generate", "run", "my.toml", "--only", "backcheck", "--detector", "detector")
    assert easy["n"] == 2 * COUNT
