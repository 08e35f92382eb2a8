from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, skew
from scipy.stats import t as student

from steelyard.design.race import Race, RaceOptions, expected_items
from steelyard.design.race.claims import ordered_claims
from steelyard.errors import InvalidArgumentError


def apart(systems, items):
    return items * (1 - np.eye(systems, dtype=int))


def run(scores, **options):
    """Race over the items of a pool, (R, N, K), in this order."""
    runs, items, systems = scores.shape
    race = Race(apart(systems, items), items, RaceOptions(**options), runs=runs)
    for place in range(items):
        if not race.running.any():
            break
        race.judge(scores[:, place])
    return race


def pools(rng, runs, items, means, *, kind="beta"):
    """Scores of finite pools, of which every item is in random order already."""
    shape = runs, items, len(means)
    ease = rng.normal(size=(runs, items, 1)) * 0.1
    if kind == "binary":
        return (rng.uniform(size=shape) < np.clip(means + ease, 0, 1)).astype(float)
    return np.clip(means + ease + 0.2 * rng.normal(size=shape), 0, 1)


def test_capital_is_that_of_a_hand_worked_example():
    # Four items, b better by 1 on the first two. Two imagined differences have variance 1/2: the mean is
    # hoped to be 1/2, and the bet 1/2 / (1/2 + 1/4) wins 1. Then the variance is 1/3, the hope
    # (1/3 + 1/3) 4/3, and 8/9 / (1/3 + 64/81) wins 1 + 1/3: if b is no better, the three left sum to -1.
    race = Race(apart(2, 4), 4, RaceOptions())
    race.judge([[0.0, 1.0]])
    assert np.exp(race.accounts.logarithm[0, 0, 0, 1]) == pytest.approx(5 / 3)
    race.judge([[0.0, 1.0]])
    capital = 5 / 3 * (1 + 72 / 91 * 4 / 3)
    assert np.exp(race.accounts.logarithm[0, 0, 0, 1]) == pytest.approx(capital)
    assert race.evidence[0, 0] == pytest.approx(capital)
    assert race.running[0]
    race.judge([[0.0, 1.0]])  # the last item cannot turn it round any more
    assert race.out_at[0].tolist() == [3, 0]
    assert race.decided_at[0] == 3


@pytest.mark.parametrize("margin", [None, 0.25])
def test_no_bet_against_the_best_gains_on_average_over_all_orders(margin):
    pool = np.array([[0.9, 0.7, 0.4], [0.2, 0.1, 0.6], [1.0, 0.8, 0.9], [0.3, 0.8, 0.5]])
    orders = np.array([pool[list(order)] for order in permutations(range(4))])
    race = Race(apart(3, 4), 4, RaceOptions(margin=margin, level=0.999), runs=len(orders))
    means = pool.mean(axis=0)
    assert means.argmax() == 1 or np.isclose(means[0], means.max())
    for place in range(3):
        race.judge(orders[:, place])
        sure = race.accounts.certain(race.accounts.candidates[0])
        capital = np.exp(race.accounts.logarithm[:, 0])
        best = np.flatnonzero(np.isclose(means, means.max()))
        assert not sure[:, best].any()
        for a in range(3):
            for b in range(3):
                if a != b and means[b] <= means[a]:
                    assert capital[:, a, b].mean() <= 1 + 1e-9
        assert (np.exp(race._on_leader)[:, best].mean(axis=0) <= 1 + 1e-9).all()


def test_capital_against_a_margin_gains_nothing_where_the_difference_is_the_margin():
    rng = np.random.default_rng(3)
    pool = rng.uniform(size=(5, 2))
    margin = float(pool[:, 0].mean() - pool[:, 1].mean())
    pool = pool if margin > 0 else pool[:, ::-1]
    orders = np.array([pool[list(order)] for order in permutations(range(5))])
    options = RaceOptions(goal="difference", margin=abs(margin), level=0.9999)
    race = Race(apart(2, 5), 5, options, runs=len(orders))
    for place in range(4):
        race.judge(orders[:, place])
        assert np.exp(race.accounts.logarithm[:, 1, 0, 1]).mean() == pytest.approx(1)


