"""Base class of every detection system, and the contract that tests/contracts/test_detectors.py checks.

- The constructor takes keyword arguments that JSON can hold, stores them, and does nothing else. Every
  system takes `turns`, `speakers` (see `Context`) and `seed`; the same seed gives the same model.
- `fit` excludes examples without a label and refuses training data of one label only (`labelled` does
  both), and reports to `progress`. `predict` returns one Prediction per example, in order, with a score
  from 0 to 1 (the probability of sarcasm; above 0.5 is labelled sarcastic), and accepts an empty list, an
  empty text and a text of a megabyte. Only a system that reads answers in words may leave a score None.
- `save` writes plain files (JSON, npy, npz, safetensors: nothing that can run code), settings included,
  and `load` returns a system whose predictions are identical.
- Learned attributes end in `_`. Heavy libraries are imported with `need`, in the functions that use them.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_seed, parse_pair
from deadpan.detect import SYSTEMS
from deadpan.errors import ConfigError, DataError
from deadpan.presets import PRESETS, with_preset
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction, Turn
from deadpan.text import last_turns, render_turn
from deadpan.validation import config_from

FULL = "full"


class System(ABC):
    """A Predictor with the settings that all systems share."""

    about: ClassVar[str] = ""
    """One line for `deadpan detect systems`."""
    variant: ClassVar[str] = ""
    """The setting that VALUE sets where the system is written NAME:VALUE, such as frozen:mpnet-base."""
    library: ClassVar[str] = ""
    """A library that must be installed, and `extra`, the extra of deadpan that installs it."""
    extra: ClassVar[str] = ""

    def __init__(self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0) -> None:
        self.context = Context(turns, speakers)
        self.seed = check_seed(seed)
        self.progress: Progress = silent

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the constructor, which stores each under its name."""
        kinds = [inspect.signature(kind).parameters for kind in reversed(type(self).__mro__)]
        names = dict.fromkeys(n for taken in kinds for n, p in taken.items() if p.kind is p.KEYWORD_ONLY)
        return {**self.shared, **{name: getattr(self, name) for name in names if name not in self.shared}}

    @property
    def shared(self) -> dict[str, Any]:
        """The settings that every system has."""
        return {"turns": self.context.turns, "speakers": self.context.speakers, "seed": self.seed}

    @property
    def is_fitted(self) -> bool:
        """True once something has been learned: learned attributes end in an underscore."""
        return any(name.endswith("_") for name in vars(self))

    def influential(self, examples: Sequence[Example]) -> list[Example]:
        """Return the training examples whose texts shape the model: all labelled ones, by default."""
        return [example for example in examples if example.label is not None]

    @abstractmethod
    def fit(self, examples: Sequence[Example]) -> Self:
        """Train on the labelled examples."""

    @abstractmethod
    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return one prediction per example, in the same order."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything `load` needs, nothing pickled."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""


def labelled(examples: Sequence[Example]) -> tuple[list[Example], NDArray[np.bool_]]:
    """Return the examples that have a label, and their labels; one label only is an error."""
    kept = [example for example in examples if example.label is not None]
    labels = np.array([bool(example.label) for example in kept], dtype=bool)
    if not labels.any() or labels.all():
        have = "no labelled example" if not kept else f"{len(kept)} examples of one label only"
        raise DataError(f"training needs examples of both labels, sarcastic and sincere: got {have}")
    return kept, labels


def predictions(examples: Sequence[Example], scores: NDArray[Any] | Sequence[float]) -> list[Prediction]:
    """Return the scores as Predictions: above 0.5 is labelled sarcastic."""
    return [
        Prediction(example.id, score > 0.5, score) for example, score in zip(examples, map(float, scores), strict=True)
    ]


def sigmoid(margins: NDArray[Any]) -> NDArray[np.float64]:
    """Return margins as probabilities, without overflow."""
    squashed: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(margins, -500, 500)))
    return squashed


@dataclass(frozen=True, slots=True)
class Context:
    """The one context setting of every system.

    `turns` is the number of turns before the response that are read: 0 for none, None for all. With
    `speakers` each line begins with its speaker, as A, B, C in order of appearance: a change of speaker may
    be informative, a name such as Chandler must not be.
    """

    turns: int | None = 0
    speakers: bool = False

    def __post_init__(self) -> None:
        if self.turns is not None and (isinstance(self.turns, bool) or self.turns < 0):
            raise ConfigError(f"turns must be 0, a number, or None for all: got {self.turns!r}")

    def before(self, example: Example) -> tuple[Turn, ...]:
        """Return the turns before the response, oldest first; speakers are letters, or empty."""
        return self.conversation(example)[:-1]

    def conversation(self, example: Example) -> tuple[Turn, ...]:
        """Return the turns that are read, the response last."""
        seen = (*last_turns(example.context, self.turns), example.response)
        if not self.speakers:
            return tuple(Turn("", turn.text) for turn in seen)
        letters = _letters(example)
        return tuple(Turn(letters[turn.speaker] if turn.speaker else "", turn.text) for turn in seen)

    def texts(self, example: Example) -> tuple[str, str]:
        """Return the context, one turn per line, and the response: a pair of texts for an encoder."""
        *before, response = (render_turn(turn) for turn in self.conversation(example))
        return "\n".join(before), response

    def own(self, example: Example) -> tuple[bool, ...]:
        """Return for each turn of `before` True if the responder said it; all False without speakers."""
        speaker = example.response.speaker if self.speakers else ""
        seen = last_turns(example.context, self.turns)
        return tuple(bool(speaker) and turn.speaker == speaker for turn in seen)


