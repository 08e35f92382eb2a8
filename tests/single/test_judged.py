import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError
from steelyard.single.judged import judged_outputs


def test_judgments_of_one_output_are_averaged():
    # a: 1 and 3, mean 2, squares 1 + 1; b: 5 alone
    got = judged_outputs([1, 5, 3], [0.1, 0.2, 0.1], ["a", "b", "a"], raters=["x", "x", "y"])
    assert got.mean.tolist() == [2, 5]
    assert got.count.tolist() == [2, 1]
    assert got.within.tolist() == [2, 0]
    assert got.metric.tolist() == [[0.1], [0.2]]
    assert (got.n_outputs, got.n_judgments, got.n_metrics, got.n_raters) == (2, 3, 1, 2)


def test_without_items_each_judgment_is_an_output_of_its_own():
    got = judged_outputs([1, 1, 0])
    assert got.n_outputs == 3
    assert not got.identified
    assert got.n_raters is None


@given(st.permutations(range(6)))
def test_row_order_does_not_matter(order):
    human, metric = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 1, 2, 2, 3, 3])
    items, raters = np.array(list("aabbcc")), np.array(list("xyxyxy"))
    want = judged_outputs(human, metric, items, raters=raters)
    rows = list(order)
    got = judged_outputs(human[rows], metric[rows], items[rows], raters=raters[rows])
    for name in ("mean", "count", "within", "metric", "human", "output", "rater"):
        assert getattr(got, name).tolist() == getattr(want, name).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "`human` must hold at least one judgment"),
        (([[1, 2]],), "`human` must be one-dimensional"),
        ((["good", "bad"],), "`human` must hold numbers"),
        (([1, np.nan],), "`human` must be finite; got nan at position 1"),
        (([1, 2], [1, np.inf]), "`metric` must be finite"),
        (([1, 2], [1, 2, 3]), r"`metric` must have shape \(2,\)"),
        (([1, 2], [1, 2], ["a"]), r"`items` must have shape \(2,\)"),
        (([1, 2], [1, 2], ["a", "a"]), "two different values .*'a'"),
    ],
)
def test_bad_arrays_are_refused(arguments, message):
    with pytest.raises(InvalidArgumentError, match=message):
        judged_outputs(*arguments)


def test_misaligned_raters_are_refused():
    with pytest.raises(InvalidArgumentError, match="`raters` must have shape"):
        judged_outputs([1, 2], raters=["x"])
