"""Verification of a finished corpus: the rules that its files can violate, and a new build from its dumps.

A new build finds any change of a file, even if whoever changed it wrote new hashes into the manifest. That
the engine itself follows the rules is what the tests check, with a second implementation in plain Python.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.archives import open_bytes
from deadpan.corpus.benchmark import INDEXES, is_test, unfit
from deadpan.corpus.build import Build
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.dumps import Dump, find_dumps, known_dumps
from deadpan.corpus.engines.duckdb import any_of, literal, literals
from deadpan.corpus.lines import digest_at
from deadpan.corpus.release import OPTIONAL_FILES, RELEASES, files_hash, planned_files, release_card
from deadpan.corpus.rules import NOT_PLAIN, Forgotten, MarkerRule, has_url
from deadpan.corpus.settings import BuildOptions, CorpusSettings
from deadpan.corpus.write import MONTHS_FOLDER, RAW_SCHEMA
from deadpan.errors import ConfigError, DataError
from deadpan.formats.rows import LONGEST_FIELD
from deadpan.formats.sarc import RAW_COLUMNS, TSV_COLUMNS, IndexLine, read_comments, read_index
from deadpan.page import Summary, Table
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.storage import digest, read_json, read_manifest

_BATCH_ROWS = 10_000
_SHOWN = 3
_ISO_DATE, _HASH = re.compile(r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])"), re.compile("[0-9a-f]{16}")
# Comments with an ending, their share of sarcasm, and the chance of so many, from which it gives the label away.
_ENDINGS, _GIVEN_AWAY, _CHANCE = 5, 0.98, 1e-6


def verify_corpus(
    corpus: BuiltCorpus | Path | str,
    dumps: Sequence[str | Path] | None = None,
    *,
    work: Path | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Verification:
    """Check a corpus: its files must follow the rules, and be what a new build makes of its dumps.

    `dumps` are the files, folders or globs it was built from; by default, those the build used, if they are
    still there. Without any dumps only the rules that the files themselves can violate are checked. The
    report says what was not checked. `options` are those of a build, such as memory="8GB" or engine="spark";
    `work` is the folder for the new build, which needs as much room as the corpus and its working folder.
    """
    corpus = BuiltCorpus.of(corpus)
    report = Verification()
    config, settings = corpus.manifest.config, corpus.settings
    check_files(corpus, settings, report)
    check_releases(corpus, report)
    found = _dumps(corpus, dumps, report)
    if not found:
        report.unchecked.append("anything against the dumps, which are not there: name them")
        return report
    if not _check_inputs(corpus, found, bool(dumps), report):
        return report
    forgotten = Forgotten()
    with report.reading("forgotten.json"):
        forgotten = Forgotten.read(None, corpus.folder)
    allowed = BuildOptions(
        allow_truncated="allow_truncated" in config, mixed_months=True, packed=bool(config.get("bz2")), **options
    )
    with _room(work or corpus.folder / ".work") as folder:
        build = Build(folder / "out", settings, allowed, progress, forgotten, bool(config.get("synthetic")))
        build.run([str(dump.path) for dump in found])
        _compare(corpus, BuiltCorpus(build.out), report)
    return report


@contextmanager
def _room(parent: Path) -> Iterator[Path]:
    """Yield a temporary folder for a build; the next build removes what a killed run left."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".verify-", dir=parent)
    except OSError as bad:
        raise DataError(
            f"{parent}: cannot be written ({bad.strerror}): say where to build it again with --work"
        ) from None
    with folder:
        yield Path(folder.name)
    with suppress(OSError):  # it has something else
        parent.rmdir()


def _dumps(corpus: BuiltCorpus, given: Sequence[str | Path] | None, report: Verification) -> list[Dump]:
    """Return the dumps that were named, or those the build remembers, if all are there."""
    if given:
        return find_dumps([str(one) for one in given])[0]
    places, gone, unknown = known_dumps(corpus.folder / ".work", corpus.manifest.inputs)
    if places and unknown:
        report.check("dumps are those of the manifest", len(corpus.manifest.inputs), unknown)
    return [] if gone or unknown or not places else find_dumps(places)[0]


def _check_inputs(corpus: BuiltCorpus, dumps: Sequence[Dump], named: bool, report: Verification) -> bool:
    """Return whether these are the dumps of a corpus; other ones are an error if someone named them."""
    hashes = sorted(digest_at(dump.path) for dump in dumps)
    same = hashes == sorted(corpus.manifest.inputs.values())
    if named and not same:
        raise DataError(f"{corpus.folder}: built from other dumps than these: name the ones in its manifest")
    report.check("dumps are those of the manifest", len(dumps), [] if same else ["inputs"])
    return same


