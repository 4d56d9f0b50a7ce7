"""Accounts of a build: statistics, counts, drops by reason, notes, and the card (README.md)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from deadpan.cards import DataFacts, HubConfig, Sizes, data_card
from deadpan.corpus.benchmark import SHARE_DIGITS, mean_share
from deadpan.corpus.engines.engine import Engine, parquet_files
from deadpan.corpus.label import Census
from deadpan.corpus.lines import Place
from deadpan.corpus.rows import Unit
from deadpan.corpus.rules import FORGOTTEN, Forgotten
from deadpan.corpus.settings import BuildOptions, CorpusSettings, month_name
from deadpan.corpus.write import MONTHS_FOLDER
from deadpan.storage import OutputPage, read_json, write_json, write_text
from deadpan.validation import encode

UNREADABLE = "unreadable.csv"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Account:
    """Everything a build tells besides its data."""

    stats: Mapping[str, Any]
    census: Census
    units: Sequence[Unit]
    duplicate_posts: int
    broken_chains: int
    benchmark_drops: Counter[str]
    settings: CorpusSettings
    options: BuildOptions
    forgotten: Forgotten
    synthetic: bool = False
    """The dumps were made up by `corpus synthesize`: nothing here may pass for Reddit."""

    def write_files(self, folder: Path) -> None:
        """Write stats.json, the card and, if there are any, unreadable lines and tombstones."""
        write_json(folder / "stats.json", self.stats)
        write_text(folder / "README.md", corpus_card(folder, self.settings, self._drops(), self.synthetic))
        places = [place.rpartition(":") for unit in self.units for place in unit.places]
        if places:
            table = io.StringIO()
            lines = [("file", "line"), *((name, line) for name, _, line in places)]
            csv.writer(table, lineterminator="\n").writerows(lines)
            write_text(folder / UNREADABLE, table.getvalue())
        if self.forgotten:
            write_json(folder / FORGOTTEN, self.forgotten.as_dict())

    def config(self) -> dict[str, Any]:
        """Return the settings, and what was allowed for this build."""
        config = {**encode(self.settings), "bz2": self.options.packed}
        if self.options.allow_truncated:
            config["allow_truncated"] = {unit.name: unit.damage for unit in self.units if unit.damage}
        if self.synthetic:
            config["synthetic"] = True
        return config

    def manifest_fields(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the manifest says besides the files."""
        return {
            "config": config,
            "seed": self.settings.seed,
            "inputs": _input_hashes(self.units),
            "counts": self._counts(),
            "drops": self._drops(),
            "about": self._about(),
        }

    def _about(self) -> OutputPage:
        totals = self.stats["totals"]
        share = 100 * totals["sarcastic"] / max(totals["comments"], 1)
        finding = ("Synthetic dumps, not Reddit's: " if self.synthetic else "") + (
            f"{totals['comments']:,} comments by {totals['authors']:,} authors, of which "
            f"{totals['sarcastic']:,} are marked sarcastic ({share:.2f}\u00a0%)."
        )
        title = f"A corpus from {'synthetic ' if self.synthetic else ''}dumps"
        facts = (f"{totals['comments']:,} comments", f"{totals['subreddits']:,} subreddits")
        return OutputPage(title, finding, facts, file="")

    def _counts(self) -> dict[str, int]:
        """Return totals, then the number of comments by month and reason."""
        counts = {
            "lines": sum(unit.count + unit.unreadable for unit in self.units if unit.kind == "comments"),
            "comments": self.stats["totals"]["comments"],
            "sarcastic": self.stats["totals"]["sarcastic"],
            "sequences": self.stats["sequences"]["count"],
            "parents_without_text": self.stats["totals"]["parents_without_text"],
        }
        cells = sorted(self.census.cells.items())
        return {**counts, **{f"{month_name(month)}/{reason}": n for (month, reason), n in cells}}

    def _drops(self) -> dict[str, int]:
        """Return the number of dropped comments, posts, sequences and replies by reason."""
        drops = Counter(self.census.reasons())
        drops["unreadable"] = sum(unit.unreadable for unit in self.units if unit.kind == "comments")
        drops["unreadable_posts"] = sum(unit.unreadable for unit in self.units if unit.kind == "posts")
        drops["duplicate_posts"] = self.duplicate_posts
        drops["broken_chain"] = self.broken_chains
        drops.update(self.benchmark_drops)
        return dict(sorted((+drops).items()))


