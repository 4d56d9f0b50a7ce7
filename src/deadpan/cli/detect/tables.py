"""deadpan detect compare, transfer and ablate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.detect.options import (
    FOLDER,
    also_option,
    common_settings,
    context_option,
    data_option,
    folds_option,
    names,
    read,
    read_also,
    reading_options,
    set_option,
    speakers_option,
    threshold_option,
    watching,
)
from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.detect.comparison import Compared
    from deadpan.records import Example
    from deadpan.stats import Interval

by_option = click.option(
    "--score", "by", help="The score systems are compared by (default: what suits the data)."
)


@click.command()
@click.option("--systems", "systems_", required=True, help="Names with commas: linear,bigrams,cues.")
@data_option
@folds_option
@click.option("--seeds", default=1, show_default=True, help="Train with this many seeds: mean and spread.")
@by_option
@also_option
@click.option("--blend", is_flag=True, help="Add a row that weighs all of them by their out-of-fold scores.")
@context_option
@speakers_option
@threshold_option
@click.option("--out", type=FOLDER, help="Folder for predictions, the table and a page.")
@set_option
@reading_options
@seed_option
@json_option
def compare(
    systems_: str, source: str, k: int, seeds: int, by: str | None, more: str, blend: bool, turns: str,
    speakers: bool, threshold: str, out: Path | None, pairs: tuple[str, ...], seed: int, as_json: bool,
    **reading: Any,
) -> None:  # fmt: skip
    """Several systems on the same folds: scores with intervals, what they cost, which differ.

    --set KEY=VALUE goes to all systems, --set SYSTEM.KEY=VALUE to one.
    """
    from deadpan.detect.comparison import compare as run
    from deadpan.detect.thresholds import parse_threshold
    from deadpan.detect.validation import parse_settings

    wanted = names(systems_)
    own = parse_settings(pairs, wanted)
    shared = common_settings(turns, speakers)
    settings = {system: {**shared, **own[system]} for system in wanted}
    examples, _ = read(source, **reading)
    also, removed = read_also(more, examples, **reading)
    with watching() as progress:
        found = run(
            settings, examples, k=k, seeds=[seed + n for n in range(seeds)], rule=parse_threshold(threshold),
            by=by, blend=blend, also=also, progress=progress,
        )  # fmt: skip
    data = {
        "data": source, "folds": k, "seed": seed, "also": names(more), "n_also": len(also),
        "duplicates_removed": removed, **found.as_dict(),
    }  # fmt: skip
    if out:
        _write_compared(out, data, found)
    emit(as_json, data, lambda console: _show_compared(console, found, source, k, out))


def _show_compared(out: Console, found: Compared, source: str, k: int, folder: Path | None) -> None:
    from deadpan.page.numbers import score

    shown = found.shown
    columns = ("system", *shown, "train s", "1,000 texts s", f"by {found.by}")
    rows = []
    for row in found.rows:
        cells = [score(row.scores[name]) for name in shown]
        if len(found.seeds) > 1:
            mean, spread = row.over_seeds[found.by]
            cells[shown.index(found.by)] += f"  mean {mean:.3f} ± {spread:.3f}"
        rows.append((row.system, *cells, f"{row.cost['fit_seconds']:.1f}",
                     f"{row.cost['predict_seconds_per_1000']:.2f}", row.verdict))  # fmt: skip
    out.print(table(columns, rows, numbers=("train s", "1,000 texts s")))
    n = found.rows[0].scores[found.by].n
    many = f", {len(found.seeds)} seeds" if len(found.seeds) > 1 else ""
    out.print(f"{source}, {k} folds{many}, n = {n:,}; differences: paired bootstrap by thread, Holm-adjusted")
    if folder:
        out.print(f"written to {folder}")


def _write_compared(out: Path, data: dict[str, Any], found: Compared) -> None:
    from deadpan.errors import MissingExtra
    from deadpan.page import Page
    from deadpan.records import Prediction
    from deadpan.storage import write_json, write_manifest, write_records

    out.mkdir(parents=True, exist_ok=True)
    for row in found.rows:
        write_records(out / f"{row.system.replace(', ', '-')}.jsonl", row.predictions, Prediction)
    write_json(out / "compare.json", data)
    best = found.rows[0]
    page = Page(
        f"{best.system} does best on {data['data']}", f"{data['folds']} folds, best {found.by} first."
    )
    page.table(
        ("system", found.by, "compared with the best"),
        [(row.system, row.scores[found.by], row.verdict) for row in found.rows],
    )
    others = [name for name in found.shown if name != found.by]
    page.heading("Other scores, and cost")
    page.table(
        ("system", *others, "train, s", "1,000 texts, s"),
        [
            (row.system, *(row.scores[name] for name in others), row.cost["fit_seconds"],
             row.cost["predict_seconds_per_1000"])
            for row in found.rows
        ],
    )  # fmt: skip
    try:
        from deadpan.figures import whiskers

        scores = {row.system: row.scores[found.by] for row in found.rows}
        figure = whiskers(f"{best.system} does best", scores, unit=found.by)
        figure.save(out, "compare")
        page.figure(figure.svg(), figure.title, figure.table)
    except MissingExtra as missing:
        page.note(str(missing))
    page.write(out / "report.html")
    write_manifest(out, command="detect compare", config={key: data[key] for key in ("data", "folds")},
                   seed=data["seed"])  # fmt: skip


# ---------------------------------------------------------------- transfer


@click.command()
@click.option("--system", default="linear", show_default=True)
@click.option("--data", "sources", required=True, metavar="A,B,...", help="Corpora or files, with commas.")
@folds_option
@by_option
@click.option("--most", default=20_000, show_default=True, help="Examples of a corpus; more are drawn from.")
@context_option
@speakers_option
@click.option("--out", type=FOLDER, help="Folder for the table, the heat map and a page.")
@set_option
@reading_options
@seed_option
@json_option
def transfer(
    system: str, sources: str, k: int, by: str | None, most: int, turns: str, speakers: bool,
    out: Path | None, pairs: tuple[str, ...], seed: int, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Train on each corpus and test on every other; on the diagonal, by cross-validation.

    Texts that stand in two of the corpora, or nearly, are taken out of the later one first, and counted.
    """
    from deadpan.detect.transfer import transfer as run
    from deadpan.detect.validation import parse_settings

    settings = {**common_settings(turns, speakers), **parse_settings(pairs, [system])[system]}
    corpora: dict[str, list[Example]] = {}
    removed: dict[str, int] = {}
    for source in names(sources):
        name = _short(source, corpora)
        rows, removed[name] = _apart(_drawn(read(source, **reading)[0], most, seed), corpora)
        corpora[name] = rows
    with watching() as progress:
        found = run(system, corpora, score=by or "balanced_accuracy", k=k, seed=seed, settings=settings,
                    progress=progress)  # fmt: skip
    sizes = {name: len(rows) for name, rows in corpora.items()}
    data = {**found.as_dict(), "folds": k, "seed": seed, "n": sizes, "duplicates_removed": removed}
    if out:
        _write_transfer(out, data, found.cells, found.score)

    def show(console: Console) -> None:
        from deadpan.page.numbers import score

        cells = [(a, *(score(row[b]) for b in corpora)) for a, row in found.cells.items()]
        console.print(table(("train \\ test", *corpora), cells))
        taken = ", ".join(f"{name} {count:,}" for name, count in removed.items() if count) or "none"
        console.print(f"{found.score} of {system}; on the diagonal {k} folds; duplicates taken out: {taken}")
        if out:
            console.print(f"written to {out}: report.html, transfer.svg, transfer.json")

    emit(as_json, data, show)


