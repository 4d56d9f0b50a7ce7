"""Every format of results is read as one score per item; damage and strangers are one line."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from deadpan.errors import DeadpanError
from deadpan.logs import LOGS, read_logs
from deadpan.logs.comparison import compare_logs

REAL = Path(__file__).parents[2] / "examples" / "logs"
"""Logs of inspect-ai 0.3.285, lm-eval 0.4.13 and crfm-helm 0.5.16, run over 24 of our starter texts.

All asked smollm2-135m on this machine; HELM asked qwen2.5-coder-1.5b too. Its folders were renamed: a colon is
no name everywhere.
"""


def helm_run(folder: Path, model: str, right: set[int], n: int = 6) -> Path:
    """Write a run folder as helm-run does: one entry per instance, trial and perturbation."""
    run = folder / f"sarcasm:model={model}"
    run.mkdir(parents=True)
    rows = []
    for i in range(n):
        stats = [
            {"name": {"name": "num_prompt_tokens", "split": "test"}, "count": 1, "sum": 80, "mean": 80},
            {
                "name": {"name": "exact_match", "split": "test"},
                "count": 1,
                "sum": int(i in right),
                "mean": int(i in right),
            },
        ]
        rows.append({"instance_id": f"id{i}", "train_trial_index": 0, "stats": stats})
        twisted = {**rows[-1], "perturbation": {"name": "typos"}}
        rows.append(twisted)
    (run / "per_instance_stats.json").write_text(json.dumps(rows))
    (run / "run_spec.json").write_text(json.dumps({"name": run.name, "adapter_spec": {"model": model}}))
    return run


def bench_run(folder: Path, model: str, answers: list[tuple[str, int, bool, str]]) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    with (folder / "rows.jsonl").open("w") as file:
        for item, run, correct, error in answers:
            row = {
                "model": model,
                "item": item,
                "family": item[0],
                "set_hash": "h",
                "run": run,
                "correct": correct,
                "error": error,
            }
            file.write(json.dumps(row) + "\n")
    return folder


def test_a_real_log_of_inspect():
    [log] = read_logs(REAL / "inspect-plain.eval")
    assert log.system == "openai-api/smollm/smollm2-135m"
    assert (log.metric, log.metrics) == ("includes", ("includes", "match"))
    assert len(log.items) == 24
    from inspect_ai.log import read_eval_log

    theirs = read_eval_log(str(REAL / "inspect-plain.eval")).results.scores[0].metrics["accuracy"].value
    assert sum(item.score for item in log.items.values()) / 24 == pytest.approx(theirs)


def test_clusters_of_inspect_come_from_metadata():
    [log] = read_logs(REAL / "inspect-plain.eval", metric="match", cluster="pair")
    assert len({item.cluster for item in log.items.values()}) == 12
    with pytest.raises(DeadpanError, match="no field 'thread' to take clusters from"):
        read_logs(REAL / "inspect-plain.eval", cluster="thread")


def test_inspects_json_logs_and_epochs(tmp_path):
    def sample(item, epoch, value):
        return {"id": item, "epoch": epoch, "input": "q", "target": "t", "scores": {"s": {"value": value}}}

    samples = [
        sample("a", 1, "C"),
        sample("a", 2, "I"),
        sample("b", 1, 0.25),
        {"id": "c", "input": "q", "target": "t", "error": {}},
    ]
    log = {"version": 2, "status": "error", "eval": {"task": "x", "model": "m"}, "samples": samples}
    (tmp_path / "x.json").write_text(json.dumps(log))
    [read] = read_logs(tmp_path / "x.json")
    assert {name: item.score for name, item in read.items.items()} == {"x/a": 0.5, "x/b": 0.25, "x/c": None}
    assert "status 'error'" in read.notes[0]


def test_real_samples_of_lm_eval():
    [log] = read_logs(REAL / "lm-eval-a", cluster="pair")
    assert (log.system, log.metric) == ("smollm2-135m", "exact_match")
    results = json.loads(next((REAL / "lm-eval-a").glob("results_*")).read_text())
    theirs = results["results"]["starter_sarcasm"]["exact_match,none"]
    assert sum(item.score for item in log.items.values()) / len(log.items) == pytest.approx(theirs)
    assert len({item.cluster for item in log.items.values()}) == 12


def test_filters_and_older_runs_of_lm_eval(tmp_path):
    def line(doc, name, value):
        row = {"doc_id": doc, "doc": {}, "target": "", "filter": name, "metrics": ["exact_match"], "exact_match": value}
        return json.dumps(row) + "\n"

    old, new = (tmp_path / f"samples_gsm_2026-01-0{day}T00-00-00.000000.jsonl" for day in (1, 2))
    old.write_text(line(0, "strict", 0.0))
    new.write_text(line(0, "strict", 1.0) + line(0, "loose", 0.0))
    [log] = read_logs(tmp_path)
    assert log.metrics == ("exact_match,strict", "exact_match,loose")
    assert log.items["gsm/0"].score == 1.0
    assert "1 older runs" in log.notes[0]


def test_helm(tmp_path):
    helm_run(tmp_path, "one", {0, 1})
    helm_run(tmp_path, "two", {0, 1, 2})
    one, two = read_logs(tmp_path)
    assert (one.system, two.system, two.metric) == ("one", "two", "exact_match")
    assert [item.score for item in two.items.values()] == [1, 1, 1, 0, 0, 0]
    assert list(one.items) == list(two.items) == [f"sarcasm/id{i}" for i in range(6)]
    [tokens] = read_logs(tmp_path / "sarcasm:model=one", metric="num_prompt_tokens")
    assert tokens.items["sarcasm/id0"].score == 80


def test_real_runs_of_helm():
    logs = {log.system: log for log in read_logs(REAL / "helm", metric="quasi_exact_match")}
    assert set(logs) == {"local/smollm2-135m", "local/qwen2.5-coder-1.5b"}
    for system, log in logs.items():
        assert len(log.items) == 24
        assert "starter_sarcasm:style=plain/en-001-sarcastic" in log.items
        stats = json.loads((REAL / "helm" / system.removeprefix("local/") / "stats.json").read_text())
        [theirs] = [s["mean"] for s in stats if s["name"] == {"name": "quasi_exact_match", "split": "test"}]
        assert sum(item.score for item in log.items.values()) / 24 == pytest.approx(theirs)
        assert log.metrics[:2] == ("exact_match", "quasi_exact_match")


def test_a_folder_of_runs_of_deadpan_bench(tmp_path):
    for model in ("a", "b"):
        bench_run(tmp_path / "runs" / model, model, [("p1", 1, True, ""), ("q1", 1, model == "a", "")])
    (tmp_path / "runs" / "notes").mkdir()
    logs = read_logs(tmp_path / "runs")
    assert [(log.system, [item.score for item in log.items.values()]) for log in logs] == [
        ("a", [1.0, 1.0]),
        ("b", [1.0, 0.0]),
    ]


def test_a_run_with_reasoning_is_another_system_than_the_direct_run(tmp_path):
    bench_run(tmp_path / "runs" / "direct", "m", [("p1", 1, True, "")])
    reasoned = bench_run(tmp_path / "runs" / "reasoned", "m", [("p1", 1, False, "")])
    (reasoned / "run.json").write_text('{"prompt": "reasoned/1"}')
    assert [log.system for log in read_logs(tmp_path / "runs")] == ["m", "m+reasoning"]


def test_runs_of_deadpan_bench(tmp_path):
    answers = [("a1", 1, True, ""), ("a1", 2, False, ""), ("b1", 1, False, "timeout")]
    [log] = read_logs(bench_run(tmp_path / "run", "m", answers))
    assert log.items["a1"].score == 0.5
    assert log.items["a1"].cluster == "a"
    assert log.items["b1"].score is None


def test_tables_with_and_without_systems(tmp_path):
    (tmp_path / "both.csv").write_text("item,system,score,thread\n1,a,1,t\n1,b,0,t\n2,a,correct,t\n2,b,,t\n")
    a, b = read_logs(tmp_path / "both.csv")
    assert [row.score for row in a.items.values()] == [1.0, 1.0]
    assert [row.score for row in b.items.values()] == [0.0, None]
    assert a.items["1"].cluster == "t"
    (tmp_path / "mine.jsonl").write_text('{"id": 1, "correct": true}\n{"id": 2, "correct": false}\n')
    [mine] = read_logs(tmp_path / "mine.jsonl")
    assert (mine.system, mine.items["2"].score) == ("mine", 0.0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,text,label,score\n1,x,sarcastic,0.83\n2,y,sincere,0.21\n3,z,cannot tell,0.5\n"),
        ("a.csv", "text,label,predicted_label,predicted_score\nx,1,sarcastic,0.83\ny,0,sincere,0.21\n"),
        ("a.csv", "id,label,score,predicted_label,predicted_score\n1,1,14,sincere,0.4\n"),
        ("a.csv", "id,label,predicted2_label,predicted2_score\n1,1,sincere,0.4\n"),
        ("a.jsonl", '{"example_id": "1", "label": true, "score": 0.8, "raw": ""}\n'),
    ],
)
def test_probabilities_of_sarcasm_are_not_scores(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(DeadpanError, match=r"deadpan score A\.csv B\.csv") as wrong:
        read_logs(tmp_path / name)
    assert "\n" not in str(wrong.value)
    if "predicted_score" in content:
        with pytest.raises(DeadpanError, match="these are predictions"):
            read_logs(tmp_path / name, metric="predicted_score")


@pytest.mark.parametrize(
    "content",
    [
        "id,label,score\n1,sarcastic,1\n2,sincere,0\n3,sincere,1\n",  # true labels, right or wrong
        "id,label,score\n1,A,0.5\n2,C,0.25\n",  # labels of another task
        "id,label,predicted_label,predicted_score,correct\n1,1,sarcastic,0.9,1\n2,1,sincere,0.2,0\n",
        "id,label,correct\n1,sarcastic,0.5\n2,sincere,1\n",  # means of several runs
    ],
)
def test_labels_beside_scores_per_item_are_read(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    [log] = read_logs(tmp_path / "a.csv")
    wanted = [float(line.rpartition(",")[2]) for line in content.splitlines()[1:]]
    assert [item.score for item in log.items.values()] == wanted


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.eval", b"", "damaged or not a log of Inspect"),
        ("x.eval", b"PK\x03\x04 cut off", "damaged or not a log of Inspect"),
        ("x.csv", b"", "empty file"),
        ("x.csv", b"item,score\n1,good\n", "score 'good' is not a number"),
        ("x.csv", b"item,score\n1,inf\n", "infinite score"),
        ("x.csv", b"a,b\n1,2\n", "no column 'item'"),
        ("x.csv", b"id,label,text\n1,0,a\n", "these are predictions"),
        ("x.csv", b"item,score\n1,\xff\n", "is not a number|not UTF-8"),
        ("samples_t_2026-01-01T00-00-00.000.jsonl", b'{"doc_id": 0, "doc"', "not a JSON line"),
        ("samples_t_2026-01-01T00-00-00.000.jsonl", b'{"doc_id": 0, "doc": {}, "metrics": []}\n', "no scores"),
        ("x.bin", b"?", "not results that can be read"),
    ],
)
def test_bad_input_is_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DeadpanError, match=said) as wrong:
        read_logs(tmp_path / name)
    assert "\n" not in str(wrong.value)


def test_an_archive_cut_off_or_without_samples(tmp_path):
    whole = (REAL / "inspect-plain.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DeadpanError, match="damaged"):
        read_logs(tmp_path / "cut.eval")
    (tmp_path / "torn.eval").write_bytes(whole.replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"))  # no Zstandard now
    with pytest.raises(DeadpanError, match="damaged or not a log of Inspect"):
        read_logs(tmp_path / "torn.eval")
    with zipfile.ZipFile(tmp_path / "started.eval", "w") as archive:
        archive.writestr("_journal/start.json", '{"version": 2, "eval": {"task": "t", "model": "m"}}')
    with pytest.raises(DeadpanError, match="no scores"):
        read_logs(tmp_path / "started.eval")


def test_missing_paths_and_metrics():
    with pytest.raises(DeadpanError, match="no such file or folder"):
        read_logs("nowhere.eval")
    with pytest.raises(DeadpanError, match="did you mean 'includes'"):
        read_logs(REAL / "inspect-plain.eval", metric="include")


def test_listing_formats_imports_none():
    assert list(LOGS)[:5] == ["inspect", "lm-eval", "helm", "bench", "table"]


def inspect_json(path: Path, model: str, task: str, scores: str) -> Path:
    samples = [{"id": n, "input": "q", "target": "A", "scores": {"match": {"value": s}}} for n, s in enumerate(scores)]
    log = {"status": "success", "eval": {"task": task, "model": model}, "samples": samples}
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_text(json.dumps(log), encoding="utf-8")
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": log["eval"]}))
        archive.writestr("summaries.json", json.dumps(samples))
    return path


def test_a_folder_of_inspects_logs_and_the_task_of_a_package(tmp_path):
    inspect_json(tmp_path / "logs" / "a.eval", "one", "deadpan/sarcbench", "CCIC")
    inspect_json(tmp_path / "logs" / "b.eval", "two", "sarcbench", "CIIC")
    logs = read_logs(tmp_path / "logs")
    assert [log.system for log in logs] == ["one", "two"]
    assert logs[0].items.keys() == logs[1].items.keys()


def test_samples_of_two_models_in_one_folder_are_named_by_model(tmp_path):
    for time, model in (("2026-01-01T10-00-00.1", "small"), ("2026-01-02T10-00-00.1", "large")):
        row = {"doc_id": 0, "doc": {"q": "x"}, "acc": 1.0, "metrics": ["acc"]}
        (tmp_path / f"samples_quiz_{time}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        (tmp_path / f"results_{time}.json").write_text(json.dumps({"model_name": model}), encoding="utf-8")
    assert [log.system for log in read_logs(tmp_path)] == ["small", "large"]


def test_the_pair_that_does_not_fit_is_named(tmp_path):
    paths = [
        inspect_json(tmp_path / "a.json", "one", "quiz", "CCI"),
        inspect_json(tmp_path / "b.json", "two", "quiz", "CCI"),
        inspect_json(tmp_path / "c.json", "three", "other", "CCI"),
    ]
    with pytest.raises(DeadpanError, match="one and three have no item in common"):
        compare_logs(paths)
