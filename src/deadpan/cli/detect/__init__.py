"""deadpan detect: train, use, explain and compare detectors."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

from deadpan.cli import LazyGroup

_ANSWERS, _STUDIES = "deadpan.cli.detect.answers", "deadpan.cli.detect.studies"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "text": (f"{_ANSWERS}:text", "Label a text, and say which phrases it depends on."),
    "systems": (f"{_ANSWERS}:systems", "List the systems; --card shows what a detector knows."),
    "train": (f"{_STUDIES}:train", "Train a system and save it to a folder."),
    "predict": (f"{_ANSWERS}:predict", "Label a table, a corpus or lines of text."),
    "evaluate": (f"{_STUDIES}:evaluate", "Score a detector, with intervals and calibration."),
    "compare": (f"{_STUDIES}:compare", "Test several systems on the same examples."),
    "board": (f"{_STUDIES}:board", "Rank systems by corpus from results of compare and evaluate."),
    "transfer": (f"{_STUDIES}:transfer", "Train on one corpus, test on another."),
    "ablate": (f"{_STUDIES}:ablate", "Score by amount of context, topic or length."),
    "soft-labels": (f"{_STUDIES}:soft_labels", "Train on votes; compare intended and perceived."),
    "active-learning": (f"{_STUDIES}:active_learning", "Measure how many labels a better order saves."),
    "origin": (f"{_STUDIES}:origin", "Test whether generated text explains a score."),
    "categories": (f"{_STUDIES}:categories", "Classify categories of sarcasm: irony, satire, ..."),
}


class DetectGroup(LazyGroup):
    """A group that treats an argument which is not a command as a text to label."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Pass options before the text on to it: deadpan detect --json "Oh, great."."""
        if args and args[0].startswith("-") and " " in args[0]:
            args = ["text", *args[1:], "--", args[0]]  # a text, not an option
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["text", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in COMMANDS and not word.startswith("-"):
            near = get_close_matches(word, COMMANDS, n=1, cutoff=0.7)
            if near and " " not in word.strip():
                ctx.fail(f"no command {word!r}: did you mean {near[0]}? To label it: detect text {word!r}")
            args = ["text", *args]
        return super().resolve_command(ctx, args)


detect = DetectGroup(
    COMMANDS,
    name="detect",
    no_args_is_help=True,
    help='Label texts sarcastic or sincere.\n\nTo try it: deadpan detect "Oh great, another delay."',
)
