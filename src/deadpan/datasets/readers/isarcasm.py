"""iSarcasm and iSarcasmEval (SemEval-2022 Task 6): texts labelled by their own authors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, TabularReader, row_key
from deadpan.datasets.reading import Reading
from deadpan.errors import DataError
from deadpan.formats.labels import BINARY, Words, label_of, read_label
from deadpan.formats.rows import TableRow, column_names, csv_rows, json_lines
from deadpan.records import Example

_IDS = {"id": ("tweet_id",), "label": ("sarcasm_label",), "type": ("sarcasm_type",)}
_TEXTS = {"text": ("text", "tweet"), "label": ("sarcasm_label",)}
_JOINED = {"id": ("tweet_id", "id"), "text": ("text", "tweet")}


class ISarcasm(TabularReader):
    """Reader of files with texts, or of the official ids joined with `text_file` (tweet_id and text).

    `ids_only` reads labels and types without texts: the examples are empty but can be counted.
    """

    release: ClassVar[Release] = Release(
        title="iSarcasm",
        citation="Oprea and Magdy (2020), iSarcasm: A Dataset of Intended Sarcasm, ACL",
        url="https://github.com/silviu-oprea/iSarcasm",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="author",
        folder="isarcasm",
        files=(
            ReleaseFile(("isarcasm_train.csv",), "train"),
            ReleaseFile(("isarcasm_test.csv",), "test"),
            ReleaseFile(("train_text.csv",), "train"),
            ReleaseFile(("test_text.csv",), "test"),
        ),
    )
    # The README says non_sarcastic, the files say not_sarcastic.
    words: ClassVar[Words] = {**BINARY, "sarcastic": True, "not_sarcastic": False, "non_sarcastic": False}

    takes: ClassVar[frozenset[str]] = frozenset({"text_file", "ids_only"})

    def __init__(self, name: str, data: Path | None = None, reading: Reading | None = None) -> None:
        super().__init__(name, data, reading)
        self.text_file = self.reading.text_file
        self.ids_only = self.reading.ids_only

    def files(self) -> list[CorpusFile]:
        """Return the files of ids if these are asked for, otherwise the files of texts."""
        files = super().files()
        ids = [file for file in files if "tweet_id" in column_names(file.path, self.hint)]
        if self.text_file is not None or self.ids_only:
            if not ids:
                raise DataError(f"{self.name}: no file of ids in {self.data}; {self.hint}")
            return ids
        texts = [file for file in files if file not in ids]
        if not texts:
            raise DataError(
                f"{ids[0].path}:1: tweet ids only, so there is no text to read; bring the texts with "
                "--text-file FILE (CSV or JSON lines of tweet_id and text), or count labels with --ids-only"
            )
        covered = {file.split for file in texts}
        return [file for file in files if file not in ids or file.split not in covered]

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the rows with their texts."""
        if "tweet_id" not in column_names(file.path, self.hint):
            yield from self.csv(file, _TEXTS)
            return
        texts = self._texts() if self.text_file else {}
        joined = 0
        for row in self.csv(file, _IDS):
            text = texts.get(row.text("id"), "")
            joined += bool(text)
            yield TableRow({**row.fields, "text": text}, row.number, row.place)
        if self.text_file and not joined:
            raise DataError(f"{self.text_file}: has none of the tweet ids of {file.path}; were they rounded?")

    def _texts(self) -> dict[str, str]:
        """Return tweet id -> text, from `text_file`."""
        path = Path(self.text_file or "")
        read = json_lines if path.suffix in (".jsonl", ".ndjson", ".json") else csv_rows
        hint = "it should have the columns tweet_id and text"
        return {row_key(row): row.text("text") for row in read(path, _JOINED, self.tally, hint)}

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the type of sarcasm and, where the file has them, explanation and rephrase."""
        kind = row.text("type") or row.text("sarcasm_type")
        id = row.text("id")
        return {
            "categories": (kind.replace(" ", "_"),) if kind else (),
            "explanation": row.text("explanation"),
            "rephrase": row.text("rephrase"),
            "meta": {"tweet_id": id} if id else {},
        }

    def examples(self) -> Iterator[Example]:
        """Yield every tweet with a text, or every tweet if only ids are asked for."""
        if not self.ids_only:
            yield from super().examples()
            return
        for file in self.files():
            for row in self.rows(file):
                label = label_of(row, self.words, self.tally)
                if label is not None:
                    yield self.example(file, row_key(row), "", label=label, **self.extras(file, row))

    def clean_text(self, id: str, text: str) -> str | None:
        """Keep examples without text if `ids_only`; otherwise they are dropped."""
        return text if self.ids_only else super().clean_text(id, text)


IRONY_CATEGORIES = ("sarcasm", "irony", "satire", "understatement", "overstatement", "rhetorical_question")
_VOTERS = 5

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


class ISarcasmEvalA(TabularReader):
    """Task A: sarcastic or not. Training texts have categories of irony and rephrases."""

    release: ClassVar[Release] = _ENGLISH

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per text."""
        return self.csv(file, _LABELLED)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return categories, the rephrase, and the dialect of an Arabic text."""
        return {
            "categories": irony_categories(row),
            "rephrase": row.text("rephrase"),
            "meta": {"dialect": row.text("dialect")} if row.text("dialect") else {},
        }


class ISarcasmEvalArabicA(ISarcasmEvalA):
    """Task A in Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval A, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_A_Ar_test.csv",), "test", ("test",))),
    )


