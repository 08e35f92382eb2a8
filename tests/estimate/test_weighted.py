import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import PoolMoments, control_variates, sample_mean
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.weighted import weighted_mean


@pytest.fixture
def campaign():
    """60 judgments of 30 outputs of a pool of 100, drawn with unequal probabilities."""
    rng = np.random.default_rng(4)
    metric_pool = rng.normal(size=(100, 2))
    items = np.repeat(rng.choice(100, 30, replace=False), 2)
    probability = 0.1 + 0.4 / (1 + np.exp(metric_pool[:, 0]))
    return {
        "human": metric_pool[items] @ [0.8, 0.2] + rng.normal(size=60),
        "probability": probability[items],
        "pool_size": 100,
        "metric": metric_pool[items],
        "metric_pool": metric_pool,
        "items": items,
    }


def test_matches_a_hand_worked_example():
    # y/pi = 10 20 15 12.5, sum 57.5; 1/pi sums to 27.5
    got = weighted_mean([1, 2, 3, 5], [0.1, 0.1, 0.2, 0.4], pool_size=30)
    assert got.estimate == pytest.approx(57.5 / 27.5)
    total = weighted_mean([1, 2, 3, 5], [0.1, 0.1, 0.2, 0.4], pool_size=30, form="horvitz-thompson")
    assert total.estimate == pytest.approx(57.5 / 30)
    # with replacement: n/(n-1) sum (r - mean r)^2 / N^2 with r = 10 20 15 12.5, mean 14.375
    squares = 4.375**2 + 5.625**2 + 0.625**2 + 1.875**2
    assert total.standard_error**2 == pytest.approx(4 / 3 * squares / 900)
    # the last output carries little, so there are fewer than three degrees of freedom
    assert total.degrees_of_freedom == pytest.approx(freedom_by_matrices([0.1, 0.1, 0.2, 0.4]))


def freedom_by_matrices(probability, count=None):
    """(tr B)^2 / tr B^2 for expanded values around their mean, with whole matrices."""
    D = np.diag(1 / np.asarray(probability))
    c = np.ones(len(D)) if count is None else np.asarray(count)
    T = D - np.ones(len(D))[:, None] * (c @ D) / c.sum()
    B = np.sqrt(c)[:, None] * (T @ T.T) * np.sqrt(c)
    return np.trace(B) ** 2 / np.trace(B @ B)


def test_census_variance_by_hand():
    # c = 1 - pi = 0.5 0.5 0.75 0.75; r = y/pi = 2 6 4 4; rbar = (1 + 3 + 3 + 3)/2.5 = 4, Q = 2 + 2
    # T = diag(1/pi) - 1 s' with s = c/pi / 2.5 = 0.4 0.4 1.2 1.2, squares adding up to 3.2, so its
    # rows have squares 1.6^2 + 3.04 = 5.6 (twice) and 2.8^2 + 1.76 = 9.6 (twice): tr B = 20
    # weights 1/pi / 8 have squares 40/64, of which the pool exhausts sum(1/pi) / 64 = 12/64
    got = weighted_mean(
        [1, 3, 1, 1],
        [0.5, 0.5, 0.25, 0.25],
        pool_size=8,
        items=[1, 2, 3, 4],
        target="census",
        form="horvitz-thompson",
    )
    assert got.standard_error**2 == pytest.approx(4 / 20 * 28 / 64)
    want = freedom_by_matrices([0.5, 0.5, 0.25, 0.25], [0.5, 0.5, 0.75, 0.75])
    assert got.degrees_of_freedom == pytest.approx(want)


def test_degrees_of_freedom_match_whole_matrices(campaign):
    # the residual of the weighted regression, one unit vector of mean judgments at a time
    got = weighted_mean(**campaign, target="census")
    _, first = np.unique(campaign["items"], return_index=True)
    pi = campaign["probability"][first]
    X = np.column_stack([np.ones(30), campaign["metric"][first]])
    root = 1 / np.sqrt(pi)[:, None]
    fitted = X @ np.linalg.lstsq(X * root, root * np.eye(30), rcond=None)[0]
    r = (np.eye(30) - fitted) / pi[:, None]
    T = r - (1 - pi) @ r / (1 - pi).sum()
    B = np.sqrt(1 - pi)[:, None] * (T @ T.T) * np.sqrt(1 - pi)
    assert got.degrees_of_freedom == pytest.approx(np.trace(B) ** 2 / np.trace(B @ B))
    # and the variance is that of errors of one variance, told from the same sum of squares
    y = np.array(
        [campaign["human"][campaign["items"] == i].mean() for i in np.unique(campaign["items"])]
    )
    away = campaign["metric_pool"].mean(axis=0)
    weights = (
        np.concatenate([[1], away]) @ np.linalg.lstsq(X * root, root * np.eye(30), rcond=None)[0]
    )
    left = weights @ weights - 1 / (1 / pi).sum()
    assert got.standard_error**2 == pytest.approx((1 - pi) @ (T @ y) ** 2 / np.trace(B) * left)


