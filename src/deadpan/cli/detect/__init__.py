"""deadpan detect: train, use, question and compare systems that say sarcastic or not."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

from deadpan.cli import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "text": ("deadpan.cli.detect.answers:text", "Answer at once, with the shipped detector."),
    "systems": ("deadpan.cli.detect.answers:systems", "The systems there are."),
    "train": ("deadpan.cli.detect.training:train", "Train a system and write it to a folder."),
    "predict": ("deadpan.cli.detect.answers:predict", "Lines of text in, JSON lines out, as a stream."),
    "evaluate": ("deadpan.cli.detect.scores:evaluate", "Score a model, with intervals and calibration."),
    "explain": ("deadpan.cli.detect.reasons:explain", "Which words and which context moved a score."),
    "compare": ("deadpan.cli.detect.tables:compare", "Several systems on the same folds, in one table."),
    "transfer": ("deadpan.cli.detect.tables:transfer", "Train on one corpus, test on another: the matrix."),
    "ablate": ("deadpan.cli.detect.tables:ablate", "With more and less context; by topic or length."),
    "kinds": ("deadpan.cli.detect.scores:kinds", "Of which kind: irony, satire, overstatement, ..."),
}


class Answering(LazyGroup):
    """A group that takes anything which is not a command for a text to judge."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the text belong to it: deadpan detect --json "Oh, great."."""
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
                ctx.fail(
                    f"no command {word!r}: did you mean {near[0]}? To judge the word itself: text {word!r}"
                )
            args = ["text", *args]
        return super().resolve_command(ctx, args)


detect = Answering(
    COMMANDS,
    name="detect",
    no_args_is_help=True,
    help='Systems that say sarcastic or not.\n\nTo try it: deadpan detect "Great, another Monday."',
)
