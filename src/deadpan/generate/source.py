"""The first step: source dialogues between two people, cut to a window of a few turns."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.draws import draw, sample
from deadpan.errors import ConfigError, DataError
from deadpan.formats.kocosa import parse_turns, read_kocosa
from deadpan.generate.folder import SPEAKERS, Draft, Dropped
from deadpan.generate.language import Language
from deadpan.generate.plan import EXAMPLE_SOURCES, GenerationPlan
from deadpan.records import Turn
from deadpan.storage import digest, read_json
from deadpan.text import printable


def source_files(plan: GenerationPlan, language: Language) -> SourceFiles:
    """Return the files to read; `examples` stands for those that come with the language."""
    paths = [str(language.sources) if name == EXAMPLE_SOURCES else name for name in plan.source.paths]
    return SourceFiles(paths, plan.source.form, plan.source.columns)


def source_drafts(plan: GenerationPlan, language: Language) -> Iterator[Draft | Dropped]:
    """Yield every source dialogue as a draft, or as a drop with its reason."""
    seen: set[bytes] = set()
    for raw in _chosen(plan, language):
        turns, reason = _usable_turns(raw)
        name = hashlib.blake2b(raw.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if not reason and name in seen:
            reason = "same_id"
        seen.add(name)
        if reason:
            yield Dropped(raw.id, "source", reason, raw.place)
        else:
            cut = cut_window(turns, plan.source.max_turns, seed=plan.seed, id=raw.id)
            yield Draft(raw.id, cut, raw.topic, raw.intimacy)


def sources_digest(files: SourceFiles) -> str:
    """Return one hash of the names and contents of all source files."""
    total = hashlib.blake2b(digest_size=16)
    for path in files.files():
        total.update(f"{path.name}\x1f{digest(path)}\n".encode())
    return total.hexdigest()


def _chosen(plan: GenerationPlan, language: Language) -> Iterator[RawSource]:
    """Yield all dialogues, or those drawn by the seed, in the order of the draw."""
    files = source_files(plan, language)
    if not plan.source.sample:
        return iter(files)
    usable = (raw for raw in files if not _usable_turns(raw)[1])
    return iter(sample(usable, plan.source.sample, seed=plan.seed, key=lambda raw: raw.id))


def _usable_turns(raw: RawSource) -> tuple[tuple[Turn, ...], str]:
    """Return the turns of A and B, or the reason why the dialogue cannot be used."""
    return ((), raw.wrong) if raw.wrong else two_people(raw.turns)


# A longer turn is a pasted article rather than talk.
_TURN_CHARACTERS = 600


def two_people(turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], str]:
    """Return the dialogue as turns of A and B, consecutive lines joined, or the reason it cannot be used."""
    spoken = [Turn(turn.speaker.strip(), " ".join(turn.text.split())) for turn in turns]
    spoken = [turn for turn in spoken if turn.text]
    people = list(dict.fromkeys(turn.speaker for turn in spoken))
    if len(people) > 2:
        return (), "three_or_more_speakers"
    if len(people) < 2:
        return (), "one_speaker" if people else "no_words"
    names = dict(zip(people, SPEAKERS, strict=True))
    joined: list[Turn] = []
    for turn in spoken:
        if joined and joined[-1].speaker == names[turn.speaker]:
            joined[-1] = Turn(joined[-1].speaker, f"{joined[-1].text} {turn.text}")
        else:
            joined.append(Turn(names[turn.speaker], turn.text))
    if any(len(turn.text) > _TURN_CHARACTERS for turn in joined):
        return (), "very_long_turn"
    return tuple(joined), ""


def cut_window(turns: tuple[Turn, ...], most: int, *, seed: int, id: str) -> tuple[Turn, ...]:
    """Return `most` consecutive turns from a start drawn by (seed, id); the first speaker is A."""
    if len(turns) <= most:
        return turns
    start = int.from_bytes(draw(seed, f"window {id}")[:8], "big") % (len(turns) - most + 1)
    cut = turns[start : start + most]
    if cut[0].speaker == SPEAKERS[0]:
        return cut
    swap = dict(zip(SPEAKERS, reversed(SPEAKERS), strict=True))
    return tuple(Turn(swap[turn.speaker], turn.text) for turn in cut)


_FORM_BY_SUFFIX = {".json": "", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv"}
_HINT = 'see docs/generate.md for the forms, or set source.form = "auto"'
_SPOKEN = re.compile(r"\s*([^:：\n]{1,40}?)\s*[:：]\s*(.*)", re.DOTALL)
# The columns of KoCoSa's files that a source needs.
_KOCOSA_COLUMNS = ("Context", "Response")


@dataclass(frozen=True, slots=True)
class RawSource:
    """A dialogue as found in a file, or, in `wrong`, the reason why it cannot be read."""

    id: str
    place: str
    turns: tuple[Turn, ...] = ()
    topic: str = ""
    intimacy: str = ""
    wrong: str = ""


@dataclass(slots=True)
class SourceFiles:
    """The files of a plan's sources, in the order of their names."""

    paths: Sequence[str]
    form: str = "auto"
    columns: Mapping[str, str] = field(default_factory=dict)

    def files(self) -> list[Path]:
        """Return every named file and every file in a named folder."""
        paths: list[Path] = []
        for name in self.paths:
            path = Path(name)
            if path.is_dir():
                inside = sorted(p for p in path.rglob("*") if p.suffix in _FORM_BY_SUFFIX and p.is_file())
                if not inside:
                    raise DataError(f"{path}: no .json, .jsonl or .csv file in it: {_HINT}")
                paths += inside
            elif path.is_file():
                paths.append(path)
            else:
                raise DataError(f"{path}: no such file or folder: set source.path in the plan")
        return list(dict.fromkeys(paths))

    def __iter__(self) -> Iterator[RawSource]:
        for path in self.files():
            yield from _FORMS[self._form_of(path)](path, self.columns)

    def _form_of(self, path: Path) -> str:
        if self.form != "auto":
            return self.form
        if path.suffix not in _FORM_BY_SUFFIX:
            raise ConfigError(f"{path}: name it .json, .jsonl or .csv, or set source.form in the plan")
        return _FORM_BY_SUFFIX[path.suffix] or ("kocosa" if _looks_like_kocosa(path) else "nikl")


