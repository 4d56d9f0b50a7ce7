"""The study folder in which people answer the very same items: the quiz of the studio."""

from __future__ import annotations

from pathlib import Path

from deadpan.bench.items import family
from deadpan.bench.sets import ItemSet
from deadpan.errors import DataError
from deadpan.records import Turn
from deadpan.studies import Study, StudyItem, write_study

PROTOCOL = "quiz"


def write_quiz(out: Path, items: ItemSet, *, raters: int = 5, seed: int = 0) -> int:
    """Write the study; the answer, the category and the pair are hidden, so no browser ever gets them."""
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; name another --out")
    languages = sorted({item.language for item in items.items})
    study = Study(
        protocol=PROTOCOL,
        title=f"SarcBench {items.label}",
        version=items.version,
        language=languages[0] if len(languages) == 1 else "en",
        seed=seed,
        raters_per_item=raters,
        settings={"set": items.label, "set_hash": items.hash, "question": "answer"},
    )
    asked = [
        StudyItem(
            id=item.id,
            response=Turn(item.speaker, item.utterance),
            context=item.context,
            options=item.options,
            shown={"question": item.question, "language": item.language},
            hidden={"answer": item.options[item.answer], "category": item.category, "pair": family(item)},
        )
        for item in items.items
    ]
    return write_study(out, study, asked, command="bench study")
