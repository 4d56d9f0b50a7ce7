"""The rules that can be checked in the files of a corpus, without its dumps."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from deadpan.archives import open_bytes
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.built.verification import SHOWN, Verification
from deadpan.corpus.ingest.rules import NOT_PLAIN, MarkerRule, has_url
from deadpan.corpus.publish.assembly import RAW_SCHEMA
from deadpan.corpus.publish.benchmark import is_test, unfit
from deadpan.corpus.publish.foreign import OPTIONAL, planned_files
from deadpan.corpus.publish.outputs import MONTHS
from deadpan.corpus.settings import CorpusSettings
from deadpan.corpus.sql import any_of, literal, literals
from deadpan.formats.rows import LONGEST_FIELD
from deadpan.formats.sarc import RAW_COLUMNS, TSV_COLUMNS, IndexLine
from deadpan.storage import digest

ROWS_AT_ONCE = 10_000
_MONTH_FILE = rf"{MONTHS}/month=\d{{4}}-\d{{2}}/sarc\.parquet"


def check_files(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check every rule that can be checked in the files of a corpus alone."""
    with report.reading("the list of files"):
        _files(corpus, report)
        _names(corpus, settings, report)
    with report.reading("raw/sarc.parquet"):
        _columns(corpus, report)
        _rows(corpus, settings, report)
        _copies(corpus, report)
    with report.reading("the counts of the manifest"):
        _counts(corpus, report)
    with report.reading("raw/sequences.csv"):
        _sequences(corpus, report)
    for folder in ("main", *settings.benchmark.subsets):
        with report.reading(folder):
            _benchmark(corpus, folder, settings, report)


def _files(corpus: BuiltCorpus, report: Verification) -> None:
    faults = [
        name
        for name, facts in corpus.manifest.files.items()
        if not (corpus.folder / name).is_file() or digest(corpus.folder / name) != facts["sha256"]
    ]
    report.check("files match the manifest", len(corpus.manifest.files), faults)


