"""Every command that `reproduce` prints works, and what people answer then fills the cells of the papers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import pytest

from deadpan.reproduce.people import STUDIES
from deadpan.reproduce.published import PAPERS, read_paper
from dialogue_server import DialogueServer, sources
from reproduce.releases import isarcasm, kocosa
from scripted_server import ok, served
from story.visitor import Person, Program, served_studio

pytestmark = pytest.mark.slow
COMMAND = re.compile(r"deadpan [^;&]+")
ONLY = {
    "sarc": ("section-4.1", "section-4.2", "section-5.3"),
    "isarcasm": ("table-5", "figure-2", "section-5.1"),
    "kocosa": ("table-5", "table-7", "table-8", "table-8-llm", "table-9", "table-10"),
    "sarcbench": ("table-3",),
}


@pytest.fixture
def printed(program: Program, built: Program, monkeypatch) -> Program:
    """A folder with the corpora and a generated run, as the placeholders of the commands name them."""
    data = program.folder / "data"
    for part, count in (("train", 40), ("test", 8)):
        kocosa(data / "kocosa", count, part)
        isarcasm(data / "isarcasm", part, count)
    monkeypatch.setenv("DEADPAN_DATA", str(data))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    (program.folder / "CORPUS").symlink_to(built.folder / "corpus")
    (program.folder / "DUMP").symlink_to(built.folder / "dumps")
    return program


def commands_of(program: Program, paper: str) -> list[str]:
    only = [word for name in ONLY[paper] for word in ("--only", name)]
    stored = program.json("reproduce", paper, "--quick", "--out", f"out-{paper}", *only)
    whys = [cell["why"] for each in stored["papers"][0]["exhibits"] for cell in each["cells"]]
    return list(dict.fromkeys(found.strip(" .") for why in whys for found in COMMAND.findall(why)))


def words_of(command: str) -> list[str]:
    return shlex.split(command)[1:]


def test_the_commands_of_every_paper_are_known_to_this_test(printed):
    """A need that names a command of a table that is not asked for below would not be run."""
    named = {
        (paper, cell.exhibit) for paper in PAPERS for cell in read_paper(paper).cells() if COMMAND.search(cell.needs)
    }
    assert {exhibit for _, exhibit in named} <= {exhibit for only in ONLY.values() for exhibit in only}
    shown = [command for paper in ("sarc", "isarcasm", "kocosa") for command in commands_of(printed, paper)]
    for name, study in STUDIES.items():
        assert f"deadpan studio export {name} --out PEOPLE/{name}/export" in shown, study.protocol


def run_all(program: Program, commands: Iterable[str], changes: dict[str, str]) -> None:
    for command in commands:
        program(*(changes.get(word, word) for word in words_of(command)))


def test_the_commands_of_sarc_and_isarcasm_run(printed):
    changes = {"100": "5", "--preset": "--sample", "sarc": "3", "CORPUS": "CORPUS"}
    commands = commands_of(printed, "sarc")
    assert len([command for command in commands if "studio create" in command]) == 3
    building = [command for command in commands if "corpus build" in command or "corpus stats" in command]
    run_all(printed, building, {"CORPUS": "NEW"})
    # The small corpus has fewer than the paper's 500 comments of a label and 100 pairs.
    run_all(printed, (c for c in commands if c not in building), changes)
    run_all(printed, commands_of(printed, "isarcasm"), {})


def test_people_fill_the_cells_of_kocosa(printed, monkeypatch):
    monkeypatch.setenv("DEADPAN_CACHE", str(printed.folder / "cache"))
    (printed.folder / "chats.jsonl").write_text(sources(6), encoding="utf-8")
    with DialogueServer() as writer:
        printed("generate", "plan", "PLAN.toml", "chats.jsonl", "--llm", "writer-1", "--base-url", writer.url)
        printed("generate", "run", "PLAN.toml")
    commands = commands_of(printed, "kocosa")
    asked = [command for command in commands if "export" not in command and "reproduce" not in command]
    for command in asked:
        qualified = ["--qualification", "0"] if "create annotate" in command else []
        printed(*("PLAN.toml" if word == "PLAN" else word for word in words_of(command)), *qualified)
    names = [name for name in STUDIES if name.startswith("kocosa")]
    links = {name: printed.json("studio", "invite", name, "--role", "participant")["link"] for name in names}
    pages: dict[str, list[str]] = {name: [] for name in names}

    def choose(name, screen, question):
        pages[name].append(screen.page)
        if question == "sarcastic":
            return "sarcastic" if "대단하네" in screen.page else "not sarcastic"
        return {"response": "non-sarcasm" if name == "kocosa-kind" else "abnormal"}.get(
            question, screen.choices[question][0]
        )

    with served_studio(printed) as site:
        for name in names:
            answered = Person(site, name, links[name]).answer_all(lambda s, q, of=name: choose(of, s, q))
            assert answered > 0, name
    assert not any("날씨" in page for page in pages["kocosa-response"]), "the context is hidden"
    assert all("날씨" in page for page in pages["kocosa"])
    run_all(printed, (c for c in commands if "studio export" in c), {})
    only = [word for name in ("table-5", "table-7", "table-8", "table-9") for word in ("--only", name)]
    stored = printed.json("reproduce", "kocosa", "--quick", "--people", "PEOPLE", "--out", "filled", *only)
    cells = {cell["id"]: cell for each in stored["papers"][0]["exhibits"] for cell in each["cells"]}
    for id in ("table-9/only-the-response/human", "table-9/full-context/human", "table-8/human-evaluation/recall-n"):
        assert cells[id]["ours"]["value"] == 100, id
    assert len([id for id in cells if id.startswith("table-8/human-evaluation/") and cells[id]["ours"]]) == 7
    assert cells["table-7/casual-dialogue/percent"]["ours"]["value"] == 100
    assert cells["table-5/total/cases"]["ours"]["value"] > 0


def test_a_language_model_answers_with_examples(printed, monkeypatch):
    monkeypatch.setenv("DEADPAN_CACHE", str(printed.folder / "cache"))
    commands = [command for command in commands_of(printed, "kocosa") if "reproduce" in command]
    assert len(commands) == 3  # two families in Table 8, and any model beside them
    with served() as server:
        server.acts = [ok("1")]
        for number, command in enumerate(commands):
            words = [f"filled-{number}" if word == "OUT" else word for word in words_of(command)]
            words = [word.replace("MODEL", "gpt-9") for word in words]
            shown = printed.json(*words, "--base-url", server.url, "--quick")
            ours = [cell for each in shown["papers"][0]["exhibits"] for cell in each["cells"] if cell["ours"]]
            assert len(ours) >= 21, "seven scores with 0, 4 and 8 examples"
    run = commands_of(printed, "sarcbench")
    assert len(run) == 1
    run_all(printed, run, {"PROVIDER/ID": "baseline/first"})
