import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import PoolMoments, control_variates, sample_mean
from steelyard.errors import InvalidArgumentError, NotEstimableError

SLOPES = ["least-squares", "plug-in", [0.5, 0.1]]


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
    with pytest.raises(NotEstimableError, match=r"single point.*`rater_variance`"):
        sample_mean(human, items=range(5), pool_size=5, rater_variance=0)


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


@pytest.mark.parametrize("raters_as", ["fixed", "random"])
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


def test_a_perfect_fit_is_not_given_zero_width():
    pool = np.arange(30.0)
    with pytest.raises(NotEstimableError, match="predicts the judged outputs without error"):
        control_variates(pool[:10] / 30, pool[:10], pool)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"level": 1.5}, InvalidArgumentError, "`level` must lie strictly between 0 and 1"),
        ({"level": 0}, InvalidArgumentError, "`level`"),
        (
            {"target": "world"},
            InvalidArgumentError,
            "`target` must be one of pool, superpopulation",
        ),
        ({"slope": "steep"}, InvalidArgumentError, "`slope` must be a number or one of"),
        ({"slope": [1, 2]}, InvalidArgumentError, "`slope` must be 1 finite number"),
        ({"slope": np.nan}, InvalidArgumentError, "`slope` must be 1 finite number"),
        ({"raters_as": "adjusted"}, InvalidArgumentError, "`raters_as` must be one of fixed"),
        ({"raters_as": "random"}, InvalidArgumentError, "`raters` are needed"),
        ({"rater_variance": -1}, InvalidArgumentError, "`rater_variance`"),
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


def test_random_raters_agree_with_the_crossed_model_by_hand():
    # 6 outputs by both raters: weights 1/12 on judgments, 1/6 on outputs, 1/2 on raters, and the
    # two-way analysis of variance of a complete table gives item, leniency and residual
    table = np.array([[1, 2], [3, 5], [2, 4], [4, 5], [2, 2], [3, 3]], dtype=float)
    items, raters = np.repeat(range(6), 2), np.tile([0, 1], 6)
    got = sample_mean(table.ravel(), items=items, raters=raters, raters_as="random", pool_size=20)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    left = table - rows[:, None] - columns + table.mean()
    residual = (left**2).sum() / 5
    item = (2 * rows.var(ddof=1) - residual) / 2
    leniency = (6 * columns.var(ddof=1) - residual) / 6
    want = item * (1 / 6 - 1 / 20) + leniency / 2 + residual / 12
    assert got.standard_error**2 == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("raters_as", ["fixed", "random"])
def test_affine_change_of_scores_moves_the_interval_exactly(campaign, slope, raters_as):
    moved = {**campaign, "human": 3 * campaign["human"] - 100}
    steeper = slope if isinstance(slope, str) else 3 * np.array(slope)
    want = control_variates(**campaign, slope=slope, raters_as=raters_as)
    got = control_variates(**moved, slope=steeper, raters_as=raters_as)
    # REML stops within 1e-9 of the judgments, and so do random raters
    close = 1e-9 if raters_as == "fixed" else 1e-6
    assert got.estimate == pytest.approx(3 * want.estimate - 100, rel=1e-9)
    assert got.standard_error == pytest.approx(3 * want.standard_error, rel=close)
    assert (got.low, got.high) == pytest.approx(
        (3 * want.low - 100, 3 * want.high - 100), rel=close
    )


@pytest.mark.parametrize("slope", ["least-squares", "plug-in"])
def test_affine_change_of_the_metric_changes_nothing(campaign, slope):
    want = control_variates(**campaign, slope=slope)
    for scale, shift in (([2, -5], [1, 10]), ([1, 1e9], [0, 0])):
        moved = {
            **campaign,
            **{key: campaign[key] * scale + shift for key in ("metric", "metric_pool")},
        }
        got = control_variates(**moved, slope=slope)
        assert got.estimate == pytest.approx(want.estimate, rel=1e-9)
        assert got.standard_error == pytest.approx(want.standard_error, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), raters_as=st.sampled_from(["fixed", "random"]))
def test_row_order_never_matters(seed, raters_as):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=40)
    items, raters = np.repeat(np.arange(15), 2), rng.integers(0, 5, size=30)
    human = np.round(pool[items] + rng.normal(size=30))

    def found(order):
        arrays = (one[order] for one in (human, pool[items], items, raters))
        y, g, item, rater = arrays
        return control_variates(y, g, pool, items=item, raters=rater, raters_as=raters_as)

    got, want = found(np.random.default_rng(seed).permutation(30)), found(np.arange(30))
    assert (got.estimate, got.low, got.high) == pytest.approx((want.estimate, want.low, want.high))


def test_equal_judgments_are_refused():
    pool = np.arange(30.0)
    with pytest.raises(NotEstimableError, match=r"same mean judgment \(1\).*`ConfidenceSequence`"):
        control_variates(np.ones(10), pool[:10], pool)


def test_result_tells_how_it_was_made(campaign):
    got = control_variates(**campaign)
    assert got.method == "control-variates/least-squares"
    assert got.about == "these 200 outputs, by exactly these raters"
    assert str(got).startswith(f"{got.estimate:.4f} [")
    assert "<table" in got._repr_html_()
    assert got.to_dict()["baseline"]["estimate"] == got.baseline.estimate
    ratio = (got.baseline.standard_error / got.standard_error) ** 2
    assert got.data_efficiency == got.to_dict()["data_efficiency"] == pytest.approx(ratio)
    new = control_variates(**campaign, target="superpopulation", raters_as="random")
    assert new.about == "new outputs like these, by raters like these"
    with pytest.raises(dataclasses.FrozenInstanceError):
        got.estimate = 0
