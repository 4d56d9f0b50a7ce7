"""An informative order asks uncertain and diverse items first, and keeps a random control in every beginning."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import DeadpanError
from deadpan.ordering import informative_order


def made(n: int = 500, seed: int = 0):
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(400)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(n)]
    return [str(i) for i in range(n)], texts, rng.random(n).tolist()


def test_uncertain_items_come_first():
    ids, texts, scores = made()
    order = informative_order(ids, texts, scores)
    asked = [name for name in order.ids if name not in order.control][:100]
    distance = {name: abs(score - 0.5) for name, score in zip(ids, scores, strict=True)}
    assert max(distance[name] for name in asked) < 0.2
    assert sorted(order.ids) == sorted(ids)


def test_every_beginning_holds_a_random_control():
    ids, texts, scores = made()
    order = informative_order(ids, texts, scores, control=0.25)
    control = set(order.control)
    for n in (20, 100, 300):
        assert abs(sum(name in control for name in order.ids[:n]) - n / 4) <= 1
    score = dict(zip(ids, scores, strict=True))
    means = []
    for seed in range(8):
        order = informative_order(ids, texts, scores, seed=seed, first=100)
        means.append(np.mean([score[name] for name in order.ids[:100] if name in set(order.control)]))
    assert abs(np.mean(means) - np.mean(scores)) < 0.06


def test_repeated_texts_are_put_off():
    ids = [str(i) for i in range(30)]
    texts = ["the very same remark about the weather"] * 10 + [f"a{i} b{i} c{i} d{i} e{i}" for i in range(20)]
    order = informative_order(ids, texts, [0.5] * 10 + [0.4] * 20, control=0.1)
    asked = [int(name) for name in order.ids if name not in order.control]
    assert sum(at < 10 for at in asked[:12]) <= 2


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="a text and a score per item"):
        informative_order(["a"], ["x"], [])
    with pytest.raises(DeadpanError, match="ids that differ"):
        informative_order(["a", "a"], ["x", "y"], [0.1, 0.2])
    with pytest.raises(DeadpanError, match="control stratum"):
        informative_order(["a"], ["x"], [0.1], control=0)
