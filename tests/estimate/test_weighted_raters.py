from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from steelyard import control_variates, draw_sample, sample_mean
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.stratified import stratified_mean
from steelyard.estimate.weighted import weighted_mean
from steelyard.variance.crossed import crossed_components

ROWS = ("human", "probability", "metric", "items", "raters")


@pytest.fixture
def campaign():
    """80 judgments by 7 raters of 40 outputs of a pool of 120, drawn with unequal probabilities."""
    rng = np.random.default_rng(8)
    metric_pool = rng.normal(size=(120, 2))
    probability = 0.15 + 0.4 / (1 + np.exp(metric_pool[:, 0]))
    # one to three judgments an output; a rater may judge an output twice
    items = np.repeat(rng.choice(120, 40, replace=False), rng.permutation([1, 2, 2, 3] * 10))
    raters = rng.integers(0, 7, size=80)
    leniency = 0.7 * rng.normal(size=7)
    noise = rng.normal(size=120)[items] + rng.normal(size=80)
    return {
        "human": metric_pool[items] @ [0.8, 0.2] + leniency[raters] + noise,
        "probability": probability[items],
        "pool_size": 120,
        "metric": metric_pool[items],
        "metric_pool": metric_pool,
        "items": items,
        "raters": raters,
    }


def table(outputs, raters, *, seed):
    """Every rater judges every output of a pool of 100; probabilities are equal."""
    rng = np.random.default_rng(seed)
    metric_pool = rng.normal(size=100)
    items, who = np.repeat(np.arange(outputs), raters), np.tile(np.arange(raters), outputs)
    human = (metric_pool + rng.normal(size=100))[items] + rng.normal(size=len(items))
    human += 0.7 * rng.normal(size=raters)[who]
    return human, metric_pool[items], metric_pool, {"items": items, "raters": who}


def test_matches_a_hand_worked_example():
    # Two certain outputs, two with probability 1/2 of four that are left. As for fixed raters, what
    # lies between outputs is 8/36: r = 2, 6 give Q = 4, tr B = 2, k = (10 - 6)/36.
    # b gives 1, 3, 1, 3 more than a: sums of squares 0.5 4.5 0.5 4.5, weighted (5 + 2 * 5)/6 = 2.5,
    # which with x = (1 + 1 + 2 + 2)/36/2 = 1/12 adds 7.5/36.
    # Mean squares of the table: raters 8, residual (4 * 1/2)/3 = 2/3, so leniency (8 - 2/3)/4 = 11/6.
    # Each rater has half the weight: 1/2 - x = 5/12 of it, or 27.5/36; the table has no q.
    human = [8.5, 9.5, 5.5, 8.5, 0.5, 1.5, 1.5, 4.5]
    got = weighted_mean(
        human,
        np.repeat([1, 1, 0.5, 0.5], 2),
        pool_size=6,
        items=np.repeat(range(4), 2),
        raters=list("abababab"),
        raters_as="random",
        form="horvitz-thompson",
    )
    assert got.estimate == pytest.approx((9 + 7 + 2 * 1 + 2 * 3) / 6)
    assert got.standard_error**2 == pytest.approx((8 + 7.5 + 27.5) / 36)
    # doubt: 2 (8/36)^2 on 1 degree of freedom, and the mean squares on 1 and 3: the leniency and the
    # residual make 1/2 (R - E)/4 + E/12 = R/8 - E/24
    doubt = 2 * (8 / 36) ** 2 + 2 * (8 / 8) ** 2 + 2 / 3 * (2 / 3 / 24) ** 2
    assert got.degrees_of_freedom == pytest.approx(2 * (43 / 36) ** 2 / doubt)
    assert (got.raters, got.n_raters) == ("random", 2)


