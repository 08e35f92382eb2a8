"""Ends of intervals: within the scale, never of zero width, and as wide as others' where those are exact."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from small_campaigns import campaign, crossed
from steelyard.errors import NotEstimableError
from steelyard.model.fit import fit
from steelyard.model.intervals import form_ends, intervals
from steelyard.model.simultaneous import together


def pairs(k):
    return np.array([np.eye(k)[a] - np.eye(k)[b] for a, b in combinations(range(k), 2)])


def of_scores(score, *, same=True, **more):
    """Each system judged once on as many items as it has scores."""
    system = np.repeat(np.arange(len(score)), [len(one) for one in score])
    item = np.concatenate([np.arange(len(one)) for one in score])
    if not same:
        item = np.arange(len(system))
    made = campaign(system, item, np.concatenate(score), pool=400, **more)
    return fit(made)


def wilson(share, n, z=1.959964):
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return middle - half, middle + half


@pytest.mark.parametrize("seed", range(12))
def test_intervals_of_shares_lie_within_the_scale_and_are_never_points(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), int(rng.integers(3, 15))
    chance = rng.choice([0.02, 0.5, 0.9, 1.0], size=(k, 1))
    found = of_scores((rng.random((k, n)) < chance) * 1.0, same=bool(seed % 2))
    answers = found.answers()
    means = intervals(found, answers, np.eye(k))
    assert (means.low >= 0).all()
    assert (means.high <= 1).all()
    assert (means.low <= means.estimate).all()
    assert (means.estimate <= means.high).all()
    for got in (intervals(found, answers, pairs(k)), together(found, answers, pairs(k))):
        assert (got.low >= -1).all()
        assert (got.high <= 1).all()
        # 15 judgments, or fewer, never show a share to a hundredth
        assert (got.high - got.low > 0.01).all()
    assert (means.high - means.low > 0.01).all()


@pytest.mark.parametrize("right", [0, 1, 10, 17, 20])
def test_a_share_of_one_system_has_about_wilsons_interval(right):
    score = np.zeros(20)
    score[:right] = 1
    got = (found := of_scores([score])) and intervals(found, found.answers(), np.eye(1))
    low, high = wilson(right / 20, 20)
    assert (got.low[0], got.high[0]) == pytest.approx((low, high), abs=0.05)


@pytest.mark.parametrize("others", [[], [[1.0, 0, 1, 1, 0] * 4], [[1.0, 0, 1, 1, 0] * 4] * 3])
def test_shares_that_are_all_one_are_not_sure(others):
    found = of_scores([np.ones(20), *map(np.array, others)])
    got = intervals(found, found.answers(), np.eye(1 + len(others)))
    assert got.high[0] == 1
    # three in n: up to 14% could be wrong
    assert 0.72 < got.low[0] < 0.9


@pytest.mark.parametrize("same", [True, False])
def test_equal_ratings_of_one_system_are_as_unsure_as_those_of_others_are_spread(same):
    varied = np.array([1.0, 2, 3, 4, 5] * 4)
    found = of_scores([np.full(20, 4.0), varied, varied[::-1]], same=same)
    got = intervals(found, found.answers(), np.eye(3))
    assert 0.1 < got.high[0] - got.low[0] < 1.5


def test_given_ends_hold_intervals():
    score = np.array([5.0, 5, 5, 5, 5, 4, 5, 1])
    found = of_scores([score, score[::-1]], bounds=(1.0, 5.0))
    got = intervals(found, found.answers(), np.vstack([np.eye(2), pairs(2)]))
    assert (got.high[:2] <= 5).all()
    assert (got.low[:2] >= 1).all()
    least, most = form_ends(found, np.vstack([np.eye(2), pairs(2), [[0.5, 0.5]]]))
    assert least == pytest.approx([1, 1, -4, 1])
    assert most == pytest.approx([5, 5, 4, 5])


def test_scores_that_are_not_shares_have_no_ends():
    found = of_scores([np.array([0.0, 1, 2, 1]), np.array([0.0, 0, 1, 2])])
    least, most = form_ends(found, np.eye(2))
    assert np.isinf(least).all()
    assert np.isinf(most).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_long_tail_makes_the_interval_reach_further_to_its_side(sign):
    score = sign * np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0, 4.0, 9.0])
    found = of_scores([score, score + 1])
    got = intervals(found, found.answers(), np.eye(2))
    down, up = got.estimate[0] - got.low[0], got.high[0] - got.estimate[0]
    assert (up > 1.3 * down) if sign > 0 else (down > 1.3 * up)
    alone = of_scores([score])
    one = intervals(alone, alone.answers(), np.eye(1))
    assert one.estimate[0] - one.low[0] == pytest.approx(one.high[0] - one.estimate[0])


def test_a_higher_level_is_wider_everywhere():
    made, _ = crossed(np.random.default_rng(0), k=3, n=10)
    found = fit(made)
    forms = np.vstack([np.eye(3), pairs(3)])
    answers = found.answers()
    ends = [intervals(found, answers, forms, level) for level in (0.8, 0.95, 0.99)]
    for narrow, wide in pairwise(ends):
        assert (wide.low < narrow.low).all()
        assert (wide.high > narrow.high).all()


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_degrees_of_freedom_are_one_at_least(n, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    system = np.repeat(np.arange(k), 2 * n)
    item = np.tile(np.repeat(np.arange(n), 2), k)
    rater = np.tile([0, 1], k * n)
    made = campaign(system, item, rng.normal(size=2 * n * k), rater=rater)
    found = fit(made)
    got = intervals(found, found.answers(), np.vstack([np.eye(k), pairs(k)]))
    assert (got.degrees_of_freedom >= 1).all()
    assert (got.degrees_of_freedom < 2 * n * k).all()


def test_two_judged_outputs_of_one_system_are_students():
    found = of_scores([np.array([1.0, 2.0])])
    got = intervals(found, found.answers(), np.eye(1))
    # 12.7062 of 0.5 to either side
    assert (got.low[0], got.high[0]) == pytest.approx((1.5 - 6.3531, 1.5 + 6.3531), abs=1e-3)


def test_one_judged_output_is_refused():
    with pytest.raises(NotEstimableError):
        of_scores([np.array([1.5])])
