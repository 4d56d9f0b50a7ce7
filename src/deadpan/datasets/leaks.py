"""Leaks: what in a corpus, or between corpora, makes scores look better than they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from deadpan.arguments import check_examples, check_mapping, check_whole
from deadpan.datasets.label_cues import Cue, LabelToken, LabelTokens, label_tokens, surface_cues
from deadpan.datasets.overlaps import (
    CorpusPart,
    DuplicateCount,
    DuplicatePair,
    Overlap,
    Repeats,
    SharedValues,
    TextIndex,
    shared_values,
)
from deadpan.duplicates import NEAR, SHORT_WORDS, check_threshold
from deadpan.probes import MIN_COUNT, LabelColumn, column_sentence, label_columns
from deadpan.records import Example
from deadpan.results import Result
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.datasets import Dataset
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table


# Tokens and pairs shown per table.
_TABLE_ROWS = 12

_SPLIT_ORDER = ("train", "dev", "test", "")
# Test share of the random split that is assumed for a corpus without splits.
_TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class RandomSplit:
    """Expected leak of a random split by row: test rows, and those of them with a duplicate in train."""

    test_rows: float
    leaked: float


@dataclass(frozen=True, slots=True)
class CorpusLeaks:
    """The leaks of one corpus, and how much of it is also in the other corpora of the report.

    `random_split` is given where the corpus has no splits.
    """

    name: str
    n: int
    splits: Mapping[str, int]
    repeats: tuple[Repeats, ...]
    overlaps: tuple[Overlap, ...]
    shared_values: tuple[SharedValues, ...]
    label_tokens: LabelTokens
    cues: tuple[Cue, ...]
    elsewhere: DuplicateCount | None
    random_split: RandomSplit | None
    label_columns: tuple[LabelColumn, ...] = ()

    def tables(self) -> list[Table]:
        """Return the evidence: tokens that nearly decide the label, and pairs of duplicates."""
        from deadpan.page.table import Table

        tokens = tuple(
            (t.token, "sarcastic" if t.sarcastic else "sincere", f"{t.share:.0%}", t.n, f"{t.coverage:.1%}")
            for t in self.label_tokens.tokens[:_TABLE_ROWS]
        )
        columns = ("token", "label", "of its texts", "texts", "of the corpus")
        tables = [Table(columns, tokens, f"{self.name}: tokens that nearly decide the label")] if tokens else []
        across = [pair for overlap in self.overlaps for pair in overlap.pairs]
        within = [pair for repeats in self.repeats for pair in repeats.pairs]
        return [
            *tables,
            *_pair_table(f"{self.name}: duplicates across splits", across),
            *_pair_table(f"{self.name}: the same text with both labels", within),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class LeakReport(Result):
    """All leaks, and `findings`: a sentence on each that matters, the most severe first."""

    threshold: float
    corpora: tuple[CorpusLeaks, ...]
    overlaps: tuple[Overlap, ...]
    shared_values: tuple[SharedValues, ...]
    findings: tuple[str, ...]

    def __repr__(self) -> str:
        names = ", ".join(corpus.name for corpus in self.corpora)
        return f"<LeakReport {names}: {len(self.findings)} findings>"

    def as_dict(self) -> dict[str, object]:
        """Return all counts and findings."""
        plain: dict[str, object] = encode(self)
        return plain

    def summary(self) -> Summary:
        """Return the findings, then the evidence per corpus."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        numbered = tuple(enumerate(self.findings, 1))
        tables = [Table(("", "finding"), numbered)]
        for corpus in self.corpora:
            tables += corpus.tables()
        between = [pair for overlap in self.overlaps for pair in overlap.pairs]
        return Summary((*tables, *_pair_table("the same text in two corpora", between)))


def find_leaks(
    corpora: Dataset | Mapping[str, Iterable[Example]], *, threshold: float = NEAR, min_count: int = MIN_COUNT
) -> LeakReport:
    """Find leaks within each corpus, across its splits, and across the corpora.

    `corpora` is one dataset, or maps names to examples. Texts more similar than `threshold` (0 to 1) are near
    duplicates; a token must occur `min_count` times to be reported as one that gives the label away.

    >>> from deadpan import find_leaks, read_dataset
    >>> report = find_leaks(read_dataset("starter-en"))
    """
    from deadpan.datasets import Dataset

    corpora = {corpora.name: corpora.examples} if isinstance(corpora, Dataset) else corpora
    check_mapping(corpora, "corpora", "pass a dataset, or {name: examples}")
    check_threshold(threshold)
    check_whole(min_count, "min_count", 1)
    corpora = {name: check_examples(examples) for name, examples in corpora.items()}
    parts = [part for name, examples in corpora.items() for part in split_parts(name, examples)]
    index = TextIndex(parts, threshold)
    leaks = tuple(_corpus(index, name, list(corpora), min_count) for name in corpora)
    pairs = list(combinations(corpora, 2))
    overlaps = [index.overlap(pair, *map(index.columns, pair)) for pair in pairs]
    wholes = [
        CorpusPart(name, "", [row for at in index.columns(name) for row in parts[at].examples]) for name in corpora
    ]
    between = tuple(_shared(overlaps))
    # Ids and speakers mean nothing across corpora; contexts do.
    contexts = tuple(shared_values(wholes, ("context",)))
    return LeakReport(threshold, leaks, between, contexts, tuple(findings(leaks, between, contexts)))