def by_matrices(campaign, form, slope):
    """The whole of it from the judgments themselves, with a matrix for each quadratic form."""
    human, raters, metric = (campaign[name] for name in ("human", "raters", "metric"))
    _, first, output = np.unique(campaign["items"], return_index=True, return_inverse=True)
    pi, g, n = campaign["probability"][first], metric[first], len(first)
    of_output = (output == np.arange(n)[:, None]).astype(float)
    m = of_output.sum(axis=1)
    mean = of_output / m[:, None]
    by_rater = (raters[:, None] == np.arange(7)).astype(float)
    plain = 1 / pi / ((1 / pi).sum() if form == "hajek" else campaign["pool_size"])
    w, left = plain, np.eye(n)
    if isinstance(slope, str):
        X, root = np.column_stack([np.ones(n), g]), 1 / np.sqrt(pi)[:, None]
        solver = np.linalg.lstsq(X * root, root * np.eye(n), rcond=None)[0][1:]
        w = plain + (campaign["metric_pool"].mean(axis=0) - plain @ g) @ solver
        left = left - g @ solver
        components = crossed_components(human, output, raters, covariates=metric)
    else:
        human = human - metric @ slope
        components = crossed_components(human, output, raters)
    if form == "hajek":
        left = left - plain @ left
    T = left / pi[:, None]
    T = T - (1 - pi) @ T / (1 - pi).sum()
    A = T.T @ np.diag(1 - pi) @ T
    between = (w @ w - plain**2 @ pi) / np.trace(A) * mean.T @ A @ mean
    x = (plain**2 * pi / m).sum()
    within = np.diag(1 / pi[output]) @ (np.eye(len(human)) - of_output.T @ mean)
    within *= x / ((m - 1) / pi).sum()
    fixed = between + within
    per_rater = ((w @ mean @ by_rater) ** 2).sum()
    excess = per_rater - np.trace(by_rater.T @ fixed @ by_rater)
    value = human @ fixed @ human + components.leniency * excess
    moved = np.array([0, per_rater - np.trace(by_rater.T @ between @ by_rater), x])
    doubt = 2 * (human @ between @ human) ** 2 * np.trace(A @ A) / np.trace(A) ** 2
    doubt += moved @ components.covariance @ moved
    return SimpleNamespace(
        value=value,
        degrees_of_freedom=2 * value**2 / doubt,
        fixed=fixed,
        excess=excess,
        weights=w @ mean,
        exhausted=plain**2 @ pi,
        of_output=of_output,
        by_rater=by_rater,
    )


@pytest.mark.parametrize("form", ["hajek", "horvitz-thompson"])
@pytest.mark.parametrize("slope", ["least-squares", [0.5, 0.1]])
def test_agrees_with_whole_matrices(campaign, form, slope):
    got = weighted_mean(**campaign, form=form, slope=slope, raters_as="random")
    want = by_matrices(campaign, form, slope)
    assert got.standard_error**2 == pytest.approx(want.value, rel=1e-10)
    assert got.degrees_of_freedom == pytest.approx(want.degrees_of_freedom, rel=1e-10)


