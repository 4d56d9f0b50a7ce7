"""Thresholds, folds, explanations, transfer, ablation and tasks, from the outside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.detect.ablation import by_context, by_part
from deadpan.detect.blend import blend_scores
from deadpan.detect.comparison import compare, suited
from deadpan.detect.context import Context, name_turns, parse_turns
from deadpan.detect.detector import Detector, at_threshold, clear
from deadpan.detect.explanation import explain
from deadpan.detect.prompted import prompts
from deadpan.detect.seen import unseen, write_seen
from deadpan.detect.tasks import cross_validate_kinds, pick_one
from deadpan.detect.thresholds import choose_threshold, parse_threshold
from deadpan.detect.transfer import transfer
from deadpan.detect.validation import cross_validate, parse_settings
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import read_json, write_json, write_manifest


def corpus(word: str = "sure", count: int = 60) -> list[Example]:
    """Sarcastic texts hold a word; half of the sincere ones answer a question."""
    rng = np.random.default_rng(len(word))
    rows = []
    for number in range(count):
        label = bool(number % 2)
        filler = " ".join(rng.choice(["red", "green", "blue", "grey"], 3))
        rows.append(
            Example(
                f"{word}-{number}",
                Turn("B", f"{filler} {word if label else 'today'} {number}"),
                (Turn("A", "is it so" if label else "when was that"),),
                label=label,
                group=str(number // 2),
                meta={"topic": "tea" if number < count / 2 else "rain"},
            )
        )
    return rows


def score_f1(labels: list[bool], scores: list[float], threshold: float) -> float:
    hits = sum(label and score > threshold for label, score in zip(labels, scores, strict=True))
    calls = sum(score > threshold for score in scores)
    return 2 * hits / (calls + sum(labels)) if calls + sum(labels) else 0.0


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.9])), min_size=2, max_size=25)
)
def test_no_other_threshold_has_a_better_f1(rows):
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    examples = [Example(str(at), Turn("", "x"), label=label) for at, label in enumerate(labels)]
    said = [Prediction(str(at), None, score) for at, score in enumerate(scores)]
    if all(labels) or not any(labels):
        with pytest.raises(DataError, match="both labels"):
            choose_threshold(examples, said, "f1")
        return
    chosen = score_f1(labels, scores, choose_threshold(examples, said, "f1"))
    assert chosen == max(score_f1(labels, scores, cut) for cut in (0.0, 0.1, 0.2, 0.3, 0.6, 0.9))


@pytest.mark.parametrize("word", ["", "half", "1.5", "-1", "nan"])
def test_a_threshold_that_is_none_is_refused(word):
    with pytest.raises(ConfigError):
        parse_threshold(word)


def test_a_threshold_changes_labels_and_not_scores():
    said = [Prediction("a", False, 0.4), Prediction("b", None, None)]
    assert at_threshold(said, 0.3) == [Prediction("a", True, 0.4), Prediction("b", None, None)]


def test_context_is_cut_marked_and_named():
    example = Example("x", Turn("Chandler", "c"), (Turn("Ross", "a"), Turn("Chandler", "b")))
    assert Context(1, True).texts(example) == ("B: b", "B: c")
    assert Context(None, True).texts(example) == ("A: a\nB: b", "B: c")
    assert Context(0).texts(example) == ("", "c")
    assert Context(None, True).own(example) == (False, True)
    assert [parse_turns(name_turns(turns)) for turns in (0, 3, None)] == [0, 3, None]
    with pytest.raises(ConfigError, match="full"):
        parse_turns("some")


def test_every_example_is_judged_once_by_a_model_that_did_not_see_it():
    trial = cross_validate("bow", corpus(), k=3, rule="balanced")
    assert [p.example_id for p in trial.predictions] == [e.id for e in corpus()]
    assert np.mean([p.label == e.label for p, e in zip(trial.predictions, corpus(), strict=True)]) > 0.9
    assert len(trial.thresholds) == 3
    assert trial.cost()["fit_seconds"] > 0


def test_systems_are_compared_best_first_with_a_verdict():
    found = compare({"random": {}, "bow": {}}, corpus(), k=3, seeds=[0, 1])
    assert [row.system for row in found.rows] == ["bow", "random"]
    assert found.rows[1].verdict.startswith("worse")
    assert found.rows[1].over_seeds[found.by][1] > 0
    assert found.rows[0].over_seeds[found.by][1] == 0


def test_a_blend_of_finished_trials_leans_on_the_better_one():
    found = compare({"random": {}, "bow": {}}, corpus(), k=3, blend=True)
    scores = {row.system: row.scores[found.by].value for row in found.rows}
    assert scores["all, blended"] > scores["random"] + 0.2
    with pytest.raises(DataError, match="one prediction"):
        blend_scores([found.rows[0].predictions[:-1]], corpus())


def test_the_score_suits_the_data():
    assert suited([replace(e, sequence=e.group) for e in corpus()])[0] == "pair_accuracy"
    assert suited(corpus())[0] == "balanced_accuracy"
    assert suited([e for at, e in enumerate(corpus()) if e.label or at % 8 == 0])[0] == "f1"


def test_settings_go_to_all_or_to_one():
    found = parse_settings(["seed=3", "bow.min_count=2", "linear.weighting=rarity"], ["bow", "linear"])
    assert found == {"bow": {"seed": 3, "min_count": 2}, "linear": {"seed": 3, "weighting": "rarity"}}
    for bad in ("seed", "cnn.x=1"):
        with pytest.raises(ConfigError):
            parse_settings([bad], ["bow"])


def test_the_word_that_decides_pushes_most():
    detector = Detector("bow").fit(corpus())
    found = explain(detector.predict, Example("x", Turn("", "red sure blue")))
    assert max(found.words, key=lambda word: word.push).text == "sure"
    assert found.label is True
    with pytest.raises(ConfigError, match="no word"):
        explain(detector.predict, Example("x", Turn("", "  ")))


def test_a_turn_that_is_seen_can_push():
    detector = Detector("bow", turns=1).fit(corpus())
    example = Example("x", Turn("", "red"), (Turn("", "is it so"), Turn("", "when was that")))
    assert abs(explain(detector.predict, example).context[-1].push) > 0.01


def test_what_is_learnt_on_one_corpus_is_tested_on_the_other():
    found = transfer("bow", {"a": corpus("sure"), "b": corpus("oh"), "c": corpus("sure", 40)}, k=3)
    assert found.cells["a"]["a"].value > 0.9
    assert found.cells["a"]["b"].value < found.cells["a"]["a"].value
    with pytest.raises(ConfigError, match="two corpora"):
        transfer("bow", {"a": corpus()})


def test_context_is_added_turn_by_turn_and_parts_are_scored():
    trials = by_context("bow", corpus(), [0, 1], k=3)
    assert list(trials) == ["0", "1"]
    parts = by_part(corpus(), trials["0"].predictions, "topic")
    assert {name: table.n for name, table in parts.items()} == {"tea": 30, "rain": 30}
    assert sum(table.n for table in by_part(corpus(), trials["0"].predictions, "length").values()) == 60
    with pytest.raises(ConfigError, match="no example has a category"):
        by_part(corpus(), trials["0"].predictions, "category")


def test_of_a_pair_exactly_one_is_picked():
    rows = [Example(str(n), Turn("", "x"), sequence="p" if n < 2 else "") for n in range(3)]
    said = [Prediction("0", True, 0.9), Prediction("1", True, 0.8), Prediction("2", True, 0.7)]
    assert [p.label for p in pick_one(rows, said)] == [True, False, True]


def kinds_corpus(exclusive: bool) -> list[Example]:
    rows = []
    for number, example in enumerate(corpus("sure", 90)):
        kind = ("satire", "irony", "")[number % 3]
        kinds = (kind,) if kind else ()
        if not exclusive and number % 6 == 0:
            kinds = ("irony", "satire")
        text = f"{example.response.text} {' '.join(f'{name}ish' for name in kinds)}"
        rows.append(replace(example, response=Turn("", text), categories=kinds, label=bool(kinds)))
    return rows


@pytest.mark.parametrize("exclusive", [True, False])
def test_kinds_are_told_apart(exclusive):
    found = cross_validate_kinds("bow", kinds_corpus(exclusive), k=3)
    assert found.exclusive is exclusive
    assert found.macro_f1() > 0.9
    assert found.interval().low <= found.macro_f1() <= found.interval().high
    if exclusive:
        assert (found.said.sum(axis=1) == 1).all()
    with pytest.raises(DataError, match="categories"):
        cross_validate_kinds("bow", corpus())


def test_texts_that_were_learnt_from_are_known_again(tmp_path):
    write_seen(tmp_path, corpus()[:10])
    shouted = [replace(e, response=Turn("", e.response.text.upper() + "!!")) for e in corpus()]
    assert unseen(tmp_path, shouted) == shouted[10:]
    assert unseen(tmp_path / "elsewhere", shouted) == shouted


@pytest.mark.parametrize("name", ["kocosa-en", "kocosa-ko", "yes-no"])
def test_a_prompt_shows_its_examples_and_reads_strictly(name):
    prompt = prompts()[name]
    message = prompt.write("A: hm {x}\nB: great", [("A: a", True), ("B: b", False)])
    assert (
        message.index(prompt.task) < message.index("A: a") < message.index("B: b") < message.index("B: great")
    )
    assert prompt.read(f' "{prompt.yes.upper()}." ') is True
    assert prompt.read(prompt.no) is False
    for unclear in ("", "maybe", f"{prompt.yes} or {prompt.no}", "10", "yes, because"):
        assert prompt.read(unclear) is None


def test_a_detector_that_learnt_nothing_says_so(tmp_path):
    for use in (lambda d: d.predict(["x"]), lambda d: d.save(tmp_path / "m")):
        with pytest.raises(ConfigError, match="fit it first"):
            use(Detector("bow"))
    assert not (tmp_path / "m").exists()


def test_texts_are_a_list_of_texts():
    detector = Detector("bow").fit(corpus())
    with pytest.raises(ConfigError, match="a list of texts"):
        detector.predict("oh sure")
    with pytest.raises(DataError, match="text 1 is int"):
        detector.predict(["oh sure", 5])


def test_a_model_without_its_manifest_was_not_saved_to_its_end(tmp_path):
    Detector("bow").fit(corpus()).save(tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(ModelError, match="train again"):
        Detector.load(tmp_path)


def test_a_blend_takes_names_with_commas():
    assert Detector("blend", systems="bow, cues").settings["systems"] == ["bow", "cues"]


def test_a_model_written_over_another_takes_only_its_own_files_away(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "model", tmp_path / "mine.txt"
    (folder / "encoder").mkdir(parents=True)
    (folder / "encoder" / "weights").write_text("old")
    (folder / "notes.txt").write_text("kept")
    elsewhere.write_text("kept")
    write_manifest(folder, command="detect train", config={}, seed=0)
    listed = read_json(folder / "manifest.json")
    listed["files"] |= {name: {"bytes": 4, "sha256": ""} for name in (str(elsewhere), "../mine.txt")}
    listed["files"].pop("notes.txt")
    write_json(folder / "manifest.json", listed)
    clear(folder)
    assert elsewhere.read_text() == "kept"
    assert (folder / "notes.txt").read_text() == "kept"
    assert not (folder / "encoder").exists()
