import numpy as np
import pytest
from scipy import stats

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import Quantity
from steelyard.variance.interval import (
    check_options,
    mean_square_draws,
    mean_square_interval,
    percentiles,
    ratio,
    total,
)


def test_percentiles_leave_out_resamples_that_do_not_define_the_statistic():
    values = np.append(np.linspace(0, 1, 101), np.nan)
    assert percentiles(values, 0.9) == pytest.approx((0.05, 0.95))


def test_percentiles_refuse_when_no_resample_defines_the_statistic():
    with pytest.raises(NotEstimableError, match="second judgment on more outputs"):
        percentiles(np.full(3, np.nan), 0.9)


def test_a_mean_square_alone_has_the_chi_squared_interval():
    # A sample variance 4 with 10 degrees of freedom: its variance is 2 * 16 / 10.
    found = mean_square_interval(4.0, 3.2, 10, level=0.95)
    assert found.low == pytest.approx(40 / stats.chi2.ppf(0.975, 10))
    assert found.high == pytest.approx(40 / stats.chi2.ppf(0.025, 10))


def test_a_component_at_zero_has_a_finite_upper_end():
    found = mean_square_interval(0.0, 0.5, 9, level=0.95)
    assert found.low == 0
    assert 0 < found.high < 10


def test_a_sum_recovers_variances_from_the_intervals():
    found = total(Quantity(1.0, 0.7, 1.4), Quantity(2.0, 1.6, 2.3))
    assert found.value == 3
    assert found.low == pytest.approx(2.5)
    assert found.high == pytest.approx(3.5)


def test_a_ratio_is_the_exponential_of_a_difference():
    found = ratio(Quantity(2.0, 1.0, 4.0), Quantity(2.0, 1.0, 4.0))
    assert found.value == 1
    assert np.log([found.low, found.high]) == pytest.approx(np.log(2) * np.sqrt([2, 2]) * [-1, 1])


def test_a_ratio_of_quantities_that_vary_against_each_other_is_less_sure():
    one, other = Quantity(2.0, 1.0, 4.0), Quantity(2.0, 1.0, 4.0)
    assert np.log(ratio(one, other, correlation=-1.0).high) == pytest.approx(2 * np.log(2))
    assert ratio(one, other, correlation=1.0).high == pytest.approx(1.0)


def test_a_ratio_to_what_may_be_zero_has_no_upper_end():
    assert ratio(Quantity(2.0, 1.0, 4.0), Quantity(1.0, 0.0, 2.0)).high == np.inf
    at_zero = ratio(Quantity(2.0, 1.0, 4.0), Quantity(0.0, 0.0, 2.0))
    assert at_zero.value == np.inf
    assert at_zero.low == 0.5
    none = ratio(Quantity(0.0, 0.0, 1.0), Quantity(2.0, 1.0, 4.0))
    assert none == Quantity(0.0, 0.0, 1.0)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_refuses_a_level_that_is_not_a_probability(level):
    with pytest.raises(InvalidArgumentError, match="`level` must lie between 0 and 1"):
        check_options(level, 2000)


def test_refuses_too_few_resamples():
    with pytest.raises(InvalidArgumentError, match="`resamples` must be at least 40"):
        check_options(0.95, 10)


def test_draws_of_a_component_have_its_interval_as_quantiles():
    found = mean_square_interval(0.3, 0.02, 9, level=0.9)
    rng = np.random.default_rng(1)
    drawn = mean_square_draws(0.3, 0.02, 9, size=200_000, rng=rng)
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx([found.low, found.high], rel=0.02)
