"""Spread draws: exact chances by enumeration, and samples that lie evenly over the pool."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from steelyard.design import draw_sample
from steelyard.design.local_pivotal import Nearest, local_pivotal, tour
from steelyard.design.spread import ordered_pivotal, spread_order, spread_sample
from steelyard.errors import InvalidArgumentError


def outcomes(drawing):
    """Return what `drawing(won, chosen)` can come to, each with its exact probability."""
    found, waiting = Counter(), [()]
    while waiting:
        path = waiting.pop()
        met, weight = [], [Fraction(1)]

        def step(choices, path=path, met=met, weight=weight):
            met.append(choices)
            number = path[len(met) - 1] if len(met) <= len(path) else 0
            if len(met) > len(path):
                before = tuple(path) + (0,) * (len(met) - 1 - len(path))
                waiting.extend((*before, other) for other in range(1, len(choices)))
            weight[0] *= choices[number]
            return number

        def won(part, total):
            share = Fraction(part, total)
            if share in (0, 1):
                return share == 1
            return step((share, 1 - share)) == 0

        def chosen(below):
            return step((Fraction(1, below),) * below)

        result = drawing(won, chosen)
        found[tuple(result)] += weight[0]
    return found


def chances(found, size, first=None):
    """Return with what probability each place is among the first of the drawn."""
    total = [Fraction(0)] * size
    for drawn, weight in found.items():
        for one in drawn[:first]:
            total[one] += weight
    return total


@pytest.mark.parametrize(("size", "n"), [(4, 2), (5, 2), (5, 3), (7, 3), (8, 5), (6, 6), (6, 1)])
def test_chances_along_an_order_are_exactly_equal(size, n):
    found = outcomes(lambda won, _: ordered_pivotal(size, n, won))
    assert sum(found.values()) == 1
    assert all(len(set(drawn)) == n for drawn in found)
    assert chances(found, size) == [Fraction(n, size)] * size


def test_neighbours_are_never_drawn_together_from_runs_that_come_out_even():
    # Of 6 in runs of 2 one of each: 2 * 2 * 2 samples, all as likely.
    found = outcomes(lambda won, _: ordered_pivotal(6, 3, won))
    assert found == {(a, b, c): Fraction(1, 8) for a in (0, 1) for b in (2, 3) for c in (4, 5)}


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_each_first_part_of_the_order_has_exactly_equal_chances(first):
    def drawing(won, _):
        def part(places, count):
            return [places[one] for one in sorted(ordered_pivotal(len(places), count, won))]

        return spread_order(part(range(6), 4), part)

    found = outcomes(drawing)
    assert sum(found.values()) == 1
    assert chances(found, 6, first) == [Fraction(first, 6)] * 6


@pytest.mark.parametrize(("size", "n"), [(4, 2), (5, 2), (5, 4)])
def test_chances_over_several_values_are_exactly_equal(size, n):
    points = np.random.default_rng(3).standard_normal((size, 2))
    found = outcomes(lambda won, chosen: local_pivotal(points, n, won, chosen))
    assert sum(found.values()) == 1
    assert all(len(set(drawn)) == n for drawn in found)
    assert chances(found, size) == [Fraction(n, size)] * size


def test_an_extension_in_waves_has_exactly_equal_chances():
    def drawing(won, _):
        first = ordered_pivotal(6, 2, won)
        rest = [one for one in range(6) if one not in first]
        return [*first, *(rest[one] for one in ordered_pivotal(4, 3, won))]

    assert chances(outcomes(drawing), 6) == [Fraction(5, 6)] * 6


def test_each_run_of_the_order_has_one_output():
    rng = np.random.default_rng(1)
    value = rng.permutation(120)
    for _ in range(20):
        drawn, place = spread_sample(value, 12, rng=rng)
        assert sorted(value[drawn] // 10) == list(range(12))
        assert place == pytest.approx((value[drawn] + 0.5) / 120)


def test_each_first_part_lies_evenly_over_the_pool():
    rng = np.random.default_rng(1)
    for _ in range(20):
        drawn, _ = spread_sample(np.arange(160), 16, rng=rng)
        for k in (2, 4, 8):
            # Of a half that is spread, neighbours are at most twice their run apart.
            gaps = [b - a for a, b in pairwise(sorted(drawn[:k]))]
            assert max(gaps) <= 2 * 160 / k + 20


def test_ties_are_drawn_at_random():
    rng = np.random.default_rng(1)
    found = Counter(spread_sample([0, 0, 0, 1], 1, rng=rng)[0][0] for _ in range(2000))
    assert chisquare([found[one] for one in range(4)]).pvalue > 1e-4


def test_the_sample_is_balanced_over_several_values_at_once():
    rng = np.random.default_rng(1)
    values = rng.standard_normal((300, 2))
    off = [values[spread_sample(values, 30, rng=rng)[0]].mean(axis=0) for _ in range(60)]
    error = np.mean((np.array(off) - values.mean(axis=0)) ** 2, axis=0)
    simple = values.var(axis=0, ddof=1) * (1 / 30 - 1 / 300)
    assert (error < 0.35 * simple).all()


def test_the_nearest_in_play_are_those_of_all_distances():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((200, 3))
    near, there = Nearest(points), list(range(200))
    for _ in range(190):
        one = there[int(rng.integers(len(there)))]
        others = [other for other in there if other != one]
        distance = np.linalg.norm(points[others] - points[one], axis=1)
        assert near.of(one) == others[int(distance.argmin())]
        near.remove(one)
        there = others


def test_a_tour_goes_from_neighbour_to_neighbour():
    points = np.array([[0.0, 0.0], [5.0, 5.0], [1.0, 0.0], [4.0, 5.0], [1.5, 1.0]])
    assert tour(points) == [0, 2, 4, 3, 1]


def test_an_extension_begins_with_the_earlier_draw_and_is_a_wave_of_its_own():
    value = np.arange(60)
    small = draw_sample(60, 10, design="spread", by=value, seed=1)
    large = draw_sample(60, 20, design="spread", by=value, extend=small, seed=2)
    assert large.positions[:10].tolist() == small.positions.tolist()
    assert np.floor(large.place).tolist() == [1] * 10 + [2] * 10
    assert large.probability == pytest.approx(np.full(20, 1 / 3))
    assert "extended=10|waves=2" in large.signature


def test_the_seed_makes_the_draw():
    one, again, other = (
        draw_sample(50, 8, design="spread", by=np.arange(50), seed=seed).positions.tolist()
        for seed in (1, 1, 2)
    )
    assert one == again != other


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (None, "`by` is needed"),
        ([1.0] * 9, "shape \\(10,\\)"),
        ([1.0] * 10, "must vary"),
        ([np.nan, *range(9)], "must be finite"),
    ],
)
def test_what_cannot_be_spread_by_is_refused(by, message):
    with pytest.raises(InvalidArgumentError, match=message):
        draw_sample(10, 3, design="spread", by=by, seed=1)