def split_parts(name: str, examples: Iterable[Example]) -> list[CorpusPart]:
    """Return the parts of a corpus, one per split."""
    rows: dict[str, list[Example]] = {}
    for example in examples:
        rows.setdefault(example.split, []).append(example)
    order = [split for split in _SPLIT_ORDER if split in rows] or [""]
    return [CorpusPart(name, split, rows.get(split, [])) for split in order]


def _corpus(index: TextIndex, name: str, names: list[str], min_count: int) -> CorpusLeaks:
    at = index.columns(name)
    parts = [index.parts[column] for column in at]
    n = sum(len(part.examples) for part in parts)
    overlaps = [
        index.overlap((index.parts[left].name, index.parts[right].name), [left], [right])
        for left, right in combinations(at, 2)
    ]
    others = [column for column in range(len(index.parts)) if column not in at]
    once = index.texts_once(name)
    return CorpusLeaks(
        name=name,
        n=n,
        splits={part.split: len(part.examples) for part in parts},
        repeats=tuple(index.repeats(column) for column in at),
        overlaps=tuple(_shared(overlaps)),
        shared_values=tuple(shared_values(parts)),
        label_tokens=label_tokens(once, min_count=min_count),
        cues=surface_cues(once),
        elsewhere=index.count_duplicates(name, at, others) if len(names) > 1 else None,
        random_split=None if len(at) > 1 else RandomSplit(n * _TEST_SHARE, index.expected_leak(name, _TEST_SHARE)),
        label_columns=tuple(label_columns([row for part in parts for row in part.examples])),
    )


def _shared(overlaps: Iterable[Overlap]) -> list[Overlap]:
    return [overlap for overlap in overlaps if overlap.left.identical or overlap.left.near]


def _pair_table(title: str, pairs: Iterable[DuplicatePair]) -> list[Table]:
    """Return pairs of duplicates as a table, or nothing where there are none."""
    from deadpan.page.table import Table

    rows = []
    for pair in list(pairs)[:_TABLE_ROWS]:
        texts = dict.fromkeys((pair.left_text, pair.right_text))
        rows.append((f"{pair.left} = {pair.right}", pair.similar, " / ".join(texts)))
    return [Table(("rows", "similar", "text"), tuple(rows), title)] if rows else []


# Share of leaked test rows that makes a score meaningless: systems in papers differ by less.
_GRAVE = 0.05

# Share of rows below which a finding is in the report but gets no sentence.
_NOTABLE = 0.005

# Tokens and traits named in a sentence.
_NAMED = 5

Graded = tuple[float, str]
"""Severity and sentence. Leaks across existing splits (above 1) come first."""


def findings(
    corpora: Iterable[CorpusLeaks], overlaps: Iterable[Overlap], contexts: Iterable[SharedValues]
) -> list[str]:
    """Return a sentence per finding, or one that says there is none; then one on what cannot be checked."""
    corpora = list(corpora)
    pairs = list(overlaps)
    graded = [(shared.right_share / 2, _share(shared)) for shared in contexts if shared.right_share >= _NOTABLE]
    for corpus in corpora:
        graded += [*_splits(corpus), *_parts(corpus), *_shortcuts(corpus), *_elsewhere(corpus, pairs)]
    graded.sort(key=lambda sentence: -sentence[0])  # stable: equals stay in the order of the corpora
    sentences = [sentence for _, sentence in graded] or ["no leaks found"]
    whole = [corpus.name for corpus in corpora if corpus.random_split is not None]
    if whole:
        sentences.append(f"{', '.join(whole)}: no splits, so leaks across splits cannot be checked")
    return sentences


# ---------------------------------------------------------------- across splits


def _splits(corpus: CorpusLeaks) -> Iterator[Graded]:
    for overlap in corpus.overlaps:
        side, source = overlap.right, overlap.left.name
        grade = side.leaked / side.n
        if grade >= _GRAVE:
            advice = "scores on this split cannot be trusted"
        elif grade >= _NOTABLE:
            advice = "exclude them before scoring"
        else:
            advice = "too few to change a score much, but exclude them"
        yield 1 + grade, f"{_duplicate_rows(side, source)}: {advice}"
    for shared in corpus.shared_values:
        yield shared.right_share / 2, _share(shared)


def _duplicate_rows(side: DuplicateCount, source: str) -> str:
    sentence = f"{side.identical:,} of {side.n:,} texts of {side.name} are identical to texts in {source}"
    if side.short:
        sentence += f" ({side.short:,} of them under {SHORT_WORDS} words)"
    if side.near:
        sentence += f", {side.near:,} more near-identical"
    return sentence