def test_claims_of_order_are_those_that_every_order_left_over_shares():
    rng = np.random.default_rng(0)
    for _ in range(60):
        beaten = (rng.uniform(size=(4, 4)) < 0.55) & ~np.eye(4, dtype=bool)
        left = [
            order
            for order in permutations(range(4))
            if not any(beaten[u, v] for u, v in pairwise(order))
        ]
        claims = ordered_claims(beaten)
        for a in range(4):
            for b in range(4):
                if claims[a, b]:  # b above a
                    assert all(order.index(b) < order.index(a) for order in left)


def test_identical_texts_enter_as_exact_zeros_and_take_nothing():
    rng = np.random.default_rng(1)
    scores = pools(rng, 1, 300, np.array([0.6, 0.4]))[0]
    differ = rng.uniform(size=300) < 0.5
    options = RaceOptions()
    mixed = Race(apart(2, int(differ.sum())), 300, options)
    alone = Race(apart(2, int(differ.sum())), int(differ.sum()), options)
    for row, other in zip(scores, differ, strict=True):
        if mixed.running[0]:
            mixed.judge(row[np.newaxis], np.full((2, 2), not other))
        if alone.running[0] and other:
            alone.judge(row[np.newaxis])
    assert mixed.evidence == pytest.approx(alone.evidence)
    assert mixed.decided_at[0] > alone.decided_at[0] > 0


def test_names_and_scale_of_scores_change_nothing():
    rng = np.random.default_rng(2)
    scores = pools(rng, 5, 200, np.array([0.6, 0.5, 0.3]))
    race = run(scores)
    turned = run(scores[:, :, [2, 0, 1]])
    assert turned.out_at.tolist() == race.out_at[:, [2, 0, 1]].tolist()
    wide = run(1 + 4 * scores, bounds=(1, 5))
    assert wide.out_at.tolist() == race.out_at.tolist()


def test_what_is_judged_of_a_system_that_is_out_changes_nothing():
    rng = np.random.default_rng(4)
    scores = pools(rng, 8, 300, np.array([0.6, 0.5, 0.3]))
    race = run(scores)
    assert (race.out_at[:, 2] > 0).all()
    for number, item in enumerate(race.out_at[:, 2]):
        scores[number, item:, 2] = np.nan
    assert run(scores).out_at.tolist() == race.out_at.tolist()


def test_a_whole_pool_tells_the_best_and_a_tie_is_left_open():
    rng = np.random.default_rng(5)
    scores = pools(rng, 20, 30, np.array([0.5, 0.5, 0.5]))
    race = run(scores)
    assert not race.running.any()
    assert race.winner.tolist() == scores.mean(axis=1).argmax(axis=1).tolist()
    tied = run(np.tile([[0.0, 1.0], [1.0, 0.0]], (1, 10, 1)))
    assert tied.running.all()
    assert tied.inside.all()


@pytest.mark.parametrize("method", ["betting", "asymptotic"])
@pytest.mark.parametrize("kind", ["beta", "binary"])
def test_the_best_is_let_go_in_at_most_one_campaign_of_twenty(method, kind):
    # Near ties, so that there are many chances to be wrong.
    rng = np.random.default_rng(6)
    scores = pools(rng, 150, 300, np.array([0.52, *[0.5] * 5]), kind=kind)
    race = run(scores, method=method)
    best = scores.mean(axis=1).argmax(axis=1)
    wrong = (race.out_at[np.arange(150), best] > 0).sum()
    assert binomtest(int(wrong), 150, 0.05, alternative="greater").pvalue > 0.01


