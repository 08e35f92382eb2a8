import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import PoolMoments, control_variates, judged_outputs, sample_mean
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import crossed_components

SLOPES = ["least-squares", "plug-in", "cross-fit", "shrunk"]
INTERVALS = ["student", "percentile", "basic", "bca", "bootstrap-t"]


@pytest.fixture
def campaign():
    """120 judgments by 9 raters of 60 outputs of a pool of 200, with two metrics."""
    rng = np.random.default_rng(11)
    metric_pool = rng.normal(size=(200, 2))
    score = metric_pool @ [0.6, 0.2] + rng.normal(size=200)
    items = np.repeat(rng.choice(200, 60, replace=False), 2)
    raters = np.concatenate([rng.choice(9, 2, replace=False) for _ in range(60)])
    human = score[items] + rng.normal(size=9)[raters] * 0.3 + rng.normal(size=120)
    return {
        "human": human,
        "metric": metric_pool[items],
        "metric_pool": metric_pool,
        "items": items,
        "raters": raters,
    }


def test_matches_a_hand_worked_example():
    # y = 1 3 2 4 on g = 1 2 3 4: S = 5, C = 4, slope 0.8;
    # mean 2.5, shift 2.5 - 3.5 = -1, estimate 2.5 + 0.8 = 3.3
    # residuals -0.3 0.9 -0.9 0.3: sum of squares 1.8 over 4 - 2 degrees of freedom = 0.9
    # no items, so with replacement: V = 0.9 (1/4 + 1/5) = 0.405
    got = control_variates([1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6])
    assert got.estimate == pytest.approx(3.3)
    assert got.slope == pytest.approx((0.8,))
    assert got.standard_error == pytest.approx(np.sqrt(0.405))
    # t quantile of 2 degrees of freedom at 97.5%: 4.302653
    assert got.high - got.estimate == pytest.approx(4.302653 * np.sqrt(0.405), rel=1e-6)
    assert got.baseline.estimate == 2.5
    assert got.baseline.standard_error == pytest.approx(np.sqrt((5 / 3) / 4))


def test_finite_pool_shrinks_the_spread_between_outputs_but_not_rater_noise():
    # outputs a b c d with means 1 3 2 4 as above, each judged twice one apart, rater variance 1/2:
    # V = 0.9 [(1 - 4/6)/4 + 1/5] + (0.5/2)/6
    human = [0.5, 1.5, 2.5, 3.5, 1.5, 2.5, 3.5, 4.5]
    got = control_variates(
        human,
        np.repeat([1, 2, 3, 4], 2),
        [1, 2, 3, 4, 5, 6],
        items=list("aabbccdd"),
        rater_variance=0.5,
    )
    between, noise = 0.9 * ((1 - 4 / 6) / 4 + 1 / 5), 0.25 / 6
    assert got.estimate == pytest.approx(3.3)
    assert got.standard_error**2 == pytest.approx(between + noise)
    assert got.degrees_of_freedom == pytest.approx((between + noise) ** 2 / (between**2 / 2))


def test_rater_variance_of_few_outputs_is_lifted_by_an_imagined_one():
    # means 1 to 6, each judged twice one apart: s^2 = 3.5, sigma_a^2 = 1/2 from 6 outputs; if all
    # spread were noise it would be 3.5 / (1/2) = 7, which the imagined output has
    human = np.repeat(np.arange(1.0, 7), 2) + np.tile([-0.5, 0.5], 6)
    got = sample_mean(human, items=np.repeat(range(6), 2), pool_size=8)
    between, noise = 3.5 * (1 / 6 - 1 / 8), (6 * 0.5 + 7) / 7 / 2 / 8
    assert got.standard_error**2 == pytest.approx(between + noise)
    freedom = (between + noise) ** 2 / (between**2 / 5 + noise**2 / 7)
    assert got.degrees_of_freedom == pytest.approx(freedom)
    assert not got.notes


def test_many_outputs_all_judged_twice_speak_for_themselves():
    rng = np.random.default_rng(3)
    human = np.repeat(rng.normal(size=30), 2) + rng.normal(size=60)
    got = sample_mean(human, items=np.repeat(range(30), 2), pool_size=40)
    pairs = human.reshape(30, 2)
    between = pairs.mean(axis=1).var(ddof=1) * (1 / 30 - 1 / 40)
    noise = pairs.var(axis=1, ddof=1).mean() / 2 / 40
    assert got.standard_error**2 == pytest.approx(between + noise)
    freedom = (between + noise) ** 2 / (between**2 / 29 + noise**2 / 30)
    assert got.degrees_of_freedom == pytest.approx(freedom)