def _compare(corpus: BuiltCorpus, again: BuiltCorpus, report: Verification) -> None:
    """Compare every file and count of a corpus with those of a new build."""
    for name, facts in again.manifest.files.items():
        ours, rule = corpus.folder / name, f"{name.removesuffix('.bz2')} is what the dumps give"
        with report.reading(name):
            if name == "README.md":
                report.check(rule, 1, _card_difference(corpus, again))
                continue
            # Other bytes may be the same rows, written by another version of the Parquet library.
            same = digest(ours) == facts["sha256"]
            report.check(rule, 1, [] if same else _first_difference(name, ours, again.folder / name))
    listed = {*corpus.manifest.files} ^ {*again.manifest.files}
    report.check("the files are those that the dumps give", len(again.manifest.files), sorted(listed))
    with report.reading("the counts of the manifest"):
        for what in ("counts", "drops"):
            found, expected = getattr(corpus.manifest, what), getattr(again.manifest, what)
            names = sorted(n for n in {**found, **expected} if found.get(n, 0) != expected.get(n, 0))
            wrong = [f"{name} ({found.get(name, 0):,}, not {expected.get(name, 0):,})" for name in names]
            report.check(f"{what} are those of the dumps", len(expected), wrong)
        fields = ("command", "config", "seed", "inputs", "changes", "about")
        wrong = [name for name in fields if getattr(corpus.manifest, name) != getattr(again.manifest, name)]
        report.check("the manifest says what the dumps and settings give", len(fields), wrong)


def _card_difference(corpus: BuiltCorpus, again: BuiltCorpus) -> list[str]:
    """Compare the card with that of the new build, in the version and of the date of the corpus."""
    releases = corpus.folder / RELEASES
    text = release_card(again.folder, read_json(releases)) if releases.is_file() else ""
    expected = text or (again.folder / "README.md").read_text(encoding="utf-8")
    found = (corpus.folder / "README.md").read_text(encoding="utf-8")
    pairs = enumerate(zip_longest(found.splitlines(), expected.splitlines()), 1)
    return next(([f"README.md:{number}"] for number, (one, other) in pairs if one != other), [])


def _first_difference(name: str, ours: Path, again: Path) -> list[str]:
    read = _parquet_rows if name.endswith(".parquet") else _lines
    pairs = enumerate(zip_longest(read(ours), read(again)), 1)
    return next(([f"{name}:{number}"] for number, (one, other) in pairs if one != other), [])


def _lines(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as file:
        yield from file


def _parquet_rows(path: Path) -> Iterator[list[str]]:
    query = f"SELECT {', '.join(RAW_COLUMNS)} FROM {literal(str(path))}"
    for batch in duckdb.connect().sql(query).to_arrow_reader(_BATCH_ROWS):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield ["" if cell is None else str(cell) for cell in row]


# ---------------------------------------------------------------- the report

# Errors of reading a file that is not what a build wrote; which one depends on the damage.
_DAMAGED = (DataError, ConfigError, duckdb.Error, pa.ArrowException, csv.Error, OSError, EOFError,
            LookupError, TypeError, ValueError, AttributeError)  # fmt: skip


@dataclass(slots=True)
class Verification(Result):
    """Rules with the number of things checked, examples of what violates them, and what was not checked."""

    checked: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)

    def check(self, rule: str, count: int, faults: list[str]) -> None:
        """Record a check of `count` things."""
        self.checked[rule] = self.checked.get(rule, 0) + count
        if faults:
            self.wrong.setdefault(rule, []).extend(faults[:_SHOWN])

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Record an error of reading as a violation, since a changed file may have any contents."""
        try:
            yield
        except _DAMAGED as bad:
            reason = (str(bad).splitlines() or [type(bad).__name__])[0][:160]
            self.check(f"{what} can be read", 1, [reason])

    @property
    def sound(self) -> bool:
        return not self.wrong

    def summary(self) -> Summary:
        rows = tuple((rule, n, "violated" if rule in self.wrong else "holds") for rule, n in self.checked.items())
        faults = [f"{rule}: wrong in {', '.join(wrong[:_SHOWN])}" for rule, wrong in self.wrong.items()]
        missing = [f"Not checked: {'; '.join(self.unchecked)}."] if self.unchecked else []
        verdict = "Every rule holds." if not self.unchecked else "Every rule that was checked holds."
        if not self.sound:
            verdict = f"{len(self.wrong)} rules are violated."
        return Summary((Table(("rule", "checked", "result"), rows),), (*faults, *missing, verdict))

    def as_dict(self) -> dict[str, object]:
        return {"sound": self.sound, "checked": self.checked, "wrong": self.wrong, "unchecked": self.unchecked}


# ---------------------------------------------------------------- rules that need no dumps


def check_files(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check every rule that can be checked in the files of a corpus alone."""
    with report.reading("the list of files"):
        _check_names(corpus, settings, report)
    with report.reading("raw/sarc.parquet"):
        _check_rows(corpus, settings, report)
        _check_forms(corpus, report)
    with report.reading("the counts of the manifest"):
        _check_counts(corpus, report)
    with report.reading("raw/sequences.csv"):
        _check_sequences(corpus, report)
    for folder in ("main", *settings.benchmark.subsets):
        with report.reading(folder):
            _check_benchmark(corpus, folder, settings, report)
            _check_labels(corpus, folder, report)
    with report.reading("the last words of raw/sarc.parquet"):
        report.check("no last word gives the label away", corpus.manifest.counts["comments"], giveaways(corpus))


