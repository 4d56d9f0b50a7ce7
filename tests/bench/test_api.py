"""The Python API of the benchmark: in a script, in a notebook, and with wrong arguments."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bench_items import judged, small_set
from bench_server import FaultServer
from deadpan.bench import run_bench, score_bench, score_people, write_leaderboard
from deadpan.bench.items.check import audit_set
from deadpan.bench.items.sets import list_sets, open_set
from deadpan.bench.runs.run import RunState, progress_watch
from deadpan.errors import ConfigError, DataError
from deadpan.formats.judgments import write_export

SET = small_set(4)
BASELINES = ["baseline/first", "baseline/longest"]


def test_a_run_and_its_scores(tmp_path):
    result = run_bench(BASELINES, SET, runs=2, out=tmp_path)
    assert [run.complete for run in result.runs] == [True, True]
    scores = score_bench(tmp_path)
    assert scores.as_dict()["scores"] == result.as_dict()["runs"]
    assert scores.scores[0].avg.value >= scores.scores[1].avg.value
    assert len(scores.as_dict()["comparisons"]) == 1


def test_results_show_themselves(tmp_path):
    write_export(tmp_path / "export", judged(SET), [])
    run_bench(BASELINES, SET, runs=1, out=tmp_path / "runs")
    results = [
        run_bench(BASELINES, SET, runs=1, out=tmp_path / "runs"),
        score_bench([tmp_path / "runs"]),
        score_people(tmp_path / "export", SET, tmp_path / "runs" / "human"),
        write_leaderboard([tmp_path / "runs"], tmp_path / "site", items=SET),
        audit_set(SET),
        list_sets(),
    ]
    for result in results:
        assert len(repr(result)) < 400, repr(result)
        assert max(map(len, str(result).splitlines())) <= 110
        assert result._repr_html_().startswith("<")
        assert result.as_dict()
    for large in (open_set("public"), results[0].runs[0]):
        assert len(repr(large)) < 1000, repr(large)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_it_runs_inside_a_running_event_loop_as_in_a_notebook(tmp_path):
    server = FaultServer({})
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def notebook():
        return run_bench(["baseline/random", "m"], SET, runs=1, out=tmp_path, base_url=server.url)

    try:
        result = asyncio.run(notebook())
    finally:
        server.shutdown()
        server.server_close()
    assert not result.incomplete
    assert len(server.record) == 8


def test_a_sample_is_random_but_repeatable_and_keeps_pairs_whole(tmp_path):
    asked = [
        run_bench("baseline/first", SET, runs=1, out=tmp_path / name, sample=4, seed=seed).runs[0].plan.items
        for name, seed in (("a", 1), ("b", 1), ("c", 5))
    ]
    assert asked[0] == asked[1] != asked[2]
    assert {len({item.partition("-")[0] for item in items}) for items in asked} == {2}


def test_wrong_arguments_say_the_cure(tmp_path):
    for arguments, message in (
        ({"models": []}, "no model to ask"),
        ({"models": BASELINES[0], "set": "publik"}, "unknown set .publik.: choose from"),
        ({"models": BASELINES[0], "runs": 0}, "at least 1"),
        ({"models": "openai-api/x/y", "max_cost": 1.0}, "no price is known"),
        ({"models": 3}, "models must be a list"),
        ({"models": BASELINES[0], "runs": "5"}, "runs must be a whole number of at least 1"),
        ({"models": BASELINES[0], "temperature": "warm"}, "temperature is 'warm'"),
        ({"models": BASELINES[0], "sample": 0}, "sample is 0"),
    ):
        with pytest.raises((ConfigError, DataError), match=message):
            run_bench(**{"set": SET, "out": tmp_path / "r", **arguments})
    with pytest.raises(DataError, match="no such folder"):
        score_bench(tmp_path / "nothing")
    assert not (tmp_path / "r").exists()


def test_progress_is_reported_over_all_models():
    reports = []
    watch = progress_watch(lambda *report: reports.append(report))
    watch([RunState("a", 10, done=3, spent=0.25), RunState("b", 10, done=4)])
    assert reports == [("asking 2 models, $0.2500 spent", 7, 20)]
