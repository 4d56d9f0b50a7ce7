"""The stop that writes: a handful of dialogues by the embedded model, with every step and drop to be seen."""

from __future__ import annotations

import shutil
from typing import Any

from deadpan.cli.tour import Guide
from deadpan.errors import MissingExtra, ModelError
from deadpan.generate.plan import Plan
from deadpan.generate.report import write_sections
from deadpan.generate.session import open_run

HANDFUL = 4
SHORT: dict[str, Any] = {
    "situation": {"max_tokens": 40, "tries": 2},
    "dialogue": {"max_tokens": 170, "tries": 1},
    "abnormal": {"max_tokens": 12, "tries": 1},
}
"""One try of few tokens each: the tour is to be short, and a better model needs no more."""


def stop(guide: Guide) -> None:
    """From source dialogues to filtered ones, in a folder of the tour's."""
    guide.page.heading("Writing dialogues")
    guide.page.text(
        "KoCoSa's pipeline on the dialogues that come with the package: each becomes a situation, each "
        "situation a new dialogue with an explained sarcastic response, and filters take out what is not fit "
        "for people. "
        "The writer here is the embedded model of 135 million parameters, which proves the path and writes "
        "poorly; with an endpoint in the plan the same command calls any other."
    )
    out = guide.out / "generated"
    shutil.rmtree(out, ignore_errors=True)
    plan = Plan(language="en", out=out, seed=guide.seed, **SHORT)
    try:
        with open_run(plan, limit=HANDFUL) as pipeline:
            for name in pipeline.steps():
                guide.step(name)
                pipeline.run_step(name)
    except (ModelError, MissingExtra) as absent:
        guide.page.note(f"Left out: {absent}")
        guide.result("dialogues written by the embedded model", f"left out: {absent}")
        return
    steps = [found for name in pipeline.steps() if (found := pipeline.run.manifest(name)) is not None]
    reasons = ", ".join(f"{reason} {n}" for found in steps for reason, n in sorted(found.drops.items()))
    guide.result(
        "dialogues written by the embedded model that passed",
        f"{steps[-1].counts['kept']} (dropped: {reasons or 'none'})",
        steps[0].counts["read"],
    )
    write_sections(guide.page, plan, pipeline.run)
