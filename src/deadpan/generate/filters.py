"""The filter step: language, toxicity, politeness (in Korean by the endings of sentences) and duplicates."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from deadpan.duplicates import distinct, identity, near_pairs, shingles
from deadpan.errors import ConfigError, ModelError, need, reason_of
from deadpan.generate.folder import SPEAKERS, Draft, Dropped, GenerationFolder, StepWriter
from deadpan.generate.language import Language
from deadpan.generate.plan import FilterPlan, GenerationPlan, PolitenessPlan
from deadpan.generate.questions import in_order, read_dialogue
from deadpan.journal import Journal
from deadpan.llm import LLMSettings, user
from deadpan.llm.calls import CallRecord, call_key, find_call, now, record_call
from deadpan.llm.client import run_on_loop
from deadpan.llm.retries import Backoff, Failed
from deadpan.llm.transport import Endpoint, find_endpoint, open_connection
from deadpan.records import Turn
from deadpan.validation import read_config

Level = str
Judge = Callable[[str], Level]
"""A text's level: "polite", "plain" or "" where it is unknown."""

_POLITE, _PLAIN = "polite", "plain"
_POLITE_ENDINGS = ("요", "죠", "니다", "습니까", "ᆸ니까", "시오", "소서")
# Endings of notes ("맛있음"), which are neither.
_NOMINAL = ("음", "ᆷ", "ㅁ", "기")
# Connectives that end a sentence as plain talk does; others ("없어서...") only break it off.
_TRAILING_PLAIN = ("니", "냐", "네", "지", "나", "자", "어", "아", "다", "거든", "래")
_POLITE_WORDS = frozenset({"네", "예", "넵", "네네", "아니요", "아뇨", "여보세요"})
_PLAIN_WORDS = frozenset({"응", "어", "엉", "웅", "그래", "아니", "야", "ㅇㅇ", "오냐"})
_AFTER = ("SF", "SP", "SS", "SE", "SO", "SW", "Z_CODA", "W_EMOJI", "SSO", "SSC")


@cache
def _kiwi() -> Any:
    return need("kiwipiepy", "ko").Kiwi()


def korean_level(text: str) -> Level:
    """Return the level of a text by the endings of its sentences, else by a yes or no in it.

    One polite ending makes it polite: the polite still say "와, 대단하구나" to themselves, not the reverse.
    """
    spoken = [(token.form, token.tag) for token in _kiwi().tokenize(text)]
    levels = {_ending(spoken, place) for place in range(len(spoken))} - {""}
    if levels:
        return _POLITE if _POLITE in levels else _PLAIN
    words = [form for form, tag in spoken if tag == "IC"]
    if any(word in _POLITE_WORDS for word in words):
        return _POLITE
    return _PLAIN if any(word in _PLAIN_WORDS for word in words) else ""


def _ending(spoken: Sequence[tuple[str, str]], place: int) -> Level:
    """Return the level of the ending at a position, if a sentence ends there."""
    form, tag = spoken[place]
    if tag not in ("EF", "EC", "JX") or form in _NOMINAL or not (tag == "EF" or _ends_here(spoken, place)):
        return ""
    if form.endswith(_POLITE_ENDINGS):
        return _POLITE
    if tag == "EF" and not _has_yo(spoken, place):
        return _PLAIN
    return _PLAIN if tag == "EC" and form in _TRAILING_PLAIN and not _has_yo(spoken, place) else ""


def _has_yo(spoken: Sequence[tuple[str, str]], place: int) -> bool:
    return tuple(spoken[place + 1 : place + 2]) == (("요", "JX"),)


def _ends_here(spoken: Sequence[tuple[str, str]], place: int) -> bool:
    """Return whether only punctuation, laughter and a final 요 follow until the next sentence or the end."""
    for form, tag in spoken[place + 1 :]:
        if tag in ("SF", "SE"):
            return True
        if tag not in _AFTER and (form, tag) != ("요", "JX"):
            return False
        if tag == "SP":
            return False
    return True


def classifier(folder: str, polite_label: str) -> Judge:
    """Load a sequence classifier from a local folder or the hub's cache; nothing is downloaded."""
    transformers, torch = need("transformers", "neural"), need("torch", "neural")
    try:
        words = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as bad:
        raise ModelError(
            f"politeness.classifier {folder}: no weights here ({reason_of(bad, 120)}); fetch them first"
        ) from None
    labels = dict(model.config.id2label)
    if polite_label not in labels.values():
        raise ConfigError(f"politeness.polite_label {polite_label!r}: the model has {', '.join(labels.values())}")
    model.eval()

    def judge(text: str) -> Level:
        with torch.inference_mode():
            scores = model(**words(text, truncation=True, return_tensors="pt")).logits[0]
        return _POLITE if labels[int(scores.argmax())] == polite_label else _PLAIN

    return judge