def test_a_few_outputs_that_carry_the_variance_leave_few_degrees_of_freedom():
    probability = [0.5] * 8 + [0.1] * 2
    got = weighted_mean([0] * 8 + [1] * 2, probability, pool_size=36, form="horvitz-thompson")
    assert got.degrees_of_freedom == pytest.approx(freedom_by_matrices(probability))
    assert got.degrees_of_freedom < 3


def test_very_uneven_probabilities_are_pointed_out():
    got = weighted_mean([1, 2, 1, 3, 2, 1, 2, 2, 1], [0.9] * 8 + [0.01], pool_size=100)
    assert "a few outputs with small probabilities" in got.notes[-1]


def test_outputs_drawn_with_certainty_add_rater_noise_only():
    # outputs 1 and 2 certain; the others r = 2 6 with c = 1/2: rbar 4, n_e = 2, V = 4 * 2 / N^2
    human = np.repeat([9, 7, 1, 3], 2) + np.tile([-1, 1], 4)
    got = weighted_mean(
        human,
        np.repeat([1, 1, 0.5, 0.5], 2),
        pool_size=6,
        items=np.repeat(range(4), 2),
        form="horvitz-thompson",
        rater_variance=2.0,
    )
    # rater variance 2, so 1 an output: noise (1 + 1 + 2 + 2) / 36
    assert got.standard_error**2 == pytest.approx((8 + 6) / 36)


@pytest.mark.parametrize("form", ["hajek", "horvitz-thompson"])
@pytest.mark.parametrize("slope", ["least-squares", [0.5, 0.1]])
@pytest.mark.parametrize("target", ["pool", "census"])
def test_equal_probabilities_give_control_variates(campaign, form, slope, target):
    equal = campaign | {"probability": np.full(60, 0.3)}
    got = weighted_mean(**equal, form=form, slope=slope, target=target)
    want = control_variates(
        campaign["human"],
        campaign["metric"],
        campaign["metric_pool"],
        items=campaign["items"],
        slope=slope,
        target=target,
    )
    same_numbers(got, want)
    same_numbers(got.baseline, want.baseline)
    assert got.data_efficiency == pytest.approx(want.data_efficiency)


def test_equal_probabilities_give_the_sample_mean(campaign):
    human, items = campaign["human"], campaign["items"]
    for known in (None, 0.7):
        got = weighted_mean(
            human, np.full(60, 0.3), pool_size=100, items=items, rater_variance=known
        )
        same_numbers(got, sample_mean(human, items=items, pool_size=100, rater_variance=known))
    got = weighted_mean(human[::2], np.full(30, 0.3), pool_size=100, items=items[::2])
    same_numbers(got, sample_mean(human[::2], items=items[::2], pool_size=100))
    assert "no output has two judgments" in got.notes[0]


def same_numbers(got, want):
    for name in ("estimate", "standard_error", "low", "high", "degrees_of_freedom"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-9)


def test_slope_and_estimate_are_the_generalised_regression(campaign):
    # an independent route: least squares with an intercept on rows weighted by 1/sqrt(pi)
    got = weighted_mean(**campaign)
    distinct, first = np.unique(campaign["items"], return_index=True)
    y = np.array([campaign["human"][campaign["items"] == i].mean() for i in distinct])
    root = 1 / np.sqrt(campaign["probability"][first])
    X = np.column_stack([np.ones(30), campaign["metric"][first]])
    beta = np.linalg.lstsq(X * root[:, None], y * root, rcond=None)[0]
    assert got.slope == pytest.approx(tuple(beta[1:]))
    assert got.estimate == pytest.approx(beta[0] + beta[1:] @ campaign["metric_pool"].mean(axis=0))


def test_difference_form_is_the_formula(campaign):
    a = np.array([0.4, -0.2])
    got = weighted_mean(**campaign, slope=a, form="horvitz-thompson")
    each = (campaign["human"] - campaign["metric"] @ a) / campaign["probability"]
    want = campaign["metric_pool"].mean(axis=0) @ a + each.sum() / 2 / 100
    assert got.estimate == pytest.approx(want)


