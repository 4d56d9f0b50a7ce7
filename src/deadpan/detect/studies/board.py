"""A board of detectors: systems by corpus on the same texts, with the ranks that the paired test leaves open.

Nothing that a result says of itself is believed: scores are computed again from its predictions, on the rows of its
tested.csv. A result is refused, with the reason, if it is incomplete or was changed, if copies or texts seen in
training were scored, or if it is of other texts than the first result of its corpus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.arguments import check_list, check_path
from deadpan.detect.studies.comparison import suitable_metrics
from deadpan.detect.studies.design import TESTED, folder_name, read_tested
from deadpan.errors import DataError
from deadpan.formats.predictions import read_predictions
from deadpan.page.results import output_page
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import Interval, compare_predictions, score_predictions
from deadpan.stats.ranking import rank_ranges
from deadpan.stats.scores import beats, rank_value, with_direction
from deadpan.stats.table import CONSTANT, check_fits, constant_scores
from deadpan.storage import (
    OutputPage,
    digest,
    manifest_path,
    prepare_output,
    read_json,
    read_manifest,
    write_json,
    write_manifest,
)

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Cell, Table

_FILES = {"detect compare": "compare.json", "detect evaluate": "scores.json"}
_AGAIN = "repeat the command with --out"
CHECKED, EXACT, UNKNOWN = "", "near copies of training texts not excluded", "training texts not declared"
"""Notes on whether texts that a system was trained on were kept out of its test."""

Published = Callable[[str, str], Sequence[tuple[str, float, str]]]
"""Published rows of a corpus by a metric: the system, its score, and where it was published."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A system on a corpus. `training` says what is not known of its training texts; empty if nothing."""

    system: str
    score: Interval
    auc: float | None
    ranks: tuple[int, int]
    above_constant: bool
    training: str
    folder: str

    @property
    def rank(self) -> str:
        """The rank in words: 2, or 1 to 3."""
        best, worst = self.ranks
        return str(best) if best == worst else f"{best} to {worst}"

    @property
    def note(self) -> str:
        """Remarks that belong beside the score."""
        return "; ".join(filter(None, ["" if self.above_constant else "not above constant", self.training]))


@dataclass(frozen=True, slots=True)
class CorpusBoard:
    """All systems on one corpus, best first. `digest` is of the ids, labels and text hashes of what was tested."""

    corpus: str
    metric: str
    design: str
    digest: str
    n: int
    constant: float | None
    rows: tuple[BoardRow, ...]
    published: tuple[tuple[str, float, str], ...]

    def table(self) -> Table:
        """Return ranked systems, then the constant answer, then what others published on another split."""
        from deadpan.page.table import Table

        rows: list[tuple[Cell, ...]] = [(each.rank, each.system, each.score, each.auc, each.note) for each in self.rows]
        rows.append(("", CONSTANT, self.constant, None, ""))
        rows += [("", system, value, None, f"{where}: other texts") for system, value, where in self.published]
        title = f"{self.corpus}, {self.design}, texts {self.digest[:12]}"
        return Table(("rank", "system", with_direction(self.metric), "auc", "note"), tuple(rows), title)


@dataclass(frozen=True, slots=True, repr=False)
class DetectorBoard(Result):
    """A board per corpus, and the results that were refused: folder or system, and the reason."""

    corpora: tuple[CorpusBoard, ...]
    refused: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"<DetectorBoard of {len(self.corpora)} corpora, {len(self.refused)} refused>"

    def headline(self) -> str:
        """Return which systems lead; one alone only where it is significantly better than all others."""
        said = []
        for board in self.corpora:
            first = [row.system for row in board.rows if row.ranks[0] == 1 and row.above_constant]
            who = f"{first[0]} leads" if len(first) == 1 else f"{', '.join(first[:3])} may each be first"
            said.append(f"{board.corpus}: {who if first else 'nobody is above a constant answer'}")
        return "; ".join(said) + "."

    def as_dict(self) -> dict[str, object]:
        """Return every rank and score, and what was refused."""
        return {
            "corpora": {
                board.corpus: {
                    "metric": board.metric, "design": board.design, "digest": board.digest, "n": board.n,
                    "constant_answer": board.constant, "published": [list(row) for row in board.published],
                    "systems": [
                        {"system": row.system, "ranks": list(row.ranks), "score": row.score.as_dict(),
                         "auc": row.auc, "above_constant": row.above_constant,
                         "training_texts": row.training, "folder": row.folder}
                        for row in board.rows
                    ],
                }
                for board in self.corpora
            },
            "refused": [list(each) for each in self.refused],
        }  # fmt: skip

    def matrix(self) -> Table:
        """Return systems by corpus: the score and the range of ranks."""
        from deadpan.page.table import Table

        names = dict.fromkeys(row.system for board in self.corpora for row in board.rows)
        cells = {(b.corpus, r.system): f"{r.score.value or 0.0:.3f} ({r.rank})" for b in self.corpora for r in b.rows}
        rows = tuple((name, *(cells.get((board.corpus, name), "") for board in self.corpora)) for name in names)
        columns = tuple(f"{board.corpus}, {board.metric}" for board in self.corpora)
        return Table(("system", *columns), rows, "Score (rank) by corpus")

    def summary(self) -> Summary:
        """Return a table per corpus, who leads, and what was refused."""
        from deadpan.page.summary import Summary

        refused = [f"Refused, {who}: {why}" for who, why in self.refused]
        return Summary(tuple(board.table() for board in self.corpora), (self.headline(), _READ, *refused))

    def write(self, out: Path | str) -> None:
        """Write index.html, board.json and manifest.json."""
        out = Path(out)
        before = prepare_output(out)
        n = len({row.system for board in self.corpora for row in board.rows})
        facts = (f"{n} systems", f"{len(self.corpora)} corpora", f"{len(self.refused)} results refused")
        about = OutputPage("Detectors", self.headline(), facts, file="index.html")
        page = output_page(about)
        matrix = self.matrix()
        page.heading("Systems by corpus").table(matrix.columns, matrix.rows, caption=matrix.title, sortable=True)
        for board in self.corpora:
            table = board.table()
            page.heading(board.corpus, anchor=folder_name(board.corpus))
            page.table(table.columns, table.rows, caption=table.title, sortable=True)
        page.text(_READ)
        if self.refused:
            page.heading("Refused").bullets(f"{who}: {why}" for who, why in self.refused)
        page.heading("Take part").text(_TAKE_PART)
        page.write(out / "index.html")
        write_json(out / "board.json", self.as_dict())
        write_manifest(out, command="detect board", before=before, counts={"systems": n}, about=about)


