"""MUStARD: lines of television comedies with speakers and context, labelled by viewers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.errors import DataError
from deadpan.formats.rows import TableRow, json_document
from deadpan.records import Turn

_KEYS = ("utterance", "speaker", "context", "context_speakers", "sarcasm")
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
        clips = json_document(file.path, self.cure)
        if not isinstance(clips, dict) or not any(isinstance(clip, dict) for clip in clips.values()):
            raise DataError(f"{file.path}:1: no clips keyed by their id in it; {self.cure}")
        good: dict[str, Mapping[str, Any]] = {}
        for id, clip in clips.items():
            wrong = _wrong(clip)
            if wrong:
                self.tally.drop("bad_row", f"{file.path.name} {id}", wrong)
            else:
                good[id] = clip
        scene = scenes(good)
        for number, (id, clip) in enumerate(good.items(), 1):
            fields = {
                **clip,
                "id": id,
                "text": clip["utterance"],
                "label": clip["sarcasm"],
                "scene": scene[id],
            }
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


def _wrong(clip: Any) -> str:
    """Return why a clip cannot be read; empty if it can."""
    if not isinstance(clip, dict):
        return "not an object"
    missing = [key for key in _KEYS if key not in clip]
    if missing:
        return f"no key {missing[0]!r}"
    texts, speakers = clip["context"], clip["context_speakers"]
    if not all(
        isinstance(part, list) and all(isinstance(x, str) for x in part) for part in (texts, speakers)
    ):
        return "context or context_speakers is not a list of texts"
    return "" if len(texts) == len(speakers) else "as many speakers as lines of context are needed"


def scenes(clips: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
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
