"""plan.toml: the steps of a run in order, the source dialogues, the model and its sampling, the checks."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from deadpan.errors import ConfigError
from deadpan.generate.language import Language, languages, load_language, presets
from deadpan.llm import EMBEDDED_PREFIX, LLMSettings, default_model
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.presets import preset_values, with_preset
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.storage import write_text
from deadpan.validation import read_config


@dataclass(frozen=True, slots=True)
class GenerationStep:
    """A step. One with a `prompt` asks the model, with this sampling unless the plan changes it.

    `small` is the sampling of small models: at the published temperatures they lose the thread, and one that
    has not stopped after so many tokens never will.
    """

    prompt: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)


def _published(step: str) -> dict[str, Any]:
    """Return KoCoSa's sampling of a step (appendix A.1)."""
    values = preset_values("kocosa", "generate run")
    return {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{step}.")}


GENERATION_STEPS: Mapping[str, GenerationStep] = {
    # Source dialogues: two speakers, a window of a few turns.
    "source": GenerationStep(),
    # The theme and summary of each source dialogue.
    "situation": GenerationStep(
        prompt="situation", sampling=_published("situation"), small={"temperature": 0.3, "top_p": 0.9, "max_tokens": 60}
    ),
    # Each speaker's level of politeness (Korean; other languages pass through).
    "politeness": GenerationStep(),
    # A new dialogue with a sarcastic response and its explanation.
    "dialogue": GenerationStep(
        prompt="dialogue", sampling=_published("dialogue"), small={"temperature": 0.7, "top_p": 0.9, "max_tokens": 320}
    ),
    # Drops dialogues that are toxic, in the wrong language, inconsistently polite, or copies.
    "filter": GenerationStep(),
    # Asks whether each dialogue makes sense; suspects wait for review.
    "abnormal": GenerationStep(
        prompt="abnormal",
        sampling={"temperature": 0.0, "max_tokens": 200},
        small={"temperature": 0.0, "max_tokens": 40},
    ),
    # A person confirms or clears what the model found abnormal.
    "review": GenerationStep(),
    # A sincere response that shares words with the sarcastic one.
    "contrast": GenerationStep(
        prompt="sincere",
        sampling={"temperature": 0.7, "max_tokens": 300},
        small={"temperature": 0.7, "top_p": 0.9, "max_tokens": 60},
    ),
}
"""The sampling of situation and dialogue is KoCoSa's (appendix A.1); the rest is ours."""

DIALOGUE_QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "scene": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 200},
    "response": {"temperature": 0.9, "top_p": 0.95, "max_tokens": 60},
    "explanation": {"temperature": 0.3, "top_p": 0.9, "max_tokens": 90},
}
"""Questions of the dialogue step where it asks for several candidates, and their sampling."""
# Sampling of the back-check, whatever the plan says.
_RATING: Mapping[str, Any] = {"temperature": 0.0, "top_p": None, "max_tokens": 8}

STEP_NAMES = tuple(GENERATION_STEPS)
ASKING_STEPS = tuple(name for name, step in GENERATION_STEPS.items() if step.prompt)
STEPS_WITH_DIALOGUES = STEP_NAMES[STEP_NAMES.index("dialogue") :]
"""The steps whose output holds new dialogues."""


def step_before(name: str) -> str:
    """Return the name of the step whose output a step reads; empty for the first."""
    place = STEP_NAMES.index(name)
    return STEP_NAMES[place - 1] if place else ""


EXAMPLE_SOURCES = "examples"
_TRIES = 3
# Responses that a small model writes per dialogue; a large one writes one, as published.
_CANDIDATES = 4
_MAX_CANDIDATES = 20
_STRUCTURED = ("auto", "off", "json")
_SCENES = ("new", "source")
_NOT_SAMPLING = ("tries", "candidates", "structured", "scene")
_FOR_ALL_STEPS = ("concurrency", "max_cost")


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The source dialogues. `columns` renames those of a CSV: {text = "message"}."""

    path: tuple[str, ...] | str = EXAMPLE_SOURCES
    form: Literal["auto", "nikl", "jsonl", "kocosa", "csv"] = "auto"
    max_turns: int = 6
    sample: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_turns < 2:
            raise ConfigError(f"max_turns needs 2 or more, got {self.max_turns}")
        if self.sample < 0:
            raise ConfigError(f"sample needs 0 (all) or more, got {self.sample}")

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and folders to read."""
        return (self.path,) if isinstance(self.path, str) else self.path


