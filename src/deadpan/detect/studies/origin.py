"""The mirage test: does a detector know sarcasm, or does it tell generated text from what people say?

A probe learns to tell texts written for a data set, or generated, from organic speech. A detector that was
trained on the former is then tested on the latter, and the probe's score shows how much of the detector's
score on each corpus it explains.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deadpan.arguments import check_examples, check_mapping, check_progress, check_seed, check_settings, check_whole
from deadpan.detect.studies.design import cross_validate, write_study
from deadpan.detect.studies.transfer import AUC, TransferMatrix, transfer
from deadpan.detect.system import make
from deadpan.draws import sample
from deadpan.errors import ConfigError, DataError
from deadpan.page.numbers import score
from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.probes import clusters_of, fold_numbers, held_out_scores, word_matrix
from deadpan.progress import Progress, silent
from deadpan.records import Example, Predictor
from deadpan.results import Result
from deadpan.stats import wilson
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval
from deadpan.stats.ranking import Explained, auc_interval, explained_share
from deadpan.storage import OutputPage

UNKNOWN = ("", "und")
AT_MOST = 2_000
"""Examples drawn from each corpus."""
ASKED = 100
"""Examples of each corpus that a language model is asked about."""
PROMPTED = {"probabilities": True}
Z = 1.959963984540054


@dataclass(frozen=True, slots=True, repr=False)
class OriginStudy(Result):
    """A probe that tells generated from organic text, what it explains, and how detectors transfer.

    `origin` is the probe's AUC, `told` the share of each corpus that it calls generated; `explained` says per
    corpus how much of a detector's score the probe explains; `moves` sums the transfer up in six means.
    A generated corpus with one label only, such as dialogues without sincere twins, is in `told` alone.
    `asked` is what a language model makes of the same texts, if one was named.
    """

    origin: Interval
    generated: tuple[str, ...]
    organic: tuple[str, ...]
    told: Mapping[str, Interval]
    explained: Mapping[str, Explained]
    matrix: TransferMatrix
    asked: ModelAnswers | None = None

    def __repr__(self) -> str:
        return f"OriginStudy({len(self.explained)} corpora, origin AUC {self.origin.value:.3f})"

    def mean(self, trained: Sequence[str], tested: Sequence[str], *, same: bool) -> float | None:
        """Return the mean score over pairs of corpora, on the diagonal (`same`) or off it."""
        known_names = self.matrix.cells
        pairs = [(a, b) for a in trained for b in tested if a in known_names and b in known_names]
        cells = [self.matrix.cells[a][b].value for a, b in pairs if (a == b) is same]
        known = [value for value in cells if value is not None]
        return sum(known) / len(known) if known else None

    def moves(self) -> dict[str, float | None]:
        """Return the means within a corpus, to others of its kind, and to the other kind.

        Only what is lost beyond the way to another corpus of the same kind is about the origin of texts.
        """
        return {
            "within generated": self.mean(self.generated, self.generated, same=True),
            "generated to other generated": self.mean(self.generated, self.generated, same=False),
            "generated to organic": self.mean(self.generated, self.organic, same=False),
            "within organic": self.mean(self.organic, self.organic, same=True),
            "organic to other organic": self.mean(self.organic, self.organic, same=False),
            "organic to generated": self.mean(self.organic, self.generated, same=False),
        }

    def as_dict(self) -> dict[str, object]:
        """Return every number, for `--json`."""
        explained = {
            name: {"detector": one.detector, "origin": one.shortcut, "within": one.within, "share": one.share.as_dict()}
            for name, one in self.explained.items()
        }
        return {
            "origin_auc": self.origin.as_dict(), "generated": list(self.generated),
            "organic": list(self.organic), "explained": explained, "moves": self.moves(),
            "told_as_generated": {name: share.as_dict() for name, share in self.told.items()},
            "transfer": self.matrix.as_dict(), "model": self.asked.as_dict() if self.asked else None,
        }  # fmt: skip

    def summary(self) -> Summary:
        """Return the probe, what it explains per corpus, and the transfer."""
        moved = tuple((name, value) for name, value in self.moves().items())
        rows = tuple(
            (name, "generated" if name in self.generated else "organic", one.detector, one.shortcut, one.share)
            for name, one in self.explained.items()
        )
        shares = Table(("corpus", "called generated"), tuple(self.told.items()), "Share of its texts")
        model = (self.asked.table(self.generated),) if self.asked else ()
        notes = (
            f"A probe of words tells the two kinds of text apart with an AUC of {self.origin}.",
            "Explained: how much of the detector's AUC above chance disappears among texts that the probe "
            "scores alike.",
            *((self.asked.verdict,) if self.asked else ()),
            *((f"{self.asked.unread:,} answers could not be read.",)
              if self.asked and self.asked.unread else ()),
        )  # fmt: skip
        return Summary(
            (
                Table(("detector", "mean AUC"), moved),
                Table(("corpus", "kind", "detector AUC", "probe AUC", "explained"), rows),
                shares,
                *model,
                self.matrix.summary().tables[0],
            ),
            notes,
        )

    def about(self) -> OutputPage:
        """Return the finding: does what generated text teaches hold for organic speech?"""
        cells = self.matrix.cells
        away = [cells[a][b] for a in self.generated for b in self.organic if a in cells and b in cells]
        above = sum(value.low is not None and value.low > 0.5 for value in away)
        finding = (
            f"Trained on generated text, {self.matrix.system} is significantly above chance on organic "
            f"speech in {above} of {len(away)} cases; a probe tells the two apart with an AUC of "
            f"{score(self.origin)}."
        )
        kinds = (f"{len(self.generated)} generated", f"{len(self.organic)} organic")
        facts = (*kinds, f"seed {self.matrix.seed}")
        return OutputPage("Generated and organic sarcasm", finding, facts)

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write origin.json, report.html with the figure, and manifest.json."""
        from deadpan.figures.plots import heat

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        names = list(self.matrix.cells)
        moves = self.moves()
        parts = [(moves["within generated"], "at home"),
                 (moves["generated to other generated"], "on other such text"),
                 (moves["generated to organic"], "on organic speech")]  # fmt: skip
        said = ", ".join(f"{value:.2f} {where}" for value, where in parts if value is not None)
        title = f"Trained on generated text: AUC {said}"
        about = self.about()
        page = output_page(about)
        cells = [[self.matrix.cells[a][b].value for b in names] for a in names]
        add_figure(page, out, "origin", lambda: heat(
            title, cells, rows=("trained on", names), columns=("tested on", names), unit="AUC",
            limits=(0.5, 1.0),
        ))  # fmt: skip
        add_summary(page, self)
        write_study(
            out, "origin", self, page, command="detect origin", inputs=inputs, seed=self.matrix.seed,
            config={"generated": list(self.generated), "organic": list(self.organic),
                    "system": self.matrix.system, "model": self.asked.model if self.asked else ""},
            counts=dict(self.matrix.sizes), about=about,
        )  # fmt: skip


