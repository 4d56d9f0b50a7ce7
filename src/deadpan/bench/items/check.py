"""Checks of a set: is it sound, and can its answers be guessed without reading the items?"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

from deadpan.bench.items.item import CHANCE, CHECKS, LETTERS, MISTAKES, OPTIONS, ORGANIC, WRITTEN, family
from deadpan.bench.items.probes import RULES, form_only, options_only, overlap, rule_credit, utterance_only
from deadpan.bench.items.sets import AskPassphrase, ItemSet, count_pairs, open_set
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Item, Turn
from deadpan.results import Result
from deadpan.stats import LEVEL, Interval, bootstrap_interval
from deadpan.stats.interval import FloatArray
from deadpan.text import fold, sarc_tokens
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.figures import Figure

ALIKE_CONTEXTS = 0.6
"""The share of words, in order, that the contexts of a pair must have in common."""
NEAR_COPY = 0.9
POSITION_P = 0.01


@dataclass(frozen=True, slots=True)
class SetCheck(Result):
    """The check of a set: its problems and, if it has none, what the audit found."""

    validation: SetValidation
    audit: SetAudit | None = None

    @property
    def passed(self) -> bool:
        return self.validation.passed and (self.audit is None or self.audit.passed)

    def as_dict(self) -> dict[str, object]:
        """Return the problems and the audit."""
        audit = self.audit.as_dict() if self.audit else None
        return {**self.validation.as_dict(), "audit": audit, "passed": self.passed}

    def summary(self) -> Summary:
        """Return the problems, then the audit."""
        sound, audit = self.validation.summary(), self.audit.summary() if self.audit else Summary()
        return Summary(sound.tables + audit.tables, sound.notes + audit.notes)


def check_set(
    items: str | Path | ItemSet,
    *,
    audit: bool = True,
    seed: int = 0,
    plot: Path | None = None,
    ask: AskPassphrase | None = None,
) -> SetCheck:
    """Validate a set; a valid one is also audited, unless `audit` is False."""
    validation = validate_set(items, ask=ask)
    if not (audit and validation.passed):  # an unsound set is to be repaired first
        return SetCheck(validation)
    return SetCheck(validation, audit_set(validation.set, seed=seed, plot=plot))


@dataclass(frozen=True, slots=True)
class SetProblem:
    """One thing that is wrong with a set, and where."""

    item: str
    what: str
    hint: str


@dataclass(frozen=True, slots=True)
class SetValidation(Result):
    """The problems of a set; none for a sound one."""

    set: ItemSet
    problems: tuple[SetProblem, ...]

    @property
    def passed(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, object]:
        """Return the set and its problems."""
        found = {"set": self.set.label, "items": len(self.set.items), "hash": self.set.hash}
        return {**found, "passed": self.passed, "problems": encode(self.problems)}

    def summary(self) -> Summary:
        """Return one row per problem and the verdict."""
        rows = tuple((each.item, each.what, each.hint) for each in self.problems)
        verdict = f"{len(rows)} problem{'s' * (len(rows) > 1)}" if rows else "valid"
        note = (
            f"{self.set.label}: {len(self.set.items)} items, {count_pairs(self.set)} pairs, {verdict} "
            f"({self.set.hash[:12]})"
        )
        return Summary((Table(("item", "problem", "fix"), rows),) if rows else (), (note,))


def validate_set(items: str | Path | ItemSet, *, ask: AskPassphrase | None = None) -> SetValidation:
    """Check every item, then the pairs, then the whole set."""
    opened = open_set(items, ask)
    found = [problem for item in opened.items for problem in _of_item(item)]
    for check in (_of_pairs, _of_copies, _of_positions):
        found += check(opened.items)
    return SetValidation(opened, tuple(found))


def _of_item(item: Item) -> Iterator[SetProblem]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", item.version):
        yield SetProblem(item.id, f"version {item.version!r}", "give three numbers, such as 0.2.0")
    if len({fold(option) for option in item.options}) < len(item.options):
        yield SetProblem(item.id, "two options are equal", "replace one")
    if item.category == ORGANIC:  # nobody wrote it, so nobody can rewrite it
        return
    if not item.context:
        yield SetProblem(item.id, "no context", "say what happened before the remark")
    missing = [name for name in CHECKS if name not in item.checks]
    if missing:
        yield SetProblem(item.id, f"checklist without {missing[0]}", "answer every check")
    for name, answer in item.checks.items():
        if not answer:
            yield SetProblem(item.id, f"the checklist says no to {name}", "rewrite or drop the item")
    for name in WRITTEN:
        if not getattr(item, name):
            yield SetProblem(item.id, f"no {name}", "write it")
    for place, mistake in enumerate(item.mistakes):
        if place == item.answer and mistake:
            yield SetProblem(item.id, f"its answer has the mistake {mistake!r}", "leave it empty")
        if place != item.answer and not mistake:
            yield SetProblem(item.id, f"option {LETTERS[place]} has no mistake", f"name one: {', '.join(MISTAKES)}")
    told = _spaced(" ".join(turn.text for turn in (*item.context, Turn("", item.utterance), *item.after)))
    quotes = [item.cue] if _spaced(item.cue) in told else re.split(r" (?:\.\.\.|…) ", item.cue)
    for quote in quotes:
        if _spaced(quote) not in told:
            yield SetProblem(item.id, f"its cue {quote!r} is not in the text", "quote it word for word")
    if (recombined := shared_parts(item.options)) >= _GRID:
        yield SetProblem(item.id, f"a grid: {recombined} options recombine the same parts", "write six thoughts")


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


_GRID = 4
"""Options made of shared parts with which an item is a grid."""
_MOST_SHARED = 0.6


def shared_parts(options: Sequence[str]) -> int:
    """Return how many options consist of runs of words that other options have, as "A, and X", "B, and X", "A, and Y".

    A run that nearly all options have is a frame ("She thinks that ...") and does not count: what fills it is
    looked at. In a grid, nearly every word beyond the frame occurs in another option.
    """
    texts = [["^", *re.findall(r"\w+(?:['’]\w+)?", fold(option)), "$"] for option in options]
    pairs = [set(pairwise(text)) for text in texts]
    found = 0
    for at, text in enumerate(texts):
        having: list[set[int]] = [set() for _ in text]
        for place, pair in enumerate(pairwise(text)):
            others = {other for other, theirs in enumerate(pairs) if other != at and pair in theirs}
            having[place] |= others
            having[place + 1] |= others
        own = [others for others in having[1:-1] if len(others) < len(options) - 2]
        found += bool(own) and sum(map(bool, own)) / len(own) >= _MOST_SHARED
    return found


def _of_pairs(items: Sequence[Item]) -> Iterator[SetProblem]:
    pairs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.pair_id:
            pairs[item.pair_id].append(item)
    for name, members in pairs.items():
        if len(members) != 2:
            yield SetProblem(name, f"a pair of {len(members)}", "a minimal pair has two items")
            continue
        one, other = members
        if one.utterance != other.utterance:
            yield SetProblem(name, "its utterances differ", "only the context may change")
        if one.question != other.question:
            yield SetProblem(name, "its questions differ", "ask both the same")
        if set(one.options) != set(other.options):
            yield SetProblem(name, "its options differ", "offer both the same six")
        if one.options[one.answer] == other.options[other.answer]:
            yield SetProblem(name, "its answers are the same", "the change must flip the answer")
        alike = SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()
        if alike == 1.0:
            yield SetProblem(name, "its contexts are the same", "one small change must flip the answer")
        elif alike < ALIKE_CONTEXTS:
            yield SetProblem(name, f"its contexts share only {alike:.0%}", "make it one small change")


def _words(item: Item) -> list[str]:
    return [word for turn in (*item.context, *item.after) for word in sarc_tokens(f"{turn.speaker} {turn.text}")]


def _of_copies(items: Sequence[Item]) -> Iterator[SetProblem]:
    """Find items of different families whose texts are nearly equal."""
    shingles = []
    for item in items:
        words = [*_words(item), *sarc_tokens(item.utterance)]
        shingles.append({tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2))})
    having: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for second, item in enumerate(items):
        both: Counter[int] = Counter()
        for shingle in shingles[second]:
            both.update(having[shingle])
            having[shingle].append(second)
        for first, count in sorted(both.items()):
            other, union = items[first], len(shingles[first]) + len(shingles[second]) - count
            if count / union >= NEAR_COPY and not (item.pair_id and item.pair_id == other.pair_id):
                yield SetProblem(item.id, f"nearly the same as {other.id}", "drop one of them")


def _of_positions(items: Sequence[Item]) -> Iterator[SetProblem]:
    """Test whether answers favour a letter beyond chance (chi-square; reliable from 60 items)."""
    counts = Counter(item.answer for item in items)
    if items[0].category == ORGANIC:  # drawn by hash
        return
    expected = len(items) / OPTIONS
    chi = sum((counts[place] - expected) ** 2 / expected for place in range(OPTIONS))
    if _tail(chi) < POSITION_P:
        shown = ", ".join(f"{LETTERS[place]} {counts[place]}" for place in range(OPTIONS))
        yield SetProblem("the set", f"answer positions are not balanced ({shown})", "reorder options")


def _tail(chi: float) -> float:
    """Return the upper tail of chi-square with five degrees of freedom, in closed form."""
    half = chi / 2
    series = math.sqrt(2 * chi / math.pi) * math.exp(-half) * (1 + chi / 3)
    return math.erfc(math.sqrt(half)) + series


MARGIN = 0.05
"""The largest distance from chance that the classifiers of a passing set may have."""
_POWER = 0.8
LONGER, SHARED_MORE = 1.25, 0.5
CLASSIFIERS: dict[str, Callable[[Sequence[Item], int], FloatArray]] = {
    "words of the options": options_only,
    "form of the options": form_only,
    "options, utterance and question": utterance_only,
}
_SHOWN_ITEMS = 12


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to guess, its accuracy, and whether that is too high."""

    name: str
    accuracy: Interval
    passed: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Giveaway:
    """An item whose answer can be told by its form alone."""

    item: str
    what: str


