"""Trials: corpora read once, results kept in a journal, jobs and what they measure, scores over seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np

from deadpan import __version__
from deadpan.datasets import Dataset, Reading, open_source, read_source
from deadpan.detect.studies.design import FOLDS, Design, divide, run_trial
from deadpan.draws import sample
from deadpan.errors import need
from deadpan.journal import Journal
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.reproduce.published import Measured, PublishedCell, cell_id, read_paper, same_count
from deadpan.splits import Fold
from deadpan.stats import Interval, bootstrap_interval, score_predictions, wilson
from deadpan.stats.interval import LEVEL, FloatArray, totals_interval, unique_clusters
from deadpan.stats.scores import confusion_columns
from deadpan.stats.table import SCORES, match
from deadpan.storage import digest
from deadpan.validation import decode, encode

# Corpora held in memory at once.
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a system on a corpus, how they were measured, and whether on the published test split.

    `constant` is True if the system gives one answer to every text; `floor` is the F-score of always
    answering "sarcastic". `deviations` are the standard deviations over seeds, where there are several.
    """

    values: Mapping[str, Interval]
    how: str
    official: bool
    constant: bool
    floor: float
    deviations: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReproductionOptions:
    """Folders and files of a reproduction, and how much is measured.

    `quick` tests on the first of five folds and trains networks on samples. `vectors` is a file of GloVe
    vectors, `encoder` a folder of KLUE-RoBERTa's weights, `items` a file of SarcBench items, `people` a
    folder of studies (NAME/study and NAME/export), `runs` a folder of SarcBench runs, `llm` a language model
    that is asked, at `base_url` if that is given.
    """

    data_dir: Path | None
    quick: bool = False
    seed: int = 0
    seeds: int = 3
    vectors: Path | None = None
    encoder: Path | None = None
    items: Path | None = None
    people: Path | None = None
    runs: Path | None = None
    llm: str = ""
    base_url: str = ""

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The training seeds of networks."""
        return tuple(range(self.seed, self.seed + (1 if self.quick else self.seeds)))


@dataclass(slots=True)
class TrialRunner:
    """Tools of the jobs: readers, trials that are journaled as they finish, and a place for small files."""

    options: ReproductionOptions
    journal: Journal
    scratch: Path
    progress: Progress = silent
    read: set[Path] = field(default_factory=set)
    _corpora: dict[tuple[str, bool, bool], Dataset] = field(default_factory=dict)
    _digests: dict[tuple[Path, int, int], str] = field(default_factory=dict)

    # ---------------------------------------------------------------- corpora

    def corpus(self, source: str, *, keep_markers: bool = False, ids_only: bool = False) -> Dataset:
        """Read a corpus; an error says which file is missing and where it is published."""
        key = (source, keep_markers, ids_only)
        if key not in self._corpora:
            while len(self._corpora) >= _KEPT:
                del self._corpora[next(iter(self._corpora))]
            reading = Reading(data_dir=self.options.data_dir, keep_markers=keep_markers, ids_only=ids_only)
            self._corpora[key] = read_source(source, reading)
        dataset = self._corpora[key]
        self.read |= set(dataset.files)
        return dataset

    def files(self, source: str) -> list[Path]:
        """Return the files of a corpus without reading them."""
        return [file.path for file in open_source(source, Reading(data_dir=self.options.data_dir)).files()]

    def missing(self, source: str) -> str:
        """Return the files of a release that are not in the data folder; empty if all are."""
        reader = open_source(source, Reading(data_dir=self.options.data_dir))
        have = {path.name for path in self.files(source)}
        gone = [file.names[0] for file in reader.release.files if not have & set(file.names)]
        return f"{', '.join(gone)} of {reader.release.title}, published at {reader.release.url}" if gone else ""

    def design(self, source: str, at_most: int | None = None, share: float | None = None) -> tuple[Design, str]:
        """Return training and test parts: the published ones if both are there, else folds; and their name.

        `at_most` draws whole pairs or texts at random, `share` of them sarcastic if that is given.
        """
        rows = [example for example in self.corpus(source).examples if example.label is not None]
        whole = len(rows)
        drawn = _drawn(rows, at_most, share, self.options.seed)
        design = divide(drawn)
        if design.published:
            how = "published test split"
        elif self.options.quick:
            first = design.folds[0]
            design = Design((first,), list(first.test), False, design.duplicates)
            how = f"first of {FOLDS} folds of the training part (cross-validation)"
        else:
            how = f"{FOLDS}-fold cross-validation of the training part"
        if at_most is not None and whole > at_most:
            how += f", a sample of {len(drawn):,} of {whole:,}"
            how += f" at {100 * share:.0f}:{100 - 100 * share:.0f}" if share is not None else ""
        return design, how

    # ---------------------------------------------------------------- trials

    def scores(
        self,
        source: str,
        system: str,
        settings: Mapping[str, Any] | None = None,
        *,
        at_most: int | None = None,
        seeds: Sequence[int] = (),
        threshold: float | str = 0.5,
        inputs: Sequence[Path] = (),
        share: float | None = None,
    ) -> Scores:
        """Train and test a system; a trial that an earlier start finished is not repeated.

        With several seeds every score is their mean on the same folds, and each seed's F is named. `inputs`
        are files beside the corpus that the result depends on, such as weights.
        """
        given = dict(settings or {})
        tables: list[dict[str, Interval]] = []
        answers: list[SeedAnswers] = []
        how, official = "", False
        for seed in seeds or (self.options.seed,):
            record = self.once(
                f"answers of {system} on {source}",
                {"settings": given, "at_most": at_most, "share": share, "seed": seed, "threshold": threshold},
                lambda seed=seed: self._trial(source, system, given, (at_most, share), seed, threshold),  # type: ignore[misc]
                sources=(source,), inputs=inputs,
            )  # fmt: skip
            tables.append({name: decode(value, Interval) for name, value in record["scores"].items()})
            answers.append(decode(record["answers"], SeedAnswers))
            how, official = record["how"], record["official"]
        values = mean_scores(answers) if len(answers) > 1 else tables[0]
        how += spread(tables) + constancy(answers)
        constant, floor = all_constant(answers), f1_of_always(answers[0])
        return Scores(values, how, official, constant, floor, deviations(tables))

    def _trial(
        self, source: str, system: str, settings: Mapping[str, Any], drawn: tuple[int | None, float | None],
        seed: int, threshold: Any,
    ) -> dict[str, Any]:  # fmt: skip
        design, how = self.design(source, *drawn)
        trial = run_trial(system, design, seed=seed, settings=settings, threshold=threshold)
        table = score_predictions(design.tested, trial.predictions, seed=0)
        answers = answers_of(design.tested, trial.predictions, design.folds)
        return {
            "scores": encode(dict(table.scores)), "answers": encode(answers), "how": how,
            "official": design.published,
        }  # fmt: skip

    def once(
        self,
        name: str,
        config: Mapping[str, Any],
        work: Callable[[], dict[str, Any]],
        *,
        sources: Sequence[str] = (),
        inputs: Sequence[Path] = (),
    ) -> dict[str, Any]:
        """Return the result of some work; it is done once per version, settings and bytes of its inputs."""
        paths = [*inputs, *(path for source in sources for path in self._inputs(source))]
        facts = [name, __version__, self.options.quick, config, [self._digest(path) for path in paths]]
        key = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
        found = self.journal.find(key)
        if found is None:
            found = json.loads(json.dumps(work()))
            self.journal.append(key, found)
        self.read |= set(paths)
        return found

    def _inputs(self, source: str) -> list[Path]:
        """Return the files of a corpus, and the texts beside an index of SARC."""
        files = self.files(source)
        beside = {path.parent / "comments.json" for path in files}
        return sorted({*files, *(path for path in beside if path.is_file())})

    def _digest(self, path: Path) -> str:
        state = path.stat()
        key = (path, state.st_size, state.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = digest(path)
        return self._digests[key]


def _drawn(examples: Sequence[Example], at_most: int | None, share: float | None, seed: int) -> list[Example]:
    """Draw whole pairs or texts; with a `share`, texts of both labels, as many as there are up to `at_most`."""
    if share is None:
        if at_most is None or len(examples) <= at_most:
            return list(examples)
        return sample(examples, at_most, seed=seed, key=lambda example: example.sequence or example.id)
    by_label = {label: [e for e in examples if e.label is label] for label in (True, False)}
    size = min(at_most or len(examples), int(len(by_label[True]) / share), int(len(by_label[False]) / (1 - share)))
    counts = {True: round(size * share), False: size - round(size * share)}
    return [row for label, n in counts.items() for row in sample(by_label[label], n, seed=seed, key=lambda e: e.id)]


Work = Callable[[TrialRunner], Mapping[str, Measured]]


@dataclass(frozen=True, slots=True)
class Job:
    """A name, the ids of the cells it measures, and the work; `draw` returns the figure of an exhibit.

    `seconds` is about what the work takes on two idle cores, `sources` the corpora without which it takes none.
    """

    name: str
    cells: tuple[str, ...]
    work: Work
    draws: Mapping[str, Callable[[TrialRunner], Any]] = field(default_factory=dict)
    seconds: float = 0.5
    sources: tuple[str, ...] = ()


def cells_of(exhibit: str, rows: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of some rows and columns of a table."""
    columns = list(columns)
    return tuple(cell_id(exhibit, row, column) for row in rows for column in columns)


