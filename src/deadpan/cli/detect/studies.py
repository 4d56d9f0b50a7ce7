"""deadpan detect train, evaluate, compare, transfer, ablate, and the studies of labels and origins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.detect import options
from deadpan.cli.options import (
    PATH,
    comma_list,
    metric_option,
    out_option,
    refuse_with,
    source_argument,
    sources_argument,
)
from deadpan.cli.terminal import json_option, progress_bar, show

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading
    from deadpan.detect.verdicts import Threshold as Rule


@click.command()
@source_argument
@options.system_option
@out_option
@click.option("--overwrite", is_flag=True, help="Replace the detector that was saved to --out before.")
@options.also_option
@options.context_options
@options.threshold_option
@options.prevalence_option
@options.preset_option
@options.study_options
def train(
    source: str, system: str, out: Path, overwrite: bool, more: str, pool: bool, turns: str, speakers: bool,
    threshold: Rule, prevalence: float | None, preset: str | None, pairs: tuple[str, ...], reading: Reading,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Train a system on SOURCE and save it to a folder.

    A published test split is not trained on. The folder holds plain arrays and JSON, nothing that can run;
    its manifest says what the model was made from, and hashes of the training texts are kept.
    """
    from deadpan.datasets import read_source
    from deadpan.detect.studies.training import train_detector

    settings = options.system_settings(system, pairs, turns, speakers, seed, preset)
    with progress_bar() as progress:
        data = read_source(source, reading, progress)
        result = train_detector(
            data.examples, system, out=out, overwrite=overwrite, settings=settings, threshold=threshold, pool=pool,
            prevalence=prevalence, also=options.read_also(more, reading, progress), source=data.name,
            drops=data.tally.drops, inputs=data.files, progress=progress,
        )  # fmt: skip
    show(result, as_json)


