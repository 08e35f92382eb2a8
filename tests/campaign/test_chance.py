import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from steelyard.campaign.chance import chance_bound, standard_errors_off
from steelyard.single.pool import PoolMoments

POOLS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "heavy": lambda rng, size: np.exp(2 * rng.normal(size=size)),
    "rare": lambda rng, size: (rng.uniform(size=size) < 0.03).astype(float),
    "even": lambda rng, size: rng.permutation(np.arange(size) % 2).astype(float),
}


def test_standard_errors_match_a_hand_worked_example():
    # mean 5 against 3; S^2 = 8/3 + ... of 1, 2, 3, 6 is 14/3, so 2 / sqrt(14/3 (1/2 - 1/4))
    pool = PoolMoments.of([1.0, 2.0, 3.0, 6.0])
    found = standard_errors_off([[4.0], [6.0]], pool)
    assert found == pytest.approx([2 / np.sqrt(14 / 3 / 4)])


def test_a_constant_metric_and_a_pool_that_is_judged_whole_are_not_off():
    pool = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    assert standard_errors_off(pool[:3], PoolMoments.of(pool))[0] == 0
    assert standard_errors_off(pool, PoolMoments.of(pool)).tolist() == [0, 0]
    assert chance_bound(pool[:3, 0], pool[:, 0]) == 1
    assert chance_bound(pool[:, 1], pool[:, 1]) == 1


@pytest.mark.parametrize(("n", "size"), [(5, 40), (20, 200), (60, 80)])
def test_the_bound_is_never_below_the_exact_probability_of_a_binary_metric(n, size):
    ones = size // 4
    pool = np.repeat([1.0, 0.0], [ones, size - ones])
    for hits in range(max(0, n - (size - ones)), min(n, ones) + 1):
        judged = np.repeat([1.0, 0.0], [hits, n - hits])
        low, high = hypergeom.cdf(hits, size, ones, n), hypergeom.sf(hits - 1, size, ones, n)
        assert chance_bound(judged, pool) >= min(low, high)


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize(("n", "size"), [(3, 60), (12, 120), (60, 90)])
def test_chance_gets_below_the_bound_no_more_often_than_it_says(kind, n, size):
    rng = np.random.default_rng([n, size])
    pool = POOLS[kind](rng, size)
    runs = 400
    found = np.array([chance_bound(rng.choice(pool, n, replace=False), pool) for _ in range(runs)])
    for level in (0.2, 0.02):
        assert (found <= level).sum() <= binom.ppf(0.9999, runs, level)
    # about ten times too careful, which the level of the notes counts on
    assert (found <= 0.02).mean() <= 0.0075


def test_outputs_chosen_by_the_metric_are_found_out():
    rng = np.random.default_rng(0)
    for kind in ("normal", "exponential", "even"):
        pool = np.sort(POOLS[kind](rng, 160))
        assert chance_bound(pool[80:], pool) < 1e-9


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_scale_origin_and_sign_do_not_matter(origin, scale, turned):
    rng = np.random.default_rng(5)
    pool = rng.exponential(size=80)
    judged = np.sort(pool)[50:70]
    factor = -scale if turned else scale
    assert chance_bound(origin + factor * judged, origin + factor * pool) == pytest.approx(
        chance_bound(judged, pool), rel=1e-6
    )
    moved = PoolMoments.of(origin + factor * pool)
    [z] = standard_errors_off((origin + factor * judged)[:, np.newaxis], moved)
    [expected] = standard_errors_off(judged[:, np.newaxis], PoolMoments.of(pool))
    assert abs(z) == pytest.approx(abs(expected))
