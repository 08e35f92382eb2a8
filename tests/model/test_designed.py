"""Means by the weights of the design, where chances were unequal."""

from dataclasses import replace

import numpy as np
import pytest

from small_campaigns import campaign
from steelyard.model.designed import answers_of, designed_answers
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals

POOL = 60


def by_strata(rng, human, metric, sizes, *, judged, noise=0.2):
    """A draw by strata of the items, which lie one after the other, for every system on its own."""
    k = len(human)
    system, item, weight, stratum = [], [], [], []
    for one in range(k):
        start = 0
        for number, (size, n) in enumerate(zip(sizes, judged, strict=True)):
            system += [one] * n
            item += (start + rng.permutation(size)[:n]).tolist()
            weight += [size / n] * n
            stratum += [one * len(sizes) + number] * n
            start += size
    system, item = np.array(system), np.array(item)
    score = human[system, item] + noise * rng.normal(size=len(item))
    made = campaign(system, item, score, pool=POOL, metric=metric)
    # outputs are numbered by system and item
    order = np.argsort(system * POOL + item)
    return replace(made, weight=np.array(weight)[order], stratum=np.array(stratum)[order])


def world(seed):
    """Scores that the metric misleads about: curved, and with steps between strata."""
    rng = np.random.default_rng(seed)
    metric = rng.normal(size=(2, POOL, 1))
    human = metric[..., 0] ** 2 + np.repeat([0.0, 1.0, 9.0], [30, 20, 10])
    return human + np.array([[0.0], [0.5]]), metric


@pytest.mark.slow
def test_means_are_unbiased_over_draws_however_wrong_the_model_is():
    human, metric = world(1)
    rng = np.random.default_rng(2)
    off = np.array(
        [
            designed_answers(
                fit(by_strata(rng, human, metric, (30, 20, 10), judged=(5, 5, 5)))
            ).mean
            - human.mean(axis=1)
            for _ in range(300)
        ]
    )
    error = off.std(axis=0, ddof=1) / np.sqrt(len(off))
    assert (np.abs(off.mean(axis=0)) < 3 * error).all()


def test_without_anything_to_learn_the_mean_is_the_weighted_one():
    # strata of 30, 20 and 10 outputs with means 1, 2 and 4 of the judged ones: (30 + 40 + 40) / 60
    item = [0, 1, 30, 31, 50, 51]
    made = campaign([0] * 6, item, [0.5, 1.5, 1.0, 3.0, 3.0, 5.0], pool=POOL)
    weight = np.array([15.0, 15, 10, 10, 5, 5])
    made = replace(made, weight=weight, stratum=np.array([0, 0, 1, 1, 2, 2]))
    assert answers_of(fit(made)).mean == pytest.approx([110 / 60])


def test_the_error_without_a_metric_is_that_of_a_stratified_mean():
    # Var = sum of (N_h / N)^2 s_h^2 / n_h, without the factor 1 - n_h / N_h: with one judgment of each output
    # nothing tells what the output is from noise. Residuals are predicted without their own output.
    rng = np.random.default_rng(3)
    human = 2 * rng.normal(size=(1, POOL))
    made = by_strata(
        rng, human, np.zeros((1, POOL, 0)), (30, 20, 10), judged=(10, 10, 5), noise=0.0
    )
    found = designed_answers(fit(made))
    want = 0.0
    for number, (size, n) in enumerate(((30, 10), (20, 10), (10, 5))):
        of = made.score[made.stratum[made.output] == number]
        want += (size / POOL) ** 2 * of.var(ddof=1) / n
    assert found.parts["design"][0, 0] == pytest.approx(want, rel=0.15)


@pytest.mark.parametrize("about", ["pool", "new outputs", "these raters"])
def test_a_pool_judged_whole_by_strata_has_the_error_of_its_judgments(about):
    rng = np.random.default_rng(4)
    human = rng.normal(size=(2, POOL))
    made = by_strata(rng, human, np.zeros((2, POOL, 0)), (30, 20, 10), judged=(30, 20, 10))
    found = fit(made)
    answers = answers_of(found, about)
    plain = [made.score[made.writers[made.output][:, one] > 0].mean() for one in range(2)]
    assert answers.mean == pytest.approx(plain, rel=1e-9)
    got = intervals(found, answers, np.eye(2))
    assert (got.standard_error > 0).all()
    assert (got.low < got.high).all()


@pytest.mark.slow
def test_intervals_hold_where_most_of_each_stratum_is_judged_and_judgments_are_noisy():
    held = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        human = 0.3 * rng.normal(size=(1, POOL))
        made = by_strata(
            rng, human, np.zeros((1, POOL, 0)), (30, 20, 10), judged=(24, 16, 8), noise=1.0
        )
        found = fit(made)
        got = intervals(found, answers_of(found), np.eye(1))
        held.append(got.low[0] <= human.mean() <= got.high[0])
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(held))
