import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.components import variance_components
from steelyard.single.efficiency import data_efficiency, metric_efficiencies
from steelyard.single.pool import PoolMoments


def efficiency_of(*arrays, **options):
    [found] = metric_efficiencies(*arrays, **options)
    return found


def correlation(*arrays, **options):
    return efficiency_of(*arrays, **options).correlation


def simulate(rng, *, outputs=100, rho=0.5, noise=1.0, metrics=1):
    output = np.repeat(np.arange(outputs), 2)
    score = rng.normal(size=outputs)
    metric = rho * score[:, np.newaxis] + np.sqrt(1 - rho**2) * rng.normal(size=(outputs, metrics))
    human = score[output] + rng.normal(size=2 * outputs) * np.sqrt(noise)
    return human, metric[output], output


def test_the_formula_is_the_papers():
    # Half the labelling cost needs a correlation of sqrt(1/2) even from noiseless raters.
    assert data_efficiency(0.0, np.sqrt(0.5)) == pytest.approx(2.0)
    assert data_efficiency(1.0, 0.0) == 1
    assert data_efficiency(0.5, 0.6) == pytest.approx(1.5 / 1.14)


def test_the_limits_are_reached():
    assert data_efficiency(0.25, 1.0) == pytest.approx(5.0)
    assert data_efficiency(0.0, 0.8) == pytest.approx(1 / 0.36)


def test_extremes_have_their_limits_as_values():
    assert data_efficiency(np.inf, 1.0) == 1
    assert data_efficiency(0.0, 1.0) == np.inf
    assert data_efficiency(0.0, -1.0) == np.inf
    assert np.isnan(data_efficiency(1.0, np.nan))


@given(gamma=st.floats(0, 1e6), rho=st.floats(-1, 1))
def test_efficiency_lies_between_one_and_its_limits(gamma, rho):
    found = data_efficiency(gamma, rho)
    assert 1 <= found <= data_efficiency(gamma, 1) * (1 + 1e-12)
    assert found <= data_efficiency(0, rho) * (1 + 1e-12)


def test_refuses_impossible_arguments_of_the_formula():
    with pytest.raises(InvalidArgumentError, match="`noise_ratio` must not be negative; got -1"):
        data_efficiency(-1.0, 0.5)
    with pytest.raises(InvalidArgumentError, match=r"`correlation` must lie within \[-1, 1\]"):
        data_efficiency(0.0, 1.5)


def test_all_parts_agree_with_one_another_and_with_their_own_functions():
    human, metric, items = simulate(np.random.default_rng(1))
    found = efficiency_of(human, metric, items=items)
    parts = variance_components(human, items)
    assert found.item_variance == parts.item
    assert found.rater_variance == parts.rater
    assert found.noise_ratio == parts.noise_ratio
    gamma, rho = found.noise_ratio.value, found.correlation
    assert found.data_efficiency.value == pytest.approx(data_efficiency(gamma, rho.value))
    assert found.perfect_metric.value == pytest.approx(data_efficiency(gamma, 1))
    assert found.perfect_metric.low == pytest.approx(data_efficiency(found.noise_ratio.high, 1))
    assert found.noiseless_raters.value == pytest.approx(data_efficiency(0, rho.value))
    assert found.n_judgments == 200


def test_prints_itself_and_has_stable_keys():
    found = efficiency_of(*simulate(np.random.default_rng(1))[:2], items=np.repeat(range(100), 2))
    assert str(found).startswith("data efficiency ")
    assert list(found.to_dict()) == [
        "item_variance",
        "rater_variance",
        "noise_ratio",
        "correlation",
        "data_efficiency",
        "perfect_metric",
        "noiseless_raters",
        "n_outputs",
        "n_judgments",
        "level",
        "notes",
    ]
    assert found.to_dict()["data_efficiency"] == found.data_efficiency.to_dict()


