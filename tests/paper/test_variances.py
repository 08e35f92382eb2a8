import numpy as np
import pytest

from steelyard.paper.variances import variances


def test_released_components_are_reproduced_by_an_independent_formula(found):
    released = [row for row in found.variances if row.released is not None]
    # 5 systems under 2 and 4 prompts
    assert len(released) == 30
    assert max(row.largest_difference for row in released) < 1e-12


def test_the_printed_item_variance_holds_rater_noise(found):
    for row in found.variances:
        excess = row.reproduced.variance_of_means - row.unbiased.item.value
        expected = row.unbiased.rater.value * row.inverse_count
        assert excess == pytest.approx(expected, abs=0.25 * expected + 0.01)


def test_only_rows_of_table_2_are_compared_with_print(found):
    assert {row.agrees_with_print for row in found.variances if row.system != "*"} == {None}
    assert {type(row.agrees_with_print) for row in found.variances if row.system == "*"} == {bool}


def test_without_results_there_is_nothing_to_differ_from(release):
    task = release.task("msmarco")
    bare = type(task)(task.name, task.lines, task.texts, None)
    assert np.isnan(variances(bare, seed=0, resamples=50)[1].largest_difference)
