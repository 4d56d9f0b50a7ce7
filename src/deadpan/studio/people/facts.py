"""Facts people give about themselves, chosen from lists, so that answers can be compared."""

from __future__ import annotations

from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from deadpan.studio.people.countries import NAMES, country_code, country_name

GENDERS: tuple[tuple[str, Any], ...] = (
    ("female", _("female")),
    ("male", _("male")),
    ("other", _("other")),
)
_GENDER_WORDS = {
    "f": "female", "woman": "female", "여성": "female", "여자": "female", "여": "female",
    "m": "male", "man": "male", "남성": "male", "남자": "male", "남": "male", "기타": "other",
}  # fmt: skip


def _countries() -> list[tuple[str, str]]:
    language = get_language() or "en"
    return sorted(((code, country_name(code, language)) for code in NAMES), key=lambda row: row[1])


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
