"""The plug-in slope's bias is of order 1/n, as the paper's proposition 1 has it."""

import numpy as np
import pytest

from steelyard import control_variates

POOL = 400


def errors(slope, n, runs):
    # Judgments bend with the metric and the metric is skewed, so that slope and shift are
    # correlated: the case in which the paper's proposition 1 bites.
    rng = np.random.default_rng(n)
    metric = np.random.default_rng(1).gamma(1.0, size=POOL)
    score = metric**2
    found = np.empty(runs)
    for run in range(runs):
        items = rng.choice(POOL, n, replace=False)
        human = score[items] + rng.normal(size=n)
        got = control_variates(human, metric[items], metric, items=items, slope=slope)
        found[run] = got.estimate - score.mean()
    return found


@pytest.mark.slow
def test_plug_in_bias_falls_as_one_over_n():
    small, large = errors("plug-in", 10, 6000).mean(), errors("plug-in", 40, 6000).mean()
    assert 2.5 < small / large < 6.5