@dataclass(frozen=True, slots=True)
class SetAudit(Result):
    """All probes, the items that fail, and the smallest effect this set could have shown."""

    set: str
    n: int
    families: int
    smallest_effect: float
    chance: float
    probes: tuple[Probe, ...] = field(repr=False)
    failed_items: tuple[Giveaway, ...] = field(repr=False)

    @property
    def passed(self) -> bool:
        return all(probe.passed for probe in self.probes) and not self.failed_items

    def as_dict(self) -> dict[str, object]:
        """Return every probe and every item that fails."""
        return {**asdict(self), "passed": self.passed}

    def summary(self) -> Summary:
        """Return one row per probe, the items that fail, and the verdict."""
        rows: list[tuple[Cell, ...]] = [
            (probe.name, probe.accuracy, "ok" if probe.passed else f"FAILS: {probe.verdict}") for probe in self.probes
        ]
        table = Table(("guess by", "accuracy", "verdict"), tuple(rows))
        notes = [f"{each.item}: {each.what}" for each in self.failed_items[:_SHOWN_ITEMS]]
        if len(self.failed_items) > _SHOWN_ITEMS:
            notes.append(f"... and {len(self.failed_items) - _SHOWN_ITEMS} more (--json lists all)")
        notes.append(f"{self.set} {'passes' if self.passed else 'FAILS'}: {self.n} items in {self.families} families.")
        notes.append(
            f"Chance is {self.chance:.3f}. The smallest effect this size would show (80 % power): "
            f"{100 * self.smallest_effect:.1f} points."
        )
        return Summary((table,), tuple(notes))


