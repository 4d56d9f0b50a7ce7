"""What is fuzzed: each target takes bytes and may end only in an answer or in an error that names a cure."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from contracts.test_readers import SAMPLES
from deadpan.drops import Tally
from deadpan.errors import DeadpanError
from fuzz import calls, commands

Work = Callable[[bytes], None]
KEPT = Path(__file__).with_name("seeds")
"""Inputs that once broke something: a folder per target, tried first, for ever."""


@dataclass(frozen=True)
class Target:
    """A way into the program, and the inputs to begin with."""

    name: str
    seeds: list[bytes]
    work: Work

    def kept(self) -> list[bytes]:
        """Return the inputs that once broke it."""
        return [path.read_bytes() for path in sorted((KEPT / self.name).glob("*"))]

    def survives(self, data: bytes) -> None:
        """Raise what is a defect; an error for the user is none, if it is one line that can be printed."""
        try:
            self.work(data)
        except DeadpanError as told:
            message = str(told)
            assert message.strip(), "an error without words"
            assert len(message) < 5000, "an error that fills the screen"
            message.encode("utf-8")


@cache
def folder() -> Path:
    """A folder for inputs that are files, in memory where there is such a place."""
    shm = Path("/dev/shm")
    place = shm if shm.is_dir() and os.access(shm, os.W_OK) else None
    found = Path(tempfile.mkdtemp(prefix="fuzz-", dir=place))
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


SARC = {
    "train-balanced.csv": "p1 c1|c2 c3|1 0\np2|c4 c5|0 1\n",
    "comments.json": json.dumps(
        {name: {"text": f"Text of {name}", "author": "ann", "score": 1} for name in ("p1", "c1", "c2", "c3", "p2", "c4", "c5")}
    ),
}  # fmt: skip
_ROW = "Right, on time", "ann", "news", "3", "-1", "-1", "2016-10", "1476107492", "Two years late."
_RAW = "".join("\t".join((label, *_ROW)) + "\n" for label in "10")
_KAGGLE = "label,comment,author,subreddit,score,ups,downs,date,created_utc,parent_comment\n" + "".join(
    f'{label},"Right, on time",ann,news,3,-1,-1,2016-10,2016-10-16 23:55:23,"Two ""years"""\n' for label in "10"
)
FILES: dict[str, dict[str, str]] = {
    **SAMPLES, "sarc-main": SARC, "sarc-pol": SARC, "sarc-raw": {"sarc.tsv": _RAW},
    "sarc-main-unbalanced": {"train-unbalanced.csv": SARC["train-balanced.csv"], "comments.json": SARC["comments.json"]},
    "sarc-pol-unbalanced": {"train-unbalanced.csv": SARC["train-balanced.csv"], "comments.json": SARC["comments.json"]},
    "sarc-kaggle": {"train-balanced-sarcasm.csv": _KAGGLE},
}  # fmt: skip
"""Reader -> a small corpus in its format. The starter sets are not here: their files are in the package."""


def reader(name: str) -> Work:
    """Read a corpus of which one file is damaged, each file in its turn."""
    from deadpan.datasets import open_dataset

    home = folder() / name
    home.mkdir(exist_ok=True)
    names = list(FILES[name])
    whole = {file: text.encode() for file, text in FILES[name].items()}
    damaged = set(names)

    def work(data: bytes) -> None:
        chosen = names[len(data) % len(names)]
        for file in damaged - {chosen}:
            (home / file).write_bytes(whole[file])
        (home / chosen).write_bytes(data)
        damaged.clear()
        damaged.add(chosen)
        for example in open_dataset(name, home):
            example.response.text.encode("utf-8")

    return work


def file_target(suffix: str, read: Callable[[Path], Any]) -> Work:
    path = folder() / f"input{suffix}"

    def work(data: bytes) -> None:
        path.write_bytes(data)
        read(path)

    return work


def answer(data: bytes) -> None:
    from deadpan.bench.runs.answers import read_letter

    options = ("It is late.", "It is early.", "She is glad.", "He is sorry.", "They left.", "None of these.")
    letter = read_letter(data.decode("utf-8", "replace"), options, "What is meant?")
    assert letter is None or letter in "ABCDEF"


def dialogue(data: bytes) -> None:
    from deadpan.generate.language import load_language
    from deadpan.generate.questions import read_dialogue
    from deadpan.llm import Unreadable

    for code in ("en", "ko"):
        with contextlib.suppress(Unreadable):
            read_dialogue(_language(code, load_language), data.decode("utf-8", "replace"))


@cache
def _language(code: str, load: Any) -> Any:
    return load(code)


def study_items(path: Path) -> None:
    from deadpan.formats.study import read_items

    for protocol in ("reader-judgment", "quiz", "annotate"):
        with contextlib.suppress(DeadpanError):
            read_items(path, protocol)


def study_config(path: Path) -> None:
    from deadpan.formats.study import Study
    from deadpan.validation import read_config

    read_config(path, Study).typed_settings()


def scored_table(path: Path) -> None:
    """Score a table; what is written is whole, or is not there."""
    from deadpan.datasets.scored import score_table
    from deadpan.records import Prediction

    out = path.with_name("scored.csv")
    out.unlink(missing_ok=True)
    try:
        score_table(path, out, lambda examples: [Prediction(e.id, True, 0.9) for e in examples])
    except DeadpanError:
        assert not out.exists(), "partial output"
        raise
    assert not list(path.parent.glob(".scored.csv*.tmp"))


