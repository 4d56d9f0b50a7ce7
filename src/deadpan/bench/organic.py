"""The organic track: a real thread and real replies to it; which one did its author mean sarcastically?

A set is made from sequences of a corpus: exactly one of the replies was marked by its author. It is an
ordinary set of items, so runner, scores and board are those of SarcBench. Texts stay with whoever built the
corpus: ids and hashes can be published, and whoever has the corpus restores the set from them.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import chain, combinations, islice
from pathlib import Path

from deadpan.arguments import check_list, check_path, check_whole
from deadpan.bench.items.check import SetAudit, audit_set
from deadpan.bench.items.item import LETTERS, OPTIONS, ORGANIC, check_items_name, items_to_bytes, write_items
from deadpan.bench.items.sets import ItemSet, make_set
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem
from deadpan.bench.scores.score import mean_interval
from deadpan.draws import draw
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.sarc import SarcComment, SarcSequence
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Example, Item, Predictor, Turn
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.storage import atomic, read_records
from deadpan.text import fold

_QUESTION = "Which of these replies was meant sarcastically?"
_WORDS = (4, 40)
"""Fewest and most words of a reply: shorter ones say too little, longer ones are long to read."""
_TURNS = 4
"""Turns of the thread above the comment that is replied to."""
_LIMIT = 400
_MAX_TOXICITY = 0.9
_EARLIER = 2
"""Earlier replies of an author that `history` shows."""
_TRIED = 300
"""Choices of other replies that are looked at per thread."""
_GONE = frozenset({"", "[deleted]", "[removed]"})
_COLUMNS = ("item", "set", "version", "thread", "replies", "answer", "sha256")


@dataclass(frozen=True, slots=True)
class OrganicSet(Result):
    """A set of real replies that was written, what probes make of its options, and what was left out."""

    out: Path
    ids: Path
    set: ItemSet = field(repr=False)
    audit: SetAudit = field(repr=False)
    scores: Mapping[str, Interval] = field(repr=False)
    """The share of threads in which the reply with the highest or lowest score is the marked one."""
    tally: Tally = field(repr=False)
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the files, the hash of the set, its size, the probes and the drops."""
        probes = {probe.name: probe.accuracy.as_dict() for probe in self.audit.probes}
        found = {"out": str(self.out), "ids": str(self.ids), "set": self.set.label, "hash": self.set.hash}
        probes |= {name: value.as_dict() for name, value in self.scores.items()}
        return {
            **found,
            "items": len(self.set.items),
            "chance": self.audit.chance,
            "probes": probes,
            **self.tally.as_dict(),
        }

    def summary(self) -> Summary:
        """Return the probes, what was left out, and the next command."""
        rows: list[tuple[Cell, ...]] = [(probe.name, probe.accuracy) for probe in self.audit.probes]
        rows += self.scores.items()
        options = len(self.set.items[0].options)
        return Summary(
            (Table(("guess by", "accuracy"), tuple(rows), "Without the thread"),),
            (
                *self.tally.notes(),
                f"Chance is {self.audit.chance:.3f}. Replies are drawn alike in length and score; the words of a reply "
                "tell something on their own, as its sarcasm does.",
                *self.notes,
                f"{self.out}: {len(self.set.items)} threads with {options} replies each, {self.set.label} "
                f"({self.set.hash[:12]}). Keep it to yourself; {self.ids} holds ids and hashes only.",
                f"Next: deadpan bench run --set {self.out} --llm MODEL --out runs",
            ),
        )


