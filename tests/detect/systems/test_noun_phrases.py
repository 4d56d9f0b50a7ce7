"""[noun-phrases]: phrases, and their interactions with the author and the subreddit."""

from __future__ import annotations

from deadpan.detect.systems.noun_phrases import NounPhrases, noun_phrases
from deadpan.records import Example, Turn


def test_phrases_stand_after_determiners_and_names_are_phrases():
    found = list(noun_phrases("it was a great idea of George Bush, like the Iraq war"))
    assert {"great idea", "george bush", "iraq war"} <= set(found)
    assert "was" not in found


def test_who_says_a_phrase_where_decides():
    """The same words mean one thing in one subreddit and another elsewhere: words alone cannot tell."""
    rows = [
        Example(f"{place}{n}", Turn("", f"i trust the great plan number {n % 3}"), label=place == "left",
                meta={"subreddit": place})
        for n in range(20) for place in ("left", "right")
    ]  # fmt: skip
    known = NounPhrases().fit(rows)
    assert [p.label for p in known.predict(rows[:6])] == [row.label for row in rows[:6]]
    without = NounPhrases(interactions=False).fit(rows)
    assert len({p.score for p in without.predict(rows[:2])}) == 1
