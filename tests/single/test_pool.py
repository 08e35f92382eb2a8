import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError
from steelyard.single.pool import PoolMoments, as_pool


def test_moments_match_a_hand_worked_example():
    # 1, 2, 6: mean 3, squared deviations 4 + 1 + 9 over 3
    got = PoolMoments.of([1.0, 2, 6])
    assert got.size == 3
    assert got.mean == pytest.approx([3])
    assert got.covariance == pytest.approx(np.array([[14 / 3]]))
    assert (got.low, got.high) == ([1], [6])


@given(st.integers(1, 29))
def test_merged_parts_equal_the_whole(cut):
    values = np.random.default_rng(3).normal(1e6, 1, size=(30, 2))
    got = PoolMoments.of(values[:cut]).merge(PoolMoments.of(values[cut:]))
    want = PoolMoments.of(values)
    assert got.size == want.size
    assert got.mean == pytest.approx(want.mean, rel=1e-12)
    assert got.covariance == pytest.approx(np.cov(values.T, ddof=0), rel=1e-6)
    assert got.low.tolist() == values.min(axis=0).tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "with N > 0"),
        (np.zeros((2, 2, 2)), "must have shape"),
        (["a", "b"], "must hold numbers"),
        ([1.0, np.nan], "got nan in row 1, metric 0"),
        ([1.0, np.inf, -np.inf], "must be finite"),
    ],
)
def test_bad_pools_are_refused(values, message):
    with pytest.raises(InvalidArgumentError, match=message):
        as_pool(values)
