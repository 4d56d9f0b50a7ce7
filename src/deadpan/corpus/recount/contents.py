"""The contents that the files of a corpus must have, from a selection of comments."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deadpan.corpus.recount.node import Node, squeeze
from deadpan.corpus.recount.selection import Branch, Selection
from deadpan.draws import draw
from deadpan.formats.sarc import COMMENT_FIELDS, RAW_COLUMNS, TSV_COLUMNS
from deadpan.text import sarc_tokens

Cosines = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""Returns the similarity of each pair of texts."""

SIDES = [f"{side}-{balance}" for side in ("train", "test") for balance in ("balanced", "unbalanced")]
_QUOTES = "\"'“‘«„"


@dataclass(slots=True)
class Contents:
    """Rows of the raw corpus, and lines of the other files by file."""

    rows: list[list[str]] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    branches: dict[str, list[list[Node]]] = field(default_factory=lambda: defaultdict(list))

    def files(self) -> dict[str, bytes]:
        """Return the text files, by name."""
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(RAW_COLUMNS)
        writer.writerows(self.rows)
        tabbed = "".join("\t".join(row[: len(TSV_COLUMNS)]) + "\n" for row in self.rows)
        found = {"raw/sarc.csv": table.getvalue().encode(), "raw/sarc.tsv": tabbed.encode()}
        for name, lines in self.lines.items():
            joined = "{" + ",".join(lines) + "\n}\n" if name.endswith(".json") else "".join(lines)
            found[name] = joined.encode()
        return found


def contents(selection: Selection, cosines: Cosines) -> Contents:
    """Return what a build must write; counts the drops of the benchmarks."""
    found = Contents()
    ordered = sorted(selection.kept.values(), key=lambda one: (one.created, one.id))
    found.rows = [_row(node, selection) for node in ordered]
    every = selection.sequences()
    found.lines["raw/sequences.csv"] = [index_line(one.path, one.replies) for one in every]
    found.lines["raw/comments.json"] = _entries(every, selection, every)
    _benchmarks(found, every, selection, cosines)
    return found


def _row(node: Node, selection: Selection) -> list[str]:
    source = selection.comments if node.parent.startswith("t1_") else selection.posts
    above = source.get(node.parent[3:])
    return [
        str(int(node.marked)), node.text, squeeze(node.author), squeeze(node.subreddit), str(node.score),
        str(node.ups), str(node.downs), node.month, str(node.created), above.text if above else "",
        node.id, node.parent[3:], node.link,
    ]  # fmt: skip


def index_line(path: Sequence[str], replies: Sequence[Node]) -> str:
    """Return a line of an index."""
    ids, labels = " ".join(one.id for one in replies), " ".join(str(int(one.marked)) for one in replies)
    return f"{' '.join(path)}|{ids}|{labels}\n"


def _benchmarks(found: Contents, every: list[Branch], selection: Selection, cosines: Cosines) -> None:
    settings, drops = selection.settings, selection.tally.drops
    rules = settings.benchmark
    subsets: dict[str, set[str] | None] = {"main": None}
    subsets |= {name: {one.lower() for one in chosen} for name, chosen in rules.subsets.items()}
    chosen: dict[str, list[Branch]] = {name: [] for name in subsets}
    for folder in subsets:
        for side in SIDES:
            found.lines[f"{folder}/{side}.csv"] = []
    for branch in every:
        fitting = Branch(branch.path, [one for one in branch.replies if _fits(one.text, selection)])
        if not any(one.marked for one in fitting.replies):
            drops["no_fitting_sarcasm"] += 1
            continue
        pair = _pair(fitting, selection, cosines)
        test = int.from_bytes(draw(settings.seed, f"split {branch.path[0]}")[:8], "big")
        side = "test" if test < rules.test_share * 2**64 else "train"
        for folder, names in subsets.items():
            if names is not None and branch.replies[0].subreddit.lower() not in names:
                continue
            chosen[folder].append(fitting)
            for balance, replies in (("unbalanced", fitting.replies), ("balanced", pair)):
                if replies:
                    name = f"{folder}/{side}-{balance}.csv"
                    found.lines[name].append(index_line(branch.path, replies))
                    found.branches[name].append(list(replies))
    for folder, branches in chosen.items():
        found.lines[f"{folder}/comments.json"] = _entries(branches, selection, every)


def _fits(text: str, selection: Selection) -> bool:
    rules = selection.settings.benchmark
    count = len(sarc_tokens(text))
    why = "too_short" if count < rules.min_tokens else "too_long" if count > rules.max_tokens else ""
    if not why and rules.letter and not any(one.isalpha() for one in text):
        why = "no_letter"
    if not why and rules.sentences == "strict" and not _is_sentence(text):
        why = "not_a_sentence"
    if why:
        selection.tally.drops[f"reply_{why}"] += 1
    return not why


def _is_sentence(text: str) -> bool:
    begins = text[:1].isupper() or text[:1].isdigit() or (text[:1] and text[:1] in _QUOTES)
    return bool(begins) and re.search(r"[.!?][\"'”’»)\]}]*\Z", text) is not None


def _pair(branch: Branch, selection: Selection, cosines: Cosines) -> list[Node] | None:
    seed = selection.settings.seed
    order = sorted(branch.replies, key=lambda one: draw(seed, f"reply {one.id}"))
    sarcastic = next(one for one in order if one.marked)
    sincere = [one for one in order if not one.marked]
    for other in sincere:
        if cosines([sarcastic.text], [other.text])[0] <= selection.settings.benchmark.max_similarity:
            first = draw(seed, f"order {branch.path[-1]}")[0] & 1
            return [sarcastic, other] if first else [other, sarcastic]
    selection.tally.drops["too_similar" if sincere else "no_contrast"] += 1
    return None


def _entries(some: list[Branch], selection: Selection, every: list[Branch]) -> list[str]:
    """Return the entries of a comments.json, sorted by id."""
    homes: dict[str, str] = {}
    for branch in every:
        post, home = branch.path[0], branch.replies[0].subreddit
        homes[post] = min(home, homes.get(post, home))
    spoken = {id for one in every for id in (*one.path[1:], *(reply.id for reply in one.replies))}
    wanted = {id for one in some for id in (*one.path, *(reply.id for reply in one.replies))}
    return [_entry(id, id in spoken, homes, selection) for id in sorted(wanted)]


def _entry(id: str, spoken: bool, homes: dict[str, str], selection: Selection) -> str:
    node = selection.comments[id] if spoken else selection.posts.get(id)
    row: list[object] = ["", "", 0, -1, -1, "", 0, squeeze(homes.get(id, ""))]
    if node is not None:
        row = [
            node.text, node.shown_author, node.score, node.ups, node.downs, node.month, node.created,
            squeeze(node.subreddit),
        ]  # fmt: skip
    fields = dict(zip(COMMENT_FIELDS, row, strict=True))
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    # JSON may spell control characters either way; the engine's library has upper case.
    value = re.sub(r"\\u00[0-9a-f]{2}", lambda match: "\\u" + match[0][2:].upper(), value)
    return f"\n{json.dumps(id)}: {value}"
