from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, t

from steelyard.errors import NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.judgment_mean import JudgmentMean
from steelyard.estimate.order_effect import _chance_of_order, order_effect
from steelyard.estimate.preference_strengths import strengths
from steelyard.estimate.preferences import JudgedPair, preferences
from steelyard.estimate.shared_spread import SharedSpread

FIXED = Options(raters_as="fixed")


def pair(net, *, a=0, b=1, item=None, rater=None, items=100, identical=0, metric=None):
    net = np.asarray(net, dtype=float)
    item = np.arange(len(net)) if item is None else np.asarray(item)
    rater = np.zeros(len(net), dtype=int) if rater is None else np.asarray(rater)
    metric = np.empty((items - identical, 0)) if metric is None else metric
    return JudgedPair(a, b, net, item, rater, items, identical, metric, np.unique(item))


def flipped(one):
    return replace(one, a=one.b, b=one.a, net=-one.net, metric=-one.metric)


def test_a_net_preference_is_that_of_bonett_and_price_by_hand():
    # 7 wins, 1 tie, 2 losses; with one more of each end 8 and 3 of 12
    [got], _ = preferences([pair([1] * 7 + [0] + [-1] * 2)], options=FIXED)
    assert got.net.difference == pytest.approx(0.5)
    error = np.sqrt((11 - 12 * (5 / 12) ** 2) / (11 * 12))
    assert got.net.standard_error == pytest.approx(error)
    reach = t.ppf(0.975, 9) * error
    assert got.net.low == pytest.approx(5 / 12 - reach)
    assert got.net.high == min(5 / 12 + reach, 1)
    assert got.net.p_value == pytest.approx(2 * t.sf(5 / 12 / error, 9))


def test_shares_of_single_judgments_have_clopper_and_pearsons_interval():
    [got], _ = preferences([pair([1] * 7 + [0] + [-1] * 2)], options=FIXED)
    for share, count in ((got.win, 7), (got.tie, 1), (got.loss, 2)):
        want = binomtest(count, 10).proportion_ci(method="exact")
        assert share.value == pytest.approx(count / 10)
        assert (share.low, share.high) == pytest.approx((want.low, want.high))


def test_a_share_that_never_occurred_keeps_a_width():
    [got], _ = preferences([pair([1] * 10)], options=FIXED)
    want = binomtest(0, 10).proportion_ci(method="exact")
    assert (got.loss.value, got.loss.low) == (0, 0)
    assert got.loss.high == pytest.approx(want.high)
    assert got.net.low < 1
    assert got.net.high == 1


def test_identical_outputs_are_ties_that_need_no_judgment():
    judged = [1] * 7 + [0] + [-1] * 2
    [plain], _ = preferences([pair(judged)], options=FIXED)
    [half], _ = preferences([pair(judged, identical=50)], options=FIXED)
    assert half.net.difference == pytest.approx(plain.net.difference / 2)
    assert half.net.standard_error == pytest.approx(plain.net.standard_error / 2)
    assert half.tie.value == pytest.approx(0.5 + 0.5 * plain.tie.value)
    assert half.win.high == pytest.approx(plain.win.high / 2)
    [same], gathered = preferences([pair([], identical=100)], options=FIXED)
    assert (same.net.difference, same.net.low, same.net.high, same.tie.low) == (0, 0, 0, 1)
    assert [one.strength for one in strengths(gathered, [0, 1], level=0.95)] == [0, 0]


def test_swapping_the_systems_changes_signs_only():
    rng = np.random.default_rng(0)
    one = pair(
        rng.integers(-1, 2, 60),
        item=np.repeat(np.arange(30), 2),
        rater=rng.integers(6, size=60),
        metric=rng.normal(size=(100, 2)),
    )
    options = Options(raters_as="random")
    [got], _ = preferences([one], options=options)
    [turned], _ = preferences([flipped(one)], options=options)
    assert turned.net.difference == pytest.approx(-got.net.difference)
    assert (turned.net.low, turned.net.high) == pytest.approx((-got.net.high, -got.net.low))
    assert (turned.win.low, turned.loss.high) == pytest.approx((got.loss.low, got.win.high))
    assert turned.tie == got.tie


def test_shares_add_up_and_their_difference_is_the_net_preference_with_a_control():
    rng = np.random.default_rng(1)
    metric = rng.normal(size=(300, 1))
    net = np.sign(np.round(metric[:80, 0] + 0.5 * rng.normal(size=80)))
    one = pair(net, items=300, metric=metric)
    [got], _ = preferences([one], options=FIXED)
    [plain], _ = preferences([pair(net, items=300)], options=FIXED)
    assert got.win.value + got.tie.value + got.loss.value == pytest.approx(1)
    assert got.win.value - got.loss.value == pytest.approx(got.net.difference)
    # the metric of the judged items is not that of the pool, and explains most of the preferences
    assert got.net.standard_error < 0.8 * plain.net.standard_error
    assert got.net.difference != pytest.approx(plain.net.difference, abs=1e-4)


