"""iSarcasmEval (SemEval-2022 Task 6): texts labelled by their authors, in English and Arabic.

Task A: sarcastic or not. Task B: categories. Task C: which of a text and its rephrase is sarcastic. The votes
are labels of the test texts by five other people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader, key
from deadpan.formats.labels import BINARY, label_of, read_label
from deadpan.formats.rows import TableRow, column_names
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
    """Task A: sarcastic or not. Training texts have categories of irony and rephrases."""

    release: ClassVar[Release] = _ENGLISH

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per text."""
        return self.csv(file, _LABELLED)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return categories, the rephrase, and the dialect of an Arabic text."""
        return {
            "categories": categories(row),
            "rephrase": row.text("rephrase"),
            "meta": {"dialect": row.text("dialect")} if row.text("dialect") else {},
        }


class ArabicA(EnglishA):
    """Task A in Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval A, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_A_Ar_test.csv",), "test", ("test",))),
    )


class EnglishB(EnglishA):
    """Task B: categories of the sarcastic texts; a test text without a category is not sarcastic."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval B, six categories",
        files=(_TRAIN_EN, ReleaseFile(("task_B_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the rows of the task; texts that are not sarcastic have no category."""
        columns = _TEXT | {name: (name,) for name in CATEGORIES}
        if "sarcastic" in column_names(file.path, self.cure):
            for row in self.csv(file, columns | _LABELLED):
                if read_label(row.fields["label"], BINARY) is False:
                    self.tally.drop("not_in_task", row.place)
                else:
                    yield row
            return
        for row in self.csv(file, columns):
            yield TableRow({**row.fields, "label": bool(categories(row))}, row.number, row.place)


class EnglishC(TabularReader):
    """Task C: a sarcastic text against its rephrase, joined by `sequence`."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, text against rephrase",
        files=(_TRAIN_EN, ReleaseFile(("task_C_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield rows with `text` (the sarcastic one), `rephrase`, and their order."""
        if "sarcastic_id" in column_names(file.path, self.cure):
            for row in self.csv(file, _PAIR):
                second = label_of(row, BINARY, self.tally)
                if second is not None:
                    pair = {
                        "text": row.fields[f"text_{second:d}"],
                        "rephrase": row.fields[f"text_{not second:d}"],
                    }
                    yield TableRow({**row.fields, **pair, "second": second}, row.number, row.place)
            return
        for row in self.csv(file, _LABELLED | {"rephrase": ("rephrase",)}):
            label = label_of(row, BINARY, self.tally)
            if label:
                yield TableRow({**row.fields, "second": False}, row.number, row.place)
            elif label is False:
                self.tally.drop("not_in_task", row.place)

    def examples(self) -> Iterator[Example]:
        """Yield two examples per row, in the order of the release."""
        for file in self.files():
            for row in self.rows(file):
                if not (self.has_text(row) and self.has_text(row, "rephrase")):
                    continue
                pair = self._pair(file, row)
                yield from reversed(pair) if row.fields["second"] else pair

    def _pair(self, file: CorpusFile, row: TableRow) -> tuple[Example, Example]:
        """Return the sarcastic text and its rephrase; a split must not separate them."""
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
    """Task C in Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_C_Ar_test.csv",), "test", ("test",))),
    )


class Votes(TabularReader):
    """Third-party labels: five annotators per test text of task A, in both languages."""

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

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per text; ids start again in each language, so the language is added."""
        language = self._language(file)
        for row in self.csv(file, _VOTES):
            yield TableRow({**row.fields, "id": f"{language}-{key(row)}"}, row.number, row.place)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the number of annotators who said sarcastic, and the label of the author."""
        given = row.text("votes").removesuffix(".0")
        votes = int(given) if given.isdecimal() and len(given) < 10 else None
        meta = {
            "votes": votes,
            "voters": VOTERS,
            "sarcasm_ref": read_label(row.fields.get("sarcasm_ref"), BINARY),
            "dialect": row.text("dialect"),
        }
        if votes is not None and (2 * votes > VOTERS) != read_label(row.fields["label"], BINARY):
            self.tally.change("label_against_votes")
        return {
            "language": self._language(file),
            "meta": {name: value for name, value in meta.items() if value not in (None, "")},
        }

    def _language(self, file: CorpusFile) -> str:
        """Return the dialect, which only Arabic texts have."""
        if file.path.name.startswith(("english", "arabic")):
            return file.path.name[:2]
        return "ar" if "dialect" in column_names(file.path, self.cure) else "en"


def categories(row: TableRow) -> tuple[str, ...]:
    """Return the categories of irony of a row, which may be several."""
    return tuple(name for name in CATEGORIES if read_label(row.fields.get(name, ""), BINARY))
