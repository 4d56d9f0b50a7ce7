"""Corpora of texts without context: tweets, headlines and forum posts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, TabularReader
from deadpan.errors import DataError
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow, json_lines, lines, place, tab_rows
from deadpan.records import Split

_ARSARCASM_FOLDERS = ("ArSarcasm-v2",)


class ArSarcasm(TabularReader):
    """Reader of CSV files with tweet, sarcasm, sentiment and dialect."""

    release: ClassVar[Release] = Release(
        title="ArSarcasm-v2",
        citation="Abu Farha, Zaghouani and Magdy (2021), Overview of the WANLP 2021 Shared Task on "
        "Sarcasm and Sentiment Detection in Arabic, WANLP",
        url="https://github.com/iabufarha/ArSarcasm-v2",
        licence="MIT",
        language="ar",
        platform="Twitter",
        label_kind="perceived",
        folder="arsarcasm_v2",
        files=(
            ReleaseFile(("training_data.csv",), "train", _ARSARCASM_FOLDERS),
            ReleaseFile(("testing_data.csv",), "test", _ARSARCASM_FOLDERS),
        ),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet, without its outer quotes.

        Most sincere tweets have them and few sarcastic ones, an artefact of how the parts were collected:
        a detector would learn them instead of sarcasm.
        """
        for row in self.csv(file, {"text": ("tweet", "text"), "label": ("sarcasm",)}):
            text = row.text("text")
            if len(text) > 1 and text[0] == text[-1] == '"':
                self.tally.change("outer_quotes_stripped")
                row = TableRow({**row.fields, "text": text[1:-1]}, row.number, row.place)
            yield row

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the other two labels."""
        return {"meta": {name: row.text(name) for name in ("sentiment", "dialect") if row.text(name)}}


class GhoshVeale(TabularReader):
    """Reader of lines with set, label and text."""

    release: ClassVar[Release] = Release(
        title="Ghosh and Veale's tweets",
        citation="Ghosh and Veale (2016), Fracking Sarcasm using Neural Network, WASSA",
        url="https://github.com/AniSkywalker/SarcasmDetection",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="ghosh_veale",
        files=(
            ReleaseFile(("Train_v1.txt",), "train", ("train", "resource/train")),
            ReleaseFile(("Dev_v1.txt",), "dev", ("dev", "resource/dev")),
            ReleaseFile(("Test_v1.txt",), "test", ("test", "resource/test")),
        ),
    )
    words: ClassVar[Words] = {"0": False, "1": True}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet; the files have no header."""
        return tab_rows(file.path, {}, self.tally, self.hint, header=("set", "label", "text"))


_KOCASM_FOLDERS = ("data/jiwon",)


