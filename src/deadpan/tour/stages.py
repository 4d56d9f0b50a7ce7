"""The stops about the other stages: a generated dialogue, a study with people, the SarcBench board."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from deadpan.bench.items.item import CHANCE
from deadpan.bench.runs.folder import find_runs, unpack_recorded
from deadpan.bench.scores.score import RunScores, score_run
from deadpan.bench.site.write import write_leaderboard
from deadpan.datasets import read_dataset
from deadpan.draws import sample
from deadpan.errors import DataError
from deadpan.formats.study import Study, StudyItem
from deadpan.page.numbers import score
from deadpan.ratings import dawid_skene, ratings_from_judgments
from deadpan.records import Example, Judgment, Turn
from deadpan.tour.guide import Guide

# The meaning of a reason, for a reader who has not seen one before.
_WHY = {
    "pleasant_scene": "nothing has gone wrong in its scene, so a friendly response would be sincere",
    "no_contrast": "no response sounds friendly when taken literally",
    "truncated": "the answer was cut off at its length limit",
    "missing_explanation": "it does not explain the sarcasm",
}


def dialogue_stop(guide: Guide) -> None:
    """Show what one recorded run of the pipeline kept and dropped."""
    recorded = read_recorded()
    kept, dropped = recorded.kept(), recorded.dropped()
    read = recorded.run["read"]
    guide.page.text(
        "KoCoSa's pipeline turns a source dialogue into a situation, and the situation into a new dialogue "
        "that ends with a sarcastic response and its explanation. Filters drop what is not worth an "
        f"annotator's time. The dialogues here were written offline by {recorded.origin}, and are shown "
        "unedited."
    )
    if kept:
        guide.page.heading("Kept, for people to judge", 3)
        guide.page.conversation(kept[0], note=kept[0].explanation)
    if dropped:
        example, step, reason, raw = dropped[0]
        guide.page.heading("Dropped", 3)
        told = f"dropped by the step {step}: {_why(reason)} ({reason})"
        if example is not None:
            guide.page.conversation(example, note=told)
        else:
            guide.page.code(raw).note(f"{told[0].upper()}{told[1:]}.")
    reasons = Counter(f"{step}: {reason.partition(':')[0]}" for _, step, reason, _ in dropped)
    rows = [("source dialogues", read), *((f"dropped, {why}", n) for why, n in reasons.most_common())]
    guide.page.table(("what", "n"), [*rows, ("kept", len(kept))], caption="Every dialogue is accounted for")
    guide.page.note(
        "A dialogue is not sarcastic just because a model wrote it to be. Every label says where it comes "
        "from (generated, author, perceived or marker). In the next step, people judge the dialogues."
    )
    first = f": {_why(dropped[0][2])}" if len(dropped) == 1 else ""
    guide.found(
        f"A small offline model wrote dialogues from {read} sources. The filters dropped "
        f"{len(dropped)}{first}. {len(kept)} go to people, who decide what is sarcastic.",
        "deadpan generate plan plan.toml && deadpan generate run plan.toml --dry-run",
    )


def _why(reason: str) -> str:
    """Return what a reason means, or the reason itself."""
    name = reason.partition(":")[0]
    return _WHY.get(name, name.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run of the pipeline that was recorded by tools/record_tour.py, so that the tour shows it in seconds."""

    run: Mapping[str, Any]

    @property
    def origin(self) -> str:
        """The model that wrote the dialogues, and when."""
        return f"{self.run['model'].removeprefix('embedded/')}, recorded on {self.run['date']}"

    def kept(self) -> list[Example]:
        """Return the dialogues that passed every filter."""
        return [_example(draft) for draft in self.run["kept"] if draft.get("response")]

    def dropped(self) -> list[tuple[Example | None, str, str, str]]:
        """Return what was dropped, with step, reason and the model's words; those with a dialogue first."""
        rows = []
        for one in self.run["dropped"]:
            draft = one.get("draft") or {}
            reason = one["reason"] + (f": {one['detail']}" if one.get("detail") else "")
            example = _example(draft) if draft.get("response") else None
            rows.append((example, one["step"], reason, one.get("raw", "")))
        return sorted(rows, key=lambda row: row[0] is None)


def read_recorded() -> Recorded:
    """Read the recorded run that comes with the package."""
    try:
        return Recorded(orjson.loads(files("deadpan.tour").joinpath("recorded.json").read_bytes()))
    except (OSError, ValueError) as bad:
        raise DataError(f"tour/recorded.json cannot be read ({bad!r}): reinstall deadpan") from None


