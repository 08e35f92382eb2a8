import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from steelyard import ConfidenceSequence
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.betting import betting_interval

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_before_the_first_score_there_are_the_bounds():
    sequence = ConfidenceSequence(bounds=(1, 5))
    assert (sequence.low, sequence.high, sequence.n) == (1, 5, 0)
    with pytest.raises(NotEstimableError, match="at least one score"):
        _ = sequence.estimate


@given(scores)
def test_the_interval_mirrors_when_scores_do(values):
    low, high = betting_interval(np.array(values), alpha=0.05)
    other = betting_interval(1 - np.array(values), alpha=0.05)
    assert other == pytest.approx((1 - high, 1 - low), abs=1e-6)


@given(scores)
def test_batches_make_no_difference(values):
    whole = ConfidenceSequence(pool_size=40).update(values)
    pieces = ConfidenceSequence(pool_size=40)
    for one in values:
        pieces.update(one)
    assert (pieces.low, pieces.high) == (whole.low, whole.high)


def test_the_scale_makes_no_difference():
    values = np.random.default_rng(0).uniform(size=50)
    unit = ConfidenceSequence().update(values)
    wide = ConfidenceSequence(bounds=(0, 100)).update(100 * values)
    assert (wide.low, wide.high) == pytest.approx((100 * unit.low, 100 * unit.high))


def test_the_mean_of_all_outputs_is_known_once_all_are_judged():
    values = np.tile([0.0, 1.0, 1.0], 20)
    found = ConfidenceSequence(pool_size=60).update(values)
    assert found.low <= values.mean() <= found.high
    assert found.half_width < 0.02


@pytest.mark.parametrize("pool_size", [200, None])
def test_it_misses_at_any_look_no_more_often_than_promised(pool_size):
    missed = 0
    for run in range(120):
        rng = np.random.default_rng(run)
        pool = (rng.random(200) < 0.2).astype(float)
        drawn = rng.permutation(pool) if pool_size else rng.choice(pool, 200)
        ends = [
            betting_interval(drawn[:n], alpha=0.05, pool_size=pool_size) for n in range(10, 200, 15)
        ]
        missed += any(not low - 1e-9 <= pool.mean() <= high + 1e-9 for low, high in ends)
    assert binomtest(missed, 120, 0.05, "greater").pvalue > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "`level` must lie strictly between"),
        ({"bounds": (1, 0)}, "`bounds` must be two finite numbers"),
        ({"pool_size": 0}, "`pool_size` must be at least 1"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        ConfidenceSequence(**options)


def test_wrong_scores_are_refused_and_change_nothing():
    sequence = ConfidenceSequence(pool_size=2).update([0.5])
    with pytest.raises(InvalidArgumentError, match=r"got 1.5 outside \[0, 1\]"):
        sequence.update(1.5)
    with pytest.raises(InvalidArgumentError, match="got 3 for 2 outputs"):
        sequence.update([0.5, 0.5])
    assert sequence.n == 1
