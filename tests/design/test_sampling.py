from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from steelyard.design.sampling import draw_sample
from steelyard.design.unequal import inclusion_probabilities, pivotal
from steelyard.errors import InvalidArgumentError

SIZES = np.array([0.2, 0.5, 1, 1, 1.5, 2, 3, 9])


def frequencies(runs, draw):
    """Number of times that each of six outputs, and each set of them, is drawn."""
    sets = {}
    for seed in range(runs):
        key = tuple(sorted(draw(seed).positions.tolist()))
        sets[key] = sets.get(key, 0) + 1
    return sets


def is_uniform(sets, possible):
    counts = [sets.pop(key, 0) for key in possible]
    assert not sets
    return chisquare(counts).pvalue > 0.001


def test_simple_draws_every_set_equally_often():
    sets = frequencies(3000, lambda seed: draw_sample(6, 3, seed=seed))
    assert is_uniform(sets, combinations(range(6), 3))


def test_order_of_a_draw_is_random():
    first = [int(draw_sample(6, 3, seed=seed).positions[0]) for seed in range(3000)]
    assert chisquare(np.bincount(first)).pvalue > 0.001


def test_an_extended_draw_is_a_simple_random_sample_of_the_larger_size():
    def extended(seed):
        earlier = draw_sample(6, 2, seed=[seed, 1])
        later = draw_sample(6, 3, extend=earlier, seed=[seed, 2])
        assert later.positions[:2].tolist() == earlier.positions.tolist()
        assert later.extended == 2
        return later

    assert is_uniform(frequencies(3000, extended), combinations(range(6), 3))


def test_a_stratified_draw_and_its_extension_are_uniform_within_strata():
    strata = np.array(list("aaabbbbb"))

    def extended(seed):
        earlier = draw_sample(8, 4, design="stratified", strata=strata, seed=[seed, 1])
        return draw_sample(8, 5, design="stratified", strata=strata, extend=earlier, seed=[seed, 2])

    possible = [(*a, *b) for a in combinations(range(3), 2) for b in combinations(range(3, 8), 3)]
    assert is_uniform(frequencies(3000, extended), possible)
    draw = extended(0)
    by_stratum = {"a": 2 / 3, "b": 3 / 5}
    assert draw.probability.tolist() == [by_stratum[name] for name in draw.strata]
    assert dict(draw.strata_sizes) == {"a": 3, "b": 5}


def test_neyman_allocation_follows_the_deviations():
    strata = np.repeat(["a", "b"], 100)
    draw = draw_sample(
        200, 40, design="stratified", strata=strata, deviations={"a": 1, "b": 3}, seed=0
    )
    assert np.unique(draw.strata, return_counts=True)[1].tolist() == [10, 30]
    assert set(draw.probability.tolist()) == {0.1, 0.3}


def test_probabilities_are_proportional_to_size_and_capped():
    # 9 of 18.2 is more than 1/4: certain; 3 of the rest, 9.2: 3 * 3 / 9.2 < 1
    got = inclusion_probabilities(SIZES, 4)
    assert got[-1] == 1
    assert got[:-1] == pytest.approx(3 * SIZES[:-1] / SIZES[:-1].sum())
    # 10 takes one of 3; of the two left, 5 of 7 is certain too; the rest share one
    assert inclusion_probabilities([1, 1, 5, 10], 3) == pytest.approx([0.5, 0.5, 1, 1])
    assert inclusion_probabilities([1, 7, 3], 3).tolist() == [1, 1, 1]


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40),
    n=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_unequal_draws_have_their_size_and_probabilities_their_sum(sizes, n, seed):
    n = min(n, len(sizes))
    probability = inclusion_probabilities(sizes, n)
    assert probability.sum() == pytest.approx(n)
    assert ((probability > 0) & (probability <= 1)).all()
    assert (np.diff(probability[np.argsort(sizes)]) >= -1e-12).all()
    drawn = pivotal(probability, rng=np.random.default_rng(seed))
    assert len(drawn) == n
    assert set(np.flatnonzero(probability == 1)) <= set(drawn.tolist())


@pytest.mark.parametrize("n", [2, 4, 6])
def test_unequal_draws_meet_their_probabilities(n):
    runs = 4000
    want = inclusion_probabilities(SIZES, n)
    drawn = np.zeros(len(SIZES), dtype=int)
    for seed in range(runs):
        draw = draw_sample(8, n, design="proportional-to-size", size=SIZES, seed=seed)
        drawn[draw.positions] += 1
        assert draw.probability == pytest.approx(want[draw.positions])
    for count, probability in zip(drawn, want, strict=True):
        assert binomtest(int(count), runs, min(float(probability), 1.0)).pvalue > 0.0005


def test_equal_probabilities_make_the_pivotal_method_simple_random_sampling():
    sets = frequencies(
        3000, lambda seed: draw_sample(6, 3, design="proportional-to-size", size=[2] * 6, seed=seed)
    )
    assert is_uniform(sets, combinations(range(6), 3))


