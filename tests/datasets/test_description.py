"""A corpus in numbers."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.datasets.description import describe, histogram_spread
from deadpan.records import Example, Turn

CORPUS = [
    Example(
        "1",
        Turn("", "Oh GREAT, rain again!"),
        (Turn("A", "look outside"), Turn("B", "why")),
        True,
        ("irony",),
        "author",
        group="g1",
        sequence="s1",
        split="train",
        source="mine",
        language="en",
        explanation="rain is not great",
        rephrase="I dislike rain",
        meta={"subreddit": "weather", "score": 3},
    ),
    Example(
        "2",
        Turn("", "oh great rain again"),
        (),
        False,
        (),
        "author",
        group="g1",
        sequence="s1",
        split="test",
        source="mine",
        language="en",
        meta={"subreddit": "weather"},
    ),
    Example("3", Turn("", "no label here"), split="test", source="mine", language="en"),
]


def test_counts() -> None:
    found = describe(CORPUS, name="mine", platform="Reddit")
    assert (found.n, found.sarcastic, found.not_sarcastic, found.unlabelled, found.share) == (3, 1, 1, 1, 0.5)
    assert found.splits == {"test": 2, "train": 1}
    assert (found.with_context, found.mean_turns, found.max_turns) == (1, 2.0, 2)
    assert (found.with_explanation, found.with_rephrase, found.categories) == (1, 1, {"irony": 1})
    assert (found.sequences.n, found.sequences.sizes, found.sequences.sarcastic_share) == (1, {2: 1}, 0.5)
    assert (found.groups, found.duplicates) == (1, 1)
    assert found.vocabulary == len({"oh", "great", ",", "rain", "again", "!", "no", "label", "here"})
    assert found.topics == {"subreddit": {"weather": 2}}
    assert found.tokens["sarcastic"].max == 6
    assert found.characters["unlabelled"].median == len("no label here")


def test_row_of_the_comparison_table() -> None:
    assert describe(CORPUS, name="mine", platform="Reddit").row() == {
        "name": "mine",
        "language": "en",
        "source": "Reddit",
        "sarcastic": 1,
        "total": 3,
        "context": True,
        "explanation": True,
        "label": "author",
    }


def test_empty_corpus() -> None:
    found = describe([])
    assert (found.n, found.share, found.characters, found.sequences.sarcastic_share) == (0, None, {}, None)


def test_name_defaults_to_the_sources() -> None:
    assert describe(CORPUS).name == "mine"


@pytest.mark.parametrize("examples", [[], CORPUS])
def test_json_and_back(examples: list[Example]) -> None:
    plain = describe(iter(examples)).as_dict()
    assert json.loads(json.dumps(plain)) == plain


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60))
def test_quantiles_are_those_of_the_sorted_values(lengths: list[int]) -> None:
    found = histogram_spread(Counter(lengths))
    assert found is not None
    quantiles = np.percentile(lengths, [25, 50, 75, 95], method="inverted_cdf").tolist()
    assert [found.quarter, found.median, found.three_quarters, found.most] == quantiles
    assert (found.n, found.max) == (len(lengths), max(lengths))
    assert found.mean == pytest.approx(np.mean(lengths))