def make_organic(
    sequences: Iterable[SarcSequence],
    out: str | Path,
    *,
    options: int = 6,
    after: str = "",
    history: bool = False,
    limit: int = _LIMIT,
    source: str = "own",
    max_toxicity: float | None = _MAX_TOXICITY,
    seed: int = 0,
) -> OrganicSet:
    """Write a set of threads with `options` real replies each, one of them marked by its author.

    - `after`: a month, YYYY-MM; only replies of later months.
    - `history`: show earlier replies of each author beside the reply.
    - `source`: the corpus, a part of the set's name.
    - `max_toxicity`: threads with a reply above it are left out (English, needs alt-profanity-check).

    Draws depend on ids and `seed`. The other replies are chosen so that the marked one is as often the longest
    as the shortest, and has as often the highest score as the lowest.
    """
    found = _checked(sequences)
    out = check_path(out, "the file of the set")
    check_items_name(out)
    check_whole(limit, "limit", 1)
    if not 2 <= check_whole(options, "options", 2) <= OPTIONS:
        raise ConfigError(f"options is {options}: give 2 to {OPTIONS}")
    begin, tally = _month_end(after), Tally()
    notes: list[str] = []
    threads = []
    for one in found:
        thread = _thread(one, options, begin)
        if isinstance(thread, str):
            tally.drop(thread, one.id)
        else:
            threads.append(thread)
    threads = _without_toxic(threads, max_toxicity, tally, notes)
    if not threads:
        raise DataError(_nothing(found, options, after))
    threads.sort(key=lambda thread: draw(seed, thread.marked.id))
    chosen = _balanced(threads, options, limit, seed)
    earlier = _earlier_replies(found) if history else {}
    version = _version(chosen)
    items = [_item(thread, earlier, source, version) for thread in chosen]
    items_set = make_set(_set_name(source, history), "private", items)
    write_items(out, items)
    ids = out.with_suffix(".ids.csv")
    _write_ids(ids, chosen, items)
    return OrganicSet(
        out, ids, items_set, audit_set(items_set, seed=seed), _score_probes(chosen, seed), tally, tuple(notes)
    )


def _checked(sequences: Iterable[SarcSequence]) -> list[SarcSequence]:
    found = check_list(sequences, "sequences")
    if any(not isinstance(one, SarcSequence) for one in found):
        raise DataError("sequences must be SarcSequence records: see BuiltCorpus.sequences and sequences_of")
    return found


def read_sequences(path: Path) -> list[SarcSequence]:
    """Read the sequences of a .parquet or .jsonl file; none if it is something else, such as a table of examples."""
    if path.suffix not in (".parquet", ".jsonl") or not path.is_file():
        return []
    try:
        return list(read_records(path, SarcSequence))
    except DataError:
        return []


def sequences_of(examples: Iterable[Example]) -> list[SarcSequence]:
    """Return the pairs of a published corpus as sequences: the responses with the same `sequence`."""
    members: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.sequence and example.context and example.context[-1].text.strip():
            members[example.sequence].append(example)
    found = []
    for name, same in members.items():
        above = tuple(SarcComment(name, turn.speaker, turn.text, 0, 0) for turn in same[0].context)
        replies = tuple(
            SarcComment(
                e.id,
                e.response.speaker,
                e.response.text,
                _whole(e.meta.get("score")),
                _whole(e.meta.get("created_utc")),
                e.label,
            )
            for e in same
        )
        found.append(SarcSequence(name, str(same[0].meta.get("subreddit", "")), same[0].split, above, replies))
    return found


def _whole(value: object) -> int:
    return int(str(value)) if re.fullmatch(r"-?\d+", str(value)) else 0


# ---------------------------------------------------------------- threads


@dataclass(frozen=True, slots=True)
class _Thread:
    """A thread that can be asked about: the marked reply and the others, of which some are shown."""

    id: str
    subreddit: str
    above: tuple[SarcComment, ...]
    marked: SarcComment
    others: tuple[SarcComment, ...]

    @property
    def shown(self) -> list[SarcComment]:
        """Return the replies in their order, which depends on their ids alone."""
        return sorted((self.marked, *self.others), key=lambda reply: draw(0, f"organic:{self.marked.id}:{reply.id}"))


def _thread(one: SarcSequence, options: int, begin: float) -> _Thread | str:
    """Return a thread with one marked reply and enough others, or the reason why it is none."""
    if not one.ancestors or one.ancestors[-1].text.strip() in _GONE:
        return "comment_deleted"
    fit = [reply for reply in one.replies if _readable(reply) and reply.created_utc >= begin]
    marked = [reply for reply in fit if reply.label]
    if len(marked) != 1 or sum(bool(reply.label) for reply in one.replies) != 1:
        return "not_one_marked_reply"
    texts = {fold(reply.text): reply for reply in reversed(fit) if reply.label is False}  # equal replies once
    others = tuple(reply for text, reply in reversed(texts.items()) if text != fold(marked[0].text))
    if len(others) < options - 1:
        return "too_few_replies"
    return _Thread(one.id, one.subreddit, one.ancestors, marked[0], others)