@pytest.mark.parametrize("form", ["hajek", "horvitz-thompson"])
@pytest.mark.parametrize("slope", ["least-squares", [0.5, 0.1]])
def test_its_expectation_is_the_variance_of_the_error(campaign, form, slope):
    # two judgments an output; outputs of variance 1.3 around the fit, leniency 0.7, residual 0.4
    twice = np.repeat(np.unique(campaign["items"], return_index=True)[1], 2)
    raters = np.concatenate([[i % 7, (i + 1 + i // 7) % 7] for i in range(40)])
    even = campaign | {name: campaign[name][twice] for name in ROWS} | {"raters": raters}
    made = by_matrices(even, form, slope)
    V = 1.3 * made.of_output.T @ made.of_output + 0.7 * made.by_rater @ made.by_rater.T
    V += 0.4 * np.eye(80)
    error = made.weights @ V @ made.weights - 1.3 * made.exhausted
    assert np.trace(made.fixed @ V) + 0.7 * made.excess == pytest.approx(error)
    assert made.excess > 0.1


@pytest.mark.parametrize("form", ["hajek", "horvitz-thompson"])
@pytest.mark.parametrize("slope", ["least-squares", 0.8])
def test_equal_probabilities_give_control_variates_when_all_judge_all(form, slope):
    # then the analysis of variance is both views of the components, up to where REML stops
    human, metric, pool, who = table(30, 5, seed=2)
    got = weighted_mean(
        human,
        np.full(150, 0.3),
        pool_size=100,
        metric=metric,
        metric_pool=pool,
        slope=slope,
        form=form,
        raters_as="random",
        **who,
    )
    want = control_variates(human, metric, pool, slope=slope, raters_as="random", **who)
    same_numbers(got, want)
    same_numbers(got.baseline, want.baseline)
    plain = sample_mean(human, pool_size=100, raters_as="random", **who)
    same_numbers(got.baseline, plain)


def same_numbers(got, want):
    assert got.estimate == pytest.approx(want.estimate, rel=1e-12)
    for name in ("standard_error", "low", "high", "degrees_of_freedom"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-7)


def test_equal_probabilities_are_near_the_other_estimators_otherwise(campaign):
    equal = campaign | {"probability": np.full(80, 1 / 3)}
    got = weighted_mean(**equal, raters_as="random")
    human, metric, pool = (campaign[name] for name in ("human", "metric", "metric_pool"))
    who = {name: campaign[name] for name in ("items", "raters")} | {"raters_as": "random"}
    want = control_variates(human, metric, pool, **who)
    assert got.estimate == pytest.approx(want.estimate, rel=1e-12)
    # outputs' and residual variance come from sums of squares here, from the crossed model there
    assert got.standard_error == pytest.approx(want.standard_error, rel=0.03)
    strata = np.zeros(80), {0.0: 120}
    want = stratified_mean(human, *strata, metric=metric, metric_pool=pool, **who)
    assert got.standard_error == pytest.approx(want.standard_error, rel=0.01)
    assert got.degrees_of_freedom == pytest.approx(want.degrees_of_freedom, rel=0.1)


@pytest.mark.parametrize("form", ["hajek", "horvitz-thompson"])
def test_leniency_widens_the_interval_and_leaves_the_estimate(campaign, form):
    fixed = weighted_mean(**campaign, form=form)
    random = weighted_mean(**campaign, form=form, raters_as="random")
    assert (random.estimate, random.slope) == (fixed.estimate, fixed.slope)
    assert random.standard_error > 1.2 * fixed.standard_error
    assert random.degrees_of_freedom < 15  # seven raters tell little of leniency
    assert (fixed.raters, random.raters, random.baseline.raters) == ("fixed", "random", "random")


def test_raters_who_judged_once_each_change_nothing(campaign):
    campaign = campaign | {"rater_variance": 1.0}
    got = weighted_mean(**(campaign | {"raters": np.arange(80)}), raters_as="random")
    assert got.standard_error == weighted_mean(**campaign).standard_error
    assert any("no rater has two judgments" in note for note in got.notes)


@settings(max_examples=15, deadline=None)
@given(shift=st.floats(-50, 50), scale=st.floats(0.1, 20), seed=st.integers(0, 1000))
def test_scale_order_and_names_do_not_matter(shift, scale, seed):
    rng = np.random.default_rng(5)
    pool = rng.normal(size=60)
    items, raters = np.repeat(rng.choice(60, 20, replace=False), 2), rng.integers(0, 5, size=40)
    rows = {
        "human": pool[items] + raters / 2 + rng.normal(size=40),
        "probability": (0.2 + 0.01 * np.arange(60))[items],
        "metric": pool[items],
        "items": items,
        "raters": raters,
    }
    whole = {"pool_size": 60, "metric_pool": pool, "raters_as": "random"}
    base = weighted_mean(**rows, **whole)
    order = np.random.default_rng(seed).permutation(40)
    changed = {name: values[order] for name, values in rows.items()}
    changed["human"] = shift + scale * changed["human"]
    changed["raters"] = np.array(list("vwxyz"))[(changed["raters"] + seed) % 5]
    got = weighted_mean(**changed, **whole)
    assert got.estimate == pytest.approx(shift + scale * base.estimate, abs=1e-8)
    assert got.standard_error == pytest.approx(scale * base.standard_error, rel=1e-5)
    assert got.degrees_of_freedom == pytest.approx(base.degrees_of_freedom, rel=1e-4)


def test_one_judgment_an_output_leaves_the_finite_pool_factor_out(campaign):
    _, first = np.unique(campaign["items"], return_index=True)
    once = campaign | {name: campaign[name][first] for name in ROWS}
    got = weighted_mean(**once, raters_as="random")
    assert any("finite-pool correction is left out" in note for note in got.notes)
    # all but the leniency is known from a pilot then
    known = weighted_mean(**once, raters_as="random", rater_variance=1.5)
    fixed = weighted_mean(**once, rater_variance=1.5)
    assert fixed.standard_error < known.standard_error < got.standard_error
    # judgments that are draws with replacement have no factor either
    apart = weighted_mean(**(once | {"items": None}), raters_as="random")
    assert apart.standard_error == pytest.approx(got.standard_error)


def test_a_pool_that_was_drawn_whole_leaves_the_raters():
    human, _, _, who = table(12, 4, seed=3)
    got = weighted_mean(human, np.ones(48), pool_size=12, raters_as="random", **who)
    found = crossed_components(human, who["items"], who["raters"])
    assert got.standard_error**2 == pytest.approx(found.leniency / 4 + found.residual / 48)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"raters": None}, "`raters` are needed to see raters as a sample"),
        ({"raters": [1, 2]}, r"`raters` must have shape \(80,\)"),
        ({"raters_as": "adjusted"}, '"adjusted" weights judgments by their raters'),
        ({"target": "census"}, '"census" speaks of the raters at hand'),
        ({"target": "superpopulation"}, "`target` must be pool or census"),
        ({"raters_as": "some"}, "`raters_as` must be one of fixed, random, adjusted; got 'some'"),
    ],
)
def test_wrong_arguments_are_named(campaign, change, message):
    with pytest.raises(InvalidArgumentError, match=message):
        weighted_mean(**(campaign | {"raters_as": "random"} | change))


