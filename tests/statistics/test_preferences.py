"""Preferences are covered at their level, alone and together, and the order test keeps its size."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from simulated_preferences import Setting, runs

ALONE = [
    Setting(n=10, metric=False),
    Setting(n=20),
    Setting(n=40, tie=0.0, spread=1.2),
    Setting(n=40, judgments=3),
    Setting(n=40, judgments=2, raters=6, identical=0.5),
    Setting(n=100, busy=True),
    Setting(n=200, raters=8),
]
TOGETHER = [
    Setting(systems=3, n=40, judgments=3),
    Setting(systems=5, n=20),
    Setting(systems=5, n=40, busy=True),
    Setting(systems=5, n=60, same_items=False),
]


def below(hits, level):
    """Whether the share of hits is below `level` beyond chance."""
    return binomtest(int(np.sum(hits)), len(hits), level, alternative="less").pvalue < 0.005


def above(hits, level):
    """Whether the share of hits is above `level` beyond chance."""
    return binomtest(int(np.sum(hits)), len(hits), level, alternative="greater").pvalue < 0.005


def inside(one, value):
    return one.low - 1e-12 <= value <= one.high + 1e-12


def joint(run):
    """Whether all net preferences are in their intervals, and all strengths."""
    nets = all(
        pair.simultaneous_low <= truth <= pair.simultaneous_high
        for pair, truth in zip(run.pairs, run.truth[:, 0], strict=True)
    )
    strong = [inside(one, run.true_strengths[name]) for name, one in run.strengths.items()]
    return nets, all(strong)


def width(pair):
    return pair.high - pair.low


@pytest.mark.slow
@pytest.mark.parametrize("setting", ALONE, ids=str)
def test_preferences_are_unbiased_and_covered_and_no_order_is_made_up(setting):
    hits, errors, wrong = [[], [], [], []], [], []
    for run in runs(setting, runs=300, seed=setting.n):
        [pair], [truth] = run.pairs, run.truth
        for number, one in enumerate((pair, pair.win, pair.tie, pair.loss)):
            hits[number].append(inside(one, truth[number]))
        errors.append(pair.net - truth[0])
        wrong.append(run.order.p_value < 0.05)
    for own in hits:
        assert not below(own, 0.95)
    assert ttest_1samp(errors, 0).pvalue > 0.001
    assert not above(wrong, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("setting", TOGETHER, ids=str)
def test_all_pairs_and_all_strengths_are_covered_together(setting):
    found = [joint(run) for run in runs(setting, runs=150, seed=setting.n)]
    assert not below([nets for nets, _ in found], 0.94)
    assert not below([strong for _, strong in found], 0.94)


@pytest.mark.slow
def test_pairs_of_five_systems_lend_one_another_what_they_know():
    # apart, a pair of 20 judged items has an interval of 0.79 here, and a squared error of 0.037
    found = list(runs(Setting(systems=5, n=20), runs=60, seed=3))
    assert np.mean([width(pair) for run in found for pair in run.pairs]) < 0.68
    off = [
        pair.net - truth[0]
        for run in found
        for pair, truth in zip(run.pairs, run.truth, strict=True)
    ]
    assert np.mean(np.square(off)) < 0.028


@pytest.mark.slow
def test_ten_systems_are_covered_together():
    found = [joint(run) for run in runs(Setting(systems=10, n=20), runs=40, seed=1)]
    assert not below([nets for nets, _ in found], 0.94)
    assert not below([strong for _, strong in found], 0.94)


@pytest.mark.slow
def test_an_unbalanced_order_is_not_taken_for_an_effect():
    setting = Setting(n=40, judgments=3, raters=8)
    wrong = [run.order.p_value < 0.05 for run in runs(setting, runs=300, seed=7, balanced=False)]
    assert not above(wrong, 0.05)


@pytest.mark.slow
def test_an_order_effect_is_found():
    setting = Setting(n=150, order=0.7, raters=20, taste=0.2)
    found = [run.order.p_value < 0.05 for run in runs(setting, runs=60, seed=8)]
    assert np.mean(found) > 0.8