def _readable(reply: SarcComment) -> bool:
    gone = reply.text.strip() in _GONE or reply.author in _GONE - {""}
    return not gone and _WORDS[0] <= len(reply.text.split()) <= _WORDS[1]


def _without_toxic(threads: list[_Thread], most: float | None, tally: Tally, notes: list[str]) -> list[_Thread]:
    """Leave out threads with a text above the limit; all texts are judged at once."""
    if most is None or find_spec("profanity_check") is None:
        notes.append("Toxicity was not checked" + ("." if most is None else ": pip install 'deadpan[generate]'."))
        return threads
    from profanity_check import predict_prob

    texts = [[thread.above[-1].text, *(reply.text for reply in thread.shown)] for thread in threads]
    judged = iter(predict_prob(list(chain.from_iterable(texts)))) if texts else iter(())
    kept = []
    for thread, own in zip(threads, texts, strict=True):
        if max(islice(judged, len(own))) > most:
            tally.drop("toxic", thread.id)
        else:
            kept.append(thread)
    return kept


def _month_end(month: str) -> float:
    """Return when a month ends, in seconds; 0 for no month."""
    if not month:
        return 0.0
    match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", month)
    if not match:
        raise ConfigError(f"after is {month!r}: give a month, such as 2026-06")
    year, number = int(match[1]), int(match[2])
    return datetime(year + number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp()


def _nothing(found: Sequence[SarcSequence], options: int, after: str) -> str:
    """Return why no thread can be asked about, and what to do."""
    if not found:
        return "no sequences in it: give a corpus that `deadpan corpus build` wrote, or sarc-main"
    if not any(reply.label for one in found for reply in one.replies):
        return f"none of {len(found):,} threads has a reply that its author marked: give a corpus with labels"
    most = max(len(one.replies) for one in found)
    when = f" after {after}" if after else ""
    return (
        f"none of {len(found):,} threads has one marked reply and {options - 1} others of {_WORDS[0]} to {_WORDS[1]} "
        f"words{when}; the longest has {most} replies: give fewer --options, or a larger corpus"
    )


def _balanced(threads: Sequence[_Thread], options: int, limit: int, seed: int) -> list[_Thread]:
    """Choose the other replies of each thread, so that the ranks of length and of score are even over the set."""
    wanted = min(limit, len(threads))
    while True:
        most = -(-wanted // options)
        used, chosen = Counter[tuple[str, int]](), list[_Thread]()
        for thread in threads:
            fitting = []
            for others in _choices(thread, options, seed):
                short, low, gap = _ranks(thread.marked, others)
                cells = (("length", short), ("score", low))
                if all(used[cell] < most for cell in cells):
                    fitting.append((sum(used[cell] for cell in cells), gap, cells, others))
            if not fitting:
                continue
            *_, cells, others = min(fitting, key=lambda choice: choice[:2])
            used.update(cells)
            chosen.append(_Thread(thread.id, thread.subreddit, thread.above, thread.marked, others))
            if len(chosen) == wanted:
                return chosen
        if len(chosen) >= 0.95 * wanted or wanted <= options:
            return chosen
        wanted = max(len(chosen), options)


def _choices(thread: _Thread, options: int, seed: int) -> Iterator[tuple[SarcComment, ...]]:
    """Yield the other replies that may be shown, all choices or some drawn by hash."""
    drawn = sorted(thread.others, key=lambda reply: draw(seed, f"other:{reply.id}"))
    yield from islice(combinations(drawn, options - 1), _TRIED)


def _ranks(marked: SarcComment, others: Sequence[SarcComment]) -> tuple[int, int, int]:
    """Return how many others are shorter and how many have a lower score; equal ones are ordered by hash."""
    coin = draw(0, marked.id)
    size = len(marked.text)
    shorter = sum((len(other.text), draw(0, other.id)) < (size, coin) for other in others)
    lower = sum((other.score or 0, draw(1, other.id)) < (marked.score or 0, draw(1, marked.id)) for other in others)
    return shorter, lower, sum(abs(len(other.text) - size) for other in others)


def _score_probes(threads: Sequence[_Thread], seed: int) -> dict[str, Interval]:
    """Return how often the highest and the lowest score give the marked reply away; ties share the credit."""
    if len({reply.score for thread in threads for reply in thread.shown}) < 2:
        return {}
    found = {}
    for name, sign in (("highest score", 1), ("lowest score", -1)):
        credit: list[float] = []
        for thread in threads:
            best = max(sign * (reply.score or 0) for reply in thread.shown)
            top = [reply for reply in thread.shown if sign * (reply.score or 0) == best]
            credit.append((thread.marked in top) / len(top))
        found[name] = mean_interval(credit, [thread.id for thread in threads], seed)
    return found


# ---------------------------------------------------------------- items


def _set_name(source: str, history: bool) -> str:
    return "-".join(["organic", re.sub(r"[^A-Za-z0-9.]+", "-", source).strip("-") or "own", *["history"] * history])


def _version(threads: Sequence[_Thread]) -> str:
    """Return the month of the newest reply as a version; 1.0.0 for a corpus without dates."""
    newest = max(reply.created_utc for thread in threads for reply in thread.shown)
    date = datetime.fromtimestamp(newest, UTC)
    return f"{date.year}.{date.month}.0" if newest else "1.0.0"


def _item(thread: _Thread, earlier: Mapping[str, Sequence[SarcComment]], source: str, version: str) -> Item:
    """Return a thread as an item; people are numbered in the order in which they speak."""
    *before, said = thread.above
    people: dict[str, str] = {}

    def who(comment: SarcComment) -> str:
        return people.setdefault(comment.author or comment.id, f"User {len(people) + 1}")

    context = tuple(
        Turn(who(turn), " ".join(turn.text.split())) for turn in before[-_TURNS:] if turn.text.strip() not in _GONE
    )
    speaker, shown = who(said), thread.shown
    return Item(
        id=thread.marked.id, version=version, context=context, utterance=" ".join(said.text.split()),
        question=_QUESTION, options=tuple(_option(reply, earlier) for reply in shown),
        answer=shown.index(thread.marked), category=ORGANIC, pair_id="", author="people on Reddit",
        speaker=speaker, language="en", tags=(_set_name(source, bool(earlier)), *filter(None, [thread.subreddit])),
    )  # fmt: skip


def _option(reply: SarcComment, earlier: Mapping[str, Sequence[SarcComment]]) -> str:
    """Return a reply, with what its author wrote before where that is asked for."""
    text = " ".join(reply.text.split())
    said = [one for one in earlier.get(reply.author, ()) if one.created_utc < reply.created_utc][-_EARLIER:]
    if not said:
        return text
    quoted = " / ".join(f'"{" ".join(one.text.split()[: _WORDS[1]])}"' for one in said)
    return f"{text} [earlier by the same author: {quoted}]"


def _earlier_replies(sequences: Iterable[SarcSequence]) -> dict[str, list[SarcComment]]:
    """Return the replies of every author, oldest first."""
    found: dict[str, dict[str, SarcComment]] = defaultdict(dict)
    for comment in chain.from_iterable((*one.ancestors, *one.replies) for one in sequences):
        if comment.author not in _GONE and comment.text.strip() not in _GONE:
            found[comment.author][comment.id] = comment
    return {author: sorted(said.values(), key=lambda one: one.created_utc) for author, said in found.items()}


# ---------------------------------------------------------------- ids and hashes


def item_hash(item: Item) -> str:
    """Return the hash of an item with its texts, by which a restored one is checked."""
    return hashlib.sha256(items_to_bytes([item])).hexdigest()


def _write_ids(path: Path, threads: Sequence[_Thread], items: Sequence[Item]) -> None:
    """Write ids and hashes, from which whoever has the corpus restores the set."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for thread, item in zip(threads, items, strict=True):
            replies = " ".join(reply.id for reply in thread.shown)
            named = (item.id, item.tags[0], item.version, thread.id)
            writer.writerow((*named, replies, LETTERS[item.answer], item_hash(item)))


@dataclass(frozen=True, slots=True)
class FilledSet(Result):
    """A set that was restored from ids, every item with the hash that it had."""

    out: Path
    set: ItemSet = field(repr=False)

    def as_dict(self) -> dict[str, object]:
        """Return the file, the set and its hash."""
        return {"out": str(self.out), "set": self.set.label, "items": len(self.set.items), "hash": self.set.hash}

    def summary(self) -> Summary:
        """Return what was restored."""
        same = "every hash is the same"
        return Summary(
            notes=(f"{self.out}: {len(self.set.items)} items of {self.set.label}; {same} ({self.set.hash[:12]}).",)
        )


def fill_organic(ids: Path, sequences: Iterable[SarcSequence], out: str | Path) -> FilledSet:
    """Restore a set from ids and a corpus; a text that differs from its hash is an error."""
    found = _checked(sequences)
    out = check_path(out, "the file of the set")
    check_items_name(out)
    rows = _read_ids(check_path(ids, "the file of ids"))
    threads = {one.id: one for one in found}
    name = rows[0]["set"]
    earlier = _earlier_replies(found) if name.endswith("-history") else {}
    source = name.removeprefix("organic-").removesuffix("-history")
    items = []
    for row in rows:
        one = threads.get(row["thread"])
        replies = {reply.id: reply for reply in one.replies} if one else {}
        wanted = row["replies"].split()
        missing = next((id for id in wanted if id not in replies), None)
        if one is None or missing:
            raise DataError(
                f"{ids}: reply {missing or wanted[0]} is not in the corpus: give the corpus it was made from"
            )
        marked = replies[row["item"]]
        others = tuple(replies[id] for id in wanted if id != marked.id)
        item = _item(_Thread(one.id, one.subreddit, one.ancestors, marked, others), earlier, source, row["version"])
        if item_hash(item) != row["sha256"]:
            raise DataError(f"{ids}: item {row['item']} has another text than when the set was made: give that corpus")
        items.append(item)
    made = make_set(name, "private", items)
    write_items(out, items)
    return FilledSet(out, made)


def _read_ids(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        if tuple(header) != _COLUMNS or not rows or any(len(row) != len(_COLUMNS) for row in rows):
            raise ValueError("other columns, or a cut-off line")
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: give the .ids.csv that `deadpan bench organic` wrote") from None
    except (ValueError, IndexError, csv.Error) as bad:
        raise DataError(f"{path}: not the ids of an organic set ({bad})") from None


# ---------------------------------------------------------------- detectors

_NAMED = f"{BASELINE_PREFIX}detector-"
"""Detectors are baselines of the track: they cost nothing and read no question."""


class ChosenReplies:
    """Answers items by the scores that a detector gave to their options; equal scores are no answer."""

    def __init__(self, name: str, scores: Mapping[str, Sequence[float | None]]) -> None:
        self.name = name
        self.scores = scores

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Answer with the letter of the highest score, in the order that is shown."""
        given = [self.scores[posed.item.id][place] for place in posed.order]
        known = [score for score in given if score is not None]
        if len(known) < len(given) or known.count(max(known)) > 1:
            return GivenAnswer("no reply is scored higher than the other", "stop", self.name)
        return GivenAnswer(f"Final Answer: {LETTERS[given.index(max(known))]}", "stop", self.name)


def detector_answers(items: ItemSet, detectors: Mapping[str, Predictor]) -> dict[str, ChosenReplies]:
    """Return what each detector chooses, by its name on the board.

    A detector that was trained on one of the replies is refused, where it knows what it was trained on.
    """
    if detectors and any(item.category != ORGANIC for item in items.items):
        raise ConfigError(f"a detector scores replies, not readings: {items.label} is no organic set")
    replies = [_replies(item) for item in items.items]
    flat = [reply for both in replies for reply in both]
    answers = {}
    for name, detector in detectors.items():
        seen = getattr(detector, "seen_", None)
        known = int(seen.contain(flat).sum()) if seen is not None else 0
        if known:
            raise DataError(f"{name} was trained on {known} of the {len(flat)} replies: give a detector that was not")
        scores = iter([prediction.score for prediction in detector.predict(flat)])
        chosen = {item.id: [next(scores) for _ in both] for item, both in zip(items.items, replies, strict=True)}
        answers[_NAMED + name] = ChosenReplies(_NAMED + name, chosen)
    return answers


def _replies(item: Item) -> list[Example]:
    """Return the options of an item as replies to its comment."""
    context = (*item.context, Turn(item.speaker, item.utterance))
    return [
        Example(f"{item.id}:{at}", Turn("", text), context, language=item.language)
        for at, text in enumerate(item.options)
    ]
