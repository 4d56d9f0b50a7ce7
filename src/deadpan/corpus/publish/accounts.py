"""Accounts of a build: inputs, counts, drops by reason, and the small files that tell of them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.corpus.ingest.forget import FILE as FORGOTTEN
from deadpan.corpus.ingest.forget import Forgotten
from deadpan.corpus.ingest.places import Place
from deadpan.corpus.ingest.units import Unit
from deadpan.corpus.months import month_name
from deadpan.corpus.publish.card import corpus_card
from deadpan.corpus.relate.census import Census
from deadpan.corpus.settings import BuildOptions, CorpusSettings
from deadpan.storage import write_json, write_text
from deadpan.validation import encode

UNREADABLE = "unreadable.csv"
SHOWN = 3


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
        months = sorted(month for month, reason in self.census.cells if reason == "kept")
        names = [month_name(month) for month in months]
        card = corpus_card(self.stats, names, self.settings, folder, self.synthetic)
        write_text(folder / "README.md", card)
        places = [place for unit in self.units for place in unit.places]
        if places:
            found = [(name, int(line)) for name, _, line in (place.rpartition(":") for place in places)]
            write_text(folder / UNREADABLE, unreadable_table(found))
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
            "inputs": input_hashes(self.units),
            "counts": self._counts(),
            "drops": self._drops(),
        }

    def notes(self) -> list[str]:
        """Return warnings for the person who built this."""
        if self.stats["totals"]["sarcastic"]:
            return []
        markers = ", ".join(self.settings.text.markers)
        return [f"Warning: no kept comment ends in a marker ({markers}), so nothing is labelled sarcastic."]

    def _counts(self) -> dict[str, int]:
        """Return totals, then the number of comments by month and reason."""
        counts = {
            "lines": sum(unit.count + unit.unreadable for unit in self.units if unit.kind == "comments"),
            "comments": self.stats["totals"]["comments"],
            "sarcastic": self.stats["totals"]["sarcastic"],
            "sequences": self.stats["sequences"]["count"],
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


def unreadable_table(lines: Iterable[tuple[str, int]]) -> str:
    """Return the contents of unreadable.csv: file names and line numbers."""
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([("file", "line"), *lines])
    return table.getvalue()


def input_hashes(units: Sequence[Unit]) -> dict[str, str]:
    """Return the hashes of the dumps by name; files with the same name get a number."""
    inputs: dict[str, str] = {}
    for unit in sorted(units, key=lambda unit: (unit.name, unit.sha256)):
        name, number = unit.name, 2
        while name in inputs:
            name, number = f"{unit.name} ({number})", number + 1
        inputs[name] = unit.sha256
    return inputs


def skipped_note(paths: Sequence[Place]) -> list[str]:
    """Return a note that names the files of a folder that are no dumps."""
    if not paths:
        return []
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return [f"Not read, since they are not dumps: {', '.join(map(str, paths[:SHOWN]))}{more}."]


def ingest_notes(units: Sequence[Unit], forgotten: Forgotten) -> list[str]:
    """Return notes on unreadable lines, truncated dumps, and names that match no author."""
    notes = []
    places = [place for unit in units for place in unit.places]
    if places:
        count = sum(unit.unreadable for unit in units)
        notes.append(f"{count:,} unreadable lines, among them {', '.join(places[:SHOWN])}; see {UNREADABLE}.")
    notes += [f"{unit.name}: only in part ({unit.damage})." for unit in units if unit.damage]
    strangers = forgotten.unmatched(stone for unit in units for stone in unit.forgotten)
    if strangers:
        names = ", ".join(strangers[:SHOWN]) + (" ..." if len(strangers) > SHOWN else "")
        notes.append(f"Warning: --forget names {len(strangers)} authors who are in no dump: {names}")
    return notes
