"""plan.toml: the source dialogues, the model, its sampling per step, and the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from deadpan.config import read_config
from deadpan.errors import ConfigError
from deadpan.generate.language import Language, load_language
from deadpan.generate.sizes import model_size
from deadpan.generate.steps.order import ASKING, NAMES, PARTS, RATING, find_step
from deadpan.llm import LLMSettings, default_model
from deadpan.registry import unknown

EXAMPLES = "examples"
TRIES = 3
CANDIDATES = 4
"""Responses that a small model writes per dialogue; a large one writes one, as published."""
MOST_CANDIDATES = 20
STRUCTURED = ("auto", "off", "json")
SCENES = ("new", "source")
_NOT_SAMPLING = ("tries", "candidates", "structured", "scene")
_FOR_ALL_STEPS = ("concurrency", "max_cost")


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The source dialogues. `columns` renames those of a CSV: {text = "message"}."""

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
            raise ConfigError(
                'method = "classifier" needs classifier (a folder or hub name) and polite_label'
            )


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
        if self.give_up_after < 1:
            raise ConfigError(f"give_up_after needs 1 or more, got {self.give_up_after}")
        for name in ASKING:
            table = getattr(self, name)
            if wrong := [key for key in _FOR_ALL_STEPS if key in table]:
                raise ConfigError(f"{name}.{wrong[0]}: it is for all steps, write it under [model]")
            tries = table.get("tries", TRIES)
            if not isinstance(tries, int) or isinstance(tries, bool) or tries < 1:
                raise ConfigError(f"{name}.tries needs a whole number of 1 or more, got {tries!r}")
            for key in ("candidates", "structured", "scene"):
                if key in table and name != "dialogue":
                    raise ConfigError(f"{name}.{key}: it is for the dialogue, write it under [dialogue]")
            self.settings(name)
        wanted = self.dialogue.get("candidates", 0)
        if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= MOST_CANDIDATES:
            raise ConfigError(
                f"dialogue.candidates needs a whole number from 1 to {MOST_CANDIDATES}, or 0 for the "
                f"default, got {wanted!r}"
            )
        if self.structured not in STRUCTURED:
            raise ConfigError(unknown("dialogue.structured", self.structured, STRUCTURED))
        if self.scene not in SCENES:
            raise ConfigError(unknown("dialogue.scene", self.scene, SCENES))
        if self.scene == "source" and self.candidates < 2:
            raise ConfigError('dialogue.scene = "source" needs candidates = 2 or more')

    @property
    def candidates(self) -> int:
        """Return how many responses are written per dialogue."""
        small = model_size(self.settings("dialogue").model) == "small"
        return int(self.dialogue.get("candidates", 0)) or (CANDIDATES if small and not self.preset else 1)

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
        return int(getattr(self, step).get("tries", TRIES))

    def settings(self, step: str) -> LLMSettings:
        """Return how a step calls its model; its sampling depends on the size of the model."""
        declared = find_step(step)
        small = model_size(self._own(step).get("model") or default_model()) == "small"
        return self._settings(step, declared.small if small and not self.preset else declared.sampling)

    def part_settings(self, part: str) -> LLMSettings:
        """Return how one question of the dialogue step calls the model; a back-check is never random."""
        chosen = self._settings("dialogue", PARTS.get(part, RATING))
        return chosen if part in PARTS else chosen.changed(**RATING)

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
        return [name for name in NAMES if name != "contrast" or self.with_contrast]

    @property
    def asking(self) -> tuple[str, ...]:
        """The steps of this plan that call a model."""
        asked = {"abnormal": self.filter.abnormal, "contrast": self.with_contrast}
        return tuple(name for name in ASKING if asked.get(name, True))

    def open_language(self) -> Language:
        """Read the prompts and words of the plan's language."""
        return load_language(self.language, self.prompts, self.preset)


def read_plan(path: Path) -> GenerationPlan:
    """Read a plan; its paths are relative to the folder it is in."""
    plan = read_config(path, GenerationPlan)
    base = path.resolve().parent
    if not plan.source.paths or not all(name.strip() for name in plan.source.paths):
        raise ConfigError(f'{path}: source.path is empty: name a file or a folder, or "{EXAMPLES}"')
    paths = tuple(
        name if name == EXAMPLES else str(base / Path(name).expanduser()) for name in plan.source.paths
    )
    return replace(
        plan,
        out=base / plan.out.expanduser(),
        prompts=None if plan.prompts is None else base / plan.prompts.expanduser(),
        source=replace(plan.source, path=paths),
    )


def open_plan(plan: GenerationPlan | Path | str, out: Path | str | None = None) -> GenerationPlan:
    """Return a plan, read from its file if need be, with its run folder changed to `out` if that is given."""
    opened = plan if isinstance(plan, GenerationPlan) else read_plan(Path(plan))
    return opened if out is None else replace(opened, out=Path(out))