@click.command()
@source_argument
@options.detector_option
@options.own_threshold_option
@options.prevalence_option
@click.option("--pairs", is_flag=True, help="Label exactly one response of each sequence sarcastic.")
@click.option("--keep-seen", is_flag=True, help="Also score texts it was trained on: inflates scores.")
@options.pool_option
@options.report_options
def evaluate(
    source: str, detector: str, threshold: Rule | None, prevalence: float | None, pairs: bool,
    keep_seen: bool, pool: bool, out: Path | None, reading: Reading, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Score a detector on SOURCE: each score with its interval, beside the score of a constant answer.

    Texts it was trained on are excluded and counted, with the rest of their pair or sequence. Where
    SOURCE has published train and test splits, the test split is scored.
    """
    from deadpan.datasets import read_source
    from deadpan.detect.studies.evaluation import evaluate as run

    with progress_bar() as progress:
        data = read_source(source, reading, progress)
        result = run(
            detector, data.examples, threshold=threshold, prevalence=prevalence, pairs=pairs,
            keep_seen=keep_seen, pool=pool, source=data.name, seed=seed, progress=progress,
        )  # fmt: skip
    options.finish(result, as_json, out, data.files)


@click.command()
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option("--train", "train_", help="Instead of SOURCE: train on this corpus or table, ...")
@click.option("--test", "test_", help="... and test on this one. Texts in both are not used for training.")
@click.option("--systems", "systems_", required=True, help="Comma-separated names: linear,bigrams,cues.")
@options.folds_option
@click.option("--seeds", default=1, show_default=True, help="Number of random seeds: shows mean and spread.")
@metric_option
@options.also_option
@click.option("--blend", is_flag=True, help="Add a row that combines all systems by out-of-fold scores.")
@options.authors_option
@options.subreddits_option
@options.context_options
@options.threshold_option
@options.prevalence_option
@options.preset_option
@options.folder_option
@options.study_options
def compare(
    source: str | None, train_: str | None, test_: str | None, systems_: str, k: int, pool: bool, seeds: int,
    metric: str | None, more: str, blend: bool, authors: bool, subreddits: bool, turns: str, speakers: bool,
    threshold: Rule, prevalence: float | None, preset: str | None, out: Path | None, pairs: tuple[str, ...],
    reading: Reading, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Test several systems on the same examples: scores with intervals, cost, significant differences.

    If SOURCE has published train and test splits, they are used; otherwise folds. --setting NAME=VALUE
    applies to all systems, --setting SYSTEM.NAME=VALUE to one.
    """
    from deadpan.datasets import read_parts
    from deadpan.detect.studies.comparison import compare_history, compare_systems

    if authors or subreddits:
        mode = "--authors" if authors else "--subreddits"
        refuse_with(mode, "--out", "--threshold", "--prevalence", "--seeds", "--also", "--blend")
    settings = options.settings_of(comma_list(systems_), pairs, turns, speakers, preset)
    with progress_bar() as progress:
        data = read_parts(source, train_, test_, reading, progress)
        if by := [name for name, asked in (("author", authors), ("subreddit", subreddits)) if asked]:
            study = compare_history(
                data.examples, settings, by=by, metric=metric, k=k, pool=pool, seed=seed,
                source=data.name, progress=progress,
            )  # fmt: skip
            show(study, as_json)
            return
        result = compare_systems(
            data.examples, settings, metric=metric, k=k, pool=pool, seeds=[seed + n for n in range(seeds)],
            threshold=threshold, prevalence=prevalence, blend=blend, source=data.name, progress=progress,
            also=options.read_also(more, reading, progress),
        )  # fmt: skip
    options.finish(result, as_json, out, data.files)


@click.command()
@sources_argument
@options.system_option
@options.folds_option
@metric_option
@click.option("--sample", default=20_000, show_default=True, help="Draw N at random from larger corpora.")
@click.option("--together", is_flag=True, help="Also train one model on all of them.")
@options.context_options
@options.folder_option
@options.study_options
def transfer(
    sources: tuple[str, ...], system: str, k: int, pool: bool, metric: str | None, sample: int,
    together: bool, turns: str, speakers: bool, out: Path | None, pairs: tuple[str, ...], reading: Reading,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Train on each SOURCE and test on every other; no SOURCE is tested on its own training data.

    Duplicates and near duplicates of an earlier SOURCE are excluded from the later one, and counted.
    """
    from deadpan.datasets import read_several
    from deadpan.detect.studies.transfer import METRIC
    from deadpan.detect.studies.transfer import transfer as run

    settings = options.system_settings(system, pairs, turns, speakers)
    with progress_bar() as progress:
        corpora = {}
        files: list[Path] = []
        names = [name for word in sources for name in comma_list(word)]
        for source, data in zip(names, read_several(names, reading, progress), strict=True):
            corpora[source if data.name in corpora else data.name] = data.examples
            files += data.files
        result = run(
            corpora, system, metric=metric or METRIC, k=k, pool=pool, at_most=sample, together=together,
            seed=seed, settings=settings, progress=progress,
        )  # fmt: skip
    options.finish(result, as_json, out, files)


@click.command()
@source_argument
@options.system_option
@options.folds_option
@click.option("--turns", default="0,1,2,3,full", show_default=True, help="Turns of context, comma-separated.")
@click.option("--by", type=click.Choice(["turns", "topic", "category", "length"]), default="turns",
              show_default=True, help="Score per number of turns, or per part of the corpus.")  # fmt: skip
@metric_option
@options.speakers_option
@options.threshold_option
@options.preset_option
@options.study_options
def ablate(
    source: str, system: str, k: int, pool: bool, turns: str, by: str, metric: str | None, speakers: bool,
    threshold: Rule, preset: str | None, pairs: tuple[str, ...], reading: Reading, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Score with more or less context on the same folds (KoCoSa's Table 9), or by topic (Table 10)."""
    from deadpan.datasets import read_source
    from deadpan.detect.studies.ablation import ablate as run
    from deadpan.detect.system import parse_turns

    counts = [parse_turns(word) for word in comma_list(turns)]
    settings = options.system_settings(system, pairs, "full", speakers, preset=preset)
    del settings["turns"]  # the study varies them
    with progress_bar() as progress:
        data = read_source(source, reading, progress)
        result = run(
            data.examples, system, turns=counts, by=by, metric=metric, k=k, pool=pool, threshold=threshold,
            settings=settings, source=data.name, seed=seed, progress=progress,
        )  # fmt: skip
    show(result, as_json)


@click.command()
@source_argument
@options.system_option
@options.folds_option
@options.context_options
@options.folder_option
@options.study_options
def categories(
    source: str, system: str, k: int, pool: bool, turns: str, speakers: bool, out: Path | None,
    pairs: tuple[str, ...], reading: Reading, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Classify categories of sarcasm, one detector per category, which --out saves (SemEval-2018 B)."""
    from deadpan.datasets import read_source
    from deadpan.detect.studies.categories import classify_categories

    settings = options.system_settings(system, pairs, turns, speakers)
    with progress_bar() as progress:
        data = read_source(source, reading, progress)
        result = classify_categories(
            data.examples, system, k=k, pool=pool, settings=settings, source=data.name, seed=seed,
            keep=out is not None, progress=progress,
        )  # fmt: skip
    options.finish(result, as_json, out, data.files)


@click.command()
@click.option("--generated", required=True, metavar="A,B", help="Generated or written corpora.")
@click.option("--organic", required=True, metavar="A,B", help="Corpora of what people said.")
@options.system_option
@options.setting_option
@click.option("--llm", help="A language model, asked about 100 texts of each corpus.")
@options.report_options
def origin(generated: str, organic: str, pairs: Any, reading: Reading, system: str, llm: str, **report: Any,
) -> None:  # fmt: skip
    """Test whether a detector knows sarcasm, or only tells generated text from what people say."""
    from deadpan.datasets import read_source
    from deadpan.detect.studies.origin import study_origin

    settings = options.system_settings(system, pairs, "0", False)
    read = {name: read_source(name, reading) for name in comma_list(f"{generated},{organic}")}
    both = [{name: read[name].examples for name in comma_list(word)} for word in (generated, organic)]
    result = study_origin(*both, system=system, settings=settings, llm=llm, seed=report["seed"])
    options.report(result, [file for data in read.values() for file in data.files], **report)


@click.command()
@source_argument
@options.system_option
@options.setting_option
@click.option("--votes", type=PATH, help="People's answers: a folder of `studio export`, or its labels.jsonl.")
@click.option("--per-rater", is_flag=True, help="Predict the answer of each rater instead (LeWiDi 2025).")
@options.report_options
def soft_labels(
    source: str, system: str, pairs: tuple[str, ...], votes: Path | None, per_rater: bool, reading: Reading,
    **report: Any,
) -> None:  # fmt: skip
    """Train on votes instead of labels, score against votes, and compare intended with perceived sarcasm.

    --per-rater predicts each rater's answer and the distribution of answers, with and without knowing the
    rater, beside the most frequent answers; SOURCE is csc, multipico, or has --votes of named raters.
    """
    from deadpan.datasets import read_source

    settings = options.system_settings(system, pairs, "0", False)
    with progress_bar() as progress:
        data = read_source(source, reading, progress)
        how: dict[str, Any] = {"settings": settings, "seed": report["seed"], "progress": progress}
        if per_rater:
            from deadpan.detect.studies.perspectives import read_answers, study_raters

            result: Any = study_raters(read_answers(data.examples, votes) if votes else data.examples, system, **how)
        else:
            from deadpan.detect.studies.soft_labels import study_soft_labels
            from deadpan.ratings.votes import read_votes

            result = study_soft_labels(read_votes(data.examples, votes) if votes else data.examples, system, **how)
    options.report(result, data.files, **report)


@click.command()
@source_argument
@click.option("--labels", default=1000, show_default=True, type=click.IntRange(min=200), help="Number of labels.")
@options.report_options
def active_learning(source: str, labels: int, reading: Reading, **report: Any) -> None:
    """Replay labelling SOURCE in random and in informative order; count the labels the latter saves."""
    from deadpan.datasets import read_source
    from deadpan.detect.studies.active_learning import replay_active_learning

    data = read_source(source, reading)
    options.report(replay_active_learning(data.examples, labels=labels, seed=report["seed"]), data.files, **report)


@click.command()
@click.argument("results", nargs=-1, required=True, type=PATH, metavar="RESULT...")
@metric_option
@options.folder_option
@json_option
def board(results: tuple[Path, ...], metric: str | None, out: Path | None, as_json: bool) -> None:
    """Rank systems by corpus from the folders that `detect compare` and `evaluate` wrote with --out.

    Scores are computed again on the same texts, beside a constant answer and published ones. A result that is
    incomplete, was changed, scores copies or texts seen in training, or is of other texts is refused, with the
    reason. A submission is a folder with tested.csv of a corpus here, and NAME.jsonl with its predictions.
    """
    from deadpan.detect.studies.board import make_board
    from deadpan.reproduce.published import published_detectors

    found = make_board(results, metric=metric, published=published_detectors)
    if out:
        found.write(out)
    show(found, as_json)
