import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import digamma, polygamma
from scipy.stats import t

from steelyard.estimate.borrowed import MIN_SYSTEMS, Shape, Spread, borrowed_spread

NOBODY = Spread(1.0, 0.0)


def test_prior_solves_smyths_equations():
    variances, freedoms = np.array([1.0, 4.0, 0.3, 2.0, 9.0]), np.array([9.0, 19, 9, 29, 14])
    e = np.log(variances) - digamma(freedoms / 2) + np.log(freedoms / 2)
    excess = e.var(ddof=1) - polygamma(1, freedoms / 2).mean()
    d0 = 2 * brentq(lambda x: polygamma(1, x) - excess, 1e-3, 1e3, xtol=1e-14)
    got = borrowed_spread(variances, freedoms)
    assert got.freedom == pytest.approx(d0, rel=1e-9)
    assert got.variance == pytest.approx(
        np.exp(e.mean() + digamma(d0 / 2) - np.log(d0 / 2)), rel=1e-9
    )


@pytest.mark.parametrize("spread", [0.01, 0.5, 3.0, 30.0, 300.0])
def test_prior_solves_them_for_any_heterogeneity(spread):
    variances = np.exp(spread * np.array([-1.0, -0.3, 0.2, 1.1]))
    freedoms = np.full(4, 1e7)
    excess = np.log(variances).var(ddof=1) - polygamma(1, 5e6)
    got = borrowed_spread(variances, freedoms)
    assert polygamma(1, got.freedom / 2) == pytest.approx(excess, rel=1e-6)


def test_equal_variances_are_pooled():
    got = borrowed_spread(np.full(6, 2.0), np.full(6, 9.0))
    assert got.freedom == 54
    # each is known from 9 degrees of freedom, all of them from 54
    variance, freedom = got.moderated(2.0, 9.0)
    assert freedom == 63
    assert variance == pytest.approx(2.0, rel=0.1)


def test_wildly_different_variances_stay_their_own():
    variances = 10.0 ** np.array([-12, -4, 3, 12])
    got = borrowed_spread(variances, np.full(4, 29.0))
    assert got.freedom < 0.1
    variance, freedom = got.moderated(variances[3], 29.0)
    assert variance == pytest.approx(variances[3], rel=0.01)
    assert freedom == pytest.approx(29, abs=0.1)


def test_prior_is_found_again():
    rng = np.random.default_rng(0)
    true = 3.0 * 8 / rng.chisquare(8, 4000)
    got = borrowed_spread(true * rng.chisquare(19, 4000) / 19, np.full(4000, 19.0))
    assert got.freedom == pytest.approx(8, rel=0.1)
    assert got.variance == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize("variances", [[1.0, 2, 3], [1.0, 2, 3, 0], []])
def test_fewer_than_four_variances_lend_nothing(variances):
    assert MIN_SYSTEMS == 4
    got = borrowed_spread(np.array(variances), np.full(len(variances), 9.0))
    assert got == Spread(0.0, 0.0)
    assert got.moderated(5.0, 9.0) == (5.0, 9.0)


def test_scale_passes_through():
    variances, freedoms = np.array([1.0, 4.0, 0.3, 2.0]), np.full(4, 9.0)
    one, other = (borrowed_spread(c * variances, freedoms) for c in (1.0, 1e-12))
    assert other.freedom == pytest.approx(one.freedom)
    assert other.variance == pytest.approx(1e-12 * one.variance)


@pytest.mark.parametrize("n", [5, 10, 30])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_normal_shape_gives_students_quantiles(n, level):
    residuals = [np.random.default_rng(1).normal(size=20000)]
    low, high = Shape(residuals, seed=3).quantiles(
        n, own=Spread(1.0, n - 1.0), lent=NOBODY, outputs=1.0, rest=np.inf, level=level
    )
    want = t.ppf((1 + level) / 2, n - 1)
    assert high == pytest.approx(want, rel=0.06)
    assert low == pytest.approx(-want, rel=0.06)


def test_the_rest_of_the_error_is_students_with_its_own_freedom():
    shape = Shape([np.random.default_rng(1).exponential(size=500)], seed=3)
    low, high = shape.quantiles(
        10, own=Spread(1.0, 9.0), lent=NOBODY, outputs=0.0, rest=6.0, level=0.95
    )
    assert -low == pytest.approx(high, rel=1e-12)
    assert high == pytest.approx(t.ppf(0.975, 6), rel=0.06)


@pytest.mark.parametrize("outputs", [1.0, 0.6])
def test_a_mirrored_shape_mirrors_the_quantiles(outputs):
    residuals = [np.random.default_rng(seed).exponential(size=20) for seed in range(4)]
    how = {"own": Spread(1.3, 19.0), "lent": Spread(1.0, 7.0), "outputs": outputs, "rest": 9.0}
    low, high = Shape(residuals, seed=1).quantiles(20, **how, level=0.95)
    mirrored = Shape([-one for one in residuals[::-1]], seed=1).quantiles(20, **how, level=0.95)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)
    assert abs(low) > 1.1 * high


def test_what_is_lent_falls_with_the_own_variance_of_which_it_is_a_part():
    # of four independent variances it is a quarter, of four that are one and the same all
    variances, freedoms = np.full(4, 2.0), np.full(4, 9.0)
    assert borrowed_spread(variances, freedoms).alike == pytest.approx(1 / 4)
    assert borrowed_spread(variances, freedoms, overlap=0.5).alike == pytest.approx(2.5 / 4)
    # lent variances that are small when the own is small make the tail longer
    shape = Shape([np.random.default_rng(1).exponential(size=500)], seed=3)
    how = {"own": Spread(1.0, 9.0), "outputs": 1.0, "rest": np.inf, "level": 0.95}
    low, _ = shape.quantiles(10, lent=Spread(1.0, 27.0), **how)
    longer, _ = shape.quantiles(10, lent=Spread(1.0, 27.0, 0.5), **how)
    alone, _ = shape.quantiles(10, lent=Spread(1.0, 27.0, 1.0), **how)
    assert alone < longer < low
    nobody, _ = shape.quantiles(10, lent=NOBODY, **how)
    assert alone == pytest.approx(nobody)


def test_many_outputs_need_no_shape():
    shape = Shape([np.arange(10.0)], seed=1)
    how = {"own": Spread(1.0, 1e4), "lent": NOBODY, "outputs": 1.0, "rest": np.inf}
    assert shape.quantiles(1001, **how, level=0.95) is None
