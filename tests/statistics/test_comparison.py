"""Differences cover at their level, alone and all together, judged by binomial tests."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, t, ttest_1samp
from simulated_comparison import Setting, comparisons

from steelyard.arrays import judged_outputs, simple_draw
from steelyard.estimate import Options
from steelyard.estimate.compared_judgments import Shared
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import campaign_differences
from steelyard.questions.ranks import ranks_of
from steelyard.study.pair_difference import better_of, named_difference

ALONE = [
    Setting(n=20),
    Setting(n=100, shared=0.5),
    Setting(n=20, shared=0.0),
    Setting(n=40, identical=0.5),
    Setting(n=100, identical=0.9),
    Setting(n=20, kind="binary", identical=0.5, metric=False),
    Setting(n=40, raters=8, busy=True, shared=0.0),
    Setting(n=100, raters=20),
    Setting(n=400, judgments=2),
]
TOGETHER = [
    Setting(systems=5, n=20),
    Setting(systems=5, n=20, shared=0.0),
    Setting(systems=5, n=40, shared=0.5, identical=0.5),
    Setting(systems=5, n=40, raters=10, busy=True),
    Setting(systems=5, n=20, kind="binary"),
    Setting(systems=8, n=40, kind="counts", metric=False),
]


def below(hits, level):
    """Whether the share of hits is below `level` beyond chance."""
    return binomtest(int(np.sum(hits)), len(hits), level, alternative="less").pvalue < 0.005


def pairs_held(found, truth):
    return all(
        one.simultaneous_low <= value <= one.simultaneous_high
        for one, value in zip(found, truth, strict=True)
    )


def ranks_held(systems, found, truth):
    pairs = list(combinations(range(systems), 2))
    claims = [better_of(one.difference, one.p_value, 0.95) for one in found]
    better = {
        pair if claim == "a" else pair[::-1]
        for pair, claim in zip(pairs, claims, strict=True)
        if claim
    }
    above = np.zeros(systems)
    for (a, b), value in zip(pairs, truth, strict=True):
        above[a] += value < 0
        above[b] += value > 0
    sets = ranks_of(dict.fromkeys(range(systems), 0.0), better)
    return all(one.low <= 1 + above[one.system] <= one.high for one in sets)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ALONE, ids=str)
def test_a_difference_is_unbiased_and_covered_at_its_level(setting):
    hits, errors = [], []
    for [one], [truth] in comparisons(setting, runs=400, seed=setting.n):
        hits.append(one.low <= truth <= one.high)
        errors.append(one.difference - truth)
    assert not below(hits, 0.95)
    assert ttest_1samp(errors, 0).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*TOGETHER, Setting(systems=10, n=100, raters=10)], ids=str)
def test_all_pairs_and_all_ranks_are_covered_together(setting):
    runs = list(comparisons(setting, runs=250, seed=setting.n))
    assert not below([pairs_held(found, truth) for found, truth in runs], 0.94)
    assert not below([ranks_held(setting.systems, found, truth) for found, truth in runs], 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100])
def test_all_pairs_of_many_systems_are_covered_together(n):
    runs = comparisons(Setting(systems=25, n=n), runs=60, seed=n)
    assert not below([pairs_held(found, truth) for found, truth in runs], 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("identical", [0.0, 0.5])
def test_a_difference_at_the_margin_is_seldom_called_harmless(identical):
    setting = Setting(n=60, identical=identical)
    equivalent, not_worse = [], []
    for [one], [truth] in comparisons(setting, runs=400, seed=5, means=(0.0, 0.6)):
        # System a is worse by exactly the margin.
        named = named_difference(one, ("a", "b"), abs(truth), 0.95)
        equivalent.append(named.verdict == "equivalent")
        not_worse.append(named.answer("not-worse", abs(truth), 0.95) == "holds")
    for wrong in (equivalent, not_worse):
        assert binomtest(int(np.sum(wrong)), len(wrong), 0.05, alternative="greater").pvalue > 0.005


def lenient_campaign(rng, *, k, n, raters, leniency):
    """Equal systems on the same items; each output goes to a rater at random."""
    lenient = leniency * rng.normal(size=raters)
    systems = []
    item = rng.normal(size=n)
    for _ in range(k):
        who = rng.integers(0, raters, n)
        score = item + 0.86 * rng.normal(size=n) + lenient[who]
        sample = judged_outputs(score, None, np.arange(n), raters=who)
        none = np.empty((n, 0))
        draw = simple_draw(sample, None)
        systems.append(JudgedSystem(sample, draw, none, np.arange(n), who, None))
    return systems


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "n", "raters", "leniency"), [(8, 12, 10, 1.0), (5, 50, 8, 1.0), (10, 30, 60, 1.5)]
)
def test_raters_who_differ_much_leave_intervals_honest_and_of_use(k, n, raters, leniency):
    rng = np.random.default_rng(1)
    pairs = list(combinations(range(k), 2))
    every = np.ones(n, dtype=bool)
    shared = [Shared(0, 0, (every, every))] * len(pairs)
    options = Options(raters_as="adjusted")
    held, claims, widths = [], 0, []
    for _ in range(150):
        systems = lenient_campaign(rng, k=k, n=n, raters=raters, leniency=leniency)
        found = campaign_differences(systems, pairs, shared, options=options)
        held.append(np.mean([one.low <= 0 <= one.high for one in found]))
        claims += any(one.p_value <= 0.05 for one in found)
        widths.append(np.mean([one.high - one.low for one in found]))
    low = np.mean(held) + 4 * np.std(held) / np.sqrt(len(held))
    assert low > 0.95
    assert binomtest(claims, 150, 0.05, alternative="greater").pvalue > 1e-3
    # A paired t interval, which sees leniency as noise.
    paired = 2 * t.ppf(0.975, n - 1) * np.sqrt(2 * (0.86**2 + leniency**2) / n)
    assert np.mean(widths) < paired
