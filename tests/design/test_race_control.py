from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binomtest, multivariate_normal

from steelyard.design.race import Race, RaceControl, RaceOptions, control
from steelyard.design.race.accounts import Accounts
from steelyard.design.race.control import Correction, ridge_weights
from steelyard.errors import InvalidArgumentError


def apart(systems, items):
    return items * (1 - np.eye(systems, dtype=int))


def run(scores, metrics=None, **options):
    """Race over the items of pools, (R, N, K), in this order, with their metrics (R, N, K, p)."""
    runs, items, systems = scores.shape
    race = Race(
        apart(systems, items),
        items,
        RaceOptions(**options),
        runs=runs,
        control=None if metrics is None else joined(metrics, options.get("method", "betting")),
    )
    for place in range(items):
        if not race.running.any():
            break
        race.judge(scores[:, place])
    return race


def joined(metrics, method="betting"):
    runs, items, systems, count = metrics.shape
    rows = np.arange(runs * items).reshape(runs, items)
    return RaceControl(metrics.reshape(-1, systems, count), order=rows, method=method)


def judgments(race):
    ended = np.where(race.running, race.pool_size, race.decided_at)
    return np.where(race.out_at > 0, race.out_at, ended[:, np.newaxis]).sum(axis=1)


def pools(rng, runs, items, means, correlation, *, spread=0.25, noise=0):
    """Scores and metrics that have this correlation with them within items."""
    metrics = rng.normal(size=(runs, items, len(means), 1 + noise))
    rest = np.sqrt(1 - correlation**2) * rng.normal(size=(runs, items, len(means)))
    scores = np.asarray(means) + spread * (correlation * metrics[..., 0] + rest)
    return np.clip(scores, 0, 1), metrics


def pair(value):
    return np.array([[[0.0, value], [-value, 0.0]]])


def test_a_bet_with_metrics_is_that_of_a_hand_worked_example():
    # Ten items, b better by 1 and worse by 1; all of it was foretold, so that nothing is left of it. The two imagined differences
    # have squares 1 in all: the variance is 3/4 of the differences and 1/4 of what is left of them.
    accounts = Accounts.opened(
        apart(2, 10), np.zeros((1, 2, 2)), runs=1, method="betting", bounded=True
    )
    live = apart(2, 1).astype(bool)[np.newaxis]
    known = np.ones((1, 1, 1), dtype=bool)
    accounts.played(pair(1.0), live, Correction(pair(1.0), np.ones((1, 2, 2)), known))
    accounts.played(pair(-1.0), live, Correction(pair(-1.0), np.ones((1, 2, 2)), known))
    # each correction counts over the items that were then left
    mean = -8 / 2 * (1 / 9 - 1 / 8)
    assert accounts.mean[0, 0, 1] == pytest.approx(mean)
    assert accounts.variance[0, 0, 1] == pytest.approx(1 / 4)
    # The mean of all four, raised by its standard error, over the eight that are left. Kelly's bet would be near 2, but an item may lose
    # 1 and what is foretold, at most 0.2. Without metrics the greatest gain is smaller.
    ahead = (mean / 2 + np.sqrt(1 / 16)) * 10 / 8
    assert ahead / (1 / 4 + ahead**2) > 0.97 / 1.2
    plain = np.sqrt(3 / 16) * 10 / 8
    assert plain / (3 / 4 + plain**2) < 0.97 / 1.2
    before = accounts.logarithm[0, 0, 0, 1]
    accounts.played(pair(0.5), live, Correction(pair(0.1), np.full((1, 2, 2), 0.2), known))
    gained = np.exp(accounts.logarithm[0, 0, 0, 1] - before)
    assert gained == pytest.approx(1 + 0.97 / 1.2 * (0.5 - 0.1))


@pytest.mark.parametrize("metric", ["the score", "its opposite", "chance", "an outlier"])
def test_no_bet_with_metrics_gains_on_average_over_all_orders(metric, monkeypatch):
    # Two systems with the same sum: every bet on either is fair, at every item.
    monkeypatch.setattr(control, "_FIRST", 2)
    rng = np.random.default_rng(1)
    pool = rng.uniform(size=(6, 2))
    pool[:, 1] += (pool[:, 0] - pool[:, 1]).mean()
    pool = (pool - pool.min()) / (pool.max() - pool.min())
    values = {
        "the score": pool,
        "its opposite": -pool,
        "chance": rng.normal(size=(6, 2)),
        "an outlier": np.where(pool == pool.max(), 1e3, pool),
    }[metric]
    orders = np.array(list(permutations(range(6))))
    foretold = RaceControl(values[..., np.newaxis], order=orders)
    options = RaceOptions(level=0.99999)
    race = Race(apart(2, 6), 6, options, runs=len(orders), control=foretold)
    plain = Race(apart(2, 6), 6, options, runs=len(orders))
    for place in range(5):
        race.judge(pool[orders[:, place]])
        plain.judge(pool[orders[:, place]])
        capital = np.exp(race.accounts.logarithm[:, 0])
        assert capital[:, 0, 1].mean() == pytest.approx(1)
        assert capital[:, 1, 0].mean() == pytest.approx(1)
        assert np.exp(race._on_leader).mean(axis=0) == pytest.approx([1, 1])
    if metric != "chance":  # metrics were used
        assert not np.allclose(race.accounts.logarithm, plain.accounts.logarithm)


