"""The simulations behind decisions 7 and 8 draw, judge and sum up as they say."""

import numpy as np
import pytest
from benchmarks.device_worlds import Kind
from benchmarks.devices import ratio, scored, told
from benchmarks.ledger import plain_half_width, welch_half_width
from benchmarks.savings import CASES, MAIN
from benchmarks.spread import error_row
from benchmarks.spread_intervals import neighbour_deviation, reach_of_neighbours
from benchmarks.spread_worlds import cube, from_sample, generated, ordered_pivotals
from scipy import stats

from steelyard import control_variates
from steelyard.design.spread import ordered_pivotal


class Recorded:
    """A generator that gives the same numbers again."""

    def __init__(self, numbers):
        self._numbers = iter(numbers.T)

    def random(self, _):
        return next(self._numbers)


@pytest.mark.parametrize(("size", "n"), [(20, 7), (30, 15), (60, 50), (9, 1)])
def test_draws_side_by_side_are_those_that_are_made_one_by_one(size, n):
    numbers = np.random.default_rng(1).random((6, size))
    found = ordered_pivotals(size, n, 6, Recorded(numbers))
    for own, row in zip(numbers, found, strict=True):
        chance = iter(own)
        alone = ordered_pivotal(
            size, n, lambda part, total, chance=chance: next(chance) * total < part
        )
        assert sorted(alone) == row.tolist()


def test_the_cube_method_balances_and_gives_equal_chances():
    rng = np.random.default_rng(1)
    values = rng.standard_normal((60, 2))
    drawn = [cube(values, 20, rng) for _ in range(250)]
    assert {len(set(one.tolist())) for one in drawn} == {20}
    count = np.bincount(np.concatenate(drawn), minlength=60)
    assert stats.chisquare(count).pvalue > 1e-4
    off = np.array([values[one].mean(axis=0) - values.mean(axis=0) for one in drawn])
    # Balances are given up for the last two or three outputs of 20 only.
    assert (np.mean(off**2, axis=0) < 0.25 * values.var(axis=0, ddof=1) * (1 / 20 - 1 / 60)).all()


def test_the_reach_of_neighbours_is_students_with_the_documented_degrees_of_freedom():
    # docs/methods/spread.md: 7.4 degrees of freedom of 10 outputs
    reach = reach_of_neighbours(10, np.random.default_rng(1))
    assert reach * np.sqrt(10) == pytest.approx(stats.t.ppf(0.975, 7.4), abs=0.01)
    # differences 1, 2 and 4 one step apart, 3 and 6 two: (1 + 4 + 16 + 9 + 36) / 5 / 2
    assert neighbour_deviation(np.array([0.0, 1, 3, 7])) == pytest.approx(np.sqrt(6.6))


def test_slopes_of_the_sample_are_those_of_control_variates():
    rng = np.random.default_rng(1)
    world = generated("five weak", 2, rng)
    judged = world.judged(rng.choice(600, 30, replace=False), None, rng)
    least_squares, _ = from_sample(judged)
    for one, metric, estimate in zip(judged, world.metrics, least_squares, strict=True):
        got = control_variates(one.sample.human, one.metric, metric, items=one.items)
        assert estimate == pytest.approx(got.estimate)


def test_a_row_of_errors_has_a_ratio_for_each_way():
    row = error_row(lambda rng: generated("linear", 2, rng), 10, 6)
    values = [float(cell.split(" ± ")[0]) for cell in row.split(" | ")]
    assert len(values) == 7
    assert all(0.2 < value < 3 for value in values)


@pytest.mark.parametrize("shape", ["normal", "ties", "binary", "unequal"])
def test_the_truth_of_a_kind_is_the_mean_of_its_fresh_judgments(shape):
    rng = np.random.default_rng(3)
    campaign = Kind(2, 10, shape, raters="ten").made(rng)
    for one in range(2):
        scores = campaign.fresh(one, 200_000, rng)
        assert abs(scores.mean() - campaign.by_these[one]) < 5 * scores.std() / np.sqrt(200_000)


def test_a_ratio_is_marked_only_if_it_is_clearly_above_what_is_allowed():
    ours, other = np.array([[2.0, 4.0], [3.0, 3.0]]), np.ones((2, 2))
    assert ratio(ours, other) == pytest.approx((3.0, 0.0))
    assert told((1.05, 0.01)) == "1.050 ± 0.010 **worse**"
    assert told((1.05, 0.02)) == "1.050 ± 0.020"
    # an interval from 0.5 to 1.5 around the truth 0: its length, and 40 times what it misses by
    assert scored(np.array([1.0, 0.5, 1.5])) == pytest.approx(1 + 40 * 0.5)


def test_half_widths_of_fresh_judgments_are_students_and_welchs():
    a, b = np.random.default_rng(1).standard_normal((2, 1, 12))
    found = stats.ttest_1samp(a[0], 0).confidence_interval()
    assert plain_half_width(a) == pytest.approx([(found.high - found.low) / 2])
    found = stats.ttest_ind(a[0], 2 * b[0, :8], equal_var=False).confidence_interval()
    assert welch_half_width(a, 2 * b[:, :8]) == pytest.approx([(found.high - found.low) / 2])


def test_the_main_cases_of_savings_are_among_all():
    assert set(MAIN) < set(CASES)
