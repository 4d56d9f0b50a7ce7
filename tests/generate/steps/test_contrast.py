"""Sincere responses must share words with the sarcastic one, and differ from it."""

from __future__ import annotations

import pytest

from deadpan.generate.draft import Draft
from deadpan.generate.steps.contrast import read_sincere, shared_words
from deadpan.llm import Unreadable
from deadpan.records import Turn


def kind_of(read, *args):
    with pytest.raises(Unreadable) as bad:
        read(*args)
    return bad.value.kind


def test_a_sincere_response_must_share_words_and_differ(english):
    draft = Draft("x", (), response=Turn("A", "How lovely, nine days without any heating at all."))
    good = "Sincere response: Nine days without any heating, come and stay with us."
    assert read_sincere(english, draft, good) == "Nine days without any heating, come and stay with us."
    for text, kind in [
        ("Sincere response: How lovely, nine days without any heating at all!", "same_as_sarcastic"),
        ("Sincere response: Please come over and stay with us.", "shares_too_little"),
        ("Please come over", "no_sincere_response"),
        ("Sincere response:", "empty_answer"),
    ]:
        assert kind_of(read_sincere, english, draft, text) == kind


def test_korean_words_share_their_stem():
    assert shared_words("비밀은 너한테", "비밀이라고 너한테만") == 1.0
    assert shared_words("cat", "catalogue") == 0.0
