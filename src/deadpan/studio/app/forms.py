"""Forms of the study leader: a new study, and settings typed as the protocol declares them."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.errors import ConfigError
from deadpan.formats.study import LARGEST, LIMITS, settings_type, typed_settings
from deadpan.studio.models import StoredStudy
from deadpan.studio.people.demographics import GENDERS, QUESTIONNAIRE_FIELDS, country_choices, questionnaire_choices
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.records.steering import FIXED_SETTINGS
from deadpan.studio.records.studies import SLUG
from deadpan.validation import field_types

_SMALLEST = {"abandon_minutes": 1}
_WEB_SCHEMES = ("http://", "https://")
_LONG_TEXTS = ("consent", "instructions", "guideline", "purpose", "stored")
_CONSENT = ("controller", "purpose", "stored", "kept", "ethics", "contact")
_LANGUAGES = (("en", "English"), ("ko", "한국어"))
SETTING_LABELS = {
    "title": _("Title that people see"),
    "language": _("Language of the texts"),
    "threshold": _("Share of matches from which admission is proposed"),
    "overlap": _("Share of items that get all raters"),
    "rate": _("Pay per hour"),
    "currency": _("Currency"),
    "abandon_minutes": _("Minutes after which an unanswered item returns to the pool"),
    "attention_every": _("One attention check after this many items; 0: none"),
    "consent": _("Consent text, instead of the protocol's own"),
    "instructions": _("Text of the first page, instead of the protocol's own"),
    "guideline": _("Guideline in Markdown"),
    "controller": _("Who is responsible for the data (name and address)"),
    "purpose": _("What the answers are collected for"),
    "stored": _("What is stored about people, instead of the studio's own text"),
    "kept": _("How long it is kept"),
    "ethics": _("Number of the ethics approval"),
    "contact": _("Contact for questions (needed to open the study)"),
    "blind_adjudication": _("Hide what people answered from whoever decides a disagreement"),
    "model_answers": _("Show a model's answers to annotators"),
    "questionnaire": _("Questions about the person: age, gender, country, first_language, education, sarcasm_use"),
    "questionnaire_at": _("When these are asked"),
    "label_question": _("Question whose answer is the label of a release"),
    "sarcastic_answers": _("Its answers that mean sarcastic"),
    "raters": _("People per item"),
    "raters_per_item": _("People per item"),
    "questions": _("Questions"),
    "per_person": _("Items per person at most; 0: no limit"),
    "per_group": _("Raters per item of each group, as expert=1, crowd=2"),
    "completion_code": _("Completion code of the platform"),
    "completion_url": _("Address of the platform to return to when done"),
    "screenout_url": _("Address of the platform for people who cannot take part"),
    "context": _("Context that is shown"),
    "agreement_threshold": _("Share of right answers below which an item is listed"),
    "hours": _("A post is at least this many hours old"),
    "followers": _("An account has at most this many followers"),
    "words": _("A post has at least this many words"),
    "minutes": _("A survey takes at least this many minutes"),
    "crowd": _("Ask for the platform's id"),
    "qualification": _("Items in the qualification round"),
    "question": _("Name of the question"),
    "public_try": _("Let anybody try ten items, without an account"),
}


_LATER_FIXED = ("qualification", "overlap", "country", "gender")


class NewStudyForm(forms.Form):
    """Name and protocol of a study, and the file of its items."""

    protocol = forms.ChoiceField(label=_("Protocol"))
    name = forms.CharField(label=_("Name in the address: small letters, digits, hyphens"), max_length=59)
    title = forms.CharField(label=_("Title that people see"), max_length=200)
    language = forms.ChoiceField(label=_("Language of the texts"), choices=_LANGUAGES)
    raters = forms.IntegerField(label=_("People per item"), min_value=1, max_value=1000, initial=3)
    file = forms.FileField(
        label=_("Items: CSV, Excel, JSONL, Label Studio JSON, or a zipped study folder; a survey needs none"),
        required=False,
    )
    qualification = forms.IntegerField(
        label=_("Items in the qualification round; empty: the protocol decides, 0: none"),
        required=False,
        min_value=0,
        max_value=10_000,
    )
    overlap = forms.FloatField(
        label=_("Share of items that get all raters; empty: all of them"), required=False, min_value=0, max_value=1
    )
    country = forms.ChoiceField(
        label=_("Only people who live in this country"), required=False, choices=country_choices
    )
    gender = forms.ChoiceField(label=_("Only people of this gender"), required=False, choices=[("", ""), *GENDERS])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["country"].choices = [("", ""), *country_choices()[1:]]
        self.fields["protocol"].choices = [
            (name, f"{name}: {PROTOCOLS.load(name).summary}") for name in sorted(PROTOCOLS)
        ]

    def needed(self) -> list[Any]:
        """Return the fields that every study has."""
        return [field for field in self if field.name not in _LATER_FIXED]

    def fixed(self) -> list[Any]:
        """Return the fields that can be left empty, and that stay as they are once the study is made."""
        return [self[name] for name in _LATER_FIXED]

    def settings(self) -> dict[str, Any]:
        """Return what was chosen of these as settings."""
        cleaned = self.cleaned_data
        match = {name: cleaned[name] for name in ("country", "gender") if cleaned[name]}
        chosen = {name: cleaned[name] for name in ("qualification", "overlap") if cleaned[name] is not None}
        return {**chosen, **({"match": match} if match else {})}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not SLUG.fullmatch(name):
            raise forms.ValidationError(gettext("Use small letters, digits and hyphens."))
        if StoredStudy.objects.filter(slug=name).exists():
            raise forms.ValidationError(gettext("There is a study of this name. Choose another."))
        return name

    def clean(self) -> dict[str, Any]:
        """Require a file unless the protocol is a survey."""
        cleaned: dict[str, Any] = super().clean() or {}
        protocol = cleaned.get("protocol")
        if protocol and not PROTOCOLS.load(protocol).survey and not cleaned.get("file"):
            self.add_error("file", gettext("This protocol needs items: choose a file."))
        return cleaned


class SettingsForm(forms.Form):
    """The settings of a study, one field each, of the type the protocol declares."""

    title = forms.CharField(label=_("Title that people see"), max_length=200)
    language = forms.ChoiceField(label=_("Language of the texts"), choices=_LANGUAGES)

    def __init__(self, study: Any, data: Any = None) -> None:
        self.study = study
        kind = settings_type(study.protocol)
        hints = field_types(kind)
        names = [f.name for f in fields(kind) if f.name not in FIXED_SETTINGS]
        initial = {"title": study.title, "language": study.language, "raters": study.raters_per_item}
        for one in fields(kind):
            default = one.default if one.default_factory is not dict else {}
            initial[one.name] = _shown(study.settings.get(one.name, default))
        super().__init__(data, initial=initial)
        self.fields["raters"] = forms.IntegerField(
            label=SETTING_LABELS["raters"], min_value=study.raters_per_item, max_value=10_000, required=False
        )
        for name in names:
            self.fields[name] = _field(name, hints[name])

    def about_consent(self) -> list[Any]:
        """Return the fields of the consent page, in the order in which an ethics board asks."""
        return [self[name] for name in (*_CONSENT, "consent")]

    def others(self) -> list[Any]:
        """Return the other fields."""
        return [field for field in self if field.name not in (*_CONSENT, "consent")]

    def clean(self) -> dict[str, Any]:
        """Check each value against the protocol's type by itself, so that an error stands at its field."""
        cleaned: dict[str, Any] = super().clean() or {}
        self.settings: dict[str, Any] = {}
        for name, value in list(cleaned.items()):
            unsaid = value == "" and isinstance(self.fields[name], forms.ChoiceField)
            if name in ("title", "language", "raters") or unsaid:
                continue
            try:
                # One at a time: checked together, only the first mistake would be named.
                typed_settings(self.study.protocol, {name: value})
                self.settings[name] = value
            except ConfigError as bad:
                self.add_error(name, str(bad).removeprefix("settings: "))
        return cleaned


