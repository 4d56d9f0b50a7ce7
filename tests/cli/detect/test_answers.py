"""deadpan detect TEXT, explain, systems and predict: as a person types them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deadpan.detect.detector import Detector
from deadpan.formats.predictions import read_predictions
from deadpan.records import Turn
from pair_corpus import corpus

# ---------------------------------------------------------------- at once


def test_a_text_is_answered_at_once_by_the_shipped_detector(run):
    status, out, _ = run("detect", "--json", "Oh great, another meeting that could have been an email.")
    answer = json.loads(out)
    assert status == 0
    assert answer["label"] is True
    assert answer["in_words"][0].startswith(answer["answer"])
    assert run("detect", "The meeting starts at noon in room four.")[1].startswith("not sarcastic")
    assert json.loads(run("detect", "-5 degrees, lovely.", "--json")[1])["answer"]  # a text, not an option


def test_a_sentence_has_one_score_alone_in_a_line_in_a_table_and_in_python(run, tmp_path):
    texts = ["Great, another Monday.", "회의는 3시에 시작합니다.", "The invoice is attached.", "Thanks for nothing."]
    alone = [json.loads(run("detect", text, "--json")[1])["score"] for text in texts]
    (tmp_path / "lines.txt").write_text("\n".join(texts), encoding="utf-8")
    lines = run("detect", "predict", tmp_path / "lines.txt")[1].splitlines()
    rows = [json.dumps({"text": text}) for text in texts]
    (tmp_path / "table.jsonl").write_text("\n".join(rows), encoding="utf-8")
    run("detect", "predict", tmp_path / "table.jsonl", "--out", tmp_path / "scored.jsonl")
    table = (tmp_path / "scored.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["score"] for line in lines] == pytest.approx(alone, abs=1e-4)
    assert [json.loads(line)["score"] for line in table] == pytest.approx(alone, abs=1e-4)
    assert Detector.load("auto").predict_proba(texts)[:, 1] == pytest.approx(alone, abs=1e-4)


def test_the_shipped_detector_is_small_and_has_a_card():
    from deadpan.detect.detector import BASE, SHIPPED

    assert sum(path.stat().st_size for path in SHIPPED[BASE].iterdir()) <= 12_000_000
    card = json.loads((SHIPPED[BASE].parent / "card.json").read_text(encoding="utf-8"))[BASE]
    assert card["note"] == "Weights contain no texts." and all(each["terms"] for each in card["corpora"])
    assert Detector.load("base").predict(["Yeah, right."]).tolist() == [True]


@pytest.mark.parametrize("word", ["trian", "predikt", "evalute"])
def test_a_mistyped_command_is_not_taken_for_a_text(run, word):
    status, _, err = run("detect", word, "--out", "x")
    assert status == 2
    assert "did you mean" in err


# ---------------------------------------------------------------- word by word


def test_words_names_the_word_and_writes_a_page(run, model, tmp_path):
    status, out, _ = run("detect", "--words", "--detector", model, "the red door oh sure <b>", "--out",
                         tmp_path / "why.html", "--json")  # fmt: skip
    told = json.loads(out)
    assert status == 0
    assert max(told["words"], key=lambda word: word["push"])["text"] in {"oh", "sure"}
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    top = json.loads(run("detect", "--detector", model, "--top", 3, "--json")[1])
    assert len(top["sarcastic"]) == len(top["sincere"]) == 3
    assert run("detect", "--detector", model)[0] == 2


def test_words_lists_the_turn_that_moved_it(run, tmp_path):
    rows = [replace(e, response=Turn("B", f"well {n}"), context=(Turn("A", "oh sure" if e.label else "today"),))
            for n, e in enumerate(corpus())]  # fmt: skip
    Detector("bow", turns=1).fit(rows).save(tmp_path / "m")
    out = run("detect", "--words", "--detector", tmp_path / "m", "well then", "--context", "oh sure")[1]
    assert any(line.startswith("oh sure") and "sarcastic" in line for line in out.splitlines())


# ---------------------------------------------------------------- predict


def test_a_table_is_read_as_a_table(run, model, tmp_path):
    (tmp_path / "t.csv").write_text("key,tweet,sarcastic\na,oh sure,1\nb,the red door today,0\n")
    columns = ("--column", "text=tweet", "--column", "id=key")
    status, out, _ = run("detect", "predict", tmp_path / "t.csv", "--detector", model, *columns)
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [row["label"] for row in rows] == [True, False]
    assert [row["example_id"].rpartition("/")[2] for row in rows] == ["a", "b"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_predictions_are_written_in_the_one_format(run, model, data, tmp_path, suffix):
    out = tmp_path / f"p{suffix}"
    assert run("detect", "predict", data, "--detector", model, "--out", out)[0] == 0
    assert [p.example_id for p in read_predictions(out)] == [example.id for example in corpus()]
    status, scored, err = run("score", data, out, "--json")
    assert (status, err) == (0, "")
    assert json.loads(scored)["systems"]["p"]["scores"]["accuracy"]["value"] == 1


def test_a_table_without_labels_can_be_predicted(run, model, tmp_path):
    (tmp_path / "t.tsv").write_text("text\nanother thing\noh sure\n")
    status, out, _ = run("detect", "predict", tmp_path / "t.tsv", "--detector", model)
    assert (status, len(out.splitlines())) == (0, 2)


def test_a_split_that_a_table_lacks_is_an_error_for_predict_as_for_evaluate(run, model, tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nanother thing,0\noh sure,1\n")
    for command in (("predict", "--out", tmp_path / "out.csv"), ("evaluate",)):
        status, _, err = run("detect", *command, tmp_path / "t.csv", "--detector", model, "--split", "train")
        assert (status, "it has no splits: leave out --split" in err) == (2, True)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("lines", "status", "told"),
    [(["oh sure", "", "today"], 0, "1 of 3 lines could not be read"), (["", ""], 2, "none of 2 lines could be read")],
)
def test_lines_that_fail_are_counted_on_stderr_and_all_of_them_fail_the_command(
    run, model, tmp_path, lines, status, told
):
    (tmp_path / "t.txt").write_text("".join(f"{line}\n" for line in lines))
    ended, out, err = run("detect", "predict", tmp_path / "t.txt", "--detector", model)
    assert (ended, len(out.splitlines())) == (status, len(lines))
    assert told in err


def test_a_table_labelled_by_a_detector_of_one_category_names_it_and_can_be_scored(run, tmp_path):
    detector = Detector("bigrams").fit(corpus())
    detector.category = "satire"
    detector.save(tmp_path / "m")
    (tmp_path / "t.csv").write_text("text,truth\nwell oh sure,1\nthe red door today,0\n")
    scored = tmp_path / "scored.csv"
    status, out, _ = run("detect", "predict", tmp_path / "t.csv", "--detector", tmp_path / "m", "--out", scored)
    assert (status, "not satire" in out, "sincere" in out) == (0, True, False)
    assert [line.split(",")[2] for line in scored.read_text().splitlines()] == ["label", "satire", "not satire"]
    status, out, err = run("score", scored, "--column", "label=truth", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["systems"]["scored"]["scores"]["accuracy"]["value"] == 1
    (line,) = run("detect", "predict", tmp_path / "t.csv", "--detector", tmp_path / "m")[1].splitlines()[:1]
    assert json.loads(line)["label"] is True


def test_systems_are_listed_with_their_state(run):
    told = json.loads(run("detect", "systems", "--json")[1])
    assert {"linear", "prompted"} <= {row["name"] for row in told["systems"]}
    assert "linear" in run("detect", "systems")[1]


def test_a_card_is_of_a_detector_of_the_package(run):
    assert "Reddit replies" in run("detect", "systems", "--card", "base")[1]
    status, out, err = run("detect", "systems", "--card", "linear")
    assert (status, out) == (2, "")
    assert "base, encoder or auto" in err


def test_a_reader_who_leaves_is_no_error(model, tmp_path):
    (tmp_path / "many.txt").write_text("oh sure\n" * 200_000)
    script = f"{sys.executable} -m deadpan detect predict --detector {model} {tmp_path / 'many.txt'} | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_is_answered_before_it_ends(model):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
    command = [
        sys.executable,
        "-c",
        "from deadpan.cli import main; main()",
        "detect",
        "predict",
        "--detector",
        str(model),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"oh sure\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["example_id"] == "1"
        process.stdin.close()
        assert process.wait() == 0


def test_where_sarcasm_is_rare_scores_have_the_decimals_that_tell_them_apart(run):
    told = run("detect", "Great.", "--prevalence", "0.02", "--detector", "base")[1]
    numbers = re.findall(r"\d\.\d+", told)
    assert numbers and all(len(number) == len("0.000") for number in numbers), told
    assert "10.0% of texts" not in run("detect", "It rains.", "--prevalence", "0.1", "--detector", "base")[1]
