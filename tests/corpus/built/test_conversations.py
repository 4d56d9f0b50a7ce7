"""Conversations drawn from a corpus."""

from __future__ import annotations

from pathlib import Path

from deadpan.corpus.built.conversations import read_conversations


def test_random_conversations_have_their_context(built: Path) -> None:
    examples = read_conversations(built, count=3)
    assert len({example.sequence for example in examples}) == 3
    assert any(example.label for example in examples)
