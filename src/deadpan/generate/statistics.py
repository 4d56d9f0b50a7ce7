"""Statistics of a data set, in the rows of KoCoSa's Tables 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadpan.fields import encode
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Example
from deadpan.results import Result

TOPICS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class DialogueStatistics(Result):
    """Counts and means. Tokens are words between spaces, so that anyone can count them again.

    `judged` dialogues have a label given by people; the others have the one the model was asked for.
    """

    dialogues: int
    sarcastic: int
    sincere: int
    judged: int
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

    def summary(self) -> Summary:
        share = 100 * self.sarcastic / self.dialogues if self.dialogues else 0.0
        rows: tuple[tuple[str, str | int], ...] = (
            ("dialogues", self.dialogues),
            ("sarcastic", f"{self.sarcastic:,} ({share:.1f} %)"),
            ("sincere", f"{self.sincere:,} ({100 - share:.1f} %)" if self.dialogues else "0"),
            ("judged by people", self.judged),
            ("turns per dialogue, mean", f"{self.turns_mean:.1f}"),
            ("turns per dialogue, range", f"{self.turns_least} to {self.turns_most}"),
            ("tokens per dialogue", f"{self.tokens_per_dialogue:.1f}"),
            ("tokens per utterance", f"{self.tokens_per_utterance:.1f}"),
            ("tokens per explanation", f"{self.tokens_per_explanation:.1f}"),
            ("with an explanation", self.explained),
        )
        topics = ", ".join(f"{topic} {n:,}" for topic, n in list(self.topics.items())[:TOPICS_SHOWN])
        return Summary((Table(("statistic", "value"), rows),), (f"topics: {topics}",))

    def as_dict(self) -> dict[str, object]:
        return dict(encode(self))


def dialogue_statistics(
    examples: Sequence[Example],
    changes: Mapping[str, int] | None = None,
    drops: Mapping[str, int] | None = None,
) -> DialogueStatistics:
    """Count a data set. `changes` and `drops` are those of the construction table."""
    turns = [len(example.context) + 1 for example in examples]
    words = [
        [len(turn.text.split()) for turn in (*example.context, example.response)] for example in examples
    ]
    explained = [len(example.explanation.split()) for example in examples if example.explanation]
    return DialogueStatistics(
        dialogues=len(examples),
        sarcastic=sum(example.label is True for example in examples),
        sincere=sum(example.label is False for example in examples),
        judged=sum(example.label_kind != "generated" for example in examples),
        turns_mean=_mean(turns),
        turns_least=min(turns, default=0),
        turns_most=max(turns, default=0),
        tokens_per_dialogue=_mean([sum(lengths) for lengths in words]),
        tokens_per_utterance=_mean([n for lengths in words for n in lengths]),
        tokens_per_explanation=_mean(explained),
        explained=len(explained),
        topics=dict(Counter(str(e.meta.get("topic") or "not said") for e in examples).most_common()),
        changes=dict(sorted((changes or {}).items())),
        drops=dict(sorted((drops or {}).items())),
    )


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