def audit_set(
    items: str | Path | ItemSet, *, seed: int = 0, plot: Path | None = None, ask: AskPassphrase | None = None
) -> SetAudit:
    """Run every probe on a set; intervals resample whole families. `plot` is a folder for audit.svg and .png.

    Three classifiers are cross-validated with whole families held out: one sees the words of the options, one
    only their form, one also the utterance and the question. Simple rules look at length, shared words, cue
    words and positions.
    """
    opened = open_set(items, ask)
    result = _audit(opened, seed)
    if plot is not None:
        audit_figure(result).save(plot, "audit")
    return result


def _audit(items: ItemSet, seed: int) -> SetAudit:
    groups = [family(item) for item in items.items]
    chance = sum(1 / len(item.options) for item in items.items) / len(groups)
    probes = []
    for name, guess in CLASSIFIERS.items():
        probes.append(_classifier(name, _accuracy(guess(items.items, seed), groups, seed), chance))
    letters = max(len(item.options) for item in items.items)
    unused = {f"always {letter}" for letter in LETTERS[letters:]}
    for name, rule in RULES.items():
        if name not in unused:
            probes.append(_rule(name, _accuracy(rule_credit(items.items, rule), groups, seed), chance))
    failed = [giveaway for item in items.items if item.category != ORGANIC for giveaway in giveaways(item)]
    effect = smallest_effect(len(items.items), chance)
    return SetAudit(items.label, len(groups), len(set(groups)), effect, chance, tuple(probes), tuple(failed))


