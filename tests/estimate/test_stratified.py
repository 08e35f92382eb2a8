from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from steelyard import PoolMoments, control_variates, sample_mean
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.stratified import stratified_mean

SIZES = {"a": 60, "b": 100, "c": 40}


@pytest.fixture
def campaign():
    """72 judgments of 36 outputs in three strata of a pool of 200, with two metrics."""
    rng = np.random.default_rng(3)
    strata_pool = np.repeat(list(SIZES), list(SIZES.values()))
    metric_pool = rng.normal(size=(200, 2))
    score = metric_pool @ [0.7, 0.1] + np.repeat([0, 1, 3], [60, 100, 40]) + rng.normal(size=200)
    drawn = np.concatenate(
        [
            rng.choice(60, 10, False),
            60 + rng.choice(100, 14, False),
            160 + rng.choice(40, 12, False),
        ]
    )
    items = np.repeat(drawn, 2)
    return {
        "human": score[items] + rng.normal(size=72),
        "strata": strata_pool[items],
        "strata_sizes": SIZES,
        "metric": metric_pool[items],
        "metric_pool": {name: metric_pool[strata_pool == name] for name in SIZES},
        "items": items,
    }


def without_metric(campaign):
    return {k: v for k, v in campaign.items() if k not in {"metric", "metric_pool"}}


def test_matches_a_hand_worked_example():
    # a: 1 2 3 (of 60), mean 2, s^2 = 1; b: 5 7 (of 40), mean 6, s^2 = 2; W = 0.6, 0.4
    # estimate 1.2 + 2.4; census V = 0.36 (1 - 3/60) / 3 + 0.16 (1 - 2/40) 2 / 2 = 0.114 + 0.152
    got = stratified_mean(
        [1, 2, 3, 5, 7], list("aaabb"), {"a": 60, "b": 40}, items=range(5), target="census"
    )
    assert got.estimate == pytest.approx(3.6)
    assert got.standard_error**2 == pytest.approx(0.266)
    assert got.degrees_of_freedom == pytest.approx(0.266**2 / (0.114**2 / 2 + 0.152**2 / 1))
    assert got.baseline is None


def test_rater_noise_is_added_back_by_hand():
    # as above, each output judged twice, 1 apart: within 0.5 each, sigma_a^2 = 0.5 in any weighting,
    # and an imagined output at the bound: without the finite pool V = 0.12 + 0.16 = 0.28, the rater
    # variance v adds (1/100^2) (60 v/2 + 40 v/2) = 0.005 v, so the bound is 0.014 / 0.005 = 2.8
    human = np.repeat([1, 2, 3, 5, 7], 2) + np.tile([-0.5, 0.5], 5)
    got = stratified_mean(
        human, np.repeat(list("aaabb"), 2), {"a": 60, "b": 40}, items=np.repeat(range(5), 2)
    )
    assert got.standard_error**2 == pytest.approx(0.266 + 0.005 * (5 * 0.5 + 2.8) / 6)


def test_rater_variance_is_that_of_the_pool_not_of_the_sample():
    # within-output variances 2 in a (W = 0.9) and 18 in b: over the pool 0.9 * 2 + 0.1 * 18 = 3.6
    human = [0, 2, 1, 3, 0, 6, 3, 9] * 5
    options = {"items": np.repeat(range(20), 2), "level": 0.9}
    strata, sizes = np.repeat(list("aabb" * 5), 2), {"a": 90, "b": 10}
    got = stratified_mean(human, strata, sizes, **options)
    census = stratified_mean(human, strata, sizes, target="census", **options)
    noise = got.standard_error**2 - census.standard_error**2
    assert noise == pytest.approx(3.6 / 2 / 100)


def test_no_finite_pool_correction_without_knowledge_of_rater_noise():
    got = stratified_mean([1, 2, 3, 5, 7], list("aaabb"), {"a": 6, "b": 4}, items=range(5))
    assert got.standard_error**2 == pytest.approx(0.36 / 3 + 0.16 * 2 / 2)
    assert "no output has two judgments" in got.notes[0]
    known = stratified_mean(
        [1, 2, 3, 5, 7], list("aaabb"), {"a": 6, "b": 4}, items=range(5), rater_variance=0.2
    )
    want = 0.36 * (1 - 3 / 6) / 3 + 0.16 * (1 - 2 / 4) * 2 / 2 + 0.2 / 10
    assert known.standard_error**2 == pytest.approx(want)


