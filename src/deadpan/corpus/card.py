"""The data card of a corpus that was built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from deadpan.cards import DataFacts, Sizes, data_card


def corpus_card(stats: Mapping[str, Any], months: list[str]) -> str:
    """Markdown: what it is, how it was made, what is known to be wrong with it."""
    span = f"{months[0]} to {months[-1]}" if months else "no month"
    facts = DataFacts(
        title=f"A SARC corpus of Reddit comments, {span}",
        version="1.0.0",
        language=("en",),
        licence="not stated: the comments belong to their authors, the dumps come without a licence",
        citation="Khodak, Saunshi and Vodrahalli 2018, A Large Self-Annotated Corpus for Sarcasm, LREC",
        summary=(
            "Comments of authors who know the marker /s, labelled by whether they ended one with it, with "
            "the conversations they are part of, in the layout of SARC 2.0."
        ),
        how_made=(
            "Built by `deadpan corpus build` from monthly dumps; manifest.json has the hashes of the dumps, "
            "every setting, and the number of comments dropped by reason and month."
        ),
        personal_data=(
            "User names and public comments as their authors wrote them. Rebuild with --forget to leave out "
            "the comments of authors who ask for it."
        ),
        known_limits=(
            "A /s that was not an annotation is labelled sarcastic (the paper found 1 % of those marked).",
            "Sarcasm that nobody marked is labelled sincere (the paper found 2 % of those not marked).",
            "Only authors who have used the marker are in it, and they are not like the others.",
        ),
    )
    return data_card(facts, _sizes(stats))


def _sizes(stats: Mapping[str, Any]) -> Sizes:
    totals = stats["totals"]
    sizes = Sizes()
    sizes.labels["raw"] = _labels(totals["comments"], totals["sarcastic"])
    for name, parts in stats["benchmarks"].items():
        for part in ("train", "test"):
            counts = parts[f"{part}-unbalanced"]
            sizes.labels[f"{name} {part}"] = _labels(counts["replies"], counts["sarcastic"])
    sizes.kinds["marker"] = totals["comments"]
    return sizes


def _labels(total: int, sarcastic: int) -> Counter[str]:
    return Counter({"sarcastic": sarcastic, "sincere": total - sarcastic})