def test_no_item_takes_more_than_nearly_all_of_a_capital():
    # After a metric that foretold everything, it is wrong by the whole range.
    rng = np.random.default_rng(2)
    scores, metrics = pools(rng, 40, 60, [0.5, 0.5], 1.0)
    scores[:, 30:] = rng.integers(0, 2, size=(40, 30, 2))
    race = Race(apart(2, 60), 60, RaceOptions(level=1 - 1e-12), runs=40, control=joined(metrics))
    for place in range(59):
        before = race.accounts.logarithm.copy()
        race.judge(scores[:, place])
        gained = race.accounts.logarithm - before
        assert gained.min() > np.log(0.03) - 1e-9


def test_metrics_save_judgments_where_they_foretell_differences():
    rng = np.random.default_rng(3)
    scores, metrics = pools(rng, 25, 500, [0.55, 0.5, 0.5], 0.8, noise=3)
    plain, used = run(scores), run(scores, metrics)
    assert not used.running.any()
    assert judgments(used).mean() < 0.9 * judgments(plain).mean()
    plain, used = (
        run(scores, values, method="asymptotic", bounds=None) for values in (None, metrics)
    )
    assert judgments(used).mean() < 0.8 * judgments(plain).mean()


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.05, 0.15])
def test_metrics_that_are_chance_cost_next_to_nothing(gap):
    rng = np.random.default_rng(4)
    scores, metrics = pools(rng, 150, 600, [0.5 + gap, 0.5, 0.5], 0.0, noise=9)
    ratio = judgments(run(scores, metrics)).mean() / judgments(run(scores)).mean()
    assert ratio < 1.02


def tied(rng, runs, items):
    """Two systems with the same mean over the pool, and metrics that mislead about it."""
    scores = np.clip(0.5 + 0.25 * rng.normal(size=(runs, items, 2)), 0, 1)
    shift = (scores[..., 0] - scores[..., 1]).mean(axis=1) / 2
    scores = (scores + np.stack([-shift, shift], axis=1)[:, np.newaxis] + 0.1) / 1.2
    yield "the score itself", scores, scores
    yield "long tails", scores, scores * rng.standard_cauchy(scores.shape)
    fails = rng.uniform(size=(runs, items)) < 0.1
    better = np.where(fails, 0.1, 0.6 + 0.05 * rng.normal(size=(runs, items)))
    steady = np.repeat(better.mean(axis=1, keepdims=True), items, axis=1)
    both = np.stack([steady, better], axis=2)
    yield "a metric that marks rare failures", both, np.stack([0 * fails, fails], axis=2)


@pytest.mark.parametrize("method", ["betting", "asymptotic"])
def test_a_tie_is_decided_in_at_most_one_campaign_of_twenty_whatever_the_metric(method):
    rng = np.random.default_rng(5)
    for name, scores, values in tied(rng, 100, 200):
        race = run(scores, np.asarray(values, dtype=float)[..., np.newaxis], method=method)
        wrong = int((race.out_at > 0).any(axis=1).sum())
        # either of the two may be let go
        assert binomtest(wrong, 100, 0.1, alternative="greater").pvalue > 0.01, name


def test_scale_and_names_of_metrics_and_systems_change_nothing():
    rng = np.random.default_rng(6)
    scores, metrics = pools(rng, 6, 300, [0.6, 0.55, 0.5], 0.7, noise=1)
    race = run(scores, metrics)
    again = run(scores, 3 - 40 * metrics[..., ::-1])
    assert again.accounts.logarithm == pytest.approx(race.accounts.logarithm)
    turned = run(scores[..., [2, 0, 1]], metrics[:, :, [2, 0, 1]])
    assert turned.out_at.tolist() == race.out_at[:, [2, 0, 1]].tolist()


def test_a_constant_metric_is_no_metric():
    rng = np.random.default_rng(7)
    scores, metrics = pools(rng, 5, 200, [0.6, 0.5], 0.5)
    race = run(scores, np.ones_like(metrics))
    assert np.array_equal(race.accounts.logarithm, run(scores).accounts.logarithm)


