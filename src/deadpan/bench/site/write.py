"""Writing the site: pages, data to download, and the manifest last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from deadpan.bench.export import write_rows
from deadpan.bench.items.item import family, write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet
from deadpan.bench.runs.folder import BenchRun, find_runs, set_of
from deadpan.bench.scores.difficulty import ItemFacts, item_facts
from deadpan.bench.scores.score import item_answers
from deadpan.bench.site.board import Board, make_board
from deadpan.bench.site.index import index_page
from deadpan.bench.site.pages import answers_by_item, item_page, items_index, tried_items, try_page
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import manifest_path, read_manifest, write_json, write_manifest, write_text

_COMMAND, _SCORES = "bench site", "data/scores.json"
_NOT_PUBLIC = (
    "no item pages and no rows: the set is {}. A set of your own is public if its .toml file says "
    'visibility = "public" or its .jsonl file is named public-...; then repeat the runs. Real replies never are.'
)


@dataclass(frozen=True, slots=True)
class SiteReport(Result):
    """A leaderboard that was written."""

    out: Path
    models: int
    human: bool
    pages: int
    excluded: tuple[tuple[str, str], ...]
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the folder, what is on the board, and the excluded runs with their reasons."""
        found = {"out": str(self.out), "models": self.models, "human": self.human, "pages": self.pages}
        return {**found, "excluded": [list(each) for each in self.excluded]}

    def summary(self) -> Summary:
        """Return the page to open, and the excluded runs."""
        count = f"{self.models} model" + ("s" if self.models > 1 else "")
        who = [name for name, there in ((count, self.models), ("people", self.human)) if there]
        shown = " and ".join(who) or "baselines only"
        notes = [f"{self.out / 'index.html'}: {shown}, {self.pages} item pages"]
        notes += [f"excluded: {name} ({why})" for name, why in self.excluded]
        return Summary(notes=(*notes, *filter(None, [self.note])))


def write_leaderboard(
    folders: Sequence[Path],
    out: Path,
    *,
    items: str | Path | ItemSet | None = None,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> SiteReport:
    """Write a static leaderboard of runs; incomplete runs are excluded.

    `items` is the set that was asked, needed for item pages if it does not come with the package.
    """
    runs = find_runs(folders)
    opened = set_of(runs[0], items, ask)
    report = write_site(runs, Path(out), opened, seed)
    if not runs[0].public:
        return replace(report, note=_NOT_PUBLIC.format(runs[0].plan.visibility))
    if opened is None:
        return replace(report, note="no item pages and no rows: use --set to name the set that was asked")
    return report


def write_site(runs: Sequence[BenchRun], out: Path, items: ItemSet | None, seed: int = 0) -> SiteReport:
    """Write the pages. Items, rows and answers are published only if the set is public and given."""
    board, kept = make_board(runs, seed)
    _check_out(out)
    public = board.visibility == "public" and items is not None and items.hash == board.set_hash
    facts = item_facts(kept) if public and board.models else []
    downloads = _write_data(out, board, kept, items if public else None)
    pages = _write_items(out, items, kept, facts) if public and items is not None else 0
    shown = items.items if public and items is not None else ()
    if shown:
        write_text(out / "try.html", try_page(tried_items(shown)))
    write_text(out / "index.html", index_page(board, facts, downloads, shown))
    config = {"set": board.set, "set_hash": board.set_hash, "models": [e.scores.model for e in board.entries]}
    write_manifest(out, command=_COMMAND, config=config, seed=seed, counts={"pages": pages + 1})
    return SiteReport(out, len(board.models), board.human is not None, pages, board.excluded)


def _check_out(out: Path) -> None:
    """Raise unless the folder is empty or holds an earlier site."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: is a file: choose another --out")
    if out.is_dir() and any(out.iterdir()) and not _is_site(out):
        raise DataError(f"{out}: not empty and not a site of deadpan: choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    # An earlier site may have shown items that this one must not show.
    for old in [*(out / "items").glob("*.html"), out / "try.html", out / "data" / "items.jsonl"]:
        old.unlink(missing_ok=True)


def _is_site(out: Path) -> bool:
    """Return whether a folder holds a leaderboard, or the pages of one whose writing was cut short."""
    if manifest_path(out).is_file():
        try:
            return read_manifest(out, any_version=True).command == _COMMAND
        except DataError:  # somebody else's
            return False
    names = {path.name for path in out.iterdir()}
    return names <= {"data", "items", "index.html", "try.html"} and (out / _SCORES).is_file()


def _write_data(out: Path, board: Board, runs: Sequence[BenchRun], items: ItemSet | None) -> list[tuple[str, str]]:
    """Write the downloads: scores always, rows and items only of a public set."""
    folder = out / "data"
    scores = [
        {**entry.scores.as_dict(), "rank": entry.ranks, "not_ranked": entry.not_ranked, "provider": entry.provider}
        for entry in board.entries
    ]
    ranks = {
        language: {entry.scores.model: entry.ranks for entry in part.entries} for language, part in board.languages
    }
    about = {"set": board.set, "set_hash": board.set_hash, "ranks_by_language": ranks}
    write_json(out / _SCORES, {**about, "scores": scores})
    found = [("data/scores.json", "All scores with their intervals (JSON)")]
    rows = [row for run in runs for row in run.rows]
    for name in ("rows.csv", "rows.parquet"):
        # The same rows twice: without the extra `parquet` a board has the table only.
        if items is not None and (name == "rows.csv" or find_spec("pyarrow")):
            write_rows(folder / name, rows, public=True)
            found.append((f"data/{name}", f"Every row: model, item, run, answer, tokens, cost ({name[5:].upper()})"))
        else:
            (folder / name).unlink(missing_ok=True)
    if items is not None:
        write_items(folder / "items.jsonl", items.items)
        found.append(("data/items.jsonl", "The items (JSON lines)"))
    return found


def _write_items(out: Path, items: ItemSet, runs: Sequence[BenchRun], facts: Sequence[ItemFacts]) -> int:
    asked = [item_answers(run.rows) for run in runs]
    answers = answers_by_item(runs, asked)
    known = {each.item: each for each in facts}
    ids = [item.id for item in items.items]
    twins: dict[str, list[str]] = {}
    for item in items.items:
        twins.setdefault(family(item), []).append(item.id)
    for at, item in enumerate(items.items):
        before, after = ids[at - 1] if at else "", ids[at + 1] if at + 1 < len(ids) else ""
        twin = next((each for each in twins[family(item)] if each != item.id), "")
        page = item_page(item, answers.get(item.id, []), known.get(item.id), (before, after, twin))
        write_text(out / "items" / f"{item.id}.html", page)
    write_text(out / "items" / "index.html", items_index(items.items, known, answers))
    return len(ids)
