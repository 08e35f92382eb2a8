"""The elimination procedure against an exact computation of its chain, in fractions."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.unequal import inclusion_probabilities, nested_sample

SIZES = np.array([0.2, 0.5, 1, 1, 1.5, 2, 3, 9])
POOLS = {
    "distinct": (1, 2, 3, 4, 5, 6, 7),
    "tied": (1, 1, 2, 2, 2, 5, 5),
    "equal": (3, 3, 3, 3, 3, 3),
    "one giant": (1, 2, 2, 3, 4, 900),
    "two scales": (1, 1, 1, 50, 60, 70, 70),
    "whole at the edge": (1, 1, 1, 1, 2, 2, 4),
}


def exact_probabilities(sizes, n):
    """Cap one output after the other, as the definition says."""
    certain = set()
    while True:
        rest = [one for one in range(len(sizes)) if one not in certain]
        total = sum(Fraction(sizes[one]) for one in rest)
        share = {one: (n - len(certain)) * Fraction(sizes[one]) / total for one in rest}
        over = {one for one in rest if share[one] >= 1}
        if not over:
            return [share.get(one, Fraction(1)) for one in range(len(sizes))]
        certain |= over


def losses(sizes, k):
    """Return with what probability each output goes on the way from k + 1 to k."""
    before, after = exact_probabilities(sizes, k + 1), exact_probabilities(sizes, k)
    return [1 - small / large for small, large in zip(after, before, strict=True)]


def exact_chain(sizes):
    """Return the probability of every set of every size that can be left."""
    chain = {len(sizes): {tuple(range(len(sizes))): Fraction(1)}}
    for k in range(len(sizes) - 1, 0, -1):
        loss = losses(sizes, k)
        found = defaultdict(Fraction)
        for there, probability in chain[k + 1].items():
            assert sum(loss[one] for one in there) == 1
            for one in there:
                if loss[one]:
                    rest = tuple(other for other in there if other != one)
                    found[rest] += probability * loss[one]
        chain[k] = found
    return chain


def drawn_set(sizes, n, seed):
    return tuple(sorted(nested_sample(sizes, n, rng=np.random.default_rng(seed)).tolist()))


@pytest.mark.parametrize("pool", POOLS)
def test_losses_sum_to_one_and_meet_probabilities_and_joint_probabilities_exactly(pool):
    sizes = POOLS[pool]
    everyone = range(len(sizes))
    for n, sets in exact_chain(sizes).items():
        want = exact_probabilities(sizes, n)
        assert [sum(sets[one] for one in sets if i in one) for i in everyone] == want
        steps = [losses(sizes, k) for k in range(n, len(sizes))]
        for i, j in combinations(everyone, 2):
            together = sum(sets[one] for one in sets if i in one and j in one)
            assert together == prod((1 - loss[i] - loss[j] for loss in steps), start=Fraction(1))
            # the condition of Yates and Grundy: variances are never estimated below 0
            assert together <= want[i] * want[j]


@pytest.mark.parametrize("pool", POOLS)
def test_sets_are_drawn_as_often_as_the_exact_chain_says(pool):
    sizes, runs = POOLS[pool], 2000
    for n, sets in exact_chain(sizes).items():
        counts = dict.fromkeys(sets, 0)
        for seed in range(runs):
            # a set that the chain cannot reach is a KeyError
            counts[drawn_set(sizes, n, seed)] += 1
        observed = np.array(list(counts.values()))
        expected = np.array([float(one) * runs for one in sets.values()])
        rare = expected < 5
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        likely = expected > 0
        if likely.sum() > 1:
            assert chisquare(observed[likely], expected[likely]).pvalue > 0.0005


@pytest.mark.parametrize("pool", POOLS)
def test_probabilities_are_those_of_exact_fractions(pool):
    sizes = POOLS[pool]
    for n in range(1, len(sizes) + 1):
        want = [float(one) for one in exact_probabilities(sizes, n)]
        assert inclusion_probabilities(sizes, n) == pytest.approx(want, rel=1e-14)
        tenths = [one / 10 for one in sizes]
        assert inclusion_probabilities(tenths, n) == pytest.approx(want, rel=1e-14)


def test_probabilities_are_proportional_to_size_and_capped():
    # 9 of 18.2 is more than 1/4: certain; 3 of the rest, 9.2: 3 * 3 / 9.2 < 1
    got = inclusion_probabilities(SIZES, 4)
    assert got[-1] == 1
    assert got[:-1] == pytest.approx(3 * SIZES[:-1] / SIZES[:-1].sum())
    # 10 takes one of 3; of the two left, 5 of 7 is certain too; the rest share one
    assert inclusion_probabilities([1, 1, 5, 10], 3) == pytest.approx([0.5, 0.5, 1, 1])
    assert inclusion_probabilities([1, 7, 3], 3).tolist() == [1, 1, 1]


def test_no_rounding_makes_a_probability_zero():
    # 1 + 1e-20 is 1: the larger has nearly all of the draw, but not all
    assert inclusion_probabilities([1, 1e-20], 1) == pytest.approx([1, 1e-20], rel=1e-12)
    assert inclusion_probabilities([1e-20, 1, 3e-20, 1], 3) == pytest.approx([0.25, 1, 0.75, 1])


@settings(max_examples=150, deadline=None)
@given(
    sizes=st.lists(
        st.one_of(st.floats(1e-3, 1e3), st.sampled_from([0.1, 0.3, 1.0, 1e-12, 1e12])),
        min_size=1,
        max_size=40,
    ),
    n=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_every_draw_has_its_size_and_is_part_of_every_larger_one(sizes, n, seed):
    n = min(n, len(sizes))
    probability = inclusion_probabilities(sizes, n)
    assert probability.sum() == pytest.approx(n)
    assert ((probability > 0) & (probability <= 1)).all()
    assert (np.diff(probability[np.argsort(sizes)]) >= -1e-12).all()
    draws = [
        nested_sample(sizes, k, rng=np.random.default_rng(seed)).tolist()
        for k in range(1, len(sizes) + 1)
    ]
    assert [len(set(one)) for one in draws] == list(range(1, len(sizes) + 1))
    for small, large in pairwise(draws):
        assert [one for one in large if one in small] == small
    assert set(np.flatnonzero(probability == 1)) <= set(draws[n - 1])


def test_equal_sizes_make_it_simple_random_sampling():
    sets = dict.fromkeys(combinations(range(6), 3), 0)
    for seed in range(3000):
        sets[drawn_set([0.1] * 6, 3, seed)] += 1
    assert chisquare(list(sets.values())).pvalue > 0.001


def test_the_order_is_random_given_the_set():
    # the certain output comes first as often as any other
    first = np.zeros(8, dtype=int)
    together = 0
    for seed in range(6000):
        drawn = nested_sample(SIZES, 3, rng=np.random.default_rng(seed))
        if set(drawn.tolist()) == {5, 6, 7}:
            together += 1
            first[drawn[0]] += 1
    assert together > 500
    assert chisquare(first[5:]).pvalue > 0.001


def test_the_variance_is_that_of_greatest_entropy_or_less():
    # The variance of sum e/pi by exact joint probabilities, over Hajek's approximation, on which
    # intervals rest. Outputs of like size shut each other out a little: errors that go with the
    # size average out better than the approximation says, all others just as it says.
    sizes = np.linspace(1, 4, 60)
    joint = np.ones((60, 60))
    for k in range(59, 19, -1):
        loss = 1 - inclusion_probabilities(sizes, k) / inclusion_probabilities(sizes, k + 1)
        joint *= 1 - np.add.outer(loss, loss)
    pi = inclusion_probabilities(sizes, 20)
    np.fill_diagonal(joint, pi)
    weight = pi * (1 - pi)

    def ratio(error):
        expanded = error / pi
        exact = expanded @ (joint - np.outer(pi, pi)) @ expanded
        return exact / (weight @ (expanded - weight @ expanded / weight.sum()) ** 2)

    rng = np.random.default_rng(4)
    assert np.mean([ratio(rng.normal(size=60)) for _ in range(400)]) == pytest.approx(1, abs=0.03)
    for error in (np.ones(60), sizes - sizes.mean(), np.log(sizes)):
        assert 0.8 < ratio(error) < 1


def test_large_pools_with_ties_and_wide_ranges_keep_their_probabilities():
    rng = np.random.default_rng(3)
    for size in (
        np.repeat([0.1, 0.3, 0.7], 20_000),
        rng.pareto(1.0, size=60_000) + 1e-3,
        np.full(60_000, 0.1),
    ):
        small, large = (nested_sample(size, n, rng=np.random.default_rng(1)) for n in (999, 40_000))
        assert len(np.unique(large)) == 40_000
        assert np.isin(small, large).all()
        probability = inclusion_probabilities(size, 40_000)
        assert probability.sum() == pytest.approx(40_000, rel=1e-10)
        # the sum of any weights over the draw is near its expectation: 5 standard errors
        weight = rng.normal(size=len(size))
        error = weight[large].sum() - weight @ probability
        assert abs(error) < 5 * np.sqrt((weight**2) @ (probability * (1 - probability)))


def test_wrong_arguments_are_named():
    with pytest.raises(InvalidArgumentError, match="`n` must be from 1 to the size of the pool, 2"):
        inclusion_probabilities([1, 2], 3)
    with pytest.raises(InvalidArgumentError, match=r"`n` must be from 1 to .* got 0"):
        nested_sample([1, 2], 0, rng=np.random.default_rng(0))
    with pytest.raises(InvalidArgumentError, match=r"positive and finite; got inf at position 1"):
        nested_sample([1, np.inf], 1, rng=np.random.default_rng(0))