def test_claims_of_order_and_difference_hold_at_all_looks():
    rng = np.random.default_rng(7)
    scores = pools(rng, 250, 200, np.array([0.5, 0.48, 0.46, 0.44]))
    means = scores.mean(axis=1)
    truly_above = means[:, np.newaxis, :] > means[:, :, np.newaxis]  # [a, b]: b above a
    for options in ({"goal": "order"}, {"goal": "difference", "margin": 0.03}):
        race = run(scores, **options)
        wrong = (race.above & ~truly_above).any(axis=(1, 2))
        gaps = np.abs(means[:, np.newaxis, :] - means[:, :, np.newaxis])
        alike = race.near & race.near.transpose(0, 2, 1) & ~np.eye(4, dtype=bool)
        wrong |= (alike & (gaps > 0.03)).any(axis=(1, 2))
        assert binomtest(int(wrong.sum()), 250, 0.05, alternative="greater").pvalue > 0.01


def test_a_tie_ends_at_the_margin_and_names_one_within_it():
    rng = np.random.default_rng(8)
    scores = pools(rng, 100, 1000, np.array([0.5] * 4))
    race = run(scores, margin=0.05)
    means = scores.mean(axis=1)
    assert not race.running.any()
    assert race.decided_at.mean() < 400
    below = means.max(axis=1) - means[np.arange(100), race.winner]
    assert (below > 0.05).sum() <= 5


@pytest.mark.slow
def test_a_race_takes_half_the_judgments_of_a_fixed_design_that_decides_as_often():
    rng = np.random.default_rng(11)
    means = 0.75 - 0.125 * np.arange(5)
    item = np.sqrt(0.4) * rng.normal(size=(100, 1000, 1))
    own = np.sqrt(0.6) * rng.normal(size=(100, 1000, 5))
    scores = np.clip(means + 0.25 * (item + own), 0, 1)
    race = run(scores)
    judgments = np.where(race.out_at > 0, race.out_at, race.decided_at[:, np.newaxis]).sum(axis=1)
    assert not race.running.any()
    assert (race.out_at[:, 0] > 0).sum() <= 5
    # the leader beats all others by paired t tests; at this n still not in every campaign
    n = int(2 * judgments.mean() / 5)
    leader = scores[:, :n].mean(axis=1).argmax(axis=1)
    ahead = np.take_along_axis(scores[:, :n], leader[:, None, None], axis=2) - scores[:, :n]
    t = ahead.mean(axis=1) / np.maximum(ahead.std(axis=1, ddof=1), 1e-9) * np.sqrt(n)
    t[np.arange(100), leader] = np.inf
    assert (t > student.ppf(1 - 0.05 / 4, n - 1)).all(axis=1).mean() < 1


def test_losers_leave_long_before_rivals():
    rng = np.random.default_rng(9)
    scores = pools(rng, 40, 1000, np.array([0.6, 0.55, 0.3, 0.3]))
    race = run(scores)
    assert np.median(race.out_at[:, 2:]) < 0.2 * np.median(race.out_at[:, 1])


