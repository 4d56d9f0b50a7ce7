"""What a data set holds, in the rows of the paper's Table 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.records import Example


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts and means. Tokens are words between spaces, so that they can be counted again anywhere."""

    dialogues: int
    sarcastic: int
    sincere: int
    turns_mean: float
    turns_least: int
    turns_most: int
    tokens_per_dialogue: float
    tokens_per_utterance: float
    tokens_per_explanation: float
    explained: int
    topics: Mapping[str, int]
    changes: Mapping[str, int]
    drops: Mapping[str, int]

    def rows(self) -> list[tuple[str, Any]]:
        """For a table: what, how much."""
        share = 100 * self.sarcastic / self.dialogues if self.dialogues else 0.0
        return [
            ("dialogues", self.dialogues),
            ("sarcastic", f"{self.sarcastic:,} ({share:.1f} %)"),
            ("sincere", f"{self.sincere:,} ({100 - share:.1f} %)" if self.dialogues else "0"),
            ("turns per dialogue, mean", round(self.turns_mean, 1)),
            ("turns, least to most", f"{self.turns_least} to {self.turns_most}"),
            ("tokens per dialogue", round(self.tokens_per_dialogue, 1)),
            ("tokens per utterance", round(self.tokens_per_utterance, 1)),
            ("tokens per explanation", round(self.tokens_per_explanation, 1)),
            ("with an explanation", self.explained),
        ]


def statistics(
    examples: Sequence[Example],
    changes: Mapping[str, int] | None = None,
    drops: Mapping[str, int] | None = None,
) -> Statistics:
    """Count a data set. `changes` and `drops` are what people's answers did on the way to it."""
    turns = [len(example.context) + 1 for example in examples]
    words = [
        [len(turn.text.split()) for turn in (*example.context, example.response)] for example in examples
    ]
    explained = [len(example.explanation.split()) for example in examples if example.explanation]
    return Statistics(
        dialogues=len(examples),
        sarcastic=sum(example.label is True for example in examples),
        sincere=sum(example.label is False for example in examples),
        turns_mean=_mean(turns),
        turns_least=min(turns, default=0),
        turns_most=max(turns, default=0),
        tokens_per_dialogue=_mean([sum(each) for each in words]),
        tokens_per_utterance=_mean([n for each in words for n in each]),
        tokens_per_explanation=_mean(explained),
        explained=len(explained),
        topics=dict(Counter(str(e.meta.get("topic") or "not said") for e in examples).most_common()),
        changes=dict(sorted((changes or {}).items())),
        drops=dict(sorted((drops or {}).items())),
    )


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
