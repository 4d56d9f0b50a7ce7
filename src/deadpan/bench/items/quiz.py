"""A set as a quiz study for the studio, so that people answer the same items as models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deadpan.bench.items.item import family
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.folder import make_folder
from deadpan.errors import DataError
from deadpan.formats.study import Study, write_study
from deadpan.formats.study_items import QuizItem
from deadpan.page.summary import Summary
from deadpan.records import Turn
from deadpan.results import Result

PROTOCOL = "quiz"


@dataclass(frozen=True, slots=True)
class QuizStudy(Result):
    """A study folder that was written."""

    out: Path
    set: str
    items: int
    raters: int

    def as_dict(self) -> dict[str, object]:
        """Return the folder and the number of items."""
        return {"out": str(self.out), "set": self.set, "items": self.items, "raters": self.raters}

    def summary(self) -> Summary:
        """Return the folder and the next command."""
        return Summary(
            notes=(
                f"{self.out}: a quiz of {self.items} items for {self.raters} people per item.",
                f"Next: deadpan studio create quiz {self.out} --name NAME",
            )
        )


def write_quiz(
    items: str | Path | ItemSet,
    out: Path,
    *,
    raters: int = 5,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> QuizStudy:
    """Write the study. Answer, category and pair are hidden fields: no browser gets them."""
    items, out = open_set(items, ask), Path(out)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
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
        QuizItem(
            id=item.id,
            response=Turn(item.speaker, item.utterance),
            context=item.context,
            options=item.options,
            question=item.question,
            language=item.language,
            after=item.after,
            answer=item.answer,
            category=item.category,
            pair=family(item),
            version=item.version,
        )
        for item in items.items
    ]
    make_folder(out, items.visibility)
    count = write_study(out, study, asked, command="bench study")
    return QuizStudy(out, items.label, count, raters)