def measured(ids: Iterable[str], values: Iterable[Interval], **about: Any) -> dict[str, Measured]:
    """Return a measurement per cell; `about` is what they share: how, reason, needs, same."""
    return {id: Measured(value, **about) for id, value in zip(ids, values, strict=True)}


def wanted(cells: Iterable[PublishedCell], only: Iterable[str]) -> list[PublishedCell]:
    """Return the cells of the exhibits asked for; all if none is named."""
    chosen = set(only)
    return [cell for cell in cells if not chosen or cell.exhibit in chosen]


_SIGNS = {True: "1", False: "0", None: "-"}
# Columns of a flattened confusion table: truth by answer, with unread answers.
_TABLE = 6


@dataclass(frozen=True, slots=True)
class SeedAnswers:
    """Truth and answers of one seed as a journal keeps them: a sign per example, and its cluster.

    `constant` is the number of folds in which every answer was the same, of `folds`.
    """

    truth: str
    answers: str
    clusters: tuple[int, ...]
    constant: int
    folds: int

    def columns(self) -> FloatArray:
        """Return the confusion columns of each example."""
        signs = {sign: value for value, sign in _SIGNS.items()}
        return confusion_columns([sign == "1" for sign in self.truth], [signs[sign] for sign in self.answers])

    @property
    def always(self) -> str:
        """The only answer given, empty if there are two."""
        names = {"1": "sarcastic", "0": "not sarcastic", "-": "unread"}
        return names[self.answers[0]] if len(set(self.answers)) == 1 else ""