@pytest.mark.parametrize("slope", ["combined", "separate", [0.5, 0.2]])
@pytest.mark.parametrize("poststratified", [False, True])
@pytest.mark.parametrize("target", ["pool", "census"])
def test_one_stratum_is_control_variates(campaign, slope, poststratified, target):
    pool = np.concatenate(list(campaign["metric_pool"].values()))
    human, metric, items = (campaign[key] for key in ("human", "metric", "items"))
    got = stratified_mean(
        human,
        ["all"] * 72,
        {"all": 200},
        metric=metric,
        metric_pool={"all": pool},
        items=items,
        slope=slope,
        poststratified=poststratified,
        target=target,
    )
    plain = slope if isinstance(slope, list) else "least-squares"
    want = control_variates(human, metric, pool, items=items, slope=plain, target=target)
    same_numbers(got, want)
    same_numbers(got.baseline, want.baseline)
    assert got.data_efficiency == pytest.approx(want.data_efficiency)


def test_one_stratum_without_metric_is_the_sample_mean(campaign):
    human, items = campaign["human"], campaign["items"]
    got = stratified_mean(human, ["all"] * 72, {"all": 200}, items=items)
    same_numbers(got, sample_mean(human, items=items, pool_size=200))
    without_items = stratified_mean(human, ["all"] * 72, {"all": 200})
    same_numbers(without_items, sample_mean(human, pool_size=200))


def same_numbers(got, want):
    for name in ("estimate", "standard_error", "low", "high", "degrees_of_freedom"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-9)


def test_separate_slopes_add_up_independent_control_variates(campaign):
    got = stratified_mean(**campaign, slope="separate", target="census")
    parts = []
    for name, size in SIZES.items():
        inside = campaign["strata"] == name
        part = control_variates(
            campaign["human"][inside],
            campaign["metric"][inside],
            campaign["metric_pool"][name],
            items=campaign["items"][inside],
            target="census",
        )
        parts.append((size / 200, part))
    assert got.estimate == pytest.approx(sum(W * part.estimate for W, part in parts))
    variance = sum((W * part.standard_error) ** 2 for W, part in parts)
    assert got.standard_error**2 == pytest.approx(variance)
    slope = sum(W * np.array(part.slope) for W, part in parts)
    assert got.slope == pytest.approx(tuple(slope))


def test_combined_slope_is_weighted_least_squares_with_stratum_intercepts(campaign):
    # an independent route: least squares on dummies, rows weighted by sqrt(k_h)
    got = stratified_mean(**campaign)
    first = np.unique(campaign["items"], return_index=True)[1]
    y = np.array(
        [campaign["human"][campaign["items"] == i].mean() for i in np.unique(campaign["items"])]
    )
    g, strata = campaign["metric"][first], campaign["strata"][first]
    dummies = np.column_stack([strata == name for name in SIZES]).astype(float)
    n = dummies.sum(axis=0)
    N = np.array(list(SIZES.values()))
    k = dummies @ ((N / 200) ** 2 * (1 - n / N) / (n * (n - 1)))
    X = np.column_stack([dummies, g]) * np.sqrt(k)[:, None]
    want = np.linalg.lstsq(X, y * np.sqrt(k), rcond=None)[0]
    assert got.slope == pytest.approx(tuple(want[3:]))
    pool = np.concatenate(list(campaign["metric_pool"].values())).mean(axis=0)
    assert got.estimate == pytest.approx(want[:3] @ N / 200 + want[3:] @ pool)
    assert got.data_efficiency == pytest.approx(
        (got.baseline.standard_error / got.standard_error) ** 2
    )


def test_a_combined_slope_needs_only_the_whole_pool(campaign):
    whole = np.concatenate(list(campaign["metric_pool"].values()))
    want = stratified_mean(**campaign)
    for pool in (whole, PoolMoments.of(whole)):
        got = stratified_mean(**(campaign | {"metric_pool": pool}))
        assert got.estimate == pytest.approx(want.estimate)
        assert got.standard_error == pytest.approx(want.standard_error)


def test_poststratification_has_cochrans_variance():
    # n = 5, N = 100: (1/5 - 1/100)(0.6 * 1 + 0.4 * 2) + (0.4 * 1 + 0.6 * 2) / 25
    got = stratified_mean(
        [1, 2, 3, 5, 7],
        list("aaabb"),
        {"a": 60, "b": 40},
        items=range(5),
        target="census",
        poststratified=True,
    )
    assert got.estimate == pytest.approx(3.6)
    assert got.standard_error**2 == pytest.approx(0.19 * 1.4 + 1.6 / 25)
    assert got.baseline.estimate == pytest.approx(3.6)
    assert got.method == "post-stratified-mean/student"
    assert got.data_efficiency > 1


