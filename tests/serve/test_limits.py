"""A bucket refills steadily, and the clients that are remembered are limited in number."""

from __future__ import annotations

import pytest

from deadpan.errors import ConfigError
from deadpan.serve import limits
from deadpan.serve.limits import RateLimit
from deadpan.serve.refusals import Refusal
from deadpan.serve.settings import ServeSettings


def test_a_client_is_let_in_again_when_its_bucket_refills():
    now = [0.0]
    limit = RateLimit(60, clock=lambda: now[0])  # one a second, six at once
    for _ in range(6):
        limit.take("a")
    with pytest.raises(Refusal) as refused:
        limit.take("a")
    assert refused.value.retry_after == 1
    limit.take("b")
    now[0] = 1.0
    limit.take("a")
    with pytest.raises(Refusal):
        limit.take("a")
    now[0] = 1000.0
    for _ in range(6):
        limit.take("a")


def test_clients_are_forgotten_not_collected(monkeypatch):
    monkeypatch.setattr(limits, "MOST_CLIENTS", 10)
    limit = RateLimit(60, clock=lambda: 0.0)
    for n in range(100):
        limit.take(str(n))
    assert len(limit._buckets) == 10


def test_a_limit_below_the_least_names_the_least():
    with pytest.raises(ConfigError, match="rate is -5: give 0 or more"):
        ServeSettings(rate=-5)
    with pytest.raises(ConfigError, match="most_texts is 0: give 1 or more"):
        ServeSettings(most_texts=0)
