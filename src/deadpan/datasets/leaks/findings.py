"""The findings of a leak report as sentences, the most severe first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from deadpan.datasets.leaks.cues import Cue
from deadpan.datasets.leaks.duplicates import DuplicateCount, Overlap, Repeats
from deadpan.datasets.leaks.shared import SharedValues
from deadpan.datasets.leaks.tokens import LabelToken, LabelTokens
from deadpan.duplicates import SHORT_WORDS

if TYPE_CHECKING:
    from deadpan.datasets.leaks import CorpusLeaks

GRAVE = 0.05
"""Share of leaked test rows that makes a score meaningless: systems in papers differ by less."""

NOTABLE = 0.005
"""Share of rows below which a finding is in the report but gets no sentence."""

NAMED = 5
"""Tokens and traits named in a sentence."""

Graded = tuple[float, str]
"""Severity and sentence. Leaks across existing splits (above 1) come first."""


def findings(
    corpora: Iterable[CorpusLeaks], overlaps: Iterable[Overlap], contexts: Iterable[SharedValues]
) -> list[str]:
    """Return a sentence per finding, or one that says there is none; then one on what cannot be checked."""
    corpora = list(corpora)
    pairs = list(overlaps)
    graded = [
        (shared.right_share / 2, _share(shared)) for shared in contexts if shared.right_share >= NOTABLE
    ]
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
        if grade >= GRAVE:
            advice = "scores on this split cannot be trusted"
        elif grade >= NOTABLE:
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
        if repeats.conflicts > repeats.short_conflicts or repeats.conflicting_rows > NOTABLE * repeats.n:
            yield repeats.conflicting_rows / repeats.n, _conflicts(repeats)
        if corpus.random_split is None and (repeats.repeated + repeats.near) > NOTABLE * repeats.n:
            yield repeats.repeated / repeats.n / 2, _repeated(repeats)
    split = corpus.random_split
    if split is not None and split.leaked >= max(NOTABLE * split.test_rows, 0.5):
        yield (
            split.leaked / split.test_rows,
            f"{_repeated(corpus.repeats[0])}: split at random, about {split.leaked:,.0f} of "
            f"{split.test_rows:,.0f} test rows would have a duplicate in train",
        )


def _conflicts(repeats: Repeats) -> str:
    texts = "1 text carries" if repeats.conflicts == 1 else f"{repeats.conflicts:,} texts carry"
    short = (
        f", {repeats.short_conflicts:,} of them under {SHORT_WORDS} words" if repeats.short_conflicts else ""
    )
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
    if corpus.label_tokens.tokens:
        yield corpus.label_tokens.covered / corpus.label_tokens.n, _tokens(corpus.name, corpus.label_tokens)
    if corpus.cues:
        named = "; ".join(map(_cue, corpus.cues[:NAMED]))
        yield (
            2 * abs(corpus.cues[0].auc - 0.5),
            f"{corpus.name}: texts are more likely to be sarcastic {named}",
        )


def _tokens(name: str, tokens: LabelTokens) -> str:
    named = ", ".join(map(_token, tokens.tokens[:NAMED]))
    more = len(tokens.tokens) - NAMED
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
    if whole is None or whole.leaked < max(NOTABLE * whole.n, 2):
        return
    sides = [(c.left, c.right.name) for c in overlaps if c.left.name == corpus.name]
    sides += [(c.right, c.left.name) for c in overlaps if c.right.name == corpus.name]
    sides.sort(key=lambda pair: -pair[0].leaked)
    named = ", ".join(f"{side.identical + side.near:,} in {other}" for side, other in sides[:NAMED])
    where = "other corpora" if len(sides) > 1 else sides[0][1]
    detail = f" ({named}{' and others' if len(sides) > NAMED else ''})" if len(sides) > 1 else ""
    advice = "exclude them before testing one on the other"
    yield whole.leaked / whole.n, f"{_duplicate_rows(whole, where)}{detail}: {advice}"
