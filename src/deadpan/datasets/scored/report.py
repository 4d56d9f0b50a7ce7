"""Scores of one or several scored tables: intervals, confusion, curves, errors to read, significance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.datasets.reading import Reading
from deadpan.datasets.scored.reading import ScoredFile, check_same_rows, read_scored
from deadpan.errors import ConfigError, DataError, MissingExtra
from deadpan.formats.labels import label_word
from deadpan.formats.table_writer import write_table
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import SystemScores, score_systems
from deadpan.stats.curves import ScoreCurves, score_curves
from deadpan.storage import prepare_output, write_json, write_manifest
from deadpan.text import plural

if TYPE_CHECKING:
    from deadpan.figures import Figure
    from deadpan.page import Page
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table

SHOWN = 5
"""Errors on the terminal."""
ON_PAGE = 40
WIDEST = 200
TRUTHS = ("sincere", "sarcastic")


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
            rows = tuple((_row(one)[0], *_row(one)[2:]) for one in wrong[:SHOWN])
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
            rows = tuple((word, *row) for word, row in zip(TRUTHS, table.confusion, strict=True))
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

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write report.html, scores.json, errors-NAME.csv, the curves as SVG and PNG, and manifest.json."""
        from deadpan.page import Page

        out = Path(out)
        before = prepare_output(out)
        names = ", ".join(self.errors)
        page = Page(f"Scores of {names}", f"{len(self.files[0].examples):,} labelled rows.")
        base = self.systems.summary()
        for table in (*base.tables, *self._confusions()):
            page.table(table.columns, table.rows, caption=table.title)
        for note in base.notes:
            page.note(note)
        self._draw(page, out)
        for name, wrong in self.errors.items():
            page.heading(f"{name}: errors to read, the most confident first")
            for one in wrong[:ON_PAGE]:
                said = f"{label_word(one.prediction) or 'no answer'}, score {_score(one.prediction)}"
                page.conversation(one.example, note=f"{one.example.id}; answered {said}")
            columns = ("row", "id", "truth", "answer", "score", "text")
            rows = [dict(zip(columns, _row(each, WIDEST * 100), strict=True)) for each in wrong]
            write_table(out / f"errors-{name}.csv", columns, rows)
            if len(wrong) > ON_PAGE:
                page.text(f"{len(wrong) - ON_PAGE:,} more are in errors-{name}.csv.")
        write_json(out / "scores.json", self.as_dict())
        page.write(out / "report.html")
        files = [*inputs, *(file.path for file in self.files)]
        write_manifest(out, command="score", inputs=files, before=before)

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


def _row(one: WrongAnswer, widest: int = WIDEST) -> tuple[str, str, str, str, str, str]:
    text = one.example.response.text
    short = text if len(text) <= widest else f"{text[: widest - 1]}…"
    truth = TRUTHS[bool(one.example.label)]
    number = one.example.id.removeprefix("row ")
    return number, one.example.id, truth, label_word(one.prediction), _score(one.prediction), short
