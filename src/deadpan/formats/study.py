"""The study folder: study.toml, items.jsonl (typed by protocol) and manifest.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.records import Turn
from deadpan.registry import Registry, unknown
from deadpan.storage import begin_folder, check_complete, read_records, write_config, write_manifest, write_records
from deadpan.validation import config_from, decode, encode, read_config

LIMITS = {
    "threshold": 1, "overlap": 1, "agreement_threshold": 1,
    "abandon_minutes": 525_600, "hours": 87_600, "minutes": 1_440,
}  # fmt: skip
"""The largest values: shares, and times that dates can be reckoned with. Settings are never negative."""
LARGEST = 10**9
QUESTIONNAIRE = ("age", "gender", "country", "first_language", "education", "sarcasm_use")
"""Questions that a study may ask people about themselves, each with a list of answers to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """Settings of every protocol. `qualification` None: the protocol decides by the number of items."""

    qualification: int | None = None
    """Items in the qualification round."""
    threshold: float = 0.65
    """Share of matches with the majority that is proposed for admission."""
    overlap: float = 1.0
    """Share of items that get all raters; the others get one."""
    rate: float | None = None
    """Pay per hour."""
    currency: str = ""
    abandon_minutes: float = 60
    """An open item that nobody touched for this long returns to the pool."""
    attention_every: int = 20
    """One attention check after this many items; 0: none."""
    consent: str = ""
    """Consent text, instead of the protocol's own."""
    instructions: str = ""
    """Text of the first page, instead of the protocol's own."""
    guideline: str = ""
    """Guideline in Markdown, shown before the protocol's own examples."""
    controller: str = ""
    """The controller of the data: a person or an institution, with an address."""
    purpose: str = ""
    """The purpose of the answers."""
    stored: str = ""
    """Data stored about people, instead of the studio's own words."""
    kept: str = ""
    """The time for which it is kept."""
    ethics: str = ""
    """Number of the ethics approval."""
    contact: str = ""
    """Whom to ask. A study cannot be opened without one."""
    blind_adjudication: bool = False
    """Hide what people answered from whoever decides a disagreement."""
    model_answers: Literal["hidden", "after", "before"] = "hidden"
    """The moment at which annotators see a model's answers: never, after their own, or before (as suggestions)."""
    questionnaire: tuple[str, ...] = ()
    """Questions about people themselves; released in groups of five or more."""
    questionnaire_at: Literal["before", "after"] = "before"
    per_person: int = 0
    """Items one person gets at most; 0: as many as there are."""
    per_group: Mapping[str, int] = field(default_factory=dict)
    """People of each group of invitations that judge one item, at most."""
    completion_code: str = ""
    """Code people enter at their platform when they are done."""
    completion_url: str = ""
    """Address of the platform to return to when done."""
    screenout_url: str = ""
    """Address of the platform to return to for people who cannot take part."""
    match: Mapping[str, str] = field(default_factory=dict)
    """Country and gender that raters must share."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, int | float) and not 0 <= value <= LIMITS.get(name, LARGEST):
                raise ValueError(f"{name} needs 0 to {LIMITS.get(name, LARGEST):,}, got {value}")
        if strange := [name for name in self.questionnaire if name not in QUESTIONNAIRE]:
            raise ValueError(f"questionnaire: {strange[0]!r} is not asked: choose from {', '.join(QUESTIONNAIRE)}")
        for name in ("completion_url", "screenout_url"):
            if not _is_address(getattr(self, name)):
                raise ValueError(f"{name} needs an address that begins with https://")


def _is_address(url: str) -> bool:
    """Return whether a link is empty or leads somewhere."""
    try:
        parts = urlsplit(url)
        return not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateSettings(StudySettings):
    """`questions` is what `generate people` wrote down; the protocol's own questions are asked.

    `wording` "kocosa" asks its three questions in the words of the paper, and no other.
    """

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wording: Literal["deadpan", "kocosa"] = "deadpan"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudgmentSettings(StudySettings):
    """`context` "none" shows the response only."""

    context: Literal["full", "none"] = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings(StudySettings):
    """The draw of `corpus study noise`: `count` comments per label, `sarcastic` items are labelled so."""

    sarcastic: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizSettings(StudySettings):
    """The item set that is asked, so that its answers are scored against the same set."""

    set: str = ""
    set_hash: str = ""
    question: str = "answer"
    agreement_threshold: float = 0.7
    """Items on which a smaller share of people chose the keyed answer are reported."""
    public_try: bool = False
    """Let anybody try ten items at /try/NAME, without an account; nothing is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorSurveySettings(StudySettings):
    """Rules of the survey (iSarcasm's), and what a crowdsourcing platform needs."""

    hours: float = 48
    """A post must be at least this old."""
    followers: int = 30_000
    """More followers than this: the account is not used."""
    words: int = 5
    """Fewer words than this: the post is not used."""
    minutes: float = 3.0
    """Faster submissions are not used."""
    crowd: bool = False
    """Ask for the platform's id."""
    links: bool = False
    """Every post needs a link that names its account; without one the rule of one account checks nothing."""


