import sys

import numpy as np
import pytest

from steelyard import PoolMoments, trajectory
from steelyard.errors import InvalidArgumentError, NotEstimableError


@pytest.fixture
def campaign():
    rng = np.random.default_rng(3)
    score = rng.normal(5, 1, size=80)
    items = np.repeat(np.arange(80), rng.integers(1, 4, size=80))
    human = score[items] + rng.normal(size=len(items))
    metric = (score + rng.normal(size=80))[items]
    return {"human": human, "metric": metric, "items": items}


def direct(human, metric, items, *, draws, level, rng):
    """Follow every draw judgment by judgment, recomputing each mean: slow and plain."""
    outputs = np.unique(items)
    judgments = [human[items == one] for one in outputs]
    mean = np.array([one.mean() for one in judgments])
    g = np.array([metric[items == one][0] for one in outputs])
    g = (g - g.mean()) / g.std()
    perfect = (mean - mean.mean()) / mean.std()
    n = len(outputs)
    paths = np.empty((4, draws, n))
    for draw in range(draws):
        chosen = rng.integers(n, size=n)
        y = np.array([rng.choice(judgments[one]) for one in chosen])
        for k in range(1, n + 1):
            part, y_k = chosen[:k], y[:k]
            paths[0, draw, k - 1] = y_k.mean()
            for row, (felt, control) in enumerate(
                ((y_k, g[part]), (mean[part], g[part]), (y_k, perfect[part])), start=1
            ):
                alpha = ((felt - felt.mean()) * control).mean()
                paths[row, draw, k - 1] = (felt - alpha * control).mean()
    ends = np.quantile(paths, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return ends[1] - ends[0]


def test_agrees_with_following_every_draw(campaign):
    want = direct(**campaign, draws=300, level=0.8, rng=np.random.default_rng(0))
    got = trajectory(**campaign, draws=20_000, rng=np.random.default_rng(1))
    curves = (got.plain, got.corrected, got.noiseless_raters, got.perfect_metric)
    part = slice(16, 72)
    for curve, length in zip(curves, want, strict=True):
        # the mean over 56 positions of a length from 300 draws is known to about 4%
        assert curve.length[part].mean() == pytest.approx(length[part].mean(), rel=0.12)


def test_plain_length_is_that_of_a_mean_of_draws(campaign):
    # after k independent draws the plain mean is nearly normal with variance sigma^2 / k
    got = trajectory(**campaign, draws=20_000)
    human, items = campaign["human"], campaign["items"]
    means = np.array([human[items == one].mean() for one in np.unique(items)])
    within = np.array([human[items == one].var() for one in np.unique(items)])
    deviation = np.sqrt((means.var() + within.mean()) / 80)
    assert got.plain.length[-1] == pytest.approx(2 * 1.2816 * deviation, rel=0.03)


def test_curves_stand_in_the_order_of_theory(campaign):
    got = trajectory(**campaign, draws=3000)
    assert got.plain.data_efficiency == 1
    assert 1 < got.corrected.data_efficiency < got.perfect_metric.data_efficiency
    assert got.corrected.data_efficiency < got.noiseless_raters.data_efficiency
    assert got.data_efficiency == got.corrected.data_efficiency
    assert got.judgments.tolist() == list(range(1, 81))


def test_monte_carlo_error_tells_how_far_runs_differ(campaign):
    runs = [
        trajectory(**campaign, draws=500, rng=np.random.default_rng(seed)) for seed in range(30)
    ]
    spread = np.std([run.data_efficiency for run in runs], ddof=1)
    told = np.mean([run.corrected.monte_carlo_error for run in runs])
    assert 0.5 < told / spread < 2


def test_blocks_change_nothing_but_the_order_of_draws(campaign, monkeypatch):
    whole = trajectory(**campaign, draws=4000)
    module = sys.modules["steelyard.single.trajectory"]
    monkeypatch.setattr(module, "_PRODUCT", 4000 * 9)
    parts = trajectory(**campaign, draws=4000)
    assert parts.data_efficiency == pytest.approx(whole.data_efficiency, rel=0.05)
    assert parts.plain.length[-1] == pytest.approx(whole.plain.length[-1], rel=0.05)


def test_metrics_may_be_on_very_different_scales(campaign):
    rng = np.random.default_rng(5)
    two = np.column_stack([campaign["metric"], rng.normal(size=80)[campaign["items"]]])
    want, got = (
        trajectory(**{**campaign, "metric": two * [1, scale]}, draws=200) for scale in (1, 1e9)
    )
    assert got.corrected.length == pytest.approx(want.corrected.length, rel=1e-4)


def test_affine_change_of_scores_scales_lengths(campaign):
    want = trajectory(**campaign, draws=500)
    moved = {**campaign, "human": 1e6 + 3 * campaign["human"]}
    got = trajectory(**moved, draws=500)
    assert got.corrected.length == pytest.approx(3 * want.corrected.length, rel=1e-4)
    assert got.data_efficiency == pytest.approx(want.data_efficiency, rel=1e-4)


def test_several_metrics_are_used_together(campaign):
    rng = np.random.default_rng(4)
    second = rng.normal(size=80)[campaign["items"]]
    both = {**campaign, "metric": np.column_stack([campaign["metric"], second])}
    alone, together = trajectory(**campaign, draws=3000), trajectory(**both, draws=3000)
    assert together.data_efficiency == pytest.approx(alone.data_efficiency, rel=0.1)


def test_a_pool_beyond_the_judged_outputs_may_be_given(campaign):
    metric = np.array([campaign["metric"][campaign["items"] == one][0] for one in range(80)])
    got = trajectory(**campaign, metric_pool=PoolMoments.of(metric), draws=500)
    want = trajectory(**campaign, draws=500)
    assert got.data_efficiency == pytest.approx(want.data_efficiency)


def test_result_tells_itself(campaign):
    got = trajectory(**campaign, draws=200)
    assert "200 draws of 80 judgments" in str(got)
    found = got.to_dict()
    assert set(found["length"]) == {"plain", "corrected", "noiseless_raters", "perfect_metric"}
    assert len(found["length"]["plain"]) == len(found["judgments"]) == 80


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"draws": 10}, InvalidArgumentError, "`draws` must be at least 100"),
        ({"level": 1.5}, InvalidArgumentError, "`level` must lie"),
        ({"metric": np.ones(20)}, NotEstimableError, "constant"),
        ({"human": np.ones(20)}, NotEstimableError, "same mean judgment"),
        ({"items": np.zeros(20), "metric": np.ones(20)}, NotEstimableError, "at least 10 judged"),
    ],
)
def test_bad_arguments_are_refused(change, error, message):
    good = {"human": np.arange(20) % 3, "metric": np.arange(20), "items": np.arange(20)}
    with pytest.raises(error, match=message):
        trajectory(**{**good, **change})