def test_each_metric_alone_is_as_if_it_were_the_only_one():
    human, metric, items = simulate(np.random.default_rng(2), metrics=3)
    pool = np.random.default_rng(3).normal(size=(500, 3))
    each = metric_efficiencies(human, metric, pool, items=items)
    for j, one in enumerate(each):
        alone = efficiency_of(human, metric[:, j], pool[:, j], items=items)
        assert one.to_dict()["data_efficiency"] == pytest.approx(alone.to_dict()["data_efficiency"])
        assert one.to_dict()["correlation"] == pytest.approx(alone.to_dict()["correlation"])


def test_a_useless_metric_may_save_nothing():
    human, metric, items = simulate(np.random.default_rng(14), rho=0.0)
    found = efficiency_of(human, metric, items=items)
    assert found.correlation.low < 0 < found.correlation.high
    assert found.data_efficiency.low == 1
    assert found.noiseless_raters.low == 1


def test_a_metric_of_negative_correlation_saves_as_much():
    human, metric, items = simulate(np.random.default_rng(5), rho=0.8)
    here = efficiency_of(human, metric, items=items)
    there = efficiency_of(human, -metric, items=items)
    assert there.correlation.value == pytest.approx(-here.correlation.value)
    assert there.data_efficiency.to_dict() == pytest.approx(here.data_efficiency.to_dict())
    assert here.data_efficiency.low > 1


def test_without_item_variance_nothing_can_be_saved_and_the_correlation_is_undetermined():
    rng = np.random.default_rng(6)
    human = np.tile([0.0, 2.0], 40)
    found = efficiency_of(human, np.repeat(rng.normal(size=40), 2), items=np.repeat(range(40), 2))
    assert found.noise_ratio.value == np.inf
    assert found.data_efficiency.value == 1
    assert found.perfect_metric.value == 1
    assert np.isnan(found.correlation.value)
    assert (found.correlation.low, found.correlation.high) == (-1, 1)
    assert np.isnan(found.noiseless_raters.value)
    assert any("undetermined" in note for note in found.notes)


def test_without_rater_variance_a_perfect_metric_would_save_everything():
    score = np.random.default_rng(6).normal(size=40)
    found = efficiency_of(np.repeat(score, 2), np.repeat(score, 2), items=np.repeat(range(40), 2))
    assert found.noise_ratio.value == 0
    assert found.perfect_metric.value == np.inf
    assert found.data_efficiency.value > 1e6


samples = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=25, deadline=None)
@given(rng=samples, scale=st.sampled_from([-20.0, 0.1, 3.0]), shift=st.floats(-100, 100))
def test_efficiency_does_not_depend_on_the_units(rng, scale, shift):
    human, metric, items = simulate(rng, noise=0.5)
    here = efficiency_of(human, metric, items=items, resamples=100)
    there = efficiency_of(scale * human + shift, 5.0 * metric - shift, items=items, resamples=100)
    for name in ("noise_ratio", "data_efficiency", "perfect_metric", "noiseless_raters"):
        expected = getattr(here, name).to_dict()
        assert getattr(there, name).to_dict() == pytest.approx(expected, rel=1e-4)


def test_interval_of_the_efficiency_covers_at_about_its_level():
    rng = np.random.default_rng(9)
    truth = data_efficiency(1.0, 0.5)
    reps, hits = 300, 0
    for _ in range(reps):
        human, metric, items = simulate(rng, outputs=120)
        found = efficiency_of(human, metric, items=items, resamples=400, rng=rng)
        hits += found.data_efficiency.low <= truth <= found.data_efficiency.high
    assert binomtest(int(hits), reps, 0.95).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.parametrize("outputs", [30, 100, 300])
