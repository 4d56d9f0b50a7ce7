"""Verification of a finished corpus: its files are compared with a recount of its dumps in plain Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb

from deadpan.archives import open_bytes
from deadpan.corpus.built.files_check import check_files
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.built.releases_check import check_releases
from deadpan.corpus.built.verification import SHOWN, Verification
from deadpan.corpus.ingest.digests import DIGESTS
from deadpan.corpus.ingest.dumps import Dump, find_dumps
from deadpan.corpus.ingest.forget import Forgotten, tombstone
from deadpan.corpus.ingest.places import digest_at, place_of
from deadpan.corpus.publish.accounts import UNREADABLE, unreadable_table
from deadpan.corpus.publish.card import corpus_card
from deadpan.corpus.recount.contents import Contents, Cosines, contents
from deadpan.corpus.recount.dumps import Recount
from deadpan.corpus.recount.selection import Recounted, Selection
from deadpan.corpus.recount.statistics import statistics
from deadpan.corpus.settings import EMBEDDED, CorpusSettings
from deadpan.corpus.sql import literal
from deadpan.errors import DataError
from deadpan.formats.sarc import RAW_COLUMNS
from deadpan.storage import read_json
from deadpan.validation import config_from

ROWS_AT_ONCE = 10_000


def verify_corpus(
    corpus: BuiltCorpus | Path | str,
    dumps: Sequence[str | Path] | None = None,
    *,
    sample: int | None = None,
    seed: int = 0,
) -> Verification:
    """Check a corpus against its dumps: every file is compared with what plain Python makes of them.

    `dumps` are the files, folders or globs it was built from; by default, those the build used, if they are
    still there. `sample` checks that many random threads only, in little memory. Without any dumps only the
    rules that the files themselves can violate are checked. The report says what was not checked.
    """
    corpus = BuiltCorpus.of(corpus)
    report = Verification()
    extra = ("bz2", "key", "allow_truncated", "synthetic", "release")
    raw = {name: value for name, value in corpus.manifest.config.items() if name not in extra}
    settings = config_from(raw, CorpusSettings)
    check_files(corpus, settings, report)
    check_releases(corpus, report)
    found = _dumps(corpus, dumps)
    if not found:
        report.unchecked.append("anything against the dumps, which are not there: name them")
        return report
    if not _check_inputs(corpus, found, bool(dumps), report):
        return report
    tombstones: frozenset[str] = frozenset()
    with report.reading("forgotten.json"):
        tombstones = Forgotten.read(None, corpus.folder).tombstones
    recount = Recount(found, settings, lambda author: tombstone(author) in tombstones)
    if sample is None:
        _compare_all(corpus, recount, report)
    else:
        with report.reading("a file of the sample"):
            _compare_sample(corpus, *recount.sample(sample, seed), report)
        report.unchecked.append(
            f"other threads than {sample:,} random ones; the statistics and drops against the dumps"
        )
    return report


def _dumps(corpus: BuiltCorpus, given: Sequence[str | Path] | None) -> list[Dump]:
    """Return the dumps that were named, or those the build remembers, if all are there."""
    if given:
        return find_dumps([str(one) for one in given])[0]
    known = corpus.folder / ".work" / DIGESTS
    places = list(read_json(known)) if known.is_file() else []
    return find_dumps(places)[0] if places and all(place_of(place).is_file() for place in places) else []


def _check_inputs(corpus: BuiltCorpus, dumps: Sequence[Dump], named: bool, report: Verification) -> bool:
    """Return whether these are the dumps of a corpus; other ones are an error if someone named them."""
    hashes = sorted(digest_at(dump.path) for dump in dumps)
    same = hashes == sorted(corpus.manifest.inputs.values())
    if named and not same:
        raise DataError(f"{corpus.folder}: built from other dumps than these: name the ones in its manifest")
    report.check("dumps are those of the manifest", len(dumps), [] if same else ["inputs"])
    return same


def _cosines(settings: CorpusSettings) -> Cosines:
    from deadpan.vectors import Vectors

    name = settings.benchmark.vectors
    vectors: Any = Vectors.embedded() if name == EMBEDDED else Vectors.read(Path(name))

    def cosines(left: Sequence[str], right: Sequence[str]) -> Sequence[float]:
        pairs = zip(vectors.sentences(left, pool="sum"), vectors.sentences(right, pool="sum"), strict=True)
        return [float((one * other).sum()) for one, other in pairs]

    return cosines


# ---------------------------------------------------------------- everything


def _compare_all(corpus: BuiltCorpus, recount: Recount, report: Verification) -> None:
    """Compare every file, the statistics, the counts, the card and the list of unreadable lines."""
    selection = recount.all()
    unreadable = recount.unreadable(selection.tally)
    expected = contents(selection, _cosines(selection.settings))
    for name, data in expected.files().items():
        with report.reading(name), open_bytes(corpus.path(name)) as file:
            fault = _first_difference(name, data, file.read())
            report.check(f"{name} is what the dumps give", data.count(b"\n"), fault)
    with report.reading("raw/sarc.parquet"):
        _compare_parquet(corpus, expected, report)
    tally = replace(selection.tally, drops=Counter(selection.tally.drops))  # statistics count some again
    stats = statistics(selection, expected)
    with report.reading("stats.json"):
        ours = read_json(corpus.folder / "stats.json")
        wrong = [name for name in {**ours, **stats} if ours.get(name) != stats.get(name)]
        spelled = json.dumps(stats, ensure_ascii=False, indent=1) + "\n"
        found = (corpus.folder / "stats.json").read_bytes()
        wrong += _first_difference("stats.json", spelled.encode(), found)
        report.check("stats.json is what the dumps give", len(stats), wrong)
    with report.reading("the counts of the manifest"):
        _compare_counts(corpus, tally, len(expected.rows), stats, report)
    months = sorted({row[RAW_COLUMNS.index("date")] for row in expected.rows})
    synthetic = bool(corpus.manifest.config.get("synthetic"))
    texts = {
        "README.md": corpus_card(stats, months, selection.settings, corpus.folder, synthetic),
        UNREADABLE: unreadable_table(unreadable),
    }
    for name, text in texts.items():
        with report.reading(name):
            path = corpus.folder / name
            absent = name == UNREADABLE and not path.is_file()
            found = unreadable_table([]).encode() if absent else path.read_bytes()
            fault = _first_difference(name, text.encode(), found)
            report.check(f"{name} is that of these dumps and settings", text.count("\n"), fault)


def _compare_counts(
    corpus: BuiltCorpus, tally: Recounted, comments: int, stats: dict[str, Any], report: Verification
) -> None:
    counts = {
        "lines": tally.lines, "comments": comments,
        "sarcastic": stats["totals"]["sarcastic"], "sequences": stats["sequences"]["count"], **tally.by_month,
    }  # fmt: skip
    report.check("counts are those of the dumps", len(counts), _differing(corpus.manifest.counts, counts))
    wrong = _differing(corpus.manifest.drops, tally.drops)
    report.check("drops are those of the dumps", len(tally.drops), wrong)


def _differing(ours: Any, theirs: Mapping[str, int]) -> list[str]:
    names = sorted({name for name in {**ours, **theirs} if ours.get(name, 0) != theirs.get(name, 0)})
    return [f"{name} ({ours.get(name, 0):,}, not {theirs.get(name, 0):,})" for name in names]


def _first_difference(name: str, expected: bytes, found: bytes) -> list[str]:
    if expected == found:
        return []
    pairs = zip_longest(expected.split(b"\n"), found.split(b"\n"))
    return [f"{name}:{next(n for n, (one, other) in enumerate(pairs, 1) if one != other)}"]


def _compare_parquet(corpus: BuiltCorpus, expected: Contents, report: Verification) -> None:
    faults = [
        f"raw/sarc.parquet: row {number}"
        for number, (one, other) in enumerate(zip_longest(expected.rows, _parquet_rows(corpus)), 1)
        if one != other
    ]
    report.check("raw/sarc.parquet is what the dumps give", len(expected.rows), faults[:SHOWN])


def _parquet_rows(corpus: BuiltCorpus) -> Iterator[list[str]]:
    query = f"SELECT {', '.join(RAW_COLUMNS)} FROM {literal(str(corpus.parquet))}"
    for batch in duckdb.connect().sql(query).to_arrow_reader(ROWS_AT_ONCE):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [str(cell) for cell in row]


# ---------------------------------------------------------------- a sample of threads


def _compare_sample(corpus: BuiltCorpus, selection: Selection, ids: set[str], report: Verification) -> None:
    """Compare what the files say about the comments of some threads."""
    expected = contents(selection, _cosines(selection.settings))
    place = RAW_COLUMNS.index("id")
    theirs = {row[place]: row for row in expected.rows if row[place] in ids}
    ours = {row[place]: row for row in _parquet_rows(corpus) if row[place] in ids}
    wrong = sorted(id for id in {**theirs, **ours} if theirs.get(id) != ours.get(id))
    report.check("raw rows of the sample are what the dumps give", len(ids), wrong)
    names = [name for name in expected.lines if name.endswith(".csv")]
    for name in sorted(names):
        wanted = {line for line in expected.lines[name] if _replies(line) & ids}
        with open_bytes(corpus.path(name)) as file:
            found = {line for line in (raw.decode() for raw in file) if _replies(line) & ids}
        faults = [line.split("|")[0].split(" ")[-1] for line in sorted(wanted ^ found)]
        report.check(f"{name} of the sample is what the dumps give", len(wanted), faults)
    for name in sorted(name for name in expected.lines if name.endswith(".json")):
        entries = {
            key: value for line in expected.lines[name] for key, value in json.loads(f"{{{line}}}").items()
        }
        ours_there = dict(corpus.entries(name.partition("/")[0]))
        asked = {id for id in entries if id in ids}
        faults = sorted(id for id in asked if entries[id] != ours_there.get(id))
        report.check(f"{name} of the sample is what the dumps give", len(asked), faults)


def _replies(line: str) -> set[str]:
    return set(line.split("|")[1].split(" ")) if line.count("|") == 2 else set()
