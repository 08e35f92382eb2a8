import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.arrays import PoolMoments
from steelyard.design.sequence import ConfidenceSequence
from steelyard.design.sequence.bernstein import bernstein_ends
from steelyard.design.sequence.betting import capital
from steelyard.design.sequence.gamblers import gamblers
from steelyard.design.sequence.residuals import predictable_residuals
from steelyard.errors import InvalidArgumentError, NotEstimableError

METHODS = ("betting", "empirical-bernstein", "asymptotic")


def campaign(seed=0, size=300, correlation=0.8):
    """A pool's metric and one judgment in [0, 1] of each output, in the order of a draw."""
    rng = np.random.default_rng(seed)
    metric = rng.uniform(size=size)
    score = correlation * metric + (1 - correlation) * rng.uniform(size=size)
    order = rng.permutation(size)
    return metric[order], score[order]


def ends(sequence):
    return sequence.low, sequence.high


def test_starts_with_what_is_certain():
    sequence = ConfidenceSequence(pool_size=10, bounds=(1, 5))
    assert ends(sequence) == (1, 5)
    assert (sequence.half_width, sequence.n) == (2, 0)
    assert not sequence.contradicted
    with pytest.raises(NotEstimableError, match="at least one judgment"):
        _ = sequence.estimate
    assert len(sequence.path().judgments) == 0


def test_capital_matches_a_hand_worked_example():
    # one judgment of 1 against the mean 1/2: each gambler's bet is capped by what she may lose,
    # 0.95 / (1/2 - 0); the plug-in for 16384 judgments is sqrt(2 log(40) / (1/4 * 16384))
    residuals = predictable_residuals(
        np.ones((1, 1)), np.empty((1, 1, 0)), pool=None, pool_size=None
    )
    got = capital(residuals, np.array([0.5]), sign=1, alpha=0.05)
    horizons = np.array([64, 256, 1024, 4096, 16384, np.log(2)])
    bets = np.minimum(np.sqrt(2 * np.log(40) / (0.25 * horizons)), 0.95 / 0.5)
    assert got == pytest.approx(np.mean(1 + bets * 0.5))


def test_matches_an_independent_betting_sequence_without_replacement():
    # the same game, one judgment at a time, on a grid of candidate means
    _, human = campaign(size=60)
    human, size, alpha = human[:40], 60, 0.1
    grid = np.linspace(0, 1, 2001)
    wealth = {1: np.ones((6, len(grid))), -1: np.ones((6, len(grid)))}
    alive = np.ones(len(grid), dtype=bool)
    seen, information = [], 0.0
    for y in human:
        left = size - len(seen)
        conditional = (size * grid - sum(seen)) / left
        alive &= (conditional >= 0) & (conditional <= 1)
        weight = size / left
        information += weight**2
        horizons = np.array([64, 256, 1024, 4096, 16384, information * np.log1p(information)])
        variance = (0.25 + len(seen) * np.var(seen or [0])) / (len(seen) + 1)
        bets = weight * np.sqrt(2 * np.log(2 / alpha) / (variance * horizons))[:, None]
        safe = np.clip(conditional, 1e-12, 1 - 1e-12)
        wealth[1] *= 1 + np.minimum(bets, 0.95 / safe) * (y - safe)
        wealth[-1] *= 1 - np.minimum(bets, 0.95 / (1 - safe)) * (y - safe)
        for side in wealth.values():
            alive &= side.mean(axis=0) < 2 / alpha
        seen.append(y)
    sequence = ConfidenceSequence(pool_size=size, level=1 - alpha)
    sequence.update(human)
    assert sequence.low == pytest.approx(grid[alive].min(), abs=1e-3)
    assert sequence.high == pytest.approx(grid[alive].max(), abs=1e-3)


def test_slopes_know_only_the_past():
    metric, human = campaign()
    pool = PoolMoments.of(metric)

    def corrected(y):
        return predictable_residuals(y[None], metric[None, :, None], pool=pool, pool_size=300).value

    changed = human.copy()
    changed[100:] = 1 - changed[100:]
    one, other = corrected(human), corrected(changed)
    np.testing.assert_array_equal(one[0, :100], other[0, :100])
    assert not np.allclose(one[0, 120:], human[120:])


