"""One stratum, equal probabilities and clusters of one output are a simple draw, to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from steelyard import PoolMoments, control_variates, sample_mean, stratified_mean, weighted_mean
from steelyard.arrays import PoolArray, drawn_outputs, simple_draw
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.error_variance import fixed_raters, residual_parts, satterthwaite
from steelyard.estimate.options import Options
from steelyard.estimate.slope import fit_slope

N, SIZE = 30, 90
MODES = [
    ("pool", "fixed"),
    ("pool", "random"),
    ("pool", "adjusted"),
    ("census", "fixed"),
    ("superpopulation", "fixed"),
    ("superpopulation", "random"),
]


@pytest.fixture
def campaign():
    """66 judgments by 6 raters of 30 of 90 outputs; a pair of neighbours shares a document."""
    rng = np.random.default_rng(7)
    pool = rng.normal(size=(SIZE, 2))
    document = np.arange(SIZE) // 6
    score = pool @ [0.6, 0.2] + rng.normal(size=SIZE) + rng.normal(size=SIZE // 6)[document]
    drawn = np.concatenate([np.arange(6 * d, 6 * d + 6) for d in rng.choice(15, 5, replace=False)])
    items = np.concatenate([np.repeat(drawn, 2), drawn[:6]])
    raters = rng.integers(0, 6, size=len(items))
    human = score[items] + 0.4 * rng.normal(size=6)[raters] + rng.normal(size=len(items))
    return {
        "human": human,
        "metric": pool[items],
        "metric_pool": pool,
        "items": items,
        "raters": raters,
        "documents": document[items],
    }


def simple(campaign, **options):
    rows = {name: campaign[name] for name in ("human", "metric", "metric_pool")}
    return control_variates(**rows, items=campaign["items"], raters=campaign["raters"], **options)


def same(got, want, rel=1e-9):
    for name in ("estimate", "standard_error", "low", "high", "degrees_of_freedom", "slope"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=rel), name
    if want.baseline is not None:
        same(got.baseline, want.baseline, rel)


@pytest.mark.parametrize(("target", "raters_as"), MODES)
@pytest.mark.parametrize("slope", ["least-squares", [0.5, 0.1]])
def test_every_door_gives_the_simple_result_for_a_simple_draw(campaign, target, raters_as, slope):
    options = {"target": target, "raters_as": raters_as}
    want = simple(campaign, slope=slope, **options)
    shared = {name: campaign[name] for name in ("metric", "metric_pool", "items", "raters")}
    size = len(campaign["human"])
    combined = "combined" if isinstance(slope, str) else slope
    one = stratified_mean(
        campaign["human"], ["all"] * size, {"all": SIZE}, slope=combined, **shared, **options
    )
    same(one, want)
    equal = np.full(size, N / SIZE)
    for form in ("hajek", "horvitz-thompson"):
        got = weighted_mean(
            campaign["human"], equal, pool_size=SIZE, slope=slope, form=form, **shared, **options
        )
        same(got, want)
    same(simple(campaign, slope=slope, clusters=campaign["items"], **options), want)


def test_clusters_of_one_output_change_no_design(campaign):
    human, items, metric = (campaign[name] for name in ("human", "items", "metric"))
    strata = np.where(metric[:, 0] > 0, "high", "low")
    sizes = {"high": int((campaign["metric_pool"][:, 0] > 0).sum())}
    sizes["low"] = SIZE - sizes["high"]
    one, other = (
        stratified_mean(human, strata, sizes, items=items, clusters=clusters)
        for clusters in (None, items)
    )
    same(one, other)
    probability = 0.2 + 0.2 / (1 + np.exp(metric[:, 0]))
    one, other = (
        weighted_mean(human, probability, pool_size=SIZE, items=items, clusters=clusters)
        for clusters in (None, items)
    )
    same(one, other)


def fitted(campaign):
    sample, _ = drawn_outputs(campaign["human"], campaign["metric"], campaign["items"], recorded={})
    draw = simple_draw(sample, SIZE)
    pool = PoolArray.of(campaign["metric_pool"])
    fit = fit_slope(sample, draw, pool, "least-squares", rng=np.random.default_rng(0))
    return fit, sample, draw, pool


def test_traces_count_as_many_degrees_of_freedom_as_outputs_less_fitted_numbers(campaign):
    fit, _, draw, _ = fitted(campaign)
    # the way of clusters, taken with clusters of one output each
    alone = replace(draw, cluster=np.arange(N))
    for limited in (False, True):
        [want] = residual_parts(fit, draw, limited=limited)
        [got] = residual_parts(fit, alone, limited=limited)
        assert got.variance == pytest.approx(want.variance)
        assert got.degrees_of_freedom == pytest.approx(want.degrees_of_freedom)
        assert got.degrees_of_freedom == pytest.approx(N - 3)
        assert got.coefficient == pytest.approx(want.coefficient)


def test_the_error_variance_is_a_sum_of_parts_that_can_be_replaced(campaign):
    fit, sample, draw, pool = fitted(campaign)
    found = fixed_raters(fit, sample, draw, pool, options=Options())
    outputs, noise = found.parts
    assert (outputs.name, noise.name) == ("outputs", "rater noise")
    assert found.value == pytest.approx(simple(campaign).standard_error ** 2)
    assert outputs.variance == pytest.approx(fit.residual @ fit.residual / (N - 3))
    assert outputs.coefficient == pytest.approx(fit.weights @ fit.weights - 1 / SIZE)
    moderated = replace(outputs, variance=2 * outputs.variance, degrees_of_freedom=60.0)
    other = replace(found, parts=(moderated, noise))
    assert other.value == pytest.approx(found.value + outputs.value)
    want = satterthwaite((2 * outputs.value, 60.0), (noise.value, noise.degrees_of_freedom))
    assert other.degrees_of_freedom == pytest.approx(want)


def test_clusters_of_one_size_are_a_sample_of_cluster_means():
    # five clusters of four outputs: the interval is that of their five means
    rng = np.random.default_rng(1)
    clusters = np.repeat(list("abcde"), 4)
    human = rng.normal(size=20) + np.repeat(rng.normal(size=5), 4)
    got = sample_mean(human, clusters=clusters)
    want = sample_mean(human.reshape(5, 4).mean(axis=1))
    same(got, want)
    assert got.degrees_of_freedom == pytest.approx(4)
    # of a pool of 40 outputs, or ten clusters, half is drawn
    half = sample_mean(human, items=range(20), pool_size=40, clusters=clusters, target="census")
    assert half.standard_error == pytest.approx(got.standard_error * np.sqrt(1 / 2))


def test_order_and_scale_do_not_matter_with_clusters(campaign):
    want = simple(campaign, clusters=campaign["documents"], raters_as="random")
    order = np.random.default_rng(3).permutation(len(campaign["human"]))
    rows = ("human", "metric", "items", "raters", "documents")
    changed = campaign | {name: campaign[name][order] for name in rows}
    changed["human"] = 5 + 3 * changed["human"]
    for name in ("metric", "metric_pool"):
        changed[name] = 2 - 7 * changed[name]
    got = simple(changed, clusters=changed["documents"], raters_as="random")
    assert got.estimate == pytest.approx(5 + 3 * want.estimate)
    assert got.standard_error == pytest.approx(3 * want.standard_error, rel=1e-5)
    assert want.method == "clustered-control-variates/least-squares/student"


def test_intervals_over_clusters_cover_where_those_over_outputs_do_not():
    rng = np.random.default_rng(11)
    runs, hits = 250, np.zeros(2, dtype=int)
    for _ in range(runs):
        sizes = rng.integers(2, 6, size=15)
        clusters = np.repeat(np.arange(15), sizes)
        metric = rng.normal(size=len(clusters))
        human = metric + rng.normal(size=15)[clusters] + 0.7 * rng.normal(size=len(clusters))
        # the mean over the pool's metric, with clusters drawn from many
        pool = PoolMoments(10**6, np.zeros(1), np.eye(1), np.full(1, -9.0), np.full(1, 9.0))
        for number, known in enumerate((None, clusters)):
            got = control_variates(human, metric, pool, clusters=known)
            hits[number] += got.low <= 0 <= got.high
    assert binomtest(int(hits[1]), runs, 0.95).pvalue > 0.001
    assert hits[0] < 0.88 * runs


def test_what_clusters_cannot_do_is_refused_by_name(campaign):
    documents = campaign["documents"]
    for options, message in (
        ({"target": "superpopulation"}, "`target` must be pool or census"),
        ({"raters_as": "adjusted"}, '`raters_as` "adjusted" weights judgments by their raters'),
        ({"interval": "bca"}, '`interval` must be "student"'),
        ({"interval": "betting", "bounds": (-9, 9)}, '`interval` must be "student"'),
        ({"slope": "cross-fit"}, "`slope` must be a number or least-squares"),
        ({"bounds": (0, 1)}, "`bounds` must enclose every score"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            simple(campaign, clusters=documents, **options)
    with pytest.raises(InvalidArgumentError, match="`clusters` must be the same for all judgments"):
        simple(campaign, clusters=np.arange(len(documents)))
    with pytest.raises(NotEstimableError, match="at least 2 of them; got 1"):
        simple(campaign, clusters=np.zeros(len(documents)))
    with pytest.raises(InvalidArgumentError, match="'y' has outputs in several"):
        stratified_mean(
            [1, 2, 3, 4], list("aabb"), {"a": 9, "b": 9}, items=range(4), clusters=list("xyyz")
        )
