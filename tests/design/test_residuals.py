import numpy as np
import pytest

from steelyard.arrays import PoolMoments
from steelyard.design.sequence.residuals import predictable_residuals


def corrected(metric):
    """Corrected judgments of 40 outputs that both metrics tell something of."""
    rng = np.random.default_rng(1)
    human = np.clip(0.5 + METRIC[:40].sum(axis=1) / 10 + rng.normal(size=40) / 20, 0, 1)
    pool = PoolMoments.of(metric)
    return predictable_residuals(
        human[np.newaxis], metric[np.newaxis, :40], pool=pool, pool_size=200
    )


METRIC = np.random.default_rng(0).normal(size=(200, 2))


@pytest.mark.parametrize("scale", [1e-9, 1e4, 1e9])
def test_a_metric_on_a_much_larger_scale_does_not_push_another_out(scale):
    want, got = corrected(METRIC), corrected(METRIC * [1, scale])
    assert got.value == pytest.approx(want.value, rel=1e-6)
    assert got.fitted_variance == pytest.approx(want.fitted_variance, rel=1e-6)


def test_a_constant_metric_changes_nothing():
    beside = np.column_stack([METRIC, np.full(200, 0.1)])
    assert corrected(beside).value == pytest.approx(corrected(METRIC).value)
    alone = corrected(np.full((200, 1), 0.1))
    assert alone.value == pytest.approx(alone.human)
