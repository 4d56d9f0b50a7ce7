"""Options that several detect commands share, and how they read data and finish."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from deadpan.cli.options import FOLDER, comma_list, joined, preset_choice, reading_options, turns_option
from deadpan.cli.terminal import json_option, seed_option, show

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading
    from deadpan.progress import Progress
    from deadpan.records import Example

_TYPED = ParameterSource.COMMANDLINE

system_option = click.option("--system", default="linear", show_default=True, help="See `deadpan detect systems`.")
setting_option = click.option(
    "--setting", "pairs", multiple=True, metavar="NAME=VALUE",
    help="A setting of the system, such as strength=2; may be repeated.",
)  # fmt: skip
speakers_option = click.option("--speakers", is_flag=True, help="Mark the speaker of each turn (A, B, ...).")
folds_option = click.option(
    "--folds", "k", default=5, show_default=True, help="Cross-validation folds; threads are never split."
)
pool_option = click.option(
    "--pool", is_flag=True, help="Ignore published train and test splits: use all examples together."
)


def _threshold(ctx: click.Context, parameter: click.Parameter, word: str | None) -> str | float | None:
    from deadpan.detect.verdicts import parse_threshold

    return None if word is None else parse_threshold(word)


threshold_option = click.option(
    "--threshold", default="0.5", show_default=True, metavar="f1|balanced|NUMBER", callback=_threshold,
    help="Score above which a text is labelled sarcastic; f1 and balanced choose it from out-of-fold scores "
    "of the training data.",
)  # fmt: skip
own_threshold_option = click.option(
    "--threshold", metavar="f1|balanced|NUMBER", callback=_threshold,
    help="Default: the detector's own. f1 and balanced choose it on the dev split, or on a fifth of the "
    "examples, which are then not scored.",
)  # fmt: skip
prevalence_option = click.option(
    "--prevalence", type=float, help="Share of sarcastic texts in the population, such as 0.14."
)
authors_option = click.option(
    "--authors", is_flag=True, help="Compare the blended systems with and without each author's history."
)
subreddits_option = click.option("--subreddits", is_flag=True, help="The same with each subreddit's history.")
detector_option = click.option(
    "--detector", default="auto", show_default=True, metavar="FOLDER",
    help="Folder of a saved detector, `base` (fast, three languages), `encoder` (better, English only) or "
    "`auto` (encoder for English if its weights have been pulled, base otherwise).",
)  # fmt: skip
also_option = click.option(
    "--also", "more", default="", metavar="A,B,...",
    help="Additional training corpora, without their test splits and without duplicates of SOURCE.",
)  # fmt: skip
folder_option = click.option("--out", type=FOLDER, help="Folder for tables, predictions, figures and a page.")
study_options = joined(pool_option, setting_option, reading_options, seed_option, json_option)
"""Options of every study."""
report_options = joined(folder_option, reading_options, seed_option, json_option)
"""Options of a study that `report` finishes."""
context_options = joined(turns_option, speakers_option)
preset_option = preset_choice("detect")


def system_settings(
    system: str, pairs: tuple[str, ...], turns: str, speakers: bool, seed: int | None = None, preset: str | None = None
) -> dict[str, Any]:
    """Return the settings of one system from --setting, --turns, --speakers, --seed and --preset."""
    settings = settings_of([system], pairs, turns, speakers, preset)[system]
    return settings if seed is None else {"seed": seed, **settings}


def settings_of(
    systems: list[str], pairs: tuple[str, ...], turns: str, speakers: bool, preset: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return the settings of several systems; a preset is for those that its paper describes."""
    from deadpan.detect.system import parse_turns, typed_settings

    ctx = click.get_current_context()
    shared = {"turns": parse_turns(turns), "speakers": speakers}
    typed = [name for name in shared if ctx.get_parameter_source(name) is _TYPED]
    return typed_settings(systems, pairs, shared, typed, preset)


def read_also(more: str, reading: Reading, progress: Progress) -> list[Example]:
    """Read the corpora of --also."""
    from deadpan.datasets import read_source

    return [row for source in comma_list(more) for row in read_source(source, reading, progress).examples]


def finish(result: Any, as_json: bool, out: Path | None, inputs: Iterable[Path]) -> None:
    """Write the output folder if one was asked for, and print the result."""
    if out is not None:
        result.write(out, inputs=inputs)
    show(result, as_json)
    if out is not None and not as_json:
        click.echo(f"Written to {out}: open report.html")


def report(result: Any, inputs: Iterable[Path], out: Path | None, as_json: bool, seed: int) -> None:
    """Finish a study whose options are `report_options`."""
    finish(result, as_json, out, inputs)
