"""The names of `import deadpan`: importable, documented, and callable inside a running event loop."""

from __future__ import annotations

import asyncio
import doctest
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadpan
import deadpan.logs.comparison
from deadpan import Detector, Example, Judgment, LLMSettings, Prediction, Turn
from deadpan.bench.organic import sequences_of
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import DeadpanError
from deadpan.llm import Client
from deadpan.results import Result
from dialogue_server import DialogueServer
from scripted_server import served

TOPICS = ("rain", "trains", "Mondays", "queues", "printers", "meetings")
EXAMPLES = [
    Example(
        id=f"{topic}-{tone}",
        response=Turn("B", f"Oh joy, {topic}!" if tone == "loud" else f"I read about {topic}."),
        label=tone == "loud",
        group=topic,
        sequence=topic,
        source="tiny",
        language="en",
    )
    for topic in TOPICS
    for tone in ("loud", "plain")
]  # fmt: skip
OTHERS = [
    Example(f"o{n}", Turn("", f"{word} no {n}"), label=word == "Sure, brilliant", source="other")
    for n in range(8)
    for word in ("Sure, brilliant" if n % 2 else "The report of",)
]
PREDICTIONS = [Prediction(example.id, example.label, 0.9 if example.label else 0.2) for example in EXAMPLES]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DEADPAN_LLM_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(folder: Path) -> str:
    (folder / "mine.csv").write_text("tweet,sarcastic\nLovely rain.,1\nIt rains.,0\n", encoding="utf-8")
    return str(folder / "mine.csv")


def complete(folder: Path) -> Any:
    with served() as server:
        settings = LLMSettings(model="m", base_url=server.url, cache=False)
        return deadpan.complete("Is this sarcastic? Lovely rain.", settings)


def build_corpus(folder: Path) -> Any:
    synthesize_dumps(folder / "dumps", months=1, comments=300)
    (folder / "vectors.txt").write_text("the 1 0\na 0 1\n", encoding="utf-8")
    return deadpan.build_corpus(folder / "dumps", folder / "corpus", vectors=str(folder / "vectors.txt"))


def generate_dialogues(folder: Path) -> Any:
    with DialogueServer() as server:
        return deadpan.generate_dialogues(
            model="writer-1", base_url=server.url, n=1, out=folder / "run", model_settings={"price": [1.0, 2.0]}
        )


def read_records(folder: Path) -> Any:
    deadpan.write_records(folder / "p.jsonl", PREDICTIONS, Prediction)
    return list(deadpan.read_records(folder / "p.jsonl", Prediction))


def client(folder: Path) -> Any:
    with served() as server, Client(LLMSettings(model="m", base_url=server.url, cache=False)) as opened:
        return opened.complete("Is this sarcastic? Lovely rain.")


def score_bench(folder: Path) -> Any:
    run_bench(folder)
    return deadpan.bench.score(folder / "runs")


def run_bench(folder: Path) -> Any:
    return deadpan.bench.run("baseline/random", runs=1, limit=4, out=folder / "runs")


MANY = [
    Example(
        f"m{at}",
        Turn("", f"{'splendid' if at % 2 == 0 else 'cold'} w{at % 37} v{at % 53} u{at % 71} again"),
        (Turn("", f"a comment about road {at // 2} and more"),),
        label=at % 2 == 0, label_kind="author", sequence=f"s{at // 2}", group=f"s{at // 2}",
        meta={"votes": 4 if at % 2 == 0 else 1, "voters": 5},
    )
    for at in range(320)
]  # fmt: skip


def compare_logs(folder: Path) -> Any:
    rows = "".join(f"{i},{s},{int(i % 3 == 0 or s == 'a')}\n" for i in range(40) for s in "ab")
    (folder / "scores.csv").write_text(f"item,system,score\n{rows}", encoding="utf-8")
    return deadpan.logs.comparison.compare_logs([folder / "scores.csv"])


def clean_dataset(folder: Path) -> Any:
    deadpan.write_records(folder / "many.jsonl", MANY, Example)
    return deadpan.datasets.cleaning.clean_dataset(folder / "many.jsonl", folder / "clean")