def _short(source: str, taken: dict[str, list[Example]]) -> str:
    """What a corpus is called in a table: a file by its name alone, unless another has it."""
    from deadpan.datasets import READERS

    stem = Path(source).stem
    return source if source in READERS or stem in taken else stem[:24]


def _drawn(examples: list[Example], most: int, seed: int) -> list[Example]:
    from deadpan.draws import sample

    labelled = [example for example in examples if example.label is not None]
    return (
        labelled
        if len(labelled) <= most
        else sample(labelled, most, seed=seed, key=lambda e: e.sequence or e.id)
    )


def _apart(rows: list[Example], corpora: dict[str, list[Example]]) -> tuple[list[Example], int]:
    """The rows whose texts are in no corpus read before, and how many were."""
    from deadpan.datasets.leaks import without_duplicates

    earlier = [example for corpus in corpora.values() for example in corpus]
    if not earlier:
        return rows, 0
    kept = without_duplicates(rows, earlier)
    return list(kept.examples), len(rows) - len(kept.examples)


def _write_transfer(out: Path, data: dict[str, Any], cells: Any, by: str) -> None:
    from deadpan.errors import MissingExtra
    from deadpan.page import Page
    from deadpan.storage import write_json, write_manifest

    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "transfer.json", data)
    corpora = list(cells)
    page = Page("What is learnt on one corpus, tested on another", f"{by} of {data['system']}.")
    page.table(("train \\ test", *corpora), [(a, *(cells[a][b] for b in corpora)) for a in corpora])
    try:
        from deadpan.figures import heat

        matrix = [[cells[a][b].value for b in corpora] for a in corpora]
        figure = heat(
            "Trained on a row, tested on a column", matrix,
            rows=("trained on", corpora), columns=("tested on", corpora), unit=by.replace("_", " "),
        )  # fmt: skip
        figure.save(out, "transfer")
        page.figure(figure.svg(), figure.title, figure.table)
    except MissingExtra as missing:
        page.note(str(missing))
    page.note("Texts that stand in two of the corpora were taken out of the later one first: "
              + ", ".join(f"{name} {n:,}" for name, n in data["duplicates_removed"].items()))  # fmt: skip
    page.write(out / "report.html")
    write_manifest(out, command="detect transfer", config={"data": corpora}, seed=data["seed"])