def test_intervals_cover_on_tied_skewed_scores(rho, outputs):
    def scores(rng, size):
        score = rng.normal(size=size)
        metric = rho * score + np.sqrt(1 - rho**2) * rng.normal(size=size)
        latent = 0.8 * score[:, np.newaxis] + 1.1 * rng.normal(size=(size, 2))
        return (latent > -0.9).astype(float) + (latent > -0.2) - 1, metric

    judged, metric = scores(np.random.default_rng(0), 2_000_000)
    item = np.cov(judged.T)[0, 1]
    rater = np.mean((judged[:, 0] - judged[:, 1]) ** 2) / 2
    square = np.cov(judged.mean(axis=1), metric)[0, 1] ** 2 / item if rho else 0.0
    truth = {
        "item_variance": item,
        "noise_ratio": rater / item,
        "data_efficiency": float(data_efficiency(rater / item, np.sqrt(square))),
        "noiseless_raters": 1 / (1 - square),
    }
    rng, reps = np.random.default_rng(10), 600
    hits = dict.fromkeys(truth, 0)
    for _ in range(reps):
        judged, metric = scores(rng, outputs)
        found = efficiency_of(
            judged.ravel(),
            np.repeat(metric, 2),
            items=np.repeat(range(outputs), 2),
            resamples=1000,
            rng=rng,
        )
        for name, value in truth.items():
            quantity = getattr(found, name)
            hits[name] += quantity.low - 1e-9 <= value <= quantity.high + 1e-9
    for name, hit in hits.items():
        # Small samples fall a few points short of 0.95: docs/methods/paper-estimators.md.
        assert binomtest(int(hit), reps, 0.92, alternative="less").pvalue > 0.001, (name, hit)


# Four outputs by two raters: mean squares 12 between outputs, 8 between raters and 4/3 of the rest.
TABLE = [2, 4, 4, 8, 8, 10, 6, 6]
OUTPUT, RATER = np.repeat(range(4), 2), list("abababab")
TABLE_METRIC = np.repeat([1, 2, 4, 1], 2)


def test_with_raters_matches_a_hand_worked_table():
    # Item (12 - 4/3) / 2, leniency (8 - 4/3) / 4, residual 4/3: noise ratio 3 / (16/3).
    # Covariance with the metric 3, its variance 2: rho^2 = 9 / (2 * 16/3).
    found = efficiency_of(TABLE, TABLE_METRIC, items=OUTPUT, raters=RATER)
    assert found.item_variance.value == pytest.approx(16 / 3)
    assert found.rater_variance.value == pytest.approx(3)
    assert found.noise_ratio.value == pytest.approx(9 / 16)
    assert found.correlation.value == pytest.approx(np.sqrt(27 / 32))
    assert found.data_efficiency.value == pytest.approx(50 / 23)
    # Without raters: item (12 - 3) / 2.
    assert efficiency_of(TABLE, TABLE_METRIC, items=OUTPUT).item_variance.value == pytest.approx(
        4.5
    )


def test_a_lenient_rater_changes_neither_item_variance_nor_correlation():
    human, metric, items = simulate(np.random.default_rng(7))
    raters = np.tile([0, 1], 100)
    here = efficiency_of(human, metric, items=items, raters=raters)
    there = efficiency_of(human + 3 * raters, metric, items=items, raters=raters)
    assert there.item_variance.value == pytest.approx(here.item_variance.value, rel=0.01)
    assert there.correlation.value == pytest.approx(here.correlation.value, rel=0.01)
    plain = efficiency_of(human + 3 * raters, metric, items=items)
    assert plain.item_variance.value == 0
    assert there.rater_variance.value == pytest.approx(plain.rater_variance.value, rel=0.05)


