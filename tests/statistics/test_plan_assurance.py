"""A plan from a small pilot reaches its goal as often as it says."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard import Study

SIZE = 800


def scores_of(kind, rng):
    """Return the metric of a pool, and who judges: (rng, items) to scores."""
    quality = rng.normal(size=SIZE)
    useful = kind != "useless metric"
    metric = 0.6 * useful * quality + np.sqrt(1 - 0.36 * useful) * rng.normal(size=SIZE)

    def judge(rng, items):
        if kind == "binary":
            return (rng.random(len(items)) < 1 / (1 + np.exp(-1.5 * quality[items]))).astype(float)
        noise = 2.0 if kind == "noisy raters" else 0.5
        return np.sqrt(0.5) * quality[items] + np.sqrt(noise) * rng.normal(size=len(items))

    return metric, judge


def study_of(metric, judge, rng, *, n, each, second=0):
    drawn = rng.permutation(SIZE)[:n]
    items = np.concatenate([np.repeat(drawn, each), drawn[:second]])
    judged = {"item": items, "system": "s", "prompt": "p", "score": judge(rng, items)}
    outputs = pl.DataFrame({"item": range(SIZE), "system": "s", "m": metric})
    return Study.read(outputs, pl.DataFrame(judged))


@pytest.mark.slow
@pytest.mark.parametrize("price", [0.0, 5.0])
@pytest.mark.parametrize("kind", ["normal", "useless metric", "binary", "noisy raters"])
def test_the_goal_is_reached_as_often_as_assured(kind, price):
    rng = np.random.default_rng([len(kind), int(price)])
    reached, runs = 0, 60
    for _ in range(runs):
        metric, judge = scores_of(kind, rng)
        spread = judge(rng, np.arange(SIZE)).std()
        goal = 1.96 * spread / np.sqrt(150)
        pilot = study_of(metric, judge, rng, n=20, each=2)
        case = pilot.plan(half_width=goal, output_price=price).assured
        later = study_of(
            metric,
            judge,
            rng,
            n=case.outputs,
            each=case.judgments_per_output,
            second=case.second_judgments,
        )
        [found] = later.estimate()
        reached += found.half_width <= goal
    # not below 75%, as far as so few campaigns show
    assert binomtest(reached, runs, 0.75, alternative="less").pvalue > 0.02
