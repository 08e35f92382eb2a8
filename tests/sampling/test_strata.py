import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.strata import quantile_strata


def test_thirds_of_six():
    assert quantile_strata([10, 60, 30, 40, 50, 20], 3).tolist() == [1, 3, 2, 2, 3, 1]


def test_ties_share_a_stratum_and_strata_may_be_fewer():
    # four tied outputs of six have middle rank 2.5: floor(3 * 2 / 6) = stratum 2 of 3, compacted
    assert quantile_strata([1, 1, 1, 1, 2, 3], 3).tolist() == [1, 1, 1, 1, 2, 2]


@given(st.integers(4, 60), st.integers(2, 9), st.integers(0, 999))
def test_strata_of_distinct_values_differ_by_one_output_at_most(size, count, seed):
    count = min(count, size)
    metric = np.random.default_rng(seed).permutation(size) * 0.1
    found = quantile_strata(metric, count)
    sizes = np.bincount(found)[1:]
    assert len(sizes) == count
    assert sizes.max() - sizes.min() <= 1
    assert (np.diff(found[np.argsort(metric)]) >= 0).all()


@given(st.lists(st.integers(0, 3), min_size=5, max_size=40), st.integers(2, 5))
def test_strata_are_a_function_of_the_metric(values, count):
    if len(set(values)) == 1:
        return
    found = quantile_strata(values, count)
    assert len(set(zip(values, found.tolist(), strict=True))) == len(set(values))
    assert set(found.tolist()) == set(range(1, found.max() + 1))


@pytest.mark.parametrize(
    ("metric", "count", "message"),
    [
        ([1, 2, 3], 1, "`quantiles` must be from 2 to the size of the pool, 3; got 1"),
        ([1, 2, 3], 4, "`quantiles` must be from 2 to the size of the pool, 3; got 4"),
        ([1, np.nan, 3], 2, "`metric` must be one finite number"),
        ([[1, 2], [3, 4]], 2, "`metric` must be one finite number"),
        ([2, 2, 2], 2, "`metric` must vary to make strata; every output has 2"),
    ],
)
def test_wrong_arguments_are_named(metric, count, message):
    with pytest.raises(InvalidArgumentError, match=message):
        quantile_strata(metric, count)
