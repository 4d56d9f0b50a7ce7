"""Writing the site: pages, numbers to download, a manifest last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deadpan.bench.difficulty import ItemFacts, item_facts
from deadpan.bench.folder import RunFolder
from deadpan.bench.items import family, write_items
from deadpan.bench.rows import write_rows
from deadpan.bench.scores import answered
from deadpan.bench.sets import ItemSet
from deadpan.bench.site.board import Board, make_board
from deadpan.bench.site.index import index_page
from deadpan.bench.site.item_pages import answers_by_item, item_page, items_index
from deadpan.errors import DataError
from deadpan.storage import manifest_path, write_json, write_manifest, write_text


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it."""

    models: int
    pages: int
    left_out: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


def write_site(runs: Sequence[RunFolder], out: Path, items: ItemSet | None, seed: int = 0) -> Written:
    """Write the pages. Items, rows and answers go out only if the set says it is public and is at hand."""
    board, kept = make_board(runs, seed)
    _check_out(out)
    public = board.visibility == "public" and items is not None and items.hash == board.set_hash
    facts = item_facts(kept) if public and board.models else []
    downloads = _write_data(out, board, kept, items if public else None)
    pages = _write_items(out, items, kept, facts) if public and items is not None else 0
    write_text(out / "index.html", index_page(board, facts, downloads, pages > 0))
    config = {"set": board.set, "set_hash": board.set_hash, "models": [e.scores.model for e in board.entries]}
    write_manifest(out, command="bench site", config=config, seed=seed, counts={"pages": pages + 1})
    return Written(len(board.models), pages, board.left_out)


def _check_out(out: Path) -> None:
    """A site may be written over a site, over nothing else."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: a file is in the way; name another --out")
    if out.is_dir() and any(out.iterdir()) and not (out / "index.html").exists():
        raise DataError(f"{out}: not empty and not a site; name another --out")
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    # Pages of an earlier site may be of items that this one must not show.
    for old in [*(out / "items").glob("*.html"), out / "data" / "items.jsonl"]:
        old.unlink(missing_ok=True)


def _write_data(
    out: Path, board: Board, runs: Sequence[RunFolder], items: ItemSet | None
) -> list[tuple[str, str]]:
    """What can be downloaded: scores always, rows and items only of a public set."""
    folder = out / "data"
    scores = [
        {**entry.scores.as_dict(), "rank": entry.rank or None, "provider": entry.provider}
        for entry in board.entries
    ]
    write_json(folder / "scores.json", {"set": board.set, "set_hash": board.set_hash, "scores": scores})
    found = [("data/scores.json", "All scores with their intervals (JSON)")]
    rows = [row for run in runs for row in run.rows]
    for name in ("rows.csv", "rows.parquet"):
        if items is not None:
            write_rows(folder / name, rows, public=True)
            found.append(
                (f"data/{name}", f"Every row: model, item, run, answer, tokens, cost ({name[5:].upper()})")
            )
        else:
            (folder / name).unlink(missing_ok=True)
    if items is not None:
        write_items(folder / "items.jsonl", items.items)
        found.append(("data/items.jsonl", "The items (JSON lines)"))
    return found


def _write_items(out: Path, items: ItemSet, runs: Sequence[RunFolder], facts: Sequence[ItemFacts]) -> int:
    asked = [answered(run.rows) for run in runs]
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
    write_text(out / "items" / "index.html", items_index(items.items, known))
    return len(ids) + 1