QuestionKind = Literal["choice", "many", "scale", "slider", "ranking", "text", "spans"]
OTHERS = ".others"
"""End of the name of the second question: how many others will give the same answer."""
_QUESTION_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_LONGEST_SCALE = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomQuestion:
    """A question of a custom study. `options` are the answers, or the labels of spans.

    A scale has the steps `low` to `high`, a slider the numbers between; `ends` says what they mean. With
    `after` and `when` it is asked only if that earlier question got one of these answers. `predict` asks how
    many others will give the same answer.
    """

    name: str
    text: str
    kind: QuestionKind = "choice"
    options: tuple[str, ...] = ()
    low: int = 1
    high: int = 5
    ends: tuple[str, ...] = ()
    required: bool = True
    after: str = ""
    when: tuple[str, ...] = ()
    predict: bool = False

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers a condition can name."""
        if self.kind == "scale":
            return tuple(str(step) for step in range(self.low, self.high + 1))
        return self.options if self.kind in ("choice", "many") else ()


def question_problems(questions: Sequence[CustomQuestion]) -> list[tuple[int, str, str]]:
    """Return what is wrong with the questions: the place of each, the field, and the mistake."""
    found: list[tuple[int, str, str]] = [] if questions else [(0, "name", "a study needs a question")]
    earlier: dict[str, CustomQuestion] = {}
    for at, q in enumerate(questions):
        if not _QUESTION_NAME.fullmatch(q.name):
            found.append((at, "name", "a name has small letters, digits and hyphens, and begins with a letter"))
        elif q.name in earlier:
            found.append((at, "name", "two questions have this name"))
        if not q.text.strip():
            found.append((at, "text", "a question needs words"))
        least = {"choice": 2, "many": 1, "ranking": 2, "spans": 1}.get(q.kind, 0)
        if len(q.options) < least or not all(option.strip() for option in q.options):
            found.append((at, "options", "give the answers to choose from, one per line"))
        elif len(set(q.options)) < len(q.options):
            found.append((at, "options", "two answers are the same"))
        if q.kind in ("scale", "slider") and not 0 < q.high - q.low < (_LONGEST_SCALE if q.kind == "scale" else 10**6):
            found.append((at, "high", "the highest value is above the lowest, and a scale has 2 to 11 steps"))
        if len(q.ends) not in (0, 2):
            found.append((at, "ends", "label both ends, or none"))
        if q.predict and q.kind != "choice":
            found.append((at, "predict", "only of a question with one answer can others' answers be predicted"))
        if q.after and q.after not in earlier:
            found.append((at, "after", "there is no earlier question of this name"))
        elif q.after and (not q.when or not set(q.when) <= set(earlier[q.after].answers)):
            found.append((at, "when", "name answers of the earlier question"))
        earlier[q.name] = q
    return found


def _sarcastic_or_not() -> tuple[CustomQuestion, ...]:
    answers = ("sarcastic", "not sarcastic")
    return (CustomQuestion(name="sarcastic", text="Is this sarcastic?", options=answers),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSettings(StudySettings):
    """Questions of one's own. The majority's answer to `label_question` is the label of a release."""

    questions: tuple[CustomQuestion, ...] = field(default_factory=_sarcastic_or_not)
    label_question: str = "sarcastic"
    sarcastic_answers: tuple[str, ...] = ("sarcastic",)

    def __post_init__(self) -> None:
        StudySettings.__post_init__(self)
        for at, name, wrong in question_problems(self.questions):
            shown = self.questions[at].name if self.questions else ""
            raise ValueError(f"question {at + 1} ({shown}), {name}: {wrong}")


HIDDEN = "hidden"
OPTIONS_OF_A_QUIZ = 6

SARCASM, NOT_SARCASM, NORMAL, ABNORMAL = "sarcasm", "non-sarcasm", "normal", "abnormal"
CASUAL, CRITICISM = "casual dialogue", "direct criticism"
AWKWARD, MISFORMATTED = "contextual awkwardness", "format misalignment"
ANNOTATE_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "response": (SARCASM, NOT_SARCASM, ABNORMAL),
    "context": (NORMAL, ABNORMAL),
    "explanation": (NORMAL, ABNORMAL),
    "kind": (CASUAL, CRITICISM, AWKWARD, MISFORMATTED),
}
"""The answers of the annotate protocol, in KoCoSa's words. `kind` is asked only of responses that are not
sarcastic (its first two answers) or abnormal (its last two)."""


def hidden(default: Any = MISSING, default_factory: Callable[[], Any] | None = None) -> Any:
    """Declare a field that stays on the server."""
    metadata = {HIDDEN: True}
    if default_factory is not None:
        return field(default_factory=default_factory, metadata=metadata, kw_only=True)
    return field(default=default, metadata=metadata, kw_only=True)


@dataclass(frozen=True, slots=True)
class StudyItem:
    """Fields of every protocol's item. `check`: the expected answer per question of an attention check."""

    id: str
    response: Turn
    context: tuple[Turn, ...] = ()
    check: Mapping[str, str] = hidden(default_factory=dict)
    columns: Mapping[str, str] = hidden(default_factory=dict)
    """Columns of the source that nothing else holds: they are exported, and released if chosen."""

    def problem(self) -> str:
        """Return why nobody can be asked about this item; empty if they can."""
        return "" if self.response.text.strip() else "has no text to ask about: leave it out"

    def shown_fields(self) -> dict[str, Any]:
        """Return the protocol's own fields that a browser may get, as JSON values."""
        return self._fields(is_hidden=False)

    def hidden_fields(self) -> dict[str, Any]:
        """Return the fields that stay on the server, as JSON values."""
        return self._fields(is_hidden=True)

    def _fields(self, is_hidden: bool) -> dict[str, Any]:
        """Return the fields that are filled in, apart from those every item shows."""
        common = ("id", "response", "context")
        named = [f for f in fields(self) if f.name not in common and (HIDDEN in f.metadata) is is_hidden]
        values = {f.name: encode(getattr(self, f.name)) for f in named}
        return {name: value for name, value in values.items() if value not in (None, "", [], {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateItem(StudyItem):
    """A dialogue and, where there is one, the explanation of its sarcasm."""

    explanation: str = ""
    situation: str = ""
    topic: str = hidden("")
    intended: str = hidden("")
    suspect: str = hidden("")
    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoriseItem(StudyItem):
    """A post its author called sarcastic, with the author's explanation and rephrase."""

    explanation: str = ""
    rephrase: str = ""
    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudgmentItem(StudyItem):
    """A text, with the label its author gave it."""

    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem(StudyItem):
    """A comment with its original words. `text` is the comment as the corpus has it, without the marker."""

    original: str = ""
    subreddit: str = ""
    date: str = ""
    label: bool | None = hidden(None)
    text: str = hidden("")
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())

    def problem(self) -> str:
        """Return why the item cannot be used; an audit needs the label it checks."""
        # Zero-argument super() does not work in a dataclass with slots.
        if problem := StudyItem.problem(self):
            return problem
        if self.label is None and not self.check:
            return "has no hidden label: an audit checks labels, give them"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseItem(StudyItem):
    """Two responses to one context: `answer` is the place of the sarcastic one, 0 or 1."""

    options: tuple[str, ...]
    answer: int | None = hidden(None)
    ids: tuple[str, ...] = hidden(())

    def problem(self) -> str:
        """Return why the item cannot be used."""
        if problem := StudyItem.problem(self):
            return problem
        if len(self.options) != 2 or not all(option.strip() for option in self.options):
            return "needs exactly two options that are not empty"
        if self.answer not in (0, 1) and not self.check:
            return "needs answer, 0 or 1: the place of the sarcastic option"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizItem(StudyItem):
    """A SarcBench question with two to six options: `answer` is the place of the best one, from 0."""

    options: tuple[str, ...]
    question: str = ""
    language: str = ""
    after: tuple[Turn, ...] = ()
    """The words or acts that followed the response."""
    answer: int | None = hidden(None)
    category: str = hidden("")
    pair: str = hidden("")
    version: str = hidden("")

    def problem(self) -> str:
        """Return why the item cannot be used."""
        if problem := StudyItem.problem(self):
            return problem
        if not 2 <= len(self.options) <= OPTIONS_OF_A_QUIZ or not all(option.strip() for option in self.options):
            return "needs two to six options that are not empty"
        if self.answer not in range(len(self.options)) and not self.check:
            return "needs answer, the place of the best option"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomItem(StudyItem):
    """A text to ask one's own questions about, with the label its author gave it where it has one."""

    label: bool | None = hidden(None)
    source: str = hidden("")
    categories: tuple[str, ...] = hidden(())


STUDY, ITEMS = "study.toml", "items.jsonl"
_EXAMPLE_ONLY = ("label_kind", "group", "sequence", "split", "meta")
PROTOCOL_PLUGINS = "deadpan.protocols"
"""Entry points of other packages: each names a protocol class with `item_type` and `settings_type`."""

_TYPES: dict[str, tuple[type[StudyItem], type[StudySettings]]] = {
    "annotate": (AnnotateItem, AnnotateSettings),
    "author-survey": (StudyItem, AuthorSurveySettings),
    "categorise": (CategoriseItem, StudySettings),
    "reader-judgment": (ReaderJudgmentItem, ReaderJudgmentSettings),
    "audit": (AuditItem, AuditSettings),
    "pairwise": (PairwiseItem, StudySettings),
    "quiz": (QuizItem, QuizSettings),
    "custom": (CustomItem, CustomSettings),
}


def item_type(protocol: str) -> type[StudyItem]:
    """Return the item class of a protocol."""
    return _types(protocol)[0]


def settings_type(protocol: str) -> type[StudySettings]:
    """Return the settings class of a protocol."""
    return _types(protocol)[1]


def _types(protocol: str) -> tuple[type[StudyItem], type[StudySettings]]:
    if protocol in _TYPES:
        return _TYPES[protocol]
    kind = Registry("protocol", dict.fromkeys(_TYPES, ""), group=PROTOCOL_PLUGINS).load(protocol)
    return kind.item_type, kind.settings_type


@dataclass(frozen=True, slots=True)
class Study:
    """A study's protocol, language and number of raters. `settings` are checked against the protocol's."""

    protocol: str
    title: str
    version: str = "1"
    language: str = "en"
    seed: int = 0
    raters_per_item: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("protocol", "title", "version", "language"):
            if not getattr(self, name).strip():
                raise ConfigError(f"{name} is empty: a study needs one")
        if not 1 <= self.raters_per_item <= 10_000:
            raise ConfigError(f"raters_per_item needs 1 to 10,000, got {self.raters_per_item}")

    def typed_settings(self) -> StudySettings:
        """Return the settings as the protocol's type; an unknown one is an error that names the nearest."""
        return typed_settings(self.protocol, self.settings)


def typed_settings(protocol: str, settings: Mapping[str, Any]) -> StudySettings:
    """Return a table of settings as the protocol's type."""
    kind = settings_type(protocol)
    for name in settings:
        if name not in kind.__dataclass_fields__:
            raise ConfigError(unknown("setting", name, list(kind.__dataclass_fields__)))
    return config_from(settings, kind, source="settings")


def write_study(
    folder: Path,
    study: Study,
    items: Iterable[StudyItem],
    *,
    command: str = "study",
    inputs: Iterable[Path] = (),
    tally: Tally | None = None,
) -> int:
    """Write a study folder, its manifest last, and return the number of items. A survey may have none."""
    study.typed_settings()
    kind = item_type(study.protocol)
    checked = checked_items(items, study.protocol)
    folder = Path(folder)
    before = begin_folder(folder)
    write_config(folder / STUDY, study)
    write_records(folder / ITEMS, checked, kind)
    write_manifest(
        folder,
        command=command,
        config=encode(study),
        seed=study.seed,
        inputs=inputs,
        counts={"items": len(checked)},
        tally=tally,
        before=before,
    )
    return len(checked)


def read_study(folder: Path) -> tuple[Study, list[StudyItem]]:
    """Read a study and its items. study.toml may be edited by hand; items.jsonl must be as it was written."""
    folder = Path(folder)
    check_complete(folder, "study", (ITEMS,))
    study = read_config(folder / STUDY, Study)
    try:
        study.typed_settings()
    except ConfigError as bad:
        raise ConfigError(f"{folder / STUDY}: {bad}") from None
    return study, read_items(folder / ITEMS, study.protocol)


def read_items(path: Path, protocol: str) -> list[StudyItem]:
    """Read the items of one protocol from a .jsonl file; an error names the item and the field."""
    kind = item_type(protocol)
    items = []
    for number, row in enumerate(read_records(path, dict), 1):
        try:
            items.append(decode(row, kind))
        except ValueError as bad:
            raise DataError(f"{path}: item {row.get('id', number)!r}: {bad}") from None
    try:
        return checked_items(items, protocol)
    except DataError as bad:
        raise DataError(f"{path}: {bad}") from None


def checked_items(items: Iterable[StudyItem], protocol: str) -> list[StudyItem]:
    """Return the items, if all are of the protocol's type, complete and distinct."""
    kind = item_type(protocol)
    checked: list[StudyItem] = []
    numbers: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        if not isinstance(item, kind):
            raise DataError(
                f"item {item.id!r} is a {type(item).__name__}: the protocol {protocol} needs {kind.__name__}"
            )
        if not item.id.strip():
            raise DataError(f"item {number} has no id: give every item one of its own")
        if item.id in numbers:
            raise DataError(f"item {number} has the id {item.id!r} of item {numbers[item.id]}: ids must differ")
        if problem := item.problem():
            raise DataError(f"item {item.id!r} {problem}")
        numbers[item.id] = number
        checked.append(item)
    return checked


def is_item_file(path: Path) -> bool:
    """Return whether a .jsonl file begins with a study item rather than with an Example."""
    first = next(iter(read_records(path, dict)), {})
    return isinstance(first.get("response"), dict) and first.keys().isdisjoint(_EXAMPLE_ONLY)
