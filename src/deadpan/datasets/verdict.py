"""The leak report in sentences a reader cannot miss, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from deadpan.datasets.cues import Cue
from deadpan.datasets.sharing import Sharing
from deadpan.datasets.telling import Telling, TellingToken
from deadpan.datasets.twins import Crossing, Repeats, Side
from deadpan.duplicates import SHORT_WORDS

if TYPE_CHECKING:
    from deadpan.datasets.leaks import CorpusLeaks

GRAVE = 0.05
"""Share of test rows from which a score is worth nothing: systems in papers differ by less."""

NOTABLE = 0.005
"""Share of rows below which a find is in the report but not worth a sentence of its own."""

NAMED = 5
"""Telling tokens and traits named in a sentence."""

Graded = tuple[float, str]
"""How grave, and the sentence. Leaks across real splits (above 1) come before all that might become one."""


def verdict(
    corpora: Iterable[CorpusLeaks], crossings: Iterable[Crossing], contexts: Iterable[Sharing]
) -> list[str]:
    """Sentences on everything found, one that says so where there is nothing, one on what cannot be seen."""
    corpora = list(corpora)
    pairs = list(crossings)
    graded = [
        (sharing.right_share / 2, _share(sharing)) for sharing in contexts if sharing.right_share >= NOTABLE
    ]
    for corpus in corpora:
        graded += [*_splits(corpus), *_parts(corpus), *_shortcuts(corpus), *_elsewhere(corpus, pairs)]
    graded.sort(key=lambda sentence: -sentence[0])  # stable: equals stay in the order of the corpora
    said = [sentence for _, sentence in graded] or ["no leaks found"]
    whole = [corpus.name for corpus in corpora if corpus.random_split is not None]
    if whole:
        come = "comes" if len(whole) == 1 else "come"
        said.append(f"{', '.join(whole)} {come} in one part: leaks across splits cannot be seen there")
    return said


# ---------------------------------------------------------------- across splits


def _splits(corpus: CorpusLeaks) -> Iterator[Graded]:
    for crossing in corpus.crossings:
        side, source = crossing.right, crossing.left.name
        grade = side.leaked / side.n
        if grade >= GRAVE:
            advice = "scores on this split are not to be trusted"
        elif grade >= NOTABLE:
            advice = "take them out before scoring"
        else:
            advice = "too few to move a score much, but take them out"
        yield 1 + grade, f"{_twins(side, source)}: {advice}"
    for sharing in corpus.sharings:
        yield sharing.right_share / 2, _share(sharing)


def _twins(side: Side, source: str) -> str:
    sentence = f"{side.identical:,} of {side.n:,} texts of {side.name} stand word for word in {source}"
    if side.short:
        sentence += f" ({side.short:,} of them under {SHORT_WORDS} words)"
    if side.near:
        sentence += f", {side.near:,} more nearly so"
    return sentence


def _share(sharing: Sharing) -> str:
    rows = f"{_rows(sharing.right_rows)} of {sharing.right} ({sharing.right_share:.1%})"
    are = "is" if sharing.right_rows == 1 else "are"
    wording = {
        "speaker": f"{rows} {are} by people who also speak in {sharing.left}",
        "group": f"{rows} {are} of groups that also stand in {sharing.left}, which a split may not cross",
        "sequence": f"{rows} {are} of sequences that also stand in {sharing.left}",
        "context": f"the conversation before {rows} is also in {sharing.left}",
    }
    return wording[sharing.kind]


# ---------------------------------------------------------------- within a part


def _parts(corpus: CorpusLeaks) -> Iterator[Graded]:
    for repeats in corpus.repeats:
        # "yeah right" on both sides is life; a sentence on both sides is a mistake.
        if repeats.conflicts > repeats.short_conflicts or repeats.conflicting_rows > NOTABLE * repeats.n:
            yield repeats.conflicting_rows / repeats.n, _conflicts(repeats)
        if corpus.random_split is None and (repeats.repeated + repeats.near) > NOTABLE * repeats.n:
            yield repeats.repeated / repeats.n / 2, _repeated(repeats)
    split = corpus.random_split
    if split is not None and split.leaked >= max(NOTABLE * split.test_rows, 0.5):
        yield (
            split.leaked / split.test_rows,
            f"{_repeated(corpus.repeats[0])}: split at random, about {split.leaked:,.0f} of "
            f"{split.test_rows:,.0f} test rows would have a twin in train",
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
        f"and {repeats.near:,} have a near twin"
    )


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


# ---------------------------------------------------------------- shortcuts to the label


def _shortcuts(corpus: CorpusLeaks) -> Iterator[Graded]:
    if corpus.telling.tokens:
        yield corpus.telling.covered / corpus.telling.n, _tokens(corpus.name, corpus.telling)
    if corpus.cues:
        named = "; ".join(map(_cue, corpus.cues[:NAMED]))
        yield (
            2 * abs(corpus.cues[0].auc - 0.5),
            f"{corpus.name}: texts are likelier sarcastic {named}",
        )


def _tokens(name: str, telling: Telling) -> str:
    named = ", ".join(map(_token, telling.tokens[:NAMED]))
    more = len(telling.tokens) - NAMED
    return (
        f"{name}: {telling.covered:,} of {telling.n:,} texts have a token that nearly decides the label: "
        + named
        + (f" and {more:,} more" if more > 0 else "")
    )


def _token(token: TellingToken) -> str:
    label = "sarcastic" if token.sarcastic else "not"
    return f"{token.kind} {token.token!r} ({token.n:,} texts, {token.share:.1%} {label})"


def _cue(cue: Cue) -> str:
    more = cue.auc > 0.5
    if cue.counted:
        trait = f"with {'more' if more else 'fewer'} {cue.trait}"
    else:
        trait = f"{'with' if more else 'without'} {cue.trait}"
    best = f", {cue.accuracy:.0%} right where guessing is {cue.base:.0%}" if cue.rule else ""
    return f"{trait} (AUC {max(cue.auc, 1 - cue.auc):.2f}{best})"


# ---------------------------------------------------------------- across corpora


def _elsewhere(corpus: CorpusLeaks, crossings: list[Crossing]) -> Iterator[Graded]:
    """One sentence a corpus, however many others have texts of it."""
    whole = corpus.elsewhere
    if whole is None or whole.leaked < max(NOTABLE * whole.n, 2):
        return
    sides = [(c.left, c.right.name) for c in crossings if c.left.name == corpus.name]
    sides += [(c.right, c.left.name) for c in crossings if c.right.name == corpus.name]
    sides.sort(key=lambda pair: -pair[0].leaked)
    named = ", ".join(f"{side.identical + side.near:,} in {other}" for side, other in sides[:NAMED])
    where = "other corpora" if len(sides) > 1 else sides[0][1]
    detail = f" ({named}{' and others' if len(sides) > NAMED else ''})" if len(sides) > 1 else ""
    advice = "take them out before testing one on the other"
    yield whole.leaked / whole.n, f"{_twins(whole, where)}{detail}: {advice}"
