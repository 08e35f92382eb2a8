import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.efficiency import correlation, efficiency_of
from steelyard.single.pool import PoolMoments


def simulate(rng, *, outputs=100, rho=0.5, noise=1.0, count=(2, 3), metrics=1):
    """Human scores of variance 1; each metric has correlation `rho` with them, given the others."""
    output = np.repeat(np.arange(outputs), rng.choice(count, size=outputs))
    score = rng.normal(size=outputs)
    metric = rho * score[:, np.newaxis] + np.sqrt(1 - rho**2) * rng.normal(size=(outputs, metrics))
    human = score[output] + rng.normal(size=len(output)) * np.sqrt(noise)
    return human, metric[output], output


HUMAN = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
ITEMS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
METRIC = [3, 3, 5, 5, 1, 1, 6, 6, 6, 6]


def test_matches_a_hand_worked_example():
    # Means 2, 7, 3, 9, 5.5 of variance 8.2; rater variance 6.5 / 5; item 8.2 - 0.65 = 7.55.
    # Metric 3, 5, 1, 6, 6 of variance 4.7; covariance 19.7 / 4.
    found = correlation(HUMAN, METRIC, items=ITEMS)
    assert found.value == pytest.approx(4.925 / np.sqrt(7.55 * 4.7))


def test_the_spread_of_the_metric_is_that_of_the_pool():
    pool = [0, 2, 4, 6, 8, 10]
    expected = 4.925 / np.sqrt(7.55 * np.var(pool))
    assert correlation(HUMAN, METRIC, pool, items=ITEMS).value == pytest.approx(expected)
    moments = PoolMoments.of(np.array(pool, dtype=float))
    assert correlation(HUMAN, METRIC, moments, items=ITEMS) == correlation(
        HUMAN, METRIC, pool, items=ITEMS
    )


def test_rater_noise_does_not_weaken_it():
    rng = np.random.default_rng(5)
    human, metric, items = simulate(rng, outputs=20_000, noise=4.0)
    assert correlation(human, metric, items=items, resamples=100).value == pytest.approx(
        0.5, abs=0.03
    )


def test_an_estimate_beyond_one_is_reported_as_one_and_said():
    # The mean judgments as metric: their variance, 8.2, is above the item variance, 7.55.
    means = np.repeat([2, 7, 3, 9, 5.5], 2)
    assert correlation(HUMAN, means, items=ITEMS).value == 1
    found = efficiency_of(HUMAN, means, items=ITEMS)
    assert f"estimated beyond 1 ({np.sqrt(8.2 / 7.55):.3g} in size)" in found.notes[-1]
    assert correlation(HUMAN, -means, items=ITEMS).value == -1


samples = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=30, deadline=None)
@given(
    rng=samples,
    scales=st.tuples(*[st.sampled_from([-50.0, -1.0, 0.02, 7.0])] * 2),
    shifts=st.tuples(*[st.floats(-100, 100)] * 2),
)
def test_an_affine_change_of_either_side_changes_at_most_the_sign(rng, scales, shifts):
    human, metric, items = simulate(rng, noise=0.5)
    here = correlation(human, metric, items=items, resamples=100)
    there = correlation(
        scales[0] * human + shifts[0], scales[1] * metric + shifts[1], items=items, resamples=100
    )
    sign = np.sign(scales[0] * scales[1])
    ends = sorted([sign * here.low, sign * here.high])
    assert there.value == pytest.approx(sign * here.value, abs=1e-6)
    assert [there.low, there.high] == pytest.approx(ends, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(rng=samples)
def test_the_order_of_rows_does_not_matter(rng):
    human, metric, items = simulate(rng, noise=0.5)
    order = rng.permutation(len(human))
    assert correlation(
        human[order], metric[order], items=items[order], resamples=100
    ) == correlation(human, metric, items=items, resamples=100)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_interval_covers_at_about_its_level(rho):
    rng = np.random.default_rng(8)
    reps, hits = 300, 0
    for _ in range(reps):
        human, metric, items = simulate(rng, outputs=120, rho=rho, count=(2,))
        found = correlation(human, metric, items=items, resamples=400, rng=rng)
        hits += found.low <= rho <= found.high
    assert binomtest(hits, reps, 0.95).pvalue > 0.001


def test_refuses_what_the_data_do_not_determine():
    with pytest.raises(NotEstimableError, match="collect a second judgment"):
        correlation([1, 2, 3], [1, 2, 4], items=[1, 2, 3])
    with pytest.raises(NotEstimableError, match="got a constant in column 0"):
        correlation(HUMAN, [0.1] * 10, items=ITEMS)
    with pytest.raises(NotEstimableError, match="needs more than 3 judged outputs; got 3"):
        correlation(HUMAN[:6], METRIC[:6], items=ITEMS[:6])
    with pytest.raises(NotEstimableError, match="item variance is estimated as zero"):
        correlation([0, 2] * 5, METRIC, items=ITEMS)
    with pytest.raises(NotEstimableError, match="judgments that differ"):
        correlation([1] * 10, METRIC, items=ITEMS)
    with pytest.raises(NotEstimableError, match="`metric_pool` must vary"):
        correlation(HUMAN, METRIC, [3, 3, 3], items=ITEMS)


def test_refuses_bad_arguments():
    with pytest.raises(InvalidArgumentError, match="`metric_pool` must have 1 metrics"):
        correlation(HUMAN, METRIC, np.ones((4, 2)), items=ITEMS)
    with pytest.raises(InvalidArgumentError, match="`metric` must hold at least one metric"):
        correlation(HUMAN, np.empty((10, 0)), items=ITEMS)
    with pytest.raises(InvalidArgumentError, match="`metric` must be a single one; got 2"):
        correlation(HUMAN, np.column_stack([METRIC, ITEMS]), items=ITEMS)
    with pytest.raises(InvalidArgumentError, match="`level` must lie"):
        correlation(HUMAN, METRIC, items=ITEMS, level=2)
