import numpy as np
import pytest

from steelyard import control_variates
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.stratified import stratified_mean


@pytest.fixture
def campaign():
    """120 judgments by 8 raters of 60 outputs of a pool of 200 in three strata."""
    rng = np.random.default_rng(3)
    metric_pool = rng.normal(size=200)
    strata_pool = np.repeat([0, 1, 2], [100, 60, 40])
    items = np.repeat(
        np.concatenate(
            [rng.choice(np.flatnonzero(strata_pool == h), 20, replace=False) for h in range(3)]
        ),
        2,
    )
    raters = rng.integers(0, 8, size=120)
    leniency = 0.5 * rng.normal(size=8)
    return {
        "human": metric_pool[items] + leniency[raters] + rng.normal(size=120),
        "strata": strata_pool[items],
        "strata_sizes": {0: 100, 1: 60, 2: 40},
        "metric": metric_pool[items],
        "metric_pool": {h: metric_pool[strata_pool == h] for h in range(3)},
        "items": items,
        "raters": raters,
    }


def test_one_stratum_is_control_variates_with_random_raters(campaign):
    pool = np.concatenate(list(campaign["metric_pool"].values()))
    shared = {name: campaign[name] for name in ("items", "raters")}
    want = control_variates(
        campaign["human"], campaign["metric"], pool, raters_as="random", **shared
    )
    got = stratified_mean(
        campaign["human"],
        np.zeros(120),
        {0.0: 200},
        metric=campaign["metric"],
        metric_pool=pool,
        raters_as="random",
        **shared,
    )
    assert got.estimate == pytest.approx(want.estimate)
    # the item variance comes from residuals here and from the crossed model there
    assert got.standard_error == pytest.approx(want.standard_error, rel=0.02)
    assert got.raters == "random"


def test_variance_is_that_of_the_crossed_model():
    # the variance of the estimate's error and the mean of its estimate, by matrices: two strata of
    # unequal spread, plain mean, one to three judgments an output by four raters
    rng = np.random.default_rng(5)
    count = np.array([1, 2, 3, 2, 2, 1, 3, 2, 1, 2])
    output = np.repeat(np.arange(10), count)
    rater = rng.integers(0, 4, size=len(output))
    code = np.array([0] * 6 + [1] * 4)
    size, spread, leniency, noise = np.array([12, 8]), np.array([1.0, 3.0]), 0.7, 0.4
    w = (size / size.sum() / np.bincount(code))[code]
    Z = np.zeros((10, 4))
    np.add.at(Z, (output, rater), 1 / count[output])
    V = np.diag(spread[code] + noise / count) + leniency * Z @ Z.T
    want = w @ V @ w - (spread * size).sum() / size.sum() ** 2
    # expected residual variances of the strata under V, put into the formula of the module
    found = 0.0
    for h in (0, 1):
        own = code == h
        n = own.sum()
        centring = np.eye(n) - 1 / n
        s2 = np.trace(centring @ V[np.ix_(own, own)]) / (n - 1)
        q = np.trace(centring @ Z[own] @ Z[own].T) / (n - 1)
        k = w[own] @ w[own] - size[h] / size.sum() ** 2
        inverse = 1 / count[own]
        found += k * s2 - leniency * k * q + noise * (w[own] ** 2 @ inverse - k * inverse.mean())
    found += leniency * ((w @ Z) ** 2).sum()
    assert found == pytest.approx(want)


@pytest.mark.parametrize("slope", ["combined", "separate", 0.8])
def test_leniency_widens_the_interval_and_leaves_the_estimate(campaign, slope):
    fixed = stratified_mean(**campaign, slope=slope)
    random = stratified_mean(**campaign, slope=slope, raters_as="random")
    assert random.estimate == fixed.estimate
    assert random.standard_error > 1.2 * fixed.standard_error
    assert random.degrees_of_freedom < 20  # eight raters tell little of leniency
    assert random.baseline.raters == "random"


def test_order_of_rows_does_not_matter(campaign):
    order = np.random.default_rng(1).permutation(120)
    rows = ("human", "strata", "metric", "items", "raters")
    shuffled = campaign | {name: campaign[name][order] for name in rows}
    one, other = (stratified_mean(**rows, raters_as="random") for rows in (campaign, shuffled))
    assert other.standard_error == pytest.approx(one.standard_error)


def test_one_judgment_an_output_leaves_the_finite_pool_factor_out(campaign):
    rows = ("human", "strata", "metric", "items", "raters")
    once = campaign | {name: campaign[name][::2] for name in rows}
    got = stratified_mean(**once, raters_as="random")
    assert any("finite-pool correction is left out" in note for note in got.notes)


def test_refuses_what_cannot_be_told(campaign):
    with pytest.raises(InvalidArgumentError, match="`raters` are needed"):
        stratified_mean(**(campaign | {"raters": None}), raters_as="random")
    with pytest.raises(NotEstimableError, match="at least two raters"):
        stratified_mean(**(campaign | {"raters": np.zeros(120)}), raters_as="random")
    with pytest.raises(InvalidArgumentError, match='"adjusted" weights judgments by their raters'):
        stratified_mean(**campaign, raters_as="adjusted")
    with pytest.raises(InvalidArgumentError, match='"census" speaks of the raters at hand'):
        stratified_mean(**campaign, raters_as="random", target="census")