def test_a_stratum_judged_whole_adds_no_spread():
    got = stratified_mean(
        [1, 2, 3, 5], list("aaab"), {"a": 9, "b": 1}, items=range(4), target="census"
    )
    assert got.standard_error**2 == pytest.approx(0.81 * (1 - 3 / 9) / 3)


@settings(max_examples=25, deadline=None)
@given(
    shift=st.floats(-50, 50),
    scale=st.floats(0.1, 20),
    seed=st.integers(0, 1000),
)
def test_scale_and_order_of_rows_do_not_matter(shift, scale, seed):
    rng = np.random.default_rng(5)
    pool = rng.normal(size=60)
    strata_pool = np.repeat(["a", "b"], 30)
    items = np.repeat(np.concatenate([rng.choice(30, 8, False), 30 + rng.choice(30, 8, False)]), 2)
    human = pool[items] + rng.normal(size=32)
    options = {"strata_sizes": {"a": 30, "b": 30}, "metric_pool": pool}
    base = stratified_mean(human, strata_pool[items], metric=pool[items], items=items, **options)
    order = np.random.default_rng(seed).permutation(32)
    got = stratified_mean(
        (shift + scale * human)[order],
        strata_pool[items][order],
        metric=pool[items][order],
        items=items[order],
        **options,
    )
    assert got.estimate == pytest.approx(shift + scale * base.estimate, abs=1e-9)
    assert got.standard_error == pytest.approx(scale * base.standard_error)
    renamed = {"a": "z", "b": "y"}
    named = stratified_mean(
        human,
        [renamed[name] for name in strata_pool[items]],
        {"z": 30, "y": 30},
        metric=pool[items],
        metric_pool=pool,
        items=items,
    )
    assert named.standard_error == pytest.approx(base.standard_error)


def test_a_stratum_without_spread_is_named():
    got = stratified_mean([1, 1, 1, 5, 7], list("aaabb"), {"a": 60, "b": 40}, items=range(5))
    assert any("stratum 'a' show no spread" in note for note in got.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strata": ["a"] * 3}, r"`strata` must have shape \(72,\).*got \(3,\)"),
        ({"strata_sizes": {"a": 60}}, "`strata_sizes` must hold every stratum.*'b' is missing"),
        ({"strata_sizes": SIZES | {"a": 3}}, "stratum 'a' has 3 outputs and 10 judged"),
        (
            {"slope": "pooled"},
            "`slope` must be a number or one of combined, separate; got 'pooled'",
        ),
        ({"slope": [1.0]}, r"`slope` must be 2 finite number\(s\)"),
        ({"metric_pool": None}, "`metric_pool` is needed with `metric`"),
        ({"metric_pool": np.zeros((7, 2))}, "outside the pool's range"),
        ({"metric_pool": np.zeros((200, 1))}, "same metrics as `metric`; got 1 against 2"),
        ({"metric_pool": {"a": np.zeros((60, 2))}}, "outside the pool's range"),
        ({"target": "superpopulation"}, "`target` must be pool or census"),
        ({"level": 95}, "`level` must lie strictly between 0 and 1"),
        ({"metric": np.zeros((3, 2))}, r"`metric` must have shape \(72,\)"),
        ({"items": [1, 2]}, r"`items` must have shape \(72,\)"),
        ({"rater_variance": -1}, "`rater_variance` must be finite and not negative"),
    ],
)
def test_wrong_arguments_are_named(campaign, change, message):
    with pytest.raises(InvalidArgumentError, match=message):
        stratified_mean(**(campaign | change))


def test_pool_sizes_must_agree(campaign):
    whole = np.concatenate(list(campaign["metric_pool"].values()))
    with pytest.raises(
        InvalidArgumentError, match="as many outputs as `strata_sizes`, 200; got 201"
    ):
        stratified_mean(**(campaign | {"metric_pool": np.vstack([whole, whole[:1]])}))
    part = campaign["metric_pool"] | {"a": np.repeat(campaign["metric_pool"]["a"], 2, axis=0)}
    with pytest.raises(InvalidArgumentError, match="stratum 'a' has 120 against 60"):
        stratified_mean(**(campaign | {"metric_pool": part}))
    partial = {name: campaign["metric_pool"][name] for name in ("a", "b")}
    with pytest.raises(InvalidArgumentError, match="`metric_pool` must hold every stratum; 'c'"):
        stratified_mean(**(campaign | {"metric_pool": partial}))
    with pytest.raises(InvalidArgumentError, match="must map each stratum to its metrics"):
        stratified_mean(**(campaign | {"metric_pool": whole, "slope": "separate"}))