def test_judgments_that_happen_to_agree_do_not_make_the_interval_a_point():
    human = (np.random.default_rng(0).random(40) < 0.5).astype(float)

    def judged_again(number):
        items = [*range(40), *range(number)]
        return sample_mean(human[items], items=items, pool_size=40)

    for number in (1, 4):
        assert judged_again(number).half_width == pytest.approx(judged_again(0).half_width)
    # 5 outputs in agreement and one as far apart as 0 and 1 are: sigma_a^2 = (1/2) / 6
    got = judged_again(5)
    assert got.standard_error**2 == pytest.approx(0.5 / 6 * (5 * 0.5 + 35) / 40 / 40)
    assert got.degrees_of_freedom == pytest.approx(6)


def test_too_few_second_judgments_are_said():
    rng = np.random.default_rng(2)
    human, items = rng.normal(size=22), [*range(20), 0, 1]
    got = sample_mean(human, items=items, pool_size=40)
    assert "second judgments of 2 outputs tell too little" in got.notes[0]
    assert "29%" in got.notes[0]


def test_a_single_point_is_refused():
    human = [1, 3, 2, 4, 6]
    with pytest.raises(NotEstimableError, match=r'single point.*target="census"'):
        sample_mean(human, items=range(5), pool_size=5, rater_variance=0)


def test_census_leaves_out_the_noise_of_judgments_not_asked_for():
    got = control_variates(
        [1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6], items=list("abcd"), target="census"
    )
    assert got.standard_error**2 == pytest.approx(0.9 * ((1 - 4 / 6) / 4 + 1 / 5))


def test_superpopulation_adds_the_spread_of_pools():
    # pool variance of 1..6 over N is 35/12; a^2 var / N = 0.64 * 35/12 / 6
    got = control_variates(
        [1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6], items=list("abcd"), target="superpopulation"
    )
    assert got.standard_error**2 == pytest.approx(0.405 + 0.64 * 35 / 12 / 6)


def test_superpopulation_with_another_slope_counts_what_metric_and_residual_share():
    # slope 1/2 on y = 1 3 2 4, g = 1 2 3 4: residuals around their mean -.75 .75 -.75 .75,
    # s_e^2 = 0.75, covariance with g 1.5/3 = 1/2; V = 0.75/4 + (0.25 * 35/12 + 2 * 0.5 * 0.5) / 6
    got = control_variates(
        [1, 3, 2, 4],
        [1, 2, 3, 4],
        [1, 2, 3, 4, 5, 6],
        items=list("abcd"),
        slope=0.5,
        target="superpopulation",
    )
    assert got.standard_error**2 == pytest.approx(0.75 / 4 + (0.25 * 35 / 12 + 0.5) / 6)


def test_superpopulation_of_a_pool_judged_whole_is_the_variance_of_the_mean():
    rng = np.random.default_rng(4)
    pool = rng.normal(size=30)
    human = pool + rng.normal(size=30)
    want = human.var(ddof=1) / 30
    for slope in (-1, 0.3, 2):
        got = control_variates(
            human, pool, pool, items=range(30), slope=slope, target="superpopulation"
        )
        # but for the pool's covariance, which is divided by N
        assert got.standard_error**2 + slope**2 * pool.var(ddof=1) / 30**2 == pytest.approx(want)


def test_a_full_census_is_known_exactly():
    got = control_variates(
        [1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4], items=list("abcd"), target="census"
    )
    assert (got.low, got.estimate, got.high) == pytest.approx((2.5, 2.5, 2.5))
    assert "known exactly" in got.notes[0]


def test_plug_in_is_algorithm_1_of_the_paper():
    rng = np.random.default_rng(5)
    pool = rng.gamma(2, size=300)
    metric, human = pool[:20], rng.normal(size=20) + pool[:20]
    g = (metric - pool.mean()) / pool.std()
    alpha = np.mean((human - human.mean()) * g)
    want = np.mean(human - alpha * g)
    assert control_variates(human, metric, pool, slope="plug-in").estimate == pytest.approx(want)


