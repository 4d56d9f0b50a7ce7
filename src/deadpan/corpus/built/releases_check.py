"""The rules about the versions of a corpus: lists of withdrawn comments, and after-cutoff benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.built.verification import SHOWN, Verification
from deadpan.corpus.publish.release import RELEASES, files_hash
from deadpan.corpus.sql import literal
from deadpan.formats.sarc import read_comments, read_index
from deadpan.storage import digest, read_json, read_manifest


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
    withdrawn: list[str] = []
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
        again = _in_corpus(corpus, withdrawn)
        report.check("comments withdrawn by the last version are not in it", len(withdrawn), again)
    else:
        report.unchecked.append(f"{RELEASES}, whose last version is not this corpus: run corpus update")


def _in_corpus(corpus: BuiltCorpus, ids: Sequence[str]) -> list[str]:
    """Return the first of some ids that the corpus has."""
    chosen = f"SELECT id FROM {literal(str(corpus.parquet))} WHERE id IN (SELECT unnest(?))"
    query = f"{chosen} ORDER BY id LIMIT {SHOWN}"
    return [id for (id,) in duckdb.connect().execute(query, [list(ids)]).fetchall()] if ids else []


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
