"""A TOML file becomes a dataclass, or an error that names the key."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError
from deadpan.storage import to_toml, write_config
from deadpan.validation import config_from, read_config


@dataclass(frozen=True)
class Model:
    name: str
    depth: int = 2


@dataclass(frozen=True)
class Settings:
    title: str
    rate: float = 0.1
    epochs: int = 3
    shuffle: bool = True
    form: Literal["csv", "json"] = "csv"
    folder: Path = Path("out")
    tags: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | str = 0
    model: Model = field(default_factory=lambda: Model("linear"))
    models: tuple[Model, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ValueError(f"epochs needs 1 or more, got {self.epochs}")


def settings_of(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    return read_config(tmp_path / "s.toml", Settings)


def test_every_kind_of_value_is_read(tmp_path):
    read = settings_of(
        tmp_path,
        """
        title = "한국어"
        rate = 1
        shuffle = false
        form = "json"
        folder = "a/b"
        tags = ["x", "y"]
        limit = 5
        seed = "today"
        models = [{name = "a"}, {name = "b", depth = 9}]
        [model]
        name = "neural"
        [extra]
        anything = [1, "two", {three = 3.0}]
        """,
    )
    assert read == Settings(
        title="한국어",
        rate=1.0,
        shuffle=False,
        form="json",
        folder=Path("a/b"),
        tags=("x", "y"),
        limit=5,
        seed="today",
        model=Model("neural"),
        models=(Model("a"), Model("b", 9)),
        extra={"anything": [1, "two", {"three": 3.0}]},
    )
    assert isinstance(read.rate, float)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 'x'\nepoch = 3", "unknown key 'epoch': did you mean 'epochs'?"),
        ("title = 'x'\n[model]\nname = 'm'\ndept = 3", "unknown key 'model.dept': did you mean 'model.depth'?"),
        ("rate = 0.5", "no key 'title': it needs text in quotes"),
        ("title = 'x'\n[model]\ndepth = 3", "no key 'model.name'"),
        ("title = 3", "title needs text in quotes, got 3"),
        ("title = 'x'\nepochs = 2.5", "epochs needs a whole number, got 2.5"),
        ("title = 'x'\nepochs = true", "epochs needs a whole number, got True"),
        ("title = 'x'\nrate = '0.5'", "rate needs a number, got '0.5'"),
        ("title = 'x'\nshuffle = 1", "shuffle needs true or false, got 1"),
        ("title = 'x'\nform = 'xml'", 'form needs one of "csv", "json", got \'xml\''),
        ("title = 'x'\ntags = 'y'", "tags needs a list, each text in quotes, got 'y'"),
        ("title = 'x'\ntags = ['y', 2]", "tags.1 needs text in quotes, got 2"),
        ("title = 'x'\nlimit = 'all'", "limit needs a whole number, got 'all'"),
        ("title = 'x'\nseed = 0.5", "seed needs a whole number or text in quotes, got 0.5"),
        ("title = 'x'\nmodel = 'linear'", "model needs a table with name, depth, got 'linear'"),
        ("title = 'x'\nmodels = [{name = 'a', depth = 'b'}]", "models.0.depth needs a whole number"),
        ("title = 'x'\nextra = 3", "extra needs a table, got 3"),
        ("title = 'x'\nepochs = 0", "epochs needs 1 or more, got 0"),
        ("title = ", "not TOML"),
    ],
)
def test_a_mistake_names_the_file_the_key_and_what_was_expected(tmp_path, text, said):
    with pytest.raises(ConfigError) as caught:
        settings_of(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "s.toml"))
    assert said in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        read_config(tmp_path / "absent.toml", Settings)
    (tmp_path / "s.toml").write_bytes("title = '한'".encode("euc-kr"))
    with pytest.raises(ConfigError, match="UTF-8"):
        read_config(tmp_path / "s.toml", Settings)


def test_a_byte_order_mark_from_windows_is_no_mistake(tmp_path):
    assert settings_of(tmp_path, "\ufefftitle = 'x'").title == "x"


def test_plain_values_work_without_a_file():
    assert config_from({"title": "x"}, Settings) == Settings("x")
    with pytest.raises(ConfigError, match=r"^unknown key 'titel'"):
        config_from({"titel": "x"}, Settings)


def test_what_is_written_is_read_back(tmp_path):
    config = Settings('a "b" \\ \n 한', tags=("x", ""), extra={"deep": {"er": [1.5, {"k": True}]}, "a b": "c"})
    write_config(tmp_path / "out.toml", config)
    assert read_config(tmp_path / "out.toml", Settings) == config


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    texts | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(texts, values, max_size=6))
def test_tomllib_reads_back_exactly_what_was_written(table):
    read = tomllib.loads(to_toml(table))
    assert json.dumps(read, sort_keys=True) == json.dumps(table, sort_keys=True)  # where 1 is not 1.0


def test_not_a_number_is_a_number_to_toml():
    assert math.isnan(tomllib.loads(to_toml({"x": math.nan}))["x"])


@pytest.mark.parametrize("value", [2**63, {1: 2}, "\ud800", object(), [None]])
def test_what_toml_cannot_hold_is_said(value):
    with pytest.raises(ConfigError):
        to_toml({"key": value})


def test_none_is_left_out():
    assert to_toml({"a": None, "b": 1}) == "b = 1\n"
