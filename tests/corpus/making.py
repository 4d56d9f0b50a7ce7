"""Builds for tests: small vectors, little memory, and every output file compared byte by byte."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from corpus.adversary import WORDS, Dumps
from corpus.oracle import Selection, contents, select, statistics, unique
from deadpan.corpus.build import Build
from deadpan.corpus.settings import BenchmarkRules, BuildOptions, CorpusSettings, Scope
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.storage import Manifest
from deadpan.text import sarc_tokens

VECTORS = {word: tuple(Random(word).gauss(0, 1) for _ in range(3)) for word in WORDS[:18]}


def settings_of(folder: Path, **scope: object) -> CorpusSettings:
    """CorpusSettings with a small file of vectors, so that no model must be here."""
    path = folder / "vectors.txt"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in VECTORS.items()), encoding="utf-8")
    return CorpusSettings(benchmark=BenchmarkRules(vectors=str(path)), scope=Scope(**scope))  # type: ignore[arg-type]


def run(
    folder: Path, paths: list[str], out: str = "out", scope: dict[str, object] | None = None, **options: object
) -> Manifest:
    """Build to the end."""
    settings = settings_of(folder, **(scope or {}))
    build = Build(folder / out, settings, BuildOptions(**{"memory": "500MB", **options}))  # type: ignore[arg-type]
    manifest = build.run(paths)
    assert manifest is not None
    return manifest


def files(out: Path) -> dict[str, bytes]:
    """Every file people get."""
    current = out / ".current" if (out / ".current").exists() else out  # a copy has no links
    assert all(path.exists() for path in out.glob("*"))  # no link leads nowhere
    return {
        path.relative_to(current).as_posix(): path.read_bytes()
        for path in sorted(current.glob("*/**/*")) + sorted(current.glob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def difference(ours: dict[str, bytes], theirs: dict[str, bytes]) -> str:
    """The first line that differs, rather than two megabytes of bytes; empty if nothing does."""
    if ours.keys() != theirs.keys():
        return f"files: {sorted(ours.keys() ^ theirs.keys())}"
    for name in sorted(ours):
        if ours[name] != theirs[name]:
            one, other = ours[name].split(b"\n"), theirs[name].split(b"\n")
            pairs = enumerate(zip(one, other, strict=False), 1)
            at = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
            return f"{name}:{at}: {one[at - 1 : at]} is not {other[at - 1 : at]}"
    return ""


@dataclass
class Expected:
    """What a build must give."""

    files: dict[str, bytes]
    drops: Counter[str]
    counts: dict[str, int]


def expected(dumps: Dumps, forget: frozenset[str] = frozenset(), **scope: object) -> Expected:
    """What plain Python makes of them."""
    settings = CorpusSettings(scope=Scope(**scope))  # type: ignore[arg-type]
    selection = Selection(settings)
    names = sorted([*dumps.comments, *dumps.posts])
    tally = selection.tally
    selection.comments = unique(_lines(dumps.comments, names), "body", settings, tally)
    selection.posts = unique(_lines(dumps.posts, names), "title", settings, tally)
    select(selection, lambda author: author.lower() in forget)
    found = contents(selection, cosines)
    texts, drops = found.files(), Counter(tally.drops)
    stats = statistics(selection, found)  # counts some drops again
    texts["stats.json"] = (json.dumps(stats, ensure_ascii=False, indent=1) + "\n").encode()
    listed = [
        f"{names[dump]},{line}\n"
        for dump in range(len(names))
        for line in sorted(line for at, line in tally.unreadable if at == dump)[:100]
    ]
    if listed:
        texts["unreadable.csv"] = "".join(["file,line\n", *listed]).encode()
    totals = {
        "lines": tally.lines, "comments": len(found.rows), "sarcastic": stats["totals"]["sarcastic"],
        "sequences": stats["sequences"]["count"],
        "parents_without_text": stats["totals"]["parents_without_text"],
    }  # fmt: skip
    return Expected(texts, drops, {**totals, **dict(sorted(tally.by_month.items()))})


def _lines(texts: dict[str, bytes], names: list[str]) -> Iterator[tuple[tuple[int, int], bytes]]:
    for name, text in texts.items():
        for number, line in enumerate(text.split(b"\n"), 1):
            yield (names.index(name), number), line


def recount(out: Path, paths: Sequence[str], manifest: Manifest, **scope: object) -> None:
    """Compare a corpus of plain dumps with what plain Python makes of them."""
    dumps = Dumps()
    for path in map(Path, paths):
        (dumps.posts if path.name.startswith("RS_") else dumps.comments)[path.name] = path.read_bytes()
    check(out, manifest, expected(dumps, **scope))  # type: ignore[arg-type]


def cosines(left: Sequence[str], right: Sequence[str]) -> list[float]:
    return [cosine(one, other) for one, other in zip(left, right, strict=True)]


def cosine(one: str, other: str) -> float:
    size = len(next(iter(VECTORS.values())))
    sums = []
    for text in (one, other):
        known = [VECTORS[token] for token in sarc_tokens(text) if token in VECTORS]
        sums.append([sum(vector[place] for vector in known) for place in range(size)])
    lengths = [math.sqrt(sum(part * part for part in vector)) for vector in sums]
    if not all(lengths):
        return 0.0
    return sum(a * b for a, b in zip(*sums, strict=True)) / (lengths[0] * lengths[1])


def check(out: Path, manifest: Manifest, corpus: Expected) -> None:
    """The engine's files and counts are the reference's."""
    found = files(out)
    assert difference({name: found[name] for name in corpus.files if name in found}, corpus.files) == ""
    assert ("unreadable.csv" in found) == ("unreadable.csv" in corpus.files)
    assert manifest.drops == {name: n for name, n in sorted(corpus.drops.items()) if n}
    assert manifest.counts == corpus.counts


def synthetic_corpus(folder: Path) -> Path:
    """Build a corpus of two synthetic months and return its folder."""
    paths = synthesize_dumps(folder / "dumps", months=2, comments=20_000, form="gz").files
    run(folder, [str(path) for path in paths])
    return folder / "out"