CALLS: dict[str, Callable[[Path], Any]] = {
    "audit": lambda folder: deadpan.audit({"many": MANY[:80]}),
    "datasets.audit.audit_sources": lambda folder: deadpan.datasets.audit.audit_sources([table(folder)]),
    "datasets.cleaning.clean_dataset": clean_dataset,
    "clean": lambda folder: deadpan.clean(MANY),
    "logs.comparison.compare_logs": compare_logs,
    "ordering.informative_order": lambda folder: deadpan.ordering.informative_order(["a", "b"], ["x", "y"], [0.1, 0.5]),
    "detect.study_origin": lambda folder: deadpan.detect.study_origin(
        {"a": MANY[:80]}, {"b": MANY[80:160]}, system="bow"
    ),
    "bench.make_organic": lambda folder: deadpan.bench.make_organic(sequences_of(MANY), folder / "o.jsonl", options=2),
    "ratings.votes.perceive": lambda folder: deadpan.ratings.votes.perceive(MANY),
    "detect.replay_active_learning": lambda folder: deadpan.detect.replay_active_learning(MANY, labels=150, repeats=2),
    "stats.calibration.soft_scores": lambda folder: deadpan.stats.calibration.soft_scores(
        [0.2, 0.8, 0.6], [0.3, 0.7, 0.5]
    ),
    "detect.study_soft_labels": lambda folder: deadpan.detect.study_soft_labels(MANY[:60], "bow", k=2),
    "detect.ablate": lambda folder: deadpan.detect.ablate(EXAMPLES, "bow", turns=[0, 1], k=2),
    "compare": lambda folder: (
        deadpan.compare(EXAMPLES, {"one": PREDICTIONS, "other": PREDICTIONS}),
        deadpan.compare(EXAMPLES, ["majority", Detector("bow")], k=2),
    ),
    "evaluate": lambda folder: deadpan.evaluate(Detector("bow").fit(EXAMPLES), OTHERS),
    "bench.run": run_bench,
    "bench.score": score_bench,
    "detect.transfer": lambda folder: deadpan.detect.transfer({"a": EXAMPLES, "b": OTHERS}, "bow", k=2),
    "llm.Client": client,
    "Detector": lambda folder: Detector("bow").fit(EXAMPLES).predict(["Oh great, rain."]),
    "agreement": lambda folder: deadpan.agreement({"ann": ["yes", "no"], "bob": ["yes", "yes"]}),
    "build_corpus": build_corpus,
    "stats.compare_predictions": lambda folder: deadpan.stats.compare_predictions(
        EXAMPLES, {"one": PREDICTIONS, "other": PREDICTIONS}
    ),
    "complete": complete,
    "describe": lambda folder: deadpan.describe(EXAMPLES),
    "find_leaks": lambda folder: deadpan.find_leaks({"train": EXAMPLES, "test": OTHERS}),
    "folds": lambda folder: deadpan.folds(EXAMPLES, k=3),
    "generate_dialogues": generate_dialogues,
    "datasets.open_dataset": lambda folder: list(deadpan.datasets.open_dataset("starter-en")),
    "read_dataset": lambda folder: deadpan.read_dataset(table(folder), text="tweet", label="sarcastic"),
    "read_records": read_records,
    "score": lambda folder: deadpan.score(EXAMPLES, PREDICTIONS),
    "split": lambda folder: deadpan.split(EXAMPLES, {"train": 0.5, "test": 0.5}),
    "write_records": lambda folder: deadpan.write_records(folder / "x.jsonl", PREDICTIONS, Prediction),
}
RECORDS = {"DeadpanError", "Example", "Judgment", "LLMSettings", "Label", "Prediction", "Ratings", "Turn"}
FUNCTIONS = sorted(set(CALLS) | (set(deadpan.__all__) - RECORDS))
NAMES = sorted({*deadpan.__all__, *CALLS})


