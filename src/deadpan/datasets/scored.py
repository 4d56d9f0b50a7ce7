"""Scored tables: one table in, the same table with label and score out, and what its scores are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.datasets import read_source
from deadpan.datasets.reading import COLUMN_NAMES, Reading
from deadpan.datasets.table import TableReader
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, MissingExtra
from deadpan.formats.labels import EVERYDAY, NO_LABEL, Words, kind_words, label_word, label_words
from deadpan.formats.predictions import prediction_from, read_systems
from deadpan.formats.rows import TableRow
from deadpan.formats.tables import check_not_source, check_writable, header_of, is_table, read_table, write_table
from deadpan.page.results import output_page, rank_finding
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import SystemScores, score_systems
from deadpan.stats.ranking import ScoreCurves, score_curves
from deadpan.stats.scores import MAIN_SCORES, rank_value
from deadpan.storage import OutputPage, prepare_output, write_json, write_manifest
from deadpan.text import plural

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.page import Page
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table


_BATCH = 4096
_NOT_JUDGED = {"no_text_not_judged": "without a text", "nul_byte_not_judged": "with a NUL byte"}
# Columns that are added; each is called predicted_label, ... where the table has one of that name.
_ADDED = ("label", "score", "reason")

Predict = Callable[[Sequence[Example]], list[Prediction]]
Reason = Callable[[Example, Prediction], str]


@dataclass(frozen=True, slots=True)
class ScoredTable(Result):
    """A table that was scored: its rows by answer, the columns that were added, and what was not judged."""

    rows: int
    answers: Mapping[str, int]
    columns: tuple[str, ...]
    out: Path
    tally: Tally

    def summary(self) -> Summary:
        """Return the count of each answer, and the rows without one."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((word or "not judged", n, f"{n / max(self.rows, 1):.1%}") for word, n in self.answers.items())
        notes = (f"{plural(self.rows, 'row')} written to {self.out}, with the columns {', '.join(self.columns)}",)
        return Summary((Table(("answer", "rows", "share"), rows),), (*notes, *self._left_out()))

    def _left_out(self) -> Iterator[str]:
        """Yield what was not judged and not read, then the other changes."""
        changes = self.tally.changes
        missing = [f"{plural(changes[r], 'row')} {word}" for r, word in _NOT_JUDGED.items() if changes[r]]
        if missing:
            yield f"not judged: {', '.join(missing)}"
        sheets = [r.partition(".")[2] for r in changes if r.startswith("sheet_not_read.")]
        if sheets:
            yield f"only the first sheet was read; not read: {', '.join(sheets)}"
        named = {*_NOT_JUDGED, *(f"sheet_not_read.{name}" for name in sheets)}
        rest = Counter({reason: n for reason, n in changes.items() if reason not in named})
        yield from replace(self.tally, changes=rest).notes()

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        answers = {word or "not judged": n for word, n in self.answers.items()}
        return {
            "rows": self.rows, "answers": answers, "columns": list(self.columns), "out": str(self.out),
            **self.tally.as_dict(),
        }  # fmt: skip


def score_table(
    source: Path | str,
    out: Path | str,
    predict: Predict,
    reading: Reading | None = None,
    *,
    reason: Reason | None = None,
    kind: str = "",
    progress: Progress = silent,
) -> ScoredTable:
    """Write the table `source` to `out` with a label and a score for each row; formats go by extension.

    All rows and columns are kept; a row without a text has no answer. `reason` adds a third column. The label
    is sarcastic or sincere, or with a `kind` of sarcasm, irony or not irony. The table is read and written in
    batches, so its size is not limited by memory, except for Excel.
    """
    path, out = Path(source), check_writable(out)
    check_not_source(path, out)
    reader = TableReader("table", path, reading)
    rows = reader.judge()
    first = next(rows, None)
    names = list(first[0].fields) if first else header_of(path, reader.hint)
    added = _added_names(names, with_reason=reason is not None)
    answers: Counter[str] = Counter()

    def scored() -> Iterator[Mapping[str, Any]]:
        done = 0
        for batch in _batches(chain([first] if first else [], rows)):
            for row, prediction, why in _answers(batch, predict, reason):
                word = label_word(prediction, kind) if prediction else ""
                answers[word] += 1
                values = (word, prediction.score if prediction else None, why)
                yield dict(row.fields) | dict(zip(added, values, strict=False))
            done += len(batch)
            progress("scoring", done, 0)

    columns = [*names, *added]
    count = write_table(out, columns, scored(), _schema(path, added))
    order = (*label_words(kind), *NO_LABEL, "")
    return ScoredTable(count, {word: answers[word] for word in order if answers[word]}, added, out, reader.tally)


