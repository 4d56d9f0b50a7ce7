"""The table of models: every pin is one, and the list says what each is."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from deadpan import models
from deadpan.errors import ConfigError, ModelError


def test_every_entry_is_pinned_and_described() -> None:
    for name, model in models.MODELS.items():
        hashes = [wheel.sha256 for wheel in model.wheels] + [file.sha256 for file in model.files]
        assert all(re.fullmatch("[0-9a-f]{64}", pin) for pin in hashes)
        assert model.about, name
        assert model.licence, name
        assert model.origin, name
        assert all(wheel.name.endswith(".whl") for wheel in model.wheels)
        assert all(f"-{model.version}-" in wheel.name for wheel in model.wheels)
        for file in model.files:
            assert PurePosixPath(file.name).name == file.name, "a file is kept under a plain name"
        assert all(bool(wheel.part) == model.in_parts for wheel in model.wheels)
        assert model.in_parts or len(model.wheels) == 1
        assert bool(model.gguf) == bool(model.architecture)


def test_parts_add_up() -> None:
    qwen = models.MODELS["qwen2.5-coder-1.5b"]
    assert len(qwen.wheels) == 22
    assert sum(wheel.part_bytes for wheel in qwen.wheels) == qwen.bytes == 1_117_320_768
    assert qwen.files[0].sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def test_all_means_the_small_ones() -> None:
    assert models.select(["all"]) == ["smollm2-135m", "minilm-l6", "wordllama-256"]
    assert models.select(["qwen2.5-coder-1.5b", "all", "minilm-l6"])[0] == "qwen2.5-coder-1.5b"
    with pytest.raises(ConfigError, match="did you mean 'minilm-l6'"):
        models.select(["all", "minilm-16"])


def test_the_list_says_what_each_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    listed = models.list_models()
    text = str(listed)
    for word in ("1,117 MB", "Apache-2.0", "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "not pulled (optional)"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
    rows = listed.as_dict()["models"]
    assert isinstance(rows, list)
    assert {row["name"]: row["path"] for row in rows} == dict.fromkeys(models.MODELS)
    with pytest.raises(ModelError, match="not here yet: deadpan models pull minilm-l6"):
        models.path("minilm-l6")