def test_refuses_what_cannot_be_told(campaign):
    with pytest.raises(NotEstimableError, match="at least two raters"):
        weighted_mean(**(campaign | {"raters": np.zeros(80)}), raters_as="random")
    with pytest.raises(NotEstimableError, match="told apart"):
        weighted_mean(**(campaign | {"raters": campaign["items"]}), raters_as="random")


def coverage(runs, follows, *, form="hajek", metric=True, lenient=0.35, grows=0.0):
    """Campaigns in which one of twelve raters gives a fifth of the judgments.

    60 of 200 outputs are drawn in proportion to a size that `follows` the metric, the size of the
    metric's error or its inverse, the scores themselves, or the noise of single judgments. Leniency
    is in proportion to the size's power `grows`.
    """
    rng = np.random.default_rng([runs, len(follows), metric])
    load = np.array([0.2] + [0.8 / 11] * 11)
    found = {"fixed": [], "random": []}
    errors = []
    for run in range(runs):
        g, risk = rng.normal(size=(2, 200))
        uneven = np.exp(0.5 * risk - 0.25)  # of mean square 1
        spread = {"error": uneven, "inverse": np.exp(-0.5 * risk - 0.25)}.get(follows, 1.0)
        rest = risk if follows == "score" else spread * rng.normal(size=200)
        score = 0.6 * g + np.sqrt(0.5) * rest
        size = np.exp(0.5 * (g if follows == "metric" else risk))
        draw = draw_sample(200, 60, design="proportional-to-size", size=size, seed=[run, runs])
        items = np.repeat(draw.positions, 2)
        raters = np.concatenate([rng.choice(12, 2, replace=False, p=load) for _ in range(60)])
        noise = np.sqrt(0.375) * (uneven[items] if follows == "noise" else 1.0)
        human = score[items] + noise * rng.normal(size=120)
        human += (lenient * rng.normal(size=12))[raters] * (size**grows / np.mean(size**grows))[
            items
        ]
        shared = {"metric": g[items], "metric_pool": g} if metric else {}
        for view, rows in found.items():
            got = weighted_mean(
                human,
                np.repeat(draw.probability, 2),
                pool_size=200,
                items=items,
                raters=raters,
                raters_as=view,
                form=form,
                **shared,
            )
            rows.append((got.low <= score.mean() <= got.high, got.standard_error**2))
        errors.append(got.estimate - score.mean())
    return {view: np.array(rows) for view, rows in found.items()}, np.array(errors)


def covers(hits):
    return binomtest(int(hits.sum()), len(hits), 0.95).pvalue > 0.001


@pytest.mark.parametrize(("follows", "form"), [("error", "hajek"), ("score", "horvitz-thompson")])
def test_random_raters_cover_where_fixed_ones_do_not(follows, form):
    found, _ = coverage(120, follows, form=form, lenient=0.5)
    assert covers(found["random"][:, 0])
    assert not covers(found["fixed"][:, 0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("follows", "options"),
    [
        ("metric", {}),
        ("metric", {"metric": False}),
        ("error", {}),
        ("error", {"form": "horvitz-thompson"}),
        ("inverse", {}),
        ("score", {}),
        ("score", {"metric": False}),
        ("noise", {}),
    ],
)
def test_components_need_no_weights_whatever_the_probabilities_follow(follows, options):
    # would the draw bias the leniency or what is taken off, the mean variance would tell
    found, errors = coverage(1000, follows, **options)
    assert covers(found["random"][:, 0])
    assert found["fixed"][:, 0].mean() < 0.91
    assert ttest_1samp(errors, 0).pvalue > 0.001
    # the variance of 1000 errors is itself uncertain by 4.5%
    assert 0.87 < found["random"][:, 1].mean() / errors.var() < 1.15
