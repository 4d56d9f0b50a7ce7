"""Dialogues of two people, consecutive lines joined, cut to a window of a few turns."""

from __future__ import annotations

from deadpan.draws import draw
from deadpan.generate.draft import SPEAKERS
from deadpan.records import Turn

TURN_CHARACTERS = 600
"""A longer turn is a pasted article rather than talk."""


def two_people(turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], str]:
    """Return the dialogue as turns of A and B, consecutive lines joined, or the reason it cannot be used."""
    spoken = [Turn(turn.speaker.strip(), " ".join(turn.text.split())) for turn in turns]
    spoken = [turn for turn in spoken if turn.text]
    people = list(dict.fromkeys(turn.speaker for turn in spoken))
    if len(people) > 2:
        return (), "three_or_more_speakers"
    if len(people) < 2:
        return (), "one_speaker" if people else "no_words"
    names = dict(zip(people, SPEAKERS, strict=True))
    joined: list[Turn] = []
    for turn in spoken:
        if joined and joined[-1].speaker == names[turn.speaker]:
            joined[-1] = Turn(joined[-1].speaker, f"{joined[-1].text} {turn.text}")
        else:
            joined.append(Turn(names[turn.speaker], turn.text))
    if any(len(turn.text) > TURN_CHARACTERS for turn in joined):
        return (), "very_long_turn"
    return tuple(joined), ""


def window(turns: tuple[Turn, ...], most: int, *, seed: int, id: str) -> tuple[Turn, ...]:
    """Return `most` consecutive turns from a start drawn by (seed, id); the first speaker is A."""
    if len(turns) <= most:
        return turns
    start = int.from_bytes(draw(seed, f"window {id}")[:8], "big") % (len(turns) - most + 1)
    cut = turns[start : start + most]
    if cut[0].speaker == SPEAKERS[0]:
        return cut
    swap = dict(zip(SPEAKERS, reversed(SPEAKERS), strict=True))
    return tuple(Turn(swap[turn.speaker], turn.text) for turn in cut)
