"""Raters as a sample: intervals cover when one rater gives a fifth of the judgments."""

import numpy as np
import pytest
from populations import covers_at_least, population

from steelyard import control_variates

SIZE, JUDGED, RATERS = 600, 150, 20
RUNS = 400


def replays(runs, seed):
    """Whether the interval of each view of raters holds the mean."""
    rng = np.random.default_rng(seed)
    workload = np.full(RATERS, 0.8 / (RATERS - 1))
    workload[0] = 0.2
    found = {view: [] for view in ("fixed", "random")}
    for _ in range(runs):
        pool = population("normal", rng, size=SIZE, correlation=0.6)
        leniency = 0.35 * rng.normal(size=RATERS)
        items = np.repeat(rng.choice(SIZE, JUDGED, replace=False), 2)
        raters = np.concatenate(
            [rng.choice(RATERS, 2, replace=False, p=workload) for _ in range(JUDGED)]
        )
        human = pool.judge(items, rng, leniency=leniency[raters])
        for view, rows in found.items():
            got = control_variates(
                human, pool.metric[items], pool.metric, items=items, raters=raters, raters_as=view
            )
            rows.append(got.low <= pool.mean <= got.high)
    return {view: np.array(rows) for view, rows in found.items()}


@pytest.fixture(scope="module")
def outcome():
    return replays(RUNS, seed=1)


def test_random_rater_intervals_cover(outcome):
    assert covers_at_least(outcome["random"], 0.95)


def test_fixed_rater_intervals_visibly_do_not(outcome):
    assert outcome["fixed"].mean() < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.5, 1.5])
def test_random_raters_cover_the_mean_of_pools_with_any_slope(slope):
    # without what residual and metric share, slope 0.5 covers 88%
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        metric = rng.normal(size=100)
        score = metric + 0.3 * rng.normal(size=100)
        items = np.repeat(np.arange(100), 2)
        raters = np.concatenate([rng.choice(10, 2, replace=False) for _ in range(100)])
        human = score[items] + 0.2 * rng.normal(size=10)[raters] + 0.3 * rng.normal(size=200)
        got = control_variates(
            human,
            metric[items],
            metric,
            items=items,
            raters=raters,
            raters_as="random",
            slope=slope,
            target="superpopulation",
        )
        found.append(got.low <= 0 <= got.high)
    assert covers_at_least(found, 0.95)