def test_a_given_slope_is_a_mean_of_differences():
    rng = np.random.default_rng(6)
    pool = rng.normal(size=50)
    human, metric = rng.normal(size=8), pool[:8]
    got = control_variates(human, metric, pool, slope=0.5)
    differences = human - 0.5 * (metric - pool.mean())
    assert got.estimate == pytest.approx(differences.mean())
    assert got.standard_error == pytest.approx(differences.std(ddof=1) / np.sqrt(8))
    assert got.degrees_of_freedom == 7


def test_pooled_slope_comes_from_the_others_alone():
    # around their own means the others have S = 2, 2 and C = 4, 2: slope 6/4 = 1.5, explained 9;
    # total sums of squares 8 and 14/3, so 11/3 are left on 6 - 2 - 1 degrees of freedom
    others = [judged_outputs([1, 3, 5], [0, 1, 2]), judged_outputs([11, 14, 13], [0, 1, 2])]
    got = control_variates([0, 1, 0, 1], [0, 1, 2, 3], [0, 1, 2, 9], slope="pooled", others=others)
    slope = 1.5 * 9 / (9 + 3 * (8 + 14 / 3 - 9) / 3)
    assert got.slope == pytest.approx((slope,))
    assert got.estimate == pytest.approx(0.5 - slope * (1.5 - 3))


def test_shrunk_slope_matches_a_hand_worked_example():
    # the example above: slope 0.8, explained 4 * 0.8 = 3.2, residual variance 0.9:
    # kept 3.2 / (3.2 + 3 * 0.9) = 32/59
    got = control_variates([1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6], slope="shrunk")
    slope = 0.8 * 32 / 59
    assert got.slope == pytest.approx((slope,))
    assert got.estimate == pytest.approx(2.5 + slope)
    # residual sum of squares 1.8 + (0.8 - slope)^2 * 5, on 2 degrees of freedom
    variance = (1.8 + (0.8 - slope) ** 2 * 5) / 2 * (1 / 4 + 1 / 5)
    assert got.standard_error == pytest.approx(np.sqrt(variance))


def test_leave_one_out_equals_refitting_without_each_output():
    rng = np.random.default_rng(8)
    n, size = 12, 40
    pool = rng.normal(size=(size, 2))
    human, metric = rng.normal(size=n) + pool[:n] @ [1, 2], pool[:n]
    drawn = (n - 1) / size
    parts = []
    for i in range(n):
        rest = np.arange(n) != i
        design = np.column_stack([np.ones(n - 1), metric[rest]])
        slope = np.linalg.lstsq(design, human[rest])[0][1:]
        shift = (1 - drawn) * metric[i] + drawn * metric[rest].mean(axis=0) - pool.mean(axis=0)
        parts.append(slope @ shift)
    got = control_variates(human, metric, pool, items=np.arange(n), slope="cross-fit")
    assert got.estimate == pytest.approx(human.mean() - np.mean(parts))
    by_folds = control_variates(human, metric, pool, items=np.arange(n), slope="cross-fit", folds=n)
    assert by_folds.estimate == pytest.approx(got.estimate)
    assert by_folds.standard_error == pytest.approx(got.standard_error)


def test_cross_fit_is_unbiased_over_all_samples_of_a_small_pool():
    # every one of the 56 samples of 5 from 8, exactly
    from itertools import combinations

    pool = np.array([0.0, 1, 2, 4, 7, 11, 16, 30])
    score = pool**2 / 50 + np.array([0.0, 3, -1, 2, 5, -4, 1, 0])
    errors = {slope: [] for slope in ("cross-fit", "plug-in", "least-squares")}
    for chosen in combinations(range(8), 5):
        rows = list(chosen)
        for slope, found in errors.items():
            got = control_variates(score[rows], pool[rows], pool, items=rows, slope=slope)
            found.append(got.estimate - score.mean())
    assert np.mean(errors["cross-fit"]) == pytest.approx(0, abs=1e-12)
    assert abs(np.mean(errors["plug-in"])) > 0.05
    assert abs(np.mean(errors["least-squares"])) > 0.05


