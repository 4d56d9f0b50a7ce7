"""KoCoSa with a local folder of weights: measured where they are, and named where they are not."""

from __future__ import annotations

import pytest

from deadpan.formats.judgments import write_export
from deadpan.formats.study import AnnotateItem, Study, write_study
from deadpan.records import Judgment, Turn
from deadpan.reproduce import reproduce
from deadpan.reproduce.kocosa import weights_in
from reproduce.releases import kocosa
from tiny_encoder import tiny_encoder


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
    assert base.verdict.word in ("reproduced", "differs")
    assert base.ours.value.n == 8
    assert "two epochs" in base.verdict.why or base.verdict.word == "reproduced"
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
    kocosa(tmp_path / "data" / "kocosa", 4)
    items = [AnnotateItem(id=f"i{n}", response=Turn("A", "그래요"), label=n % 2 == 0) for n in range(8)]
    for name, wrong in (("kocosa-response", 4), ("kocosa", 0)):
        write_study(tmp_path / f"people/{name}/study", Study("annotate", "Sarcastic?"), items, command="test")
        given = [
            Judgment(item.id, "p", "sarcastic", "sarcastic" if item.label and n >= wrong else "not sarcastic",
                     2.0, "2026-11-16T10:00:00+00:00")
            for n, item in enumerate(items)
        ]  # fmt: skip
        write_export(tmp_path / f"people/{name}/export", given, [])
    result = reproduce("kocosa", tmp_path / "out", data_dir=tmp_path / "data", only=["table-9"],
                       people=tmp_path / "people", quick=True)  # fmt: skip
    found = {cell.published.id: cell for _, cell in result.cells()}
    assert found["table-9/only-the-response/human"].ours.value.value == 0.75  # 2 of 4, and 4 of 4
    assert found["table-9/full-context/human"].ours.value.value == 1.0
