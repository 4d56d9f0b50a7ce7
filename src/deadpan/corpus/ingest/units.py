"""Units: dumps after ingest, as folders of Parquet rows with their counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from deadpan.corpus.ingest.dumps import Dump, Kind
from deadpan.corpus.months import FIRST, LAST, month_name
from deadpan.corpus.settings import BuildOptions
from deadpan.errors import DataError
from deadpan.storage import read_json

ROWS, UNIT = "rows-*.parquet", "unit.json"
REPEATED, BEST = "repeated.parquet", "best.parquet"


@dataclass(frozen=True, slots=True)
class Unit:
    """One dump after ingest: its rows and their counts.

    `places` are the first unreadable lines, `forgotten` counts the comments of each tombstone, and `damage`
    says why a truncated dump is not whole. `copies`, if any, is a folder with the ids to exclude from the
    rows, since they occur more than once, and with the rows of the best copies, to use instead.
    """

    folder: Path
    key: str
    kind: Kind
    name: str
    sha256: str
    months: dict[int, int]
    unreadable: int
    places: tuple[str, ...]
    forgotten: dict[str, int]
    damage: str
    parts: tuple[int, ...]
    copies: Path | None = None

    @property
    def rows(self) -> list[Path]:
        """Files of the rows, in the order of the dump."""
        return row_files(self.folder)

    @property
    def starts(self) -> dict[Path, int]:
        """Number of rows before each file of rows."""
        return dict(zip(self.rows, accumulate(self.parts, initial=0), strict=False))

    @property
    def count(self) -> int:
        return sum(self.months.values())

    @property
    def first_month(self) -> int:
        """First month of its rows; after every month if all its rows are duplicates of others."""
        return min(self.months, default=LAST)

    @property
    def last_month(self) -> int:
        """Last month of its rows; before every month if all its rows are duplicates of others."""
        return max(self.months, default=FIRST)


def row_files(folder: Path) -> list[Path]:
    """Return the files of rows in the folder of a unit."""
    return sorted(folder.glob(ROWS))


def load_unit(folder: Path, dump: Dump, sha256: str) -> Unit:
    """Read a finished unit."""
    counts = read_json(folder / UNIT)
    return Unit(
        folder=folder,
        key=folder.name,
        kind=dump.kind,
        name=dump.path.name,
        sha256=sha256,
        months={int(month): count for month, count in counts["months"].items()},
        unreadable=counts["unreadable"],
        places=tuple(f"{dump.path.name}:{line}" for line in counts["lines"]),
        forgotten=counts["forgotten"],
        damage=counts["damage"],
        parts=tuple(counts["parts"]),
    )


def check_unit(dump: Dump, unit: Unit, options: BuildOptions) -> None:
    """Raise an error if a dump has no comments, or not those of the month in its name."""
    noun = "comment" if dump.kind == "comments" else "submission"
    if not unit.count:
        reason = f"none of its {unit.unreadable:,} lines is a {noun}" if unit.unreadable else "it is empty"
        raise DataError(f"{dump.path}: not a dump of {noun}s: {reason}")
    if dump.named_month and len(unit.months) > 1 and not options.mixed_months:
        shown = ", ".join(f"{month_name(month)} {count:,}" for month, count in list(unit.months.items())[:4])
        raise DataError(
            f"{dump.path}: its name says one month, but its {noun}s are from {len(unit.months)} ({shown}): "
            f"divide it, or take months from created_utc with --mixed-months"
        )
