"""A language model that is asked: zero, four or eight examples, one question, an answer read strictly."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from deadpan.detect.system import System, labelled
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.fields import decode, encode
from deadpan.llm import Client, Settings, user
from deadpan.llm.settings import DEFAULT_MODEL
from deadpan.records import Example, Prediction
from deadpan.registry import unknown
from deadpan.storage import read_json, write_json
from deadpan.text import printable

LONGEST = 8_000
"""Characters of a dialogue that are sent; of a longer one, the end, which holds the response."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question, the form of an example, and the two answers that count."""

    about: str
    task: str
    shot: str
    ask: str
    yes: str
    no: str

    def write(self, dialogue: str, shots: Sequence[tuple[str, bool]]) -> str:
        """The whole message."""
        lines = [self.shot.format(dialogue=d, answer=self.yes if label else self.no) for d, label in shots]
        return "\n".join(
            [self.task, *(line.strip("\n") for line in lines), self.ask.strip("\n").format(dialogue=dialogue)]
        )

    def read(self, answer: str) -> bool | None:
        """The answer if it is one of the two and nothing else; quotes, case and a full stop don't matter."""
        word = answer.strip().strip("\"'`*.").strip().lower()
        return {self.yes: True, self.no: False}.get(word)


def prompts() -> dict[str, Prompt]:
    """The prompts of the package by name."""
    text = Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8")
    return {name: Prompt(**row) for name, row in tomllib.loads(text).items()}


class Prompted(System):
    """Any OpenAI-compatible endpoint, or the embedded model. An answer that cannot be read has no label.

    With `shots`, as many training examples are shown, half of each label, drawn by the seed; without, it
    can be used untrained.
    """

    def __init__(
        self,
        *,
        model: str = DEFAULT_MODEL,
        prompt: str = "kocosa-en",
        shots: int = 0,
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
        self.prompt, self.shots = prompt, shots
        self.calls: dict[str, Any] = {
            "model": model,
            "base_url": base_url,
            "key_env": key_env,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
        }
        self.shown_: list[Example] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "prompt": self.prompt, "shots": self.shots, **self.calls}

    @cached_property
    def _client(self) -> Client:
        return Client(Settings(temperature=0.0, seed=self.seed, **self.calls))

    def fit(self, examples: Sequence[Example]) -> Self:
        """Draw the examples to show; nothing else is learnt."""
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
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Ask about each; the raw answer is kept beside what was read of it."""
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
        said = [(prompt.read(reply.text), reply.text) for reply in replies]
        return [
            Prediction(example.id, label, None if label is None else float(label), printable(raw))
            for example, (label, raw) in zip(examples, said, strict=True)
        ]

    def _dialogue(self, example: Example) -> str:
        before, response = self.context.texts(example)
        text = f"{before}\n{response}" if before else response
        return printable(text[-LONGEST:].replace("\0", ""))

    def save(self, folder: Path) -> None:
        """Settings and the examples shown; never a key."""
        write_json(
            folder / "prompted.json",
            {"settings": self.settings, "shown": [encode(example) for example in self.shown_]},
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        state = read_json(folder / "prompted.json")
        model = cls(**state["settings"])
        model.shown_ = [decode(example, Example) for example in state["shown"]]
        return model
