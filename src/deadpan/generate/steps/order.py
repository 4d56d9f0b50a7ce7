"""The steps of a run in order, declared once: plan, pipeline, estimate, report and help read this list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GenerationStep:
    """A step by name. One with a `prompt` asks the model, with this sampling unless the plan changes it.

    `small` is the sampling of small models: at the published temperatures they lose the thread, and one that
    has not stopped after so many tokens never will.
    """

    name: str
    about: str
    prompt: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)


STEPS: tuple[GenerationStep, ...] = (
    GenerationStep("source", "Read source dialogues: two speakers, a window of a few turns."),
    GenerationStep(
        "situation",
        "Ask for the theme and summary of each source dialogue.",
        prompt="situation",
        sampling={"temperature": 1.0, "top_p": 1.0, "max_tokens": 1000},
        small={"temperature": 0.3, "top_p": 0.9, "max_tokens": 60},
    ),
    GenerationStep(
        "politeness", "Find each speaker's level of politeness (Korean; other languages pass through)."
    ),
    GenerationStep(
        "dialogue",
        "Ask for a new dialogue with a sarcastic response and its explanation.",
        prompt="dialogue",
        sampling={"temperature": 1.1, "top_p": 0.8, "frequency_penalty": 0.2, "max_tokens": 3000},
        small={"temperature": 0.7, "top_p": 0.9, "max_tokens": 320},
    ),
    GenerationStep(
        "filter", "Drop dialogues that are toxic, in the wrong language, inconsistently polite, or copies."
    ),
    GenerationStep(
        "abnormal",
        "Ask whether each dialogue makes sense; suspects wait for review.",
        prompt="abnormal",
        sampling={"temperature": 0.0, "max_tokens": 200},
        small={"temperature": 0.0, "max_tokens": 40},
    ),
    GenerationStep("review", "Confirm or clear, by a person, what the model found abnormal."),
    GenerationStep(
        "contrast",
        "Ask for a sincere response that shares words with the sarcastic one.",
        prompt="sincere",
        sampling={"temperature": 0.7, "max_tokens": 300},
        small={"temperature": 0.7, "top_p": 0.9, "max_tokens": 60},
    ),
)
"""The sampling of situation and dialogue is KoCoSa's (appendix A.1); the rest is ours."""

PARTS: Mapping[str, Mapping[str, Any]] = {
    "scene": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 200},
    "response": {"temperature": 0.9, "top_p": 0.95, "max_tokens": 60},
    "explanation": {"temperature": 0.3, "top_p": 0.9, "max_tokens": 90},
}
"""Questions of the dialogue step where it asks for several candidates, and their sampling."""
RATING: Mapping[str, Any] = {"temperature": 0.0, "top_p": None, "max_tokens": 8}
"""Sampling of the back-check, whatever the plan says."""

NAMES = tuple(step.name for step in STEPS)
ASKING = tuple(step.name for step in STEPS if step.prompt)
WITH_DIALOGUES = NAMES[NAMES.index("dialogue") :]
"""The steps whose output holds new dialogues."""


def find_step(name: str) -> GenerationStep:
    """Return a step by name."""
    return STEPS[NAMES.index(name)]


def step_before(name: str) -> str:
    """Return the name of the step whose output a step reads; empty for the first."""
    place = NAMES.index(name)
    return NAMES[place - 1] if place else ""
