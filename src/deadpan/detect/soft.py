"""Training on votes instead of labels, and on whose label it is.

Every system learns from labels that are True or False. A text that three of five people call sarcastic is
given to it five times, three times as sarcastic: for a logistic loss that is the same as training on the
share itself. The copies share a group, so that no fold or threshold separates them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from deadpan.arguments import check_examples, check_whole
from deadpan.ratings.votes import heard, intended
from deadpan.records import Example, LabelKind, Turn

COPIES = 5
"""Copies of an example per vote share, at most."""


def spread_votes(
    examples: Iterable[Example], copies: int = COPIES, *, majority: bool = False
) -> list[Example]:
    """Return each example once per vote, labelled as that vote; examples without votes once, as they are.

    More than `copies` votes are scaled down to that many copies. With `majority` all copies have the label
    of most votes: what training on votes is compared with, since copies alone weaken any regularization.
    """
    check_whole(copies, "the number of copies", 1)
    spread: list[Example] = []
    for example in check_examples(examples):
        votes = heard(example)
        if votes is None:
            spread.append(example)
            continue
        total = min(votes.voters, copies)
        yes = total * (votes.share > 0.5) if majority else round(votes.share * total)
        group = example.group or f"votes {example.id}"
        spread += [
            replace(example, id=f"{example.id}~{at}", label=at < yes, group=group, label_kind="perceived")
            for at in range(total)
        ]
    return spread


def both_labels(examples: Iterable[Example], copies: int = COPIES, *, tagged: bool = False) -> list[Example]:
    """Return the votes and the author's own label of each example, with equal weight, named by `say_who`."""
    rows: list[Example] = []
    for example in check_examples(examples):
        votes = spread_votes([example], copies)
        meant = intended(example)
        own = [] if meant is None else [
            replace(vote, id=f"{vote.id}~author", label=meant, label_kind="author") for vote in votes
        ]  # fmt: skip
        rows += [*votes, *own]
    return say_who(rows, tagged=tagged)


def ask_as(examples: Iterable[Example], kind: LabelKind, *, tagged: bool = False) -> list[Example]:
    """Return the examples as a question: would the author ("author"), or would others ("perceived")?"""
    asked = [replace(example, label_kind=kind) for example in check_examples(examples)]
    return say_who(asked, tagged=tagged)


def say_who(examples: Iterable[Example], *, tagged: bool = False) -> list[Example]:
    """Return the examples with who gave the label as a word of the text, so that any system can use it.

    At prediction time the word asks a question: would the author, or would others, call this sarcastic? To a
    system that adds up the weights of words, one word more moves all scores alike; with `tagged`, every word
    is also given with the kind in front, so that it can weigh for the author and not for others (Daumé 2007).
    """
    return [
        replace(example, response=Turn(example.response.speaker, _said(example, tagged)))
        for example in check_examples(examples)
    ]


def _said(example: Example, tagged: bool) -> str:
    kind = example.label_kind or "unknown"
    words = [f"{kind}{word}" for word in example.response.text.split()] if tagged else []
    return " ".join([f"labelledby{kind}", example.response.text, *words])
