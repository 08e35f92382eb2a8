"""Ten to thirty judgments on skewed, tied, ceiling and binary scores."""

import numpy as np
import pytest
from populations import BOUNDS, population
from scipy.stats import ttest_1samp

from steelyard import control_variates, judged_outputs

KINDS = ("skewed", "tied", "ceiling", "binary")
SIZE = 500
SYSTEMS = 5


def campaign(kind, n, correlation, rng):
    """Judge `n` outputs of each of five systems once; return the first system's pool and all."""
    pools = [population(kind, rng, size=SIZE, correlation=correlation) for _ in range(SYSTEMS)]
    samples = []
    for pool in pools:
        items = rng.choice(SIZE, n, replace=False)
        samples.append((pool.judge(items, rng), pool.metric[items], items))
    return pools[0], samples


def replays(n, correlation, *, runs, seed, slopes):
    """Squared error (in units of the population's variance) and coverage, slope by slope."""
    rng = np.random.default_rng(seed)
    found = {slope: [] for slope in (*slopes, "plain")}
    for kind in KINDS:
        for _ in range(runs):
            pool, samples = campaign(kind, n, correlation, rng)
            human, metric, items = samples[0]
            others = [judged_outputs(*sample) for sample in samples[1:]]
            bounds = BOUNDS.get(kind, (0, 1000))
            unit = np.var(pool.judge(np.arange(SIZE), rng))
            for slope in slopes:
                got = control_variates(
                    human,
                    metric,
                    pool.metric,
                    items=items,
                    slope=slope,
                    others=others,
                    bounds=bounds,
                )
                assert got.high > got.low
                found[slope].append(_outcome(got, pool.mean, unit))
            found["plain"].append(_outcome(got.baseline, pool.mean, unit))
    return {slope: np.array(rows) for slope, rows in found.items()}


def _outcome(got, truth, unit):
    return (got.estimate - truth) ** 2 / unit, got.low <= truth <= got.high


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 30])
def test_default_covers_no_worse_than_the_plain_mean(n):
    runs = 1200
    by_correlation = [
        replays(n, rho, runs=runs, seed=[n, number], slopes=("least-squares",))
        for number, rho in enumerate((0.0, 0.3, 0.6))
    ]
    gap = np.concatenate(
        [row["least-squares"][:, 1] - row["plain"][:, 1] for row in by_correlation]
    )
    # paired on 14,400 draws
    assert ttest_1samp(gap, 0, alternative="less").pvalue > 0.001, gap.mean()


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 30])
@pytest.mark.parametrize("correlation", [0.2, 0.4, 0.7])
def test_pooled_and_shrunk_slopes_do_not_cost_more_than_they_may(n, correlation):
    got = replays(
        n, correlation, runs=1500, seed=[n, int(10 * correlation)], slopes=("pooled", "shrunk")
    )
    plain = got["plain"][:, 0]
    pooled, shrunk = (got[slope][:, 0] - plain for slope in ("pooled", "shrunk"))
    if correlation < 0.4:
        assert ttest_1samp(pooled, 0, alternative="greater").pvalue > 0.01, pooled.mean()
    else:
        assert ttest_1samp(pooled, 0, alternative="less").pvalue < 0.01, pooled.mean()
    assert shrunk.mean() < 0.05 * plain.mean()


def test_equal_judgments_never_give_an_interval_without_width():
    pool = np.linspace(0, 1, 50)
    for slope in ("least-squares", "plug-in", "cross-fit", "shrunk", 0.3):
        got = control_variates(
            np.ones(12), pool[:12], pool, items=range(12), slope=slope, bounds=(-1, 1)
        )
        assert got.high - got.low > 0.1
        assert got.baseline.high - got.baseline.low > 0.1
