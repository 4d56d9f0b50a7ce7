"""The header of a GGUF file, read without its weights; anything else is one line."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ModelError
from deadpan.models.gguf import check_gguf, read_gguf


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def header(**values: str | int | list[str]) -> bytes:
    """Return the header of a file with these values; `__` stands for a dot."""
    body = b""
    for name, value in values.items():
        body += text(name.replace("__", "."))
        if isinstance(value, str):
            body += struct.pack("<I", 8) + text(value)
        elif isinstance(value, int):
            body += struct.pack("<II", 4, value)
        else:
            body += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + body


WHOLE = {
    "general__architecture": "llama",
    "general__name": "Tiny",
    "general__license": "apache-2.0",
    "tokenizer__tokens": ["a", "네"],
    "llama__context_length": 128,
    "tokenizer__chat_template": "{{ messages }}",
}


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(header(**WHOLE))  # type: ignore[arg-type]
    found = read_gguf(path)
    assert (found.architecture, found.name, found.licence) == ("llama", "Tiny", "apache-2.0")
    assert (found.has_chat_template, found.context_length) == (True, 128)
    check_gguf(path, "llama", "Apache-2.0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"general__architecture": "bert"}, "its architecture is 'bert', not 'llama'"),
        ({"general__license": "gemma"}, "its licence is 'gemma', not 'Apache-2.0'"),
        ({"tokenizer__chat_template": ""}, "no chat template"),
    ],
)
def test_another_model_than_expected_is_refused(tmp_path: Path, change: dict[str, str], words: str) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(header(**{**WHOLE, **change}))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=words):
        check_gguf(path, "llama", "Apache-2.0")


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=80), st.integers(0, 200))
def test_damage_is_one_line(tmp_path_factory: pytest.TempPathFactory, junk: bytes, cut: int) -> None:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    path.write_bytes(header(**WHOLE)[:cut] + junk)  # type: ignore[arg-type]
    try:
        read_gguf(path)
    except ModelError as bad:
        assert "not a GGUF file" in str(bad)
        assert "\n" not in str(bad)


def test_a_model_whose_hidden_states_are_used_needs_no_chat_template(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(header(**{**WHOLE, "tokenizer__chat_template": ""}))  # type: ignore[arg-type]
    check_gguf(path, "llama", "Apache-2.0", chat=False)
    with pytest.raises(ModelError, match="its architecture"):  # the rest is still checked
        check_gguf(path, "bert", "Apache-2.0", chat=False)
