"""A stop of the tour: a study of the studio from its items to a release, with raters that are made up."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadpan.cli.studio_items import from_examples
from deadpan.cli.tour import Guide
from deadpan.datasets import read_dataset
from deadpan.draws import sample
from deadpan.errors import MissingExtra
from deadpan.records import Judgment
from deadpan.studies import Study, StudyItem

ITEMS = 30
RATERS = {"rater-1": 2, "rater-2": 5, "rater-3": 9}
"""Made-up raters, and on how many items each of them answers against the label of the set."""


def stop(guide: Guide) -> None:
    """Create, import, agree, release."""
    guide.page.heading("People: the studio")
    guide.page.text(
        "Seven kinds of study run in a browser or on a phone, in English and Korean. This one asks three "
        "people whether an answer is sarcastic. Nobody was asked here: "
        f"the answers are made up, the set's labels with {', '.join(map(str, RATERS.values()))} of {ITEMS} "
        "turned around, to show what a study comes to."
    )
    try:
        with tempfile.TemporaryDirectory() as home:
            _show(guide, Path(home))
    except MissingExtra as absent:
        guide.page.note(f"Left out: {absent}")
        guide.result("a study with three made-up raters", f"left out: {absent}")


def _show(guide: Guide, home: Path) -> None:
    from deadpan.studio.database import open_studio

    open_studio(home, "")
    from django.db import connections

    from deadpan.studio.creation import create_study
    from deadpan.studio.imports import import_judgments

    guide.step("a study and its answers")
    items = from_examples("perceive", read_dataset("starter-en").examples, ITEMS, guide.seed)
    study = create_study("tour", Study("perceive", "Is the answer sarcastic?"), items, "tour")
    import_judgments(study, _made_up(items, guide.seed), "tour")
    guide.step("agreement")
    _agreement(guide, study)
    guide.step("a release")
    _release(guide, study)
    connections.close_all()


def _made_up(items: Sequence[StudyItem], seed: int) -> list[Judgment]:
    """Each rater answers as the set says, but for a few items that are drawn."""
    found = []
    for rater, wrong in RATERS.items():
        turned = _turned(items, rater, wrong, seed)
        for item in items:
            sarcastic = bool(item.hidden["label"]) != (item.id in turned)
            answer = "sarcastic" if sarcastic else "not sarcastic"
            found.append(Judgment(item.id, rater, "sarcastic", answer, 4.0, "2026-01-01T00:00:00+00:00"))
    return found


def _turned(items: Sequence[StudyItem], rater: str, wrong: int, seed: int) -> set[str]:
    return {item.id for item in sample(items, wrong, seed=seed, key=lambda item: f"{rater} {item.id}")}


def _agreement(guide: Guide, study: Any) -> None:
    from deadpan.stats.bootstrap import RESAMPLES
    from deadpan.studio.results import disagreements, report, study_agreement

    found = study_agreement(study, resamples=RESAMPLES, seed=guide.seed)["sarcastic"]
    guide.page.table(
        ("coefficient", "value"), list(found.items()), caption="Agreement of the three made-up raters"
    )
    for section in report(study, resamples=RESAMPLES):
        guide.page.heading(section.title, 3)
        guide.page.table(section.table.columns, section.table.rows)
        if section.note:
            guide.page.note(section.note)
    split = len(disagreements(study))
    guide.page.text(f"They disagree on {split} of {ITEMS} items, which an adjudicator would decide.")
    guide.result("agreement of three made-up raters, alpha", found["alpha"], ITEMS)


def _release(guide: Guide, study: Any) -> None:
    from deadpan.cards import DataFacts
    from deadpan.studio.release import release_study

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
        personal_data="None: nobody was asked.",
        known_limits=("The raters are made up: good for nothing but a look.",),
    )
    sizes, _ = release_study(study, out, facts, "gated")
    guide.result("examples in its release, with card and Croissant", str(out), sizes.total)
    guide.page.note("Your own: deadpan studio create perceive --name first --items starter-en")