def test_second_judgments_of_an_item_are_no_second_item():
    net = [1, 1, -1, 0, 1, 1, 0, -1]
    [once], _ = preferences([pair(net)], options=FIXED)
    again = pair(np.repeat(net, 3), item=np.repeat(np.arange(8), 3))
    [thrice], _ = preferences([again], options=replace(FIXED, target="superpopulation"))
    assert thrice.net.standard_error == pytest.approx(once.net.standard_error)


def test_a_pool_that_was_judged_whole_leaves_rater_noise_only():
    rng = np.random.default_rng(2)
    item = np.repeat(np.arange(40), 3)
    taste = np.sign(rng.normal(size=40))[item]
    net = np.where(rng.random(120) < 0.9, taste, -taste)
    [part], _ = preferences([pair(net, item=item, items=4000)], options=FIXED)
    [whole], _ = preferences([pair(net, item=item, items=40)], options=FIXED)
    assert whole.net.standard_error < 0.6 * part.net.standard_error


def test_a_pool_that_was_judged_whole_by_raters_who_agree_leaves_nothing_open():
    net = np.repeat([1, 1, 1, -1, 0, 0, 0], 2)
    item, rater = np.repeat(np.arange(7), 2), np.tile([0, 1], 7)
    [got], _ = preferences([pair(net, item=item, rater=rater, items=7)], options=FIXED)
    for share, count in ((got.win, 3), (got.tie, 3), (got.loss, 1)):
        assert (share.low, share.value, share.high) == pytest.approx((count / 7,) * 3)


def test_one_rater_who_leans_to_a_side_widens_the_interval_of_raters_as_a_sample():
    rng = np.random.default_rng(3)
    rater = np.where(np.arange(100) < 50, 0, rng.integers(1, 8, 100))
    net = np.where(rater == 0, 1, rng.integers(-1, 2, 100))
    [fixed], _ = preferences([pair(net, rater=rater)], options=FIXED)
    [sample], _ = preferences([pair(net, rater=rater)], options=Options(raters_as="random"))
    assert sample.net.difference == fixed.net.difference
    assert sample.net.standard_error > 1.5 * fixed.net.standard_error


def test_raters_taste_is_found_in_a_balanced_table():
    # Rater r has mean r on all items: the variance of 0, 1, 2 is 1, and there is nothing else.
    item, rater = (one.ravel() for one in np.meshgrid(np.arange(4), np.arange(3)))
    mean = JudgmentMean.over_items(rater.astype(float), item, rater, width=2.0)
    spread = SharedSpread.of([mean], raters=True, directions=1)
    assert spread.rater_share == pytest.approx(1)
    assert mean.rater_load == pytest.approx(1 / 3)


def test_a_pair_with_one_item_is_left_out_with_its_reason():
    found, gathered = preferences([pair([1, 1, -1]), pair([1], a=1, b=2)], options=FIXED)
    assert isinstance(found[1], NotEstimableError)
    assert gathered.pairs == [(0, 1)]


def test_two_strengths_have_the_error_of_their_net_preference():
    [got], gathered = preferences([pair([1] * 12 + [-1] * 8)], options=FIXED)
    first, second = strengths(gathered, [0, 1], level=0.95)
    assert first.strength == pytest.approx(np.log(0.6 / 0.4) / 2)
    assert first.standard_error == pytest.approx(got.net.standard_error / 2 / (2 * 0.6 * 0.4))
    assert (second.low, second.high) == pytest.approx((-first.high, -first.low))


def test_the_order_effect_is_least_squares_within_pairs():
    rng = np.random.default_rng(4)
    where = np.repeat([0, 1], 60)
    first = rng.choice([-1, 1], 120, p=[0.3, 0.7])
    net = np.sign(np.round(rng.normal(0.3 * where + 0.4 * first, 1)))
    got = order_effect(
        net, first, where, item=np.arange(120), rater=np.zeros(120, int), raters=False, level=0.95
    )
    design = np.column_stack([where == 0, where == 1, first]).astype(float)
    want = np.linalg.lstsq(design, net, rcond=None)[0][2]
    assert got.effect == pytest.approx(want)
    assert got.low < want < got.high
    assert got.n_judgments == 120
    assert got.first_shares == pytest.approx((np.mean(first[:60] > 0), np.mean(first[60:] > 0)))
    assert not got.balanced


def test_the_chance_of_an_order_is_that_of_the_exact_binomial_test():
    splits = [(ahead, n) for n in (1, 2, 7, 12, 301) for ahead in range(n + 1)]
    ahead, count = np.array(splits).T
    want = [binomtest(*split).pvalue for split in splits]
    assert _chance_of_order(ahead.astype(float), count) == pytest.approx(want, rel=1e-9)


def test_an_order_that_never_changes_shows_no_effect_and_none_is_none():
    settings = {"item": np.arange(8), "rater": np.zeros(8, int), "raters": False, "level": 0.95}
    net, where = np.array([1.0, 1, 0, 0, -1, 1, 1, 1]), np.zeros(8, int)
    assert order_effect(net, np.zeros(8, int), where, **settings) is None
    got = order_effect(net, np.ones(8, int), where, **settings)
    assert np.isnan(got.effect)
    assert not got.balanced
