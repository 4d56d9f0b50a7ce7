"""KoCoSa with a local folder of weights: measured where they are, and named where they are not."""

from __future__ import annotations

import pytest

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
