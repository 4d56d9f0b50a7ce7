"""Item response theory with two parameters per item: difficulty and discrimination, with intervals.

A respondent of ability t answers an item correctly with probability c + (1 - c) / (1 + exp(-a (t - b))). The
discrimination a and the difficulty b are estimated; c is what guessing gives and is known. Abilities are
standard normal and integrated out (EM on a grid, as by Bock and Aitkin); a and b are at the mode of their
posterior. Standard errors are Laplace's: the observed information by Louis's formula, plus the priors'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deadpan.errors import DataError
from deadpan.stats import LEVEL, Interval
from deadpan.stats.interval import FloatArray

PRIOR_SLOPE = 0.5
"""Standard deviation of the logarithm of the discrimination, around 0 (a discrimination of 1)."""
PRIOR_DIFFICULTY = 2.0
"""Standard deviation of the difficulty, around the mean ability."""
GRID = np.linspace(-4.5, 4.5, 37)
_ROUNDS, _STEPS, CLOSE = 200, 3, 1e-4


@dataclass(frozen=True, slots=True)
class ItemParameters:
    """One item: its parameters, and the share of the prior's variance that the responses removed."""

    item: str
    difficulty: Interval
    discrimination: Interval
    learned_difficulty: float
    learned_discrimination: float


@dataclass(frozen=True, slots=True)
class ResponseModel:
    """The fitted items, in the order given, and every respondent's ability with its interval."""

    items: tuple[ItemParameters, ...]
    abilities: tuple[tuple[str, Interval], ...]


def fit_responses(
    responses: FloatArray, items: Sequence[str], respondents: Sequence[str], *, guessing: float | Sequence[float] = 0.0
) -> ResponseModel:
    """Fit a matrix of responses, one row per respondent: the share of right answers, NaN for none.

    A share counts as one response however many runs it is of: runs of one model are not further respondents.
    `guessing` is what guessing gives, for all items or for each.
    """
    given = np.asarray(responses, dtype=np.float64)
    if given.shape != (len(respondents), len(items)) or not given.size:
        raise DataError(
            f"responses are {given.shape}, respondents and items {(len(respondents), len(items))}: "
            "give one row per respondent and one column per item"
        )
    known = ~np.isnan(given)
    if ((given < 0) | (given > 1))[known].any():
        raise DataError("a response is below 0 or above 1: give proportions of correct answers")
    right = np.where(known, given, 0.0)
    floor = np.broadcast_to(np.asarray(guessing, dtype=np.float64), (len(items),))
    if (floor < 0).any() or (floor >= 1).any():
        raise DataError("guessing is below 0, or 1 or more: give 1 divided by the number of options")
    slope, place = np.zeros(len(items)), np.zeros(len(items))
    for _ in range(_ROUNDS):
        weights = _posterior(right, known, slope, place, floor)
        before = np.concatenate([slope, place])
        slope, place = _maximize(right, known, slope, place, floor, weights)
        if np.abs(np.concatenate([slope, place]) - before).max() < CLOSE:
            break
    weights = _posterior(right, known, slope, place, floor)
    variances = _variances(right, known, slope, place, floor, weights)
    return _model(items, respondents, slope, place, variances, weights, known.sum(axis=0))