def test_items_with_the_same_text_are_none_of_a_pair():
    rng = np.random.default_rng(8)
    scores, metrics = pools(rng, 1, 200, [0.6, 0.5, 0.5], 0.8)
    codes = np.tile(np.arange(3), (200, 1))
    codes[rng.uniform(size=200) < 0.4, 2] = 0  # the third wrote what the first wrote
    differ = (codes[:, :, np.newaxis] != codes[:, np.newaxis, :]).sum(axis=0)
    found = RaceControl(metrics[0], codes=codes)
    race = Race(differ, 200, RaceOptions(level=1 - 1e-9), control=found)
    order = rng.permutation(200)[:120]
    for place in order:
        same = codes[place][:, np.newaxis] == codes[place]
        row = np.where(codes[place] == 0, scores[0, place, 0], scores[0, place])
        race.judge(row[np.newaxis], same, place=place)
    left = np.setdiff1d(np.arange(200), order)
    assert np.array_equal(found._rest[0], race.accounts.left[0])
    # over what is left for a pair, corrections are 0 on average
    corrections = np.array([found.correction(place).value[0] for place in left])
    apart_there = codes[left][:, :, np.newaxis] != codes[left][:, np.newaxis, :]
    assert np.where(apart_there, corrections, 0).sum(axis=0) == pytest.approx(np.zeros((3, 3)))
    assert (np.where(apart_there, corrections, -9) <= found.correction(left[0]).most + 1e-9).all()


def test_weights_are_those_of_the_most_likely_ridge():
    rng = np.random.default_rng(9)
    metrics = rng.normal(size=(30, 2, 3))
    scores = metrics @ [0.5, -0.2, 0.0] + 0.4 * rng.normal(size=(30, 2)) + [0.3, 0.0]
    found = ridge_weights(scores, metrics)
    # Two systems: differences around their mean, each of which is there twice, by halves.
    y = (scores[:, 1] - scores[:, 0]) / np.sqrt(2)
    x = (metrics[:, 1] - metrics[:, 0]) / np.sqrt(2)
    x, y = x - x.mean(axis=0), y - y.mean()
    # an orthonormal basis of what is left without the mean
    basis = np.linalg.svd(np.eye(30) - 1 / 30)[0][:, :29]
    likely = []
    for ratio in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30):
        penalty = np.trace(x.T @ x) / 29 / ratio
        shape = np.eye(29) + basis.T @ x @ x.T @ basis / penalty
        z = basis.T @ y
        variance = z @ np.linalg.solve(shape, z) / 29  # the most likely one
        density = multivariate_normal(np.zeros(29), variance * shape).logpdf(z)
        likely.append((density, penalty))
    penalty = max(likely)[1]
    want = np.linalg.solve(x.T @ x + penalty * np.eye(3), x.T @ y)
    assert found == pytest.approx(want)


def test_metrics_that_foretell_nothing_have_mostly_no_weight():
    rng = np.random.default_rng(10)
    weights = np.array(
        [ridge_weights(rng.normal(size=(40, 2)), rng.normal(size=(40, 2, 1))) for _ in range(200)]
    )
    assert np.mean(weights == 0) > 0.6
    assert np.mean(weights**2) < 0.5 / 39  # of least squares, 1/39
    assert not ridge_weights(np.ones((9, 2)), rng.normal(size=(9, 2, 1))).any()
    assert not ridge_weights(np.full((9, 2), np.nan), rng.normal(size=(9, 2, 1))).any()


def test_metrics_that_are_not_numbers_are_refused():
    with pytest.raises(InvalidArgumentError, match=r"`metrics` must be finite numbers"):
        RaceControl([[[np.nan], [1.0]]])
    with pytest.raises(InvalidArgumentError, match=r"got the shape \(2, 2\)"):
        RaceControl([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("method", ["betting", "asymptotic"])
def test_bets_on_a_margin_take_no_metrics_where_any_of_the_best_will_do(method):
    rng = np.random.default_rng(11)
    scores, metrics = pools(rng, 3, 120, [0.5, 0.5], 0.8)
    for goal, taken in (("best", False), ("difference", True)):
        options = RaceOptions(goal=goal, margin=0.001, method=method, level=1 - 1e-9)
        races = [
            Race(apart(2, 120), 120, options, runs=3, control=values)
            for values in (None, joined(metrics, method))
        ]
        for place in range(60):
            for race in races:
                race.judge(scores[:, place])
        better, near = ([race.accounts.logarithm[:, one] for race in races] for one in (0, 1))
        assert np.allclose(*near) is not taken
        assert not np.allclose(*better)
