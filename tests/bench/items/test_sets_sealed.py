"""What is sealed opens with its passphrase and with nothing else."""

from __future__ import annotations

import pytest

from bench_items import small_set

pytest.importorskip("cryptography")

from deadpan.bench.items.item import items_to_bytes
from deadpan.bench.items.sets import is_sealed, open_set, seal, unseal
from deadpan.errors import ConfigError, DataError

WORDS = "correct horse battery"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    path = tmp_path_factory.mktemp("sealed") / "private.sealed"
    items = small_set(visibility="private")
    seal(path, items_to_bytes(items.items), WORDS, name="private", version="0.2.0", visibility="private", hash=items.hash)  # fmt: skip
    return path


def test_it_opens_with_its_passphrase(sealed):
    found = open_set(str(sealed), lambda: WORDS)
    assert found.items == small_set().items
    assert not found.public


def test_nothing_of_the_items_can_be_read(sealed):
    raw = sealed.read_bytes()
    assert is_sealed(sealed)
    assert b"Lovely" not in raw
    assert b"options" not in raw


def test_a_wrong_passphrase_and_a_changed_file_say_the_same(sealed, tmp_path):
    with pytest.raises(DataError, match="wrong passphrase, or the file was changed"):
        unseal(sealed, "wrong horse battery")
    raw = bytearray(sealed.read_bytes())
    for place in (-1, raw.index(b'"visibility"') + 16):
        changed = bytearray(raw)
        changed[place] ^= 1
        copy = tmp_path / "copy.sealed"
        copy.write_bytes(changed)
        with pytest.raises(DataError):
            unseal(copy, WORDS)


def test_a_crafted_header_cannot_take_all_memory(sealed, tmp_path):
    copy = tmp_path / "copy.sealed"
    copy.write_bytes(sealed.read_bytes().replace(b'"cost": 65536', b'"cost": 9999999999'))
    with pytest.raises(DataError, match="out of range"):
        unseal(copy, WORDS)


def test_short_words_and_old_files_are_refused(sealed, tmp_path):
    given = {"name": "p", "version": "0.2.0", "visibility": "private", "hash": ""}
    with pytest.raises(ConfigError, match="too short"):
        seal(tmp_path / "x.sealed", b"", "abc", **given)
    before = sealed.read_bytes()
    with pytest.raises(DataError, match="already exists"):
        seal(sealed, b"", WORDS, **given)
    assert sealed.read_bytes() == before