def _answers(
    batch: Sequence[tuple[TableRow, Example | None]], predict: Predict, reason: Reason | None
) -> Iterator[tuple[TableRow, Prediction | None, str]]:
    predictions = iter(predict([example for _, example in batch if example is not None]))
    for row, example in batch:
        if example is None:
            yield row, None, "no text to judge"
            continue
        prediction = next(predictions)
        yield row, prediction, reason(example, prediction) if reason else ""


def _added_names(names: Sequence[str], *, with_reason: bool) -> tuple[str, ...]:
    """Return the names of the new columns: none that the table has already."""
    wanted = _ADDED if with_reason else _ADDED[:2]
    taken = {name.strip().lower() for name in map(str, names)}
    for prefix in ("", "predicted_", *(f"predicted_{n}_" for n in range(2, 100))):
        found = tuple(f"{prefix}{name}" for name in wanted)
        if not taken & set(found):
            return found
    return tuple(f"deadpan_{name}" for name in wanted)


def _schema(path: Path, added: Sequence[str]) -> Any:
    """Return the Arrow schema of a scored Parquet file, so that its columns keep their types."""
    if path.suffix.lower() != ".parquet":
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    for name, kind in zip(added, (pa.string(), pa.float64(), pa.string()), strict=False):
        schema = schema.append(pa.field(name, kind))
    return schema


