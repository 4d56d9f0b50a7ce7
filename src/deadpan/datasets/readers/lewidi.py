"""Corpora of LeWiDi 2025, the shared task on learning with disagreements: texts with the answer of each rater."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, TabularReader, short_hash
from deadpan.errors import DataError
from deadpan.formats.rows import TableRow, json_document
from deadpan.records import Turn


def _files(stem: str) -> tuple[ReleaseFile, ...]:
    # The answers of the test part came after the task, in a file of another name.
    tests = (f"{stem}_test_clear.json", f"{stem}_test.json")
    return (
        ReleaseFile((f"{stem}_train.json",), "train", (stem,)),
        ReleaseFile((f"{stem}_dev.json",), "dev", (stem,)),
        ReleaseFile(tests, "test", (stem,)),
    )


class ConversationalSarcasm(TabularReader):
    """The Conversational Sarcasm Corpus: answers to a situation, each rated for sarcasm from 1 to 6.

    The label is whether the mean rating is above the middle of the scale; there is none where it is the middle.
    """

    release: ClassVar[Release] = Release(
        title="CSC (LeWiDi 2025)",
        citation="Jang and Frassinelli (2024), Generalizable Sarcasm Detection is Just Around the Corner, NAACL; "
        "Leonardelli et al. (2025), LeWiDi-2025 at NLPerspectives",
        url="https://le-wi-di.github.io",
        licence="not stated",
        language="en",
        platform="written for a study",
        label_kind="perceived",
        folder="CSC",
        files=_files("CSC"),
        context=True,
    )
    keys: ClassVar[tuple[str, str]] = ("context", "response")
    scale: ClassVar[tuple[int, int]] = (1, 6)

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per text; a text without a readable rating has no label."""
        items = json_document(file.path, self.hint)
        if not isinstance(items, dict) or not any(map(self._is_item, items.values())):
            raise DataError(f"{file.path}:1: no texts keyed by their id, with their annotations, in it; {self.hint}")
        for number, (id, item) in enumerate(items.items(), 1):
            place = f"{file.path.name} {id}"
            if self._is_item(item):
                context, response = (item["text"][key] for key in self.keys)
                fields = {"id": id, "text": response, "context": context, "lang": item.get("lang")}
                yield TableRow({**fields, "answers": self._answers(item["annotations"], place)}, number, place)
            else:
                self.tally.drop("bad_row", place, f"no text of {' and '.join(self.keys)}, or no annotations")

    def _is_item(self, item: Any) -> bool:
        if not isinstance(item, dict) or not isinstance(item.get("annotations"), dict):
            return False
        text = item.get("text")
        return isinstance(text, dict) and all(isinstance(text.get(key), str) for key in self.keys)

    def _answers(self, given: Mapping[str, Any], place: str) -> dict[str, int]:
        """Return the answer of each rater; one outside the scale is counted and left out."""
        answers = {}
        for rater, answer in given.items():
            try:
                value = float(answer)  # "1", 1 and "1.0" all occur
            except (TypeError, ValueError, OverflowError):
                value = float("nan")
            if value.is_integer() and self.scale[0] <= value <= self.scale[1]:
                answers[rater] = int(value)
            else:
                self.tally.drop("no_answer", place, f"{rater}: {answer!r}")
        return answers

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the turn before the response, each rater's answer, and the label and votes they add up to."""
        answers: dict[str, int] = row.fields["answers"]
        middle = sum(self.scale) / 2
        mean = fmean(answers.values()) if answers else middle
        high = sum(answer > middle for answer in answers.values())
        context = row.text("context")
        return {
            "context": (Turn("", context),) if context else (),
            "label": None if mean == middle else mean > middle,
            "language": row.text("lang") or self.release.language,
            "group": f"{self.name}/{short_hash(context)}" if context else "",
            "meta": {"answers": answers, "scale": list(self.scale), "votes": high, "voters": len(answers)},
        }


class MultiPICo(ConversationalSarcasm):
    """MultiPICo: replies from Twitter and Reddit in nine languages, called ironic (1) or not (0) by each rater."""

    release: ClassVar[Release] = replace(
        ConversationalSarcasm.release,
        title="MultiPICo (LeWiDi 2025)",
        citation="Casola et al. (2024), MultiPICo: Multilingual Perspectivist Irony Corpus, ACL; "
        "Leonardelli et al. (2025), LeWiDi-2025 at NLPerspectives",
        licence="CC BY 4.0",
        language="mul",
        platform="Twitter and Reddit",
        folder="MP",
        files=_files("MP"),
    )
    keys: ClassVar[tuple[str, str]] = ("post", "reply")
    scale: ClassVar[tuple[int, int]] = (0, 1)