def _letters(example: Example) -> dict[str, str]:
    """Return one letter per speaker of the whole conversation, so that it does not depend on `turns`."""
    names = dict.fromkeys(turn.speaker for turn in (*example.context, example.response) if turn.speaker)
    return {name: chr(ord("A") + number % 26) for number, name in enumerate(names)}


def parse_turns(word: str) -> int | None:
    """Parse a number of turns: 0, 1, 2, ..., or full."""
    if word.strip().lower() == FULL:
        return None
    if not word.strip().isdecimal() or len(word.strip()) > 9:
        raise ConfigError(f"turns {word[:40]!r}: give a number, or {FULL}")
    return int(word)


def name_turns(turns: int | None) -> str:
    """Return the number of turns as `parse_turns` reads it."""
    return FULL if turns is None else str(turns)


def split_variant(system: str) -> tuple[str, dict[str, Any]]:
    """Return the registered name and the setting of `name:value`, such as frozen:mpnet-base."""
    name, colon, value = system.partition(":") if isinstance(system, str) else (system, "", "")
    SYSTEMS.check(name)
    if not colon:
        return name, {}
    key = SYSTEMS.load(name).variant
    if not key or not value:
        able = f"{name}:{key.upper()}, or {name} alone" if key else f"{name} alone"
        raise ConfigError(f"system {system!r}: write {able}")
    return name, {key: value}


def make(system: str, settings: Mapping[str, Any]) -> System:
    """Return a system; a wrong setting is an error that names it and what it needs."""
    name, own = split_variant(system)
    settings = {**settings, **own}
    check_settings(name, settings)
    made: System = SYSTEMS.load(name)(**settings)
    return made


def check_settings(system: str, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that the system does not have, or one of another type."""
    system, own = split_variant(system)
    settings = {**settings, **own}
    kind, open_ended = _kind(system)
    known = get_type_hints(kind)
    # The options of a network are a dataclass of their own, checked by its constructor.
    checked = {key: value for key, value in settings.items() if key in known or not open_ended}
    config_from(checked, kind, source=system)


@cache
def _kind(system: str) -> tuple[type[Any], bool]:
    """Return the constructor's arguments as a dataclass, and True where it takes others too."""
    loaded = SYSTEMS.load(system)
    taken = inspect.signature(loaded).parameters.values()
    hints = get_type_hints(loaded.__init__)
    named = [each for each in taken if each.kind is not inspect.Parameter.VAR_KEYWORD]
    rows = [(each.name, _plain(hints[each.name]), field(default=each.default)) for each in named]
    return make_dataclass(system, rows, namespace={}), len(named) < len(taken)


def _plain(hint: Any) -> Any:
    """Return a type that a configuration can check; a blend's systems are checked by the blend."""
    parts = [get_origin(part) for part in (hint, *get_args(hint))]
    return Any if any(part in (Sequence, Mapping) for part in parts) else hint


def parse_settings(pairs: Sequence[str], systems: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse `key=value` (all systems) and `system.key=value` (one of them); values are JSON if possible."""
    parsed: dict[str, dict[str, Any]] = {system: {} for system in systems}
    for pair in pairs:
        key, value = parse_pair(pair, "setting", "strength=2")
        # A variant may have dots of its own: frozen:qwen2.5-coder-1.5b.strength=1
        owners = [system for system in systems if key.startswith(f"{system}.")]
        if "." in key and not owners:
            owner = key.rpartition(".")[0]
            raise ConfigError(f"setting {pair}: {owner!r} is not among the systems {', '.join(systems)}")
        for system in owners[:1] or list(systems):
            parsed[system][key.removeprefix(f"{system}.")] = value
    return parsed


def typed_settings(
    systems: Sequence[str], pairs: Sequence[str], shared: Mapping[str, Any], typed: Sequence[str], preset: str | None
) -> dict[str, dict[str, Any]]:
    """Return the settings of systems as a user typed them; a preset is for those that its paper describes.

    `shared` are settings with options of their own (--turns), of which those in `typed` were given.
    """
    own = parse_settings(pairs, systems)
    found = {name: {**shared, **own[name]} for name in own}
    if not preset:
        return found
    parts = {name: f"detect {name.partition(':')[0]}" for name in systems}
    described = [name for name in systems if parts[name] in PRESETS.get(preset, {})]
    for name in described or systems[:1]:
        found[name] = with_preset(
            preset, parts[name], found[name], [*typed, *own[name]],
            lambda key: f"--{key}" if key in shared else f"--setting {key}",
        )  # fmt: skip
    return found
