"""Spread draws in simulation: unbiased, as strict as simple draws, and of less error where a metric is of use."""

import numpy as np
import pytest
from scipy.stats import binomtest

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw, spread_draw
from steelyard.design.spread import spread_sample
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Options

FIXED = Options(raters_as="fixed")
NO_NOISE = Options(raters_as="fixed", rater_variance=0.0)


def population(kind, rng, size=300):
    """Human scores and what the draw is spread by, one value or two."""
    value, rest = rng.standard_normal((2, size))
    human = {
        "linear": value + rest,
        "curved": value**2 + rest,
        "useless": rest,
        "two": value + rest + rng.standard_normal(size),
    }[kind]
    return human, np.column_stack([value, rest]) if kind == "two" else value


def replays(kind, n, runs, *, first=None, waves=1, seed=1):
    """Errors, and whether intervals hold, of the plain mean of a spread draw; the simple draw's error."""
    rng = np.random.default_rng(seed)
    human, value = population(kind, rng)
    errors, held = [], []
    for _ in range(runs):
        chosen, place = spread_sample(value, n // waves, rng=rng)
        place = 1 + place
        for wave in range(2, waves + 1):
            rest = np.setdiff1d(np.arange(len(human)), chosen)
            new, where = spread_sample(value[rest], n // waves, rng=rng)
            chosen, place = np.append(chosen, rest[new]), np.append(place, wave + where)
        chosen, place = chosen[:first], place[:first]
        order = np.argsort(chosen)
        sample = judged_outputs(human[chosen], None, np.sort(chosen))
        draw = spread_draw(sample, place[order], len(human))
        found = plain_mean(sample, draw, options=NO_NOISE)
        errors.append(found.estimate - human.mean())
        held.append(found.low <= human.mean() <= found.high)
    count = len(chosen)
    simple = np.sqrt(human.var(ddof=1) * (1 / count - 1 / len(human)))
    return np.array(errors), np.array(held), simple


def strict(held, level=0.95):
    return binomtest(int(held.sum()), len(held), level, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize("kind", ["linear", "useless", "two"])
def test_the_mean_is_unbiased_and_its_interval_holds(kind):
    errors, held, simple = replays(kind, 20, 40 if kind == "two" else 120)
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(len(errors))
    assert strict(held)
    assert errors.std() < {"useless": 1.15}.get(kind, 0.9) * simple


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear", "curved"])
def test_intervals_hold_on_first_parts_and_over_waves(kind):
    for options in ({"first": 23, "n": 32}, {"waves": 3, "n": 30}):
        errors, held, simple = replays(kind, runs=400, **options)
        assert strict(held)
        assert errors.std() < 0.95 * simple


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 60])
@pytest.mark.parametrize("kind", ["linear", "curved", "useless", "two"])
def test_intervals_hold_at_every_size(kind, n):
    _, held, _ = replays(kind, n, 200 if kind == "two" else 600, seed=n)
    assert strict(held)


@pytest.mark.slow
def test_estimates_and_differences_of_a_campaign_hold():
    rng = np.random.default_rng(1)
    size, n, k, runs = 300, 20, 4, 120
    held, beside, together, errors = [], [], [], {True: [], False: []}
    everywhere = Shared(size, 0, (np.ones(n, bool),) * 2)
    pairs = [(a, b) for a in range(k) for b in range(a)]
    item = rng.standard_normal(size)
    human = item + rng.standard_normal((k, size))
    metric = human + rng.standard_normal((k, size))
    for _ in range(runs):
        for spread in (False, True):
            chosen, place = rng.choice(size, n, replace=False), None
            if spread:
                chosen, place = spread_sample(metric.mean(axis=0), n, rng=rng)
            order = np.argsort(chosen)
            systems = []
            for f, g in zip(human, metric, strict=True):
                scores = f[chosen] + rng.standard_normal(n)
                sample = judged_outputs(scores, None, chosen)
                draw = simple_draw(sample, size)
                if place is not None:
                    draw = spread_draw(sample, 1 + place[order], size)
                own = chosen[order]
                pool = PoolMoments.of(g[:, np.newaxis])
                systems.append(JudgedSystem(sample, draw, g[own, np.newaxis], own, None, pool))
            found = campaign_means(systems, options=FIXED)
            truth = human.mean(axis=1)
            errors[spread] += [one.estimate - mu for one, mu in zip(found, truth, strict=True)]
            if spread:
                held += [one.low <= mu <= one.high for one, mu in zip(found, truth, strict=True)]
                different = campaign_differences(
                    systems, pairs, [everywhere] * len(pairs), options=FIXED
                )
                off = [
                    (one, truth[a] - truth[b]) for one, (a, b) in zip(different, pairs, strict=True)
                ]
                beside += [one.low <= d <= one.high for one, d in off]
                together.append(
                    all(one.simultaneous_low <= d <= one.simultaneous_high for one, d in off)
                )
    assert strict(np.array(held))
    assert strict(np.array(beside))
    assert strict(np.array(together))
    assert np.std(errors[True]) < 1.02 * np.std(errors[False])