def _share(shared: SharedValues) -> str:
    rows = f"{_rows(shared.right_rows)} of {shared.right} ({shared.right_share:.1%})"
    are = "is" if shared.right_rows == 1 else "are"
    wording = {
        "speaker": f"{rows} {are} by people who also speak in {shared.left}",
        "group": f"{rows} {are} of groups that are also in {shared.left}: a split must not cross groups",
        "sequence": f"{rows} {are} of sequences that are also in {shared.left}",
        "context": f"the conversation before {rows} is also in {shared.left}",
    }
    return wording[shared.kind]


# ---------------------------------------------------------------- within a part


def _parts(corpus: CorpusLeaks) -> Iterator[Graded]:
    for repeats in corpus.repeats:
        # Short texts ("yeah right") have both labels by nature; for a sentence it is a mistake.
        if repeats.conflicts > repeats.short_conflicts or repeats.conflicting_rows > _NOTABLE * repeats.n:
            yield repeats.conflicting_rows / repeats.n, _conflicts(repeats)
        if corpus.random_split is None and (repeats.repeated + repeats.near) > _NOTABLE * repeats.n:
            yield repeats.repeated / repeats.n / 2, _repeated(repeats)
    split = corpus.random_split
    if split is not None and split.leaked >= max(_NOTABLE * split.test_rows, 0.5):
        yield (
            split.leaked / split.test_rows,
            f"{_repeated(corpus.repeats[0])}: split at random, about {split.leaked:,.0f} of "
            f"{split.test_rows:,.0f} test rows would have a duplicate in train",
        )


def _conflicts(repeats: Repeats) -> str:
    texts = "1 text carries" if repeats.conflicts == 1 else f"{repeats.conflicts:,} texts carry"
    short = f", {repeats.short_conflicts:,} of them under {SHORT_WORDS} words" if repeats.short_conflicts else ""
    return (
        f"{repeats.name}: {texts} both labels{short} ({_rows(repeats.conflicting_rows)}): "
        "no system can get them all right"
    )


def _repeated(repeats: Repeats) -> str:
    return (
        f"of {_rows(repeats.n)} of {repeats.name}, {repeats.repeated:,} repeat the text of an earlier one "
        f"and {repeats.near:,} have a near duplicate"
    )


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


# ---------------------------------------------------------------- shortcuts to the label


def _shortcuts(corpus: CorpusLeaks) -> Iterator[Graded]:
    for column in corpus.label_columns:
        yield column.accuracy, f"{corpus.name}: {column_sentence(column)}"
    if corpus.label_tokens.tokens:
        yield corpus.label_tokens.covered / corpus.label_tokens.n, _tokens(corpus.name, corpus.label_tokens)
    if corpus.cues:
        named = "; ".join(map(_cue, corpus.cues[:_NAMED]))
        yield (2 * abs(corpus.cues[0].auc - 0.5), f"{corpus.name}: texts are more likely to be sarcastic {named}")


def _tokens(name: str, tokens: LabelTokens) -> str:
    named = ", ".join(map(_token, tokens.tokens[:_NAMED]))
    more = len(tokens.tokens) - _NAMED
    return (
        f"{name}: {tokens.covered:,} of {tokens.n:,} texts have a token that nearly decides the label: "
        + named
        + (f" and {more:,} more" if more > 0 else "")
    )


def _token(token: LabelToken) -> str:
    label = "sarcastic" if token.sarcastic else "not"
    return f"{token.kind} {token.token!r} ({token.n:,} texts, {token.share:.1%} {label})"


def _cue(cue: Cue) -> str:
    more = cue.auc > 0.5
    if cue.counted:
        trait = f"with {'more' if more else 'fewer'} {cue.trait}"
    else:
        trait = f"{'with' if more else 'without'} {cue.trait}"
    best = f", accuracy {cue.accuracy:.0%}, majority {cue.base:.0%}" if cue.rule else ""
    return f"{trait} (AUC {max(cue.auc, 1 - cue.auc):.2f}{best})"


# ---------------------------------------------------------------- across corpora


def _elsewhere(corpus: CorpusLeaks, overlaps: list[Overlap]) -> Iterator[Graded]:
    """Yield one sentence per corpus, however many others share its texts."""
    whole = corpus.elsewhere
    if whole is None or whole.leaked < max(_NOTABLE * whole.n, 2):
        return
    sides = [(c.left, c.right.name) for c in overlaps if c.left.name == corpus.name]
    sides += [(c.right, c.left.name) for c in overlaps if c.right.name == corpus.name]
    sides.sort(key=lambda pair: -pair[0].leaked)
    named = ", ".join(f"{side.identical + side.near:,} in {other}" for side, other in sides[:_NAMED])
    where = "other corpora" if len(sides) > 1 else sides[0][1]
    detail = f" ({named}{' and others' if len(sides) > _NAMED else ''})" if len(sides) > 1 else ""
    advice = "exclude them before testing one on the other"
    yield whole.leaked / whole.n, f"{_duplicate_rows(whole, where)}{detail}: {advice}"