def test_moments_of_the_pool_suffice(campaign):
    want = weighted_mean(**campaign)
    moments = PoolMoments.of(campaign["metric_pool"])
    got = weighted_mean(**(campaign | {"metric_pool": moments}))
    assert got.standard_error == pytest.approx(want.standard_error)


@settings(max_examples=25, deadline=None)
@given(
    shift=st.floats(-50, 50),
    scale=st.floats(0.1, 20),
    stretch=st.floats(0.1, 10),
    seed=st.integers(0, 1000),
)
def test_scale_and_order_of_rows_do_not_matter(shift, scale, stretch, seed):
    rng = np.random.default_rng(5)
    pool = rng.normal(size=60)
    items = np.repeat(rng.choice(60, 16, replace=False), 2)
    human, probability = pool[items] + rng.normal(size=32), (0.2 + 0.01 * np.arange(60))[items]
    base = weighted_mean(
        human, probability, pool_size=60, metric=pool[items], metric_pool=pool, items=items
    )
    order = np.random.default_rng(seed).permutation(32)
    got = weighted_mean(
        (shift + scale * human)[order],
        probability[order],
        pool_size=60,
        metric=3 + stretch * pool[items][order],
        metric_pool=3 + stretch * pool,
        items=items[order],
    )
    assert got.estimate == pytest.approx(shift + scale * base.estimate, abs=1e-8)
    assert got.standard_error == pytest.approx(scale * base.standard_error, rel=1e-6)


def test_implausible_probabilities_are_pointed_out(campaign):
    tiny = campaign | {"probability": campaign["probability"] / 100}
    assert "imply a pool of" in weighted_mean(**tiny).notes[-1]
    total = weighted_mean(**tiny, form="horvitz-thompson")
    assert "wrong by as much; was every drawn output judged" in total.notes[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": np.zeros(60)}, "`probability` must lie above 0 and not above 1; got 0"),
        ({"probability": np.full(60, 1.5)}, "`probability` must lie above 0.*got 1.5"),
        ({"probability": np.full(60, np.nan)}, "`probability` must lie above 0.*got nan"),
        ({"probability": ["x"] * 60}, "`probability` must hold numbers"),
        ({"probability": [0.5]}, r"`probability` must have shape \(60,\).*got \(1,\)"),
        ({"probability": np.linspace(0.1, 0.2, 60)}, "`probability` must be the same for all"),
        ({"pool_size": 20}, r"`pool_size` must be at least the number of judged outputs \(30\)"),
        ({"pool_size": 101}, "`metric_pool` must hold `pool_size` outputs, 101; got 100"),
        ({"metric_pool": None}, "`metric_pool` is needed with `metric`"),
        ({"metric_pool": np.zeros((100, 2))}, "outside the pool's range"),
        ({"slope": "pooled"}, "`slope` must be a number or least-squares; got 'pooled'"),
        ({"slope": 1.0}, r"`slope` must be 2 finite number\(s\)"),
        ({"form": "ratio"}, "`form` must be one of hajek, horvitz-thompson; got 'ratio'"),
        ({"target": "superpopulation"}, "`target` must be pool or census"),
        ({"items": None, "target": "census"}, '`target` "census" needs `items`'),
    ],
)
def test_wrong_arguments_are_named(campaign, change, message):
    with pytest.raises(InvalidArgumentError, match=message):
        weighted_mean(**(campaign | change))


def test_refuses_what_cannot_be_estimated(campaign):
    with pytest.raises(NotEstimableError, match="needs more than 3 judged outputs; got 3"):
        weighted_mean(
            [1, 2, 4], [0.1, 0.2, 0.3], pool_size=9, metric=[1, 2, 3], metric_pool=range(9)
        )
    with pytest.raises(NotEstimableError, match="not drawn with certainty; got 1"):
        weighted_mean([1, 2], [1, 0.2], pool_size=9, items=[1, 2])
    with pytest.raises(NotEstimableError, match="show no spread"):
        weighted_mean([2, 2, 2], [0.1, 0.2, 0.2], pool_size=9, items=[1, 2, 3])
    flat = {name: campaign[name] * [1, 0] for name in ("metric", "metric_pool")}
    with pytest.raises(NotEstimableError, match="metric 2 of 2 is constant"):
        weighted_mean(**(campaign | flat))