def test_least_squares_agrees_with_a_regression_intercept():
    # independent: ordinary least squares of y on [1, g - pool mean] by statsmodels
    import statsmodels.api as sm

    rng = np.random.default_rng(9)
    pool = rng.normal(size=(100, 3))
    human, metric = rng.normal(size=30) + pool[:30] @ [1, 0, -1], pool[:30]
    want = sm.OLS(human, sm.add_constant(metric - pool.mean(axis=0))).fit()
    got = control_variates(human, metric, pool)
    assert got.estimate == pytest.approx(want.params[0])
    assert got.standard_error == pytest.approx(want.bse[0])
    assert (got.low, got.high) == pytest.approx(tuple(want.conf_int()[0]))


def test_moments_of_a_pool_serve_as_well_as_the_pool(campaign):
    whole = control_variates(**campaign)
    moments = PoolMoments.of(campaign["metric_pool"])
    for slope in SLOPES:
        whole = control_variates(**campaign, slope=slope)
        streamed = control_variates(**{**campaign, "metric_pool": moments}, slope=slope)
        assert streamed.estimate == pytest.approx(whole.estimate)
        assert streamed.standard_error == pytest.approx(whole.standard_error)


@pytest.mark.parametrize("raters_as", ["fixed", "random", "adjusted"])
@pytest.mark.parametrize("target", ["pool", "superpopulation"])
def test_views_of_raters_give_finite_ordered_intervals(campaign, raters_as, target):
    got = control_variates(**campaign, raters_as=raters_as, target=target)
    assert got.low < got.estimate < got.high
    assert got.raters == raters_as
    assert got.n_raters == 9


def test_random_raters_widen_the_interval_and_keep_the_estimate(campaign):
    fixed = control_variates(**campaign)
    random = control_variates(**campaign, raters_as="random")
    assert random.estimate == fixed.estimate
    assert random.standard_error > fixed.standard_error


def test_leniency_is_taken_out_of_a_plain_mean_too(campaign):
    who = {name: campaign[name] for name in ("human", "items", "raters")}
    size = len(campaign["metric_pool"])
    random = sample_mean(**who, pool_size=size, raters_as="random")
    adjusted = sample_mean(**who, pool_size=size, raters_as="adjusted")
    assert (random.raters, adjusted.raters) == ("random", "adjusted")
    assert adjusted.estimate != random.estimate
    model = crossed_components(*(np.asarray(one) for one in who.values()))
    assert adjusted.estimate == pytest.approx(model.fixed[0])
    # the mean that an adjusted estimate is compared with stays what it was
    corrected = control_variates(**campaign, raters_as="adjusted")
    assert corrected.baseline.raters == "random"
    assert corrected.baseline.estimate == pytest.approx(random.estimate)


def test_one_lenient_rater_does_not_lift_an_adjusted_mean():
    # Rater 2 gives 4 more and judges more of the outputs: the plain mean is 2 + 4 * 3/8.
    items, raters = [0, 0, 1, 1, 2, 2, 3, 3], [0, 2, 1, 2, 0, 2, 0, 1]
    quality, leniency = np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 0.0, 4.0])
    noise = 0.01 * np.array([1, -1, 1, 1, -1, 1, -1, -1])
    human = quality[items] + leniency[raters] + noise
    adjusted = sample_mean(human, items=items, raters=raters, raters_as="adjusted", pool_size=40)
    plain = sample_mean(human, items=items, raters=raters, pool_size=40)
    assert plain.estimate == pytest.approx(3.5)
    # Raters 0, 1 and 2 count alike once their leniency is known: 2 + 4/3.
    assert adjusted.estimate == pytest.approx(2 + 4 / 3, abs=0.05)


def test_few_raters_are_said():
    human = [1, 2, 3, 5, 2, 4, 4, 5, 2, 2, 3, 3]
    items, raters = np.repeat(range(6), 2), np.tile([0, 1], 6)
    got = sample_mean(human, items=items, raters=raters, raters_as="random")
    assert any("only 2 raters" in note for note in got.notes)


def test_a_rater_variance_that_is_not_used_is_said(campaign):
    bare = control_variates(**campaign, raters_as="random")
    got = control_variates(**campaign, raters_as="random", rater_variance=50)
    assert got.standard_error == bare.standard_error
    assert "`rater_variance` is not used" in got.notes[-1]
    assert not any("rater" in note for note in bare.notes)


