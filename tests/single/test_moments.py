import numpy as np
import pytest
from scipy.stats import binomtest

from one_way_anova import one_way
from steelyard.single.judged import judged_outputs
from steelyard.single.moments import drawn_moments, moments


def unequal_sample(rng, metrics=2):
    count = rng.integers(1, 5, size=40)
    output = np.repeat(np.arange(40), count)
    human = rng.normal(size=40)[output] + rng.normal(size=len(output))
    return judged_outputs(human, rng.normal(size=(40, metrics))[output], output)


def test_moments_of_a_sample_are_those_of_numpy(rng):
    sample = unequal_sample(rng)
    found = moments(sample)
    stacked = np.column_stack([sample.mean, sample.metric])
    expected = np.cov(stacked, rowvar=False)
    assert found.mean[0] == pytest.approx(expected[0, 0])
    assert found.with_metric[0] == pytest.approx(expected[0, 1:])
    assert found.metric[0] == pytest.approx(np.diag(expected)[1:])
    components = one_way(sample)
    assert found.rater[0] == pytest.approx(components.rater)
    assert found.item[0] == pytest.approx(components.unbiased_item)


def test_a_draw_weighs_outputs_with_their_judgments(rng):
    sample = unequal_sample(rng, metrics=1)
    found = drawn_moments(sample, disagreement=7.0, resamples=5, rng=np.random.default_rng(1))
    again = np.random.default_rng(1)
    weights = again.standard_exponential(size=(5, 40))
    imagined = again.standard_exponential(size=5)
    for b in range(5):
        w = np.append(weights[b], imagined[b]) / weights[b].mean()
        repeated = w[:40] @ (sample.count - 1)
        within = w[:40] @ sample.within
        assert found.rater[0, b] == pytest.approx(within / (repeated + w[40]))
        assert found.rater[1, b] == pytest.approx((within + 7 * w[40]) / (repeated + w[40]))
        variance = np.cov(sample.mean, aweights=w[:40], ddof=0) * 40 / 39 * 41 / 40
        assert found.mean[b] == pytest.approx(variance)


def test_limits_of_two_valued_scores_are_those_of_clopper_and_pearson():
    # 3 of 20 pairs differ: half the share of pairs that do is the rater variance.
    human = np.append(np.tile([0, 1], 3), np.repeat(np.arange(17) % 2, 2))
    sample = judged_outputs(human, None, np.repeat(np.arange(20), 2))
    rng = np.random.default_rng(3)
    found = drawn_moments(sample, disagreement=0.5, resamples=200_000, rng=rng)
    exact = binomtest(3, 20).proportion_ci(0.95)
    assert 2 * np.quantile(found.rater[0], 0.025) == pytest.approx(exact.low, rel=0.02)
    assert 2 * np.quantile(found.rater[1], 0.975) == pytest.approx(exact.high, rel=0.02)


def test_draws_scatter_about_the_estimate(rng):
    sample = unequal_sample(rng)
    found = drawn_moments(sample, disagreement=1.0, resamples=20_000, rng=np.random.default_rng(2))
    here = moments(sample)
    for name in ("mean", "with_metric", "metric"):
        there = getattr(found, name)
        error = there.std(axis=0) / np.sqrt(len(there))
        assert (np.abs(there.mean(axis=0) - getattr(here, name)[0]) < 4 * error).all(), name


def test_perfect_agreement_has_rater_variance_zero_whatever_the_rounding():
    sample = judged_outputs([0.1] * 3 + [0.7] * 3, None, [0, 0, 0, 1, 1, 1])
    assert moments(sample).rater[0] == 0


def test_moments_within_systems_are_those_of_each_system_weighed_by_its_freedom(rng):
    sample = unequal_sample(rng)
    systems = np.arange(40) % 3
    found = moments(sample, systems=systems)
    M, n = sample.n_judgments, sample.n_outputs
    between, loss, products = 0.0, 0.0, np.zeros((3, 3))
    for system in range(3):
        own = systems == system
        m, y = sample.count[own], sample.mean[own]
        between += m @ (y - np.average(y, weights=m)) ** 2
        loss += m @ m / m.sum()
        stacked = np.column_stack([y, sample.metric[own]])
        products += np.cov(stacked, rowvar=False) * (own.sum() - 1)
    rater = sample.within.sum() / (M - n)
    effective = (M - loss) / (n - 3)
    assert found.freedom == 37
    assert found.effective[0] == pytest.approx(effective)
    assert found.item[0] == pytest.approx((between / 37 - rater) / effective)
    assert found.mean[0] == pytest.approx(products[0, 0] / 37)
    assert found.with_metric[0] == pytest.approx(products[0, 1:] / 37)
    assert found.metric[0] == pytest.approx(np.diag(products)[1:] / 37)
