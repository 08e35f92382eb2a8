from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from steelyard.errors import NotEstimableError
from steelyard.estimate.bradley_terry import Separation, bradley_terry, separation


def games(k, seed):
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(k), 2))
    return pairs, rng.uniform(0.05, 0.95, len(pairs)), rng.uniform(5, 50, len(pairs))


def by_minorization(pairs, shares, weights, k):
    """Hunter's MM algorithm: an independent way to the same maximum."""
    worth = np.ones(k)
    wins = np.zeros(k)
    for (a, b), share, weight in zip(pairs, shares, weights, strict=True):
        wins[a] += share * weight
        wins[b] += (1 - share) * weight
    for _ in range(1_000):
        below = np.zeros(k)
        for (a, b), weight in zip(pairs, weights, strict=True):
            below[[a, b]] += weight / (worth[a] + worth[b])
        worth = wins / below
        worth /= np.exp(np.log(worth).mean())
    return np.log(worth)


def test_two_systems_have_half_the_log_odds_each():
    found = bradley_terry([(0, 1)], np.array([0.8]), np.array([10.0]), systems=2)
    assert found.values == pytest.approx([np.log(4) / 2, -np.log(4) / 2])
    # d theta / d pi = 1 / (2 pi (1 - pi))
    assert found.derivative[:, 0] == pytest.approx([3.125, -3.125])


def test_strengths_are_those_of_the_mm_algorithm():
    pairs, shares, weights = games(4, 1)
    got = bradley_terry(pairs, shares, weights, systems=4).values
    assert got == pytest.approx(by_minorization(pairs, shares, weights, 4), abs=1e-8)


def test_strengths_are_those_of_a_general_optimizer():
    pairs, shares, weights = games(8, 2)
    signs = np.array([[(a == s) - (b == s) for s in range(8)] for a, b in pairs], dtype=float)

    def loss(strength):
        lead = signs @ strength
        return weights @ (shares * np.logaddexp(0, -lead) + (1 - shares) * np.logaddexp(0, lead))

    want = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-9}).x
    got = bradley_terry(pairs, shares, weights, systems=8).values
    assert got == pytest.approx(want - want.mean(), abs=1e-5)


def test_the_derivative_is_that_of_small_changes():
    pairs, shares, weights = games(5, 3)
    found = bradley_terry(pairs, shares, weights, systems=5)
    for number in range(len(pairs)):
        moved = shares.copy()
        moved[number] += 1e-6
        change = bradley_terry(pairs, moved, weights, systems=5).values - found.values
        assert change / 1e-6 == pytest.approx(found.derivative[:, number], abs=1e-4)


@given(st.integers(0, 10_000))
def test_an_extreme_but_connected_tournament_has_strengths(seed):
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(5), 2))
    shares = rng.choice([0.001, 0.999], len(pairs))
    found = bradley_terry(pairs, shares, np.full(len(pairs), 20.0), systems=5)
    assert np.isfinite(found.values).all()
    assert found.values.sum() == pytest.approx(0, abs=1e-8)


def test_systems_that_won_everything_are_named():
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert separation(pairs, np.array([0.5, 1.0, 1.0]), range(3)) == Separation((0, 1), True)
    assert separation(pairs, np.array([0.0, 0.5, 1.0]), range(3)) == Separation((1,), True)
    assert separation(pairs, np.array([1.0, 0.0, 1.0]), range(3)) is None  # a circle
    with pytest.raises(NotEstimableError, match="no bound"):
        bradley_terry(pairs, np.array([1.0, 1.0, 0.5]), np.ones(3), systems=3)


def test_systems_that_were_never_compared_are_named():
    got = separation([(0, 1), (2, 3)], np.array([0.5, 0.5]), range(4))
    assert got == Separation((0, 1), False)
