from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.drawing import draw_sample
from steelyard.sampling.unequal import inclusion_probabilities

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


@pytest.mark.parametrize("n", [3, 6])
def test_the_first_part_of_a_draw_by_size_has_a_share_of_its_probabilities(n):
    # with n = 6 four outputs are certain: they too come first as often as second or third
    runs = 4000
    first = np.zeros((n, len(SIZES)), dtype=int)
    for seed in range(runs):
        draw = draw_sample(8, n, design="proportional-to-size", size=SIZES, seed=seed)
        for k, position in enumerate(draw.positions):
            first[k:, position] += 1
    want = inclusion_probabilities(SIZES, n)
    for k in range(n):
        for count, probability in zip(first[k], want * (k + 1) / n, strict=True):
            assert binomtest(int(count), runs, min(float(probability), 1.0)).pvalue > 0.0002


def by_size(n, seed, *, size=SIZES, extend=None):
    return draw_sample(
        len(size), n, design="proportional-to-size", size=size, extend=extend, seed=seed
    )


@pytest.mark.parametrize("seed", [0, [5, 6]])
def test_a_draw_by_size_is_extended_by_its_own_seed_again_and_again(seed):
    draws = [by_size(2, seed)]
    for n in (3, 5, 5, 8):
        draws.append(by_size(n, seed, extend=draws[-1]))
    for earlier, later in pairwise(draws):
        assert later.positions[: earlier.n].tolist() == earlier.positions.tolist()
        assert later.extended == earlier.n
    for draw in draws:
        want = inclusion_probabilities(SIZES, draw.n)[draw.positions]
        assert draw.probability.tolist() == want.tolist()
        assert set(draw.positions.tolist()) == set(by_size(draw.n, seed).positions.tolist())
    assert "|extended=5|" in draws[-1].signature


def test_an_extended_draw_by_size_meets_the_probabilities_of_its_size():
    runs = 2500
    drawn = np.zeros(len(SIZES), dtype=int)
    for seed in range(runs):
        drawn[by_size(5, seed, extend=by_size(3, seed)).positions] += 1
    for count, probability in zip(drawn, inclusion_probabilities(SIZES, 5), strict=True):
        assert binomtest(int(count), runs, min(float(probability), 1.0)).pvalue > 0.0005


def test_the_first_part_of_an_extended_draw_by_size_has_a_share_if_no_output_is_certain():
    size, runs = np.linspace(1, 2, 6), 2500
    want = inclusion_probabilities(size, 4) * 3 / 4
    assert want.max() < 3 / 4
    first = np.zeros(6, dtype=int)
    for seed in range(runs):
        earlier = by_size(2, seed, size=size)
        first[by_size(4, seed, size=size, extend=earlier).positions[:3]] += 1
    for count, probability in zip(first, want, strict=True):
        assert binomtest(int(count), runs, float(probability)).pvalue > 0.0005


def test_what_differs_from_the_earlier_draw_by_size_is_named():
    earlier = by_size(4, 1)
    with pytest.raises(InvalidArgumentError, match=r"that of the earlier draw.*: 1; got 2"):
        by_size(6, 2, extend=earlier)
    with pytest.raises(
        InvalidArgumentError, match=r"whole draw by these sizes; \d of its 4 outputs"
    ):
        by_size(6, 1, size=SIZES**2, extend=earlier)
    others = np.setdiff1d(np.arange(8), earlier.positions)
    positions = np.array([*earlier.positions[earlier.positions == 7], *others[:3]])
    probability = inclusion_probabilities(SIZES, 4)[positions]
    foreign = replace(earlier, positions=positions, probability=probability)
    with pytest.raises(
        InvalidArgumentError, match=r"what seed 1 draws .* 3 of its 4 outputs are not"
    ):
        by_size(6, 1, extend=foreign)
    with pytest.raises(InvalidArgumentError, match=r"`n` counts the earlier draw in.*4; got 3"):
        by_size(3, 1, extend=earlier)
    with pytest.raises(InvalidArgumentError, match="drawn from 8 outputs and there are 7"):
        by_size(6, 1, size=SIZES[:7], extend=earlier)


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
    paired = draw_sample(6, 2, design="paired", differs=[True] * 3 + [False] * 3, seed=0)
    with pytest.raises(InvalidArgumentError, match="`extend` must be a draw from the same pool"):
        draw_sample(6, 3, design="paired", differs=[False] * 3 + [True] * 3, extend=paired, seed=1)


def test_a_large_pool_is_drawn_without_a_loop():
    size = np.random.default_rng(0).gamma(2.0, size=200_000)
    draw = draw_sample(200_000, 5000, design="proportional-to-size", size=size, seed=1)
    assert len(np.unique(draw.positions)) == 5000
