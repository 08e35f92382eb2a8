"""Intervals that hold together and verdicts by steps, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from small_campaigns import campaign, crossed
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals
from steelyard.model.simultaneous import together

DRAWS = 100_000


def pairs(k):
    return np.array([np.eye(k)[a] - np.eye(k)[b] for a, b in combinations(range(k), 2)])


def by_brute_force(found, answers, forms, level):
    """Critical value and stepped p-values, from other and many more draws of the errors of all forms."""
    alone = intervals(found, answers, forms, level)
    rng = np.random.default_rng(99)
    covariance = forms @ answers.covariance @ forms.T
    errors = rng.multivariate_normal(np.zeros(len(forms)), covariance, DRAWS, method="svd")
    size = np.abs(errors / np.sqrt(np.diag(covariance)))
    towards = np.where(alone.estimate > 0, alone.down, alone.up)
    ratio = np.abs(alone.estimate) / (alone.standard_error * towards)
    score = norm.isf(student.sf(ratio, alone.degrees_of_freedom))
    p, left, floor = np.empty(len(forms)), list(np.argsort(-score)), 0.0
    while left:
        floor = max(floor, np.mean(size[:, left].max(axis=1) >= score[left[0]]))
        p[left.pop(0)] = floor
    return np.quantile(size.max(axis=1), level), p


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_intervals_and_steps_are_those_of_brute_force(level, seed):
    made, _ = crossed(np.random.default_rng(seed), k=5, n=12)
    found = fit(made)
    answers, forms = found.answers(), pairs(5)
    got, alone = together(found, answers, forms, level), intervals(found, answers, forms, level)
    critical, p = by_brute_force(found, answers, forms, level)
    reach = student.isf(norm.sf(critical), alone.degrees_of_freedom) * alone.standard_error
    open_forms = got.decided == 0
    assert open_forms.any()
    down, up = (alone.estimate - got.low)[open_forms], (got.high - alone.estimate)[open_forms]
    # half of a level is known from 10,000 draws to 4%, which moves the critical value by 1%
    assert down == pytest.approx((reach * alone.down)[open_forms], rel=0.02)
    assert up == pytest.approx((reach * alone.up)[open_forms], rel=0.02)
    likely = p > 0.002
    assert got.p_value[likely] == pytest.approx(p[likely], rel=0.1, abs=0.015)
    assert (got.p_value[~likely] <= 0.005).all()


def test_one_form_is_as_sure_together_as_alone():
    made, _ = crossed(np.random.default_rng(4), k=2, n=10)
    found = fit(made)
    alone = intervals(found, found.answers(), pairs(2))
    both = together(found, found.answers(), pairs(2))
    if both.decided[0] == 0:
        assert both.low == pytest.approx(alone.low, rel=1e-9)
        assert both.high == pytest.approx(alone.high, rel=1e-9)
    ratio = alone.estimate / alone.standard_error
    towards = np.where(ratio > 0, alone.down, alone.up)
    want = 2 * student.sf(np.abs(ratio) / towards, alone.degrees_of_freedom)
    assert both.p_value == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_intervals_and_p_values_agree(seed):
    rng = np.random.default_rng(seed)
    k, n, level = 4, 10, 0.9
    shape = [rng.normal, rng.exponential, lambda size: rng.integers(1, 6, size) * 1.0][seed % 3]
    score = shape(size=k * n) + 0.6 * np.repeat(np.arange(k), n)
    made = campaign(np.repeat(np.arange(k), n), np.tile(np.arange(n), k), score)
    found = fit(made)
    answers, forms = found.answers(), pairs(k)
    alone, both = (one(found, answers, forms, level) for one in (intervals, together))
    assert ((both.p_value <= (1 - level) * (1 + 1e-9)) == (both.decided != 0)).all()
    # what is clear of 0 together is decided, and what is decided is clear of 0 alone
    clear = (both.low > 0) | (both.high < 0)
    assert (both.decided[clear] != 0).all()
    sure = both.decided != 0
    assert ((alone.low[sure] > 0) | (alone.high[sure] < 0)).all()
    assert (np.sign(alone.estimate[sure]) == both.decided[sure]).all()
    # an interval of all together holds the one that stands alone, but for what is cut off at 0
    assert (
        both.low <= np.where(both.decided > 0, np.maximum(alone.low, 0), alone.low) + 1e-9
    ).all()
    assert (
        both.high >= np.where(both.decided < 0, np.minimum(alone.high, 0), alone.high) - 1e-9
    ).all()


def test_clear_pairs_are_taken_out_before_the_others_are_judged():
    # a is far off; compared with all three pairs, the gap between b and c would be open at 95%
    rng = np.random.default_rng(7)
    score = rng.normal(size=(3, 30)) + np.array([[0.0], [9.0], [9.49]])
    made = campaign(np.repeat(np.arange(3), 30), np.tile(np.arange(30), 3), score.ravel())
    found = fit(made)
    both = together(found, found.answers(), pairs(3))
    only = together(found, found.answers(), pairs(3)[2:])
    # of the pair that is left last, nothing is to be corrected
    assert 0.02 < only.p_value[0] < 0.05
    assert both.p_value[2] == pytest.approx(only.p_value[0], abs=0.004)
    assert both.decided.tolist() == [-1, -1, -1]
    assert both.low[2] < 0
    assert both.high[2] == 0


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_the_order_of_systems_changes_no_draw_even_where_they_tie(order):
    # means -1.5, 0, 0, 1.5 with errors that are exactly equal
    base = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 12]) - 5.7
    score = [base - 1.5, base[::-1], base, base + 1.5]
    made = campaign(
        np.repeat(np.arange(4), 10), np.arange(40), np.concatenate([score[one] for one in order])
    )
    found = fit(made)
    both = together(found, found.answers(), pairs(4))
    by_pair = {
        frozenset((order[a], order[b])): p
        for (a, b), p in zip(combinations(range(4), 2), both.p_value, strict=True)
    }
    straight = campaign(np.repeat(np.arange(4), 10), np.arange(40), np.concatenate(score))
    again = fit(straight)
    want = together(again, again.answers(), pairs(4)).p_value
    for (a, b), p in zip(combinations(range(4), 2), want, strict=True):
        assert by_pair[frozenset((a, b))] == pytest.approx(p, rel=1e-6)


def test_forms_that_cancel_are_zero_and_undecided():
    made, _ = crossed(np.random.default_rng(8), k=3, n=8)
    found = fit(made)
    forms = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    both = together(found, found.answers(), forms)
    assert (both.low[1], both.high[1], both.p_value[1], both.decided[1]) == (0, 0, 1, 0)
