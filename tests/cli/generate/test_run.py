"""deadpan generate run and its steps: whole, resumed, limited in cost, spoilt by faults."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deadpan.generate.folder import Draft, GenerationFolder
from deadpan.generate.plan import STEP_NAMES
from deadpan.journal import Journal
from deadpan.llm.retries import Backoff
from deadpan.storage import read_records
from dialogue_server import DialogueServer, name_of, stage_of

SRC = Path(__file__).parents[3] / "src"


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything a run wrote but its ledger, which is in order of arrival."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.mark.slow
def test_a_whole_run(deadpan, plan_of, server, tmp_path):
    done = deadpan("generate", "run", plan_of(30), "--json")
    assert done.status == 0, done.err
    data = done.json
    assert data["read"] == 30 == data["kept"] + data["dropped"]
    assert data["kept"] > 20
    assert set(data["steps"][-1]["drops"]) <= {"awaiting_review"}
    assert data["spent"] == pytest.approx(sum(data["steps"][n]["cost"] for n in (1, 3, 5)))
    kept = list(read_records(tmp_path / "run" / "7-review" / "kept.jsonl", Draft))
    assert all(len(draft.source) <= 6 and draft.response and draft.explanation for draft in kept)
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert f"{data['kept']} of 30 dialogues passed every step" in page
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["counts"]["read"] == 30


def test_published_sampling_is_the_default(deadpan, plan_of, tmp_path):
    seen = []

    def look(body, nth):
        seen.append(body)

    with DialogueServer(look) as own:
        path = plan_of(2)
        path.write_text(path.read_text().replace(path.read_text().split('base_url = "')[1].split('"')[0], own.url))
        assert deadpan("generate", "run", path).status == 0
    by_stage = {stage_of(body): body for body in seen}
    assert (by_stage["situation"]["temperature"], by_stage["situation"]["top_p"]) == (1.0, 1.0)
    assert by_stage["situation"]["max_tokens"] == 1000
    dialogue = by_stage["dialogue"]
    assert (dialogue["temperature"], dialogue["top_p"], dialogue["frequency_penalty"]) == (1.1, 0.8, 0.2)
    assert dialogue["max_tokens"] == 3000
    assert len(dialogue["messages"]) == 6  # instructions, two shots, the question


def test_a_second_start_needs_resume_and_calls_nothing(deadpan, plan_of, server, tmp_path):
    path = plan_of(10)
    deadpan("generate", "run", path)
    before, made = files_of(tmp_path / "run"), len(server.asked)
    refused = deadpan("generate", "run", path)
    assert refused.status == 2 and "--resume" in refused.err
    assert deadpan("generate", "run", path, "--resume").status == 0
    assert (files_of(tmp_path / "run"), len(server.asked)) == (before, made)


def test_a_step_alone_and_what_comes_before_it(deadpan, plan_of):
    path = plan_of(6)
    early = deadpan("generate", "run", path, "--only", "situation")
    assert early.status == 2 and "deadpan generate run PLAN --until source first" in early.err
    for step in ("source", "situation", "politeness", "dialogue", "filter", "abnormal", "contrast"):
        if step == "contrast":
            assert deadpan("generate", "review", path, "--json").status == 0
        done = deadpan("generate", "run", path, "--only", step, "--json")
        assert done.status == 0, done.err
        assert done.json["read"] == done.json["kept"] + sum(done.json["drops"].values())


def test_a_run_in_two_parts_is_a_run(deadpan, plan_of, server, tmp_path):
    path = plan_of(6)
    whole = deadpan("generate", "run", path, "--out", tmp_path / "whole", "--json").json
    shutil.rmtree(tmp_path / "cache")  # the page says which answers another run paid for
    part = deadpan("generate", "run", path, "--until", "situation", "--json").json
    assert [step["step"] for step in part["steps"]] == ["source", "situation"]
    assert part["waiting"][0] == "politeness" and not (tmp_path / "run" / "manifest.json").exists()
    assert deadpan("generate", "run", path, "--until", "dialogue").status == 2  # it needs --resume
    rest = deadpan("generate", "run", path, "--resume", "--json").json
    assert rest["kept"] == whole["kept"] and files_of(tmp_path / "run") == files_of(tmp_path / "whole")


def test_the_command_offers_the_steps_of_the_plan(deadpan):
    listed = deadpan("generate", "run", "plan.toml", "--until", "nowhere")
    assert listed.status == 2 and all(repr(name) in listed.err for name in STEP_NAMES)


def test_contrast_sets(deadpan, plan_of, tmp_path):
    path = plan_of(12, top="with_contrast = true")
    data = deadpan("generate", "run", path, "--json").json
    kept = list(read_records(tmp_path / "run" / "8-contrast" / "kept.jsonl", Draft))
    assert data["steps"][-1]["step"] == "contrast" and data["kept"] == len(kept)
    assert all(draft.sincere and draft.sincere != draft.response.text for draft in kept)


def test_a_changed_plan_redoes_what_it_touches(deadpan, plan_of, server):
    path = plan_of(6)
    deadpan("generate", "run", path)
    first = len(server.asked)
    path.write_text(path.read_text() + "\n[dialogue]\ntemperature = 0.5\n")
    assert deadpan("generate", "run", path, "--resume").status == 0
    assert first < len(server.asked) <= first + 12  # dialogues and their checks, no situations


@pytest.mark.slow
def test_max_cost_stops_cleanly_and_goes_on(deadpan, plan_of, server, tmp_path):
    path = plan_of(20, model="concurrency = 2", rest="[situation]\nmax_tokens = 100\n[dialogue]\nmax_tokens = 200")
    whole = deadpan("generate", "run", path, "--out", tmp_path / "other", "--json").json
    server.asked.clear()
    for cached in (tmp_path / "cache" / "llm").rglob("*.json"):
        cached.unlink()
    stopped = deadpan("generate", "run", path, "--max-cost", "0.02")
    assert stopped.status == 2 and "finished calls kept" in stopped.err and "--resume" in stopped.err
    made = len(server.asked)
    assert 0 < made < 60
    with Journal(tmp_path / "run" / ".calls.sqlite") as journal:
        assert len(journal) == made and journal.paid <= 0.02
    again = deadpan("generate", "run", path, "--resume", "--max-cost", "5", "--json").json
    assert again["spent"] == pytest.approx(whole["spent"])
    assert len(server.asked) == len(set(server.asked))
    ours, theirs = files_of(tmp_path / "run"), files_of(tmp_path / "other")
    assert ours == theirs


def test_the_dry_run_prices_and_calls_nothing(deadpan, plan_of, server, tmp_path):
    found = deadpan("generate", "run", plan_of(40), "--dry-run", "--json").json
    assert server.asked == [] and not (tmp_path / "run").exists()
    assert found["dialogues"] == 40 and 0 < found["cost"] < found["most"]
    real = deadpan("generate", "run", plan_of(40), "--json").json
    assert found["stages"][0]["calls"] == 44, "one answer in ten is expected to be asked again"
    assert 0.3 < found["cost"] / real["spent"] < 3  # the server's token counts are made up


@pytest.mark.slow
def test_a_failed_call_is_made_again_by_resume(deadpan, plan_of, tmp_path, monkeypatch):
    monkeypatch.setattr("deadpan.llm.client.Backoff", lambda: Backoff(first=0.001, longest=0.002))
    broken = {"now": True}

    def fault(body, nth):
        ill = broken["now"] and stage_of(body) == "dialogue" and random.Random(name_of(body)).random() < 0.3
        return (500, "broken") if ill else None

    with DialogueServer(fault) as bad:
        path = plan_of(12, model="retries = 1")
        text = path.read_text()
        path.write_text(text.replace(text.split('base_url = "')[1].split('"')[0], bad.url))
        first = deadpan("generate", "run", path, "--json").json
        assert first["steps"][3]["drops"]["call_failed"] > 0
        broken["now"] = False
        second = deadpan("generate", "run", path, "--resume", "--json").json
        assert second["steps"][3]["drops"] == {} and second["steps"][0]["read"] == 12


def test_a_server_that_is_gone_ends_the_run(deadpan, plan_of, monkeypatch):
    monkeypatch.setattr("deadpan.llm.client.Backoff", lambda: Backoff(first=0.001, longest=0.002))
    with DialogueServer(lambda body, nth: (500, "broken")) as bad:
        path = plan_of(60, model="retries = 0", top="give_up_after = 8")
        text = path.read_text()
        path.write_text(text.replace(text.split('base_url = "')[1].split('"')[0], bad.url))
        done = deadpan("generate", "run", path)
        assert done.status == 2 and "in a row failed" in done.err and "--resume" in done.err
        assert len(bad.asked) < 60


def test_two_runs_in_one_folder(deadpan, plan_of, tmp_path):
    path = plan_of(2)
    with GenerationFolder(tmp_path / "run").lock():
        done = deadpan("generate", "run", path)
    assert done.status == 2 and "another run is using this folder" in done.err


@pytest.mark.slow
def test_a_full_disk_keeps_what_is_finished(plan_of, tmp_path, server):
    """A limit on the size of a file stands in for a disk that takes no more."""
    path = plan_of(30)

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000))

    command = [sys.executable, "-m", "deadpan", "generate", "run", str(path)]
    environment = {"PYTHONPATH": str(SRC), "OPENAI_API_KEY": "x", "DEADPAN_CACHE": str(tmp_path / "c"), "PATH": "/bin"}
    done = subprocess.run(command, preexec_fn=small, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2 and "disk" in done.stderr and "resume" in done.stderr, done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("deadpan: ")
    made = len(set(server.asked))
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert made < len(set(server.asked))
    assert "read 30 = kept" in done.stdout