def _looks_like_kocosa(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(4_096)
    return b'"Context"' in start and b'"document"' not in start


# ---------------------------------------------------------------- the four forms


def read_nikl(path: Path, columns: Mapping[str, str]) -> Iterator[RawSource]:
    """Read NIKL's Messenger and Online Text Message corpora: utterances with speaker_id and form."""
    content = read_json(path)
    documents = content.get("document") if isinstance(content, dict) else None
    documents = [documents] if isinstance(documents, dict) else documents
    if not isinstance(documents, list) or not documents:
        raise DataError(f"{path}: not in NIKL's form, no document in it: {_HINT}")
    for number, document in enumerate(documents, 1):
        place = f"{path.name} document {number}"
        if not isinstance(document, dict) or not isinstance(document.get("utterance"), list):
            yield RawSource(f"{path.stem}/{number}", place, wrong="bad_document")
            continue
        about = document.get("metadata")
        about = about if isinstance(about, dict) else {}
        setting = about.get("setting")
        setting = setting if isinstance(setting, dict) else {}
        turns = _nikl_turns(document["utterance"])
        yield RawSource(
            str(document.get("id") or f"{path.stem}/{number}"),
            place,
            turns or (),
            _word(about.get("topic") or setting.get("topic")),
            _word(setting.get("intimacy")),
            wrong="" if turns is not None else "bad_utterance",
        )


def _nikl_turns(utterances: list[Any]) -> tuple[Turn, ...] | None:
    turns = []
    for utterance in utterances:
        if not isinstance(utterance, dict):
            return None
        words = utterance.get("form") or utterance.get("original_form") or ""
        speaker = utterance.get("speaker_id")
        if not isinstance(words, str) or not isinstance(speaker, str | int):
            return None
        turns.append(Turn(str(speaker), printable(words)))
    return tuple(turns)


def read_jsonl(path: Path, columns: Mapping[str, str]) -> Iterator[RawSource]:
    """Read one dialogue per line: `turns`, `dialogue` or `utterances`, or a context and a response."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):  # JSONDecodeError and UnicodeDecodeError alike
                yield RawSource(f"{path.stem}/{number}", place, wrong="bad_line")
                continue
            turns = _json_turns(value, columns) if isinstance(value, dict) else None
            if turns is None:
                yield RawSource(f"{path.stem}/{number}", place, wrong="bad_line")
                continue
            yield RawSource(
                _word(value.get("id")) or f"{path.stem}/{number}",
                place,
                turns,
                _word(value.get("topic")),
                _word(value.get("intimacy")),
            )


def _json_turns(value: dict[str, Any], columns: Mapping[str, str]) -> tuple[Turn, ...] | None:
    names = (columns.get("turns", "turns"), "dialogue", "utterances", "context")
    spoken_turns: Any = next((value[name] for name in names if value.get(name)), None)
    if isinstance(spoken_turns, str):
        return _spoken(spoken_turns)
    if not isinstance(spoken_turns, list):
        return None
    last = [value["response"]] if spoken_turns is value.get("context") and value.get("response") else []
    turns = []
    for place, turn in enumerate(spoken_turns + last):
        made = _json_turn(turn, place)
        if made is None:
            return None
        turns.append(made)
    return tuple(turns)


def _json_turn(turn: Any, place: int) -> Turn | None:
    """{"speaker", "text"}, ["A", "words"], or "A: words"; bare words alternate between two people."""
    if isinstance(turn, dict):
        words = turn.get("text") or turn.get("form") or turn.get("utterance")
        speaker = next((turn[k] for k in ("speaker", "speaker_id", "role") if turn.get(k) is not None), "")
        fits = isinstance(words, str) and isinstance(speaker, str | int)
        return Turn(str(speaker), printable(str(words))) if fits else None
    if isinstance(turn, list) and len(turn) == 2 and all(isinstance(part, str) for part in turn):
        return Turn(turn[0], printable(turn[1]))
    if isinstance(turn, str):
        spoken = _SPOKEN.fullmatch(printable(turn))
        return Turn(spoken[1], spoken[2].strip()) if spoken else Turn("AB"[place % 2], printable(turn))
    return None


def _spoken(text: str) -> tuple[Turn, ...] | None:
    """Return the turns of lines such as "A: words"; None if a line has no speaker."""
    matches = [_SPOKEN.fullmatch(line) for line in printable(text).split("\n") if line.strip()]
    if not matches or not all(matches):
        return None
    return tuple(Turn(match[1], match[2].strip()) for match in matches if match)


def read_kocosa_file(path: Path, columns: Mapping[str, str]) -> Iterator[RawSource]:
    """Read one of KoCoSa's own files: its dialogues can be sources of new ones."""
    for row in read_kocosa(path, _HINT, _KOCOSA_COLUMNS):
        whole = row.context is not None and row.response is not None
        turns = parse_turns(f"{row.context}\n{row.response}") if whole else ()
        spoken = bool(turns) and all(turn.speaker for turn in turns)
        yield RawSource(
            f"{path.stem}/{row.id}",
            f"{path.name} row {row.id}",
            turns if spoken else (),
            wrong="" if spoken else "bad_row",
        )


def read_csv(path: Path, columns: Mapping[str, str]) -> Iterator[RawSource]:
    """Read one utterance per row (dialogue, speaker, text), or one dialogue per row, its lines in `text`."""
    name = {key: columns.get(key, key) for key in ("dialogue", "speaker", "text", "topic", "intimacy")}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            header = rows.fieldnames or []
            if name["text"] not in header:
                raise DataError(
                    f"{path}: no column {name['text']!r} among {', '.join(header) or 'none'}: "
                    f"name it in the plan, source.columns = {{text = ...}}"
                )
            apart = name["dialogue"] in header and name["speaker"] in header
            yield from (_utterance_rows if apart else _dialogue_rows)(path, rows, name)
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text: convert it first") from None
    except csv.Error as bad:
        raise DataError(f"{path}: not CSV ({bad})") from None


def _dialogue_rows(path: Path, rows: csv.DictReader[str], name: Mapping[str, str]) -> Iterator[RawSource]:
    for row in rows:
        turns = _spoken(row[name["text"]] or "")
        number = rows.line_num
        id = row.get("id") or f"{path.stem}/{number}"
        about = (_word(row.get(name["topic"])), _word(row.get(name["intimacy"])))
        yield RawSource(id, f"{path.name}:{number}", turns or (), *about, wrong="" if turns else "bad_row")


def _utterance_rows(path: Path, rows: csv.DictReader[str], name: Mapping[str, str]) -> Iterator[RawSource]:
    """Yield dialogues from consecutive rows with the same value in the dialogue column."""
    current, turns, place, about = "", list[Turn](), "", ("", "")
    for row in rows:
        dialogue = row[name["dialogue"]] or ""
        if turns and dialogue != current:
            yield RawSource(current, place, tuple(turns), *about)
            turns = []
        if not turns:
            current, place = dialogue, f"{path.name}:{rows.line_num}"
            about = (_word(row.get(name["topic"])), _word(row.get(name["intimacy"])))
        turns.append(Turn(row[name["speaker"]] or "", printable(row[name["text"]] or "")))
    if turns:
        yield RawSource(current, place, tuple(turns), *about)


def _word(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


_FORMS: dict[str, Callable[[Path, Mapping[str, str]], Iterator[RawSource]]] = {
    "nikl": read_nikl,
    "jsonl": read_jsonl,
    "kocosa": read_kocosa_file,
    "csv": read_csv,
}
