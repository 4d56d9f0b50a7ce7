"""The paper's figures, drawn from a built corpus: where sarcasm is common, what it scores, how long it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.conversations import BuiltCorpus
from deadpan.corpus.release import PUBLISHED, published
from deadpan.corpus.rules import literal
from deadpan.corpus.workshop import Workshop
from deadpan.errors import DataError
from deadpan.figures import Figure, bars, distribution
from deadpan.storage import write_json

DRAWN = 50_000  # comments a label in a distribution
BARS = 30
SCORES, LENGTHS = (-20, 40), (0, 80)


def write_figures(corpus: BuiltCorpus, *, min_comments: int = 1_000) -> list[Path]:
    """figures/*.svg and .png; the files written."""
    made = {
        "subreddits": subreddit_figure(corpus, min_comments),
        "scores": score_figure(corpus),
        "lengths": length_figure(corpus),
    }
    paths = [path for name, figure in made.items() for path in figure.save(corpus.folder / "figures", name)]
    # A later build with other data takes them away, rather than leave them beside numbers they do not show.
    workshop = Workshop(corpus.folder)
    names = {path.relative_to(corpus.folder).as_posix() for path in paths}
    if workshop.root.is_dir():
        write_json(workshop.root / PUBLISHED, sorted({*published(workshop), *names}))
    return paths


def subreddit_figure(corpus: BuiltCorpus, min_comments: int) -> Figure:
    """Share of sarcastic comments, by subreddit above a size (the paper's Figure 2)."""
    stats: Mapping[str, Any] = json.loads((corpus.folder / "stats.json").read_text(encoding="utf-8"))
    shares = {
        name: round(100 * facts["share_sarcastic"], 2)
        for name, facts in stats["subreddits"].items()
        if facts["comments"] >= min_comments and name
    }
    if not shares:
        raise DataError(f"no subreddit has {min_comments:,} comments in the corpus: lower --min-comments")
    ranked = sorted(shares.items(), key=lambda one: (-one[1], one[0]))
    if len(ranked) > BARS:
        ranked = [*ranked[: BARS // 2], *ranked[-BARS // 2 :]]
    most, least = ranked[0], ranked[-1]
    title = (
        f"Sarcasm is most common in r/{most[0]} ({most[1]:.2g} %), least in r/{least[0]} ({least[1]:.2g} %)"
    )
    unit = f"% sarcastic (subreddits of {min_comments:,} comments or more)"
    return bars(title, dict(ranked), unit=unit)


def score_figure(corpus: BuiltCorpus) -> Figure:
    """Scores by label (Figure 3)."""
    return _spread(corpus, "score", SCORES, "scores", f"score, cut off at {SCORES[0]} and {SCORES[1]}")


def length_figure(corpus: BuiltCorpus) -> Figure:
    """Lengths by label (Figure 4)."""
    words = "length(comment) - length(replace(comment, ' ', '')) + 1"
    return _spread(corpus, words, LENGTHS, "lengths", f"words, cut off at {LENGTHS[1]}")


def _spread(corpus: BuiltCorpus, measure: str, limits: tuple[int, int], noun: str, unit: str) -> Figure:
    """Medians of all, shapes of some: a drawing of every comment would not fit a memory."""
    source = literal(str(corpus.parquet))
    connection = duckdb.connect()
    values, medians = {}, {}
    for name, label in (("sarcastic", 1), ("sincere", 0)):
        chosen = f"FROM {source} WHERE label = {label}"
        low, high = limits
        rows = connection.execute(
            f"SELECT greatest({low}, least({high}, {measure})) {chosen} ORDER BY md5(id), id LIMIT {DRAWN}"
        ).fetchall()
        if not rows:
            raise DataError(f"{corpus.folder}: no {name} comment in the corpus, nothing to compare")
        values[name] = [float(value) for (value,) in rows]
        medians[name] = float(connection.execute(f"SELECT median({measure}) {chosen}").fetchall()[0][0])
    one, other = medians["sarcastic"], medians["sincere"]
    said = f"{one:g} if sarcastic, {other:g} if not" if one != other else f"{one:g} for both labels"
    return distribution(f"Median {noun[:-1]}: {said}", values, unit=unit)
