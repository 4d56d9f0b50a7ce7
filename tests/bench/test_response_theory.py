"""Item response theory: known items are recovered, and too few respondents teach nothing."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.bench.response_theory import fit_responses
from deadpan.errors import DeadpanError


def simulated(people: int, items: int = 30, guessing: float = 0.0, seed: int = 3):
    """Responses of people to items whose parameters are known."""
    rng = np.random.default_rng(seed)
    difficulty = np.linspace(-2, 2, items)
    discrimination = np.exp(rng.normal(0, 0.4, items))
    ability = rng.normal(0, 1, people)
    p = 1 / (1 + np.exp(-discrimination * (ability[:, None] - difficulty)))
    right = rng.random((people, items)) < guessing + (1 - guessing) * p
    return right.astype(float), difficulty, discrimination, ability


def fitted(responses, guessing=0.0):
    items = [f"i{n}" for n in range(responses.shape[1])]
    return fit_responses(responses, items, [f"p{n}" for n in range(len(responses))], guessing=guessing)


@pytest.mark.parametrize("guessing", [0.0, 1 / 6])
def test_difficulty_and_discrimination_are_recovered(guessing):
    responses, difficulty, discrimination, ability = simulated(500, guessing=guessing)
    model = fitted(responses, guessing)
    b = np.array([each.difficulty.value for each in model.items])
    a = np.array([each.discrimination.value for each in model.items])
    assert np.corrcoef(b, difficulty)[0, 1] > 0.97
    assert np.corrcoef(np.log(a), np.log(discrimination))[0, 1] > 0.8
    assert abs(np.log(a).mean() - np.log(discrimination).mean()) < 0.12
    # 95 % intervals hold the truth about as often as they say.
    for name, truth in (("difficulty", difficulty), ("discrimination", discrimination)):
        found = [getattr(each, name) for each in model.items]
        inside = [at.low <= true <= at.high for at, true in zip(found, truth, strict=True)]
        assert np.mean(inside) >= 0.8, name
    assert np.corrcoef([at.value for _, at in model.abilities], ability)[0, 1] > 0.8


def test_few_respondents_leave_the_prior():
    many, few = (fitted(simulated(people)[0]) for people in (400, 5))
    learned = [np.median([each.learned_discrimination for each in model.items]) for model in (many, few)]
    assert learned[0] > 0.7
    assert learned[1] < 0.2
    widths = [each.discrimination.high / each.discrimination.low for each in few.items]
    assert min(widths) > 3


def test_missing_responses_and_shares_are_taken():
    responses, difficulty, _, _ = simulated(400)
    responses[::2, :10] = np.nan
    responses[1::2, 20:] = np.nan
    model = fitted(responses)
    assert np.corrcoef([each.difficulty.value for each in model.items], difficulty)[0, 1] > 0.95
    assert model.items[0].difficulty.n == 200
    shares = fitted(np.full((4, 3), 0.6))
    assert all(np.isfinite(each.difficulty.value) for each in shares.items)


def test_all_right_and_all_wrong_items_stay_finite():
    responses, *_ = simulated(50)
    responses[:, 0], responses[:, 1] = 1.0, 0.0
    model = fitted(responses)
    assert model.items[0].difficulty.high < 0 < model.items[1].difficulty.low
    assert np.isfinite(model.items[0].difficulty.low)


@pytest.mark.parametrize("bad", [np.full((2, 3), 1.5), np.zeros((0, 3)), np.zeros((2, 2))])
def test_bad_responses_are_one_line(bad):
    with pytest.raises(DeadpanError):
        fit_responses(bad, ["a", "b", "c"], ["x", "y"])
