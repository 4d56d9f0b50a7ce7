"""Kinds of outputs: one file each, found by the command that wrote the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from deadpan.report.outputs import Output
from deadpan.report.stories import Story

KINDS: Mapping[str, str] = {
    "compare": "log_comparisons",
    "datasets audit": "audits",
    "datasets clean": "cleanings",
    "detect compare": "comparisons",
    "detect evaluate": "evaluations",
    "detect labelling": "labellings",
    "detect mirage": "mirages",
    "detect transfer": "transfers",
    "detect votes": "votes",
    "corpus build": "corpora",
    "bench run": "benchmarks",
    "studio export": "studies",
    "generate run": "generations",
    "reproduce": "reproductions",
    "score": "evaluations",
}
"""The beginning of a command -> the module that describes its outputs; their manifest describes others."""
OTHER = "others"


def tell(outputs: Sequence[Output]) -> list[Story]:
    """Return the stories of some outputs, in their order; several outputs may share one story."""
    by_kind: dict[str, list[Output]] = {}
    for output in outputs:
        by_kind.setdefault(OTHER if output.problem else kind_of(output.command), []).append(output)
    stories: list[Story] = []
    for kind, members in by_kind.items():
        stories += import_module(f"deadpan.report.kinds.{kind}").tell(members)
    place = {output.name: at for at, output in enumerate(outputs)}
    return sorted(stories, key=lambda story: min(place[output.name] for output in story.outputs))


def kind_of(command: str) -> str:
    """Return the module for a command: the longest beginning that is known."""
    known = [start for start in KINDS if command == start or command.startswith(f"{start} ")]
    return KINDS[max(known, key=len)] if known else OTHER
