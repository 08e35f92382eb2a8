"""Means, forms and errors of the fitted model, against hand-worked values and full matrices."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from small_campaigns import at_variances, campaign, crossed, spelt_out
from steelyard.errors import NotEstimableError
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals

APART = ("learning", "observed")


def model_error(answers):
    """The error of the means at known variances."""
    return sum(part for name, part in answers.parts.items() if name not in APART)


def test_an_item_judged_for_one_system_helps_the_other():
    # a is judged on both items, b on the first; item and noise have variance 1, the pool is the two items.
    # What is left of b's mean is half the difference of the items; a shows that difference with variance
    # 2 * 1 + 2 * 1 = 4 and covariance 1, so that b = 5 - (3 - 1) / 4 and Var = 1 + 1/2 - 1/4.
    made = campaign([0, 0, 1], [0, 1, 0], [3.0, 1.0, 5.0], pool=2)
    answers = at_variances(made, {"item": 1.0, "noise": 1.0}).answers()
    assert answers.mean == pytest.approx([2.0, 4.5])
    assert model_error(answers) == pytest.approx(np.diag([0.5, 1.25]))


def test_raters_who_judged_more_weigh_more_in_the_error():
    # one rater judged three outputs, another one: Var = (9 + 1) / 16 of the leniency + 1 / 4 of the noise;
    # he who judged one output is noise, of variance 1 beside leniency 1 of the other
    made = campaign([0] * 5, range(5), [1.0, 2.0, 3.0, 6.0, 8.0], rater=[0, 0, 0, 1, 1])
    answers = at_variances(made, {"rater": 1.0, "noise": 1.0}).answers()
    assert answers.mean == pytest.approx([4.0])
    assert model_error(answers) == pytest.approx(np.array([[(9 + 4) / 25 + 1 / 5]]))


def test_exactly_these_raters_have_no_error_of_raters():
    made = campaign([0] * 5, range(5), [1.0, 2.0, 3.0, 6.0, 8.0], rater=[0, 0, 0, 1, 1])
    answers = at_variances(made, {"rater": 1.0, "noise": 1.0}).answers("these raters")
    assert model_error(answers) == pytest.approx(np.array([[1 / 5]]))


def test_a_metric_moves_a_mean_by_its_slope():
    # one metric, 1 and 3 on the judged outputs, pool mean 4: with a slope that is as good as free
    # the line through (1, 2) and (3, 3) and (2, 2.5) is 3.5 at the pool's mean
    metric = np.array([[[1.0], [3.0], [2.0], [10.0]]])
    made = campaign([0, 0, 0], [0, 1, 2], [2.0, 3.0, 2.5], pool=4, metric=metric)
    answers = at_variances(made, {"metrics": 1e6, "noise": 1.0}).answers()
    assert answers.mean == pytest.approx([3.5], abs=1e-4)


@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0, 4.0, 7.0], [-3.0, 3.0], [0.0, 0.1, 1e6, 5.0]])
def test_one_system_without_metrics_has_students_error(scores):
    n = len(scores)
    found = fit(campaign([0] * n, range(n), scores, pool=1000))
    answers = found.answers()
    assert answers.mean == pytest.approx([np.mean(scores)], rel=1e-9)
    assert answers.covariance[0, 0] == pytest.approx(np.var(scores, ddof=1) / n, rel=1e-6)
    assert found.degrees_of_freedom(np.eye(1), answers) == pytest.approx([n - 1], rel=1e-6)


def test_symmetric_scores_of_one_system_have_students_interval():
    scores = [1.0, 2.0, 3.0, 5.0, 7.0, 8.0, 9.0]
    found = fit(campaign([0] * 7, range(7), scores, pool=1000))
    got = intervals(found, found.answers(), np.eye(1))
    want = ttest_1samp(scores, 0).confidence_interval()
    assert (got.low[0], got.high[0]) == pytest.approx(tuple(want), rel=1e-5)


@pytest.mark.parametrize("raters", [None, 4])
def test_balanced_complete_data_have_plain_means(raters):
    made, _ = crossed(np.random.default_rng(3), k=3, n=8, raters=raters or 1, times=raters or 1)
    scores = [made.score[made.writers[made.output][:, one] > 0].mean() for one in range(3)]
    assert fit(made).answers().mean == pytest.approx(scores, rel=1e-9)
    assert fit(made).plain().mean == pytest.approx(scores, rel=1e-9)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("these_raters", [True, False])
def test_the_error_of_all_means_is_that_of_full_matrices(same, these_raters):
    made, _ = crossed(np.random.default_rng(5), k=3, n=9, pool=15, same=same, p=2)
    found = fit(made)
    v, c, target = spelt_out(found, these_raters=these_raters)
    answers = found.answers("these raters" if these_raters else "pool")
    w = answers.weights.dense() * found.spread[:, np.newaxis]
    want = w.T @ v @ w - w.T @ c - c.T @ w + target
    assert model_error(answers) == pytest.approx(want, rel=1e-7, abs=1e-9)
    assert np.linalg.eigvalsh(answers.covariance).min() > 0


@pytest.mark.parametrize("same", [True, False])
def test_the_weights_are_the_best_linear_unbiased_ones(same):
    made, _ = crossed(np.random.default_rng(6), k=3, n=9, pool=15, same=same, p=1)
    found = fit(made)
    # the estimate is about exactly these raters, whatever its interval is about
    v, c, _ = spelt_out(found, these_raters=True)
    x = made.contrast.toarray() / found.spread[:, np.newaxis]
    inverse = np.linalg.inv(v)
    off = np.eye(3) - x.T @ inverse @ c
    want = inverse @ (c + x @ np.linalg.solve(x.T @ inverse @ x, off))
    w = found.answers().weights.dense() * found.spread[:, np.newaxis]
    assert w == pytest.approx(want, rel=1e-5, abs=1e-8)


def test_weights_of_each_mean_add_up_to_one_for_its_own_system_and_zero_for_others():
    made, _ = crossed(np.random.default_rng(7), k=3, n=6, same=False, p=1)
    answers = fit(made).answers()
    sums = made.contrast.T @ answers.weights.dense()
    assert sums == pytest.approx(np.eye(3), abs=1e-7)


def test_a_form_is_the_same_sum_of_the_means():
    made, _ = crossed(np.random.default_rng(9), k=4, p=2)
    found = fit(made)
    answers = found.answers()
    form = np.array([[1.0, -1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    got = intervals(found, answers, form)
    assert got.estimate[0] == pytest.approx(answers.mean[0] - answers.mean[1], abs=1e-9)
    assert got.estimate[1] == pytest.approx(answers.mean.mean(), abs=1e-9)
    want = form @ answers.covariance @ form.T
    assert got.standard_error == pytest.approx(np.sqrt(np.diag(want)), rel=1e-9)


def test_new_outputs_are_less_sure_than_these():
    made, _ = crossed(np.random.default_rng(10), k=2, n=12, pool=15, times=4)
    found = fit(made)
    these, new = found.answers(), found.answers("new outputs")
    assert np.array_equal(these.mean, new.mean)
    assert (np.diag(new.covariance) > np.diag(these.covariance)).all()


def test_the_interval_reaches_as_far_as_its_degrees_of_freedom_ask():
    made, _ = crossed(np.random.default_rng(11), k=2)
    found = fit(made)
    got = intervals(found, found.answers(), np.array([[1.0, -1.0]]), level=0.9)
    reach = student.ppf(0.95, got.degrees_of_freedom) * got.standard_error
    assert got.estimate - got.low == pytest.approx(got.down * reach)
    assert got.high - got.estimate == pytest.approx(got.up * reach)


def test_judgments_that_are_all_equal_need_the_ends_of_the_scale():
    made = campaign([0] * 5 + [1] * 5, [*range(5), *range(5)], [4.0] * 10)
    with pytest.raises(NotEstimableError, match="give the ends of the scale"):
        fit(made)
    bounded = campaign([0] * 5 + [1] * 5, [*range(5), *range(5)], [4.0] * 10, bounds=(1.0, 5.0))
    found = fit(bounded)
    got = intervals(found, found.answers(), np.eye(2))
    assert (got.low < 4.0).all()
    assert (got.high > 4.0).all()
    assert (got.low >= 1.0).all()
    assert (got.high <= 5.0).all()
