"""plan.toml: where dialogues come from, which model writes, what is asked and what is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from deadpan.config import read_config
from deadpan.errors import ConfigError
from deadpan.generate.language import Language, load_language
from deadpan.llm import Settings

EXAMPLES = "examples"
PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "situation": {"temperature": 1.0, "top_p": 1.0, "max_tokens": 1000},
    "dialogue": {"temperature": 1.1, "top_p": 0.8, "frequency_penalty": 0.2, "max_tokens": 3000},
    "abnormal": {"temperature": 0.0, "max_tokens": 200},
    "contrast": {"temperature": 0.7, "max_tokens": 300},
}
"""KoCoSa's sampling (its appendix A.1) for the first two; it is silent on the third, the last is ours."""

EMBEDDED_TOKENS: Mapping[str, int] = {"situation": 60, "dialogue": 320, "abnormal": 40, "contrast": 60}
"""A small model that has not stopped by then never will, and at 60 tokens a second 3,000 take a minute."""

OWN = ("tries",)
FOR_ALL = ("concurrency", "max_cost")


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """Where dialogues come from. `columns` renames those of a CSV: {text = "message"}."""

    path: tuple[str, ...] | str = EXAMPLES
    form: Literal["auto", "nikl", "jsonl", "kocosa", "csv"] = "auto"
    max_turns: int = 6
    sample: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_turns < 2:
            raise ConfigError(f"max_turns needs 2 or more, got {self.max_turns}")
        if self.sample < 0:
            raise ConfigError(f"sample needs 0 (all) or more, got {self.sample}")


@dataclass(frozen=True, slots=True)
class PolitenessPlan:
    """How levels are told: by the language's endings, by a classifier that is here, or not at all."""

    method: Literal["language", "classifier", "none"] = "language"
    classifier: str = ""
    polite_label: str = ""
    """The classifier's own word for polite, such as LABEL_1."""

    def __post_init__(self) -> None:
        if self.method == "classifier" and not (self.classifier and self.polite_label):
            raise ConfigError(
                'method = "classifier" needs classifier (a folder or hub name) and polite_label'
            )


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """What is checked, in this order. `similarity` is the Jaccard from which two dialogues are one."""

    language: bool = True
    toxicity: tuple[Literal["words", "profanity", "moderation", "safetext"], ...] | Literal["auto"] = "auto"
    moderation_model: str = "omni-moderation-latest"
    politeness: bool = True
    duplicates: bool = True
    similarity: float = 0.8
    abnormal: bool = True
    profanity_share: float = 0.8

    def __post_init__(self) -> None:
        for name in ("similarity", "profanity_share"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name} needs a number above 0 and at most 1, got {getattr(self, name):g}")


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """What only people know of the data set. What is empty is said to be unknown."""

    title: str = ""
    version: str = "0.1.0"
    licence: str = "not stated"
    citation: str = "not published"
    creators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All of plan.toml. `model` holds for every stage; a stage's own table changes it for that stage."""

    language: str = "en"
    out: Path = Path("generated")
    seed: int = 0
    prompts: Path | None = None
    source: SourcePlan = field(default_factory=SourcePlan)
    model: Mapping[str, Any] = field(default_factory=dict)
    situation: Mapping[str, Any] = field(default_factory=dict)
    politeness: PolitenessPlan = field(default_factory=PolitenessPlan)
    dialogue: Mapping[str, Any] = field(default_factory=dict)
    filter: FilterPlan = field(default_factory=FilterPlan)
    abnormal: Mapping[str, Any] = field(default_factory=dict)
    with_contrast: bool = False
    contrast: Mapping[str, Any] = field(default_factory=dict)
    release: ReleasePlan = field(default_factory=ReleasePlan)
    give_up_after: int = 25
    """So many calls in a row that failed for good end the run: the server is down, not unlucky."""

    def __post_init__(self) -> None:
        if self.give_up_after < 1:
            raise ConfigError(f"give_up_after needs 1 or more, got {self.give_up_after}")
        for name in PUBLISHED:
            table = getattr(self, name)
            if wrong := [key for key in FOR_ALL if key in table]:
                raise ConfigError(f"{name}.{wrong[0]}: it is for all stages, write it under [model]")
            tries = table.get("tries", 3)
            if not isinstance(tries, int) or isinstance(tries, bool) or tries < 1:
                raise ConfigError(f"{name}.tries needs a whole number of 1 or more, got {tries!r}")
            self.settings(name)

    def tries(self, stage: str) -> int:
        """How often a stage asks before it gives a dialogue up."""
        return int(getattr(self, stage).get("tries", 3))

    def settings(self, stage: str) -> Settings:
        """How a stage calls its model."""
        own = {key: value for key, value in getattr(self, stage).items() if key not in OWN}
        try:
            chosen = Settings.read({**PUBLISHED[stage], **self.model, **own})
        except ConfigError as bad:
            raise ConfigError(f"[model] or [{stage}]: {bad}") from None
        if chosen.embedded and "max_tokens" not in {**self.model, **own}:
            chosen = chosen.changed(max_tokens=EMBEDDED_TOKENS[stage])
        return chosen if chosen.seed is not None else chosen.changed(seed=self.seed % 2**31)

    @property
    def stages(self) -> tuple[str, ...]:
        """Those of its calls that this plan makes."""
        asked = {"abnormal": self.filter.abnormal, "contrast": self.with_contrast}
        return tuple(stage for stage in PUBLISHED if asked.get(stage, True))

    def open_language(self) -> Language:
        return load_language(self.language, self.prompts)


def read_plan(path: Path) -> Plan:
    """A plan; its paths are seen from the folder it lies in."""
    plan = read_config(path, Plan)
    base = path.resolve().parent
    source = plan.source.path if isinstance(plan.source.path, tuple) else (plan.source.path,)
    if not source or not all(name.strip() for name in source):
        raise ConfigError(f'{path}: source.path is empty: name a file or a folder, or "{EXAMPLES}"')
    found = tuple(name if name == EXAMPLES else str(base / Path(name).expanduser()) for name in source)
    return replace(
        plan,
        out=base / plan.out.expanduser(),
        prompts=None if plan.prompts is None else base / plan.prompts.expanduser(),
        source=replace(plan.source, path=found),
    )


TEMPLATE = """\
# A plan for deadpan generate. Paths are seen from this file's folder. What is left out has its default.
language = "{language}"
out = "{out}"
seed = 0
# prompts = "mine"               # a folder of your own: deadpan generate prompts --copy {language} --out mine
with_contrast = {contrast}            # also a sincere response that shares the words of the sarcastic one

[source]
path = "{source}"                # "examples", or files and folders: NIKL JSON, JSON lines, KoCoSa, CSV
max_turns = 6

[model]                          # every stage calls this one
model = "{model}"
{endpoint}
# [dialogue]                     # a stage may have its own model and sampling; KoCoSa's are the default
# model = "gpt-4o"
# tries = 3

[filter]
abnormal = true                  # ask the model whether a dialogue is sound; a person confirms what it finds

[release]
title = ""
licence = "not stated"
"""

ENDPOINT = """\
base_url = "{url}"               # any OpenAI-compatible server; empty: the SDK's own
key_env = "OPENAI_API_KEY"       # the environment variable with the key; "" for a server that needs none
concurrency = 8
# max_cost = 5.0                 # US dollars
# price = [2.5, 10.0]            # US dollars per million tokens in and out, for a model without a known price
"""
