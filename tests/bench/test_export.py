"""Exports: rows in three formats, the set for others, nothing private."""

from __future__ import annotations

import json
import re

import pytest

from bench_items import FAST, Scripted, job, right, small_set
from deadpan.bench.export import export_bench, export_set, write_rows
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.answers import read_letter
from deadpan.bench.runs.folder import AnswerRow, read_run
from deadpan.bench.runs.run import run_models
from deadpan.bench.scores.score import score_run
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.logs.log import read_logs
from deadpan.records import Item
from deadpan.storage import read_records

SET = small_set(6)


@pytest.fixture
def rows(tmp_path):
    [(folder, _)] = run_models(
        ["openai/m"], job(SET), tmp_path / "r", clock=FAST, answerers={"openai/m": Scripted(right)}
    )
    return read_run(folder).rows


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_rows_come_back(rows, tmp_path, suffix):
    assert write_rows(tmp_path / f"rows{suffix}", rows, public=True) == 36
    assert tuple(read_records(tmp_path / f"rows{suffix}", AnswerRow)) == rows


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_rows_of_a_private_set_tell_nothing(rows, tmp_path, suffix):
    write_rows(tmp_path / f"rows{suffix}", rows, public=False)
    text = (tmp_path / f"rows{suffix}").read_text(encoding="utf-8-sig")
    for secret in ("i0-0", "Final Answer", "ABCDEF", "p0", "correct"):
        assert secret not in text
    assert "intended_meaning" in text


def test_an_unknown_format_is_refused(rows, tmp_path):
    with pytest.raises(ConfigError, match="parquet"):
        write_rows(tmp_path / "rows.xlsx", rows, public=True)


def test_the_set_is_exported_for_others(tmp_path):
    assert export_set(SET, tmp_path / "out").items == {"en": 12}
    lines = (tmp_path / "out" / "lm-eval" / "sarcbench_en.jsonl").read_text(encoding="utf-8").splitlines()
    assert "Final Answer: X" in json.loads(lines[0])["prompt"]
    yaml = (tmp_path / "out" / "lm-eval" / "sarcbench_en.yaml").read_text(encoding="utf-8")
    assert "repeats: 5" in yaml
    pattern = re.search(r'regex_pattern: "(.*)"', yaml)[1].replace("\\\\", "\\")
    for text in ("Final Answer: B", "**Final Answer:** (c)", "Final Answer: all of them"):
        found = re.findall(pattern, text)
        assert (found[-1].upper() if found else None) == read_letter(text)
    assert list(read_records(tmp_path / "out" / "hf" / "data" / "en.parquet", Item)) == list(SET.items)
    card = (tmp_path / "out" / "hf" / "README.md").read_text(encoding="utf-8")
    assert '"split": "test"' in card
    croissant = json.loads((tmp_path / "out" / "hf" / "croissant.json").read_text())
    assert croissant["distribution"][0]["sha256"]


def test_a_private_set_is_never_exported(tmp_path):
    with pytest.raises(DataError, match="only public sets"):
        export_set(small_set(visibility="private"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_five_repeats_are_scored_as_in_our_runs(tmp_path):
    export_set(SET, tmp_path / "out")
    scope: dict = {}
    exec((tmp_path / "out" / "lm-eval" / "five_repeats.py").read_text(), scope)
    score = lambda letters: scope["score"]({"answer": "C"}, [[*letters]])  # noqa: E731
    assert score("CCDEF") == {"avg_at_5": 0.4, "maj_at_5": 1.0}
    assert score("CCDDF") == {"avg_at_5": 0.4, "maj_at_5": 0.0}
    assert score(["C", "UNREAD", "UNREAD", "UNREAD", "D"]) == {"avg_at_5": 0.2, "maj_at_5": 0.0}


def test_any_run_opens_in_inspect(tmp_path):
    """Read back by Inspect: the letters that were shown, the scores, what went wrong; and our own reader agrees."""
    log = pytest.importorskip("inspect_ai.log")
    refused = {
        SET.items[0].id: GivenAnswer("", "content_filter"),
        SET.items[1].id: GivenAnswer("Hm.", "stop", "m", 1, 1),
    }
    answer = lambda q, limit, n: refused.get(q.item.id) or right(q)  # noqa: E731
    work = job(SET, shuffle=True)
    [(folder, _)] = run_models(["openai/m"], work, tmp_path / "r", clock=FAST, answerers={"openai/m": Scripted(answer)})
    assert export_bench([folder], tmp_path / "logs", to="inspect", items=SET).rows == 36
    [path] = (tmp_path / "logs").glob("*.eval")
    read = log.read_eval_log(str(path))
    assert (read.status, read.eval.model, read.eval.config.epochs) == ("success", "openai/m", 3)
    assert read.results.scores[0].metrics["accuracy"].value == score_run(read_run(folder)).avg.value
    assert len(read.samples) == read.results.total_samples == 36
    samples = {(sample.id, sample.epoch): sample for sample in read.samples}
    for row in read_run(folder).rows:
        sample = samples[row.item, row.run]
        score = sample.scores["final_answer"]
        assert (score.value == "C") == row.correct
        assert sample.choices["ABCDEF".index(sample.target)] in sample.input
        assert not row.correct or score.answer == sample.target == sample.output.completion[-1]
    assert samples[SET.items[0].id, 1].output.stop_reason == "content_filter"
    assert samples[SET.items[1].id, 1].scores["final_answer"].metadata["unread"] is True
    [theirs] = read_logs(path)
    assert sum(item.score for item in theirs.items.values()) / 12 == pytest.approx(10 / 12)


def test_an_incomplete_run_and_a_private_one(tmp_path):
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log

    answer = Scripted(lambda q, limit, n: ModelError("no") if q.run == 2 else right(q))
    [(folder, _)] = run_models(["openai/m"], job(SET), tmp_path / "r", clock=FAST, answerers={"openai/m": answer})
    export_bench([folder], tmp_path / "logs", to="inspect", items=SET)
    read = read_eval_log(str(next((tmp_path / "logs").iterdir())))
    assert (read.status, read.results.completed_samples) == ("error", 24)
    assert sum(sample.error is not None for sample in read.samples) == 12
    hidden = small_set(visibility="private")
    [(folder, _)] = run_models(
        ["openai/m"], job(hidden), tmp_path / "p", clock=FAST, answerers={"openai/m": Scripted(right)}
    )
    with pytest.raises(DataError, match="private"):
        export_bench([folder], tmp_path / "more", to="inspect", items=hidden)


@pytest.mark.slow
def test_hugging_face_s_own_library_loads_the_folder(tmp_path, monkeypatch):
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    datasets = pytest.importorskip("datasets")
    public = open_set("public")
    export_set(public, tmp_path / "out")

    def load(*config):
        folder = str(tmp_path / "out" / "hf")
        return datasets.load_dataset(folder, *config, split="test", cache_dir=str(tmp_path / "cache"))

    assert {*load()["id"]} == {item.id for item in public.items}
    korean = [item for item in public.items if item.language == "ko"]
    assert [row["options"][row["answer"]] for row in load("ko")] == [i.options[i.answer] for i in korean]