def _batches(rows: Iterator[tuple[TableRow, Example | None]]) -> Iterator[list[tuple[TableRow, Example | None]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


_HINT = "write it with deadpan detect predict TABLE --out scored.csv"


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """A scored table: its labelled rows, the answers in the same order, and the rows left out."""

    path: Path
    examples: list[Example]
    predictions: list[Prediction]
    tally: Tally


def scored_columns(path: Path) -> tuple[str, str]:
    """Return the names of the columns with predicted labels and scores, lower case; an error if none."""
    first = next(read_table(path, Tally(), _HINT), None)
    names = {str(name).strip().lower() for name in first.fields} if first else set()
    numbered = sorted(name for name in names if name.startswith("predicted") and name.endswith("_label"))
    if numbered:
        label = "predicted_label" if "predicted_label" in names else numbered[0]
        return label, label.removesuffix("label") + "score"
    if _ADDED[0] in names and any(name in names for name in COLUMN_NAMES["label"] if name != _ADDED[0]):
        return _ADDED[0], _ADDED[1]
    return "", ""


def are_scored(sources: Sequence[Path | str], reading: Reading | None = None) -> bool:
    """Return True if the sources are scored tables; a single source must be one."""
    asked = dict((reading or Reading()).columns).get("label", "").lower()
    own = asked and asked != _ADDED[0]
    return len(sources) == 1 or all(is_table(one) and (own or scored_columns(Path(one))[0]) for one in sources)


def read_scored(path: Path | str, reading: Reading | None = None) -> ScoredFile:
    """Read a scored table that has the true labels too; rows without a true label are counted and left out.

    The true labels are in the column named by `reading`, or in one with a usual name.
    """
    path, reading = Path(path), reading or Reading()
    if path.suffix and not path.exists():  # without a suffix it may be the name of a corpus
        raise DataError(f"{path}: no such file: {_HINT}")
    if not is_table(path):
        raise DataError(
            f"{path}: not a scored table: {_HINT}, or name predictions for it, without --out: "
            f"deadpan score {path} predictions.jsonl"
        )
    label, score = scored_columns(path)
    asked = dict(reading.columns).get("label", "")
    if not label and asked and asked.lower() != _ADDED[0]:
        label, score = _ADDED[0], _ADDED[1]
    if not label:
        raise DataError(f"{path}: no column of predictions beside the labels (label, or predicted_label): {_HINT}")
    if not asked:
        reading = replace(reading, columns=(*reading.columns, ("label", _truth(path, label))))
    reader = TableReader("table", path, reading)
    examples: list[Example] = []
    predictions: list[Prediction] = []
    words = {**EVERYDAY, **kind_words(_labels_in(path, label))}
    for example in reader:
        answer = _answer(path, example, label, score, words)
        if example.label is None:
            reader.tally.drop("no_true_label")
            continue
        name = _place(example) if example.id.startswith("table/") else example.id
        examples.append(replace(example, id=name))
        predictions.append(replace(answer, example_id=name))
    if not examples:
        raise DataError(f"{path}: no row has a true label: name its column, --column label=NAME")
    return ScoredFile(path, examples, predictions, reader.tally)


def _truth(path: Path, label: str) -> str:
    """Return the column of the true labels: a usual name other than that of the predictions."""
    first = next(read_table(path, Tally(), _HINT))
    names = {str(name).strip().lower() for name in first.fields}
    found = next((name for name in COLUMN_NAMES["label"] if name in names and name != label), "")
    if not found:
        has = ", ".join(map(str, first.fields))[:200]
        raise DataError(f"{path}: no column of true labels (has {has}): name it, --column label=NAME")
    return found


def _labels_in(path: Path, label: str) -> set[str]:
    """Return the labels that were predicted."""
    rows = (
        {str(name).strip().lower(): v for name, v in row.fields.items()} for row in read_table(path, Tally(), _HINT)
    )
    return {str(row.get(label) or "") for row in rows}


def _answer(path: Path, example: Example, label: str, score: str, words: Words) -> Prediction:
    cells: Mapping[str, object] = {str(name).strip().lower(): v for name, v in example.meta.items()}
    found = {"id": example.id, "label": cells.get(label, ""), "score": cells.get(score, "")}
    return prediction_from(path, example.id, found, words)


def _place(example: Example) -> str:
    """Return the number of the row, by which two scored copies of one table are matched."""
    return f"row {example.id.rpartition('-')[2]}"


def check_same_rows(files: Sequence[ScoredFile]) -> list[Example]:
    """Return the examples of several scored copies of one table, which must have the same labels."""
    first = files[0]
    truth = {example.id: example for example in first.examples}
    for other in files[1:]:
        labels = {example.id: example for example in other.examples}
        if lone := sorted(labels.keys() ^ truth.keys()):
            has, lacks = (first, other) if lone[0] in truth else (other, first)
            raise DataError(
                f"{has.path} has a labelled row {lone[0].removeprefix('row ')!r} that {lacks.path} lacks "
                f"({len(truth):,} and {len(labels):,} labelled rows): they are not the same table"
            )
        for id, example in labels.items():
            if example.label != truth[id].label or example.response.text != truth[id].response.text:
                raise DataError(f"{other.path}: {id} has a different text or label than in {first.path}")
    return first.examples


# Errors on the terminal.
_ERRORS_SHOWN = 5
_ON_PAGE = 40
_WIDEST = 200
_TRUTHS = ("sincere", "sarcastic")


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A row that a system got wrong; `confidence` is the probability it gave to its wrong answer."""

    example: Example
    prediction: Prediction
    confidence: float


@dataclass(frozen=True, slots=True, repr=False)
class ScoredReport(Result):
    """The scores of scored tables, with what is needed to understand them."""

    systems: SystemScores
    errors: Mapping[str, Sequence[WrongAnswer]]
    curves: Mapping[str, ScoreCurves]
    files: Sequence[ScoredFile]

    def __repr__(self) -> str:
        return f"ScoredReport({len(self.files)} files, {len(self.files[0].examples):,} rows)"

    def summary(self) -> Summary:
        """Return scores, confusion and the first errors, most confident first."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        base = self.systems.summary()
        tables = [*base.tables[:1], *self._confusions(), *base.tables[1:]]
        for name, wrong in self.errors.items():
            rows = tuple((_row(one)[0], *_row(one)[2:]) for one in wrong[:_ERRORS_SHOWN])
            if rows:
                title = f"{name}: {plural(len(wrong), 'error')}, the most confident first"
                tables.append(Table(("row", "truth", "answer", "score", "text"), rows, title))
        notes = [*base.notes]
        notes += [
            note if note.startswith(" ") else f"{file.path.name}: {note}"  # a place names its file
            for file in self.files for note in file.tally.notes()
        ]  # fmt: skip
        return Summary(tuple(tables), tuple(notes))

    def _confusions(self) -> list[Table]:
        from deadpan.page.table import Table

        found = []
        for name, table in self.systems.tables.items():
            rows = tuple((word, *row) for word, row in zip(_TRUTHS, table.confusion, strict=True))
            columns = ("truth", "answered sincere", "answered sarcastic", "no answer")
            found.append(Table(columns, rows, f"{name}: confusion"))
        return found

    def as_dict(self) -> dict[str, object]:
        """Return scores, comparisons, curves, the ids of all errors, and the rows of each file left out."""
        return {
            **self.systems.as_dict(),
            "curves": {name: curve.as_dict() for name, curve in self.curves.items()},
            "errors": {name: [one.example.id for one in wrong] for name, wrong in self.errors.items()},
            "excluded": {str(file.path): file.tally.as_dict() for file in self.files},
        }

    def about(self) -> OutputPage:
        """Return the finding: the best file, if one is, and how many rows have no answer."""
        tables, pairs = self.systems.tables, self.systems.comparisons.pairs
        first, *others = tables.values()
        shown = [name for name in first.scores if all(name in other.scores for other in others)]
        main = pairs[0].metric if pairs else next((name for name in MAIN_SCORES if name in shown), shown[0])
        ranked = sorted(tables, key=lambda name: -rank_value(main, tables[name].scores[main].value))
        n = max(table.n for table in tables.values())
        scores = {name: tables[name].scores[main] for name in ranked}
        finding = rank_finding(f"{n:,} labelled rows", main, scores, pairs, self.systems.constant.get(main))
        unread = [f"{name} {tables[name].n_unread:,}" for name in ranked if tables[name].n_unread]
        if unread:
            finding += f" Rows without an answer, which count as wrong: {', '.join(unread)}."
        files = f"{len(ranked)} file" + ("s" if len(ranked) > 1 else "")
        return OutputPage(f"Scores of {' and '.join(ranked)}", finding, (f"n = {n:,}", files))

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write report.html, scores.json, errors-NAME.csv, the curves as SVG and PNG, and manifest.json."""

        out = Path(out)
        before = prepare_output(out)
        about = self.about()
        page = output_page(about)
        base = self.systems.summary()
        for table in (*base.tables, *self._confusions()):
            page.table(table.columns, table.rows, caption=table.title)
        for note in base.notes:
            page.note(note)
        self._draw(page, out)
        for name, wrong in self.errors.items():
            page.heading(f"{name}: errors to read, the most confident first")
            for one in wrong[:_ON_PAGE]:
                answer = f"{label_word(one.prediction) or 'no answer'}, score {_score(one.prediction)}"
                page.conversation(one.example, note=f"{one.example.id}; answered {answer}")
            columns = ("row", "id", "truth", "answer", "score", "text")
            rows = [dict(zip(columns, _row(each, _WIDEST * 100), strict=True)) for each in wrong]
            write_table(out / f"errors-{name}.csv", columns, rows)
            if len(wrong) > _ON_PAGE:
                page.text(f"{len(wrong) - _ON_PAGE:,} more are in errors-{name}.csv.")
        write_json(out / "scores.json", self.as_dict())
        page.write(out / "report.html")
        files = [*inputs, *(file.path for file in self.files)]
        write_manifest(out, command="score", inputs=files, before=before, about=about)

    def _draw(self, page: Page, out: Path) -> None:
        if not self.curves:
            return
        page.heading("Curves")
        try:
            for name, figure in self._figures().items():
                figure.save(out, name)
                page.figure(figure.svg(), figure.title, figure.table)
        except MissingExtra as missing:
            page.note(str(missing))

    def _figures(self) -> dict[str, Figure]:
        from deadpan.figures import lines

        areas = {name: self.systems.tables[name].scores["auc"].value or 0.0 for name in self.curves}
        best = max(areas, key=lambda name: areas[name])
        rates: dict[str, list[tuple[float, Any]]] = {"chance": [(0.0, 0.0), (1.0, 1.0)]}
        precisions: dict[str, list[tuple[float, Any]]] = {}
        for name, curve in self.curves.items():
            places = curve.thinned()
            rates[name] = [(0.0, 0.0)]
            rates[name] += [(curve.false_positive_rate[at], curve.recall[at]) for at in places]
            precisions[name] = [(curve.recall[at], curve.precision[at]) for at in places]
        share = next(iter(self.curves.values())).share_sarcastic
        precisions["always sarcastic"] = [(0.0, share), (1.0, share)]
        average = self.curves[best].average_precision
        return {
            "roc": lines(f"ROC: the area under the curve of {best} is {areas[best]:.2f}", rates,
                         x_unit="false positive rate", y_unit="recall"),
            "precision-recall": lines(f"Precision and recall: average precision of {best} is {average:.2f}",
                                      precisions, x_unit="recall", y_unit="precision"),
        }  # fmt: skip


def score_files(
    paths: Sequence[Path | str], reading: Reading | None = None, metric: str = "macro_f1", seed: int = 0
) -> ScoredReport:
    """Score tables that hold true labels and predictions; several must be scored copies of one table.

    Each file is a system with the name of its file. Differences are tested in pairs.
    """
    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        raise ConfigError("two of the files have the same name: rename one to tell them apart")
    files = [read_scored(path, reading) for path in paths]
    examples = check_same_rows(files)
    answers = {name: file.predictions for name, file in zip(names, files, strict=True)}
    return ScoredReport(
        score_systems(examples, answers, metric=metric, seed=seed),
        {name: _wrong(examples, rows) for name, rows in answers.items()},
        {name: curve for name, rows in answers.items() if (curve := _curve(examples, rows))},
        files,
    )


def score_source(
    source: str,
    predictions: Sequence[Path],
    reading: Reading | None = None,
    *,
    metric: str = "macro_f1",
    seed: int = 0,
    out: Path | None = None,
) -> ScoredReport | SystemScores:
    """Score scored tables, or files of predictions against the labels of a source; only tables have a page (`out`)."""
    if out is not None or are_scored([source, *predictions], reading):
        report = score_files([source, *predictions], reading, metric, seed)
        if out is not None:
            report.write(out)
        return report
    systems = read_systems(predictions)
    return score_systems(read_source(source, reading).examples, systems, metric=metric, seed=seed)


def _wrong(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[WrongAnswer]:
    answers = {prediction.example_id: prediction for prediction in predictions}
    found = []
    for example in examples:
        prediction = answers[example.id]
        if prediction.label is not None and prediction.label != example.label:
            score = 0.5 if prediction.score is None else prediction.score
            found.append(WrongAnswer(example, prediction, score if prediction.label else 1 - score))
    return sorted(found, key=lambda one: -one.confidence)


def _curve(examples: Sequence[Example], predictions: Sequence[Prediction]) -> ScoreCurves | None:
    scores = {p.example_id: p.score for p in predictions if p.score is not None}
    rows = [(bool(e.label), scores[e.id]) for e in examples if e.id in scores]
    try:
        return score_curves([truth for truth, _ in rows], [score for _, score in rows])
    except DataError:  # one label only, or no scores: the table of scores says so
        return None


def _score(prediction: Prediction) -> str:
    return "" if prediction.score is None else f"{prediction.score:.2f}"


def _row(one: WrongAnswer, widest: int = _WIDEST) -> tuple[str, str, str, str, str, str]:
    text = one.example.response.text
    short = text if len(text) <= widest else f"{text[: widest - 1]}…"
    truth = _TRUTHS[bool(one.example.label)]
    number = one.example.id.removeprefix("row ")
    return number, one.example.id, truth, label_word(one.prediction), _score(one.prediction), short
