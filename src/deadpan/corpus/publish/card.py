"""The data card of a built corpus (README.md), from which Hugging Face `datasets` loads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadpan.cards import DataFacts, Sizes, data_card
from deadpan.corpus.publish.outputs import MONTHS
from deadpan.corpus.settings import BenchmarkRules, CorpusSettings, Scope, TextRules

SYNTHETIC = "The dumps are synthetic (`deadpan corpus synthesize`): no person wrote these comments. "
PERSONAL = (
    "User names and public comments as their authors wrote them. Comments that the dumps know to be "
    "deleted or removed are left out. Rebuild with --forget to exclude the comments of authors who "
    "ask for it; update to honour later deletions."
)


def corpus_card(
    stats: Mapping[str, Any],
    months: list[str],
    settings: CorpusSettings,
    folder: Path,
    synthetic: bool = False,
) -> str:
    """Return the card in Markdown, with front matter that names the Parquet files of the raw corpus.

    `folder` has the files of the build: the card names only what is there.
    """
    span = f"{months[0]} to {months[-1]}" if months else "no month"
    markers = " or ".join(settings.text.markers)
    facts = DataFacts(
        title=f"A SARC corpus of {'synthetic' if synthetic else 'Reddit'} comments, {span}",
        version="1.0.0",
        language=("en",),
        licence="not stated: the comments belong to their authors, the dumps come without a licence",
        citation="Khodak, Saunshi and Vodrahalli 2018, A Large Self-Annotated Corpus for Sarcasm, LREC",
        summary=(
            f"{_whose(settings.scope, markers)}, labelled sarcastic if they end in {markers}, with the "
            f"conversations they are part of, in the layout of SARC 2.0. {_files(settings, months, folder)}"
        ),
        how_made=(
            f"{SYNTHETIC if synthetic else ''}"
            "Built by `deadpan corpus` from monthly dumps; manifest.json has the hashes of the dumps, "
            "every setting, and the number of comments dropped by reason and month. "
            f"{_rules(settings.text, settings.scope)} {_benchmark_rules(settings.benchmark)}"
        ),
        personal_data="None: names and comments are made up." if synthetic else PERSONAL,
        known_limits=_limits(settings.scope, markers),
    )
    return data_card(facts, _sizes(stats), files={"train": _pattern(months)})


def _pattern(months: list[str]) -> str:
    return f"{MONTHS}/*/sarc.parquet" if months else "raw/sarc.parquet"


def _whose(scope: Scope, markers: str) -> str:
    where = f" in {', '.join(f'r/{name}' for name in scope.subreddits)}" if scope.subreddits else ""
    return (
        f"Comments of authors who know the marker {markers}{where}"
        if scope.aware_authors
        else f"Comments{where}"
    )


def _files(settings: CorpusSettings, months: list[str], folder: Path) -> str:
    names = ["main", *sorted(settings.benchmark.subsets)]
    readers = " and ".join(f"sarc-{name}" for name in names if name in ("main", "pol"))
    there = [name for name in names if (folder / name).is_dir()]
    return (
        f"`datasets.load_dataset` reads the raw comments ({_pattern(months)}); the benchmarks "
        f"({', '.join(there)}) are index files over comments.json, which `deadpan` reads as {readers}."
    )


def _rules(text: TextRules, scope: Scope) -> str:
    rules = [f"a link ({', '.join(text.url_signs)})"] if text.url_signs else []
    rules += ["a character that is not ASCII"] if text.ascii_only else []
    said = [f"Left out are comments with {' or '.join(rules)}."] if rules else []
    if scope.aware_authors:
        said.append("An author counts from the month of their first marked comment on.")
    if scope.drop_under_sarcasm:
        said.append("Comments below a marked one, at any depth, are left out.")
    return " ".join(said)


def _benchmark_rules(rules: BenchmarkRules) -> str:
    form = "whole sentences " if rules.sentences == "strict" else "replies "
    return (
        f"Benchmarks have {form}of {rules.min_tokens} to {rules.max_tokens} tokens; the replies of a pair "
        f"have a similarity of at most {rules.max_similarity:g}; {rules.test_share:.0%} of the posts are "
        f"in test."
    )


def _limits(scope: Scope, markers: str) -> tuple[str, ...]:
    limits = [
        f"A {markers} that was not an annotation is labelled sarcastic (1 % in the paper).",
        "Sarcasm without a marker is labelled sincere (2 % of the other comments in the paper).",
    ]
    if scope.aware_authors:
        limits.append("It has only authors who have used the marker, who may differ from other authors.")
    return tuple(limits)


def _sizes(stats: Mapping[str, Any]) -> Sizes:
    totals = stats["totals"]
    sizes = Sizes()
    sizes.labels["raw"] = _labels(totals["comments"], totals["sarcastic"])
    for name, parts in stats["benchmarks"].items():
        for part in ("train", "test"):
            counts = parts[f"{part}-unbalanced"]
            sizes.labels[f"{name} {part}"] = _labels(counts["replies"], counts["sarcastic"])
    sizes.kinds["marker"] = totals["comments"]
    return sizes


def _labels(total: int, sarcastic: int) -> Counter[str]:
    return Counter({"sarcastic": sarcastic, "sincere": total - sarcastic})