def open_judge(plan: PolitenessPlan, language: Language) -> Judge | None:
    """Return the judge of this plan; None for a language without levels."""
    if plan.method == "classifier":
        return classifier(plan.classifier, plan.polite_label)
    if plan.method == "none" or language.facts.politeness.method == "none":
        return None
    _kiwi()
    return korean_level


def speaker_levels(turns: Iterable[Turn], judge: Judge) -> dict[str, Level]:
    """Return the levels of A and B by the majority of their turns; a tie is unknown."""
    votes: dict[str, Counter[str]] = {speaker: Counter() for speaker in SPEAKERS}
    for turn in turns:
        if level := judge(turn.text):
            votes.setdefault(turn.speaker, Counter())[level] += 1
    return {speaker: _majority(counted) for speaker, counted in votes.items()}


def _majority(votes: Counter[str]) -> Level:
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def level_names(levels: Mapping[str, Level], language: Language) -> dict[str, str]:
    """Return levels in the language's own words, for prompts and records."""
    words = language.facts.politeness
    names = {_POLITE: words.polite, _PLAIN: words.plain, "": words.unknown}
    return {speaker: names[level] for speaker, level in levels.items()}


def inconsistency(turns: Sequence[Turn], asked: Mapping[str, str], language: Language, judge: Judge) -> str:
    """Return why politeness is inconsistent: not the requested level, or a switch; else empty."""
    levels_of: dict[str, set[str]] = {}
    for turn in turns:
        if level := judge(turn.text):
            levels_of.setdefault(turn.speaker, set()).add(level)
    wanted = {language.facts.politeness.polite: _POLITE, language.facts.politeness.plain: _PLAIN}
    for speaker, levels in sorted(levels_of.items()):
        if len(levels) > 1:
            return f"{speaker} switches"
        want = wanted.get(asked.get(speaker, ""))
        if want and want not in levels:
            return f"{speaker} should be {asked[speaker]}"
    return ""


Finding = tuple[str, str]
"""(reason, detail) of a drop; both empty if there is none."""
_NO_FINDING: Finding = ("", "")
_CHUNK = 256


def run_filters(
    plan: GenerationPlan,
    language: Language,
    run: GenerationFolder,
    journal: Journal,
    out: StepWriter,
    tick: Callable[[], None],
) -> None:
    """Filter in two passes: each dialogue by itself, then all for duplicates."""
    findings, texts = _findings(plan, language, run, journal)
    if plan.filter.duplicates:
        _find_duplicates(texts, findings, language, plan.filter.similarity)
    for draft, (reason, detail) in zip(run.drafts("dialogue"), findings, strict=True):
        if reason:
            out.drop(Dropped(draft.id, "filter", reason, detail, draft=draft))
        else:
            out.keep(draft)
        tick()


def _findings(
    plan: GenerationPlan, language: Language, run: GenerationFolder, journal: Journal
) -> tuple[list[Finding], list[str]]:
    """Return the finding on each dialogue by itself, and the texts of those without one."""
    names = chosen_checks(plan.filter, language)
    findings: list[Finding] = []
    texts: list[str] = []
    with ExitStack() as held:
        moderate = None
        if "moderation" in names:
            asked = Moderation(plan.settings("dialogue"), plan.filter.moderation_model, journal)
            moderate = held.enter_context(closing(asked))
        toxicity = open_checks(names, plan.filter, language, moderate)
        judge = open_judge(plan.politeness, language) if plan.filter.politeness else None
        single = _SingleChecks(plan.filter, language, toxicity, judge, plan.scene == "new")
        drafts = run.drafts("dialogue")
        while some := list(islice(drafts, _CHUNK)):
            new = single.check(some)
            findings += new
            texts += ["" if reason else draft.text for draft, (reason, _) in zip(some, new, strict=True)]
    return findings, texts


@dataclass(frozen=True, slots=True)
class _SingleChecks:
    """The checks of one dialogue without the others. Without `new_scene` the context is the source."""

    plan: FilterPlan
    language: Language
    toxicity: Sequence[Check]
    judge: Judge | None
    new_scene: bool

    def check(self, drafts: Sequence[Draft]) -> list[Finding]:
        """Return the first finding on each dialogue."""
        texts = [[*(turn.text for turn in draft.turns), draft.explanation] for draft in drafts]
        fits = [not self.plan.language or self.language.matches(dialogue) for dialogue in texts]
        findings = [_NO_FINDING if right else ("wrong_language", "") for right in fits]
        for toxicity in self.toxicity:
            left = [place for place, (reason, _) in enumerate(findings) if not reason]
            for place, word in zip(left, toxicity([texts[place] for place in left]), strict=True):
                findings[place] = ("toxic", word) if word else _NO_FINDING
        return [finding if finding[0] else self._rest(draft) for draft, finding in zip(drafts, findings, strict=True)]

    def _rest(self, draft: Draft) -> Finding:
        if self.judge and (why := inconsistency(draft.turns, draft.politeness, self.language, self.judge)):
            return "politeness", why
        if self.new_scene and self.plan.duplicates and copies_source(draft, self.plan.similarity):
            return OF_SOURCE, ""
        return _NO_FINDING