def test_an_output_lies_in_one_stratum():
    with pytest.raises(InvalidArgumentError, match=r"`strata` must be the same for all.*output 1"):
        stratified_mean([1, 2, 3, 4], list("abab"), {"a": 9, "b": 9}, items=[1, 1, 2, 3])


def test_refuses_what_cannot_be_estimated(campaign):
    with pytest.raises(NotEstimableError, match="no output of stratum 'c' was judged"):
        stratified_mean([1, 2, 3, 4], list("aabb"), SIZES)
    with pytest.raises(NotEstimableError, match="stratum 'b' has one judged output of 9"):
        stratified_mean([1, 2, 3], list("aab"), {"a": 9, "b": 9}, items=[1, 2, 3])
    with pytest.raises(NotEstimableError, match="show no spread"):
        stratified_mean([1, 1, 2, 2], list("aabb"), {"a": 9, "b": 9}, items=[1, 2, 3, 4])
    with pytest.raises(NotEstimableError, match="metric is constant within strata"):
        stratified_mean(
            [1, 2, 3, 4, 5],
            list("aaabb"),
            {"a": 9, "b": 9},
            metric=[0.3, 0.3, 0.3, 0.7, 0.7],
            metric_pool=np.repeat([0.3, 0.7], 9),
            items=range(5),
        )
    with pytest.raises(NotEstimableError, match=r"a combined slope on 1 metric.*more than 4"):
        stratified_mean(
            [1, 2, 3, 5],
            list("aabb"),
            {"a": 2, "b": 2},
            metric=[1, 2, 3, 4],
            metric_pool=[1, 2, 3, 4],
            items=range(4),
        )
    twice = campaign["metric"][:, [0, 0]]
    pool = {name: part[:, [0, 0]] for name, part in campaign["metric_pool"].items()}
    with pytest.raises(NotEstimableError, match="collinear"):
        stratified_mean(**(campaign | {"metric": twice, "metric_pool": pool}))
    with pytest.raises(NotEstimableError, match="no stratum has two judged outputs"):
        stratified_mean([1, 2], list("ab"), {"a": 1, "b": 1}, items=[1, 2])


def test_separate_slopes_need_enough_outputs_in_each_stratum():
    with pytest.raises(NotEstimableError, match="more than 3 judged outputs in stratum 'b'; got 2"):
        stratified_mean(
            [1, 2, 3, 5, 4, 6],
            list("aaaabb"),
            {"a": 9, "b": 9},
            metric=[1, 2, 3, 4, 1, 2],
            metric_pool={"a": range(9), "b": range(9)},
            items=range(6),
            slope="separate",
        )


def test_a_census_of_every_stratum_is_known_exactly():
    got = stratified_mean(
        [1, 2, 3, 5], list("aabb"), {"a": 2, "b": 2}, items=range(4), target="census"
    )
    assert got.low == got.high == pytest.approx(2.75)
    assert "every output was judged" in got.notes[-1]


def test_the_result_is_an_estimate_like_any_other(campaign):
    got = stratified_mean(**campaign).named(system="s", prompt="p", metrics=("m", "k"))
    assert got.to_dict()["method"] == "stratified-control-variates/combined/student"
    assert "n=36|judgments=72|N=200" in got.signature
    assert replace(got, notes=()).baseline.method == "stratified-mean/student"


def test_a_few_second_judgments_do_not_make_intervals_too_short():
    rng = np.random.default_rng(8)
    runs, covered = 300, 0
    strata = np.repeat(["a", "b"], [25, 15])
    for _ in range(runs):
        chance = rng.choice([0.1, 0.9], size=40)
        again = rng.choice(40, 6, replace=False)
        items = np.concatenate([np.arange(40), again])
        human = (rng.random(46) < chance[items]).astype(float)
        got = stratified_mean(human, strata[items], {"a": 25, "b": 15}, items=items)
        covered += got.low <= chance.mean() <= got.high
    assert binomtest(covered, runs, 0.95, alternative="less").pvalue > 0.01