def test_the_outlook_is_about_right():
    rng = np.random.default_rng(10)
    scores = pools(rng, 100, 1000, np.array([0.6, 0.55, 0.5]))
    race = Race(apart(3, 1000), 1000, RaceOptions(), runs=100)
    for place in range(40):
        race.judge(scores[:, place])
    going, foreseen = race.running.copy(), expected_items(race)
    for place in range(40, 1000):
        race.judge(scores[:, place])
    actual = np.where(race.out_at > 0, race.out_at, race.decided_at[:, np.newaxis])
    ratio = (foreseen - 40).sum(axis=1)[going] / (actual - 40).clip(0).sum(axis=1)[going]
    assert 0.5 < np.median(ratio) < 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "worst"}, "`goal` must be one of best, order, difference; got 'worst'"),
        ({"method": "luck"}, "`method` must be one of betting, asymptotic; got 'luck'"),
        ({"level": 95}, "`level` must lie strictly between 0 and 1; got 95"),
        ({"goal": "difference"}, "`margin` is needed for the goal difference"),
        ({"goal": "order", "margin": 0.1}, "`margin` does not go with the goal order"),
        ({"margin": 0.0}, "`margin` must be greater than 0; got 0"),
        ({"margin": 5.0}, "`margin` must be less than the range of scores, 1; got 5"),
        ({"bounds": None}, "`bounds` must be two finite numbers for the betting race; got None"),
        ({"bounds": (1, 0)}, "`bounds` must be two numbers, the lower first"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        RaceOptions(**options)


def test_a_race_needs_two_systems_and_their_scores():
    with pytest.raises(InvalidArgumentError, match="at least two systems; got 1"):
        Race([[0]], 10, RaceOptions())
    race = Race(apart(2, 10), 10, RaceOptions())
    with pytest.raises(InvalidArgumentError, match="finite for every system that is in"):
        race.judge([[0.5, np.nan]])


def test_an_asymptotic_race_ends_where_the_evidence_exceeds_all_numbers():
    # Differences of 25 standard deviations: the capital after 50 items has no floating-point form.
    rng = np.random.default_rng(9)
    scores = np.array([0.0, 1.0, 2.0]) + 0.04 * rng.normal(size=(2, 200, 3))
    race = run(scores, method="asymptotic", bounds=None)
    assert race.decided_at.tolist() == [50, 50]
    assert race.winner.tolist() == [2, 2]


def test_rounding_does_not_decide_a_tie_when_all_is_judged():
    rng = np.random.default_rng(12)
    scores = rng.uniform(size=(20, 40, 2))
    scores[:, :, 1] = rng.permuted(
        scores[:, :, 0], axis=1
    )  # the same sum, added up in another order
    race = run(scores, level=0.9999)
    assert race.items == 40
    assert race.running.all()


def test_the_asymptotic_capital_is_that_of_a_hand_worked_example():
    # One of ten items against the bet: 54 differences of 0.1 and 6 of -0.5, in a pool of 200.
    found = np.tile([0.1] * 9 + [-0.5], 6)
    race = Race(
        200 * (1 - np.eye(2, dtype=int)), 200, RaceOptions(method="asymptotic", bounds=None)
    )
    for one in found:
        race.judge(np.array([[0.0, one]]))
    accounts = race.accounts
    assert accounts.plain.skewness[0, 0, 1] == pytest.approx(skew(found))
    # mean 0.04, variance 0.0324 times 60/59, skewness -8/3, 60/(1 - 0.3) items in effect
    worth = 60 / 0.7
    z = 0.04 * np.sqrt(worth / (0.0324 * 60 / 59))
    a = -8 / 3 / np.sqrt(60)
    z = ((1 + a * z / 3) ** 3 - 1) / a + a / 6
    want = [
        2 * norm.cdf(z * np.sqrt(s / (1 + s))) / np.sqrt(1 + s) * np.exp(z**2 / 2 * s / (1 + s))
        for s in (np.array([0.1, 0.3, 1.0]) ** 2 * worth)
    ]
    assert accounts.logarithm[0, 0, 0, 1] == pytest.approx(np.log(np.mean(want)))


def test_a_steady_system_is_not_let_go_for_rivals_that_sometimes_fail():
    # The asymptotic race's hardest case: without the correction for skewness 8.7% of 300.
    rng = np.random.default_rng(5)
    scores = 0.9 + 0.05 * rng.standard_normal((300, 400, 2))
    scores[:, :, 1] = rng.uniform(size=(300, 400)) >= 0.1
    scores -= scores.mean(axis=1, keepdims=True)
    race = Race(
        400 * (1 - np.eye(2, dtype=int)),
        400,
        RaceOptions(method="asymptotic", bounds=None),
        runs=300,
    )
    ever = np.zeros(300, dtype=bool)
    for place in range(350):
        race.judge(scores[:, place])
        ever |= race.out_at[:, 0] > 0
        race.inside[:], race.decided_at[:] = True, 0
    assert binomtest(int(ever.sum()), 300, 0.05, alternative="greater").pvalue > 0.01
