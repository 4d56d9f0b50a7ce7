"""Names, and what an unknown one answers."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError, MissingExtra, need
from deadpan.registry import Registry

NAMES = Registry("system", {"bow": "collections:Counter", "bigrams": "not_there:Thing"})


def test_listing_imports_nothing():
    assert list(NAMES) == ["bow", "bigrams"]


def test_load_imports_what_the_name_stands_for():
    assert NAMES.load("bow").__name__ == "Counter"


def test_an_unknown_name_lists_the_choices_and_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown system 'bigram': did you mean 'bigrams'\? .*bow, bigrams"):
        NAMES.load("bigram")


def test_a_missing_extra_names_the_pip_command():
    with pytest.raises(MissingExtra, match=r"deadpan\[studio\].*: pip install "):
        need("no_such_library_at_all", "studio")
    with pytest.raises(MissingExtra, match=r"this needs no_such_library \("):
        need("no_such_library.parquet", "parquet")


def test_a_library_that_is_there_is_given():
    assert need("json", "studio").dumps([]) == "[]"


def test_a_name_that_is_no_text_is_an_unknown_name():
    with pytest.raises(ConfigError, match=r"unknown system \['bow'\]"):
        NAMES.load(["bow"])