def _check_names(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check that there are the files of a build, with their hashes, and no others in its folders."""
    manifest, root = corpus.manifest, corpus.folder
    faults = [
        name
        for name, facts in manifest.files.items()
        if not (root / name).is_file() or digest(root / name) != facts["sha256"]
    ]
    report.check("files match the manifest", len(manifest.files), faults)
    wanted = set(planned_files(settings, bool(manifest.config.get("bz2"))))
    folders = ("raw", MONTHS_FOLDER, "main", *settings.benchmark.subsets)
    found = [path for name in folders for path in (root / name).rglob("*") if path.is_file()]
    there = {path.relative_to(root).as_posix() for path in found}
    listed = set(manifest.files)
    month_file = re.compile(rf"{MONTHS_FOLDER}/month=\d{{4}}-\d{{2}}/sarc\.parquet")
    known = {name for name in listed if name in OPTIONAL_FILES or month_file.fullmatch(name)}
    faults = sorted({*(wanted - listed), *(listed - wanted - known), *(there - listed)})
    report.check("the manifest lists the files of a build", len(wanted), faults)
    sizes = [name for name, facts in manifest.files.items() if (root / name).stat().st_size != facts["bytes"]]
    report.check("sizes are those of the manifest", len(manifest.files), sizes)
    stats, counts = read_json(root / "stats.json"), manifest.counts
    wrong = [name for name in ("comments", "sarcastic") if counts[name] != stats["totals"][name]]
    wrong += ["sequences"] if counts["sequences"] != stats["sequences"]["count"] else []
    wrong += [f"drops: {name}" for name, n in stats["drops"].items() if manifest.drops.get(name) != n]
    wrong += ["command"] if manifest.command != "corpus build" else []
    wrong += ["seed"] if manifest.seed != settings.seed else []
    wrong += ["about"] if not manifest.about or f"{counts['comments']:,} comments" not in manifest.about.facts else []
    report.check("the manifest agrees with stats.json and itself", 7, wrong)


def _check_rows(corpus: BuiltCorpus, settings: CorpusSettings, report: Verification) -> None:
    """Check the rules about the rows of sarc.parquet, each as a query for the ids that violate it."""
    months = sorted((corpus.folder / MONTHS_FOLDER).glob("*/sarc.parquet"))
    files = [corpus.parquet, *months]
    faults = [path.name for path in files if not pq.read_schema(path).equals(RAW_SCHEMA)]
    report.check("Parquet files have the columns of a raw corpus", len(files), faults)
    rules, scope, rows = settings.text, settings.scope, literal(str(corpus.parquet))
    spaced = [f"regexp_matches({name}, {literal(f'^ | $|{NOT_PLAIN}')})" for name in ("comment", "parent_comment")]
    outside = [f"date < {literal(scope.first_month)}"] if scope.first_month else []
    outside += [f"date > {literal(scope.last_month)}"] if scope.last_month else []
    violated = {
        "no comment is empty": "comment = ''",
        "no comment is by a deleted author": any_of("author", rules.deleted),
        "no comment contains a link": has_url("comment", rules),
        "comments are ASCII": "strlen(comment) <> length(comment)" if rules.ascii_only else "false",
        "white space is single spaces": " OR ".join(spaced),
        "sincere comments end in no marker": f"label = 0 AND {MarkerRule(rules).marked('comment')}",
        "labels are 0 or 1": "label NOT IN (0, 1)",
        "date is the month of created_utc": ("date <> strftime(make_timestamp(created_utc * 1000000), '%Y-%m')"),
        "months are in the requested range": " OR ".join(outside) or "false",
    }
    queries = {rule: f"SELECT id FROM {rows} WHERE {condition}" for rule, condition in violated.items()}
    queries["every id occurs once"] = f"SELECT id FROM {rows} GROUP BY id HAVING count(*) > 1"
    queries["rows are sorted by created_utc and id"] = (
        f"SELECT id FROM (SELECT id, created_utc, lag((created_utc, id)) OVER () AS before FROM {rows})"
        " WHERE before >= (created_utc, id)"
    )
    if scope.drop_under_sarcasm:
        queries["nothing answers a sarcastic comment"] = (
            f"SELECT c.id FROM {rows} c JOIN {rows} p ON c.parent_id = p.id WHERE p.label = 1"
            " AND c.parent_id <> c.link_id"
        )
    if months:
        columns = ", ".join(RAW_COLUMNS)
        whole, parts = f"SELECT {columns} FROM {rows}", f"read_parquet({literals(months)}, filename=true)"
        by_month = f"SELECT {columns} FROM {parts}"
        queries["files by month have the rows of sarc.parquet"] = (
            f"SELECT id FROM (({by_month} EXCEPT ALL {whole}) UNION ALL ({whole} EXCEPT ALL {by_month}))"
            f" UNION ALL SELECT id FROM {parts} WHERE NOT contains(filename, 'month=' || date)"
        )
    connection = duckdb.connect()
    ((total,),) = connection.execute(f"SELECT count(*) FROM {rows}").fetchall()
    for rule, query in queries.items():
        found = connection.execute(f"SELECT id FROM ({query}) LIMIT {_SHOWN}").fetchall()
        report.check(rule, total, [id for (id,) in found])


def _check_forms(corpus: BuiltCorpus, report: Verification) -> None:
    """Check that sarc.csv and sarc.tsv have the rows of sarc.parquet."""
    forms = {
        "sarc.csv": (_csv_rows(corpus.path("raw/sarc.csv")), len(RAW_COLUMNS)),
        "sarc.tsv": (
            (line.decode("utf-8").rstrip("\n").split("\t") for line in _lines(corpus.path("raw/sarc.tsv"))),
            len(TSV_COLUMNS),
        ),
    }
    for name, (rows, width) in forms.items():
        count, faults = 0, []
        for ours, row in zip_longest(_parquet_rows(corpus.parquet), rows):
            count += 1
            if ours is None or row is None or ours[:width] != row:
                faults.append(f"raw/{name}: row {count}")
                break
        report.check(f"{name} has the rows of sarc.parquet", count, faults)


def _csv_rows(path: Path) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_FIELD)
    with open_bytes(path) as file:
        rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        next(rows)
        yield from rows


def _check_counts(corpus: BuiltCorpus, report: Verification) -> None:
    """Check that every line of the dumps is kept or dropped for one reason."""
    counts, drops = corpus.manifest.counts, corpus.manifest.drops
    counted = sum(n for name, n in counts.items() if "/" in name) + drops.get("unreadable", 0)
    kept = sum(n for name, n in counts.items() if name.endswith("/kept"))
    faults = []
    if counts["lines"] != counted:
        faults.append(f"{counts['lines']:,} lines, {counted:,} accounted for")
    if kept != counts["comments"]:
        faults.append(f"{kept:,} kept by month, {counts['comments']:,} written")
    report.check("every line is kept or dropped for one reason", counts["lines"], faults)


def _check_sequences(corpus: BuiltCorpus, report: Verification) -> None:
    """Check order, labels and parents of the sequences against the raw corpus."""
    lines = list(corpus.index("raw/sequences.csv"))
    order = [(line.ancestors[0], line.last) for line in lines]
    unsorted = [f"{one} {other}" for one, other in pairwise(order) if one >= other]
    report.check("sequences are sorted, one per last ancestor", len(lines), unsorted)
    wanted = {id for line in lines for id in line.responses}
    facts = _reply_facts(corpus, wanted)
    faults = [line.last for line in lines if not _line_holds(line, facts)]
    report.check("replies are kept, sorted, and one is sarcastic", len(lines), faults)
    keys = [id for id, _ in corpus.entries("raw")]
    ids = set(keys)
    lost = [id for line in lines for id in line.ids if id not in ids]
    report.check("comments.json has every id of the sequences", len(ids), lost)
    report.check("comments.json is sorted", len(keys), [b for a, b in pairwise(keys) if a >= b])


def _reply_facts(corpus: BuiltCorpus, wanted: Container[str]) -> dict[str, tuple[int, str, int]]:
    """Return label, parent and time of some comments of the raw table."""
    query = f"SELECT id, label, parent_id, created_utc FROM {literal(str(corpus.parquet))}"
    return {
        id: (label, parent, moment)
        for batch in duckdb.connect().sql(query).to_arrow_reader(_BATCH_ROWS)
        for id, label, parent, moment in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if id in wanted
    }


def _line_holds(line: IndexLine, facts: dict[str, tuple[int, str, int]]) -> bool:
    if not any(line.labels) or not all(id in facts for id in line.responses):
        return False
    replies = [facts[id] for id in line.responses]
    moments = [(moment, id) for (_, _, moment), id in zip(replies, line.responses, strict=True)]
    return moments == sorted(moments) and all(
        parent == line.last and bool(label) == indexed
        for (label, parent, _), indexed in zip(replies, line.labels, strict=True)
    )


def _check_benchmark(corpus: BuiltCorpus, folder: str, settings: CorpusSettings, report: Verification) -> None:
    """Check that replies fit, that pairs have one of each label, and that no id is in both train and test."""
    rules, entries = settings.benchmark, dict(corpus.entries(folder))
    sides: dict[str, set[str]] = {"train": set(), "test": set()}

    def fits(line: IndexLine, side: str, balance: str) -> bool:
        is_pair = balance == "unbalanced" or sorted(line.labels) == [False, True]
        on_side = is_test(line.ancestors[0], rules, settings.seed) == (side == "test")
        there = all(id in entries for id in line.ids)
        return (
            is_pair
            and on_side
            and there
            and any(line.labels)
            and not any(unfit(entries[id]["text"], rules) for id in line.responses)
        )

    for side, ids in sides.items():
        for balance in ("balanced", "unbalanced"):
            lines = list(corpus.index(f"{folder}/{side}-{balance}.csv"))
            ids.update(id for line in lines for id in line.ids)
            faults = [line.last for line in lines if not fits(line, side, balance)]
            report.check(f"{folder}: replies, pairs and splits follow the rules", len(lines), faults)
    both = sorted(sides["train"] & sides["test"])
    report.check(f"{folder}: no id is in both train and test", sum(map(len, sides.values())), both)


def _check_labels(corpus: BuiltCorpus, folder: str, report: Verification) -> None:
    """Compare every label of a benchmark with the raw table, and every path and text with those of raw."""
    names = [f"{folder}/{index}.csv" for index in INDEXES]
    lines = [line for name in names for line in corpus.index(name)]
    wanted = {id for line in lines for id in line.responses}
    facts = _reply_facts(corpus, wanted)
    wrong = [
        f"{folder}: {id}"
        for line in lines
        for id, label in zip(line.responses, line.labels, strict=True)
        if facts.get(id, (None, "", 0))[:2] != (int(label), line.last)
    ]
    report.check(f"{folder}: labels and parents are those of the raw table", len(wanted), wrong)
    paths = {line.last: line.ancestors for line in corpus.index("raw/sequences.csv")}
    wrong = [line.last for line in lines if paths.get(line.last) != line.ancestors]
    report.check(f"{folder}: paths are those of raw/sequences.csv", len(lines), wrong)
    entries = dict(corpus.entries(folder))
    raw = corpus.texts("raw", entries)
    wrong = [id for id, entry in entries.items() if raw.get(id) != entry]
    report.check(f"{folder}: comments.json has the texts of raw/comments.json", len(entries), wrong)


def giveaways(corpus: BuiltCorpus) -> list[str]:
    """Return endings that only sarcastic comments have: what a marker that was not removed whole leaves behind.

    An ending is the last word, or the signs at the end of a text. It gives the label away if five comments or more
    have it, almost all of them sarcastic, and far more than their share of all comments would explain by chance.
    """
    rows = literal(str(corpus.parquet))
    ending = "UNNEST([regexp_extract(comment, '[^ ]*$'), regexp_extract(comment, '[^A-Za-z0-9 ]+$')])"
    query = (
        f"SELECT ending, count(*), sum(label)::BIGINT FROM (SELECT DISTINCT id, label, {ending} AS ending FROM {rows})"
        f" WHERE ending <> '' GROUP BY 1 HAVING count(*) >= {_ENDINGS} AND avg(label) >= {_GIVEN_AWAY}"
        " ORDER BY 2 DESC, 1"
    )
    with closing(duckdb.connect()) as connection:
        found = connection.execute(query).fetchall()
    counts = corpus.manifest.counts
    share = counts["sarcastic"] / max(counts["comments"], 1)
    return [f"{ending!r} ({k} of {n} sarcastic)" for ending, n, k in found if share**k < _CHANCE]


# ---------------------------------------------------------------- versions


def check_releases(corpus: BuiltCorpus, report: Verification) -> None:
    """Check releases.json, what it lists, and every benchmark after a month, if there are any."""
    if (corpus.folder / RELEASES).is_file():
        with report.reading(RELEASES):
            _versions(corpus, report)
    for folder in sorted({path.parent for path in corpus.folder.glob("after-*/test-*.csv")}):
        with report.reading(folder.name):
            _after(corpus, folder, report)


def _versions(corpus: BuiltCorpus, report: Verification) -> None:
    releases = read_json(corpus.folder / RELEASES)
    numbers = [one["version"] for one in releases]
    faults = [] if numbers == list(range(1, len(releases) + 1)) else ["versions are not numbered from 1"]
    faults += [f"version {one['version']}" for one in releases[1:] if _ISO_DATE.fullmatch(one["date"]) is None]
    faults += [f"date of {b['version']}" for a, b in pairwise(releases) if a["date"] > b["date"]]
    for before, one in pairwise(releases):
        sum_of_all = before["comments"] + one["added"] - sum(one["withdrawn"].values())
        faults += [f"comments of version {one['version']}"] if sum_of_all != one["comments"] else []
        same = before["hash"] == one["hash"] and before["benchmark"] == one["benchmark"]
        faults += [f"hash of version {one['version']}"] if same or not _HASH.fullmatch(one["hash"]) else []
    report.check("versions have dates, hashes and sums that agree", len(releases), faults)
    faults, withdrawn = [], list[str]()
    for one in releases[1:]:
        name = f"withdrawn/{one['version']:04}.csv"
        first, *rows = (corpus.folder / name).read_text(encoding="utf-8").splitlines()
        reasons = Counter(row.partition(",")[2] for row in rows)
        faults += [name] if first != "id,reason" or reasons != one["withdrawn"] else []
        withdrawn = [row.partition(",")[0] for row in rows]
    report.check("withdrawn comments are those of releases.json", len(releases), faults)
    last = releases[-1]
    if last["hash"] == files_hash(corpus.manifest):
        same = last["comments"] == corpus.manifest.counts["comments"]
        report.check("the last version is this corpus", 1, [] if same else [RELEASES])
        query = f"SELECT id FROM {literal(str(corpus.parquet))} WHERE {any_of('id', withdrawn)} LIMIT {_SHOWN}"
        again = [id for (id,) in duckdb.connect().execute(query).fetchall()]
        report.check("comments withdrawn by the last version are not in it", len(withdrawn), again)
    else:
        report.unchecked.append(f"{RELEASES}, whose last version is not this corpus: run corpus update")


def _after(corpus: BuiltCorpus, folder: Path, report: Verification) -> None:
    """Compare a benchmark with the conversations of main whose texts are all new enough."""
    month = folder.name.removeprefix("after-")
    entries = dict(corpus.entries("main"))
    used: set[str] = set()
    for balance in ("balanced", "unbalanced"):
        lines = [line for side in ("train", "test") for line in corpus.index(f"main/{side}-{balance}.csv")]
        wanted = [line for line in lines if all(entries[id]["date"] >= month for id in line.ids)]
        used.update(id for line in wanted for id in line.ids)
        found = list(read_index(folder / f"test-{balance}.csv"))
        wrong = [f"{folder.name}/test-{balance}.csv"] if found != wanted else []
        report.check(f"{folder.name} has the conversations of main from {month} on", len(wanted), wrong)
    texts = dict(read_comments(folder / "comments.json"))
    wrong = sorted(id for id in {*texts, *used} if texts.get(id) != entries.get(id) or id not in used)
    report.check(f"{folder.name} has the texts of main", len(used), wrong)
    files = read_manifest(folder).files
    faults = [name for name, facts in files.items() if digest(folder / name) != facts["sha256"]]
    report.check(f"{folder.name}: files match its manifest", len(files), faults)
