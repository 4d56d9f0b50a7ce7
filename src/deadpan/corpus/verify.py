"""A built corpus rechecked from its files alone: every rule that leaves a trace in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import Any

import duckdb

from deadpan.archives import open_bytes
from deadpan.config import config_from
from deadpan.corpus.benchmark import is_test, unfit
from deadpan.corpus.conversations import BuiltCorpus, IndexLine
from deadpan.corpus.outputs import RAW_COLUMNS, TSV_COLUMNS
from deadpan.corpus.rules import NOT_PLAIN, MarkerRule, any_of, has_url, literal
from deadpan.corpus.settings import Settings
from deadpan.storage import digest

SHOWN = 3
AT_ONCE = 10_000


@dataclass(slots=True)
class Report:
    """What was checked, how often, and what did not hold."""

    checked: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def check(self, rule: str, count: int, faults: list[str]) -> None:
        self.checked[rule] = self.checked.get(rule, 0) + count
        if faults:
            self.wrong.setdefault(rule, []).extend(faults[:SHOWN])

    @property
    def sound(self) -> bool:
        return not self.wrong


def verify(corpus: BuiltCorpus) -> Report:
    """Recheck everything; the report says what was looked at as well as what is wrong."""
    report = Report()
    raw = {k: v for k, v in corpus.manifest.config.items() if k not in ("bz2", "key")}
    settings = config_from(raw, Settings)
    _files(corpus, report)
    _rows(corpus, settings, report)
    _copies(corpus, report)
    _counts(corpus, report)
    _sequences(corpus, settings, report)
    for folder in ("main", *settings.benchmark.subsets):
        _benchmark(corpus, folder, settings, report)
    return report


def _files(corpus: BuiltCorpus, report: Report) -> None:
    faults = [
        name
        for name, facts in corpus.manifest.files.items()
        if not (corpus.folder / name).is_file() or digest(corpus.folder / name) != facts["sha256"]
    ]
    report.check("files are those of the manifest", len(corpus.manifest.files), faults)


def _rows(corpus: BuiltCorpus, settings: Settings, report: Report) -> None:
    """The rules one row can break, each as the condition that would show it."""
    rules, scope = settings.text, settings.scope
    ends = MarkerRule(rules).marked("comment")
    month = "strftime(make_timestamp(created_utc * 1000000), '%Y-%m')"
    broken = {
        "no comment is empty": "comment = ''",
        "no comment is deleted": any_of("author", rules.deleted) + " OR " + any_of("comment", rules.deleted),
        "no comment has a link": has_url("comment", rules),
        "comments are ASCII": "strlen(comment) <> length(comment)" if rules.ascii_only else "false",
        "white space is single spaces inside": _spaced("comment") + " OR " + _spaced("parent_comment"),
        "sincere comments end in no marker": f"label = 0 AND {ends}",
        "labels are 0 or 1": "label NOT IN (0, 1)",
        "date is the month of created_utc": f"date <> {month}",
        "months are those asked for": _outside(scope.first_month, scope.last_month),
    }
    connection = duckdb.connect()
    source = literal(str(corpus.parquet))
    total = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    for rule, condition in broken.items():
        found = connection.execute(f"SELECT id FROM {source} WHERE {condition} LIMIT {SHOWN}").fetchall()
        report.check(rule, total, [id for (id,) in found])
    _across_rows(connection, source, total, scope.drop_under_sarcasm, report)


def _across_rows(
    connection: duckdb.DuckDBPyConnection, source: str, total: int, drop_under: bool, report: Report
) -> None:
    twice = connection.execute(
        f"SELECT id FROM {source} GROUP BY id HAVING count(*) > 1 LIMIT {SHOWN}"
    ).fetchall()
    report.check("every id is there once", total, [id for (id,) in twice])
    unsorted = connection.execute(
        f"SELECT id FROM (SELECT id, created_utc, lag((created_utc, id)) OVER () AS before FROM {source})"
        f" WHERE before >= (created_utc, id) LIMIT {SHOWN}"
    ).fetchall()
    report.check("rows are in the order of created_utc and id", total, [id for (id,) in unsorted])
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


def _copies(corpus: BuiltCorpus, report: Report) -> None:
    """sarc.csv and sarc.tsv say what sarc.parquet says."""
    forms: dict[str, tuple[Callable[[], Iterator[list[str]]], int]] = {
        "sarc.csv": (lambda: _csv(corpus), len(RAW_COLUMNS)),
        "sarc.tsv": (lambda: _tsv(corpus), len(TSV_COLUMNS)),
    }
    for name, (read, width) in forms.items():
        count, faults = 0, []
        for ours, row in zip_longest(_parquet(corpus), read()):
            count += 1
            if ours is None or row is None or ours[:width] != row:
                faults.append(f"raw/{name}: row {count}")
                break
        report.check(f"{name} says what sarc.parquet says", count, faults)


def _parquet(corpus: BuiltCorpus) -> Iterator[list[str]]:
    query = f"SELECT {', '.join(RAW_COLUMNS)} FROM {literal(str(corpus.parquet))}"
    for batch in duckdb.connect().sql(query).to_arrow_reader(AT_ONCE):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [str(cell) for cell in row]


def _csv(corpus: BuiltCorpus) -> Iterator[list[str]]:
    with open_bytes(corpus.path("raw/sarc.csv")) as file:
        rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        next(rows)
        yield from rows


def _tsv(corpus: BuiltCorpus) -> Iterator[list[str]]:
    with open_bytes(corpus.path("raw/sarc.tsv")) as file:
        for line in file:
            yield line.decode("utf-8").rstrip("\n").split("\t")


def _counts(corpus: BuiltCorpus, report: Report) -> None:
    """Every line of the dumps is kept or dropped for one reason."""
    counts, drops = corpus.manifest.counts, corpus.manifest.drops
    by_month = sum(n for name, n in counts.items() if "/" in name)
    faults = []
    if counts["lines"] != by_month + drops.get("unreadable", 0):
        faults.append(f"{counts['lines']:,} lines, {by_month + drops.get('unreadable', 0):,} accounted for")
    kept = sum(n for name, n in counts.items() if name.endswith("/kept"))
    if kept != counts["comments"]:
        faults.append(f"{kept:,} kept by month, {counts['comments']:,} written")
    report.check("every line is accounted for", counts["lines"], faults)


def _sequences(corpus: BuiltCorpus, settings: Settings, report: Report) -> None:
    """Order, labels and parents of the sequences, against the raw corpus."""
    labels = _facts(corpus)
    ids = {id for id, _ in corpus.entries("raw")}
    lines = list(corpus.index("raw/sequences.csv"))
    order = [(line.ancestors[0], line.last) for line in lines]
    report.check(
        "sequences are in order, one for each last ancestor",
        len(lines),
        [f"{one} {other}" for one, other in pairwise(order) if one >= other],
    )
    faults = [line.last for line in lines if not _line_holds(line, labels)]
    report.check("replies are kept comments in order, one of them sarcastic", len(lines), faults)
    lost = [id for line in lines for id in line.ids if id not in ids]
    report.check("comments.json has every id of the sequences", len(ids), lost)
    keys = [id for id, _ in corpus.entries("raw")]
    report.check("comments.json is sorted", len(keys), [b for a, b in pairwise(keys) if a >= b])


def _facts(corpus: BuiltCorpus) -> dict[str, tuple[int, str, int]]:
    """(label, parent, created_utc) of the comments that are in a sequence."""
    wanted = {id for line in corpus.index("raw/sequences.csv") for id in line.responses}
    query = f"SELECT id, label, parent_id, created_utc FROM {literal(str(corpus.parquet))}"
    facts: dict[str, tuple[int, str, int]] = {}
    for batch in duckdb.connect().sql(query).to_arrow_reader(AT_ONCE):
        for row in batch.to_pylist():
            if row["id"] in wanted:
                facts[row["id"]] = (row["label"], row["parent_id"], row["created_utc"])
    return facts


def _line_holds(line: IndexLine, facts: dict[str, tuple[int, str, int]]) -> bool:
    if "1" not in line.labels or not all(id in facts for id in line.responses):
        return False
    found: list[Any] = [facts[id] for id in line.responses]
    moments = [(moment, id) for (_, _, moment), id in zip(found, line.responses, strict=True)]
    return moments == sorted(moments) and all(
        parent == line.last and str(label) == said
        for (label, parent, _), said in zip(found, line.labels, strict=True)
    )


def _benchmark(corpus: BuiltCorpus, folder: str, settings: Settings, report: Report) -> None:
    """Fitting replies, one of each in a pair, and no id on both sides."""
    entries = dict(corpus.entries(folder))
    sides: dict[str, set[str]] = {"train": set(), "test": set()}
    for side in ("train", "test"):
        for balance in ("balanced", "unbalanced"):
            lines = list(corpus.index(f"{folder}/{side}-{balance}.csv"))
            sides[side].update(id for line in lines for id in line.ids)
            faults = [line.last for line in lines if not _fits(line, entries, settings, side, balance)]
            report.check(
                f"{folder}: replies fit, pairs are one of each, posts are on their side", len(lines), faults
            )
    both = sorted(sides["train"] & sides["test"])
    report.check(f"{folder}: no id is in both train and test", sum(map(len, sides.values())), both)


def _fits(
    line: IndexLine, entries: dict[str, dict[str, Any]], settings: Settings, side: str, balance: str
) -> bool:
    labels = sorted(line.labels)
    if balance == "balanced" and labels != ["0", "1"]:
        return False
    if "1" not in labels or is_test(line.ancestors[0], settings.benchmark, settings.seed) != (side == "test"):
        return False
    return all(id in entries for id in line.ids) and not any(
        unfit(entries[id]["text"], settings.benchmark) for id in line.responses
    )