def _example(draft: dict[str, Any]) -> Example:
    turns = tuple(Turn(turn["speaker"], turn["text"]) for turn in draft["context"])
    response = Turn(draft["response"]["speaker"], draft["response"]["text"])
    return Example(draft["id"], response, turns, label=True, explanation=draft.get("explanation", ""))


ITEMS = 90
_COEFFICIENTS = {
    "raw": "raw agreement", "cohen": "Cohen's kappa", "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha", "ac1": "Gwet's AC1",
}  # fmt: skip
RATERS = {"rater-1": 5, "rater-2": 10, "rater-3": 15, "rater-4": 20, "rater-5": 30}
"""Made-up raters, and on how many items each of them answers against the label of the set."""


def people_stop(guide: Guide) -> None:
    """Create, import, agree, release."""
    wrong = ", ".join(map(str, RATERS.values()))
    guide.page.text(
        "Seven kinds of study run in a browser or on a phone, in English and Korean. This one asks five "
        "raters whether a response is sarcastic. No person was asked here: the answers are simulated. "
        f"They are the set's labels with {wrong} of {ITEMS} flipped, one number per rater. The errors are "
        "therefore known, and the study has to find them."
    )
    with tempfile.TemporaryDirectory() as home:
        _show(guide, Path(home))


def _show(guide: Guide, home: Path) -> None:
    from deadpan.studio.app.database import open_studio

    open_studio(home, "")
    from django.db import connections

    from deadpan.studio.protocols import PROTOCOLS
    from deadpan.studio.records.imports import import_judgments
    from deadpan.studio.records.studies import create_study

    guide.step("a study and its answers")
    examples = read_dataset("starter-en").examples
    items = PROTOCOLS.load("reader-judgment")().items_from(examples, sample=ITEMS, seed=guide.seed)
    study = create_study("tour", Study("reader-judgment", "Is the answer sarcastic?"), items, "tour")
    judgments = _made_up(items, guide.seed)
    import_judgments(study, judgments, "tour")
    guide.step("agreement")
    _agreement(guide, study)
    _consensus(guide, judgments, items)
    guide.step("a release")
    _release(guide, study)
    connections.close_all()


def _made_up(items: Sequence[StudyItem], seed: int) -> list[Judgment]:
    """Each rater answers as the set says, but for a few items that are drawn."""
    found = []
    for rater, wrong in RATERS.items():
        drawn = sample(items, wrong, seed=seed, key=lambda item, rater=rater: f"{rater} {item.id}")  # type: ignore[misc]
        turned = {item.id for item in drawn}
        for item in items:
            answer = _answer(bool(item.hidden_fields()["label"]) != (item.id in turned))
            found.append(Judgment(item.id, rater, "sarcastic", answer, 4.0, "2026-01-01T00:00:00+00:00"))
    return found


def _agreement(guide: Guide, study: Any) -> None:
    from deadpan.stats.interval import RESAMPLES
    from deadpan.studio.records.labels import refresh_cases, study_results

    found = study_results(study, resamples=RESAMPLES, seed=guide.seed).agreement["sarcastic"]
    guide.page.table(
        ("coefficient", "value"), [(_COEFFICIENTS.get(name, name), value) for name, value in found.items()],
        caption="Agreement of the five made-up raters",
    )  # fmt: skip
    refresh_cases(study)
    split = study.cases.count()
    guide.page.text(f"They disagree on {split} of {ITEMS} items; an adjudicator decides these.")


def _consensus(guide: Guide, judgments: Sequence[Judgment], items: Sequence[StudyItem]) -> None:
    """Show that the answers alone tell who errs how often, and what the labels are."""
    found = dawid_skene(ratings_from_judgments(judgments))
    rows = [(one.name, RATERS[one.name], round(ITEMS * (1 - one.accuracy))) for one in found.annotators]
    guide.page.table(
        ("rater", "errors made", "errors estimated"), rows,
        caption=f"Errors in {ITEMS} answers; the estimate (Dawid and Skene) sees the answers only",
    )  # fmt: skip
    truth = {item.id: _answer(bool(item.hidden_fields()["label"])) for item in items}
    right = sum(label.value == truth[label.item_id] for label in found.labels)
    single = ITEMS - max(RATERS.values())
    order = sorted(found.annotators, key=lambda one: -one.accuracy)
    ranked = [one.name for one in order] == sorted(RATERS, key=RATERS.__getitem__)
    guide.found(
        f"A study in miniature, with five made-up raters whose errors are known: from their answers alone, "
        f"{right} of {ITEMS} labels are recovered (the weakest rater has {single} right)"
        f"{', and the raters are ranked in the right order' if ranked else ''}.",
        "deadpan studio create reader-judgment starter-en --name first && deadpan studio serve",
    )


