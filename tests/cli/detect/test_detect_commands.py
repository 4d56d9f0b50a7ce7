"""deadpan detect, as a person types it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deadpan.cli import main
from deadpan.cli.detect.stream import judge
from deadpan.detect.detector import Detector
from deadpan.records import Example, Turn
from deadpan.storage import write_records

ODD = ["the red door", "a green leaf", "blue sky again", "one grey cat"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command: its exit status, what it printed, what it complained of."""

    def go(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return go


def corpus(word: str = "sure", count: int = 48) -> list[Example]:
    return [
        Example(
            f"{word}-{n}",
            Turn("B", f"{ODD[n % 4]} {'oh ' + word if n % 2 else 'today'} {n}"),
            (Turn("A", f"well {n}"),),
            label=bool(n % 2),
            group=f"{word}{n // 2}",
            sequence=f"{word}{n // 2}",
            meta={"topic": "tea" if n % 4 < 2 else "rain"},
        )
        for n in range(count)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_records(tmp_path / "corpus.jsonl", corpus(), Example)
    return tmp_path / "corpus.jsonl"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    Detector("bigrams").fit(corpus()).save(tmp_path / "model")
    return tmp_path / "model"


def lines(model: Path, raw: bytes, form: str = "auto") -> list[dict[str, Any]]:
    out = io.BytesIO()
    judge(Detector.load(model), io.BytesIO(raw), out, form)
    return [json.loads(line) for line in out.getvalue().decode().splitlines()]


# ---------------------------------------------------------------- at once


def test_a_text_is_answered_at_once_by_the_shipped_detector(run):
    status, out, _ = run("detect", "--json", "Great, another Monday.")
    answer = json.loads(out)
    assert status == 0
    assert answer["label"] is True
    assert answer["note"] == "a statistical guess"
    assert run("detect", "The meeting starts at noon in room four.")[1].startswith("sincere")


def test_the_shipped_detector_is_small_and_has_a_card():
    from deadpan.detect.detector import DEFAULT_FOLDER

    assert sum(path.stat().st_size for path in DEFAULT_FOLDER.iterdir()) <= 5_000_000
    assert "statistical guess" in (DEFAULT_FOLDER / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert Detector.load("default").predict(["Yeah, right."])[0].label is True


@pytest.mark.parametrize("word", ["trian", "predikt", "evalute"])
def test_a_mistyped_command_is_not_taken_for_a_text(run, word):
    status, _, err = run("detect", word, "--out", "x")
    assert status == 2
    assert "did you mean" in err


# ---------------------------------------------------------------- train, evaluate, explain


def test_train_then_evaluate_leaves_out_what_was_learnt(run, data, tmp_path):
    status, out, _ = run("detect", "train", "--system", "bigrams", "--data", data, "--out", tmp_path / "m",
                         "--threshold", "f1", "--json")  # fmt: skip
    told = json.loads(out)
    assert (status, told["examples"], told["sarcastic"]) == (0, 48, 24)
    status, _, err = run("detect", "evaluate", "--model", tmp_path / "m", "--data", data)
    assert status == 2
    assert "has not seen" in err
    write_records(tmp_path / "more.jsonl", corpus(count=96), Example)
    status, out, _ = run("detect", "evaluate", "--model", tmp_path / "m", "--data", tmp_path / "more.jsonl",
                         "--out", tmp_path / "scores", "--json")  # fmt: skip
    told = json.loads(out)
    assert (told["seen_in_training"], told["n"]) == (48, 48)
    assert told["scores"]["f1"]["value"] > 0.9
    for name in ("report.html", "scores.json", "predictions.jsonl", "manifest.json"):
        assert (tmp_path / "scores" / name).is_file()


@pytest.mark.parametrize("rule", ["f1", "balanced", "0.3"])
def test_a_threshold_is_chosen_on_examples_that_are_then_not_scored(run, model, tmp_path, rule):
    write_records(tmp_path / "new.jsonl", corpus("yeah", 60), Example)
    status, out, _ = run("detect", "evaluate", "--model", model, "--data", tmp_path / "new.jsonl", "--threshold",
                         rule, "--keep-seen", "--pairs", "--json")  # fmt: skip
    assert status == 0
    assert json.loads(out)["n"] == (60 if rule == "0.3" else 48)


def test_explain_names_the_word_and_writes_a_page(run, model, tmp_path):
    status, out, _ = run("detect", "explain", "--model", model, "the red door oh sure <b>", "--html",
                         tmp_path / "why.html", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert max(told["words"], key=lambda word: word["push"])["text"] in {"oh", "sure"}
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    top = json.loads(run("detect", "explain", "--model", model, "--top", 3, "--json")[1])
    assert len(top["sarcastic"]) == len(top["sincere"]) == 3
    assert run("detect", "explain", "--model", model)[0] == 2


def test_explain_lists_the_turn_that_moved_it(run, tmp_path):
    rows = [replace(e, response=Turn("B", f"well {n}"), context=(Turn("A", "oh sure" if e.label else "today"),))
            for n, e in enumerate(corpus())]  # fmt: skip
    Detector("bow", turns=1).fit(rows).save(tmp_path / "m")
    out = run("detect", "explain", "--model", tmp_path / "m", "well then", "--context", "oh sure")[1]
    assert any(line.startswith("oh sure") and "sarcastic" in line for line in out.splitlines())


def test_a_model_trained_over_another_leaves_nothing_of_it(run, data, tmp_path):
    for system in ("blend", "bow"):
        assert run("detect", "train", "--system", system, "--data", data, "--out", tmp_path / "m")[0] == 0
    Detector("bow").fit(corpus()).save(tmp_path / "fresh")
    left = {path.name for path in (tmp_path / "m").iterdir()}
    assert left == {"seen.npy"} | {path.name for path in (tmp_path / "fresh").iterdir()}


# ---------------------------------------------------------------- tables


def test_compare_writes_one_table(run, data, tmp_path):
    status, out, _ = run("detect", "compare", "--systems", "bigrams,majority", "--data", data, "--folds", 3,
                         "--out", tmp_path / "c", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert list(told["systems"]) == ["bigrams", "majority"]
    assert told["by"] == "pair_accuracy"
    assert told["systems"]["majority"]["verdict"].startswith("worse")
    assert (tmp_path / "c" / "bigrams.jsonl").is_file()
    assert "bigrams" in run("detect", "compare", "--systems", "bigrams,bow", "--data", data, "--folds", 2)[1]


def test_more_corpora_are_learnt_from_without_what_is_tested(run, data, tmp_path):
    write_records(tmp_path / "more.jsonl", [replace(e, id=f"m{e.id}") for e in corpus(count=6)], Example)
    told = json.loads(run("detect", "compare", "--systems", "bow,majority", "--data", data, "--folds", 2, "--also",
                          tmp_path / "more.jsonl", "--json")[1])  # fmt: skip
    assert (told["duplicates_removed"], told["n_also"]) == (6, 0)


def test_two_files_that_number_their_rows_alike_are_learnt_from_together(run, tmp_path):
    for name, words in (("a", ("sure", "today")), ("b", ("lovely", "noon"))):
        rows = [f"{n},{name * 3} {words[n % 2]} {n * 7919},{1 - n % 2}\n" for n in range(40)]
        (tmp_path / f"{name}.csv").write_text("id,text,label\n" + "".join(rows))
    status, out, _ = run("detect", "train", "--system", "bow", "--data", tmp_path / "a.csv", "--also",
                         tmp_path / "b.csv", "--threshold", "f1", "--out", tmp_path / "m", "--json")  # fmt: skip
    assert status == 0
    assert json.loads(out)["examples"] == 80


def test_transfer_takes_duplicates_out_first(run, data, tmp_path):
    others = [
        replace(
            e, id=f"o{e.id}", response=Turn("", f"{40 + n} {'quite' if e.label else 'some'} miles {n * 7919}")
        )
        for n, e in enumerate(corpus(count=40))
    ]
    write_records(tmp_path / "other.jsonl", [*others, *corpus(count=6)], Example)
    status, out, _ = run("detect", "transfer", "--system", "bow", "--data", f"{data},{tmp_path / 'other.jsonl'}",
                         "--folds", 2, "--out", tmp_path / "t", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert told["duplicates_removed"] == {"corpus": 0, "other": 6}
    assert (tmp_path / "t" / "report.html").is_file()


def test_ablate_by_context_and_by_topic(run, data):
    told = json.loads(run("detect", "ablate", "--system", "bow", "--data", data, "--folds", 2, "--context", "0,full",
                          "--json")[1])  # fmt: skip
    assert list(told["contexts"]) == ["0", "full"]
    assert len(told["differences"]) == 1
    told = json.loads(run("detect", "ablate", "--system", "bow", "--data", data, "--folds", 2, "--by", "topic",
                          "--score", "accuracy", "--json")[1])  # fmt: skip
    assert set(told["parts"]) == {"tea", "rain"}


def test_parts_that_take_pairs_apart_are_scored_by_what_is_left(run, tmp_path):
    longer = [replace(e, response=Turn("", f"{e.response.text} and so on and on and on")) for e in corpus()]
    rows = [long if e.label else e for e, long in zip(corpus(), longer, strict=True)]
    rows += [replace(e if e.label else long, id=f"{e.id}x", group=f"x{e.group}", sequence=f"x{e.sequence}")
             for e, long in zip(corpus(), longer, strict=True)]  # fmt: skip
    write_records(tmp_path / "pairs.jsonl", rows, Example)
    told = json.loads(run("detect", "ablate", "--system", "bow", "--data", tmp_path / "pairs.jsonl", "--folds", 2,
                          "--by", "length", "--json")[1])  # fmt: skip
    assert told["score"] == "accuracy"
    assert all(part["value"] is not None for part in told["parts"].values())


# ---------------------------------------------------------------- streams


def test_every_line_gets_a_line_in_order(model):
    raw = b'{"id": "a", "text": "oh sure"}\n{"text": 3}\nnot json\n\n{"text": "today", "context": ["x", {"text": "y"}]}\n'
    said = lines(model, raw)
    assert [row.get("id") for row in said] == ["a", None, None, None, "5"]
    assert [row.get("line") for row in said] == [None, 2, 3, 4, None]
    assert said[0]["label"] is True
    assert "error" in said[1] and "error" in said[2]


def test_plain_lines_binary_and_the_last_line_without_an_end(model):
    said = lines(model, b"oh sure\n\xff\xfe\x00\nno\0w\nthe red door today")
    assert [("error" in row) for row in said] == [False, True, True, False]
    assert said[3]["id"] == "4"


def test_a_line_without_end_is_an_error_and_the_rest_goes_on(model, monkeypatch):
    monkeypatch.setattr("deadpan.cli.detect.stream.LONGEST", 1000)
    monkeypatch.setattr("deadpan.cli.detect.stream.CHUNK", 512)
    said = lines(model, b"oh sure\n" + b"x" * 5000 + b"\ntoday\n")
    assert [("error" in row) for row in said] == [False, True, False]


def test_examples_deadpan_wrote_keep_their_ids(model, data):
    said = lines(model, data.read_bytes())
    assert [row["id"] for row in said] == [example.id for example in corpus()]


def test_a_byte_order_mark_hides_no_json(model):
    plain = lines(model, b"oh sure\n")
    assert lines(model, b"\xef\xbb\xbfoh sure\n") == plain
    assert lines(model, b'\xef\xbb\xbf{"text": "oh sure", "id": null}\n') == plain


def test_an_example_with_an_empty_response_is_an_error(model):
    (said,) = lines(model, b'{"id": "e", "response": {"speaker": "", "text": " "}}\n')
    assert "empty" in said["error"]


def test_a_reader_who_leaves_is_no_error(model, tmp_path):
    (tmp_path / "many.txt").write_text("oh sure\n" * 200_000)
    script = f"{sys.executable} -m deadpan detect predict --model {model} {tmp_path / 'many.txt'} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_is_answered_before_it_ends(model):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
    command = [
        sys.executable,
        "-c",
        "from deadpan.cli import main; main()",
        "detect",
        "predict",
        "--model",
        str(model),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"oh sure\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == "1"
        process.stdin.close()
        assert process.wait() == 0


# ---------------------------------------------------------------- what can be put right


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["predict", "--model", "nowhere", "FILE"], "no detector here"),
        (["predict", "missing.txt"], "no such file"),
        (["train", "--system", "liner", "--data", "FILE", "--out", "m"], "did you mean 'linear'"),
        (["train", "--data", "FILE", "--out", "m", "--set", "depth=3"], "depth"),
        (["train", "--data", "FILE", "--out", "m", "--context", "many"], "full"),
        (["train", "--system", "embedding", "--data", "FILE", "--out", "m", "--set", "vectors=none.txt"], "no such file"),
        (["evaluate", "--data", "FILE", "--threshold", "best"], "f1, balanced"),
        (["compare", "--systems", "bow", "--data", "FILE", "--score", "luck"], "unknown score"),
        (["ablate", "--data", "FILE", "--by", "category", "--folds", "2"], "no example has a category"),
        (["kinds", "--data", "FILE"], "categories"),
        (["train", "--system", "lstm", "--data", "FILE", "--out", "m", "--seed", "-1"], "a seed is"),
        (["train", "--system", "bow", "--data", "FILE", "--out", "m", "--set", "min_count=0"], "1 or more"),
        (["train", "--data", "FILE", "--out", "m", "--set", "least=-4"], "1 or more"),
        (["train", "--system", "prompted", "--data", "FILE", "--out", "m", "--set", "shots=60"], "30 sarcastic"),
        (["evaluate", "--data", "FILE", "--out", "FILE"], "is a file"),
        (["compare", "--systems", "bow", "--data", "FILE", "--out", "FILE"], "is a file"),
        (["transfer", "--data", "starter-en,starter-ko", "--out", "FILE"], "is a file"),
        (["explain", "Oh, sure.", "--html", "."], "is a directory"),
        (["predict", "FILE", "--out", "."], "is a directory"),
        (["train", "--data", "isarcasm_eval-en", "--out", "m"], "--data-dir"),
        (["", "--json"], "no word to judge"),
        (["   "], "no word to judge"),
        (["explain", "--top", "-3"], "--top"),
        (["train", "--data", "FILE", "--out", "m", "--set", "strength=strong"], "strength needs a number"),
        (["train", "--data", "FILE", "--out", "m", "--set", "seed=one"], "seed needs a whole number"),
        (["train", "--system", "bow", "--data", "FILE", "--out", "m", "--set", "min_count=few"], "min_count needs"),
        (["train", "--system", "blend", "--data", "FILE", "--out", "m", "--set", 'systems=["bow",{"system":"cues","x":1}]'], "unknown key 'x'"),
        (["train", "--system", "blend", "--data", "FILE", "--out", "m", "--set", "systems=[5,6]"], "names"),
        (["train", "--data", "FILE", "--out", "m", "--split", "tset"], "no splits"),
        (["evaluate", "--data", "FILE", "--split", "tset"], "no splits"),
        (["ablate", "--data", "FILE", "--context", ","], "0,1,full"),
        (["ablate", "--data", "FILE", "--score", "luck"], "unknown score"),
        (["transfer", "--data", "starter-en,starter-ko", "--score", "luck"], "unknown score"),
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
    status, _, err = run("detect", "train", "--data", data, "--out", tmp_path / "home")
    assert status == 2
    assert "choose another folder" in err


def test_one_label_only_cannot_be_learnt(run, tmp_path):
    write_records(tmp_path / "one.jsonl", [e for e in corpus() if e.label], Example)
    for rule in ("0.5", "f1"):
        status, _, err = run("detect", "train", "--data", tmp_path / "one.jsonl", "--out", tmp_path / "m",
                             "--threshold", rule)  # fmt: skip
        assert status == 2
        assert "deadpan: training needs examples of both labels" in err