def study_origin(
    generated: Mapping[str, Sequence[Example]],
    organic: Mapping[str, Sequence[Example]],
    *,
    system: str = "linear",
    at_most: int = AT_MOST,
    settings: Mapping[str, Any] | None = None,
    llm: str | Predictor | None = None,
    asked: int = ASKED,
    seed: int = 0,
    progress: Progress = silent,
) -> OriginStudy:
    """Test whether detectors of generated or written sarcasm fail on organic speech, and why.

    `generated` and `organic` map names of corpora to examples. Of each corpus at most `at_most` examples are
    drawn, whole pairs together. Corpora of several languages need a system that reads them all, such as
    "frozen" with `settings={"encoder": "use-multilingual"}`; the probe learns each language by itself, so
    that it does not tell languages apart instead of origins. The language model `llm` is asked about at most
    `asked` examples of each corpus, without training.
    """
    check_seed(seed)
    check_whole(at_most, "at_most", 2)
    settings, progress = check_settings(settings), check_progress(progress)
    for given, name in ((generated, "generated"), (organic, "organic")):
        check_mapping(given, name, "pass {name: examples}")
        if not given:
            raise ConfigError(f"name at least one {name} corpus")
    if both := sorted(set(generated) & set(organic)):
        raise ConfigError(f"{both[0]} is named as generated and as organic: name it once")
    corpora = {name: _drawn(rows, at_most, seed) for name, rows in {**generated, **organic}.items()}
    full = {name: rows for name, rows in corpora.items() if len({example.label for example in rows}) == 2}
    for name in corpora:
        if name not in full and (name in organic or not set(generated) & set(full) or not corpora[name]):
            raise DataError(f"{name}: a test of origins needs both labels")
    origin, probe, clusters, told = _probe(corpora, set(generated), seed)
    explained: dict[str, Explained] = {}
    at = _places(corpora)
    for name, rows in full.items():
        progress("detectors", len(explained), len(full))
        scores = _detector(system, rows, settings, seed, progress)
        truth = np.array([bool(example.label) for example in rows])
        explained[name] = explained_share(truth, scores, probe[at[name]], clusters[at[name]], seed=seed)
    matrix = transfer(full, system, metric=AUC, pool=True, seed=seed, settings=settings, progress=progress)
    shares = {name: wilson(int((probe[here] > 0.5).sum()), len(probe[here]))
              for name, here in at.items() if told[here].all()}  # fmt: skip
    answers = None
    if llm is not None:
        few = {name: _drawn(rows, asked, seed) for name, rows in full.items()}
        by_id = {e.id: float(p) for e, p in zip(_joined(corpora), probe, strict=True)}
        answers = ask_model(llm, few, list(generated), by_id, seed=seed, progress=progress)
    return OriginStudy(origin, tuple(generated), tuple(organic), shares, explained, matrix, answers)


