"""Answers of a language model that were recorded, so that the tour can show them in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson

from deadpan.errors import DataError
from deadpan.records import Example, Turn


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recording of tools/record_tour.py, and a reading of the whole of SarcBench."""

    model: str
    answers: Mapping[str, tuple[int | None, ...]]
    """Item -> the option the model chose in each order of the options; None: no choice could be read."""
    reading: Mapping[str, Any]
    dialogues: Mapping[str, Any]

    @property
    def origin(self) -> str:
        """The model that wrote the dialogues, and when."""
        model, date = self.dialogues["model"], self.dialogues["date"]
        return f"{model.removeprefix('embedded/')}, recorded on {date}"

    @property
    def reader(self) -> str:
        """The language model that read the whole set."""
        return str(self.reading["reader"])

    @property
    def missed(self) -> tuple[str, ...]:
        """The items for which it did not choose the key."""
        return tuple(self.reading["missed"])

    @property
    def conditions(self) -> str:
        """The conditions of the reading, in words."""
        return str(self.reading["conditions"])

    @property
    def where(self) -> str:
        """The place where the reading is reported."""
        return str(self.reading["where"])

    def solved(self, pairs: int) -> int:
        """Return how many of all pairs it solved: no two of the items it missed belong to one pair."""
        return pairs - len({name.rpartition("-")[0] for name in self.missed})

    @property
    def sarcastic(self) -> frozenset[str]:
        """The kept dialogues that were found to be sarcastic when somebody read them."""
        return frozenset((self.dialogues.get("reading") or {}).get("sarcastic", ()))

    def kept(self) -> list[Example]:
        """Return the dialogues that passed every filter."""
        return [_example(draft) for draft in self.dialogues["kept"] if draft.get("response")]

    def dropped(self) -> list[tuple[Example | None, str, str, str]]:
        """Return what was dropped, with step, reason and the model's words; those with a dialogue first."""
        rows = []
        for one in self.dialogues["dropped"]:
            draft = one.get("draft") or {}
            reason = one["reason"] + (f": {one['detail']}" if one.get("detail") else "")
            example = _example(draft) if draft.get("response") else None
            rows.append((example, one["step"], reason, one.get("raw", "")))
        return sorted(rows, key=lambda row: row[0] is None)


def read_recorded() -> Recorded:
    """Read the recorded answers that come with the package."""
    try:
        found = orjson.loads(files("deadpan.tour").joinpath("recorded.json").read_bytes())
        answers = {item: tuple(chosen) for item, chosen in found["answers"].items()}
        return Recorded(found["model"], answers, found["reading"], found.get("dialogues") or {})
    except (OSError, KeyError, ValueError, TypeError) as bad:
        raise DataError(f"tour/recorded.json cannot be read ({bad!r}): reinstall deadpan") from None


def _example(draft: dict[str, Any]) -> Example:
    turns = tuple(Turn(turn["speaker"], turn["text"]) for turn in draft["context"])
    response = Turn(draft["response"]["speaker"], draft["response"]["text"])
    return Example(draft["id"], response, turns, label=True, explanation=draft.get("explanation", ""))
