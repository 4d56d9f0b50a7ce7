"""Fifth stop: a dialogue that a language model wrote, and one that was dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deadpan.errors import ModelError
from deadpan.records import Example
from deadpan.tour.guide import Guide
from deadpan.tour.recorded import Recorded, read_recorded

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
    if not recorded.dialogues:
        raise ModelError("no recorded dialogues come with this version: deadpan generate run writes some")
    kept, dropped = recorded.kept(), recorded.dropped()
    read = recorded.dialogues["read"]
    guide.page.text(
        "KoCoSa's pipeline turns a source dialogue into a situation, and the situation into a new dialogue "
        "that ends with a sarcastic response and its explanation. Filters drop what is not worth an "
        f"annotator's time. The dialogues here were written offline by {recorded.origin}, and are shown "
        "unedited."
    )
    if kept:
        guide.page.heading("Kept, for people to judge", 3)
        shown = next((one for one in kept if one.id in recorded.sarcastic), kept[0])
        guide.page.conversation(shown, note=shown.explanation)
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
    guide.page.note(_reading(recorded, kept))
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


def _reading(recorded: Recorded, kept: Sequence[Example]) -> str:
    """Return what a kept dialogue is worth: a label of the model, until people have judged it."""
    rule = (
        "A dialogue is not sarcastic just because a model wrote it to be. Every label says where it comes "
        "from (generated, author, perceived or marker). In the next step, people judge the dialogues."
    )
    if not recorded.sarcastic:
        return rule
    found = sum(one.id in recorded.sarcastic for one in kept)
    return (
        f"{rule} Read critically, {found} of these {len(kept)} is sarcastic in its scene "
        f"({recorded.dialogues['reading']['where']}); the model is small, and any OpenAI-compatible one can "
        "take its place."
    )