def answers_of(examples: Sequence[Example], predictions: Sequence[Prediction], folds: Sequence[Fold]) -> SeedAnswers:
    """Return the answers of a trial in the order of the examples."""
    outcomes = match(examples, predictions)
    labels = {prediction.example_id: prediction.label for prediction in predictions}
    same = sum(len({labels[example.id] for example in fold.test}) == 1 for fold in folds)
    return SeedAnswers(
        "".join(_SIGNS[label] for label in outcomes.truth),
        "".join(_SIGNS[label] for label in outcomes.answers),
        tuple(int(code) for code in outcomes.clusters),
        same,
        len(folds),
    )


def mean_scores(seeds: Sequence[SeedAnswers]) -> dict[str, Interval]:
    """Return the mean over seeds of every score of a confusion table.

    The interval is a bootstrap over examples, in which each resample holds the same examples for all
    seeds: it is the uncertainty of the mean on another test set, with these trained models.
    """
    columns = np.concatenate([each.columns() for each in seeds], axis=1)
    kinds, multiplicity = unique_clusters(columns, np.array(seeds[0].clusters, dtype=np.int64))
    found = {}
    for name, score in SCORES.items():
        if score.block != "confusion":
            continue

        def mean(sums: FloatArray, of: object = score.of) -> FloatArray:
            tables = sums.reshape(*sums.shape[:-1], len(seeds), _TABLE)
            values: FloatArray = of(tables).mean(axis=-1)  # type: ignore[operator]
            return values

        found[name] = totals_interval(kinds, multiplicity, mean, n=len(seeds[0].truth))
    return found


