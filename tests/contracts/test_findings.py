"""Every kind of output says its finding once: on its own page, in its manifest and in the report."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from corpus.making import synthetic_corpus
from deadpan import generate_dialogues
from deadpan.bench import open_set, run_bench
from deadpan.bench.items.item import write_items
from deadpan.datasets.audit import audit_sources
from deadpan.datasets.cleaning import clean_dataset
from deadpan.datasets.scored import score_files
from deadpan.detect.studies.active_learning import ActiveLearningReplay
from deadpan.detect.studies.categories import classify_categories
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import evaluate
from deadpan.detect.studies.origin import study_origin
from deadpan.detect.studies.soft_labels import study_soft_labels
from deadpan.detect.studies.training import train_detector
from deadpan.detect.studies.transfer import transfer
from deadpan.formats.judgments import write_export
from deadpan.logs.comparison import compare_logs
from deadpan.page.markup import escape
from deadpan.records import Example, Judgment, Turn
from deadpan.report import build_report
from deadpan.reproduce import reproduce
from deadpan.stats import Interval
from deadpan.storage import read_manifest, write_records
from detect_corpus import noise_corpus, word_corpus
from dialogue_server import sources
from generate_fixtures import own_cache, server

__all__ = ["own_cache", "server"]


def comparison(out: Path) -> None:
    compare_systems(word_corpus(count=120), ["bow", "majority"], k=3, source="words.csv", metric="accuracy").write(out)


def evaluation(out: Path) -> None:
    train_detector(word_corpus(), "bow", out=out.parent / "model")
    evaluate(out.parent / "model", word_corpus("fine"), source="fine.csv").write(out)


def transfers(out: Path) -> None:
    transfer({"words": word_corpus(), "noise": noise_corpus()}, "bow", k=3).write(out)


def origins(out: Path) -> None:
    study_origin({"made": _mixed("made")}, {"said": _mixed("said")}, system="bow").write(out)


def _mixed(name: str) -> list[Example]:
    rng = random.Random(name)
    return [
        Example(f"{name}{i}", Turn("", f"{'genius' if i % 2 else 'late'} {name} w{rng.randrange(40)}"), label=i % 2 == 1)
        for i in range(60)
    ]  # fmt: skip


def votes(out: Path) -> None:
    rows = [
        Example(str(i), Turn("", f"text {i}"), label=i % 2 == 0,
                meta={"votes": 4 if i % 2 == 0 else i % 3, "voters": 5, "sarcasm_ref": i % 2 == 0})
        for i in range(40)
    ]  # fmt: skip
    study_soft_labels(rows, "majority", k=2).write(out)


def labelling(out: Path) -> None:
    def near(value: float, half: float = 0.02) -> Interval:
        return Interval(value, value - half, value + half, 0.95, 10)

    curve = (near(0.5), near(0.6), near(0.65))
    ActiveLearningReplay((100, 200, 300), curve, curve, near(210, 20), near(300, 20), near(0.3, 0.1),
                    {"control stratum": near(0.5)}, 0.5, seed=4).write(out)  # fmt: skip


def categories(out: Path) -> None:
    rows = [
        Example(str(n), Turn("", f"{'oh sure' if n % 2 else 'as if'} number {n}"), label=True,
                categories=("irony",) if n % 2 else ("satire",))
        for n in range(60)
    ]  # fmt: skip
    classify_categories(rows, "bow", k=3).write(out)


def scored(out: Path) -> None:
    lines = ["id,text,label,predicted_label,predicted_score"]
    lines += [f"{n},text {n},{n % 2},{n % 2 if n < 36 else 1 - n % 2},0.5" for n in range(40)]
    (out.parent / "good.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    score_files([out.parent / "good.csv"]).write(out)


def logs(out: Path) -> None:
    rng = random.Random(1)
    lines = ["item,system,score"]
    for i in range(200):
        luck = rng.random()
        lines += [f"{i},{name},{int(luck < rate)}" for name, rate in (("a", 0.9), ("b", 0.5))]
    (out.parent / "t.csv").write_text("\n".join(lines) + "\n")
    compare_logs([out.parent / "t.csv"]).write(out)


def audit(out: Path) -> None:
    write_records(out.parent / "index.jsonl", noise_corpus(), Example)
    audit_sources([out.parent / "index.jsonl"], out=out)


def cleaning(out: Path) -> None:
    rows = [
        Example(f"{i}-{k}", Turn("", f"{'oh sure' if i % 2 else 'it rains'} on day {i * 7919} of {i}"), label=i % 2 == 1)
        for i in range(30) for k in range(2)
    ]  # fmt: skip
    write_records(out.parent / "mine.jsonl", rows, Example)
    clean_dataset(out.parent / "mine.jsonl", out)


def answers(out: Path) -> None:
    judgments = [
        Judgment(f"i{item}", f"p{person}", "sarcastic", "yes" if item % 2 else "no", 1.0, "2026-11-16T10:00:00+00:00")
        for item in range(10) for person in range(3)
    ]  # fmt: skip
    write_export(out, judgments, [], config={"study": "pilot", "protocol": "reader-judgment"})


def runs(out: Path) -> None:
    write_items(out.parent / "items.jsonl", open_set("public").items[:12])
    run_bench(["baseline/first"], out.parent / "items.jsonl", runs=2, out=out)


def papers(out: Path) -> None:
    write_items(out.parent / "items.jsonl", open_set("public").items[:12])
    reproduce("sarcbench", out, items=out.parent / "items.jsonl", only=["table-1", "table-2"])


MAKERS = {
    comparison: "bow does best on words.csv: bow has accuracy ",
    evaluation: "bow on fine.csv is not significantly better than a constant answer: F1 0.8",
    transfers: "Trained on one corpus, bow is significantly better than a constant answer on another in ",
    votes: "Training on votes makes no significant difference",
    labelling: "To reach the final F1 of random order",
    categories: "Macro F1 ",
    scored: "good on 40 labelled rows: balanced accuracy 0.90",
    logs: "a is significantly better than the other on 200 items: mean score 0.",
    cleaning: "30 of 60 rows of ",
    answers: "3 people gave 30 answers about 10 items of “pilot”. Krippendorff's alpha on “sarcastic” is 1.0",
    runs: "baseline/first ",
}
SLOW_MAKERS = {
    origins: "Trained on generated text, bow is significantly above chance on organic speech in 1 of 1 cases",
    audit: "In 0 of 1 corpus one family of shallow features",
    papers: "",
}


def check(folder: Path, finding: str) -> None:
    """The finding begins as it should, stands on the output's own page, and in the report with a link to it."""
    found = sorted(folder.rglob("manifest.json"), key=lambda path: len(path.parts))[0].parent
    about = read_manifest(found).about
    assert about is not None and about.finding.startswith(finding)
    site = build_report([folder], folder.parent / "site")
    assert site.findings == (about.finding,) and not site.problems
    front = (folder.parent / "site" / "index.html").read_text(encoding="utf-8")
    assert escape(about.finding) in front and escape(about.title) in front
    name = site.outputs[0].name
    if about.file:
        assert escape(about.finding) in (found / about.file).read_text(encoding="utf-8")
        own = f"{name}/pages/index.html" if about.file == "index.html" else f"{name}/{about.file}"
        assert f'href="{own}"' in front and (folder.parent / "site" / own).is_file()
    else:
        assert f'href="{name}/manifest.html"' in front


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_an_output_has_one_finding(make, tmp_path):
    make(tmp_path / "out")
    check(tmp_path / "out", MAKERS[make])


@pytest.mark.slow
@pytest.mark.parametrize("make", SLOW_MAKERS, ids=lambda make: make.__name__)
def test_a_slow_output_has_one_finding(make, tmp_path):
    make(tmp_path / "out")
    check(tmp_path / "out", SLOW_MAKERS[make])


@pytest.mark.slow
def test_a_corpus_has_one_finding(tmp_path):
    check(synthetic_corpus(tmp_path / "made"), "Synthetic dumps, not Reddit's: ")


def test_a_generation_has_one_finding(tmp_path, server):
    (tmp_path / "mine.jsonl").write_text(sources(6), encoding="utf-8")
    generate_dialogues(
        tmp_path / "mine.jsonl", out=tmp_path / "run", model="writer-1", base_url=server.url, n=4,
        model_settings={"key_env": "", "price": [1.0, 2.0]},
    )  # fmt: skip
    check(tmp_path / "run", "Of 4 source dialogues ")
