import pytest


def test_released_correlations_are_reproduced_by_an_independent_formula(found):
    assert len(found.correlations) == 6 * 5 * 7
    for one in found.correlations:
        assert one.reproduced == pytest.approx(one.released, abs=1e-10)


def test_intervals_hold_their_estimates(found):
    for one in found.correlations:
        assert one.unbiased.low <= one.unbiased.value <= one.unbiased.high
        assert one.data_efficiency.value >= 1
