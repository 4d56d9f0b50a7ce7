"""The starter set: minimal pairs written by language models for deadpan, part of the package, public domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from deadpan.datasets.reader import CorpusFile, Reader, Release, ReleaseFile
from deadpan.formats.rows import json_lines
from deadpan.records import Example, Turn

_ENGLISH = Release(
    title="deadpan starter set, English",
    citation="the deadpan project, 2026",
    url="the deadpan package",
    licence="CC0-1.0",
    language="en",
    platform="written",
    label_kind="generated",
    folder="starter",
    files=(ReleaseFile(("en.jsonl",)),),
    context=True,
    explanation=True,
)


class Starter(Reader):
    """One context, a sarcastic and a sincere response that share words: two Examples, one `sequence`."""

    def examples(self) -> Iterator[Example]:
        """Yield the sarcastic response of each pair, then the sincere one."""
        for file in self.files():
            # The first line is the file's own title and licence, not a pair.
            for row in json_lines(file.path, {}, self.tally, "reinstall deadpan"):
                if "licence" not in row.fields:
                    yield from self._pair(row.fields)

    def _pair(self, pair: Any) -> Iterator[Example]:
        sarcastic = Example(
            id=f"{pair['id']}-sarcastic",
            response=Turn(pair["speaker"], pair["sarcastic"]),
            context=tuple(Turn(turn["speaker"], turn["text"]) for turn in pair["context"]),
            label=True,
            label_kind="generated",
            group=pair["id"],
            sequence=pair["id"],
            source=self.name,
            language=self.release.language,
            explanation=pair["explanation"],
            rephrase=pair["rephrase"],
            meta={"topic": pair["topic"]},
        )
        yield sarcastic
        yield replace(
            sarcastic,
            id=f"{pair['id']}-sincere",
            response=Turn(pair["speaker"], pair["sincere"]),
            label=False,
            explanation="",
            rephrase="",
        )

    def files(self) -> list[CorpusFile]:
        """Return the file in the package; data_dir is ignored."""
        folder = Path(str(resources.files("deadpan.datasets"))) / "starter"
        return [CorpusFile(folder / file.names[0], file.split) for file in self.release.files]


class StarterEnglish(Starter):
    release = _ENGLISH


class StarterKorean(Starter):
    release = replace(_ENGLISH, title="deadpan starter set, Korean", language="ko", files=(ReleaseFile(("ko.jsonl",)),))
