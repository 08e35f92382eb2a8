import numpy as np
import pytest
from scipy import stats

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.interval import (
    Interval,
    check_options,
    mean_square_draws,
    mean_square_interval,
    percentiles,
    student_level,
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


def test_the_interval_of_two_rows_of_draws_holds_that_of_each():
    values = np.linspace(0, 1, 101)
    assert percentiles(np.stack([values, values + 2]), 0.9) == pytest.approx((0.05, 2.95))


def test_percentiles_go_as_far_out_as_students():
    # Student's 0.975 quantile with 19 degrees of freedom, times sqrt(20 / 19), is 2.147.
    assert student_level(0.95, 20) == pytest.approx(1 - 2 * stats.norm.sf(2.1474), abs=1e-5)
    assert student_level(0.95, 1e6) == pytest.approx(0.95, abs=1e-5)


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


def test_has_stable_keys_and_prints_itself_in_a_line():
    quantity = Interval(2.0, 1.5, 3.25)
    assert quantity.to_dict() == {"value": 2.0, "low": 1.5, "high": 3.25}
    assert str(quantity) == "2.000 [1.500, 3.250]"
