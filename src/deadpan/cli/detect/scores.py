"""deadpan detect evaluate and deadpan detect kinds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.detect.options import (
    FOLDER,
    common_settings,
    context_option,
    data_option,
    folds_option,
    inputs_of,
    model_option,
    no_split,
    read,
    reading_options,
    set_option,
    speakers_option,
    watching,
)
from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.detect.detector import Detector
    from deadpan.records import Example
    from deadpan.stats import ScoreTable

HELD_BACK = 0.2


@click.command()
@model_option
@data_option
@click.option("--split", "part", help="Score this split only, such as test.")
@click.option("--threshold", metavar="f1|balanced|NUMBER",
              help="Default: the model's own. f1 and balanced choose it on a validation split.")  # fmt: skip
@click.option("--pairs", is_flag=True, help="Call exactly one response of each sequence sarcastic.")
@click.option("--keep-seen", is_flag=True, help="Keep texts the model was trained on (the score then lies).")
@click.option("--out", type=FOLDER, help="Folder for predictions, scores and plots.")
@reading_options
@seed_option
@json_option
def evaluate(
    model: str, source: str, part: str | None, threshold: str | None, pairs: bool, keep_seen: bool,
    out: Path | None, seed: int, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Score a model on a corpus: every score with its interval, and whether its scores mean what they say.

    Texts the model learnt from are left out and counted. A threshold is chosen on the dev split, or where
    there is none on a fifth of the examples, which are then not scored.
    """
    from deadpan.detect.detector import Detector, at_threshold
    from deadpan.detect.tasks import pick_one
    from deadpan.errors import ConfigError
    from deadpan.stats import score_predictions

    detector = Detector.load(model)
    examples, reader = read(source, **reading)
    if part is not None and not any(example.split == part for example in examples):
        raise ConfigError(no_split(source, part, examples))
    tested, dropped = _testable(examples, part, model, keep_seen)
    if threshold is not None:
        tested, detector.threshold = _chosen(detector, examples, tested, threshold, part, seed)
    if not any(example.label is not None for example in tested):
        raise ConfigError(f"nothing to score in {source}: no labelled example the model has not seen")
    with watching() as progress:
        said = at_threshold(detector.predict(tested, progress), detector.threshold)
    if pairs:
        said = pick_one(tested, said)
    scored = score_predictions(tested, said, seed=seed)
    data = {
        "model": model, "system": detector.system, "data": source, "threshold": detector.threshold,
        "seen_in_training": dropped, **scored.as_dict(),
    }  # fmt: skip
    if out:
        _write(out, data, scored, tested, said, inputs_of(reader))
    emit(as_json, data, lambda console: _show(console, scored, detector.threshold, dropped, out))


def _testable(
    examples: list[Example], part: str | None, model: str, keep_seen: bool
) -> tuple[list[Example], int]:
    from deadpan.detect.detector import DEFAULT, DEFAULT_FOLDER
    from deadpan.detect.seen import unseen

    chosen = [example for example in examples if part is None or example.split == part]
    if keep_seen:
        return chosen, 0
    kept = unseen(DEFAULT_FOLDER if model == DEFAULT else Path(model), chosen)
    return kept, len(chosen) - len(kept)


def _chosen(
    detector: Detector, examples: list[Example], tested: list[Example], word: str, part: str | None, seed: int
) -> tuple[list[Example], float]:
    """The examples left to score, and the threshold."""
    from deadpan.detect.thresholds import choose_threshold, parse_threshold
    from deadpan.splits import split

    rule = parse_threshold(word)
    if isinstance(rule, float):
        return tested, rule
    dev = [example for example in examples if example.split == "dev"]
    rest = [example for example in tested if example.split != "dev"]
    if not dev or not rest or part == "dev":
        parts = split(tested, {"dev": HELD_BACK, "test": 1 - HELD_BACK}, seed=seed)
        dev, rest = parts["dev"], parts["test"]
    return rest, choose_threshold(dev, detector.predict(dev), rule)