def _answer(sarcastic: bool) -> str:
    return "sarcastic" if sarcastic else "not sarcastic"


def _release(guide: Guide, study: Any) -> None:
    from deadpan.cards import DataFacts
    from deadpan.studio.records.release import release_study

    out = guide.out / "release"
    shutil.rmtree(out, ignore_errors=True)
    facts = DataFacts(
        title="A tour's study",
        version="1.0.0",
        language=("en",),
        licence="CC0-1.0",
        citation="none: its raters are made up",
        summary="Made-up answers about the starter set, to show what a release is.",
        how_made="deadpan tour: answers drawn from the set's labels.",
        personal_data="None: no person was asked.",
        known_limits=("The raters are made up: use it only to look at the format.",),
    )
    release_study(study, out, facts, "gated")
    guide.artefact("The data card of the study's release", out / "README.md")


_CHANCE_OF_PAIR = CHANCE**2
_BASELINE = "baseline"


def board_stop(guide: Guide) -> None:
    """Score the runs that come with the package and write the board."""
    folder = guide.out / "bench"
    shutil.rmtree(folder, ignore_errors=True)  # an earlier tour's runs are not on this board
    guide.step("the recorded runs")
    runs = [run for run in find_runs([unpack_recorded(folder)]) if run.plan.whole_set]
    guide.step("scoring them")
    scored = sorted((score_run(run, guide.seed) for run in runs), key=lambda each: -(each.avg.value or 0))
    guide.page.text(
        f"{scored[0].n:,} questions with six options, most of them in minimal pairs like the one above: what "
        f"does the speaker mean? Chance is {CHANCE:.3f}, and {_CHANCE_OF_PAIR:.3f} for both questions of a "
        f"pair. These runs were recorded ({_dates(scored)}) and come with the package, with every answer. "
        "Baselines read only the options: a model has to beat them, and they should not beat chance."
    )
    if not _models(scored):
        guide.page.note("No run of a language model comes with this version: the command below makes one.")
    guide.step("writing the board")
    write_leaderboard([folder], guide.out / "board", seed=guide.seed)
    guide.artefact("The board, with a page per item", guide.out / "board" / "index.html")
    guide.page.table(
        ("model", "correct"), [(_short(each), each.avg) for each in scored],
        caption="Share of correct answers; intervals resample families of items",
    )  # fmt: skip
    guide.page.table(
        ("model", "both of a pair"), [(_short(each), each.pairs) for each in scored],
        caption="Share of pairs with both questions answered correctly",
    )  # fmt: skip
    guide.found(_finding(scored), "deadpan bench run --llm openai/NAME --out runs")


def _dates(scored: Sequence[RunScores]) -> str:
    days = sorted({day[:10] for each in scored for day in each.dates})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _short(run: RunScores) -> str:
    """Return the name of a model without where it runs, so that a table fits a phone."""
    return run.model.removeprefix("embedded/")


def _models(scored: Sequence[RunScores]) -> list[RunScores]:
    return [each for each in scored if each.kind != _BASELINE]


def _finding(scored: Sequence[RunScores]) -> str:
    """Return what the board shows; a run is said to be above chance only if its interval is."""
    best, models = scored[0], _models(scored)
    if not models:
        above = [each.model for each in scored if (each.avg.low or 0.0) > CHANCE]
        found = f"{', '.join(above)} is above it" if above else "so the options do not give the answers away"
        return (
            f"{len(scored)} rules that read only the options of {best.n:,} questions are recorded; the best "
            f"answers {score(best.avg)} correctly (chance: {CHANCE:.3f}), {found}. The board takes any model."
        )
    first = models[0]
    word = "above" if (first.avg.low or 0.0) > CHANCE else "not significantly above"
    rules = [each for each in scored if each.kind == _BASELINE]
    rule = f" The best rule that reads only the options scores {score(rules[0].avg)}." if rules else ""
    return (
        f"The best of {len(models)} recorded language models, {_short(first)}, answers {score(first.avg)} of "
        f"{first.n:,} questions correctly, {word} chance ({CHANCE:.3f}), and both questions in "
        f"{score(first.pairs)} of the pairs.{rule}"
    )