@pytest.mark.parametrize("size", [None, 300])
def test_corrected_judgments_match_a_loop(size):
    metric, human = campaign()
    pool = PoolMoments.of(metric)
    got = predictable_residuals(
        human[None, :80], metric[None, :80, None], pool=pool, pool_size=size
    )
    spread = np.sqrt(pool.covariance[0, 0])
    for t in (0, 3, 4, 30, 79):
        g, y = metric[:t], human[:t]
        slope = 0.0
        if t > 3:
            c, s = np.sum((g - g.mean()) * (y - y.mean())), np.sum((g - g.mean()) ** 2) + spread**2
            explained = c**2 / s
            noise = (np.sum((y - y.mean()) ** 2) - explained) / (t - 2)
            slope = c / s * explained / (explained + 3 * noise)
        centre = metric.mean() if size is None else metric[t:].mean()
        assert got.value[0, t] == pytest.approx(human[t] - slope * (metric[t] - centre))
        assert got.low[0, t] == pytest.approx(-slope * (metric.max() - centre))
        assert got.high[0, t] == pytest.approx(1 - slope * (metric.min() - centre))


def test_without_replacement_a_bet_towards_the_estimate_of_the_moment_gains_more():
    metric, human = campaign()
    pool = PoolMoments.of(metric)
    candidate = 0.4
    deviation, shift = [], []
    for size in (None, 300):
        got = predictable_residuals(
            human[None, :200], metric[None, :200, None], pool=pool, pool_size=size
        )
        deviation.append(got.value[0] - (got.weight * candidate - got.offset[0]))
        shift.append(got.shift[0])
    for t in (1, 5, 60, 199):
        slope = shift[0][t] / (metric[t] - metric.mean())
        estimate = human[:t].mean() - slope * (metric[:t].mean() - metric.mean())
        gain = t / (300 - t) * (estimate - candidate)
        assert deviation[1][t] - deviation[0][t] == pytest.approx(gain)


@pytest.mark.parametrize("method", METHODS)
def test_a_census_leaves_no_doubt(method):
    metric, human = campaign()
    sequence = ConfidenceSequence(metric, method=method)
    sequence.update(human, metric)
    assert ends(sequence) == pytest.approx((human.mean(), human.mean()))
    assert sequence.estimate == pytest.approx(human.mean())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("replacement", [True, False])
def test_metric_makes_the_sequence_shorter(method, replacement):
    rng = np.random.default_rng(4)
    metric = rng.uniform(size=2000)
    human = np.clip(np.round(1.6 * metric - 0.3 + 0.1 * rng.normal(size=2000), 2), 0, 1)
    widths = []
    for pool in (metric, None):
        sequence = ConfidenceSequence(pool, method=method, replacement=replacement, pool_size=2000)
        sequence.update(human[:900], None if pool is None else metric[:900])
        assert sequence.low < human.mean() < sequence.high
        widths.append(sequence.half_width)
    assert widths[0] < 0.9 * widths[1]


@pytest.mark.parametrize("method", METHODS)
def test_path_is_what_was_seen_on_the_way_and_only_shrinks(method):
    metric, human = campaign()
    sequence = ConfidenceSequence(metric, method=method)
    seen = []
    for y, g in zip(human[:120], metric[:120], strict=True):
        sequence.update(y, g)
        seen.append((sequence.low, sequence.high, sequence.estimate))
    path = sequence.path()
    np.testing.assert_allclose(np.transpose([path.low, path.high, path.estimate]), seen, atol=2e-6)
    assert (np.diff(path.half_width) <= 1e-6).all()
    some = sequence.path([10, 120])
    np.testing.assert_array_equal(some.low, path.low[[9, 119]])


