"""Differences cover at their level, alone and all together, judged by binomial tests."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from simulated_comparison import Setting, comparisons

from steelyard.study.pair_difference import named_difference
from steelyard.study.ranks import ranks_of

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


def joint(setting, runs, seed):
    return [
        all(
            one.simultaneous_low <= value <= one.simultaneous_high
            for one, value in zip(found, truth, strict=True)
        )
        for found, truth in comparisons(setting, runs=runs, seed=seed)
    ]


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
@pytest.mark.parametrize("setting", TOGETHER, ids=str)
def test_all_pairs_are_covered_together(setting):
    assert not below(joint(setting, 250, setting.n), 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100])
def test_all_pairs_of_many_systems_are_covered_together(n):
    assert not below(joint(Setting(systems=25, n=n), 60, n), 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*TOGETHER, Setting(systems=10, n=100, raters=10)], ids=str)
def test_the_ranks_of_all_systems_are_covered_together(setting):
    held = []
    pairs = list(combinations(range(setting.systems), 2))
    for found, truth in comparisons(setting, runs=250, seed=2 * setting.n):
        better = {pair for pair, one in zip(pairs, found, strict=True) if one.simultaneous_low > 0}
        better |= {
            pair[::-1] for pair, one in zip(pairs, found, strict=True) if one.simultaneous_high < 0
        }
        sets = {
            one.system: one for one in ranks_of(dict.fromkeys(range(setting.systems), 0.0), better)
        }
        above = np.zeros(setting.systems)
        for (a, b), value in zip(pairs, truth, strict=True):
            above[a] += value < 0
            above[b] += value > 0
        held.append(all(sets[k].low <= 1 + above[k] <= sets[k].high for k in sets))
    assert not below(held, 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("identical", [0.0, 0.5])
def test_a_difference_at_the_margin_is_seldom_called_harmless(identical):
    setting = Setting(n=60, identical=identical)
    equivalent, not_worse = [], []
    for [one], [truth] in comparisons(setting, runs=400, seed=5, means=(0.0, 0.6)):
        # System a is worse by exactly the margin.
        named = named_difference(one, ("a", "b"), abs(truth))
        equivalent.append(named.verdict == "equivalent")
        not_worse.append(named.answer("not-worse", abs(truth)) == "holds")
    for wrong in (equivalent, not_worse):
        assert binomtest(int(np.sum(wrong)), len(wrong), 0.05, alternative="greater").pvalue > 0.005
