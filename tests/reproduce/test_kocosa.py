"""KoCoSa with a local folder of weights: measured where they are, and named where they are not."""

from __future__ import annotations

import pytest

from deadpan.datasets import Reading, read_source
from deadpan.detect.systems.prompted import Prompted
from deadpan.errors import ConfigError
from deadpan.formats.judgments import write_export
from deadpan.llm import Reply
from deadpan.records import Judgment
from deadpan.reproduce import reproduce
from deadpan.reproduce.kocosa import weights_in
from reproduce.releases import kocosa
from tiny_encoder import tiny_encoder

WHEN = "2026-11-16T10:00:00+00:00"


@pytest.mark.slow
def test_weights_in_a_folder_are_fine_tuned_and_missing_ones_named(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 40)
    tiny_encoder(tmp_path / "klue" / "base", ["대단하네 그래요 날씨 비"])
    (tmp_path / "klue" / "large").mkdir()
    (tmp_path / "klue" / "large" / "config.json").write_text("{}")

    def run():
        return reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=["table-8"], quick=True,
                         encoder=tmp_path / "klue")  # fmt: skip

    found = {cell.published.id: cell for _, cell in run().cells()}
    base = found["table-8/klue-roberta-base/ba"]
    assert base.verdict.word in ("consistent", "exceeds", "differs"), "a sample reproduces nothing"
    assert base.ours.value.n == 8
    assert "one epoch" in base.verdict.why
    large = found["table-8/klue-roberta-large/ba"].verdict
    assert large.word == "needs weights"
    assert str(tmp_path / "klue" / "large") in large.why
    assert run().resumed == 1


def test_without_a_folder_the_weights_are_what_is_needed(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 30)
    result = reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=["table-8"], quick=True)
    cells = [cell for _, cell in result.cells() if "KLUE" in cell.published.row]
    assert cells and {cell.verdict.word for cell in cells} == {"needs weights"}
    assert "huggingface.co/klue/roberta-" in cells[0].verdict.why


def test_which_folder_holds_which_size(tmp_path):
    for name in ("both/base", "both/large", "large/roberta-base"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    assert weights_in(tmp_path / "both", "large") == tmp_path / "both" / "large"
    assert weights_in(tmp_path / "large" / "roberta-base", "base").name == "roberta-base"
    assert weights_in(tmp_path / "large" / "roberta-base", "large") is None
    assert weights_in(None, "base") is None


def test_sizes_and_our_systems_are_measured_without_weights(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 40)
    only = ["table-4", "table-6", "table-8-ours", "table-9", "figure-3"]
    result = reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=only, quick=True)
    found = {cell.published.id: cell for _, cell in result.cells()}
    values = {cell.published.row: cell.ours.value for cell in found.values() if cell.published.exhibit == "table-4"}
    assert (values["dialogues"].value, values["sarcasm"].value, values["max turns"].value) == (40, 20, 3)
    assert values["sarcasm, %"].value == 50 and values["sarcasm, %"].low < 50
    assert values["tokens per dialogue"].value == 5  # 날씨 0, 비, 대단하네 0
    assert values["tokens per explanation"].value == 1
    assert "40 of 12,824 dialogues are here" in found["table-4/dialogues/value"].ours.how
    whole = found["table-6/kocosa/total"]
    assert whole.ours.value.value == 40 and whole.verdict.word == "needs data"
    ours = found["table-8-ours/linear-full-context/ba"]
    assert ours.ours.value.value == 1.0 and "another system, linear" in ours.ours.how  # one word tells the label
    gain = found["table-9/gain-by-the-full-context/model"].ours
    assert gain.value.value == 0 and "cross-validation of the part that is here" in gain.how
    (topics,) = (cell for cell in found.values() if cell.published.exhibit == "figure-3")
    assert topics.verdict.word == "needs data" and "NIKL" in topics.verdict.why


