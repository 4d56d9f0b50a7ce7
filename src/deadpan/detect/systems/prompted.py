"""A language model that is asked: zero, four or eight examples, one question, strictly parsed answers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System, labelled, sigmoid
from deadpan.detect.systems.logistic import fit_scale
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.llm import Client, LLMSettings, default_model, user
from deadpan.records import Example, Prediction
from deadpan.registry import unknown
from deadpan.storage import read_json, write_json
from deadpan.text import printable
from deadpan.validation import decode, encode

LONGEST = 8_000
"""Characters of a dialogue that are sent; a longer one is cut at its beginning."""
UNSCALED = (1.0, 0.0)
"""Slope and shift of log odds that change nothing."""


@dataclass(frozen=True, slots=True)
class DetectionPrompt:
    """A question, the form of an example, and the two valid answers."""

    about: str
    task: str
    shot: str
    ask: str
    yes: str
    no: str
    free: bool = False

    def write(self, dialogue: str, shots: Sequence[tuple[str, bool]]) -> str:
        """Return the message."""
        lines = [self.shot.format(dialogue=d, answer=self.yes if label else self.no) for d, label in shots]
        return "\n".join(
            [self.task, *(line.strip("\n") for line in lines), self.ask.strip("\n").format(dialogue=dialogue)]
        )

    def read(self, answer: str) -> bool | None:
        """Return the label of a valid answer, otherwise None; quotes, case and a full stop are ignored."""
        if self.free:
            return _read_sentences(answer)
        word = answer.strip().strip("\"'`*.").strip().lower()
        return {self.yes: True, self.no: False}.get(word)


_SENTENCE = re.compile(r"[^.!?\n]*\b(?:yes\b|no\b|[\w-]*sarcas\w*)[^.!?\n]*", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:could|may|might|can|depends|unclear|ambiguous|either|whether)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|no|non|isn['’]?t|doesn['’]?t|without|unlikely)\b|\bnon-?sarcas", re.IGNORECASE)


def _read_sentences(answer: str) -> bool | None:
    """Return what the first sentence about sarcasm says; None where it leaves it open, or none says anything."""
    found = _SENTENCE.search(answer)
    if found is None or (_OPEN.search(found[0]) and not re.match(r"\W*(?:yes|no)\b", found[0], re.IGNORECASE)):
        return None
    return _NEGATED.search(found[0]) is None


def prompts() -> dict[str, DetectionPrompt]:
    """Return the prompts of the package by name."""
    text = Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8")
    return {name: DetectionPrompt(**row) for name, row in tomllib.loads(text).items()}


class Prompted(System):
    """Any OpenAI-compatible endpoint, or the embedded model. An answer that cannot be parsed has no label.

    Without `model`, the largest embedded model that has been pulled is asked. `shots` is the number of
    training examples in the prompt, half of each label, drawn by the seed; with 0 the system can be used
    untrained.

    With `probabilities`, the score is how likely the server says "sarcastic" is beside "sincere", instead of
    0 or 1; `calibrate` is the number of other training examples that `fit` asks about to scale it.
    """

    about = "KoCoSa: a language model that is asked"
    variant = "model"
    library, extra = "openai", "llm"

    def __init__(
        self,
        *,
        model: str = "",
        prompt: str = "kocosa-en",
        shots: int = 0,
        probabilities: bool = False,
        calibrate: int = 0,
        base_url: str = "",
        key_env: str = "OPENAI_API_KEY",
        max_tokens: int = 8,
        max_cost: float | None = None,
        turns: int | None = None,
        speakers: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if prompt not in prompts():
            raise ConfigError(unknown("prompt", prompt, prompts()))
        if shots < 0:
            raise ConfigError(f"shots are 0 or more examples: got {shots}")
        if calibrate < 0 or (calibrate and not probabilities):
            raise ConfigError("calibrate needs probabilities=true, and a number of examples to ask about")
        self.prompt, self.shots = prompt, shots
        self.probabilities, self.calibrate = probabilities, calibrate
        self.calls: dict[str, Any] = {
            "model": model or default_model(),
            "base_url": base_url,
            "key_env": key_env,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
        }
        self.shown_: list[Example] = []
        self.scale_: tuple[float, float] = UNSCALED

    @property
    def settings(self) -> dict[str, Any]:
        own = {"prompt": self.prompt, "shots": self.shots, "probabilities": self.probabilities}
        return {**self.shared, **own, "calibrate": self.calibrate, **self.calls}

    @cached_property
    def _client(self) -> Client:
        prompt = prompts()[self.prompt]
        likely: dict[str, Any] = {}
        if self.probabilities:
            likely = {"choices": (prompt.yes, prompt.no), "probabilities": True}
        return Client(LLMSettings(temperature=0.0, seed=self.seed, **self.calls, **likely))

    def fit(self, examples: Sequence[Example]) -> Self:
        """Draw the examples to show, and scale the probabilities if asked to; nothing else is learned."""
        kept, _ = labelled(examples)
        drawn = sorted(kept, key=lambda example: draw(self.seed, example.id))
        by_label = {label: [e for e in drawn if e.label is label] for label in (True, False)}
        half = self.shots // 2
        if len(by_label[True]) < half or len(by_label[False]) < self.shots - half:
            raise DataError(
                f"{self.shots} shots need {half} sarcastic and {self.shots - half} sincere examples: got "
                f"{len(by_label[True])} and {len(by_label[False])}; give more, or set fewer shots"
            )
        chosen = by_label[True][:half] + by_label[False][: self.shots - half]
        self.shown_ = sorted(chosen, key=lambda example: draw(self.seed + 1, example.id))
        self.scale_ = UNSCALED
        shown = {example.id for example in chosen}
        asked = [example for example in drawn if example.id not in shown][: self.calibrate]
        if asked:
            pairs = [(p.score, e.label) for p, e in zip(self.predict(asked), asked, strict=True)]
            scores = np.array([score for score, _ in pairs if score is not None])
            labels = np.array([bool(label) for score, label in pairs if score is not None])
            if len(labels) and 0 < labels.sum() < len(labels):
                self.scale_ = fit_scale(_log_odds(scores), labels)
        return self

    def influential(self, examples: Sequence[Example]) -> list[Example]:
        """Return the examples shown in the prompt: the others change nothing."""
        return self.shown_

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Ask about each example; the raw answer is kept in `raw`."""
        if self.shots and not self.shown_:
            raise ConfigError(f"{self.shots} shots need examples to show: train first, or set shots to 0")
        prompt = prompts()[self.prompt]
        shots = [(self._dialogue(example), bool(example.label)) for example in self.shown_]
        asked = [[user(prompt.write(self._dialogue(example), shots))] for example in examples]
        done = 0

        def count(place: int, reply: object) -> None:
            nonlocal done
            done += 1
            self.progress("asking", done, len(asked))

        with self._client as client:
            replies = client.complete_many(asked, on_reply=count)
        return [
            self._prediction(example, prompt.read(reply.text), reply.probabilities.get(prompt.yes), reply.text)
            for example, reply in zip(examples, replies, strict=True)
        ]

    def _prediction(self, example: Example, label: bool | None, likely: float | None, raw: str) -> Prediction:
        """Return the scaled probability of the token, or what was read where the server gives none."""
        if likely is not None:
            slope, shift = self.scale_
            score = float(sigmoid(slope * _log_odds(np.array([likely])) + shift)[0])
            return Prediction(example.id, score > 0.5, score, printable(raw))
        return Prediction(example.id, label, None if label is None else float(label), printable(raw))

    def _dialogue(self, example: Example) -> str:
        before, response = self.context.texts(example)
        text = f"{before}\n{response}" if before else response
        return printable(text[-LONGEST:].replace("\0", ""))

    def save(self, folder: Path) -> None:
        """Write settings and the examples shown; never a key."""
        write_json(
            folder / "prompted.json",
            {"settings": self.settings, "shown": [encode(example) for example in self.shown_],
             "scale": self.scale_},
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "prompted.json")
        model = cls(**state["settings"])
        model.shown_ = [decode(example, Example) for example in state["shown"]]
        slope, shift = state.get("scale", UNSCALED)
        model.scale_ = float(slope), float(shift)
        return model


def _log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(scores, 1e-6, 1 - 1e-6)
    odds: NDArray[np.float64] = np.log(kept / (1 - kept))
    return odds