@dataclass(frozen=True, slots=True)
class PolitenessPlan:
    """The method that finds levels of politeness: sentence endings, a local classifier, or none."""

    method: Literal["language", "classifier", "none"] = "language"
    classifier: str = ""
    polite_label: str = ""
    """The classifier's own label for polite, such as LABEL_1."""

    def __post_init__(self) -> None:
        if self.method == "classifier" and not (self.classifier and self.polite_label):
            raise ConfigError('method = "classifier" needs classifier (a folder or hub name) and polite_label')


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """The checks, in this order. Two dialogues of this Jaccard `similarity` or more are duplicates."""

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
    """Facts for the data card that only people know. An empty one is given as unknown."""

    title: str = ""
    version: str = "0.1.0"
    licence: str = "not stated"
    citation: str = "not published"
    creators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """All of plan.toml. `model` holds for every step that asks; a step's own table overrides it."""

    language: str = "en"
    out: Path = Path("generated")
    seed: int = 0
    prompts: Path | None = None
    preset: str = ""
    """Other prompts that come with deadpan: `kocosa` for those of KoCoSa's Table 12."""
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
    """The run ends after this many failed calls in a row: the server is down."""

    def __post_init__(self) -> None:
        if self.preset:
            self._check_preset()
        if self.give_up_after < 1:
            raise ConfigError(f"give_up_after needs 1 or more, got {self.give_up_after}")
        for name in ASKING_STEPS:
            table = getattr(self, name)
            if wrong := [key for key in _FOR_ALL_STEPS if key in table]:
                raise ConfigError(f"{name}.{wrong[0]}: it is for all steps, write it under [model]")
            tries = table.get("tries", _TRIES)
            if not isinstance(tries, int) or isinstance(tries, bool) or tries < 1:
                raise ConfigError(f"{name}.tries needs a whole number of 1 or more, got {tries!r}")
            for key in ("candidates", "structured", "scene"):
                if key in table and name != "dialogue":
                    raise ConfigError(f"{name}.{key}: it is for the dialogue, write it under [dialogue]")
            self.settings(name)
        wanted = self.dialogue.get("candidates", 0)
        if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= _MAX_CANDIDATES:
            raise ConfigError(
                f"dialogue.candidates needs a whole number from 1 to {_MAX_CANDIDATES}, or 0 for the "
                f"default, got {wanted!r}"
            )
        if self.structured not in _STRUCTURED:
            raise ConfigError(unknown("dialogue.structured", self.structured, _STRUCTURED))
        if self.scene not in _SCENES:
            raise ConfigError(unknown("dialogue.scene", self.scene, _SCENES))
        if self.scene == "source" and self.candidates < 2:
            raise ConfigError('dialogue.scene = "source" needs candidates = 2 or more')

    def _check_preset(self) -> None:
        """Refuse a plan that says otherwise than the preset it names."""
        given: dict[str, Any] = {"language": self.language, "source.max_turns": self.source.max_turns}
        for step in ("situation", "dialogue"):
            given |= {f"{step}.{key}": value for key, value in {**self.model, **getattr(self, step)}.items()}
        with_preset(self.preset, "generate run", given, given)

    @property
    def candidates(self) -> int:
        """Return how many responses are written per dialogue."""
        small = model_size(self.settings("dialogue").model) == "small"
        return int(self.dialogue.get("candidates", 0)) or (_CANDIDATES if small and not self.preset else 1)

    @property
    def structured(self) -> str:
        """Return how the form is enforced: auto (a grammar for the embedded model), off or json."""
        return str(self.dialogue.get("structured", "auto"))

    @property
    def scene(self) -> str:
        """Return where the context comes from: new (the model writes it), or the source's own turns."""
        return str(self.dialogue.get("scene", "new"))

    def tries(self, step: str) -> int:
        """Return how many times a step asks before it drops a dialogue."""
        return int(getattr(self, step).get("tries", _TRIES))

    def settings(self, step: str) -> LLMSettings:
        """Return how a step calls its model; its sampling depends on the size of the model."""
        declared = GENERATION_STEPS[step]
        small = model_size(self._own(step).get("model") or default_model()) == "small"
        return self._settings(step, declared.small if small and not self.preset else declared.sampling)

    def part_settings(self, part: str) -> LLMSettings:
        """Return how one question of the dialogue step calls the model; a back-check is never random."""
        chosen = self._settings("dialogue", DIALOGUE_QUESTIONS.get(part, _RATING))
        return chosen if part in DIALOGUE_QUESTIONS else chosen.changed(**_RATING)

    def _own(self, step: str) -> dict[str, Any]:
        own = {key: value for key, value in getattr(self, step).items() if key not in _NOT_SAMPLING}
        return {**self.model, **own}

    def _settings(self, step: str, sampling: Mapping[str, Any]) -> LLMSettings:
        try:
            chosen = LLMSettings.read({**sampling, **self._own(step)})
        except ConfigError as bad:
            raise ConfigError(f"[model] or [{step}]: {bad}") from None
        return chosen if chosen.seed is not None else chosen.changed(seed=self.seed % 2**31)

    @property
    def steps(self) -> list[str]:
        """The names of this plan's steps, in order."""
        return [name for name in STEP_NAMES if name != "contrast" or self.with_contrast]

    @property
    def asking(self) -> tuple[str, ...]:
        """The steps of this plan that call a model."""
        asked = {"abnormal": self.filter.abnormal, "contrast": self.with_contrast}
        return tuple(name for name in ASKING_STEPS if asked.get(name, True))

    def open_language(self) -> Language:
        """Read the prompts and words of the plan's language."""
        return load_language(self.language, self.prompts, self.preset)


