"""deadpan detect: train, use, explain and compare detectors."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

from deadpan.cli.command import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "text": ("deadpan.cli.detect.answers:text", "Label a text with a shipped detector."),
    "systems": ("deadpan.cli.detect.answers:systems", "List the systems."),
    "train": ("deadpan.cli.detect.studies:train", "Train a system and save it to a folder."),
    "predict": ("deadpan.cli.detect.answers:predict", "Label a table, a corpus or lines of text."),
    "evaluate": ("deadpan.cli.detect.studies:evaluate", "Score a model, with intervals and calibration."),
    "explain": ("deadpan.cli.detect.answers:explain", "Show which words and turns moved a score."),
    "compare": ("deadpan.cli.detect.studies:compare", "Test several systems on the same examples."),
    "transfer": ("deadpan.cli.detect.studies:transfer", "Train on one corpus, test on another."),
    "ablate": ("deadpan.cli.detect.studies:ablate", "Score by amount of context, topic or length."),
    "votes": ("deadpan.cli.detect.studies:votes", "Train on votes; compare intended and perceived."),
    "labelling": ("deadpan.cli.detect.studies:labelling", "Measure how many labels a better order saves."),
    "mirage": ("deadpan.cli.detect.studies:mirage", "Test whether generated text explains a score."),
    "kinds": ("deadpan.cli.detect.studies:kinds", "Classify kinds of sarcasm: irony, satire, ..."),
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