def _input_hashes(units: Sequence[Unit]) -> dict[str, str]:
    """Return the hashes of the dumps by name; files with the same name get a number."""
    inputs: dict[str, str] = {}
    for unit in sorted(units, key=lambda unit: (unit.name, unit.sha256)):
        name, number = unit.name, 2
        while name in inputs:
            name, number = f"{unit.name} ({number})", number + 1
        inputs[name] = unit.sha256
    return inputs


def warnings_of(counts: Mapping[str, int], settings: CorpusSettings, units: Sequence[Unit]) -> list[str]:
    """Return warnings about a finished corpus, on every run, whether or not there was anything left to do."""
    notes = []
    if not counts["sarcastic"]:
        markers = ", ".join(settings.text.markers)
        notes.append(f"Warning: no kept comment ends in a marker ({markers}), so nothing is labelled sarcastic.")
    lost, comments = counts["parents_without_text"], counts["comments"]
    if lost and not any(unit.kind == "posts" for unit in units):
        notes.append(
            f"Warning: without dumps of submissions (RS_ files), {lost:,} of {comments:,} comments lack the text that "
            f"they answer: add them."
        )
    return notes


def skipped_note(paths: Sequence[Place]) -> list[str]:
    """Return a note that names the files of a folder that are no dumps."""
    if not paths:
        return []
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return [f"Not read, since they are not dumps: {', '.join(map(str, paths[:_SHOWN]))}{more}."]


def ingest_notes(units: Sequence[Unit], forgotten: Forgotten) -> list[str]:
    """Return notes on unreadable lines, truncated dumps, and names that match no author."""
    notes = []
    places = [place for unit in units for place in unit.places]
    if places:
        count = sum(unit.unreadable for unit in units)
        said = "1 unreadable line:" if count == 1 else f"{count:,} unreadable lines, among them"
        notes.append(f"{said} {', '.join(places[:_SHOWN])}; see {UNREADABLE}.")
    notes += [f"{unit.name}: only in part ({unit.damage})." for unit in units if unit.damage]
    strangers = forgotten.unmatched(stone for unit in units for stone in unit.forgotten)
    if strangers:
        names = ", ".join(strangers[:_SHOWN]) + (" ..." if len(strangers) > _SHOWN else "")
        notes.append(f"Warning: --forget names {len(strangers)} authors who are in no dump: {names}")
    return notes


def _share(part: int, whole: int) -> float:
    """Return a _share, rounded so that it prints the same on every machine."""
    return round(part / whole, SHARE_DIGITS) if whole else 0.0


def compute_statistics(
    engine: Engine, rows: Sequence[Path], threads: Path, census: Census, benchmarks: dict[str, Any]
) -> dict[str, Any]:
    """Return the contents of stats.json; `rows` are the files of the raw corpus."""
    subreddits = _subreddits(engine, rows)
    authors = engine.scan(rows).select("author").unique().select(authors=nw.len())
    orphans = engine.scan(rows).filter(nw.col("parent_comment") == "").select(count=nw.len())
    comments = sum(facts["comments"] for facts in subreddits.values())
    sarcastic = sum(facts["sarcastic"] for facts in subreddits.values())
    return {
        "totals": {
            "comments": comments,
            "sarcastic": sarcastic,
            "share_sarcastic": _share(sarcastic, comments),
            "authors": engine.collect(authors)["authors"][0].as_py(),
            "subreddits": len(subreddits),
            "parents_without_text": engine.collect(orphans)["count"][0].as_py(),
        },
        "marker_use": {
            "authors": sum(census.everyone.values()),
            "authors_marking": census.everyone.get(True, 0),
            "share_authors_marking": _share(census.everyone.get(True, 0), sum(census.everyone.values())),
        },
        "sequences": _sequences(engine, threads),
        "benchmarks": benchmarks,
        "months": _months(census),
        "drops": census.reasons(),
        "subreddits": subreddits,
    }