def test_people_are_scored_against_the_labels(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 8)
    labels = {e.id: e.label for e in read_source("kocosa", Reading(data_dir=tmp_path / "data")).examples}
    for name, wrong in (("kocosa-response", 4), ("kocosa", 0)):
        given = [
            Judgment(id, "p", "sarcastic", "sarcastic" if label and n >= wrong else "not sarcastic", 2.0, WHEN)
            for n, (id, label) in enumerate(labels.items())
        ]
        write_export(tmp_path / f"people/{name}/export", given, [])
    kinds = ["casual dialogue"] * 3 + ["direct criticism"]
    judged = [Judgment(f"d{n}", "p", "kind", kind, 2.0, WHEN) for n, kind in enumerate(kinds)]
    write_export(tmp_path / "people/kocosa-kind/export", judged, [])
    result = reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=["table-7", "table-8", "table-9"],
                       people=tmp_path / "people", quick=True)  # fmt: skip
    found = {cell.published.id: cell for _, cell in result.cells()}
    assert found["table-9/only-the-response/human"].ours.value.value == 0.75  # 2 of 4, and 4 of 4
    assert found["table-9/full-context/human"].ours.value.value == 1.0
    human = [cell for id, cell in found.items() if id.startswith("table-8/human-evaluation/")]
    assert len(human) == 7 and all(cell.ours.value.value == 1.0 for cell in human)
    assert {cell.verdict.word for cell in human} <= {"consistent", "exceeds", "differs"}
    assert found["table-7/casual-dialogue/percent"].ours.value.value == 75


def test_answers_of_another_protocol_are_one_line_with_a_hint(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 4)
    other = [Judgment("d", "p", "response", "sarcasm", 2.0, WHEN)]
    write_export(tmp_path / "people/kocosa/export", other, [])
    options = {"data_dir": tmp_path / "data", "people": tmp_path / "people", "quick": True}
    with pytest.raises(ConfigError, match="answers to response, not to sarcastic; the study kocosa is of the protocol"):
        reproduce("kocosa", tmp_path / "out", **options)
    with pytest.raises(ConfigError, match="no NAME/export in it; NAME is one of pairs-main"):
        reproduce("kocosa", tmp_path / "out", **{**options, "people": tmp_path / "data"})


def test_a_language_model_is_asked_with_no_four_and_eight_examples(tmp_path, monkeypatch):
    kocosa(tmp_path / "data" / "kocosa", 40)
    asked = []

    class Scripted:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def complete_many(self, messages, on_reply):
            asked.extend(each[0]["content"] for each in messages)
            return [Reply("1" if "대단하네" in one.rpartition("Given")[2] else "0", "stop", None, None, 0.0, "x")
                    for one in asked[-len(messages):]]  # fmt: skip

    monkeypatch.setattr(Prompted, "_client", Scripted())
    options = {"data_dir": tmp_path / "data", "only": ["table-8", "table-8-llm"], "quick": True}
    result = reproduce("kocosa", tmp_path / "out", llm="gpt-4-0613", **options)
    found = {cell.published.id: cell for _, cell in result.cells()}
    for row in ("gpt-4-zero-shot", "gpt-4-4-shot", "gpt-4-8-shot"):
        assert found[f"table-8/{row}/ba"].ours.value.value == 1.0
        assert found[f"table-8/{row}/ba"].verdict.word in ("consistent", "exceeds")
    assert {text.count("Detection Result:") for text in asked} == {1, 5, 9}
    other = found["table-8/gpt-3.5-4-shot/ba"].verdict
    assert other.word == "needs weights" and "4 examples" in other.why and "--llm openai/gpt-3.5-turbo" in other.why
    assert found["table-8-llm/8-shot/ba"].ours.how.startswith("gpt-4-0613, 8 examples")


def test_a_gain_whose_interval_includes_0_is_not_reproduced(tmp_path):
    kocosa(tmp_path / "data" / "kocosa", 40)
    result = reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=["table-9"], quick=True)
    found = {cell.published.id: cell for _, cell in result.cells()}
    gain = found["table-9/gain-by-the-full-context/model"].verdict
    assert gain.word == "differs" and "includes 0" in gain.why
    assert found["table-9/one-turn-of-context/model"].verdict.word == "stated"
