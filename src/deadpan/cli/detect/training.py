"""deadpan detect train."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.detect.options import (
    also_option,
    common_settings,
    context_option,
    counts,
    data_option,
    inputs_of,
    no_split,
    read,
    read_also,
    reading_options,
    set_option,
    speakers_option,
    threshold_option,
    watching,
)
from deadpan.cli.output import emit, json_option, seed_option, show_tally

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@click.option("--system", default="linear", show_default=True, help="See `deadpan detect systems`.")
@data_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the model.")
@also_option
@click.option("--split", "part", help="Train on this split only, such as train.")
@context_option
@speakers_option
@threshold_option
@set_option
@reading_options
@seed_option
@json_option
def train(
    system: str, source: str, out: Path, more: str, part: str | None, turns: str, speakers: bool,
    threshold: str, pairs: tuple[str, ...], seed: int, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Train a system on a corpus and write it to a folder.

    The folder holds plain arrays and JSON, nothing that could run; its manifest says what it was made from.
    """
    from deadpan.detect.detector import Detector, clear
    from deadpan.detect.seen import write_seen
    from deadpan.detect.thresholds import parse_threshold
    from deadpan.detect.validation import parse_settings, train_with_threshold
    from deadpan.errors import ConfigError

    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "detector.json").exists())):
        raise ConfigError(f"{out}: holds something that is not a detector; choose another folder")
    rule = parse_threshold(threshold)
    own = parse_settings(pairs, [system])[system]
    detector = Detector(system, **{**common_settings(turns, speakers), "seed": seed, **own})
    examples, reader = read(source, **reading)
    chosen = [example for example in examples if part is None or example.split == part]
    if part is not None and not chosen:
        raise ConfigError(no_split(source, part, examples))
    chosen += read_also(more, examples, **reading)[0]
    with watching() as progress:
        train_with_threshold(detector, chosen, rule, progress)
    clear(out)
    out.mkdir(parents=True, exist_ok=True)
    write_seen(out, chosen)
    numbers = counts(chosen)
    about = {"data": source, "also": more, "split": part or "", **numbers}
    detector.save(out, command="detect train", about=about, inputs=inputs_of(reader))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    data = {
        "system": system, "settings": detector.settings, "threshold": detector.threshold, "out": str(out),
        "bytes": size, **numbers, **reader.tally.as_dict(),
    }  # fmt: skip

    def show(console: Console) -> None:
        console.print(
            f"{system} trained on {numbers['examples']:,} examples of {source} "
            f"({numbers['sarcastic']:,} sarcastic, {numbers['sincere']:,} sincere)"
        )
        console.print(f"written to {out} ({size / 1e6:.1f} MB), threshold {detector.threshold:.3g}")
        show_tally(console, reader.tally)
        console.print(f'Try it: deadpan detect explain --model {out} "Great, another Monday."')

    emit(as_json, data, show)
