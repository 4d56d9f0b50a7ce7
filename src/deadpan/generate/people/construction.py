"""KoCoSa's construction table (its Table 3): from people's verdict on a dialogue to examples of the data set.

An abnormal context deletes the dialogue; an abnormal response leaves the context as a dialogue without
sarcasm; otherwise the response's label is the dialogue's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from deadpan.formats.study_items import ABNORMAL, NOT_SARCASM
from deadpan.generate.draft import Draft, as_examples, lines
from deadpan.records import Example


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answers on one dialogue; empty where nobody answered or no answer has a majority."""

    response: str = ""
    context: str = ""
    explanation: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An explanation that people rejected. `rewritten` is empty until somebody has written a better one."""

    id: str
    dialogue: str
    explanation: str
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Constructed:
    """One dialogue after the table: its examples, or the reason why it has none."""

    examples: tuple[Example, ...] = ()
    dropped: str = ""
    detail: str = ""
    rewrite: Rewrite | None = None
    change: str = ""


def construct(draft: Draft, verdict: Verdict | None, language: str, rewritten: str = "") -> Constructed:
    """Apply the construction table to one dialogue.

    A sincere contrast response, which nobody judged, keeps the label kind `generated`.
    """
    if verdict is None or draft.response is None:
        return Constructed(dropped="not_judged")
    if not verdict.context or not verdict.response:
        return Constructed(dropped="no_majority")
    if verdict.context == ABNORMAL:
        return Constructed(dropped="context_abnormal", detail=verdict.kind)
    sarcastic, *contrast = as_examples(draft, language)
    judged = replace(sarcastic, label_kind="perceived", meta={**sarcastic.meta, "kind": verdict.kind})
    if verdict.response == ABNORMAL:
        return _without_response(judged, verdict)
    if verdict.response == NOT_SARCASM:
        change = f"label_change.{verdict.kind or 'kind not said'}"
        return Constructed((replace(judged, label=False, explanation="", sequence=""),), change=change)
    if verdict.explanation == ABNORMAL and not rewritten:
        rejected = Rewrite(draft.id, lines(draft.turns), draft.explanation)
        return Constructed((replace(judged, explanation=""), *contrast), rewrite=rejected)
    return Constructed((replace(judged, explanation=rewritten or judged.explanation), *contrast))


def _without_response(judged: Example, verdict: Verdict) -> Constructed:
    """Return the context alone: its last turn becomes the response, which nobody meant sarcastically."""
    if len(judged.context) < 2:
        return Constructed(dropped="too_short_without_response", detail=verdict.kind)
    shortened = replace(
        judged,
        response=judged.context[-1],
        context=judged.context[:-1],
        label=False,
        explanation="",
        sequence="",
    )
    return Constructed((shortened,), change=f"response_abnormal.{verdict.kind or 'kind not said'}")
