"""Corpora of responses with the conversation before them: FigLang 2020, KoCoSa and MUStARD."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, TabularReader, short_hash
from deadpan.errors import DataError
from deadpan.formats.kocosa import parse_turn, read_kocosa
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow, json_document, json_lines
from deadpan.records import Turn


def _figlang_files(platform: str) -> tuple[ReleaseFile, ...]:
    stem = f"sarcasm_detection_shared_task_{platform}"
    return (
        ReleaseFile((f"{stem}_training.jsonl",), "train", (platform,)),
        ReleaseFile((f"{stem}_testing.jsonl",), "test", (platform,)),
    )


class FigLangTwitter(TabularReader):
    """Tweets with #sarcasm and their threads. The first test files had ids and no labels."""

    release: ClassVar[Release] = Release(
        title="FigLang 2020, Twitter",
        citation="Ghosh, Vajpayee and Muresan (2020), A Report on the 2020 Sarcasm Detection Shared Task, FigLang",
        url="https://github.com/EducationalTestingService/sarcasm",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="figlang2020",
        files=_figlang_files("twitter"),
        context=True,
    )
    words: ClassVar[Words] = {"sarcasm": True, "not_sarcasm": False}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per response; only a test file may be without labels."""
        keys = {"text": ("response",), "context": ("context",)}
        if file.split == "train":
            keys["label"] = ("label",)
        for row in json_lines(file.path, keys, self.tally, self.hint):
            context = row.fields["context"]
            if isinstance(context, list) and all(isinstance(text, str) for text in context):
                yield row
            else:
                self.tally.drop("bad_row", row.place, "the context is not a list of texts")

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the turns before the response, without speakers. The first turn identifies the thread."""
        turns = [text for text in row.fields["context"] if text.strip()]
        return {
            "context": tuple(Turn("", text.strip()) for text in turns),
            "group": f"{self.name}/{short_hash(turns[0])}" if turns else "",
            "sequence": f"{self.name}/{short_hash(*turns)}" if turns else "",
        }


class FigLangReddit(FigLangTwitter):
    """Comments with /s, from SARC: exclude shared texts before comparing the two."""

    release: ClassVar[Release] = replace(
        FigLangTwitter.release, title="FigLang 2020, Reddit", platform="Reddit", files=_figlang_files("reddit")
    )


_KOCOSA_FOLDERS = ("KoCoSa", "KoCoSa_dataset")


class KoCoSa(TabularReader):
    """Reader of KoCoSa's three splits."""

    release: ClassVar[Release] = Release(
        title="KoCoSa",
        citation="Kim et al. (2024), KoCoSa: Korean Context-aware Sarcasm Detection Dataset, LREC-COLING",
        url="https://github.com/Yu-billie/KoCoSa_sarcasm_detection",
        licence="not stated",
        language="ko",
        platform="generated dialogues",
        label_kind="perceived",
        folder="kocosa",
        files=(
            ReleaseFile(("KoCoSa_train.json",), "train", _KOCOSA_FOLDERS),
            ReleaseFile(("KoCoSa_dev.json", "KoCoSa_valid.json"), "dev", _KOCOSA_FOLDERS),
            ReleaseFile(("KoCoSa_test.json",), "test", _KOCOSA_FOLDERS),
        ),
        context=True,
        explanation=True,
    )
    words: ClassVar[Words] = {"sarcasm": True, "non_sarcasm": False}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per dialogue; one without a context or response is counted."""
        for number, row in enumerate(read_kocosa(file.path, self.hint), 1):
            place = f"{file.path.name} row {row.id}"
            if row.context is None or row.response is None:
                self.tally.drop("bad_row", place, "no Context or no Response")
                continue
            response = parse_turn(row.response)
            fields = {
                "id": row.id,
                "turns": row.turns,
                "context": row.context,
                "text": response.text,
                "speaker": response.speaker,
                "label": row.label,
                "explanation": row.explanation,
            }
            yield TableRow(fields, number, place)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the dialogue before the response, and why it is sarcastic."""
        lines = [line for line in row.text("context").split("\n") if line.strip()]
        dialogue = f"{self.name}/{short_hash(*lines)}"
        return {
            "speaker": row.text("speaker"),
            "context": row.fields["turns"],
            "explanation": row.text("explanation"),
            "group": dialogue,
            "sequence": dialogue,
        }


_CLIP_KEYS = ("utterance", "speaker", "context", "context_speakers", "sarcasm")
_DISTINCTIVE = 5  # words of a line that identifies a scene


class Mustard(TabularReader):
    """Reader of one JSON object keyed by clip. Clips that share a line are one scene."""

    release: ClassVar[Release] = Release(
        title="MUStARD",
        citation="Castro et al. (2019), Towards Multimodal Sarcasm Detection, ACL",
        url="https://github.com/soujanyaporia/MUStARD",
        licence="MIT",
        language="en",
        platform="television",
        label_kind="perceived",
        folder="mustard",
        files=(ReleaseFile(("sarcasm_data.json",), "", ("data",)),),
        context=True,
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per clip; one without a key, or with a line without speaker, is dropped."""
        clips = json_document(file.path, self.hint)
        if not isinstance(clips, dict) or not any(isinstance(clip, dict) for clip in clips.values()):
            raise DataError(f"{file.path}:1: no clips keyed by their id in it; {self.hint}")
        good: dict[str, Mapping[str, Any]] = {}
        for id, clip in clips.items():
            wrong = _unreadable_reason(clip)
            if wrong:
                self.tally.drop("bad_row", f"{file.path.name} {id}", wrong)
            else:
                good[id] = clip
        scene = clip_scenes(good)
        for number, (id, clip) in enumerate(good.items(), 1):
            fields = {**clip, "id": id, "text": clip["utterance"], "label": clip["sarcasm"], "scene": scene[id]}
            yield TableRow(fields, number, f"{file.path.name} {id}")

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the speaker, the context, the scene and the show."""
        context = zip(row.fields["context_speakers"], row.fields["context"], strict=True)
        return {
            "speaker": row.text("speaker"),
            "context": tuple(Turn(speaker.strip(), text.strip()) for speaker, text in context),
            "group": f"{self.name}/{row.fields['scene']}",
            "meta": {"show": row.text("show")} if row.text("show") else {},
        }


def _unreadable_reason(clip: Any) -> str:
    """Return why a clip cannot be read; empty if it can."""
    if not isinstance(clip, dict):
        return "not an object"
    missing = [key for key in _CLIP_KEYS if key not in clip]
    if missing:
        return f"no key {missing[0]!r}"
    texts, speakers = clip["context"], clip["context_speakers"]
    if not all(isinstance(part, list) and all(isinstance(x, str) for x in part) for part in (texts, speakers)):
        return "context or context_speakers is not a list of texts"
    return "" if len(texts) == len(speakers) else "as many speakers as lines of context are needed"


def clip_scenes(clips: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return clip -> first clip of its scene: connected components of clips that share a distinctive line."""
    speaking: dict[tuple[str, str], list[str]] = defaultdict(list)
    for id, clip in clips.items():
        for line in {*clip["context"], str(clip["utterance"])}:
            if len(line.split()) >= _DISTINCTIVE:
                speaking[str(clip.get("show", "")), line.strip().lower()].append(id)
    first = {id: id for id in clips}

    def root(id: str) -> str:
        while first[id] != id:
            id = first[id]
        return id

    for ids in speaking.values():
        for id in ids[1:]:
            first[root(id)] = root(ids[0])
    return {id: root(id) for id in clips}