def _names(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check that there are the files of a build, and no others in its folders."""
    manifest, root = corpus.manifest, corpus.folder
    wanted = set(planned_files(settings, bool(manifest.config.get("bz2"))))
    folders = ("raw", MONTHS, "main", *settings.benchmark.subsets)
    there = {
        path.relative_to(root).as_posix() for name in folders for path in (root / name).rglob("*")
        if path.is_file()
    }  # fmt: skip
    listed = set(manifest.files)
    known = {name for name in listed if name in OPTIONAL or re.fullmatch(_MONTH_FILE, name)}
    faults = sorted({*(wanted - listed), *(listed - wanted - known), *(there - listed)})
    report.check("the manifest lists the files of a build", len(wanted), faults)
    seed = manifest.seed == settings.seed
    report.check("the manifest has one seed", 1, [] if seed else ["manifest.json"])


def _columns(corpus: BuiltCorpus, report: Verification) -> None:
    files = [corpus.parquet, *month_files(corpus)]
    faults = [path.name for path in files if not pq.read_schema(path).equals(RAW_SCHEMA)]
    report.check("Parquet files have the columns of a raw corpus", len(files), faults)


def month_files(corpus: BuiltCorpus) -> list[Path]:
    """Return the Parquet files by month."""
    return sorted((corpus.folder / MONTHS).glob("*/sarc.parquet"))


def _rows(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check the rules about single rows, each as the condition that violates it."""
    rules, scope = settings.text, settings.scope
    ends = MarkerRule(rules).marked("comment")
    month = "strftime(make_timestamp(created_utc * 1000000), '%Y-%m')"
    broken = {
        "no comment is empty": "comment = ''",
        "no comment is by a deleted author": any_of("author", rules.deleted),
        "no comment contains a link": has_url("comment", rules),
        "comments are ASCII": "strlen(comment) <> length(comment)" if rules.ascii_only else "false",
        "white space is single spaces": _spaced("comment") + " OR " + _spaced("parent_comment"),
        "sincere comments end in no marker": f"label = 0 AND {ends}",
        "labels are 0 or 1": "label NOT IN (0, 1)",
        "date is the month of created_utc": f"date <> {month}",
        "months are in the requested range": _outside(scope.first_month, scope.last_month),
    }
    connection = duckdb.connect()
    source = literal(str(corpus.parquet))
    total = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    for rule, condition in broken.items():
        faults = connection.execute(f"SELECT id FROM {source} WHERE {condition} LIMIT {SHOWN}").fetchall()
        report.check(rule, total, [id for (id,) in faults])
    _across_rows(connection, source, total, scope.drop_under_sarcasm, report)


def _across_rows(
    connection: duckdb.DuckDBPyConnection, source: str, total: int, drop_under: bool, report: Verification
) -> None:
    twice = connection.execute(
        f"SELECT id FROM {source} GROUP BY id HAVING count(*) > 1 LIMIT {SHOWN}"
    ).fetchall()
    report.check("every id occurs once", total, [id for (id,) in twice])
    unsorted = connection.execute(
        f"SELECT id FROM (SELECT id, created_utc, lag((created_utc, id)) OVER () AS before FROM {source})"
        f" WHERE before >= (created_utc, id) LIMIT {SHOWN}"
    ).fetchall()
    report.check("rows are sorted by created_utc and id", total, [id for (id,) in unsorted])
    if drop_under:
        below = connection.execute(
            f"SELECT c.id FROM {source} c JOIN {source} p ON c.parent_id = p.id WHERE p.label = 1"
            f" AND c.parent_id <> c.link_id LIMIT {SHOWN}"
        ).fetchall()
        report.check("nothing answers a sarcastic comment", total, [id for (id,) in below])


def _spaced(column: str) -> str:
    odd = f"^ | $|{NOT_PLAIN}"
    return f"regexp_matches({column}, {literal(odd)})"


def _outside(first: str, last: str) -> str:
    tests = [f"date < {literal(first)}"] if first else []
    tests += [f"date > {literal(last)}"] if last else []
    return " OR ".join(tests) or "false"


def _copies(corpus: BuiltCorpus, report: Verification) -> None:
    """Check that sarc.csv and sarc.tsv have the rows of sarc.parquet."""
    forms: dict[str, tuple[Callable[[], Iterator[list[str]]], int]] = {
        "sarc.csv": (lambda: _csv(corpus), len(RAW_COLUMNS)),
        "sarc.tsv": (lambda: _tsv(corpus), len(TSV_COLUMNS)),
    }
    _month_files(corpus, report)
    for name, (read, width) in forms.items():
        count, faults = 0, []
        for ours, row in zip_longest(_parquet(corpus), read()):
            count += 1
            if ours is None or row is None or ours[:width] != row:
                faults.append(f"raw/{name}: row {count}")
                break
        report.check(f"{name} has the rows of sarc.parquet", count, faults)


def _month_files(corpus: BuiltCorpus, report: Verification) -> None:
    """Check that the files by month have the rows of sarc.parquet."""
    months = literals(month_files(corpus))
    columns = ", ".join(RAW_COLUMNS)
    whole, connection = literal(str(corpus.parquet)), duckdb.connect()
    ((total,),) = connection.execute(f"SELECT count(*) FROM {whole}").fetchall()
    if not total:
        return
    parts = f"SELECT {columns} FROM read_parquet({months}, filename=true)"
    wrong = connection.execute(
        f"({parts} EXCEPT ALL SELECT {columns} FROM {whole}) UNION ALL"
        f" (SELECT {columns} FROM {whole} EXCEPT ALL {parts}) LIMIT {SHOWN}"
    ).fetchall()
    misplaced = connection.execute(
        f"SELECT id FROM read_parquet({months}, filename=true) WHERE NOT contains(filename, 'month=' || date)"
        f" LIMIT {SHOWN}"
    ).fetchall()
    place = RAW_COLUMNS.index("id")
    report.check(
        "files by month have the rows of sarc.parquet",
        total,
        [row[place] for row in wrong] + [id for (id,) in misplaced],
    )


def _parquet(corpus: BuiltCorpus) -> Iterator[list[str]]:
    query = f"SELECT {', '.join(RAW_COLUMNS)} FROM {literal(str(corpus.parquet))}"
    for batch in duckdb.connect().sql(query).to_arrow_reader(ROWS_AT_ONCE):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [str(cell) for cell in row]


def _csv(corpus: BuiltCorpus) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_FIELD)
    with open_bytes(corpus.path("raw/sarc.csv")) as file:
        rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        next(rows)
        yield from rows


def _tsv(corpus: BuiltCorpus) -> Iterator[list[str]]:
    with open_bytes(corpus.path("raw/sarc.tsv")) as file:
        for line in file:
            yield line.decode("utf-8").rstrip("\n").split("\t")