def _subreddits(engine: Engine, rows: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return comments and sarcastic comments by subreddit, the largest first."""
    label = nw.col("label").cast(nw.Int64)
    frame = engine.scan(rows).group_by("subreddit").agg(comments=nw.len(), sarcastic=label.sum())
    found = engine.collect(frame).to_pylist()
    return {
        row["subreddit"]: {
            "comments": row["comments"],
            "sarcastic": int(row["sarcastic"]),
            "share_sarcastic": _share(int(row["sarcastic"]), row["comments"]),
        }
        for row in sorted(found, key=lambda row: (-row["comments"], row["subreddit"]))
    }


def _sequences(engine: Engine, threads: Path) -> dict[str, Any]:
    """Count the sequences; the mean is of exact fractions, since a sum of floats depends on its order."""
    labels = nw.col("labels").str.replace_all(" ", "", literal=True)
    ones = labels.str.replace_all("0", "", literal=True)
    frame = engine.scan(parquet_files(threads / "sequences")).select(
        replies=labels.str.len_chars(), sarcastic=ones.str.len_chars()
    )
    rows = engine.collect(frame.group_by("sarcastic", "replies").agg(times=nw.len())).to_pylist()
    return mean_share([(row["sarcastic"], row["replies"], row["times"]) for row in rows])


def _months(census: Census) -> dict[str, dict[str, Any]]:
    months = sorted({month for month, _ in census.cells} | set(census.authors))
    return {
        month_name(month): {
            **{reason: census.cells[m, reason] for m, reason in sorted(census.cells) if m == month},
            "authors": census.authors.get(month, 0),
            "authors_marking": census.marking.get(month, 0),
            "share_authors_marking": _share(census.marking.get(month, 0), census.authors.get(month, 0)),
        }
        for month in months
    }


# ---------------------------------------------------------------- the card

SYNTHETIC = "The dumps are synthetic (`deadpan corpus synthesize`): no person wrote these comments. "
_IDS_ONLY = (
    "It has ids, labels and hashes.csv, but no texts: `deadpan corpus fill FOLDER DUMPS --out DIR` gives the texts "
    "from the dumps, and says for every id whether the text is the published one."
)
PERSONAL = (
    "User names and public comments as their authors wrote them. Comments that the dumps know to be "
    "deleted or removed are left out. Rebuild with --forget to exclude the comments of authors who "
    "ask for it; update to honour later deletions."
)


def corpus_card(
    folder: Path,
    settings: CorpusSettings,
    drops: Mapping[str, int],
    synthetic: bool = False,
    version: int = 1,
    published: str = "",
    configs: Sequence[HubConfig] = (),
    ids_only: bool = False,
) -> str:
    """Return the card in Markdown, from which Hugging Face `datasets` loads the raw corpus.

    `folder` has stats.json and the other files of the build: the card names only what is there. `version` and
    `published` are those of the release, if it is in releases.json. `configs` are benchmarks as Parquet files, and
    with `ids_only` there are no texts.
    """
    stats = read_json(folder / "stats.json")
    months = [month for month, cells in stats["months"].items() if cells.get("kept")]
    scope, markers = settings.scope, " or ".join(settings.text.markers)
    span = f"{months[0]} to {months[-1]}" if months else "no month"
    where = f" in {', '.join(f'r/{name}' for name in scope.subreddits)}" if scope.subreddits else ""
    whose = f"Comments of authors who know the marker {markers}" if scope.aware_authors else "Comments"
    pattern = f"{MONTHS_FOLDER}/*/sarc.parquet" if months else "raw/sarc.parquet"
    limits = [
        f"A {markers} that was not an annotation is labelled sarcastic (1 % in the paper).",
        "Sarcasm without a marker is labelled sincere (2 % of the other comments in the paper).",
    ]
    if lost := stats["totals"]["parents_without_text"]:
        limits.append(f"For {lost:,} comments, no dump has the comment or post that they answer.")
    if scope.aware_authors:
        limits.append("It has only authors who have used the marker, who may differ from other authors.")
    facts = DataFacts(
        title=f"A SARC corpus of {'synthetic' if synthetic else 'Reddit'} comments, {span}",
        version=f"{version}.0.0",
        published=published,
        language=settings.text.languages,
        licence="not stated: the comments belong to their authors, the dumps come without a licence",
        citation="Khodak, Saunshi and Vodrahalli 2018, A Large Self-Annotated Corpus for Sarcasm, LREC",
        summary=(
            f"{whose}{where}, labelled sarcastic if they end in {markers}, with the "
            f"conversations they are part of, in the layout of SARC 2.0. "
            f"{_IDS_ONLY if ids_only else _files(settings, pattern, folder, configs)}"
        ),
        how_made=(
            f"{SYNTHETIC if synthetic else ''}"
            "Built by `deadpan corpus` from monthly dumps; manifest.json has the hashes of the dumps, "
            "every setting, and the number of comments dropped by reason and month. "
            f"{_rules(settings)} Dropped, by reason: {', '.join(f'{name} {n:,}' for name, n in drops.items())}."
        ),
        personal_data="None: names and comments are made up." if synthetic else PERSONAL,
        known_limits=tuple(limits),
    )
    return data_card(facts, _sizes(stats), files={} if ids_only else {"train": pattern}, configs=configs)


def _files(settings: CorpusSettings, pattern: str, folder: Path, configs: Sequence[HubConfig]) -> str:
    if configs:
        listed = ", ".join(config.name for config in configs)
        return (
            f"`datasets.load_dataset` reads the raw comments ({pattern}); with the name of a configuration it reads a "
            f"benchmark ({listed}), one sequence per row, with its ancestors, replies and labels."
        )
    names = ["main", *sorted(settings.benchmark.subsets)]
    readers = " and ".join(f"sarc-{name}" for name in names if name in ("main", "pol"))
    there = [name for name in names if (folder / name).is_dir()]
    return (
        f"`datasets.load_dataset` reads the raw comments ({pattern}); the benchmarks "
        f"({', '.join(there)}) are index files over comments.json, which `deadpan` reads as {readers}."
    )


def _rules(settings: CorpusSettings) -> str:
    text, scope, benchmark = settings.text, settings.scope, settings.benchmark
    signs = [f"a link ({', '.join(text.url_signs)})"] if text.url_signs else []
    signs += ["a character that is not ASCII"] if text.ascii_only else []
    said = [f"Left out are comments with {' or '.join(signs)}."] if signs else []
    if scope.aware_authors:
        said.append("An author counts from the month of their first marked comment on.")
    if scope.drop_under_sarcasm:
        said.append("Comments below a marked one, at any depth, are left out.")
    form = "whole sentences" if benchmark.sentences == "strict" else "replies"
    drawn = (
        f"Benchmarks have {form} of {benchmark.min_tokens} to {benchmark.max_tokens} tokens; the replies of "
        f"a pair have a similarity of at most {benchmark.similarity_cut:g}; {benchmark.test_share:.0%} of "
        f"the posts are in test."
    )
    return f"{' '.join(said)} {drawn}"


def _sizes(stats: Mapping[str, Any]) -> Sizes:
    def labels(total: int, sarcastic: int) -> Counter[str]:
        return Counter({"sarcastic": sarcastic, "sincere": total - sarcastic})

    totals, sizes = stats["totals"], Sizes()
    sizes.labels["raw"] = labels(totals["comments"], totals["sarcastic"])
    for name, parts in stats["benchmarks"].items():
        for part in ("train", "test"):
            counts = parts[f"{part}-unbalanced"]
            sizes.labels[f"{name} {part}"] = labels(counts["replies"], counts["sarcastic"])
    sizes.kinds["marker"] = totals["comments"]
    return sizes
