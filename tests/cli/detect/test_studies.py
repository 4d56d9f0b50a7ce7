"""deadpan detect train, evaluate, compare, transfer, ablate, kinds: as a person types them."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from deadpan.detect.detector import Detector
from deadpan.records import Example, Turn
from deadpan.storage import write_records
from pair_corpus import corpus

# ---------------------------------------------------------------- train, evaluate


def test_train_then_evaluate_leaves_out_what_was_learnt(run, data, tmp_path):
    status, out, _ = run("detect", "train", "--system", "bigrams", data, "--out", tmp_path / "m",
                         "--threshold", "f1", "--json")  # fmt: skip
    told = json.loads(out)
    assert (status, told["examples"], told["sarcastic"]) == (0, 48, 24)
    status, _, err = run("detect", "evaluate", "--detector", tmp_path / "m", data)
    assert status == 2
    assert "not seen in training" in err
    write_records(tmp_path / "more.jsonl", corpus(count=96), Example)
    status, out, _ = run("detect", "evaluate", "--detector", tmp_path / "m", tmp_path / "more.jsonl",
                         "--out", tmp_path / "scores", "--json")  # fmt: skip
    told = json.loads(out)
    assert (told["seen_in_training"], told["n"]) == (48, 48)
    assert told["scores"]["f1"]["value"] > 0.9
    for name in ("report.html", "scores.json", "predictions.jsonl", "manifest.json"):
        assert (tmp_path / "scores" / name).is_file()


@pytest.mark.parametrize("rule", ["f1", "balanced", "0.3"])
def test_a_threshold_is_chosen_on_examples_that_are_then_not_scored(run, model, tmp_path, rule):
    write_records(tmp_path / "new.jsonl", corpus("yeah", 60), Example)
    status, out, _ = run("detect", "evaluate", "--detector", model, tmp_path / "new.jsonl", "--threshold",
                         rule, "--keep-seen", "--pairs", "--json")  # fmt: skip
    assert status == 0
    assert json.loads(out)["n"] == (60 if rule == "0.3" else 48)


def test_a_model_trained_over_another_leaves_nothing_of_it(run, data, tmp_path):
    for system, more in (("blend", ()), ("bow", ("--overwrite",))):
        assert run("detect", "train", "--system", system, data, "--out", tmp_path / "m", *more)[0] == 0
    status, _, err = run("detect", "train", "--system", "cues", data, "--out", tmp_path / "m")
    assert (status, "overwrite" in err) == (2, True)
    assert Detector.load(tmp_path / "m").system == "bow"
    Detector("bow").fit(corpus()).save(tmp_path / "fresh")
    left = {path.name for path in (tmp_path / "m").iterdir()}
    assert left == {"seen.npy"} | {path.name for path in (tmp_path / "fresh").iterdir()}


@pytest.mark.parametrize("command", [("train", "--out", "m"), ("compare", "--systems", "bow,majority")])
def test_a_prevalence_that_would_be_ignored_is_refused(run, data, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    status, _, err = run("detect", *command, data, "--prevalence", 0.1)
    assert (status, "a prevalence needs the threshold f1" in err) == (2, True)
    assert not (tmp_path / "m").exists()


def test_one_of_each_pair_needs_pairs_and_scores_need_labels(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("text,label\nwell oh sure,1\nwell today,0\n")
    status, _, err = run("detect", "evaluate", "--detector", model, tmp_path / "new.csv", "--pairs")
    assert (status, "pairs: no two examples" in err) == (2, True)
    (tmp_path / "bare.csv").write_text("text\nwell oh sure\nwell today\n")
    status, _, err = run("detect", "evaluate", "--detector", model, tmp_path / "bare.csv")
    assert (status, "no row has a label" in err) == (2, True)


# ---------------------------------------------------------------- tables


def test_compare_writes_one_table(run, data, tmp_path):
    status, out, _ = run("detect", "compare", "--systems", "bigrams,majority", data, "--folds", 3,
                         "--out", tmp_path / "c", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert list(told["systems"]) == ["bigrams", "majority"]
    assert told["metric"] == "pair_accuracy"
    assert told["systems"]["majority"]["verdict"].startswith("significantly worse")
    assert (tmp_path / "c" / "bigrams.jsonl").is_file()
    assert "bigrams" in run("detect", "compare", "--systems", "bigrams,bow", data, "--folds", 2)[1]


def test_more_corpora_are_learnt_from_without_what_is_tested(run, data, tmp_path):
    write_records(tmp_path / "more.jsonl", [replace(e, id=f"m{e.id}") for e in corpus(count=6)], Example)
    told = json.loads(run("detect", "compare", "--systems", "bow,majority", data, "--folds", 2, "--also",
                          tmp_path / "more.jsonl", "--json")[1])  # fmt: skip
    assert (told["duplicates_removed"], told["n_also"]) == (6, 0)


def test_two_files_that_number_their_rows_alike_are_learnt_from_together(run, tmp_path):
    for name, words in (("a", ("sure", "today")), ("b", ("lovely", "noon"))):
        rows = [f"{n},{name * 3} {words[n % 2]} {n * 7919},{1 - n % 2}\n" for n in range(40)]
        (tmp_path / f"{name}.csv").write_text("id,text,label\n" + "".join(rows))
    status, out, _ = run("detect", "train", "--system", "bow", tmp_path / "a.csv", "--also",
                         tmp_path / "b.csv", "--threshold", "f1", "--out", tmp_path / "m", "--json")  # fmt: skip
    assert status == 0
    assert json.loads(out)["examples"] == 80


def test_transfer_takes_duplicates_out_first(run, data, tmp_path):
    others = [
        replace(
            e,
            id=f"o{e.id}",
            group=f"o{e.group}",
            sequence=f"o{e.sequence}",
            response=Turn("", f"{40 + n} {'quite' if e.label else 'some'} miles {n * 7919}"),
        )
        for n, e in enumerate(corpus(count=40))
    ]
    write_records(tmp_path / "other.jsonl", [*others, *corpus(count=6)], Example)
    status, out, _ = run("detect", "transfer", "--system", "bow", data, tmp_path / "other.jsonl",
                         "--folds", 2, "--out", tmp_path / "t", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert told["duplicates_removed"] == {"corpus": 0, "other": 6}
    assert (tmp_path / "t" / "report.html").is_file()


def test_ablate_by_context_and_by_topic(run, data):
    told = json.loads(run("detect", "ablate", "--system", "bow", data, "--folds", 2, "--turns", "0,full",
                          "--json")[1])  # fmt: skip
    assert list(told["contexts"]) == ["0", "full"]
    assert len(told["differences"]) == 1
    told = json.loads(run("detect", "ablate", "--system", "bow", data, "--folds", 2, "--by", "topic",
                          "--metric", "accuracy", "--json")[1])  # fmt: skip
    assert set(told["parts"]) == {"tea", "rain"}


def test_parts_that_take_pairs_apart_are_scored_by_what_is_left(run, tmp_path):
    longer = [replace(e, response=Turn("", f"{e.response.text} and so on and on and on")) for e in corpus()]
    rows = [long if e.label else e for e, long in zip(corpus(), longer, strict=True)]
    rows += [replace(e if e.label else long, id=f"{e.id}x", group=f"x{e.group}", sequence=f"x{e.sequence}")
             for e, long in zip(corpus(), longer, strict=True)]  # fmt: skip
    write_records(tmp_path / "pairs.jsonl", rows, Example)
    told = json.loads(run("detect", "ablate", "--system", "bow", tmp_path / "pairs.jsonl", "--folds", 2,
                          "--by", "length", "--json")[1])  # fmt: skip
    assert told["metric"] == "accuracy"
    assert all(part["value"] is not None for part in told["parts"].values())


# ---------------------------------------------------------------- what can be put right


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["predict", "--detector", "nowhere", "FILE"], "no detector here"),
        (["predict", "missing.txt"], "no such file"),
        (["train", "--system", "liner", "FILE", "--out", "m"], "did you mean 'linear'"),
        (["train", "FILE", "--out", "m", "--setting", "depth=3"], "depth"),
        (["train", "FILE", "--out", "m", "--turns", "many"], "full"),
        (["train", "--system", "embedding", "FILE", "--out", "m", "--setting", "vectors=none.txt"], "no such file"),
        (["evaluate", "FILE", "--threshold", "best"], "f1, balanced"),
        (["compare", "--systems", "bow", "FILE", "--metric", "luck"], "unknown metric"),
        (["ablate", "FILE", "--by", "category", "--folds", "2"], "no example has a category"),
        (["categories", "FILE"], "categories"),
        (["train", "--system", "lstm", "FILE", "--out", "m", "--seed", "-1"], "a random seed is"),
        (["train", "--system", "bow", "FILE", "--out", "m", "--setting", "min_count=0"], "1 or more"),
        (["train", "FILE", "--out", "m", "--setting", "least=-4"], "1 or more"),
        (["train", "--system", "prompted", "FILE", "--out", "m", "--setting", "shots=60"], "30 sarcastic"),
        (["evaluate", "FILE", "--out", "FILE"], "is a file"),
        (["compare", "--systems", "bow", "FILE", "--out", "FILE"], "is a file"),
        (["transfer", "starter-en", "starter-ko", "--out", "FILE"], "is a file"),
        (["Oh, sure.", "--out", "."], "is a directory"),
        (["predict", "FILE", "--out", "."], "is a directory"),
        (["train", "isarcasm_eval-en", "--out", "m"], "--data-dir"),
        (["", "--json"], "no word to judge"),
        (["   "], "no word to judge"),
        (["--top", "-3"], "--top"),
        (["train", "FILE", "--out", "m", "--setting", "strength=strong"], "strength needs a number"),
        (["train", "FILE", "--out", "m", "--setting", "seed=one"], "seed needs a whole number"),
        (["train", "--system", "bow", "FILE", "--out", "m", "--setting", "min_count=few"], "min_count needs"),
        (["train", "--system", "blend", "FILE", "--out", "m", "--setting", 'systems=["bow",{"system":"cues","x":1}]'], "unknown key 'x'"),
        (["train", "--system", "blend", "FILE", "--out", "m", "--setting", "systems=[5,6]"], "names"),
        (["train", "FILE", "--out", "m", "--split", "tset"], "did you mean 'test'"),
        (["evaluate", "FILE", "--split", "tset"], "did you mean 'test'"),
        (["ablate", "FILE", "--turns", ","], "0,1,full"),
        (["ablate", "FILE", "--metric", "luck"], "unknown metric"),
        (["transfer", "starter-en", "starter-ko", "--metric", "luck"], "unknown metric"),
        (["origin", "--generated", "FILE", "--organic", "FILE"], "named as generated and as organic"),
        (["origin", "--generated", "FILE", "--organic", ","], "at least one organic"),
        (["origin", "--generated", "FILE", "--organic", "nowhere"], "nowhere"),
        (["soft-labels", "FILE"], "examples with votes"),
        (["soft-labels", "FILE", "--votes", "none.jsonl"], "none.jsonl"),
        (["active-learning", "FILE"], "needs 300 labelled examples"),
        (["active-learning", "FILE", "--labels", "10"], "200"),
        (["compare", "--systems", "bow", "FILE", "--authors", "--out", "m"], "--out: no effect with --authors"),
        (["compare", "--systems", "bow", "FILE", "--authors", "--seeds", "2", "--blend", "--threshold", "0.5"],
         "--seeds, --blend, --threshold: no effect"),
        (["compare", "--systems", "bow", "FILE", "--subreddits", "--also", "starter-en", "--prevalence", "0.1"],
         "--also, --prevalence: no effect with --subreddits"),
        (["compare", "--systems", "bow", "FILE", "--authors"], "no authors: its speakers (A, B) are roles"),
        (["evaluate", "starter-en", "--detector", "base", "--pairs", "--split", "test"], "leave out --split"),
        (["--top", "5", "Oh, sure."], "text: no effect with --top"),
        (["--top", "5", "--out", "why.html"], "--out: no effect with --top"),
        (["Oh, sure.", "--out", "why.txt"], "ends in .html"),
    ],
)  # fmt: skip
def test_what_can_be_put_right_is_one_line_and_status_2(run, data, tmp_path, monkeypatch, arguments, cure):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEADPAN_DATA", raising=False)
    status, _, err = run("detect", *[str(data) if word == "FILE" else word for word in arguments])
    assert status == 2
    assert cure in err
    assert "Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_an_output_folder_with_other_things_is_left_alone(run, data, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    status, _, err = run("detect", "train", data, "--out", tmp_path / "home")
    assert status == 2
    assert "choose another folder" in err


def test_one_label_only_cannot_be_learnt(run, tmp_path):
    write_records(tmp_path / "one.jsonl", [e for e in corpus() if e.label], Example)
    for rule in ("0.5", "f1"):
        status, _, err = run("detect", "train", tmp_path / "one.jsonl", "--out", tmp_path / "m",
                             "--threshold", rule)  # fmt: skip
        assert status == 2
        assert "deadpan: training needs examples of both labels" in err


def heard(path, *, loud):
    """Write texts with five votes; where `loud` the word decides how many hear sarcasm, else chance does."""
    rng = random.Random(5)
    rows = []
    for i in range(120):
        meant = i % 2 == 0
        votes = (4 + i // 2 % 2 if meant else i // 2 % 2) if loud else rng.randrange(6)
        text = f"{'splendid' if meant else 'cold'} soup w{rng.randrange(40)} w{rng.randrange(40)}"
        meta = {"votes": votes, "voters": 5, "sarcasm_ref": int(meant)}
        rows.append(Example(f"{i}", Turn("", text), label=meant, label_kind="author", meta=meta))
    write_records(path, rows, Example)
    return path


@pytest.mark.slow
def test_votes_show_what_is_heard_and_nothing_where_votes_are_chance(run, tmp_path):
    told = {}
    for loud in (True, False):
        source = heard(tmp_path / f"{loud}.jsonl", loud=loud)
        page = ("--out", tmp_path / "page") if loud else ()
        status, out, _ = run("detect", "soft-labels", source, "--system", "bow", "--json", *page)
        assert status == 0
        told[loud] = json.loads(out)
    heard_as = told[True]["perception"]["heard"]
    assert heard_as["sarcastically"]["low"] > 0.8 > 0.2 > heard_as["sincerely"]["high"]
    assert told[True]["votes"]["scores"]["rank_correlation"]["low"] > 0.5
    none = told[False]["perception"]["heard"]
    assert none["sarcastically"]["low"] < none["sincerely"]["high"]
    assert abs(told[False]["votes"]["scores"]["rank_correlation"]["value"]) < 0.3
    assert (tmp_path / "page" / "perception.svg").exists()


@pytest.mark.slow
def test_origin_tells_a_trick_from_tone(run, tmp_path):
    told = {}
    for trick in (True, False):
        for name in ("made", "said"):
            rng = random.Random(name)
            rows = []
            for i in range(80):
                label = i % 2 == 0
                cue = ("indeed" if label else "thus") if name == "made" and trick else "genius" if label else "late"
                text = f"{cue} {name} " + " ".join(f"w{rng.randrange(60)}" for _ in range(6))
                rows.append(Example(f"{name}{i}", Turn("", text), label=label))
            write_records(tmp_path / f"{name}.jsonl", rows, Example)
        status, out, _ = run("detect", "origin", "--generated", tmp_path / "made.jsonl", "--organic",
                             tmp_path / "said.jsonl", "--system", "bow", "--json")  # fmt: skip
        assert status == 0
        told[trick] = json.loads(out)["moves"]["generated to organic"]
    assert told[True] < 0.65
    assert told[False] > 0.9