def _counts(corpus: BuiltCorpus, report: Verification) -> None:
    """Check that every line of the dumps is kept or dropped for one reason."""
    counts, drops = corpus.manifest.counts, corpus.manifest.drops
    by_month = sum(n for name, n in counts.items() if "/" in name)
    faults = []
    if counts["lines"] != by_month + drops.get("unreadable", 0):
        faults.append(f"{counts['lines']:,} lines, {by_month + drops.get('unreadable', 0):,} accounted for")
    kept = sum(n for name, n in counts.items() if name.endswith("/kept"))
    if kept != counts["comments"]:
        faults.append(f"{kept:,} kept by month, {counts['comments']:,} written")
    report.check("every line is kept or dropped for one reason", counts["lines"], faults)


def _sequences(corpus: BuiltCorpus, report: Verification) -> None:
    """Check order, labels and parents of the sequences against the raw corpus."""
    labels = _facts_of_replies(corpus)
    ids = {id for id, _ in corpus.entries("raw")}
    lines = list(corpus.index("raw/sequences.csv"))
    order = [(line.ancestors[0], line.last) for line in lines]
    report.check(
        "sequences are sorted, one per last ancestor",
        len(lines),
        [f"{one} {other}" for one, other in pairwise(order) if one >= other],
    )
    faults = [line.last for line in lines if not _line_holds(line, labels)]
    report.check("replies are kept, sorted, and one is sarcastic", len(lines), faults)
    lost = [id for line in lines for id in line.ids if id not in ids]
    report.check("comments.json has every id of the sequences", len(ids), lost)
    keys = [id for id, _ in corpus.entries("raw")]
    report.check("comments.json is sorted", len(keys), [b for a, b in pairwise(keys) if a >= b])


def _facts_of_replies(corpus: BuiltCorpus) -> dict[str, tuple[int, str, int]]:
    """Return (label, parent, created_utc) of the comments that are in a sequence."""
    wanted = {id for line in corpus.index("raw/sequences.csv") for id in line.responses}
    query = f"SELECT id, label, parent_id, created_utc FROM {literal(str(corpus.parquet))}"
    facts: dict[str, tuple[int, str, int]] = {}
    for batch in duckdb.connect().sql(query).to_arrow_reader(ROWS_AT_ONCE):
        for row in batch.to_pylist():
            if row["id"] in wanted:
                facts[row["id"]] = (row["label"], row["parent_id"], row["created_utc"])
    return facts


def _line_holds(line: IndexLine, facts: dict[str, tuple[int, str, int]]) -> bool:
    if not any(line.labels) or not all(id in facts for id in line.responses):
        return False
    replies = [facts[id] for id in line.responses]
    moments = [(moment, id) for (_, _, moment), id in zip(replies, line.responses, strict=True)]
    return moments == sorted(moments) and all(
        parent == line.last and bool(label) == indexed
        for (label, parent, _), indexed in zip(replies, line.labels, strict=True)
    )


def _benchmark(corpus: BuiltCorpus, folder: str, settings: CorpusSettings, report: Verification) -> None:
    """Check that replies fit, that pairs have one of each label, and that no id is in both train and test."""
    entries = dict(corpus.entries(folder))
    sides: dict[str, set[str]] = {"train": set(), "test": set()}
    for side in ("train", "test"):
        for balance in ("balanced", "unbalanced"):
            lines = list(corpus.index(f"{folder}/{side}-{balance}.csv"))
            sides[side].update(id for line in lines for id in line.ids)
            faults = [line.last for line in lines if not _fits(line, entries, settings, side, balance)]
            report.check(
                f"{folder}: replies, pairs and splits follow the rules",
                len(lines),
                faults,
            )
    both = sorted(sides["train"] & sides["test"])
    report.check(f"{folder}: no id is in both train and test", sum(map(len, sides.values())), both)


def _fits(
    line: IndexLine, entries: dict[str, dict[str, Any]], settings: CorpusSettings, side: str, balance: str
) -> bool:
    if balance == "balanced" and sorted(line.labels) != [False, True]:
        return False
    if not any(line.labels) or is_test(line.ancestors[0], settings.benchmark, settings.seed) != (
        side == "test"
    ):
        return False
    return all(id in entries for id in line.ids) and not any(
        unfit(entries[id]["text"], settings.benchmark) for id in line.responses
    )
