"""A benchmark of conversations after a month, for language models that cannot have seen them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.months import month_number
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine, format_index_line
from deadpan.storage import write_json, write_manifest, write_text


def write_after(corpus: BuiltCorpus | Path | str, month: str) -> Path:
    """Write the sequences of `main` whose post, ancestors and replies are all from `month` or later.

    Train and test of `main` both go into test-balanced.csv and test-unbalanced.csv of the folder after-MONTH:
    this benchmark is for testing only. A post that no dump has is not known to be new, so it is left out.
    """
    corpus = BuiltCorpus.of(corpus)
    month_number(month)
    out = corpus.folder / f"after-{month}"
    entries = dict(corpus.entries("main"))
    tally = Tally()
    chosen: dict[str, list[IndexLine]] = {}
    for balance in ("balanced", "unbalanced"):
        chosen[balance] = []
        for side in ("train", "test"):
            for line in corpus.index(f"main/{side}-{balance}.csv"):
                if all(_is_after(entries[id], month) for id in line.ids):
                    chosen[balance].append(line)
                else:
                    tally.drop("older_text", line.last)
    if not chosen["unbalanced"]:
        raise DataError(
            f"{corpus.folder}: no whole conversation from {month} on: add the dumps of later months"
        )
    for balance, lines in chosen.items():
        write_text(out / f"test-{balance}.csv", "".join(format_index_line(*line) for line in lines))
    used = {id for lines in chosen.values() for line in lines for id in line.ids}
    counts = {balance: len(lines) for balance, lines in chosen.items()}
    write_json(out / "comments.json", {id: entries[id] for id in sorted(used)})
    write_manifest(
        out, command="corpus update", config={"after": month}, inputs=[corpus.folder / "manifest.json"],
        counts=counts, tally=tally,
    )  # fmt: skip
    return out


def _is_after(entry: dict[str, Any], month: str) -> bool:
    return bool(entry["date"]) and str(entry["date"]) >= month