@settings(max_examples=25, deadline=None)
@given(
    data=st.data(),
    method=st.sampled_from(METHODS),
    replacement=st.booleans(),
    n_metrics=st.integers(0, 2),
)
def test_breaks_and_batches_change_nothing(data, method, replacement, n_metrics):
    metric, human = campaign(size=150)
    columns = np.column_stack([metric, metric[::-1] ** 2])[:, :n_metrics]
    options = {"method": method, "replacement": replacement, "pool_size": 150}
    pool = columns if n_metrics else None
    cuts = sorted(data.draw(st.lists(st.integers(0, 100), max_size=4)))
    whole = ConfidenceSequence(pool, **options)
    whole.update(human[:100], columns[:100] if n_metrics else None)
    parts = ConfidenceSequence(pool, **options)
    for start, stop in zip([0, *cuts], [*cuts, 100], strict=True):
        parts.update(human[start:stop], columns[start:stop] if n_metrics else None)
        _ = parts.half_width
        parts = ConfidenceSequence.from_state(json.loads(json.dumps(parts.state())))
    assert (*ends(parts), parts.estimate) == (*ends(whole), whole.estimate)
    assert parts.state() == whole.state()


@settings(max_examples=25, deadline=None)
@given(
    method=st.sampled_from(METHODS),
    shift=st.floats(-100, 100),
    scale=st.floats(0.01, 100),
    metric_scale=st.floats(-50, 50).filter(lambda x: abs(x) > 0.01),
)
def test_scale_of_scores_and_metric_does_not_matter(method, shift, scale, metric_scale):
    metric, human = campaign(size=150)
    plain = ConfidenceSequence(metric, method=method)
    plain.update(human[:90], metric[:90])
    bounds = (shift, shift + scale)
    other = ConfidenceSequence(metric_scale * metric + 3, bounds=bounds, method=method)
    moved = np.clip(shift + scale * human, *bounds)
    other.update(moved[:90], metric_scale * metric[:90] + 3)
    assert ends(other) == pytest.approx([shift + scale * end for end in ends(plain)], rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_mirrored_scores_give_the_mirrored_interval(method):
    metric, human = campaign()
    found = []
    for y in (human, 1 - human):
        sequence = ConfidenceSequence(metric, method=method)
        sequence.update(y[:100], metric[:100])
        found.append(ends(sequence))
    assert found[0] == pytest.approx([1 - found[1][1], 1 - found[1][0]], abs=2e-6)


def test_without_replacement_is_never_wider_than_with():
    for seed in range(20):
        metric, human = campaign(seed)
        human = (human > 0.6).astype(float) if seed % 2 else human
        for pool in (metric, None):
            paths = []
            for replacement in (False, True):
                sequence = ConfidenceSequence(pool, replacement=replacement, pool_size=300)
                sequence.update(human[:250], None if pool is None else metric[:250])
                paths.append(sequence.path([5, 20, 80, 160, 250]).half_width)
            assert (paths[0] <= paths[1] + 1e-6).all()


def test_asymptotic_gives_bounds_until_judgments_suffice():
    _, human = campaign()
    sequence = ConfidenceSequence(pool_size=300, method="asymptotic", replacement=True)
    sequence.update(human[:49])
    assert ends(sequence) == (0, 1)
    sequence.update(human[49])
    assert sequence.half_width < 0.2
    equal = ConfidenceSequence(pool_size=300, method="asymptotic", replacement=True)
    equal.update(np.ones(200))
    assert ends(equal) == (0, 1)
    equal.update(np.zeros(9))
    assert ends(equal) == (0, 1)  # of almost equal judgments, ten must differ


def test_asymptotic_matches_the_published_formula():
    # Waudby-Smith et al. (2024), theorem 2.2, with rho over sigma
    _, human = campaign(size=400)
    sequence = ConfidenceSequence(method="asymptotic", replacement=True, tuned_for=100)
    sequence.update(human[:50])
    t, alpha = 50, 0.05
    deviation = human[:50].std(ddof=1)
    rho = np.sqrt((-2 * np.log(alpha) + np.log(1 - 2 * np.log(alpha))) / 100) / deviation
    inner = t * deviation**2 * rho**2 + 1
    half = np.sqrt(2 * inner / (t**2 * rho**2) * np.log(np.sqrt(inner) / alpha))
    assert sequence.estimate == pytest.approx(human[:50].mean())
    assert sequence.half_width == pytest.approx(half)


def test_asymptotic_has_the_finite_pools_factor():
    # without replacement, W is close to t / (1 - t/N): as many judgments with replacement
    rng = np.random.default_rng(1)
    human = rng.uniform(size=2000)
    finite = ConfidenceSequence(pool_size=1000, method="asymptotic", tuned_for=500)
    finite.update(human[:500])
    endless = ConfidenceSequence(method="asymptotic", replacement=True, tuned_for=500)
    endless.update(human[:1000])
    assert finite.half_width == pytest.approx(endless.half_width, rel=0.05)


def mnih(human, alpha, growth=1.5, power=1.1):
    """Empirical Bernstein stopping on a geometric grid, as printed in Mnih et al. (2008)."""
    low, high, k, x = 0.0, 1.0, 0, 0.0
    for t in range(1, len(human) + 1):
        while t > np.floor(growth**k) or k == 0:
            k += 1
            ratio = np.floor(growth**k) / np.floor(growth ** (k - 1))
            x = -ratio * np.log(alpha * (power - 1) / power / k**power / 3)
        width = human[:t].std() * np.sqrt(2 * x / t) + 3 * x / t
        low, high = max(low, human[:t].mean() - width), min(high, human[:t].mean() + width)
    return low, high


def test_bernstein_is_shorter_than_the_rule_it_stands_for():
    for seed in range(5):
        _, human = campaign(seed, correlation=0.2 * seed)
        for y in (human, (human > 0.5).astype(float)):
            sequence = ConfidenceSequence(method="empirical-bernstein", replacement=True)
            sequence.update(y)
            low, high = mnih(y, 0.05)
            assert low < sequence.low < sequence.high < high


def test_bernstein_matches_an_independent_mixture():
    # eleven supermartingales, one judgment at a time, on a grid of candidate means
    _, human = campaign(seed=3, size=80)
    goal, alpha = 0.1, 0.1
    grid = np.linspace(0, 1, 4001)
    stakes = np.array([0.025] * 10 + [0.75])
    log_wealth = np.zeros((11, len(grid)))
    seen = []
    for y in human:
        guess = (0.5 + sum(seen)) / (len(seen) + 1)
        variance = (0.25 + len(seen) * np.var(seen or [0])) / (len(seen) + 1)
        reach = max(guess, 0.05)
        bets = np.append(4.0 * 0.5 ** np.arange(10), goal / (variance + goal * reach))
        bets = np.minimum(bets, 0.8 / reach)
        penalty = (-np.log1p(-bets * reach) - bets * reach) * ((y - guess) / reach) ** 2
        log_wealth += bets[:, None] * (y - grid) - penalty[:, None]
        seen.append(y)
    alive = stakes @ np.exp(log_wealth) < 2 / alpha
    residuals = predictable_residuals(human[None], np.empty((1, 80, 0)), pool=None, pool_size=None)
    low, _ = bernstein_ends(residuals, alpha=alpha, goal=goal, running=False)
    assert low[0, -1] == pytest.approx(grid[alive].min(), abs=5e-4)


def test_asymptotic_estimate_is_the_least_squares_estimate_of_the_moment():
    metric, human = campaign()
    sequence = ConfidenceSequence(metric, method="asymptotic")
    sequence.update(human[:90], metric[:90])
    g, y = metric[:90], human[:90]
    # with one imagined output at the pool's spread
    slope = np.sum((g - g.mean()) * y) / (np.sum((g - g.mean()) ** 2) + metric.var())
    assert sequence.estimate == pytest.approx(y.mean() - slope * (g.mean() - metric.mean()))


def test_gamblers_in_a_hurry_use_less_of_the_slope():
    # a bet for 64 judgments would risk everything on an outlying metric, one for 16384 does not
    rng = np.random.default_rng(2)
    metric = rng.normal(size=500)
    human = np.clip(0.5 + 0.1 * metric + 0.04 * rng.normal(size=500), 0, 1)
    residuals = predictable_residuals(
        human[None, :200], metric[None, :200, None], pool=PoolMoments.of(metric), pool_size=None
    )
    shares = []
    for gambler in gamblers(residuals, sign=1, alpha=0.05)[:5]:
        taken = residuals.human - gambler.outcome
        shares.append(taken[0, 100:] / residuals.shift[0, 100:])
        # whatever is used, no outcome is below the worst
        assert (gambler.outcome >= gambler.worst - 1e-12).all()
    assert np.mean(shares[0]) < 0.6
    assert shares[4] == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_a_goal_survives_a_break_and_needs_no_other_option(method):
    metric, human = campaign()
    sequence = ConfidenceSequence(metric, method=method, goal=0.05)
    sequence.update(human[:120], metric[:120])
    again = ConfidenceSequence.from_state(json.loads(json.dumps(sequence.state())))
    assert again.options.goal == 0.05
    assert ends(again) == ends(sequence)
    # states from before there were goals can still be read
    state = sequence.state()
    del state["options"]["goal"]
    state["options"]["tuned_for"] = 300
    assert ConfidenceSequence.from_state(state).options.goal is None


def test_rater_noise_is_taken_off_the_goal():
    # what Hoeffding's bound adds at N = 300 is 0.1; below that no goal can be aimed at
    reachable = ConfidenceSequence(pool_size=300, target="pool", goal=0.15, bounds=(0, 1)).options
    assert reachable.aim == pytest.approx(0.15 - reachable.noise)
    assert ConfidenceSequence(pool_size=300, target="pool", goal=0.05).options.aim is None
    assert ConfidenceSequence(pool_size=300, goal=0.4, bounds=(1, 5)).options.aim == 0.1


def test_pool_target_allows_for_rater_noise():
    _, human = campaign()
    found = {}
    for name, options in {
        "census": {},
        "noiseless": {"target": "pool", "rater_variance": 0.0},
        "known": {"target": "pool", "rater_variance": 0.01},
        "unknown": {"target": "pool"},
    }.items():
        sequence = ConfidenceSequence(pool_size=300, **options)
        sequence.update(human[:200])
        found[name] = sequence.half_width
    assert found["census"] == found["noiseless"] < found["known"] < found["unknown"]
    # a census of 300 noisy judgments is within Hoeffding's bound at 0.5%
    everything = ConfidenceSequence(pool_size=300, target="pool")
    everything.update(human)
    assert everything.half_width == pytest.approx(np.sqrt(np.log(2 / 0.005) / 600))
    assert everything.options.about == "pool"
    normal = ConfidenceSequence(
        pool_size=300, target="pool", rater_variance=0.01, method="asymptotic"
    )
    normal.update(human)
    assert normal.half_width == pytest.approx(2.807 * 0.1 / np.sqrt(300), rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_contradicted_judgments_are_told(method):
    sequence = ConfidenceSequence(replacement=True, method=method)
    sequence.update(np.tile([0.0, 0.0, 0.1], 100))
    assert sequence.high < 0.2
    assert not sequence.contradicted
    sequence.update(np.tile([0.9, 1.0, 1.0], 400))
    assert sequence.contradicted
    assert sequence.low < np.mean([0.1 / 3] + [2.9 / 3] * 4) < sequence.high


def test_useless_metrics_do_no_harm():
    metric, human = campaign()
    plain = ConfidenceSequence(pool_size=300)
    plain.update(human[:100])
    constant = ConfidenceSequence(np.ones(300))
    constant.update(human[:100], np.ones(100))
    assert ends(constant) == ends(plain)
    twice = ConfidenceSequence(np.column_stack([metric, metric]))
    twice.update(human[:100], np.column_stack([metric, metric])[:100])
    once = ConfidenceSequence(metric)
    once.update(human[:100], metric[:100])
    assert ends(twice) == pytest.approx(ends(once), abs=0.01)


def test_prints_itself():
    sequence = ConfidenceSequence(pool_size=30)
    assert (
        str(sequence)
        == "[0.0000, 1.0000] at 95%, at all times (betting, census, 0 judgments of 30 outputs)"
    )
    assert repr(ConfidenceSequence(replacement=True)).startswith("<ConfidenceSequence [0.0000")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`pool_size` is needed"),
        ({"pool_size": 0}, "`pool_size` must be at least 1"),
        ({"pool_size": 9, "goal": 0.0}, "`goal` must be a half-width greater than 0; got 0"),
        (
            {"pool_size": 9, "metric_pool": [1, 2, 3]},
            "`pool_size` must be that of `metric_pool`, 3",
        ),
        ({"pool_size": 9, "level": 95}, "`level` must lie strictly between"),
        ({"pool_size": 9, "bounds": (1, 0)}, "`bounds` must be two finite numbers"),
        ({"pool_size": 9, "bounds": (0, np.inf)}, "`bounds` must be two finite numbers"),
        ({"pool_size": 9, "method": "magic"}, "`method` must be one of betting"),
        ({"pool_size": 9, "target": "magic"}, "`target` must be one of pool, census"),
        ({"replacement": True, "target": "census"}, '`target` "census" judges every output once'),
        ({"pool_size": 9, "rater_variance": -1}, "`rater_variance` must be finite"),
        ({"pool_size": 9, "tuned_for": 0}, "`tuned_for` must be a number of judgments"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        ConfidenceSequence(**options)


@pytest.mark.parametrize(
    ("human", "metric", "message"),
    [
        (0.5, None, "`metric` is missing"),
        ([0.5, 0.5], [1.0], r"`metric` must hold 1 metric\(s\) for each of 2"),
        ([[0.5]], [1.0], "`human` must be a number or one-dimensional"),
        (np.nan, 1.0, "`human` must be finite; got nan"),
        (0.5, np.inf, "`metric` must be finite; got inf"),
        ("good", 1.0, "`human` must hold numbers"),
        (1.5, 1.0, r"`bounds` must enclose every judgment; got 1.5"),
        (
            0.5,
            7.0,
            "`metric_pool` must include the judged outputs; metric 1 of a judged",
        ),
        ([0.5] * 2, [1.0] * 2, "these metrics leave a sum of 5 for 1 outputs"),
        ([0.5] * 3, [3.0] * 3, "these metrics leave a sum of -2 for 0 outputs"),
        ([0.5] * 4, [1, 2, 3, 3], "one judgment an output; got 5 for 4"),
    ],
)
def test_impossible_judgments_are_refused_and_leave_no_trace(human, metric, message):
    sequence = ConfidenceSequence([1.0, 2.0, 3.0, 3.0])
    sequence.update(0.5, 2.0)
    before = sequence.state()
    with pytest.raises(InvalidArgumentError, match=message):
        sequence.update(human, metric)
    assert sequence.state() == before


def test_a_metric_without_a_pool_is_refused():
    with pytest.raises(InvalidArgumentError, match="`metric` needs `metric_pool`"):
        ConfidenceSequence(pool_size=3).update(0.5, 1.0)


def test_path_and_state_are_checked():
    sequence = ConfidenceSequence(pool_size=3)
    sequence.update(0.5)
    with pytest.raises(InvalidArgumentError, match="`judgments` must lie between 1 and 1"):
        sequence.path([2])
    with pytest.raises(InvalidArgumentError, match="`state` must be what"):
        ConfidenceSequence.from_state({"version": 1})
    with pytest.raises(InvalidArgumentError, match="`state` must have version 1"):
        ConfidenceSequence.from_state(sequence.state() | {"version": 2})


def test_a_complete_census_is_said_to_be_exact():
    sequence = ConfidenceSequence(pool_size=3)
    sequence.update([0.25, 0.5])
    assert not sequence.exact
    sequence.update(0.75)
    assert sequence.exact
    assert str(sequence) == (
        "0.5000 exactly, as every output is judged (betting, census, 3 judgments of 3 outputs)"
    )
    noisy = ConfidenceSequence(pool_size=3, target="pool")
    noisy.update([0.25, 0.5, 0.75])
    assert not noisy.exact
    assert noisy.low < noisy.high
