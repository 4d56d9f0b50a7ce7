"""A hidden set is retired to the public with a version, and a reserve takes its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import small_set

pytest.importorskip("cryptography")

from deadpan.bench.items.sets import make_set, open_set, retire_set, seal_set
from deadpan.errors import ConfigError, DataError

WORDS = "correct horse battery"


def ask() -> str:
    return WORDS


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """A private set and a reserve with other items, both sealed."""
    folder = tmp_path_factory.mktemp("hidden")
    items = small_set(6).items
    changed = lambda item: replace(item, id=f"r-{item.id}", pair_id=item.pair_id and f"r-{item.pair_id}")  # noqa: E731
    seal_set(make_set("private", "private", items), folder / "private.sealed", ask_new=ask)
    reserve = make_set("reserve", "reserve", [changed(item) for item in items])
    seal_set(reserve, folder / "reserve.sealed", visibility="reserve", ask_new=ask)
    return folder


def test_the_retired_set_is_public_and_the_reserve_is_private(hidden, tmp_path):
    out, private = tmp_path / "public-0.4.0.jsonl", tmp_path / "private-2.sealed"
    found = retire_set(
        hidden / "private.sealed", out, version="0.4.0", following=(hidden / "reserve.sealed", private), ask=ask
    )
    public, following = open_set(out), open_set(private, ask)
    assert public.public and public.label == "public@0.4.0" and public.hash == found.set.hash
    assert [item.id for item in public.items] == [item.id for item in small_set(6).items]
    assert [item.options for item in public.items] == [item.options for item in small_set(6).items]
    assert following.visibility == "private"
    assert not {item.id for item in following.items} & {item.id for item in public.items}
    assert found.as_dict()["hidden_hash"] == open_set(hidden / "private.sealed", ask).hash


def test_nothing_is_written_unless_everything_can_be(hidden, tmp_path):
    out, sealed = tmp_path / "public-0.4.0.jsonl", hidden / "private.sealed"
    with pytest.raises(ConfigError, match="three numbers"):
        retire_set(sealed, out, version="4", ask=ask)
    for name in ("retired", "retired.jsonl", "public-0.4.0"):  # would be no set, or a private one
        with pytest.raises(ConfigError, match=r"name it public-0\.4\.0\.jsonl"):
            retire_set(sealed, tmp_path / name, version="0.4.0", ask=ask)
    with pytest.raises(DataError, match="is in both sets"):
        retire_set(sealed, out, version="0.4.0", following=(sealed, tmp_path / "next.sealed"), ask=ask)
    with pytest.raises(DataError, match="already exists"):
        retire_set(sealed, out, version="0.4.0", following=(hidden / "reserve.sealed", sealed), ask=ask)
    with pytest.raises(DataError, match="wrong passphrase"):
        retire_set(sealed, out, version="0.4.0", ask=lambda: "wrong horse battery")
    assert not list(tmp_path.iterdir())


def test_an_open_set_cannot_be_retired(tmp_path):
    (tmp_path / "mine.jsonl").write_text("{}")
    with pytest.raises(DataError, match="not a sealed set"):
        retire_set(tmp_path / "mine.jsonl", tmp_path / "public.jsonl", version="0.4.0", ask=ask)