_READ = (
    "A rank is a range: at best one after the systems that are significantly better, at worst one before those that "
    "are significantly worse (paired by text, clustered on threads and pairs, Holm over all pairs of a corpus). "
    "Published scores are of other texts and have no rank. In brackets: 95 % intervals."
)
_TAKE_PART = (
    f"A submission is a folder with {TESTED} of the corpus, as another result here has it, and NAME.jsonl: a line with "
    "example_id, label and score for each of its rows, by a system NAME that was trained on none of them. "
    "deadpan detect board RESULTS... SUBMISSION checks it row by row and says what is wrong."
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A system of one result folder, as it was read."""

    folder: Path
    corpus: str
    design: str
    system: str
    tested: list[Example]
    predictions: list[Prediction]
    training: str

    @property
    def digest(self) -> str:
        return tested_digest(self.tested)


def tested_digest(tested: Sequence[Example]) -> str:
    """Return one SHA-256 over the ids, labels and text hashes of what was tested, whatever their order."""
    import hashlib

    rows = sorted(f"{e.id}\x1f{e.label}\x1f{e.response.text}" for e in tested)
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


def make_board(
    folders: Sequence[Path | str], *, metric: str | None = None, published: Published = lambda corpus, metric: ()
) -> DetectorBoard:
    """Return the board of the results in `folders`: of `detect compare`, `detect evaluate`, or submissions.

    The first result of a corpus says which texts count; `metric` is chosen by the corpus if it is not given.
    """
    paths = [check_path(folder, "a result") for folder in check_list(folders, "results")]
    refused: list[tuple[str, str]] = []
    entries: list[_Entry] = []
    submissions: list[tuple[Path, list[Example]]] = []
    for path in paths:
        try:
            tested = _tested(path)
            if manifest_path(path).is_file():
                entries += list(_results(path, tested))  # all of its systems, or none
            else:
                submissions.append((path, tested))
        except DataError as wrong:
            refused.append((path.name, str(wrong)))
    known = {entry.digest: entry for entry in reversed(entries)}
    for path, tested in submissions:
        if like := known.get(tested_digest(tested)):
            submitted, bad = _submitted(path, tested, like)
            entries += submitted
            refused += bad
        else:
            refused.append((path.name, f"{path / TESTED}: of no corpus on this board: copy it from a result that is"))
    by_corpus: dict[str, list[_Entry]] = {}
    for entry in entries:
        same = by_corpus.setdefault(entry.corpus, [])
        if why := _unfit(entry, same):
            refused.append((f"{entry.system} on {entry.corpus} ({entry.folder.name})", why))
        else:
            same.append(entry)
    boards = tuple(_corpus(corpus, same, metric, published) for corpus, same in by_corpus.items() if same)
    if not boards:
        reasons = "; ".join(f"{who}: {why}" for who, why in refused) or "none given"
        raise DataError(f"no result can go on a board ({reasons})")
    return DetectorBoard(boards, tuple(refused))


def _tested(path: Path) -> list[Example]:
    """Return what a result was tested on; copies in it are an error."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder: give the folders of detect compare or evaluate --out")
    if not (path / TESTED).is_file():
        raise DataError(f"{path}: no {TESTED} in it: {_AGAIN}")
    tested, copies = read_tested(path / TESTED)
    if copies:
        raise DataError(
            f"{copies:,} of {len(tested):,} tested rows are copies of others: clean with deadpan datasets clean first"
        )
    return tested


