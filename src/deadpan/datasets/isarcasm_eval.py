"""iSarcasmEval (SemEval-2022 Task 6): texts their authors labelled, in English and Arabic, in five tasks.

A asks whether a text is sarcastic, B of which kind, C which of a text and its plain rephrase is the
sarcastic one. The votes are what five other people said of the test texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.labels import BINARY, label_of, read_label
from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row, column_names
from deadpan.datasets.tabular import TabularReader, key
from deadpan.records import Example

CATEGORIES = ("sarcasm", "irony", "satire", "understatement", "overstatement", "rhetorical_question")
VOTERS = 5

_TEXT = {"text": ("text", "tweet")}
_LABELLED = _TEXT | {"label": ("sarcastic",)}
_PAIR = {"text_0": ("text_0",), "text_1": ("text_1",), "label": ("sarcastic_id",)}
_VOTES = _TEXT | {"label": ("human_aggregated",), "votes": ("#humans_sarcasm",)}

_TRAIN_EN = ReleaseFile(("train.En.csv",), "train", ("train",))
_TRAIN_AR = ReleaseFile(("train.Ar.csv",), "train", ("train",))
_ENGLISH = Release(
    title="iSarcasmEval A, English",
    citation="Abu Farha, Oprea, Wilson and Magdy (2022), SemEval-2022 Task 6: iSarcasmEval, SemEval",
    url="https://github.com/iabufarha/iSarcasmEval",
    licence="MIT",
    language="en",
    platform="Twitter",
    label_kind="author",
    folder="isarcasm_eval",
    files=(_TRAIN_EN, ReleaseFile(("task_A_En_test.csv",), "test", ("test",))),
)


class EnglishA(TabularReader):
    """Is it sarcastic? The training texts come with their kinds of irony and plain rephrases."""

    release: ClassVar[Release] = _ENGLISH

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a text."""
        return self.csv(file, _LABELLED)

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """Kinds of irony, the rephrase, and the dialect of an Arabic text."""
        return {
            "categories": categories(row),
            "rephrase": row.text("rephrase"),
            "meta": {"dialect": row.text("dialect")} if row.text("dialect") else {},
        }


class ArabicA(EnglishA):
    """Is it sarcastic? In Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval A, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_A_Ar_test.csv",), "test", ("test",))),
    )


class EnglishB(EnglishA):
    """Of which kinds? The sarcastic training texts; a test text of no kind is not sarcastic."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval B, six categories",
        files=(_TRAIN_EN, ReleaseFile(("task_B_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: Found) -> Iterator[Row]:
        """Rows of the task: what the author did not mean as sarcasm has no kind to ask for."""
        columns = _TEXT | {name: (name,) for name in CATEGORIES}
        if "sarcastic" in column_names(file.path, self.cure):
            for row in self.csv(file, columns | _LABELLED):
                if read_label(row.fields["label"], BINARY) is False:
                    self.tally.drop("not_in_task", row.place)
                else:
                    yield row
            return
        for row in self.csv(file, columns):
            yield Row({**row.fields, "label": bool(categories(row))}, row.number, row.place)


class EnglishC(TabularReader):
    """Which of two? A sarcastic text and its rephrase, joined by `sequence`."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, text against rephrase",
        files=(_TRAIN_EN, ReleaseFile(("task_C_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: Found) -> Iterator[Row]:
        """Rows with `text` (the sarcastic one), `rephrase`, and which of the two comes first."""
        if "sarcastic_id" in column_names(file.path, self.cure):
            for row in self.csv(file, _PAIR):
                second = label_of(row, BINARY, self.tally)
                if second is not None:
                    pair = {
                        "text": row.fields[f"text_{second:d}"],
                        "rephrase": row.fields[f"text_{not second:d}"],
                    }
                    yield Row({**row.fields, **pair, "second": second}, row.number, row.place)
            return
        for row in self.csv(file, _LABELLED | {"rephrase": ("rephrase",)}):
            label = label_of(row, BINARY, self.tally)
            if label:
                yield Row({**row.fields, "second": False}, row.number, row.place)
            elif label is False:
                self.tally.drop("not_in_task", row.place)

    def examples(self) -> Iterator[Example]:
        """Two examples a row, in the order the release shows them."""
        for file in self.found():
            for row in self.rows(file):
                if not (self.has_text(row) and self.has_text(row, "rephrase")):
                    continue
                pair = self._pair(file, row)
                yield from reversed(pair) if row.fields["second"] else pair

    def _pair(self, file: Found, row: Row) -> tuple[Example, Example]:
        """The sarcastic text and the plain one, which no split may part."""
        name = f"{self.name}/{file.split or 'all'}-{key(row)}"
        shared: dict[str, Any] = {
            "group": name,
            "sequence": name,
            "meta": {"dialect": row.text("dialect")} if row.text("dialect") else {},
        }
        sarcastic = self.example(
            file,
            f"{key(row)}-text",
            row.text("text"),
            label=True,
            categories=categories(row),
            rephrase=row.text("rephrase"),
            **shared,
        )
        plain = self.example(file, f"{key(row)}-rephrase", row.text("rephrase"), label=False, **shared)
        return sarcastic, plain


class ArabicC(EnglishC):
    """Which of two? In Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_C_Ar_test.csv",), "test", ("test",))),
    )


class Votes(TabularReader):
    """What five people who are not the author said of the test texts of task A, in both languages."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval, third-party annotations",
        citation="Abu Farha et al. (2022), Sarcasm Detection is Way Too Easy!, Findings of EMNLP",
        language="mul",
        label_kind="perceived",
        files=(
            ReleaseFile(("english_task_a.csv",), "test", ("third-party annotations",)),
            ReleaseFile(("arabic_task_a.csv",), "test", ("third-party annotations",)),
        ),
    )

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a text; ids are counted anew in each language, so they are told apart here."""
        language = self._language(file)
        for row in self.csv(file, _VOTES):
            yield Row({**row.fields, "id": f"{language}-{key(row)}"}, row.number, row.place)

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """How many of the five said sarcastic, and what the author said."""
        votes = row.text("votes").removesuffix(".0")
        meta = {
            "votes": int(votes) if votes.isdecimal() else None,
            "voters": VOTERS,
            "sarcasm_ref": read_label(row.fields.get("sarcasm_ref"), BINARY),
            "dialect": row.text("dialect"),
        }
        if votes.isdecimal() and (2 * int(votes) > VOTERS) != read_label(row.fields["label"], BINARY):
            self.tally.change("label_against_votes")
        return {
            "language": self._language(file),
            "meta": {name: value for name, value in meta.items() if value not in (None, "")},
        }

    def _language(self, file: Found) -> str:
        """Only Arabic texts come with a dialect."""
        if file.path.name.startswith(("english", "arabic")):
            return file.path.name[:2]
        return "ar" if "dialect" in column_names(file.path, self.cure) else "en"


def categories(row: Row) -> tuple[str, ...]:
    """The kinds of irony a row is marked with; a text may be of several."""
    return tuple(name for name in CATEGORIES if read_label(row.fields.get(name, ""), BINARY))