@pytest.mark.parametrize("raters_as", ["random", "adjusted"])
def test_raters_as_a_sample_need_spread(raters_as):
    pool = np.arange(30.0)
    who = {"items": np.repeat(range(10), 2), "raters": np.tile([0, 1], 10)}
    for bounds in (None, (0, 1)):
        with pytest.raises(NotEstimableError, match=r'no spread.*raters_as="fixed" with `bounds`'):
            control_variates(
                np.ones(20),
                np.repeat(pool[:10], 2),
                pool,
                **who,
                raters_as=raters_as,
                bounds=bounds,
            )


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("interval", INTERVALS)
def test_affine_change_of_scores_moves_the_interval_exactly(campaign, slope, interval):
    options = {"slope": slope, "interval": interval, "resamples": 500}
    want = control_variates(**campaign, **options)
    moved = {**campaign, "human": 3 * campaign["human"] - 100}
    got = control_variates(**moved, **options)
    assert got.estimate == pytest.approx(3 * want.estimate - 100, rel=1e-9)
    assert (got.low, got.high) == pytest.approx((3 * want.low - 100, 3 * want.high - 100), rel=1e-9)
    assert got.standard_error == pytest.approx(3 * want.standard_error, rel=1e-9)


@pytest.mark.parametrize("slope", SLOPES)
def test_affine_change_of_the_metric_changes_nothing(campaign, slope):
    want = control_variates(**campaign, slope=slope)
    moved = {**campaign}
    for key in ("metric", "metric_pool"):
        moved[key] = campaign[key] * [2, -5] + [1, 10]
    got = control_variates(**moved, slope=slope)
    assert got.estimate == pytest.approx(want.estimate, rel=1e-9)
    assert got.standard_error == pytest.approx(want.standard_error, rel=1e-9)


@pytest.mark.parametrize(
    "options", [{"slope": "cross-fit", "folds": 5}, {"slope": "cross-fit"}, {}]
)
def test_metrics_may_be_on_very_different_scales(campaign, options):
    want = control_variates(**campaign, **options)
    moved = {**campaign}
    for key in ("metric", "metric_pool"):
        moved[key] = campaign[key] * [1, 1e9]
    got = control_variates(**moved, **options)
    assert (got.low, got.high) == pytest.approx((want.low, want.high))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), interval=st.sampled_from([*INTERVALS, "betting"]))
def test_row_order_never_matters(seed, interval):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=40)
    items = np.repeat(np.arange(15), 2)
    human = np.clip(np.round(pool[items] + rng.normal(size=30)), -1, 1)
    options = {"interval": interval, "resamples": 200, "bounds": (-1, 1)}
    want = control_variates(human, pool[items], pool, items=items, **options)
    order = np.random.default_rng(seed).permutation(30)
    got = control_variates(human[order], pool[items][order], pool, items=items[order], **options)
    assert (got.estimate, got.low, got.high) == pytest.approx((want.estimate, want.low, want.high))


def test_without_a_second_judgment_the_correction_is_left_out_and_said():
    rng = np.random.default_rng(1)
    pool = rng.normal(size=40)
    human = pool[:20] + rng.normal(size=20)
    bare = control_variates(human, pool[:20], pool, items=range(20))
    drawn = control_variates(human, pool[:20], pool)
    assert bare.standard_error == pytest.approx(drawn.standard_error)
    assert "second judgment" in bare.notes[0]
    assert "29%" in bare.notes[0]  # 1 - sqrt(1 - 20/40)
    known = control_variates(human, pool[:20], pool, items=range(20), rater_variance=0.25)
    assert known.standard_error < bare.standard_error
    assert not known.notes


def test_few_judgments_are_said():
    got = control_variates([1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6])
    assert any("only 4 judgments" in note for note in got.notes)


def test_equal_judgments_give_a_bounded_interval_or_a_refusal():
    pool = np.arange(30.0)
    with pytest.raises(NotEstimableError, match=r"same mean judgment \(1\).*pass `bounds`"):
        control_variates(np.ones(10), pool[:10], pool)
    got = control_variates(np.ones(10), pool[:10], pool, bounds=(0, 1))
    assert got.low < 0.8
    assert got.high == 1
    assert got.estimate == 1
    assert got.standard_error > 0
    assert "no spread" in got.notes[0]


