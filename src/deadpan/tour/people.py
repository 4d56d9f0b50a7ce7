"""Sixth stop: a study in miniature from its items to a release, with made-up raters of known error rates."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadpan.datasets import read_dataset
from deadpan.draws import sample
from deadpan.formats.study import Study, StudyItem
from deadpan.ratings import dawid_skene, ratings_from_judgments
from deadpan.records import Judgment
from deadpan.tour.guide import Guide

ITEMS = 90
_COEFFICIENTS = {
    "raw": "raw agreement", "cohen": "Cohen's kappa", "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha", "ac1": "Gwet's AC1",
}  # fmt: skip
RATERS = {"rater-1": 5, "rater-2": 10, "rater-3": 15, "rater-4": 20, "rater-5": 30}
"""Made-up raters, and on how many items each of them answers against the label of the set."""


def stop(guide: Guide) -> None:
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
        turned = _turned(items, rater, wrong, seed)
        for item in items:
            answer = _answer(bool(item.hidden_fields()["label"]) != (item.id in turned))
            found.append(Judgment(item.id, rater, "sarcastic", answer, 4.0, "2026-01-01T00:00:00+00:00"))
    return found


def _turned(items: Sequence[StudyItem], rater: str, wrong: int, seed: int) -> set[str]:
    return {item.id for item in sample(items, wrong, seed=seed, key=lambda item: f"{rater} {item.id}")}


def _agreement(guide: Guide, study: Any) -> None:
    from deadpan.stats.interval import RESAMPLES
    from deadpan.studio.records.labels import refresh_cases, study_agreement

    found = study_agreement(study, resamples=RESAMPLES, seed=guide.seed)["sarcastic"]
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