def _find_duplicates(texts: list[str], findings: list[Finding], language: Language, similarity: float) -> None:
    """Mark the later of two near-duplicates. A dialogue that is already dropped does not count as one."""
    places = [place for place, (reason, _) in enumerate(findings) if not reason]
    # Weak models tend to repeat the dialogues in the prompt.
    written = [read_dialogue(language, example["answer"]) for example in language.prompts["dialogue"].examples]
    examples = ["\n".join(turn.text for turn in (*one.context, one.response)) for one in written]
    copies = find_repeated([texts[place] for place in places], examples, similarity)
    for position, (reason, other) in copies.items():
        detail = f"dialogue {places[other] + 1} of the step before" if other >= 0 else ""
        findings[places[position]] = (reason, detail)


Check = Callable[[Sequence[Sequence[str]]], list[str]]
"""From the texts of several dialogues to what is toxic in each, empty if nothing is. Several at a time,
because a trained model takes as long for one as for a hundred."""

_FILLER = r"[0-9~!@#$%^&*.,_\-|:;']{0,2}"


@dataclass(frozen=True, slots=True)
class ToxicWords:
    """All of toxic.toml."""

    words: tuple[str, ...]


class ToxicWordList:
    """A language's own list of patterns, which also match disguised spellings."""

    def __init__(self, path: Path) -> None:
        patterns = read_config(path, ToxicWords).words
        try:
            self.pattern = re.compile("|".join(f"(?:{p.replace('~', _FILLER)})" for p in patterns), re.IGNORECASE)
        except re.error as bad:
            raise ConfigError(f"{path}: not a regular expression ({bad})") from None

    def __call__(self, dialogues: Sequence[Sequence[str]]) -> list[str]:
        return [self.find(texts) for texts in dialogues]

    def find(self, texts: Sequence[str]) -> str:
        """Return the first toxic word in some texts; empty if there is none."""
        for text in texts:
            # NFKC would turn the jamo of "ㅅㅂ" into another kind of jamo, so only widths are evened.
            if match := self.pattern.search(unicodedata.normalize("NFC", text)):
                return match[0]
        return ""


def profanity(share: float) -> Check:
    """Return a check by alt-profanity-check, a model of English comments, with this probability as limit."""
    library = need("profanity_check", "generate")

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        texts = [text for dialogue in dialogues for text in dialogue]
        scores = iter(library.predict_prob(texts).tolist() if texts else [])
        findings = []
        for dialogue in dialogues:
            worst, text = max((next(scores), text) for text in dialogue)
            findings.append(f"{worst:.2f}: {text[:60]}" if worst >= share else "")
        return findings

    return check


def safetext(language: Language) -> Check:
    """Return a check by the lists of safetext; not among our extras, because it brings GPL code (pysrt)."""
    if importlib.util.find_spec("safetext") is None:
        raise ConfigError(
            "toxicity has safetext, which is not installed: pip install safetext (it depends on GPL code)"
        )
    checker: Any = importlib.import_module("safetext").SafeText(language=language.code)

    def check(dialogues: Sequence[Sequence[str]]) -> list[str]:
        hits_per_dialogue = [
            [hit for text in texts for hit in checker.check_profanity(text=text)] for texts in dialogues
        ]
        return [str(hits[0]["word"]) if hits else "" for hits in hits_per_dialogue]

    return check


def chosen_checks(plan: FilterPlan, language: Language) -> tuple[str, ...]:
    """Return the checks of a plan; "auto" means the language's list and, for English, an installed model."""
    if plan.toxicity != "auto":
        return plan.toxicity
    here = ["words"] if language.toxic_words.is_file() else []
    if language.code == "en" and importlib.util.find_spec("profanity_check") is not None:
        here.append("profanity")
    return tuple(here)


def open_checks(names: Sequence[str], plan: FilterPlan, language: Language, moderate: Check | None) -> list[Check]:
    """Return the checks by name. `moderate` calls an endpoint; the caller makes it from its settings."""
    checks: list[Check] = []
    for name in names:
        if name == "words":
            if not language.toxic_words.is_file():
                raise ConfigError(f'{language.folder}: no toxic.toml in it: write one, or remove "words" from toxicity')
            checks.append(ToxicWordList(language.toxic_words))
        elif name == "profanity":
            checks.append(profanity(plan.profanity_share))
        elif name == "safetext":
            checks.append(safetext(language))
        elif moderate is not None:
            checks.append(moderate)
    return checks


