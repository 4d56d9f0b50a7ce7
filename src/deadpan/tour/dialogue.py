"""Fifth stop: a dialogue that a language model wrote, and one that was dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson

from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.tour.guide import Guide

_WHY = {
    "pleasant_scene": "nothing has gone wrong in its scene, so a friendly response would be sincere",
    "no_contrast": "no response sounds friendly when taken literally",
    "truncated": "the answer was cut off at its length limit",
    "missing_explanation": "it does not explain the sarcasm",
}
"""The meaning of a reason, for a reader who has not seen one before."""


def stop(guide: Guide) -> None:
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
