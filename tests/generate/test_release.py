"""Speakers swapped in the dialogues of a release."""

from __future__ import annotations

from deadpan.generate.release import swap_speakers
from deadpan.records import Example, Turn


def test_swapping_speakers_spares_the_article(english, korean):
    example = Example(
        "x", Turn("A", "B flat, please."), (Turn("B", "hi"),), explanation="A joke: Speaker A mocks Speaker B's tune."
    )
    swapped = swap_speakers(example, english.facts.mention)
    assert swapped.explanation == "A joke: Speaker B mocks Speaker A's tune."
    assert (swapped.response, swapped.context[0].speaker) == (Turn("B", "B flat, please."), "A")
    unsure = Example("x", Turn("A", "t"), explanation="A mocks B.")
    assert swap_speakers(unsure, english.facts.mention) is None
    ko = Example("x", Turn("A", "t"), explanation="A형인 B의 말을 A가 비꼰다. 'A'는")
    assert swap_speakers(ko, korean.facts.mention).explanation == "A형인 A의 말을 B가 비꼰다. 'B'는"