_LINES = b'{"id": "1", "text": "Oh great", "label": 1}\n{"id": "2", "text": "Fine", "label": 0}\n'
_JUDGMENT = b'{"item_id": "1", "annotator": "a", "question": "q", "answer": "yes", "seconds": 2.5, "created_at": "2026-11-17T01:00:00Z"}\n'
_ITEM = {
    "id": "x-1", "version": "1.0.0", "context": [{"speaker": "A", "text": "It is late."}], "utterance": "Lovely.",
    "question": "What is meant?", "options": ["a", "b", "c", "d", "e", "f"], "answer": 2, "category": "intended_meaning",
}  # fmt: skip
_ITEM_TOML = b"""[[item]]
id = "x-1"
version = "1.0.0"
utterance = "Lovely."
question = "What is meant?"
options = ["a", "b", "c", "d", "e", "f"]
answer = 2
category = "intended_meaning"
context = [{speaker = "A", text = "It is late."}]
"""
_DIALOGUE = (
    "A: You are late again, the film has started.\nB: I could not find my keys at all.\n"
    "Sarcasm explanation: A pretends to admire it.\nA (sarcastic response): What a surprise that is.\n"
)
_STUDY = b'protocol = "reader-judgment"\ntitle = "Is it?"\nlanguage = "en"\nraters_per_item = 3\nseed = 0\n[settings]\n'


def _table(path: Path) -> None:
    from deadpan.formats.tables import read_table

    list(read_table(path, Tally(), "name the columns"))


def _items(path: Path) -> None:
    from deadpan.bench.items.item import read_items

    read_items(path)


def _judgments(path: Path) -> None:
    from deadpan.formats.judgments import read_judgments

    read_judgments(path)


def _predictions(path: Path) -> None:
    from deadpan.formats.predictions import read_predictions

    read_predictions(path)


def _whole(name: str) -> bytes:
    """A whole file in a binary format. It is kept, since one written anew has another date inside."""
    return (KEPT / name / "whole").read_bytes()


@cache
def _export() -> tuple[Path, dict[str, Any]]:
    """Return the folder of an empty export, and its manifest."""
    from deadpan.formats.judgments import JUDGMENTS, LABELS
    from deadpan.storage import write_manifest

    home = folder() / "export"
    home.mkdir(exist_ok=True)
    for name in (LABELS, JUDGMENTS):
        (home / name).write_bytes(b"")
    write_manifest(home, command="studio export")
    return home, json.loads((home / "manifest.json").read_bytes())


def export(data: bytes) -> None:
    """Read a study's export whose answers are damaged, though its manifest agrees with them."""
    from deadpan.formats.judgments import JUDGMENTS, read_export

    home, whole = _export()
    (home / JUDGMENTS).write_bytes(data)
    whole["files"][JUDGMENTS] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (home / "manifest.json").write_text(json.dumps(whole), encoding="utf-8")
    read_export(home)


def manifest(data: bytes) -> None:
    """Read a damaged manifest."""
    from deadpan.storage import read_manifest

    home = folder() / "manifest"
    home.mkdir(exist_ok=True)
    (home / "manifest.json").write_bytes(data)
    read_manifest(home)


def _manifest() -> bytes:
    from deadpan.storage import write_manifest

    home = folder() / "manifest"
    home.mkdir(exist_ok=True)
    (home / "rows.jsonl").write_bytes(_LINES)
    write_manifest(home, command="datasets convert", config={"seed": 0}, counts={"examples": 2})
    return (home / "manifest.json").read_bytes()


@cache
def targets() -> dict[str, Target]:
    """Every target by name."""
    csv = [text.encode() for files in SAMPLES.values() for text in files.values() if "," in text.split("\n")[0]]
    found = [Target(f"reader-{name}", [text.encode() for text in FILES[name].values()], reader(name)) for name in FILES]
    item = json.dumps(_ITEM).encode()
    bodies = [json.dumps(body).encode() for body in calls.BODIES]
    found += [
        Target("table-csv", csv, file_target(".csv", _table)),
        Target("table-jsonl", [_LINES, b"[" + _LINES.replace(b"\n", b",", 1).strip() + b"]"], file_target(".jsonl", _table)),
        Target("table-parquet", [_whole("table-parquet")], file_target(".parquet", _table)),
        Target("table-xlsx", [_whole("table-xlsx")], file_target(".xlsx", _table)),
        Target("scored-table", csv, file_target(".csv", scored_table)),
        Target("predictions", [b"id,label,score\na,1,0.5\n", b"id,label\na,sarcastic\n"], file_target(".csv", _predictions)),
        Target("judgments", [b"item,rater,label\na,x,1\na,y,0\n", b"id,x,y\na,1,0\n"], file_target(".csv", _judgments)),
        Target("answer", [b"The answer is B.", "정답은 C입니다.".encode(), b'{"answer": "D"}', b"<think>A?</think> **E**"], answer),
        Target("dialogue", [_DIALOGUE.encode()], dialogue),
        Target("items-jsonl", [item + b"\n" + item.replace(b"x-1", b"x-2") + b"\n"], file_target(".jsonl", _items)),
        Target("items-toml", [_ITEM_TOML], file_target(".toml", _items)),
        Target("study-items", [b'{"id": "1", "response": {"speaker": "A", "text": "Lovely."}}\n', item + b"\n"],
               file_target(".jsonl", study_items)),
        Target("study-config", [_STUDY], file_target(".toml", study_config)),
        Target("export", [_JUDGMENT, _JUDGMENT.replace(b"yes", b"no") * 2], export),
        Target("manifest", [_manifest()], manifest),
        Target("service", bodies, calls.raw),
        Target("service-fields", bodies, calls.fields),
        Target("arguments", commands.seeds(), commands.arguments(folder() / "arguments")),
    ]  # fmt: skip
    return {target.name: target for target in found}
