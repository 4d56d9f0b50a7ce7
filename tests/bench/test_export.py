"""Exports: rows in three formats, the set for others, nothing private."""

from __future__ import annotations

import json
import re

import pytest

from bench_items import FAST, Scripted, job, right, small_set
from deadpan.bench.export import export_set, write_rows
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.answers import read_letter
from deadpan.bench.runs.folder import AnswerRow, read_run
from deadpan.bench.runs.run import run_models
from deadpan.errors import ConfigError, DataError
from deadpan.records import Item
from deadpan.storage import read_records

SET = small_set(6)


@pytest.fixture
def rows(tmp_path):
    [(folder, _)] = run_models(
        ["openai/m"], job(SET), tmp_path / "r", clock=FAST, answerers={"openai/m": Scripted(right)}
    )
    return read_run(folder).rows


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_rows_come_back(rows, tmp_path, suffix):
    assert write_rows(tmp_path / f"rows{suffix}", rows, public=True) == 36
    assert tuple(read_records(tmp_path / f"rows{suffix}", AnswerRow)) == rows


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_rows_of_a_private_set_tell_nothing(rows, tmp_path, suffix):
    write_rows(tmp_path / f"rows{suffix}", rows, public=False)
    text = (tmp_path / f"rows{suffix}").read_text(encoding="utf-8-sig")
    for secret in ("i0-0", "Final Answer", "ABCDEF", "p0", "correct"):
        assert secret not in text
    assert "intended_meaning" in text


def test_an_unknown_format_is_refused(rows, tmp_path):
    with pytest.raises(ConfigError, match="parquet"):
        write_rows(tmp_path / "rows.xlsx", rows, public=True)


def test_the_set_is_exported_for_others(tmp_path):
    assert export_set(SET, tmp_path / "out").items == {"en": 12}
    lines = (tmp_path / "out" / "lm-eval" / "sarcbench_en.jsonl").read_text(encoding="utf-8").splitlines()
    assert "Final Answer: X" in json.loads(lines[0])["prompt"]
    yaml = (tmp_path / "out" / "lm-eval" / "sarcbench_en.yaml").read_text(encoding="utf-8")
    pattern = re.search(r'regex_pattern: "(.*)"', yaml)[1].replace("\\\\", "\\")
    for text in ("Final Answer: B", "**Final Answer:** (c)", "Final Answer: all of them"):
        found = re.findall(pattern, text)
        assert (found[-1].upper() if found else None) == read_letter(text)
    assert list(read_records(tmp_path / "out" / "hf" / "data" / "en.parquet", Item)) == list(SET.items)
    card = (tmp_path / "out" / "hf" / "README.md").read_text(encoding="utf-8")
    assert '"split": "test"' in card
    croissant = json.loads((tmp_path / "out" / "hf" / "croissant.json").read_text())
    assert croissant["distribution"][0]["sha256"]


def test_a_private_set_is_never_exported(tmp_path):
    with pytest.raises(DataError, match="only public sets"):
        export_set(small_set(visibility="private"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_hugging_face_s_own_library_loads_the_folder(tmp_path, monkeypatch):
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    datasets = pytest.importorskip("datasets")
    public = open_set("public")
    export_set(public, tmp_path / "out")

    def load(*config):
        folder = str(tmp_path / "out" / "hf")
        return datasets.load_dataset(folder, *config, split="test", cache_dir=str(tmp_path / "cache"))

    assert {*load()["id"]} == {item.id for item in public.items}
    korean = [item for item in public.items if item.language == "ko"]
    assert [row["options"][row["answer"]] for row in load("ko")] == [i.options[i.answer] for i in korean]