def public(name: str) -> Any:
    """Return what `deadpan.NAME` is; the modules of a stage are found too, as after `import deadpan.stage`."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(f"deadpan.{module}".rstrip(".")), last)


def test_every_function_of_the_api_is_called_here() -> None:
    assert set(deadpan.__all__) - RECORDS <= set(CALLS)
    assert len(deadpan.__all__) <= 25
    assert sorted(deadpan.__all__) == sorted(set(dir(deadpan)) - {"__version__"})


def test_a_name_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean 'read_dataset'"):
        deadpan.read_datasets  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_documented(name: str) -> None:
    document = inspect.getdoc(public(name)) or ""
    assert len(document) > 30 and document[0].isupper()
    assert document.split()[0] not in {"What", "Which", "Whether", "How"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_explains_its_arguments(name: str) -> None:
    function = public(name)
    document = inspect.getdoc(function) or ""
    parameters = [word for word in inspect.signature(function).parameters if word != "self"]
    named = [word for word in parameters if f"`{word}`" in document or f"{word} :" in document]
    assert named or ">>>" in document or f"{name.rpartition('.')[2]}(" in document


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_works_inside_a_running_event_loop(name: str, folder: Path) -> None:
    async def notebook() -> Any:
        return CALLS[name](folder)

    result = asyncio.run(notebook())
    assert result
    for shown in result if isinstance(result, tuple) else [result]:
        if isinstance(shown, Result):
            assert len(repr(shown)) < 200 and str(shown) and "<" in shown._repr_html_() and shown.as_dict()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("junk", [42, None, "no such thing", [1, 2]], ids=repr)
def test_a_wrong_first_argument_is_a_deadpan_error(name: str, junk: object, folder: Path) -> None:
    function = public(name)
    first = next(iter(inspect.signature(function).parameters.values()))
    if junk is None and first.default is None:
        return  # the default
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    rest: list[Any] = {
        "build_corpus": [folder / "corpus"],
        "stats.compare_predictions": [{"a": PREDICTIONS, "b": PREDICTIONS}],
        "compare": [["bow"]],
        "evaluate": [EXAMPLES],
        "read_records": [Prediction],
        "score": [PREDICTIONS],
        "write_records": [PREDICTIONS, Prediction],
    }.get(name, [None] * (len(needed) - 1))
    with pytest.raises(DeadpanError) as caught:
        result = function(junk, *rest)
        list(result) if isinstance(result, Iterator) else result
    assert len(str(caught.value)) > 20


ARRAY = np.array(["a", "b"])
WRONG: dict[str, list[dict[str, Any]]] = {
    "detect.ablate": [{"turns": 3}, {"settings": "x"}, {"progress": "x"}, {"k": 10**30}],
    "audit": [{"rows": None}, {"progress": 1}],
    "datasets.audit.audit_sources": [{"reading": 3}, {"reading": ARRAY}, {"out": 3}, {"out": ARRAY}, {"rows": None}],
    "build_corpus": [{"settings": 3}, {"settings": ""}, {"settings": "a\0b"}],
    "clean": [{"also": None}, {"threshold": "x"}, {"threshold": 10**30}],
    "datasets.cleaning.clean_dataset": [{"sizes": None}, {"reading": 3}, {"also": 3}, {"out": "a\0b"}],
    "llm.Client": [{"journal": 3}],
    "logs.comparison.compare_logs": [{"metric": 3}, {"cluster": 3}],
    "compare": [{"seeds": 3}, {"also": ["x"]}, {"also": None}, {"progress": 3}, {"metric": ARRAY}, {"seeds": ARRAY}],
    "evaluate": [{"prevalence": "x"}, {"prevalence": 2}, {"progress": 3}],
    "folds": [{"k": 10**30}],
    "generate_dialogues": [{"n": "x"}, {"model_settings": 3}, {"out": "a\0b"}],
    "ordering.informative_order": [{"first": "x"}],
    "detect.study_origin": [{"at_most": None}, {"settings": 3}],
    "bench.run": [{"runs": None}, {"out": None}, {"out": "a\0b"}],
    "stats.calibration.soft_scores": [{"groups": 3}, {"groups": ["a"]}, {"resamples": None}, {"resamples": 10**12}],
    "detect.study_soft_labels": [{"k": None}, {"progress": "x"}],
    "detect.transfer": [{"at_most": 3.5}, {"settings": 3}, {"progress": 3}],
}


@pytest.mark.parametrize(("name", "wrong"), [(n, each) for n, rows in WRONG.items() for each in rows], ids=str)
def test_any_wrong_argument_is_a_deadpan_error(name: str, wrong: dict[str, Any], folder: Path) -> None:
    given: dict[str, Any] = {
        "detect.ablate": {"examples": EXAMPLES, "system": "bow", "k": 2},
        "audit": {"corpora": {"a": EXAMPLES}},
        "datasets.audit.audit_sources": {"sources": [table(folder)]},
        "build_corpus": {"dumps": "dumps", "out": "corpus"},
        "clean": {"examples": EXAMPLES},
        "datasets.cleaning.clean_dataset": {"source": table(folder), "out": "clean"},
        "logs.comparison.compare_logs": {"paths": [table(folder)]},
        "compare": {"examples": EXAMPLES, "systems": ["majority"], "k": 2},
        "evaluate": {"detector": Detector("majority").fit(EXAMPLES), "examples": OTHERS},
        "folds": {"examples": EXAMPLES},
        "generate_dialogues": {"model": "m", "base_url": "http://127.0.0.1:9/v1"},
        "ordering.informative_order": {"ids": ["a", "b"], "texts": ["x", "y"], "scores": [0.1, 0.5]},
        "detect.study_origin": {"generated": {"a": EXAMPLES}, "organic": {"b": OTHERS}},
        "bench.run": {"models": "baseline/random", "limit": 2},
        "stats.calibration.soft_scores": {"shares": [0.1, 0.9], "predicted": [0.2, 0.8]},
        "detect.study_soft_labels": {"examples": MANY[:20]},
        "detect.transfer": {"corpora": {"a": EXAMPLES, "b": OTHERS}, "system": "majority", "k": 2},
    }.get(name, {})
    with pytest.raises(DeadpanError) as caught:
        public(name)(**{**given, **wrong})
    assert len(str(caught.value)) > 20


def test_records_are_short_to_look_at() -> None:
    assert repr(Judgment("i", "a", "q", "yes", 1.0, "")).startswith("Judgment(item_id='i'")
    for result in (CALLS[name](Path()) for name in ("agreement", "stats.compare_predictions", "score")):
        assert len(repr(result)) < 100 and "<table>" in result._repr_html_() and str(result)


def test_importing_the_package_is_cheap_and_help_reads_well() -> None:
    script = (
        "import sys, deadpan\nassert 'numpy' not in sys.modules\n"
        "import pydoc\nprint(pydoc.render_doc(deadpan.read_dataset, renderer=pydoc.plaintext))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "read_dataset(source" in shown and "mine.csv" in shown


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_in_the_documentation_are_right(name: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    for case in doctest.DocTestFinder(recurse=False).find(public(name), name):
        assert runner.run(case).failed == 0, f"the example in the docstring of {name} is wrong"