def _shown(value: Any) -> Any:
    """Return a setting as its field shows it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={part}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None or str(value).startswith("<dataclasses") else value


class WordList(forms.CharField):
    """Words with commas between them."""

    def clean(self, value: Any) -> list[str]:
        """Return the words."""
        return [part.strip() for part in super().clean(value).split(",") if part.strip()]


class NumberTable(forms.CharField):
    """A table of names and whole numbers, written as a=1, b=2."""

    def clean(self, value: Any) -> dict[str, int]:
        """Return the table."""
        text = super().clean(value)
        table = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, mark, number = part.partition("=")
            if not mark or not number.strip().isdecimal() or len(number.strip()) > 6:
                raise forms.ValidationError(gettext("Write it as expert=1, crowd=2."))
            table[name.strip()] = int(number)
        return table


def _field(name: str, hint: Any) -> forms.Field:
    """Return the form field of a type; one that may be empty is not required."""
    label = SETTING_LABELS.get(name, name)
    optional = get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)
    kind = next(part for part in get_args(hint) if part is not type(None)) if optional else hint
    if get_origin(kind) is Literal:
        return forms.ChoiceField(label=label, required=False, choices=[(part, _(part)) for part in get_args(kind)])
    if kind is bool:
        return forms.BooleanField(label=label, required=False)
    if kind is int:
        return forms.IntegerField(label=label, required=not optional, **_limits(name))
    if kind is float:
        return forms.FloatField(label=label, required=not optional, **_limits(name))
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        return NumberTable(label=label, required=False, max_length=500)
    if get_origin(kind) is tuple:
        return WordList(label=label, required=False, max_length=500)
    widget = forms.Textarea(attrs={"rows": 6}) if name in _LONG_TEXTS else forms.TextInput()
    limit = 20_000 if name in _LONG_TEXTS else 500
    checks = [_check_address] if name.endswith("_url") else []
    return forms.CharField(label=label, required=False, max_length=limit, widget=widget, validators=checks)


def _limits(name: str) -> dict[str, int]:
    """Return the limits of a number, so that the form says them in the reader's language."""
    return {"min_value": _SMALLEST.get(name, 0), "max_value": LIMITS.get(name, LARGEST)}


def _check_address(value: str) -> None:
    if not value.startswith(_WEB_SCHEMES):
        raise forms.ValidationError(gettext("A link begins with https://"))


class QuestionnaireForm(forms.Form):
    """Facts that people give about themselves: the chosen fields, each with a list of answers."""

    def __init__(self, names: Sequence[str], data: Any = None) -> None:
        super().__init__(data)
        for name in names:
            label, choices = QUESTIONNAIRE_FIELDS[name][0], questionnaire_choices(name)
            self.fields[name] = forms.ChoiceField(label=label, choices=choices, required=False)