def _read_plan(path: Path) -> GenerationPlan:
    """Read a plan; its paths are relative to the folder it is in."""
    plan = read_config(path, GenerationPlan)
    base = path.resolve().parent
    if not plan.source.paths or not all(name.strip() for name in plan.source.paths):
        raise ConfigError(f'{path}: source.path is empty: name a file or a folder, or "{EXAMPLE_SOURCES}"')
    paths = tuple(
        name if name == EXAMPLE_SOURCES else str(base / Path(name).expanduser()) for name in plan.source.paths
    )
    return replace(
        plan,
        out=base / plan.out.expanduser(),
        prompts=None if plan.prompts is None else base / plan.prompts.expanduser(),
        source=replace(plan.source, path=paths),
    )


def open_plan(
    plan: GenerationPlan | Path | str, out: Path | str | None = None, preset: str | None = None
) -> GenerationPlan:
    """Return a plan, read from its file if need be; `out` is another run folder, `preset` a paper's settings."""
    opened = plan if isinstance(plan, GenerationPlan) else _read_plan(Path(plan))
    opened = replace(opened, preset=preset) if preset else opened
    return opened if out is None else replace(opened, out=Path(out))


Size = Literal["small", "large"]

# Billions of parameters up to which a model counts as small.
_SMALL = 14.0
_PARAMETERS = re.compile(r"(?<![\w.])(?:\d+x)?(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)


def model_size(model: str) -> Size:
    """Return the size of a model by the parameters in its name (`llama3.2:3b`); large where it has none."""
    found = _PARAMETERS.findall(model)
    if not found:
        return "large"
    number, unit = found[-1]
    billions = float(number) / (1 if unit in "bB" else 1000)
    return "small" if billions <= _SMALL else "large"


_PLAN = """\
# A plan for deadpan generate. Paths are relative to this file. Keys that are absent have their default.
language = "{language}"
out = "{out}"
seed = 0{preset}
{prompts}
with_contrast = {contrast}            # also a sincere response that shares the words of the sarcastic one

[source]
path = {source}                # "examples", or files and folders: NIKL JSON, JSON lines, KoCoSa, CSV
max_turns = 6

[model]                          # used by every step that asks
model = "{model}"
{endpoint}
# [dialogue]                     # a step may have its own model and sampling
# model = "gpt-4o"
# tries = 3
# candidates = 4                 # responses per dialogue, chosen by a back-check; small models: 4, others: 1
# structured = "json"            # enforce the form by a JSON schema; the embedded model has a grammar

[filter]
abnormal = true                  # ask the model whether a dialogue makes sense; a person confirms it

[release]
title = ""
licence = "not stated"
"""

_ENDPOINT = """\
base_url = "{url}"               # any OpenAI-compatible server; empty: the SDK's own
key_env = "OPENAI_API_KEY"       # the environment variable with the key; "" for a server that needs none
concurrency = 8
# max_cost = 5.0                 # US dollars
# price = [2.5, 10.0]            # US dollars per million tokens in and out, for a model without a known price
"""


@dataclass(frozen=True, slots=True)
class PlanFile(Result):
    """A plan that was written."""

    path: Path

    def summary(self) -> Summary:
        return Summary(notes=(f"{self.path}: edit it, then run: deadpan generate run {self.path}",))

    def as_dict(self) -> dict[str, object]:
        return {"plan": str(self.path)}


def write_plan(
    path: Path | str,
    sources: Sequence[str] = (EXAMPLE_SOURCES,),
    *,
    language: str = "en",
    model: str = "",
    base_url: str = "",
    with_contrast: bool = False,
    preset: str = "",
    copy_prompts: Path | str | None = None,
) -> PlanFile:
    """Write a plan to start from; a file that exists is not overwritten.

    `copy_prompts` is a new folder for a copy of the language's prompts, to be changed; of a language that
    deadpan has no prompts for, it is a copy of the English ones, to be translated.
    """
    path = Path(path)
    if path.exists():
        raise ConfigError(f"{path}: exists already; choose another name")
    if preset:
        language = preset_values(preset, "generate run")["language"]
    if language in languages():
        load_language(language, preset=preset)
    prompts = '# prompts = "mine"               # a folder of your own: --copy-prompts mine'
    if copy_prompts is not None:
        target = Path(copy_prompts)
        if target.exists():
            raise ConfigError(f"--copy-prompts {target}: name a folder that does not exist yet")
        shutil.copytree(load_language(language if language in languages() else "en").folder, target)
        prompts = f'prompts = "{Path(os.path.relpath(target, path.parent)).as_posix()}"'
    model = model or default_model()
    names = [f'"{name}"' for name in sources or (EXAMPLE_SOURCES,)]
    text = _PLAN.format(
        language=language,
        source=names[0] if len(names) == 1 else f"[{', '.join(names)}]",
        model=model,
        endpoint="" if model.startswith(EMBEDDED_PREFIX) else _ENDPOINT.format(url=base_url),
        out=path.stem,
        contrast=str(with_contrast).lower(),
        preset=f'\npreset = "{preset}"' if preset else "",
        prompts=prompts,
    )
    write_text(path, text)
    return PlanFile(path)


@dataclass(frozen=True, slots=True)
class PromptFolders(Result):
    """The languages with prompts, (code, name, folder) of each, and presets: other prompts by name."""

    languages: tuple[tuple[str, str, Path], ...]
    presets: tuple[tuple[str, str], ...]

    def summary(self) -> Summary:
        rows = tuple((code, name, str(folder)) for code, name, folder in self.languages)
        shown = Table(("language", "name", "folder"), rows)
        return Summary((shown, Table(("preset", "what it is"), self.presets)))

    def as_dict(self) -> dict[str, object]:
        return {code: {"name": name, "folder": str(folder)} for code, name, folder in self.languages}


def list_prompts() -> PromptFolders:
    """Return the languages and presets that deadpan has prompts for."""
    loaded = [load_language(code) for code in languages()]
    named = tuple((name, preset.about) for name, preset in presets().items())
    return PromptFolders(tuple((one.code, one.facts.name, one.folder) for one in loaded), named)
