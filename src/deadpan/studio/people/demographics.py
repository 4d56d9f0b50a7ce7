"""Facts people give about themselves, chosen from lists, so that answers can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

# Code, English name and Korean name of each country, one word per country: a space is written "_".
_COUNTRY_TABLE = (Path(__file__).parent / "countries.txt").read_text("utf-8")
_OTHER_COUNTRY_NAMES = {
    "uk": "GB", "britain": "GB", "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
    "northern ireland": "GB", "u.k.": "GB", "usa": "US", "u.s.a.": "US", "u.s.": "US", "america": "US",
    "united states of america": "US", "미합중국": "US", "korea": "KR", "republic of korea": "KR",
    "한국": "KR", "남한": "KR", "조선": "KP", "turkey": "TR", "터키": "TR", "czech republic": "CZ",
    "russian federation": "RU", "오스트레일리아": "AU", "타이완": "TW", "ivory coast": "CI", "burma": "MM",
    "holland": "NL", "deutschland": "DE", "españa": "ES", "일본국": "JP", "viet nam": "VN", "uae": "AE",
}  # fmt: skip


def _read_countries() -> dict[str, tuple[str, str]]:
    words = _COUNTRY_TABLE.split()
    found = {}
    for code, names in zip(words[::2], words[1::2], strict=True):
        english, korean = names.replace("_", " ").split("=")
        found[code] = (english, korean)
    return found


# Code: English and Korean name.
_COUNTRY_NAMES = _read_countries()
_COUNTRY_CODES = {name.casefold(): code for code, names in _COUNTRY_NAMES.items() for name in names}
_COUNTRY_CODES |= {code.casefold(): code for code in _COUNTRY_NAMES} | _OTHER_COUNTRY_NAMES
"""Every way people write a country: its code."""


def country_code(text: str) -> str:
    """Return the two-letter code of a country as people write it; empty if it is not one."""
    return _COUNTRY_CODES.get(" ".join(text.casefold().split()).removeprefix("the "), "")


def country_name(code: str, language: str) -> str:
    """Return the name of a country in English or Korean; a code that is unknown is returned as it is."""
    names = _COUNTRY_NAMES.get(code)
    return code if names is None else names[1 if language.startswith("ko") else 0]


GENDERS: tuple[tuple[str, Any], ...] = (("female", _("female")), ("male", _("male")), ("other", _("other")))
_GENDER_WORDS = {
    "f": "female", "woman": "female", "여성": "female", "여자": "female", "여": "female",
    "m": "male", "man": "male", "남성": "male", "남자": "male", "남": "male", "기타": "other",
}  # fmt: skip


def _countries() -> list[tuple[str, str]]:
    language = get_language() or "en"
    return sorted(((code, country_name(code, language)) for code in _COUNTRY_NAMES), key=lambda row: row[1])


COUNTRIES = lazy(_countries, list)()
"""(code, name) of every country, sorted by its name in the reader's language."""


def country_choices() -> list[tuple[str, Any]]:
    """Return the countries after an empty choice, for a form."""
    return [("", _("rather not say")), *_countries()]


def plain_fact(name: str, value: str) -> str:
    """Return a country's code or a gender's word, however it was written; other text in small letters."""
    text = " ".join(value.casefold().split())
    if "country" in name:
        return country_code(text) or text
    if name == "gender":
        return _GENDER_WORDS.get(text, text)
    return text


def same_fact(name: str, wanted: str, given: str) -> bool:
    """Return whether two ways of writing a fact mean the same: UK, United Kingdom, 영국."""
    return plain_fact(name, wanted) == plain_fact(name, given)


# ---------------------------------------------------------------- questionnaire and groups


_RATHER_NOT = ("", _("rather not say"))
QUESTIONNAIRE_FIELDS: dict[str, tuple[Any, list[tuple[str, Any]]]] = {
    "age": (_("Your age"), [(group, group) for group in ("16-24", "25-34", "35-44", "45-54", "55+")]),
    "gender": (_("Gender"), list(GENDERS)),
    "country": (_("Country you live in"), []),
    "first_language": (_("First language"), [("en", _("English")), ("ko", _("Korean")), ("other", _("another one"))]),
    "education": (_("Education"), [("school", _("school")), ("bachelor", _("bachelor's degree")),
                                   ("more", _("master's degree or more"))]),
    "sarcasm_use": (_("How often do you use sarcasm yourself?"), [
        ("never", _("never")), ("rarely", _("rarely")), ("sometimes", _("sometimes")), ("often", _("often"))]),
}  # fmt: skip
"""Name: the question, and the answers to choose from."""


def questionnaire_choices(name: str) -> list[tuple[str, Any]]:
    """Return the answers of a field of the questionnaire; the first is to give none."""
    return [_RATHER_NOT, *(_countries() if name == "country" else QUESTIONNAIRE_FIELDS[name][1])]


SMALLEST_GROUP = 5
"""A group of fewer people than this could identify somebody: its value is not released."""
Group = dict[str, str]


def safe_groups(groups: Sequence[Mapping[str, str]], k: int) -> tuple[list[Group], int]:
    """Return the groups without values that make somebody one of fewer than k, and how many were removed.

    While a combination is too rare, the fact with the most different values is taken from the people who
    have it. In the end everybody shares all their remaining facts with k - 1 others, or has none.
    """
    kept = [dict(group) for group in groups]
    before = sum(map(len, kept))
    # Taking a fact away can make another combination rare, so it is counted again.
    while rare := _rare(kept, k):
        values = Counter(name for name, _ in {pair for group in rare for pair in group.items()})
        for group in rare:
            # The fact with the most values tells most about a person.
            del group[max(group, key=lambda name: (values[name], name))]
    return kept, before - sum(map(len, kept))


def _rare(groups: Sequence[Group], k: int) -> list[Group]:
    """Return the groups whose combination of facts fewer than k people share."""
    sizes = Counter(tuple(sorted(group.items())) for group in groups)
    return [group for group in groups if group and sizes[tuple(sorted(group.items()))] < k]