def _accuracy(credit: FloatArray, groups: Sequence[str], seed: int) -> Interval:
    return bootstrap_interval(lambda rows: float(credit[rows].mean()), groups, seed=seed, limits=(0.0, 1.0))


def _classifier(name: str, accuracy: Interval, chance: float) -> Probe:
    """Pass a classifier within the margin of chance whose interval includes chance."""
    off = (accuracy.value or 0.0) - chance
    inside = accuracy.low is None or accuracy.high is None or accuracy.low <= chance <= accuracy.high
    if not inside:
        side = "above" if off > 0 else "below"
        return Probe(name, accuracy, False, f"significantly {side} chance")
    if abs(off) > MARGIN:
        return Probe(name, accuracy, False, f"{100 * off:+.1f} points from chance, {100 * MARGIN:.0f} allowed")
    return Probe(name, accuracy, True, "at chance")


def _rule(name: str, accuracy: Interval, chance: float) -> Probe:
    """Fail a simple rule only where it is significantly above chance."""
    above = accuracy.low is not None and accuracy.low > chance
    return Probe(name, accuracy, not above, "beats chance" if above else "does not beat chance")


def giveaways(item: Item) -> list[Giveaway]:
    """Return why the answer of an item can be told by its form; empty for a sound item."""
    found = []
    lengths = [len(option) for option in item.options]
    rivals = sorted(length for place, length in enumerate(lengths) if place != item.answer)
    if lengths[item.answer] > LONGER * rivals[-1]:
        found.append(Giveaway(item.id, "the answer is much longer than every distractor"))
    if lengths[item.answer] * LONGER < rivals[0]:
        found.append(Giveaway(item.id, "the answer is much shorter than every distractor"))
    shares = overlap(item)
    others = [share for place, share in enumerate(shares) if place != item.answer]
    if shares[item.answer] >= max(others) + SHARED_MORE:
        found.append(Giveaway(item.id, "only the answer repeats the words of the text"))
    telling = [_tells(option) for option in item.options]
    if telling[item.answer] and sum(telling) == 1:
        found.append(Giveaway(item.id, "only the answer has a word that names sarcasm"))
    if not telling[item.answer] and sum(telling) == OPTIONS - 1:
        found.append(Giveaway(item.id, "all but the answer have a word that names sarcasm"))
    return found


NAMING = re.compile(r"sarcas|ironic|irony|mocking|비꼬|비꼰|반어|빈정")
"""Words that name sarcasm outright."""


def _tells(option: str) -> bool:
    return bool(NAMING.search(option.lower()))


def smallest_effect(n: int, chance: float = CHANCE, level: float = LEVEL) -> float:
    """Return the smallest rise above chance that a probe on n items shows with 80 % power."""
    z = NormalDist().inv_cdf((1 + level) / 2) + NormalDist().inv_cdf(_POWER)
    return z * math.sqrt(chance * (1 - chance) / n)


def audit_figure(result: SetAudit) -> Figure:
    """Draw the probes as intervals around chance."""
    from deadpan.figures import whiskers

    failed = [probe.name for probe in result.probes if not probe.passed]
    title = (
        f"{result.set}: {len(failed)} of {len(result.probes)} ways to guess beat chance"
        if failed
        else f"{result.set}: none of {len(result.probes)} ways to guess without reading beats chance"
    )
    scores = {probe.name: probe.accuracy for probe in result.probes}
    return whiskers(title, scores, unit="accuracy", mark=("chance", result.chance))
