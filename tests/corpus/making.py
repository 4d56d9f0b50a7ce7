"""Builds for tests: small vectors, little memory, and every output file compared by its bytes."""

from __future__ import annotations

from pathlib import Path
from random import Random

from corpus import reference
from corpus.adversary import WORDS, Dumps
from deadpan.corpus.build import Build, BuildOptions
from deadpan.corpus.settings import BenchmarkRules, Scope, Settings
from deadpan.storage import Manifest

VECTORS = {word: tuple(Random(word).gauss(0, 1) for _ in range(3)) for word in WORDS[:18]}


def settings_of(folder: Path, **scope: object) -> Settings:
    """Settings with a small file of vectors, so that no model must be here."""
    path = folder / "vectors.txt"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in VECTORS.items()), encoding="utf-8")
    return Settings(benchmark=BenchmarkRules(vectors=str(path)), scope=Scope(**scope))  # type: ignore[arg-type]


def run(
    folder: Path,
    paths: list[str],
    out: str = "out",
    scope: dict[str, object] | None = None,
    **options: object,
) -> Manifest:
    """Build to the end."""
    settings = settings_of(folder, **(scope or {}))
    build = Build(folder / out, settings, BuildOptions(**{"memory": "500MB", **options}))  # type: ignore[arg-type]
    manifest = build.run(paths)
    assert manifest is not None
    return manifest


def files(out: Path) -> dict[str, bytes]:
    """Every file people get."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and ".work" not in path.parts
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


def expected(dumps: Dumps, **options: object) -> reference.Corpus:
    """What the reference makes of them."""
    return reference.build(dumps.comments.values(), dumps.posts.values(), vectors=VECTORS, **options)  # type: ignore[arg-type]


def check(out: Path, manifest: Manifest, corpus: reference.Corpus) -> None:
    """The engine's files and counts are the reference's."""
    found = files(out)
    assert difference({name: found[name] for name in corpus.files}, corpus.files) == ""
    assert manifest.drops == {name: n for name, n in sorted(corpus.drops.items()) if n}
    assert {name: n for name, n in manifest.counts.items() if "/" in name} == dict(
        sorted(corpus.by_month.items())
    )