def spread(tables: Sequence[dict[str, Interval]], metric: str = "f1") -> str:
    """Return each seed's F and their standard deviation; empty for one seed."""
    values = [table[metric].value or 0.0 for table in tables]
    if len(values) < 2:
        return ""
    each = ", ".join(f"{value:.3f}" for value in values)
    return f"; mean of {len(values)} seeds, F {each} (standard deviation {stdev(values):.3f})"


def deviations(tables: Sequence[dict[str, Interval]]) -> dict[str, Interval]:
    """Return each score's standard deviation over seeds, with its interval if the scores are normal."""
    k = len(tables)
    if k < 2:
        return {}
    chi2 = need("scipy.stats", "train").chi2
    low, high = (float(np.sqrt((k - 1) / chi2.ppf(share, k - 1))) for share in ((1 + LEVEL) / 2, (1 - LEVEL) / 2))
    found = {name: stdev(table[name].value or 0.0 for table in tables) for name in tables[0]}
    return {name: Interval(value, value * low, value * high, LEVEL, k) for name, value in found.items()}


def all_constant(seeds: Sequence[SeedAnswers]) -> bool:
    """Return whether every seed gives one answer to every text."""
    return all(each.always for each in seeds)


def constancy(seeds: Sequence[SeedAnswers]) -> str:
    """Return where one answer is given to every text, to follow a description; empty if nowhere."""
    if all_constant(seeds):
        names = " or ".join(dict.fromkeys(each.always for each in seeds))
        return f"; a constant answer: {names} to every text"
    same, folds = sum(each.constant for each in seeds), sum(each.folds for each in seeds)
    return f"; a constant answer in {same} of {folds} trainings" if same else ""


def f1_of_always(answers: SeedAnswers) -> float:
    """Return the F-score of answering "sarcastic" to every text."""
    sarcastic = answers.truth.count("1")
    return 2 * sarcastic / max(sarcastic + len(answers.truth), 1)


_COLUMNS = ("Sarcastic", "Total")


def exact(value: float, n: int = 0) -> Interval:
    """Return a count, which has no interval."""
    return Interval(float(value), None, None, LEVEL, n or int(value))


def mean_of(values: Sequence[float]) -> Interval:
    """Return a mean with its bootstrap interval."""
    numbers = np.asarray(values, dtype=np.float64)
    return bootstrap_interval(lambda rows: float(numbers[rows].mean()), [""] * len(numbers), resamples=500)


def percent(part: int, whole: int) -> Interval:
    """Return a share in per cent with its interval."""
    share = wilson(part, whole)
    value, low, high = (None if x is None else 100 * x for x in (share.value, share.low, share.high))
    return Interval(value, low, high, share.level, share.n, share.why)


def size_jobs(paper: str, exhibit: str, corpora: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> list[Job]:
    """Return a job per corpus: how many of its examples are sarcastic, and how many there are.

    `corpora` maps rows of the table to readers whose examples are added up; `notes` why a release of today
    has another size than the paper.
    """
    return [_job(paper, exhibit, row, sources, notes.get(row, "")) for row, sources in corpora.items()]


def _job(paper: str, exhibit: str, row: str, sources: Sequence[str], note: str) -> Job:
    ids = cells_of(exhibit, [row], _COLUMNS)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        counts = {"sarcastic": 0, "all": 0}
        for source in sources:
            found = sizes_of(runner, source)
            counts = {name: counts[name] + found[name] for name in counts}
        gone = "; ".join(filter(None, (runner.missing(source) for source in sources)))
        how = f"counted in {', '.join(sources)} as read here"
        cells = {cell.id: cell for cell in read_paper(paper).cells() if cell.id in ids}
        # A copy that is as large as published is whole, whatever files it consists of.
        whole = all(same_count(n, cells[id]) for id, n in zip(ids, counts.values(), strict=True))
        need = "" if whole else f"data: {gone or note}" if gone or note else ""
        return measured(ids, map(exact, counts.values()), how=how, needs=need, reason="another release of the corpus")

    return Job(f"{exhibit} {row}", ids, work, sources=tuple(sources))


def sizes_of(runner: TrialRunner, source: str) -> dict[str, int]:
    """Return how many examples of a corpus are sarcastic, and how many there are."""

    def count() -> dict[str, Any]:
        counts = runner.corpus(source).counts
        return {"sarcastic": counts["sarcastic"], "all": sum(counts.values())}

    return runner.once(f"size {source}", {}, count, sources=(source,))
