"""MUStARD: lines of television comedies with the lines before them and who says them, labelled by viewers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row, json_document
from deadpan.datasets.tabular import TabularReader
from deadpan.errors import DataError
from deadpan.records import Turn

_KEYS = ("utterance", "speaker", "context", "context_speakers", "sarcasm")
_TELLING = 5  # words a line must have to tell one scene from another


class Mustard(TabularReader):
    """Reads one JSON object keyed by clip. The file does not name scenes: clips that share a line are one."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a clip; one that lacks a key, or a speaker for a line, is counted."""
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
            yield Row(fields, number, f"{file.path.name} {id}")

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """Who speaks, the lines before, the scene and the show."""
        said = zip(row.fields["context_speakers"], row.fields["context"], strict=True)
        return {
            "speaker": row.text("speaker"),
            "context": tuple(Turn(speaker.strip(), text.strip()) for speaker, text in said),
            "group": f"{self.name}/{row.fields['scene']}",
            "meta": {"show": row.text("show")} if row.text("show") else {},
        }


def _wrong(clip: Any) -> str:
    """What keeps a clip from being read; empty if nothing does."""
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
    """Clip -> the first clip of its scene, where a scene is clips that share a telling line, in a chain."""
    speaking: dict[tuple[str, str], list[str]] = defaultdict(list)
    for id, clip in clips.items():
        for line in {*clip["context"], str(clip["utterance"])}:
            if len(line.split()) >= _TELLING:
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
