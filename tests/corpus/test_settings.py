"""Settings from a file, from an object and from single changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.corpus.settings import BenchmarkRules, BuildOptions, CorpusSettings, Scope, TextRules, configure
from deadpan.errors import ConfigError
from deadpan.storage import write_config


def test_changes_go_to_the_class_that_has_the_field(tmp_path: Path) -> None:
    given = CorpusSettings(seed=3, text=TextRules(markers=("/sarc",)))
    write_config(tmp_path / "corpus.toml", given)
    for source in (given, tmp_path / "corpus.toml", str(tmp_path / "corpus.toml")):
        settings, options = configure(source, {"first_month": "2010-01", "max_tokens": 9, "memory": "1GB"})
        assert (settings.seed, settings.text.markers) == (3, ("/sarc",))
        assert (settings.scope, settings.benchmark.max_tokens) == (Scope(first_month="2010-01"), 9)
        assert options == BuildOptions(memory="1GB")
    assert configure(None, {"seed": 7})[0] == CorpusSettings(seed=7)


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'memory'"):
        configure(None, {"memroy": "1GB"})
    with pytest.raises(ConfigError, match="swap them"):
        configure(None, {"first_month": "2010-02", "last_month": "2010-01"})


def test_the_cut_of_similarity_goes_with_the_vectors(tmp_path: Path) -> None:
    assert BenchmarkRules().similarity_cut == 0.27
    glove, _ = configure(None, {"vectors": "glove.txt"})
    assert glove.benchmark.similarity_cut == 0.95
    write_config(tmp_path / "corpus.toml", glove)
    assert configure(tmp_path / "corpus.toml", {"max_similarity": 0.5})[0].benchmark.similarity_cut == 0.5
    assert configure(tmp_path / "corpus.toml", {})[0] == glove