class Kocasm(TabularReader):
    """Reader of CSV files with index, tokens and label."""

    release: ClassVar[Release] = Release(
        title="Kocasm",
        citation="Kim and Cho (2019), Kocasm: Korean Automatic Sarcasm Detection, GitHub",
        url="https://github.com/SpellOnYou/korean-sarcasm",
        licence="MIT",
        language="ko",
        platform="Twitter",
        label_kind="marker",
        folder="kocasm",
        files=(
            ReleaseFile(("train.csv",), "train", _KOCASM_FOLDERS),
            ReleaseFile(("test.csv",), "test", _KOCASM_FOLDERS),
        ),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet."""
        return self.csv(file, {"text": ("tokens",), "label": ("label",)})


_HEADLINE_STEMS = ("Sarcasm_Headlines_Dataset_v2", "Sarcasm_Headlines_Dataset")
_HEADLINE_FILES = tuple(f"{stem}{end}" for stem in _HEADLINE_STEMS for end in (".json", ".json.zip"))


class NewsHeadlines(TabularReader):
    """Reader of JSON lines, zipped or not. The second version includes the first, so it is preferred."""

    release: ClassVar[Release] = Release(
        title="News Headlines",
        citation="Misra and Arora (2023), Sarcasm Detection using News Headlines Dataset, AI Open 4",
        url="https://github.com/rishabhmisra/News-Headlines-Dataset-For-Sarcasm-Detection",
        licence="not stated",
        language="en",
        platform="news sites",
        label_kind="marker",
        folder="news_headlines",
        files=(ReleaseFile(_HEADLINE_FILES),),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per headline."""
        keys = {"text": ("headline",), "label": ("is_sarcastic",)}
        return json_lines(file.path, keys, self.tally, self.hint)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the article as the group: some headlines occur twice."""
        link = row.text("article_link")
        return {"group": link, "meta": {"article_link": link} if link else {}}


class OrabyGeneric(TabularReader):
    """Reader of CSV files with class, id and text."""

    release: ClassVar[Release] = Release(
        title="Sarcasm Corpus V2, generic",
        citation="Oraby et al. (2016), Creating and Characterizing a Diverse Corpus of Sarcasm in Dialogue, SIGDIAL",
        url="https://nlds.soe.ucsc.edu/sarcasm2",
        licence="not stated",
        language="en",
        platform="debate forums",
        label_kind="perceived",
        folder="oraby_v2",
        files=(ReleaseFile(("GEN-sarc-notsarc.csv",)),),
    )
    words: ClassVar[Words] = {"sarc": True, "notsarc": False}
    form: ClassVar[str] = ""

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per post."""
        return self.csv(file, {"label": ("class",), "id": ("id",), "text": ("text",)})

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the form of the part, as the category of sarcastic posts."""
        if not self.form:
            return {}
        sarcastic = row.text("label").lower() == "sarc"
        return {"categories": (self.form,) if sarcastic else (), "meta": {"form": self.form}}


class OrabyHyperbole(OrabyGeneric):
    """Posts with a hyperbole."""

    release: ClassVar[Release] = replace(
        OrabyGeneric.release, title="Sarcasm Corpus V2, hyperbole", files=(ReleaseFile(("HYP-sarc-notsarc.csv",)),)
    )
    form: ClassVar[str] = "hyperbole"


class OrabyRhetoricalQuestion(OrabyGeneric):
    """Posts with a rhetorical question."""

    release: ClassVar[Release] = replace(
        OrabyGeneric.release,
        title="Sarcasm Corpus V2, rhetorical questions",
        files=(ReleaseFile(("RQ-sarc-notsarc.csv",)),),
    )
    form: ClassVar[str] = "rhetorical_question"


class Ptacek(TabularReader):
    """Reader of CSV files with text and sarcasm_label."""

    release: ClassVar[Release] = Release(
        title="the Ptáček tweets",
        citation="Ptáček, Habernal and Hong (2014), Sarcasm Detection on Czech and English Twitter, COLING",
        url="http://liks.fav.zcu.cz/sarcasm/",
        licence="CC BY-NC-SA 3.0",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="ptacek",
        files=(ReleaseFile(("ptacek_text.csv",)),),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet."""
        return self.csv(file, {"text": ("text", "tweet"), "label": ("sarcasm_label", "label")})


class Riloff(TabularReader):
    """Reader of train.txt with labels_train.txt, test.txt with labels_test.txt.

    The official release (sarcasm-annos-emnlp13.tsv) has ids only; these are the copies in circulation.
    """

    release: ClassVar[Release] = Release(
        title="the Riloff set",
        citation="Riloff et al. (2013), Sarcasm as Contrast between a Positive Sentiment and Negative Situation, EMNLP",
        url="https://aclanthology.org/D13-1066",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="perceived",
        folder="riloff",
        files=(ReleaseFile(("train.txt",), "train"), ReleaseFile(("test.txt",), "test")),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the lines of both files in parallel; a row's place is its line number."""
        labels = file.path.with_name(f"labels_{file.path.name}")
        if not labels.is_file():
            raise DataError(f"{file.path}: its labels should be beside it in {labels.name}; {self.hint}")
        pairs = zip_longest(lines(file.path, self.hint), lines(labels, self.hint))
        for number, (text, label) in enumerate(pairs, 1):
            if text is None or label is None:
                shorter, longer = (file.path, labels) if text is None else (labels, file.path)
                raise DataError(
                    f"{longer}:{number}: {shorter.name} ends before this line, so texts and labels do not "
                    f"belong together; {self.hint}"
                )
            yield TableRow({"text": text[1], "label": label[1]}, number, place(file.path, number))


_IRONY_KINDS = ("", "polarity_contrast", "situational_irony", "other_irony")

_SEMEVAL_COLUMNS = {"id": ("tweet index",), "text": ("tweet text",)}


def _semeval_file(task: str, split: Split, stems: tuple[str, ...], folders: tuple[str, ...]) -> ReleaseFile:
    """Return a file with its possible names: emoji as characters first, then as :names:."""
    names = tuple(f"{stem}{task}{ending}.txt" for stem in stems for ending in ("_emoji", ""))
    return ReleaseFile(names, split, tuple(f"{top}{f}" for f in folders for top in ("", "datasets/")))


def _semeval_files(task: str) -> tuple[ReleaseFile, ...]:
    stems = ("SemEval2018-T3_gold_test_task", "SemEval2018-T3_input_test_task")  # the input has no labels
    return (
        _semeval_file(task, "train", ("SemEval2018-T3-train-task",), ("train",)),
        _semeval_file(task, "test", stems, (f"goldtest_Task{task}", f"test_Task{task}")),
    )


_SEMEVAL = Release(
    title="SemEval-2018 Task 3 A, ironic or not",
    citation="Van Hee, Lefever and Hoste (2018), SemEval-2018 Task 3: Irony Detection in English Tweets, SemEval",
    url="https://github.com/Cyvhee/SemEval2018-Task3",
    licence="not stated",
    language="en",
    platform="Twitter",
    label_kind="perceived",
    folder="semeval2018_task3",
    files=_semeval_files("A"),
)


class SemEval2018A(TabularReader):
    """Task A: ironic or not.

    The tweets were found by #irony, #sarcasm and #not; these were removed, and people labelled the tweets.
    """

    release: ClassVar[Release] = _SEMEVAL
    words: ClassVar[Words] = {"0": False, "1": True}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet; the order and case of the header differ between copies."""
        header = next((line for _, line in lines(file.path, self.hint)), "").lower()
        columns = (
            _SEMEVAL_COLUMNS | {"label": ("label",)} if file.split != "test" or "label" in header else _SEMEVAL_COLUMNS
        )
        return tab_rows(file.path, columns, self.tally, self.hint)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the number of the tweet in the release."""
        return {"meta": {"tweet_index": row.text("id")}}


class SemEval2018B(SemEval2018A):
    """Task B: irony by polarity contrast, situational irony, other irony, or none."""

    release: ClassVar[Release] = replace(
        _SEMEVAL, title="SemEval-2018 Task 3 B, four classes", files=_semeval_files("B")
    )
    words: ClassVar[Words] = {"0": False, "1": True, "2": True, "3": True}

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the category of irony."""
        kind = _IRONY_KINDS[int(row.text("label")[:1] or 0)]  # "2" or "2.0"
        return {**super().extras(file, row), "categories": (kind,) if kind else ()}
