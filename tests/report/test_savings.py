from dataclasses import replace

import pytest

from steelyard.report.savings import equivalent_judgments


def plain_variance(n, *, item, rater, m, pool):
    """Return the variance of a plain mean of n of N outputs (docs/methods/estimators.md)."""
    return (item + rater / m) * (1 / n - 1 / pool) + rater / m / pool


def test_so_many_judgments_make_the_plain_mean_as_precise(make_estimate):
    item, rater, m, pool, n, rho = 0.5, 0.8, 2, 300, 120, 0.6
    corrected = (item * (1 - rho**2) + rater / m) * (1 / n - 1 / pool) + rater / m / pool
    plain = plain_variance(n, item=item, rater=rater, m=m, pool=pool)
    found = make_estimate("a", 0.0)
    found = replace(
        found,
        standard_error=corrected**0.5,
        n_judgments=n * m,
        pool_size=pool,
        baseline=replace(found.baseline, standard_error=plain**0.5),
    )
    needed = equivalent_judgments(found, item)
    assert needed > n * m
    assert plain_variance(needed / m, item=item, rater=rater, m=m, pool=pool) == pytest.approx(
        corrected
    )


def test_in_an_unlimited_pool_it_is_the_data_efficiency(make_estimate):
    found = replace(make_estimate("a", 0.0), pool_size=None)
    assert equivalent_judgments(found, 0.5) / 40 == pytest.approx(found.data_efficiency)


def test_a_plain_mean_saves_nothing(make_estimate):
    assert equivalent_judgments(make_estimate("a", 0.0, corrected=False)) is None