class ISarcasmEvalB(ISarcasmEvalA):
    """Task B: categories of the sarcastic texts; a test text without a category is not sarcastic."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval B, six categories",
        files=(_TRAIN_EN, ReleaseFile(("task_B_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the rows of the task; texts that are not sarcastic have no category."""
        columns = _TEXT | {name: (name,) for name in IRONY_CATEGORIES}
        if "sarcastic" in column_names(file.path, self.hint):
            for row in self.csv(file, columns | _LABELLED):
                if read_label(row.fields["label"], BINARY) is False:
                    self.tally.drop("not_in_task", row.place)
                else:
                    yield row
            return
        for row in self.csv(file, columns):
            yield TableRow({**row.fields, "label": bool(irony_categories(row))}, row.number, row.place)


class ISarcasmEvalC(TabularReader):
    """Task C: a sarcastic text against its rephrase, joined by `sequence`."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, text against rephrase",
        files=(_TRAIN_EN, ReleaseFile(("task_C_En_test.csv",), "test", ("test",))),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield rows with `text` (the sarcastic one), `rephrase`, and their order."""
        if "sarcastic_id" in column_names(file.path, self.hint):
            for row in self.csv(file, _PAIR):
                second = label_of(row, BINARY, self.tally)
                if second is not None:
                    pair = {"text": row.fields[f"text_{second:d}"], "rephrase": row.fields[f"text_{not second:d}"]}
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
        name = f"{self.name}/{file.split or 'all'}-{row_key(row)}"
        shared: dict[str, Any] = {
            "group": name,
            "sequence": name,
            "meta": {"dialect": row.text("dialect")} if row.text("dialect") else {},
        }
        sarcastic = self.example(
            file,
            f"{row_key(row)}-text",
            row.text("text"),
            label=True,
            categories=irony_categories(row),
            rephrase=row.text("rephrase"),
            **shared,
        )
        plain = self.example(file, f"{row_key(row)}-rephrase", row.text("rephrase"), label=False, **shared)
        return sarcastic, plain


class ISarcasmEvalArabicC(ISarcasmEvalC):
    """Task C in Arabic, with the dialect."""

    release: ClassVar[Release] = replace(
        _ENGLISH,
        title="iSarcasmEval C, Arabic",
        language="ar",
        files=(_TRAIN_AR, ReleaseFile(("task_C_Ar_test.csv",), "test", ("test",))),
    )


class ISarcasmEvalVotes(TabularReader):
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
            yield TableRow({**row.fields, "id": f"{language}-{row_key(row)}"}, row.number, row.place)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the number of annotators who said sarcastic, and the label of the author."""
        given = row.text("votes").removesuffix(".0")
        votes = int(given) if given.isdecimal() and len(given) < 10 else None
        meta = {
            "votes": votes,
            "voters": _VOTERS,
            "sarcasm_ref": read_label(row.fields.get("sarcasm_ref"), BINARY),
            "dialect": row.text("dialect"),
        }
        if votes is not None and (2 * votes > _VOTERS) != read_label(row.fields["label"], BINARY):
            self.tally.change("label_against_votes")
        return {
            "language": self._language(file),
            "meta": {name: value for name, value in meta.items() if value not in (None, "")},
        }

    def _language(self, file: CorpusFile) -> str:
        """Return the dialect, which only Arabic texts have."""
        if file.path.name.startswith(("english", "arabic")):
            return file.path.name[:2]
        return "ar" if "dialect" in column_names(file.path, self.hint) else "en"


def irony_categories(row: TableRow) -> tuple[str, ...]:
    """Return the categories of irony of a row, which may be several."""
    return tuple(name for name in IRONY_CATEGORIES if read_label(row.fields.get(name, ""), BINARY))