def _results(path: Path, tested: list[Example]) -> Iterator[_Entry]:
    """Yield the systems of a folder of ours; one that was changed or scores texts seen in training is an error."""
    manifest = read_manifest(path)
    if manifest.command not in _FILES:
        raise DataError(f"{path}: written by deadpan {manifest.command}, not by {' or '.join(_FILES)}")
    for name, facts in manifest.files.items():
        if not (path / name).is_file() or digest(path / name) != facts.get("sha256"):
            raise DataError(f"{path / name}: missing, or changed since it was written: {_AGAIN}")
    found: dict[str, Any] = read_json(path / _FILES[manifest.command])
    if missing := {"data", "design", "systems" if manifest.command == "detect compare" else "model"} - set(found):
        raise DataError(f"{path / _FILES[manifest.command]}: no {min(missing)} in it: {_AGAIN}")
    if found.get("kept_seen"):
        raise DataError("texts that it was trained on were scored: leave out --keep-seen")
    known = CHECKED if found.get("near_copies_known", True) else EXACT
    known = known if found.get("training_texts_known", True) else UNKNOWN
    systems = list(found["systems"]) if manifest.command == "detect compare" else [_evaluated(found)]
    for system in systems:
        file = folder_name(system) if manifest.command == "detect compare" else "predictions"
        answers = read_predictions(path / f"{file}.jsonl")
        yield _Entry(path, found["data"], found["design"], system, tested, answers, known)


def _evaluated(found: Mapping[str, Any]) -> str:
    """Return the name of a detector that was evaluated: that of its folder, or the system's."""
    return Path(str(found["model"])).name or str(found["system"])


def _submitted(path: Path, tested: list[Example], like: _Entry) -> tuple[list[_Entry], list[tuple[str, str]]]:
    """Return the systems of a submission, and its files that cannot be read, each with the reason."""
    files = sorted(file for file in path.iterdir() if file.suffix in (".jsonl", ".csv") and file.name != TESTED)
    entries, refused = [], []
    for file in files:
        try:
            answers = read_predictions(file)
        except DataError as wrong:  # a bad file of one participant must not stop the board
            refused.append((f"{file.name} ({path.name})", str(wrong)))
        else:
            entries.append(_Entry(path, like.corpus, like.design, file.stem, tested, answers, UNKNOWN))
    return entries, refused if files else [(path.name, f"{path}: no answers in it: add NAME.jsonl or NAME.csv")]


def _unfit(entry: _Entry, same: Sequence[_Entry]) -> str:
    """Return why an entry cannot stand beside those of its corpus; empty if it can."""
    if same and entry.digest != same[0].digest:
        return (
            f"{len(entry.tested):,} other texts ({entry.digest[:12]}) than {same[0].folder.name} "
            f"({len(same[0].tested):,}, {same[0].digest[:12]}): test it on the same ones"
        )
    if any(other.system == entry.system for other in same):
        return "a system of this name is there already: rename one, or give only one of them"
    ids = [prediction.example_id for prediction in entry.predictions]
    wanted = {example.id for example in entry.tested}
    if len(set(ids)) < len(ids):
        return "a text is answered twice: send one answer each"
    if strange := set(ids) - wanted:
        return f"{len(strange):,} answers to texts that are not in {TESTED}, such as {min(strange)!r}"
    if nan := [each.example_id for each in entry.predictions if each.score is not None and math.isnan(each.score)]:
        return f"{len(nan):,} scores are NaN, such as that of {nan[0]!r}: write null for no score"
    missing = wanted - set(ids)
    return f"incomplete: {len(missing):,} of {len(wanted):,} texts have no answer" if missing else ""


def _corpus(corpus: str, entries: Sequence[_Entry], metric: str | None, published: Published) -> CorpusBoard:
    """Score the entries again, and rank them by paired tests."""
    tested = entries[0].tested
    metric = metric or suitable_metrics(tested)[0]
    check_fits(metric, tested, f" on {corpus}")
    answers = {entry.system: entry.predictions for entry in entries}
    tables = {system: score_predictions(tested, rows) for system, rows in answers.items()}
    scores = {system: table.score(metric) for system, table in tables.items()}
    pairs = compare_predictions(tested, answers, metric) if len(answers) > 1 else ()
    winner = {(pair.better, pair.second if pair.better == pair.first else pair.first) for pair in pairs}
    values = {system: rank_value(metric, score.value) for system, score in scores.items()}
    ranks = rank_ranges(values, lambda one, other: (one, other) in winner)
    constant = constant_scores(tested).get(metric)
    rows = tuple(
        BoardRow(
            entry.system, scores[entry.system], _value(tables[entry.system].scores.get("auc")), ranks[entry.system],
            beats(metric, scores[entry.system], constant), entry.training, entry.folder.name,
        )
        for entry in sorted(entries, key=lambda entry: -values[entry.system])
    )  # fmt: skip
    first = entries[0]
    return CorpusBoard(
        corpus, metric, first.design, first.digest, len(tested), constant, rows, tuple(published(corpus, metric))
    )


def _value(score: Interval | None) -> float | None:
    return None if score is None else score.value
