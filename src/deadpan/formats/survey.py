"""Contributors of a survey of authors, and their posts: iSarcasm's section 5.1 and Figure 2."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AGES = (("<25", 0, 24), ("25-34", 25, 34), ("35-44", 35, 44), ("45-54", 45, 54), ("55-64", 55, 64), (">65", 65, 200))
"""The bins of the paper's Figure 2; its last one holds everybody from 65 on."""
_GENDERS = ("female", "male", "other", "not provided")
_TAGS = re.compile(r"#(?:sarcasm|sarcastic|sarcastictweet|irony|not)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SurveyFacts:
    """Counts of people and posts; people who did not say something are not counted there, except as a gender."""

    people: int
    ages: Mapping[tuple[str, str], int]
    """People by age group and gender."""
    countries: Mapping[str, int]
    years: Mapping[int, int]
    """Posts by the year they were written in."""
    explanations: tuple[int, ...]
    """Words of each explanation."""
    rephrases: tuple[int, ...]
    tagged: int
    """Posts with a hashtag that marks sarcasm."""

    def table(self) -> list[tuple[str, ...]]:
        """Return the share of people by age group and gender, in per cent, a row per age group."""
        whole = max(sum(self.ages.values()), 1)
        return [
            (age, *(f"{100 * self.ages.get((age, gender), 0) / whole:.0f} %" for gender in _GENDERS))
            for age, *_ in AGES
        ]


def describe_survey(submissions: Sequence[Mapping[str, Any]]) -> SurveyFacts:
    """Return the facts of some submissions' answers."""
    ages: Counter[tuple[str, str]] = Counter()
    for answers in submissions:
        if answers.get("age"):
            group = next(name for name, low, high in AGES if low <= int(answers["age"]) <= high)
            gender = str(answers.get("gender") or _GENDERS[-1])
            ages[group, gender if gender in _GENDERS else "other"] += 1
    posts = [post for answers in submissions for post in answers.get("posts", ())]
    return SurveyFacts(
        len(submissions),
        ages,
        Counter(str(answers["country"]) for answers in submissions if answers.get("country")),
        Counter(int(str(post["date"])[:4]) for post in posts if str(post.get("date", ""))[:4].isdigit()),
        tuple(len(str(answers["explanation"]).split()) for answers in submissions if answers.get("explanation")),
        tuple(len(str(answers["rephrase"]).split()) for answers in submissions if answers.get("rephrase")),
        sum(bool(_TAGS.search(str(post.get("text", "")))) for post in posts),
    )