_TAG = "moderation"


class Moderation:
    """Calls /moderations of the plan's endpoint, each dialogue once; kept in the journal like any call."""

    def __init__(
        self,
        settings: LLMSettings,
        model: str,
        journal: Journal,
        *,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if settings.embedded:
            raise ConfigError("toxicity has moderation, which needs an endpoint: set base_url and model under [model]")
        self.settings = settings
        self.model = model
        self.journal = journal
        self.backoff = backoff or Backoff()
        self._sleep = sleep
        self._endpoint: Endpoint = find_endpoint(settings)
        self._connection: Any = None

    def __call__(self, dialogues: Sequence[Sequence[str]]) -> list[str]:
        return list(in_order(self.find, dialogues, self.settings.concurrency))

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        if self._connection is not None:
            run_on_loop(self._connection.close())
            self._connection = None

    async def find(self, texts: Sequence[str]) -> str:
        """Return what one dialogue is flagged for; empty if nothing."""
        text = "\n".join(texts)
        key = call_key(LLMSettings(model=self.model), [user(text)], 0, _TAG)
        known = find_call(self.journal, key)
        if known is None:
            request = {"model": self.model, "input": text}
            categories = await self._categories(text)
            known = CallRecord(_TAG, 0, request, categories, "stop", self.model, cost=0.0, at=now())
            record_call(self.journal, key, known)
        return known.text

    async def _categories(self, text: str) -> str:
        """Return the comma-separated names of the flagged categories."""
        attempt = 0
        while True:
            try:
                return await self._ask(text)
            except Failed as bad:
                if attempt >= self.settings.retries:
                    where = self._endpoint.url or "the API"
                    raise ModelError(f"moderation at {where} did not answer ({bad}): check the server") from None
                await self._sleep(self.backoff.wait(attempt, bad))
                attempt += 1

    async def _ask(self, text: str) -> str:
        import openai

        if self._connection is None:
            self._connection = open_connection(self._endpoint, self.settings.timeout)
        try:
            answer = await self._connection.moderations.create(model=self.model, input=text)
            result = answer.results[0]
            if not result.flagged:
                return ""
            flagged = result.categories.model_dump(by_alias=True)
            return ", ".join(sorted(name for name, hit in flagged.items() if hit)) or "flagged"
        except openai.APIStatusError as bad:
            if bad.status_code in (401, 403, 404):
                raise ConfigError(
                    f"the endpoint offers no moderation (HTTP {bad.status_code}): remove it from toxicity"
                ) from None
            raise Failed(f"http_{bad.status_code}") from None
        except (openai.APIConnectionError, openai.APIResponseValidationError) as bad:
            raise Failed("connection", str(bad)) from None
        except (IndexError, AttributeError, TypeError, ValueError) as bad:
            raise Failed("garbage", str(bad)) from None


DUPLICATE, OF_EXAMPLE, OF_SOURCE = "near_duplicate", "copies_example", "copies_source"


def find_repeated(texts: Sequence[str], examples: Sequence[str], similarity: float) -> dict[int, tuple[str, int]]:
    """Return the texts to drop, by position: the later of two near-duplicates, or a copy of an example.

    Each comes with its reason and the position of the text it duplicates (-1 for an example). Only
    duplicates of a text that stays are dropped, so that a chain of small edits keeps its ends.
    """
    keys, of_text = distinct([*examples, *texts])
    n_examples = len(examples)
    first: dict[int, int] = {}
    copies: dict[int, tuple[str, int]] = {}
    near = _neighbours(keys, similarity)
    kept: set[int] = set()
    for place, key in enumerate(of_text.tolist()):
        duplicate = key if key in kept else next((k for k in near.get(key, ()) if k in kept), None)
        if place < n_examples:
            kept.add(key)
            first.setdefault(key, -1)
        elif duplicate is None:
            kept.add(key)
            first[key] = place - n_examples
        else:
            copies[place - n_examples] = (OF_EXAMPLE if first[duplicate] < 0 else DUPLICATE, first[duplicate])
    return copies


def _neighbours(keys: Sequence[str], similarity: float) -> dict[int, list[int]]:
    near: dict[int, list[int]] = {}
    for pairs in near_pairs(keys, similarity):
        for one, other in np.stack([pairs.left, pairs.right], axis=1).tolist():
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    return {key: sorted(others) for key, others in near.items()}


def copies_source(draft: Draft, similarity: float) -> bool:
    """Return whether the new dialogue repeats its source: the prompt asks for a new one."""
    made = shingles(identity(draft.text))
    source = shingles(identity("\n".join(turn.text for turn in draft.source)))
    return bool(made and source) and len(made & source) / len(made | source) >= similarity