def _write(
    out: Path,
    data: dict[str, Any],
    scored: ScoreTable,
    tested: list[Example],
    said: list[Any],
    inputs: list[Path],
) -> None:
    from deadpan.errors import MissingExtra
    from deadpan.page import Page
    from deadpan.records import Prediction
    from deadpan.storage import write_json, write_manifest, write_records

    out.mkdir(parents=True, exist_ok=True)
    write_records(out / "predictions.jsonl", said, Prediction)
    write_json(out / "scores.json", data)
    lead = f"{data['system']} on {data['data']}, threshold {data['threshold']:.3g}, n = {scored.n:,}."
    page = Page("How well it detects", lead)
    page.table(("score", "value"), scored.scores.items())
    try:
        from deadpan.figures import reliability

        if scored.calibration.reliability:
            error = scored.calibration.ece_width or 0.0
            figure = reliability(f"Scores are off by {error:.2f} on average", scored.calibration.reliability)
            figure.save(out, "calibration")
            page.heading("Whether scores mean what they say")
            page.figure(figure.svg(), figure.title, figure.table)
    except MissingExtra as missing:
        page.note(str(missing))
    page.write(out / "report.html")
    write_manifest(out, command="detect evaluate", inputs=inputs,
                   config={k: data[k] for k in ("model", "data", "threshold")},
                   counts={"scored": len(tested)})  # fmt: skip


def _show(out: Console, scored: ScoreTable, threshold: float, dropped: int, folder: Path | None) -> None:
    from deadpan.page.numbers import score

    rows = [(name, score(value), f"{value.n:,}") for name, value in scored.scores.items()]
    out.print(table(("score", "value", "n"), rows, numbers=("n",)))
    calibration = scored.calibration
    if calibration.ece_width is not None:
        out.print(
            f"threshold {threshold:.3g}; scores are off by {calibration.ece_width:.3f} on average (ECE)"
        )
    out.print(f"n {scored.n:,} in {scored.n_clusters:,} clusters, unread {scored.n_unread:,}, "
              f"left out as seen in training {dropped:,}")  # fmt: skip
    if folder:
        plot = ", calibration.svg" if calibration.reliability else ""
        out.print(f"written to {folder}: report.html, scores.json, predictions.jsonl{plot}")


@click.command()
@click.option("--system", default="linear", show_default=True, help="One detector a kind, of this system.")
@data_option
@folds_option
@context_option
@speakers_option
@set_option
@reading_options
@seed_option
@json_option
def kinds(
    system: str, source: str, k: int, turns: str, speakers: bool, pairs: tuple[str, ...], seed: int,
    as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Tell kinds of sarcasm apart, by cross-validation: iSarcasmEval B (six), SemEval-2018 B (four)."""
    from deadpan.detect.tasks import cross_validate_kinds
    from deadpan.detect.validation import parse_settings

    examples, _ = read(source, **reading)
    settings = {**common_settings(turns, speakers), **parse_settings(pairs, [system])[system]}
    with watching() as progress:
        found = cross_validate_kinds(system, examples, k=k, seed=seed, settings=settings, progress=progress)
    scores = found.f1()
    sizes = {name: int(n) for name, n in zip(found.names, found.truth.sum(axis=0), strict=True)}
    interval = found.interval(seed=seed)
    data = {
        "system": system, "data": source, "folds": k, "exclusive": found.exclusive,
        "f1": scores, "n": sizes, "macro_f1": interval.as_dict(),
    }  # fmt: skip

    def show(out: Console) -> None:
        rows = [(name, f"{value:.3f}", f"{sizes[name]:,}") for name, value in scores.items()]
        out.print(table(("kind", "F1", "n"), rows, numbers=("F1", "n")))
        how = "one kind an example" if found.exclusive else "several kinds an example"
        out.print(f"macro F1 {interval}, {k} folds, {how}")

    emit(as_json, data, show)
