"""Odd campaigns: metrics that are worthless, constant, copied or on wild scales; lone raters; lone judgments."""

import numpy as np
import pytest

from small_campaigns import campaign, crossed
from steelyard.model.effects import effects
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals

K, N, JUDGED = 3, 60, 12


def judged(metric=None, *, seed=0, rater=None, score=None):
    rng = np.random.default_rng(seed)
    system, item = np.repeat(np.arange(K), JUDGED), np.tile(np.arange(JUDGED), K)
    score = rng.normal(size=K * JUDGED) if score is None else score
    return campaign(system, item, score, pool=N, metric=metric, rater=rater)


def answer(made):
    found = fit(made)
    got = intervals(found, found.answers(), np.eye(made.k))
    assert np.isfinite([got.low, got.high, got.standard_error]).all()
    assert (got.standard_error > 0).all()
    return got


def good_metric(seed=1, p=1):
    return np.random.default_rng(seed).normal(size=(K, N, p))


def explained(metric, slope=1.0):
    """Scores that follow the first metric."""
    noise = np.random.default_rng(2).normal(size=K * JUDGED)
    return slope * metric[:, :JUDGED, 0].ravel() + 0.5 * noise


def test_a_good_metric_narrows_the_interval():
    metric = good_metric()
    score = explained(metric)
    with_metric, without = answer(judged(metric, score=score)), answer(judged(score=score))
    assert (with_metric.standard_error < 0.75 * without.standard_error).all()


def test_worthless_metrics_hardly_move_a_mean():
    metric = good_metric(p=30)
    with_metric, without = answer(judged(metric)), answer(judged())
    off = np.abs(with_metric.estimate - without.estimate) / without.standard_error
    assert off.max() < 0.5
    assert with_metric.standard_error == pytest.approx(without.standard_error, rel=0.35)


@pytest.mark.parametrize("value", [0.0, 1e12, -1e-12])
def test_a_constant_metric_changes_nothing(value):
    without = answer(judged())
    with_metric = answer(judged(np.full((K, N, 1), value)))
    assert with_metric.estimate == pytest.approx(without.estimate, abs=1e-9)
    assert with_metric.standard_error == pytest.approx(without.standard_error, rel=1e-9)


def test_a_metric_that_differs_between_systems_only_changes_nothing():
    metric = np.broadcast_to(np.arange(K)[:, None, None] * 5.0, (K, N, 1))
    without, got = answer(judged()), answer(judged(metric))
    assert got.estimate == pytest.approx(without.estimate, abs=1e-9)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_unit_of_a_metric_does_not_matter(size, sign):
    metric = good_metric(p=2)
    score = explained(metric)
    want = answer(judged(metric, score=score))
    got = answer(judged(metric * [sign * size, 1.0], score=score))
    assert got.estimate == pytest.approx(want.estimate, rel=1e-7)
    assert got.low == pytest.approx(want.low, rel=1e-7)


def test_a_metric_far_from_zero_counts_by_what_it_varies():
    metric = good_metric()
    score = explained(metric)
    want, got = answer(judged(metric, score=score)), answer(judged(metric + 1e6, score=score))
    assert got.estimate == pytest.approx(want.estimate, rel=1e-6)


def test_copies_of_a_metric_are_no_more_than_the_metric():
    metric = good_metric()
    score = explained(metric)
    want = answer(judged(metric, score=score))
    three = np.concatenate([metric, 2 * metric - 1, -metric], axis=2)
    got = answer(judged(three, score=score))
    assert got.estimate == pytest.approx(want.estimate, rel=1e-6)
    assert got.standard_error == pytest.approx(want.standard_error, rel=1e-6)


def test_more_metrics_than_judgments_are_taken():
    metric = good_metric(p=100)
    metric[..., 0] *= 3
    got = answer(judged(metric))
    assert (got.high - got.low < 4).all()