# ---------------------------------------------------------------- ablate


@click.command()
@click.option("--system", default="linear", show_default=True)
@data_option
@folds_option
@click.option("--context", "contexts", default="0,1,2,3,full", show_default=True, help="Turns, with commas.")
@click.option("--by", "grouping", type=click.Choice(["topic", "category", "length"]),
              help="Scores of the parts of the corpus, with the most context asked for.")  # fmt: skip
@by_option
@speakers_option
@threshold_option
@set_option
@reading_options
@seed_option
@json_option
def ablate(
    system: str, source: str, k: int, contexts: str, grouping: str | None, by: str | None, speakers: bool,
    threshold: str, pairs: tuple[str, ...], seed: int, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """With more and less context, on the same folds (KoCoSa's Table 9); or by topic (Table 10)."""
    from deadpan.detect.ablation import by_context, by_part
    from deadpan.detect.comparison import suited
    from deadpan.detect.context import parse_turns
    from deadpan.detect.thresholds import parse_threshold
    from deadpan.detect.validation import parse_settings
    from deadpan.errors import ConfigError
    from deadpan.stats import compare_systems, score_predictions
    from deadpan.stats.outcomes import score_named

    turns = [parse_turns(word) for word in names(contexts)]
    if not turns:
        raise ConfigError("--context names no turns: give numbers or full, such as 0,1,full")
    if by:
        score_named(by)
    settings = {"speakers": speakers, **parse_settings(pairs, [system])[system]}
    examples = [example for example in read(source, **reading)[0] if example.label is not None]
    score = by or suited(examples)[0]
    with watching() as progress:
        trials = by_context(
            system, examples, turns[-1:] if grouping else turns, k=k, seed=seed,
            rule=parse_threshold(threshold), settings=settings, progress=progress,
        )  # fmt: skip
    base = {"system": system, "data": source, "folds": k, "seed": seed, "score": score}
    if grouping:
        (trial,) = trials.values()
        tables = by_part(examples, trial.predictions, grouping, seed)
        whole = all(found.scores[score].value is not None for found in tables.values())
        if not by and score == "pair_accuracy" and not whole:
            score = suited(examples)[1]  # the two of a pair fell into different parts
        parts = {name: found.scores[score] for name, found in tables.items()}
        data = {
            **base,
            "score": score,
            "by": grouping,
            "parts": {name: value.as_dict() for name, value in parts.items()},
        }
        emit(as_json, data, lambda out: _show_parts(out, grouping, score, parts))
        return
    scored = {
        name: score_predictions(examples, t.predictions, seed=seed).scores[score]
        for name, t in trials.items()
    }
    gains = {}
    if len(trials) > 1:
        said = {name: trial.predictions for name, trial in trials.items()}
        first = next(iter(trials))
        for comparison in compare_systems(examples, said, score=score, seed=seed):
            if comparison.first == first:  # the other way round: what more context adds
                gains[comparison.second] = comparison
    data = {
        **base, "contexts": {name: value.as_dict() for name, value in scored.items()},
        "differences": [gain.as_dict() for gain in gains.values()],
    }  # fmt: skip
    emit(as_json, data, lambda out: _show_contexts(out, score, scored, gains))


def _show_contexts(out: Console, name: str, scored: dict[str, Interval], gains: dict[str, Any]) -> None:
    from deadpan.page.numbers import score

    first = next(iter(scored))
    rows = []
    for turns, value in scored.items():
        gain = ""
        if turns in gains and gains[turns].difference.value is not None:
            found = gains[turns].difference
            verdict = "differs" if (gains[turns].p_holm or 1) < 0.05 else "not different"
            low, high = found.low, found.high
            span = "" if low is None or high is None else f" [{-high:+.3f}, {-low:+.3f}]"
            gain = f"{-found.value:+.3f}{span}, {verdict}"
        rows.append((turns, score(value), gain, f"{value.n:,}"))
    out.print(table(("turns", name, f"gain over {first}", "n"), rows, numbers=("n",)))


def _show_parts(out: Console, grouping: str, name: str, parts: dict[str, Interval]) -> None:
    from deadpan.page.numbers import score

    rows = [(part, score(value), f"{value.n:,}") for part, value in parts.items()]
    out.print(table((grouping, name, "n"), rows, numbers=("n",)))