def test_every_pair_can_be_drawn_about_as_often_as_under_greatest_entropy():
    # joint probabilities of conditional Poisson sampling with the same probabilities, by Hajek's
    # approximation: pi_k pi_l [1 - (1 - pi_k)(1 - pi_l) / sum pi (1 - pi)]
    sizes = np.linspace(1, 4, 12)
    pi = inclusion_probabilities(sizes, 5)
    runs = 4000
    joint = np.zeros((12, 12))
    for seed in range(runs):
        drawn = pivotal(pi, rng=np.random.default_rng(seed))
        joint[np.ix_(drawn, drawn)] += 1 / runs
    want = np.outer(pi, pi) * (1 - np.outer(1 - pi, 1 - pi) / (pi @ (1 - pi)))
    off = ~np.eye(12, dtype=bool)
    error = np.sqrt(want * (1 - want) / runs)
    assert (joint[off] > 0).all()
    assert np.abs((joint - want) / error)[off].max() < 5


def test_a_paired_draw_takes_only_items_that_differ():
    differs = np.array([True, False] * 10)
    draw = draw_sample(20, 5, design="paired", differs=differs, seed=1)
    assert differs[draw.positions].all()
    assert draw.share == 0.5
    assert draw.probability.tolist() == [0.5] * 5
    assert draw.differing == 10
    larger = draw_sample(20, 8, design="paired", differs=differs, extend=draw, seed=2)
    assert larger.positions[:5].tolist() == draw.positions.tolist()
    assert differs[larger.positions].all()


def test_the_signature_tells_the_draw_and_the_seed_repeats_it():
    draw = draw_sample(50, 10, design="stratified", strata=np.arange(50) % 3, seed=[7, 8])
    again = draw_sample(50, 10, design="stratified", strata=np.arange(50) % 3, seed=[7, 8])
    assert draw.positions.tolist() == again.positions.tolist()
    assert draw.signature.startswith("stratified|n=10|N=50|strata=3|seed=7,8|steelyard=")
    assert (
        "differing=4|"
        in draw_sample(8, 2, design="paired", differs=[True, False] * 4, seed=0).signature
    )
    assert "extended=3|" in draw_sample(9, 4, extend=draw_sample(9, 3, seed=0), seed=0).signature


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((5, 6), {}, "`n` must be from 1 to the size of the pool, 5; got 6"),
        ((5, 0), {}, "`n` must be from 1"),
        ((5, 2), {"design": "quota"}, "`design` must be one of simple.*got 'quota'"),
        ((5, 2), {"design": "stratified"}, '`strata` is needed for design "stratified"'),
        ((5, 4), {"design": "stratified", "strata": "ab"}, r"`strata` must hold one value.*\(5,\)"),
        ((5, 2), {"design": "proportional-to-size"}, "`size` is needed"),
        (
            (3, 2),
            {"design": "proportional-to-size", "size": [1, 0, 2]},
            "`size` must be positive and finite; got 0 at position 1",
        ),
        ((3, 2), {"design": "paired"}, "`differs` is needed"),
        (
            (3, 2),
            {"design": "paired", "differs": [True, False, False]},
            "`n` must not exceed the 1 items on which the systems differ; got 2",
        ),
    ],
)
def test_wrong_arguments_are_named(arguments, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        draw_sample(*arguments, **options, seed=0)


def test_an_extension_must_fit():
    earlier = draw_sample(10, 4, seed=0)
    with pytest.raises(InvalidArgumentError, match=r"`n` counts the earlier draw in.*4; got 3"):
        draw_sample(10, 3, extend=earlier, seed=1)
    with pytest.raises(InvalidArgumentError, match="drawn from 10 outputs and there are 11"):
        draw_sample(11, 6, extend=earlier, seed=1)
    with pytest.raises(InvalidArgumentError, match="same design; got simple for stratified"):
        draw_sample(10, 6, design="stratified", strata=[1] * 10, extend=earlier, seed=1)
    unequal = draw_sample(10, 4, design="proportional-to-size", size=range(1, 11), seed=0)
    with pytest.raises(
        InvalidArgumentError, match=r"do not sum to a whole number.*judge it in order"
    ):
        draw_sample(10, 6, design="proportional-to-size", size=range(1, 11), extend=unequal, seed=1)
    paired = draw_sample(6, 2, design="paired", differs=[True] * 3 + [False] * 3, seed=0)
    with pytest.raises(InvalidArgumentError, match="`extend` must be a draw from the same pool"):
        draw_sample(6, 3, design="paired", differs=[False] * 3 + [True] * 3, extend=paired, seed=1)


def test_the_pivotal_method_needs_a_whole_sum():
    with pytest.raises(InvalidArgumentError, match=r"with a whole sum; got sum 0\.7"):
        pivotal([0.3, 0.4], rng=np.random.default_rng(0))
    with pytest.raises(InvalidArgumentError, match="`n` must be from 1 to the size of the pool, 2"):
        inclusion_probabilities([1, 2], 3)


def test_a_large_pool_is_drawn_without_a_loop():
    size = np.random.default_rng(0).gamma(2.0, size=200_000)
    draw = draw_sample(200_000, 5000, design="proportional-to-size", size=size, seed=1)
    assert len(np.unique(draw.positions)) == 5000
