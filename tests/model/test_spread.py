"""Spreads of systems, moderated towards those of all."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import digamma, polygamma
from scipy.stats import chi2

from steelyard.model.spread import moderated, spread_of


def test_spreads_that_differ_by_chance_only_become_one():
    rng = np.random.default_rng(0)
    freedom = np.full(200, 12.0)
    squares = 4 * chi2.rvs(12, size=200, random_state=rng) / 12
    found, lent = moderated(squares, freedom)
    assert lent > 100
    assert found == pytest.approx(4.0, rel=0.1)


def test_what_is_lent_solves_the_equation_of_smyth():
    # freedom 8 for all: var(log s2) = trigamma(8/2) + trigamma(lent/2)
    squares, freedom = np.array([0.2, 0.5, 1.0, 3.0, 9.0]), np.full(5, 8.0)
    found, lent = moderated(squares, freedom)
    excess = np.var(np.log(squares), ddof=1) - polygamma(1, 4.0)
    want = brentq(lambda d: polygamma(1, d / 2) - excess, 0.1, 100)
    assert lent == pytest.approx(want, rel=1e-6)
    log_common = np.mean(np.log(squares) - digamma(4.0) + np.log(4.0))
    common = np.exp(log_common + digamma(want / 2) - np.log(want / 2))
    assert found == pytest.approx((want * common + 8 * squares) / (want + 8), rel=1e-6)


def test_what_systems_lend_is_found_again_in_a_simulation():
    rng = np.random.default_rng(1)
    true = 6 / chi2.rvs(6, size=4000, random_state=rng)
    squares = true * chi2.rvs(10, size=4000, random_state=rng) / 10
    found, lent = moderated(squares, np.full(4000, 10.0))
    assert lent == pytest.approx(6, rel=0.15)
    assert np.mean((found - true) ** 2) < np.mean((squares - true) ** 2)


@pytest.mark.parametrize("k", [1, 2])
def test_one_or_two_systems_lend_nothing(k):
    squares = np.array([4.0, 1.0])[:k]
    found, lent = moderated(squares, np.full(k, 5.0))
    assert lent == 0
    assert found == pytest.approx(squares)


def test_a_system_of_which_nothing_is_known_has_the_common_spread():
    found, _ = moderated(np.array([4.0, 2.0, np.inf]), np.array([10.0, 30.0, 0.0]))
    assert found == pytest.approx([4.0, 2.0, 2.5])
    found, lent = moderated(np.array([np.inf]), np.array([0.0]))
    assert (found.tolist(), lent) == ([1.0], 0.0)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_no_spread_is_zero(k):
    squares = np.array([0.0, *np.linspace(1, 2, k - 1)])
    found, _ = moderated(squares, np.full(k, 19.0))
    assert (found > 0.05).all()


def test_the_unit_of_the_scores_does_not_matter():
    squares, freedom = np.array([0.2, 0.5, 0.0, 3.0]), np.array([8.0, 3.0, 5.0, 20.0])
    found, lent = moderated(squares, freedom)
    again, lent_again = moderated(1e-12 * squares, freedom)
    assert again == pytest.approx(1e-12 * found, rel=1e-9)
    assert lent_again == pytest.approx(lent)


def drawn_spread(values):
    """The spread of systems' judgments, one row of values for each system."""
    k, n = values.shape
    off = values - values.mean(axis=1, keepdims=True)
    own = np.repeat(np.eye(k), n, axis=0)
    return spread_of(off.ravel(), own, off.var(axis=1, ddof=1), np.full(k, n - 1.0))


def test_kurtosis_is_that_of_fisher_where_it_is_large():
    # one system: k4 / k2^2 of Fisher, corrected for the error of k2^2 and shrunk by 24 / n
    values = np.array([[0.0] * 19 + [10.0]])
    got = drawn_spread(values).kurtosis
    n, m2 = 20, np.var(values)
    m4 = np.mean((values - values.mean()) ** 4)
    cumulant = n**2 * ((n + 1) * m4 - 3 * (n - 1) * m2**2) / ((n - 1) * (n - 2) * (n - 3))
    ratio = cumulant / (n / (n - 1) * m2) ** 2
    found = ratio * (1 + 2 / (n - 1)) / max(1 - ratio / n, 0.1)
    assert got == pytest.approx(found**3 / (found**2 + 24 / n))


def test_normal_judgments_have_no_kurtosis_and_long_tails_have_much():
    rng = np.random.default_rng(2)
    spreads = np.exp(np.linspace(-1, 1, 6))[:, np.newaxis]
    normal = rng.standard_normal((6, 400))
    assert drawn_spread(spreads * normal).kurtosis < 0.3
    # a Student's t of 8 degrees of freedom has an excess kurtosis of 6 / (8 - 4)
    student = spreads * rng.standard_t(8, (6, 4000))
    assert drawn_spread(student).kurtosis == pytest.approx(1.5, abs=0.5)


def test_one_huge_score_is_no_spread_of_its_system_alone():
    rng = np.random.default_rng(3)
    values = rng.standard_normal((5, 40))
    values[0, 0] = 40.0
    squares = values.var(axis=1, ddof=1)
    plain, _ = moderated(squares, np.full(5, 39.0))
    found = drawn_spread(values).variance
    assert (found[1:] > 1.05 * plain[1:]).all()
    assert found[0] < plain[0]