def _joined(corpora: Mapping[str, Sequence[Example]]) -> list[Example]:
    return [example for rows in corpora.values() for example in rows]


def _places(corpora: Mapping[str, Sequence[Example]]) -> dict[str, slice]:
    """Return where each corpus stands in all examples joined."""
    places, start = {}, 0
    for name, rows in corpora.items():
        places[name] = slice(start, start + len(rows))
        start += len(rows)
    return places


def _drawn(examples: Sequence[Example], at_most: int, seed: int) -> list[Example]:
    rows = [example for example in check_examples(examples) if example.label is not None]
    units = list(dict.fromkeys(example.sequence or example.id for example in rows))
    share = len(units) if len(rows) <= at_most else max(1, at_most * len(units) // len(rows))
    kept = set(sample(units, share, seed=seed, key=str))
    return [example for example in rows if (example.sequence or example.id) in kept]


def _probe(
    corpora: Mapping[str, Sequence[Example]], generated: set[str], seed: int
) -> tuple[Interval, FloatArray, IntArray, BoolArray]:
    """Return how well generated is told from organic text, and the held-out score of every example.

    A language with one kind of text only teaches nothing about origins: its examples all score 0.5, and the
    last array says so.
    """
    rows = _joined(corpora)
    origin: BoolArray = np.array([name in generated for name, examples in corpora.items() for _ in examples])
    clusters = clusters_of(rows)
    fold = fold_numbers(clusters, seed)
    scores: FloatArray = np.full(len(rows), 0.5)
    told = np.zeros(len(rows), dtype=np.bool_)
    languages = np.array(_languages(rows))
    for language in np.unique(languages):
        here = languages == language
        if origin[here].all() or not origin[here].any():
            continue
        matrix = word_matrix([rows[at].response.text for at in np.flatnonzero(here)])
        scores[here] = held_out_scores(matrix, origin[here], fold[here], strength=4.0)
        told |= here
    if not told.any():
        raise DataError("no language has both generated and organic examples: name corpora that share one")
    found = auc_interval(origin[told], scores[told], _renumbered(clusters[told]), resamples=300,
                         level=0.95, seed=seed)  # fmt: skip
    return found, scores, clusters, told


def _languages(rows: Sequence[Example]) -> list[str]:
    """Return a language per example; one that is not known is taken to be the most frequent one."""
    known = Counter(example.language for example in rows if example.language not in UNKNOWN)
    usual = known.most_common(1)[0][0] if known else ""
    return [usual if example.language in UNKNOWN else example.language for example in rows]


def _renumbered(clusters: IntArray) -> IntArray:
    return np.unique(clusters, return_inverse=True)[1]


def _detector(
    system: str, rows: Sequence[Example], settings: Mapping[str, Any] | None, seed: int, progress: Progress
) -> FloatArray:
    """Return the held-out scores of a detector within one corpus."""
    trial = cross_validate(system, rows, seed=seed, settings=settings, progress=progress)
    by_id = {p.example_id: p.score if p.score is not None else float(bool(p.label)) for p in trial.predictions}
    return np.array([by_id[example.id] for example in rows], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """The AUC of a language model on each corpus, and how much of it the probe of origins explains.

    Nothing is trained. `fall` is its mean AUC on generated less that on organic corpora; `unread` counts
    the answers that could not be read, which are left out.
    """

    model: str
    aucs: Mapping[str, Interval]
    explained: Mapping[str, Explained]
    fall: Interval
    unread: int

    def as_dict(self) -> dict[str, object]:
        """Return every number, for `--json`."""
        return {
            "model": self.model, "unread": self.unread, "fall": self.fall.as_dict(),
            "auc": {name: auc.as_dict() for name, auc in self.aucs.items()},
            "explained": {name: one.share.as_dict() for name, one in self.explained.items()},
        }  # fmt: skip

    @property
    def verdict(self) -> str:
        """One sentence: does the model fall on organic speech?"""
        low, high = self.fall.low, self.fall.high
        shown = f"mean AUC {score(self.fall)} higher on generated text than on organic speech"
        if low is None or high is None or low <= 0 <= high:
            return f"{self.model}: no significant difference between the two kinds of text ({shown})."
        return f"{self.model} is {'better' if low > 0 else 'worse'} on generated text ({shown})."

    def table(self, generated: Sequence[str]) -> Table:
        """Return a row per corpus."""
        rows: list[tuple[Cell, ...]] = [
            (name, "generated" if name in generated else "organic", auc, self.explained[name].share)
            for name, auc in self.aucs.items()
        ]
        return Table(("corpus", "kind", "AUC", "explained"), tuple(rows), f"{self.model}, asked")


def ask_model(
    model: str | Predictor,
    corpora: Mapping[str, Sequence[Example]],
    generated: Sequence[str],
    origin: Mapping[str, float],
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> ModelAnswers:
    """Ask a model about every example, without training; `origin` is the score of the probe by example id.

    `model` is an embedded model or one behind an endpoint, as for the system `prompted`, or any Predictor.
    """
    asker = make("prompted", {**PROMPTED, "model": model}) if isinstance(model, str) else model
    aucs: dict[str, Interval] = {}
    explained: dict[str, Explained] = {}
    unread = 0
    for done, (name, rows) in enumerate(corpora.items()):
        progress("asking the model", done, len(corpora))
        answers = {p.example_id: p.score for p in asker.predict(rows)}
        known = [example for example in rows if answers.get(example.id) is not None]
        unread += len(rows) - len(known)
        truth = np.array([bool(example.label) for example in known], dtype=np.bool_)
        scores: FloatArray = np.array([answers[example.id] for example in known], dtype=np.float64)
        probe: FloatArray = np.array([origin[example.id] for example in known], dtype=np.float64)
        clusters = clusters_of(known)
        aucs[name] = auc_interval(truth, scores, clusters, seed=seed)
        explained[name] = explained_share(truth, scores, probe, clusters, seed=seed)
    name = model if isinstance(model, str) else type(model).__name__
    return ModelAnswers(name, aucs, explained, _fall(aucs, generated), unread)


def _fall(aucs: Mapping[str, Interval], generated: Sequence[str]) -> Interval:
    """Return the mean over generated less that over organic corpora; corpora are independent samples."""
    means, variances, n = [], [], 0
    for kind in (True, False):
        mine = [auc for name, auc in aucs.items() if (name in generated) is kind and auc.value is not None]
        if not mine:
            return Interval(None, None, None, 0.95, n, "no corpus of one of the two kinds")
        n += sum(auc.n for auc in mine)
        means.append(sum(auc.value or 0.0 for auc in mine) / len(mine))
        half = [((auc.high or 1.0) - (auc.low or 0.0)) / 2 for auc in mine]
        variances.append(sum((each / Z) ** 2 for each in half) / len(mine) ** 2)
    value, width = means[0] - means[1], Z * math.sqrt(sum(variances))
    return Interval(value, value - width, value + width, 0.95, n)