def test_a_metric_that_equals_the_scores_is_believed_but_not_without_error():
    metric = good_metric()
    got = answer(judged(metric, score=metric[:, :JUDGED, 0].ravel()))
    assert got.estimate == pytest.approx(metric[..., 0].mean(axis=1), abs=0.01)
    assert (got.standard_error > 0).all()


@pytest.mark.parametrize("factor", [1e-12, 1e12])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_unit_of_scores_does_not_matter(factor, shift):
    made = judged()
    want, got = answer(made), answer(judged(score=factor * (made.score + shift)))
    assert got.estimate / factor - shift == pytest.approx(want.estimate, rel=1e-6)
    assert got.standard_error / factor == pytest.approx(want.standard_error, rel=1e-6)


def test_small_differences_of_large_scores_are_seen():
    made = judged()
    want, got = answer(made), answer(judged(score=1e9 + 0.01 * made.score))
    assert got.standard_error == pytest.approx(0.01 * want.standard_error, rel=1e-3)


def test_one_rater_is_no_effect():
    made = judged(rater=np.zeros(K * JUDGED, dtype=int))
    assert {"rater", "taste"}.isdisjoint(effects(made).names)
    want = answer(judged())
    assert answer(made).estimate == pytest.approx(want.estimate)


def test_raters_who_judged_once_each_are_noise():
    made = judged(rater=np.arange(K * JUDGED))
    assert {"rater", "taste"}.isdisjoint(effects(made).names)
    want, got = answer(judged()), answer(made)
    assert got.low == pytest.approx(want.low)


def test_a_rater_for_each_system_makes_differences_unsure():
    # leniency and system cannot be told apart: the error is that of raters that nobody has seen twice
    by_system = np.repeat(np.arange(K), JUDGED)
    crossed_raters = np.tile(np.arange(K), JUDGED)
    difference = np.array([[1.0, -1.0, 0.0]])
    apart, together = (fit(judged(rater=rater)) for rater in (by_system, crossed_raters))
    wide, narrow = (intervals(one, one.answers(), difference) for one in (apart, together))
    assert wide.standard_error > narrow.standard_error
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_one_judgment_beside_a_thousand():
    rng = np.random.default_rng(0)
    system = np.array([0] * 1000 + [1] + [2] * 3)
    made = campaign(system, np.arange(1004), rng.normal(size=1004), pool=2000)
    got = answer(made)
    assert got.standard_error[0] < 0.1
    assert 0.5 < got.standard_error[1] < 2
    assert got.degrees_of_freedom[1] >= 1


def test_two_outputs_of_each_of_many_systems_lend_each_other_their_spread():
    rng = np.random.default_rng(0)
    k = 200
    made = campaign(np.repeat(np.arange(k), 2), np.arange(2 * k), rng.normal(size=2 * k), pool=500)
    got = answer(made)
    assert got.degrees_of_freedom.min() > 20
    assert np.std(got.estimate) == pytest.approx(np.mean(got.standard_error), rel=0.15)


def test_the_same_campaign_has_the_same_answer_bit_for_bit():
    made, _ = crossed(np.random.default_rng(1), k=4, p=3)
    one, again = answer(made), answer(made)
    assert np.array_equal(one.low, again.low)
    assert np.array_equal(one.degrees_of_freedom, again.degrees_of_freedom)


@pytest.mark.parametrize("k", [2, 4])
def test_systems_that_were_judged_alike_on_every_item_may_still_differ(k):
    # of 20 items on which nobody differed, up to 3 in 20 could be others (the rule of three)
    level = np.tile([0.0, 1.0, 1.0, 0.0], 5)
    system, item = np.repeat(np.arange(k), 20), np.tile(np.arange(20), k)
    made = campaign(system, item, np.tile(level, k), pool=200)
    found = fit(made)
    form = np.eye(k)[:1] - np.eye(k)[1:2]
    [half] = student_half(found, form)
    assert 0.05 < half < 0.3


def student_half(found, form):
    got = intervals(found, found.answers(), form)
    return (got.high - got.low) / 2