def test_few_raters_leave_the_efficiency_as_unsure_as_their_leniency():
    human, metric, items = simulate(np.random.default_rng(7), rho=0.9, noise=0.1)
    raters = np.tile([0, 1], 100)
    known = efficiency_of(human + raters, metric, items=items, raters=np.arange(200) % 200)
    found = efficiency_of(human + raters, metric, items=items, raters=raters)
    assert found.data_efficiency.low < 1.1 < known.data_efficiency.low
    assert any("only 2 raters" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.parametrize(("raters", "leniency"), [(2, 0.0), (2, 1.0), (3, 0.7), (15, 0.7)])
def test_intervals_cover_whatever_raters_share(raters, leniency):
    rng, reps = np.random.default_rng(12), 300
    gamma = leniency**2 + 0.49
    truth = {
        "item_variance": 1.0,
        "noise_ratio": gamma,
        "correlation": 0.6,
        "data_efficiency": float(data_efficiency(gamma, 0.6)),
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(reps):
        human, metric, items = simulate(rng, rho=0.6, noise=0.49)
        rater = np.concatenate([rng.choice(raters, 2, replace=False) for _ in range(100)])
        human = human + leniency * rng.normal(size=raters)[rater]
        found = efficiency_of(human, metric, items=items, raters=rater, resamples=400, rng=rng)
        for name, value in truth.items():
            quantity = getattr(found, name)
            hits[name] += quantity.low <= value <= quantity.high
    for name, hit in hits.items():
        assert binomtest(int(hit), reps, 0.93, alternative="less").pvalue > 0.001, (name, hit)


# Two systems, three outputs each: means 2, 4, 6 and 12, 12, 15.
WITHIN = [1, 3, 3, 5, 5, 7, 11, 13, 12, 12, 15, 15]
SYSTEM = list("aaaaaabbbbbb")


def test_within_systems_matches_a_hand_worked_example():
    # Within outputs 8 / 6; between them (16 + 12) / 4, so the item variance is (7 - 4/3) / 2.
    # Covariance with the metric (4 + 9) / 4, its variance (2 + 14) / 4.
    items, metric = np.repeat(range(6), 2), np.repeat([1, 2, 3, 5, 4, 9], 2)
    found = efficiency_of(WITHIN, metric, items=items, systems=SYSTEM)
    assert found.rater_variance.value == pytest.approx(4 / 3)
    assert found.item_variance.value == pytest.approx(17 / 6)
    assert found.correlation.value == pytest.approx(13 / 4 / np.sqrt(17 / 6 * 4))


@pytest.mark.parametrize("raters", [True, False])
def test_what_sets_systems_apart_does_not_count_within_them(raters):
    rng = np.random.default_rng(8)
    human, metric, items = simulate(rng)
    rater, system = rng.integers(0, 6, size=200) if raters else None, items % 3
    here, there = (
        efficiency_of(
            human + apart * system,
            metric - 2 * apart * system[:, np.newaxis],
            items=items,
            raters=rater,
            systems=system,
            resamples=200,
        )
        for apart in (0.0, 20.0)
    )
    for name in ("item_variance", "noise_ratio", "correlation", "data_efficiency"):
        expected = getattr(here, name).to_dict()
        assert getattr(there, name).to_dict() == pytest.approx(expected, rel=1e-4), name


def test_one_system_is_all_of_them():
    human, metric, items = simulate(np.random.default_rng(8))
    here = efficiency_of(human, metric, items=items)
    there = efficiency_of(human, metric, items=items, systems=np.zeros(200))
    assert there.to_dict()["data_efficiency"] == pytest.approx(here.to_dict()["data_efficiency"])


def test_refuses_systems_that_do_not_fit():
    human, metric, items = simulate(np.random.default_rng(8))
    with pytest.raises(InvalidArgumentError, match="`metric_pool` and `systems` exclude"):
        efficiency_of(human, metric, metric, items=items, systems=items % 2)
    with pytest.raises(InvalidArgumentError, match="outputs of one system each; got two systems"):
        efficiency_of(human, metric, items=items, systems=np.tile([0, 1], 100))
    with pytest.raises(InvalidArgumentError, match=r"`systems` must have shape \(200,\)"):
        efficiency_of(human, metric, items=items, systems=[1, 2])
    with pytest.raises(NotEstimableError, match="at least one system with two judged outputs"):
        efficiency_of(human, metric, items=items, systems=items)
    with pytest.raises(NotEstimableError, match="`metric` must vary"):
        efficiency_of(human, items % 2, items=items, systems=items % 2)


HUMAN = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
ITEMS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
METRIC = [3, 3, 5, 5, 1, 1, 6, 6, 6, 6]


def test_matches_a_hand_worked_example():
    # Means 2, 7, 3, 9, 5.5 of variance 8.2; rater variance 6.5 / 5; item 8.2 - 0.65 = 7.55.
    # Metric 3, 5, 1, 6, 6 of variance 4.7; covariance 19.7 / 4.
    found = correlation(HUMAN, METRIC, items=ITEMS)
    assert found.value == pytest.approx(4.925 / np.sqrt(7.55 * 4.7))


def test_the_spread_of_the_metric_is_that_of_the_pool():
    pool = [0, 2, 4, 6, 8, 10]
    expected = 4.925 / np.sqrt(7.55 * np.var(pool))
    assert correlation(HUMAN, METRIC, pool, items=ITEMS).value == pytest.approx(expected)
    moments = PoolMoments.of(np.array(pool, dtype=float))
    assert correlation(HUMAN, METRIC, moments, items=ITEMS) == correlation(
        HUMAN, METRIC, pool, items=ITEMS
    )


def test_rater_noise_does_not_weaken_it():
    rng = np.random.default_rng(5)
    human, metric, items = simulate(rng, outputs=20_000, noise=4.0)
    assert correlation(human, metric, items=items, resamples=100).value == pytest.approx(
        0.5, abs=0.03
    )


def test_an_estimate_beyond_one_is_reported_as_one_and_said():
    # The mean judgments as metric: their variance, 8.2, is above the item variance, 7.55.
    means = np.repeat([2, 7, 3, 9, 5.5], 2)
    assert correlation(HUMAN, means, items=ITEMS).value == 1
    found = efficiency_of(HUMAN, means, items=ITEMS)
    assert f"estimated beyond 1 ({np.sqrt(8.2 / 7.55):.3g} in size)" in found.notes[-1]
    assert correlation(HUMAN, -means, items=ITEMS).value == -1


@settings(max_examples=30, deadline=None)
@given(rng=samples)
def test_the_order_of_rows_does_not_matter(rng):
    human, metric, items = simulate(rng, noise=0.5)
    order = rng.permutation(len(human))
    assert correlation(
        human[order], metric[order], items=items[order], resamples=100
    ) == correlation(human, metric, items=items, resamples=100)


def test_refuses_what_the_data_do_not_determine():
    with pytest.raises(NotEstimableError, match="collect a second judgment"):
        correlation([1, 2, 3], [1, 2, 4], items=[1, 2, 3])
    with pytest.raises(NotEstimableError, match="got a constant in column 0"):
        correlation(HUMAN, [0.1] * 10, items=ITEMS)
    with pytest.raises(NotEstimableError, match="needs more than 3 judged outputs; got 3"):
        correlation(HUMAN[:6], METRIC[:6], items=ITEMS[:6])
    with pytest.raises(NotEstimableError, match="judgments that differ"):
        correlation([1] * 10, METRIC, items=ITEMS)
    with pytest.raises(NotEstimableError, match="`metric_pool` must vary"):
        correlation(HUMAN, METRIC, [3, 3, 3], items=ITEMS)


def test_refuses_bad_arguments():
    with pytest.raises(InvalidArgumentError, match="`metric_pool` must have 1 metrics"):
        correlation(HUMAN, METRIC, np.ones((4, 2)), items=ITEMS)
    with pytest.raises(InvalidArgumentError, match="`metric` must hold at least one metric"):
        correlation(HUMAN, np.empty((10, 0)), items=ITEMS)
    with pytest.raises(InvalidArgumentError, match="`level` must lie"):
        correlation(HUMAN, METRIC, items=ITEMS, level=2)