def test_a_perfect_fit_is_not_given_zero_width():
    pool = np.arange(30.0)
    with pytest.raises(NotEstimableError, match="predicts the judged outputs without error"):
        control_variates(pool[:10] / 30, pool[:10], pool)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"level": 1.5}, InvalidArgumentError, "`level` must lie strictly between 0 and 1"),
        ({"level": 0}, InvalidArgumentError, "`level`"),
        ({"target": "world"}, InvalidArgumentError, "`target` must be one of pool, census"),
        ({"slope": "steep"}, InvalidArgumentError, "`slope` must be a number or one of"),
        ({"slope": [1, 2]}, InvalidArgumentError, "`slope` must be 1 finite number"),
        ({"slope": np.nan}, InvalidArgumentError, "`slope` must be 1 finite number"),
        ({"slope": "pooled"}, InvalidArgumentError, "`others` are needed"),
        ({"slope": "cross-fit", "folds": 1}, InvalidArgumentError, "`folds` must lie between 2"),
        ({"interval": "wide"}, InvalidArgumentError, "`interval` must be one of student"),
        ({"interval": "betting"}, InvalidArgumentError, "`bounds` are needed"),
        ({"bounds": (1, 0)}, InvalidArgumentError, "the lower first"),
        ({"bounds": (0, 2), "interval": "betting"}, InvalidArgumentError, "enclose every score"),
        ({"raters_as": "random"}, InvalidArgumentError, "`raters` are needed"),
        ({"raters_as": "random", "target": "census"}, InvalidArgumentError, "cannot go with"),
        ({"rater_variance": -1}, InvalidArgumentError, "`rater_variance`"),
        ({"resamples": 3}, InvalidArgumentError, "`resamples` must be at least 100"),
        (
            {"resamples": 1000, "level": 0.999, "interval": "bca"},
            InvalidArgumentError,
            "`resamples` must be at least 2000 for level 0.999",
        ),
        ({"target": "census"}, InvalidArgumentError, "needs `items`"),
        ({"metric": [2, 2, 2, 2, 2]}, NotEstimableError, "constant"),
        ({"metric_pool": [1, 2]}, InvalidArgumentError, "outside the pool's range"),
        ({"metric_pool": [1, 2], "items": range(5)}, InvalidArgumentError, "2 outputs in the pool"),
        ({"metric_pool": np.ones((9, 2))}, InvalidArgumentError, "same metrics"),
        ({"human": [1, 2, np.nan, 4, 5]}, InvalidArgumentError, "finite"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(change, error, message):
    good = {
        "human": [1, 3, 2, 4, 3],
        "metric": [1, 2, 3, 4, 5],
        "metric_pool": [1, 2, 3, 4, 5, 6],
    }
    with pytest.raises(error, match=message):
        control_variates(**{**good, **change})


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_outputs_are_refused(n):
    with pytest.raises(NotEstimableError, match="needs more than 3 judged outputs"):
        control_variates(np.arange(n), np.arange(n), np.arange(9))


def test_collinear_metrics_are_refused():
    pool = np.random.default_rng(0).normal(size=30)
    both = np.column_stack([pool, 2 * pool + 1])
    with pytest.raises(NotEstimableError, match="collinear"):
        control_variates(pool[:10] ** 2, both[:10], both)


def test_result_tells_how_it_was_made(campaign):
    got = control_variates(**campaign)
    assert got.signature.startswith("control-variates/least-squares/student|target=pool|")
    assert "N=200" in got.signature
    assert "steelyard=" in got.signature
    assert str(got).startswith(f"{got.estimate:.4f} [")
    assert "<table>" in got._repr_html_()
    with pytest.raises(dataclasses.FrozenInstanceError):
        got.estimate = 0
    keys = (
        "system prompt slice metrics method n_outputs n_judgments n_raters pool_size level target "
        "raters estimate standard_error low high baseline data_efficiency slope shares about "
        "new_outputs fixed_raters ledger notes"
    )
    assert list(got.to_dict()) == keys.split()
    assert list(got.to_dict()["baseline"]) == ["estimate", "standard_error", "low", "high"]
    ratio = (got.baseline.standard_error / got.standard_error) ** 2
    assert got.data_efficiency == pytest.approx(ratio)