def _curves(slope: FloatArray, place: FloatArray, floor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability of a right answer and its derivative by the logit, per item and grid point."""
    logit = np.exp(slope)[:, None] * (GRID[None, :] - place[:, None])
    share = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    chance = floor[:, None]
    probability = np.clip(chance + (1 - chance) * share, 1e-9, 1 - 1e-9)
    return probability, (1 - chance) * share * (1 - share)


def _posterior(
    right: FloatArray, known: np.ndarray, slope: FloatArray, place: FloatArray, floor: FloatArray
) -> FloatArray:
    """Return each respondent's posterior of ability over the grid."""
    p, _ = _curves(slope, place, floor)
    log = right @ np.log(p) + (known - right) @ np.log(1 - p) - GRID[None, :] ** 2 / 2
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _maximize(
    right: FloatArray, known: np.ndarray, slope: FloatArray, place: FloatArray, floor: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Improve every item by itself: a few damped steps of Fisher scoring on the expected responses."""
    hits, tries = right.T @ weights, known.T.astype(np.float64) @ weights
    for _ in range(_STEPS):
        p, d = _curves(slope, place, floor)
        residual = (hits - tries * p) * d / (p * (1 - p))
        information = tries * d**2 / (p * (1 - p))
        by_slope = np.exp(slope)[:, None] * (GRID[None, :] - place[:, None])
        by_place = np.broadcast_to(-np.exp(slope)[:, None], by_slope.shape)
        g1 = (residual * by_slope).sum(axis=1) - slope / PRIOR_SLOPE**2
        g2 = (residual * by_place).sum(axis=1) - place / PRIOR_DIFFICULTY**2
        h11 = (information * by_slope**2).sum(axis=1) + 1 / PRIOR_SLOPE**2
        h22 = (information * by_place**2).sum(axis=1) + 1 / PRIOR_DIFFICULTY**2
        h12 = (information * by_slope * by_place).sum(axis=1)
        det = h11 * h22 - h12**2
        slope = slope + np.clip((h22 * g1 - h12 * g2) / det, -0.5, 0.5)
        place = place + np.clip((h11 * g2 - h12 * g1) / det, -0.5, 0.5)
    return slope, place


def _variances(
    right: FloatArray, known: np.ndarray, slope: FloatArray, place: FloatArray, floor: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the posterior variances of all slopes, then of all difficulties.

    Louis: the information is that of known abilities less the covariance of the scores over what the
    abilities may be. Where responses say nothing, the prior's variance is left.
    """
    n = len(slope)
    p, d = _curves(slope, place, floor)
    ratio = d / (p * (1 - p))
    by = np.stack([np.exp(slope)[:, None] * (GRID[None, :] - place[:, None]),
                   np.broadcast_to(-np.exp(slope)[:, None], p.shape)])  # fmt: skip
    tries = known.T.astype(np.float64) @ weights
    inside = np.einsum("aij,bij,ij->abi", by, by, tries * d * ratio)
    total = np.zeros((2 * n, 2 * n))
    each = np.arange(n)
    for one in range(2):
        for other in range(2):
            total[one * n + each, other * n + each] = inside[one, other]
    for row, answered, weight in zip(right, known, weights, strict=True):
        scores = (by * ((row[:, None] - p) * ratio * answered[:, None])[None]).reshape(2 * n, -1)
        mean = scores @ weight
        total -= (scores * weight) @ scores.T - np.outer(mean, mean)
    prior = np.concatenate([np.full(n, PRIOR_SLOPE**-2.0), np.full(n, PRIOR_DIFFICULTY**-2.0)])
    scale = np.sqrt(prior)
    values, vectors = np.linalg.eigh(total / np.outer(scale, scale) + np.eye(2 * n))
    spread = (vectors**2 / np.maximum(values, 1.0)).sum(axis=1)
    return np.asarray(spread / prior)


def _model(
    items: Sequence[str],
    respondents: Sequence[str],
    slope: FloatArray,
    place: FloatArray,
    variances: FloatArray,
    weights: FloatArray,
    counts: np.ndarray,
) -> ResponseModel:
    z, n = NormalDist().inv_cdf(0.5 + LEVEL / 2), len(items)
    slopes, places = np.sqrt(variances[:n]), np.sqrt(variances[n:])
    fitted = []
    for at, item in enumerate(items):
        a, b, asked = float(slope[at]), float(place[at]), int(counts[at])
        half_a, half_b = z * float(slopes[at]), z * float(places[at])
        middle, low, high = (float(np.exp(value)) for value in (a, a - half_a, a + half_a))
        fitted.append(
            ItemParameters(
                item,
                Interval(b, b - half_b, b + half_b, LEVEL, asked),
                Interval(middle, low, high, LEVEL, asked),
                float(1 - variances[n + at] / PRIOR_DIFFICULTY**2),
                float(1 - variances[at] / PRIOR_SLOPE**2),
            )
        )
    means = weights @ GRID
    spreads = np.sqrt(np.maximum(weights @ GRID**2 - means**2, 0.0))
    abilities = [
        (name, Interval(float(m), float(m - z * s), float(m + z * s), LEVEL, n))
        for name, m, s in zip(respondents, means, spreads, strict=True)
    ]
    return ResponseModel(tuple(fitted), tuple(abilities))
