"""Draws against exact probabilities and all possible sets."""

import itertools
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.draw import by_size, by_strata, inclusion_probabilities, simple
from steelyard.sampling.strata import allocation, quantile_strata

SIZES = np.array([0.2, 0.5, 1, 1, 1.5, 2, 3, 9])


def is_uniform(draw, possible, runs=3000):
    """Whether each possible set is drawn as often as any other."""
    counts = {tuple(one): 0 for one in possible}
    for seed in range(runs):
        # a set that is not possible is a KeyError
        counts[tuple(sorted(draw(np.random.default_rng(seed)).positions.tolist()))] += 1
    return chisquare(list(counts.values())).pvalue > 0.001


def test_a_simple_draw_and_its_extension_give_every_set_one_chance():
    def extended(rng):
        earlier = simple(6, 2, rng=rng)
        later = simple(6, 3, rng=rng, earlier=earlier.positions)
        assert later.positions[:2].tolist() == earlier.positions.tolist()
        assert later.extended == 2
        return later

    assert is_uniform(lambda rng: simple(6, 3, rng=rng), combinations(range(6), 3))
    assert is_uniform(extended, combinations(range(6), 3))


def test_the_order_of_a_draw_is_random():
    first = [int(simple(6, 3, rng=np.random.default_rng(run)).positions[0]) for run in range(3000)]
    assert chisquare(np.bincount(first)).pvalue > 0.001


def test_a_stratified_draw_and_its_extension_are_uniform_within_strata():
    strata = np.array(list("aaabbbbb"))

    def extended(rng):
        return by_strata(strata, 5, rng=rng, earlier=by_strata(strata, 4, rng=rng).positions)

    possible = [(*a, *b) for a in combinations(range(3), 2) for b in combinations(range(3, 8), 3)]
    assert is_uniform(extended, possible)
    draw = extended(np.random.default_rng(0))
    chance = {"a": 2 / 3, "b": 3 / 5}
    assert draw.probability.tolist() == [chance[name] for name in draw.strata]
    assert draw.strata_sizes == {"a": 3, "b": 5}


def test_a_paired_draw_takes_only_items_that_differ():
    differs = np.array([True, False] * 10)
    draw = simple(20, 5, rng=np.random.default_rng(1), differs=differs)
    assert differs[draw.positions].all()
    assert (draw.share, draw.differing) == (0.5, 10)
    assert draw.probability.tolist() == [0.5] * 5
    rng = np.random.default_rng(2)
    larger = simple(20, 8, rng=rng, differs=differs, earlier=draw.positions)
    assert larger.positions[:5].tolist() == draw.positions.tolist()
    with pytest.raises(InvalidArgumentError, match="the 10 items on which the systems differ"):
        simple(20, 11, rng=rng, differs=differs)
    with pytest.raises(InvalidArgumentError, match="`extend` must be a draw from the same pool"):
        simple(20, 8, rng=rng, differs=~differs, earlier=draw.positions)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_draws_by_size_and_their_first_parts_meet_their_probabilities(n):
    # with n = 6 four outputs are certain: they too come first as often as second or third
    runs = 3000
    want = inclusion_probabilities(SIZES, n)
    first = np.zeros((n, len(SIZES)), dtype=int)
    for seed in range(runs):
        draw = by_size(SIZES, n, rng=np.random.default_rng([5, seed]))
        assert len(set(draw.positions.tolist())) == n
        for k, position in enumerate(draw.positions):
            first[k:, position] += 1
    for k in range(n):
        for count, probability in zip(first[k], want * (k + 1) / n, strict=True):
            assert binomtest(int(count), runs, min(float(probability), 1.0)).pvalue > 0.0002


def exact_probabilities(sizes, n):
    """Cap one output after the other, as the definition says."""
    certain = set()
    while True:
        rest = [one for one in range(len(sizes)) if one not in certain]
        total = sum(Fraction(sizes[one]) for one in rest)
        share = {one: (n - len(certain)) * Fraction(sizes[one]) / total for one in rest}
        over = {one for one in rest if share[one] >= 1}
        if not over:
            return [float(share.get(one, 1)) for one in range(len(sizes))]
        certain |= over


@given(st.lists(st.integers(1, 900), min_size=1, max_size=8), st.integers(1, 8))
def test_probabilities_are_those_of_exact_fractions(sizes, n):
    n = min(n, len(sizes))
    found = inclusion_probabilities(np.array(sizes, dtype=float), n)
    assert found == pytest.approx(exact_probabilities(sizes, n), rel=1e-12)
    assert found.sum() == pytest.approx(n)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_a_size_that_is_none_is_named(size):
    with pytest.raises(InvalidArgumentError, match=r"positive and finite; got .* at position 1"):
        inclusion_probabilities(np.array([1.0, size, 2.0]), 2)


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4), n=st.integers(2, 30))
def test_no_other_allocation_has_less_variance(sizes, n):
    least = sum(min(2, size) for size in sizes)
    n = min(max(n, least), sum(sizes))
    found = allocation(n, np.array(sizes), at_least=np.zeros(len(sizes), int))
    assert found.sum() == n

    def variance(counts):
        return sum(N**2 / k for N, k in zip(sizes, counts, strict=True))

    choices = itertools.product(*(range(min(2, size), size + 1) for size in sizes))
    best = min(variance(counts) for counts in choices if sum(counts) == n)
    assert variance(found) == pytest.approx(best)


def test_an_allocation_keeps_what_was_drawn():
    assert allocation(12, np.array([50, 50]), at_least=np.array([9, 2])).tolist() == [9, 3]
    with pytest.raises(InvalidArgumentError, match="at least 4, two outputs in each of 2 strata"):
        allocation(3, np.array([10, 20]), at_least=np.zeros(2, int))


def test_quantiles_share_ties():
    assert quantile_strata(np.array([10, 60, 30, 40, 50, 20.0]), 3).tolist() == [1, 3, 2, 2, 3, 1]
    # four tied outputs of six have middle rank 2.5: floor(3 * 2 / 6) = stratum 2 of 3, compacted
    assert quantile_strata(np.array([1, 1, 1, 1, 2, 3.0]), 3).tolist() == [1, 1, 1, 1, 2, 2]


@given(st.integers(4, 60), st.integers(2, 9), st.integers(0, 999))
def test_strata_of_distinct_values_differ_by_one_output_at_most(size, count, seed):
    metric = np.random.default_rng(seed).permutation(size) * 0.1
    found = quantile_strata(metric, min(count, size))
    sizes = np.bincount(found)[1:]
    assert len(sizes) == min(count, size)
    assert sizes.max() - sizes.min() <= 1
    assert (np.diff(found[np.argsort(metric)]) >= 0).all()


@pytest.mark.parametrize(
    ("metric", "count", "message"),
    [
        ([1, 2, 3], 1, "the number of strata must be from 2 to the size of the pool, 3; got 1"),
        ([1, 2, 3], 4, "the number of strata must be from 2 to the size of the pool, 3; got 4"),
        ([2, 2, 2], 2, "a metric must vary to make strata; every output has 2"),
    ],
)
def test_strata_that_cannot_be_are_named(metric, count, message):
    with pytest.raises(InvalidArgumentError, match=message):
        quantile_strata(np.array(metric, dtype=float), count)
