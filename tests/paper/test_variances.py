from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import NotEstimableError
from steelyard.paper.correlations import authors_correlation
from steelyard.paper.variances import printed_components, variances


def test_printed_item_variance_is_that_of_the_means():
    # Means 2, 7, 3; rater variance (2 + 2 + 2) / 3.
    assert printed_components([1, 3, 6, 8, 2, 4], [1, 1, 2, 2, 3, 3]) == (
        2,
        7,
        pytest.approx(2 / 7),
    )
    assert printed_components([0, 2, 0, 2], [1, 1, 2, 2]).noise_ratio == np.inf
    with pytest.raises(NotEstimableError, match="second judgment"):
        printed_components([1, 2], [1, 2])


def test_authors_correlation_matches_a_hand_worked_example():
    # Means 2, 7, 3 (4); metric 0, 2, 1 (1): covariance 5 / 3, metric variance 1.
    human, items, metric = [1, 3, 6, 8, 2, 4], [1, 1, 2, 2, 3, 3], [0, 0, 2, 2, 1, 1]
    item = np.var(human, ddof=1) - 2
    expected = (5 / 3) / np.sqrt(item)
    assert authors_correlation(human, metric, items=items) == pytest.approx(expected)
    moved = authors_correlation(human, metric, items=items, means=[3, 3, 6, 6, 3, 3])
    assert moved == pytest.approx((3 / 3) / np.sqrt(item))


def test_released_correlations_are_reproduced_by_an_independent_formula(found):
    assert len(found.correlations) == 6 * 5 * 7
    for one in found.correlations:
        assert one.reproduced == pytest.approx(one.released, abs=1e-10)
        assert one.unbiased.low <= one.unbiased.value <= one.unbiased.high
        assert one.data_efficiency.value >= 1


def test_released_components_are_reproduced_by_an_independent_formula(found):
    released = [row for row in found.variances if row.released is not None]
    # 5 systems under 2 and 4 prompts
    assert len(released) == 30
    assert max(row.largest_difference for row in released) < 1e-12


def test_the_printed_item_variance_holds_rater_noise(found):
    for row in found.variances:
        excess = row.reproduced.item - row.unbiased.item.value
        expected = row.unbiased.rater.value * row.inverse_count
        assert excess == pytest.approx(expected, abs=0.25 * expected + 0.01)


def test_only_rows_of_table_2_are_compared_with_print(found):
    assert {row.agrees_with_print for row in found.variances if row.system != "*"} == {None}
    assert {type(row.agrees_with_print) for row in found.variances if row.system == "*"} == {bool}


def test_without_results_there_is_nothing_to_differ_from(release):
    task = release.task("msmarco")
    bare = replace(task, published=None)
    assert np.isnan(variances(bare, seed=0, resamples=50)[1].largest_difference)
