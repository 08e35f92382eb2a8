from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from steelyard import sample_mean
from steelyard.arrays import (
    PoolMoments,
    clustered,
    judged_outputs,
    simple_draw,
    stratified_draw,
    unequal_draw,
)
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem, alike_squares

SIZE = 200
FIXED, ADJUSTED = Options(), Options(raters_as="adjusted")


def system(human, items, pool, raters=None):
    """Judge outputs of a pool of metrics that may have gaps; items are numbers of its rows."""
    human, items = np.asarray(human, dtype=float), np.asarray(items)
    sample = judged_outputs(human, None, items, raters=raters)
    whole = np.where(np.isfinite(pool), pool, np.nanmean(pool, axis=0) if pool.size else 0.0)
    drawn = np.unique(items)
    if raters is not None:
        raters = np.asarray(raters)[np.lexsort((raters, human, items))]
    return JudgedSystem(
        sample, simple_draw(sample, len(pool)), pool[drawn], drawn, raters, PoolMoments.of(whole)
    )


def parts(seed=0, *, k=4, n=20, p=3, m=1, raters=8, lenient=0.5, shared=False):
    """Judgments, items, pools and raters of k systems."""
    rng = np.random.default_rng(seed)
    together = rng.choice(SIZE, n, replace=False)
    leniency, made = lenient * rng.normal(size=raters), []
    for number in range(k):
        quality = rng.normal(size=SIZE) + number
        pool = 0.7 * quality[:, np.newaxis] + 0.7 * rng.normal(size=(SIZE, p))
        items = np.repeat(together if shared else rng.choice(SIZE, n, replace=False), m)
        rater = rng.integers(0, raters, n * m)
        human = quality[items] + leniency[rater] + 0.5 * rng.normal(size=n * m)
        made.append((human, items, pool, rater))
    return made


def estimates(made, options=FIXED):
    return campaign_means([system(*one) for one in made], options=options)


def same(got, want, *, a=0.0, b=1.0, rel=1e-9):
    """Check that intervals are those of scores a + b y."""
    for one, other in zip(got, want, strict=True):
        ends = sorted([a + b * other.low, a + b * other.high])
        tolerance = rel * abs(b) * (other.high - other.low)
        assert one.estimate == pytest.approx(a + b * other.estimate, abs=tolerance)
        assert [one.low, one.high] == pytest.approx(ends, abs=tolerance)
        assert one.standard_error == pytest.approx(abs(b) * other.standard_error, rel=rel)


def test_one_system_without_metrics_is_the_plain_mean():
    (human, items, pool, _) = parts(k=1, p=0, m=2)[0]
    got = estimates([(human, items, pool)])[0]
    want = sample_mean(human, items=items, pool_size=SIZE)
    for name in ("estimate", "standard_error", "low", "high", "degrees_of_freedom"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), abs=1e-10)
    assert got.baseline is None


def test_one_system_with_a_useless_metric_has_the_plain_mean_as_baseline():
    human, items, pool, _ = parts(k=1, p=1)[0]
    got = estimates([(human, items, pool)])[0]
    same([got.baseline], [sample_mean(human, items=items, pool_size=SIZE)])
    assert got.method == "learned-control/student"


@pytest.mark.parametrize("options", [FIXED, ADJUSTED, Options(raters_as="random")])
class TestInvariance:
    def test_order_of_rows(self, options):
        made, rng = parts(1), np.random.default_rng(0)
        shuffled = []
        for human, items, pool, raters in made:
            order = rng.permutation(len(human))
            shuffled.append((human[order], items[order], pool, raters[order]))
        same(estimates(shuffled, options), estimates(made, options))

    def test_order_of_systems(self, options):
        made = parts(2, shared=True)
        same(estimates(made[::-1], options)[::-1], estimates(made, options))

    @pytest.mark.parametrize(("a", "b"), [(0, 1e-4), (3, -2), (-50, 7e4)])
    def test_affine_changes_of_scores(self, options, a, b):
        made = parts(3, m=2)
        changed = [(a + b * human, *rest) for human, *rest in made]
        same(estimates(changed, options), estimates(made, options), a=a, b=b, rel=1e-6)

    def test_affine_changes_of_metrics(self, options):
        made = parts(4)
        scale = np.array([1e-6, -3.0, 1e6])
        changed = [(human, items, 5 * scale + scale * pool, r) for human, items, pool, r in made]
        same(estimates(changed, options), estimates(made, options), rel=1e-7)

    def test_names_of_raters(self, options):
        made = parts(5)
        name = np.random.default_rng(1).permutation(100)
        renamed = [(human, items, pool, name[raters]) for human, items, pool, raters in made]
        same(estimates(renamed, options), estimates(made, options), rel=1e-7)

    def test_a_metric_that_does_not_vary(self, options):
        made = parts(6)
        more = [
            (human, items, np.column_stack([pool, np.full(SIZE, 0.3)]), raters)
            for human, items, pool, raters in made
        ]
        same(estimates(more, options), estimates(made, options))


def test_large_scores_lose_no_digits():
    made = parts(7, p=1)
    changed = [(1e6 + 1e-3 * human, *rest) for human, *rest in made]
    same(estimates(changed), estimates(made), a=1e6, b=1e-3, rel=1e-4)


@pytest.mark.parametrize("draw", ["strata", "probabilities", "clusters"])
def test_a_draw_that_is_simple_in_fact_gives_the_simple_result(draw):
    systems = [system(*one) for one in parts(8, m=2)]
    want = campaign_means(systems, options=ADJUSTED)
    made = []
    for one in systems:
        n = one.sample.n_outputs
        drawn = {
            "strata": lambda one=one, n=n: stratified_draw(
                one.sample, np.full(n, "all"), {"all": SIZE}
            ),
            "probabilities": lambda one=one, n=n: unequal_draw(
                one.sample, np.full(n, n / SIZE), SIZE
            ),
            "clusters": lambda one=one, n=n: clustered(one.draw, np.arange(n)),
        }[draw]()
        made.append(replace(one, draw=drawn))
    same(campaign_means(made, options=ADJUSTED), want)


def test_outputs_that_are_alike_in_clusters_count_once_and_borrow_as_single_ones_do():
    made = parts(8, k=5, p=0)
    want = estimates([one[:3] for one in made])
    systems = []
    for human, items, pool, _ in made:
        twice = system(
            np.tile(human, 2), np.concatenate([items, SIZE + items]), np.tile(pool, (2, 1))
        )
        draw = clustered(twice.draw, twice.items % SIZE)
        systems.append(replace(twice, draw=draw, clusters=twice.items % SIZE))
    got = campaign_means(systems, options=FIXED)
    same(got, want)
    assert {one.method for one in got} == {"clustered-mean/borrowed"}


def recorded(one, kind):
    """Return the system with another draw of its outputs."""
    n = one.sample.n_outputs
    half = np.arange(n) % 2
    if kind == "strata":
        return replace(one, draw=stratified_draw(one.sample, half, {0: 80, 1: SIZE - 80}))
    if kind == "probabilities":
        return replace(one, draw=unequal_draw(one.sample, np.linspace(0.05, 0.2, n), SIZE))
    return replace(one, draw=clustered(one.draw, np.arange(n) // 2), items=np.arange(n) // 2)


@pytest.mark.parametrize("kind", ["strata", "probabilities", "clusters"])
@pytest.mark.parametrize("options", [FIXED, ADJUSTED])
def test_every_draw_goes_through(kind, options):
    systems = [recorded(system(*one), kind) for one in parts(9)]
    for got in campaign_means(systems, options=options):
        assert got.low < got.estimate < got.high
    with pytest.raises(InvalidArgumentError, match="`target` must be pool or census"):
        campaign_means(systems, options=Options(target="superpopulation"))


def flat(one, value=1.0):
    human = np.full(one.sample.n_judgments, value)
    mean = np.full(one.sample.n_outputs, value)
    return replace(one, sample=replace(one.sample, human=human, mean=mean, within=0 * mean))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", ["simple", "strata", "probabilities", "clusters"])
def test_a_system_without_spread_gets_an_honest_width(k, kind):
    systems = [system(*one) for one in parts(10, k=k)]
    first = systems[0] if kind == "simple" else recorded(systems[0], kind)
    found = campaign_means([flat(first), *systems[1:]], options=FIXED)
    got = found[0]
    assert got.estimate == pytest.approx(1.0)
    assert got.slope == (0, 0, 0)
    # one more output at the other end of all scores
    scores = np.concatenate([[1.0], *(one.sample.human for one in systems[1:])])
    least = np.ptp(scores) / np.sqrt(21 * 20)
    assert got.half_width > least
    # and it does not tell the others that anything may happen
    plain = campaign_means(systems, options=FIXED)
    for one, other in zip(found[1:], plain[1:], strict=True):
        assert one.half_width < 1.5 * other.half_width


def test_rare_errors_of_others_do_not_shorten_the_interval_of_a_system_with_many():
    # Eight systems with one or two errors in 50 outputs have long tails; one with 13 has not, and is t's.
    errors = (1, 1, 1, 1, 2, 2, 2, 2, 13)
    scores = [(np.arange(50) >= number).astype(float) for number in errors]
    found = estimates([(one, np.arange(50), np.empty((SIZE, 0))) for one in scores])
    usual = ttest_1samp(scores[-1], 0).confidence_interval(0.95)
    assert found[-1].high - found[-1].low >= 0.95 * (usual.high - usual.low)
    # A system with one error borrows: its own spread would be too small half of the time.
    few = ttest_1samp(scores[0], 0).confidence_interval(0.95)
    assert found[0].high - found[0].low > 1.2 * (few.high - few.low)


def test_systems_that_never_differ_have_no_interval_without_bounds():
    systems = [flat(system(*one)) for one in parts(11)]
    for got in campaign_means(systems, options=FIXED):
        with pytest.raises(NotEstimableError, match="pass `bounds`"):
            raise got
    for got in campaign_means(systems, options=Options(bounds=(0, 1))):
        assert got.low < got.high <= 1


def test_one_judged_output_does_not_end_the_rest():
    made = parts(12)
    human, items, pool, raters = made[0]
    alone = (human[:1], items[:1], pool, raters[:1])
    for options in (FIXED, ADJUSTED):
        first, *others = estimates([alone, *made[1:]], options)
        with pytest.raises(NotEstimableError, match="at least 2 judged outputs; got 1"):
            raise first
        assert all(other.low < other.estimate < other.high for other in others)


def test_a_pool_that_was_judged_whole_has_its_mean():
    rng = np.random.default_rng(13)
    made = []
    for _ in range(4):
        pool = rng.normal(size=(20, 2))
        made.append((pool[:, 0] + rng.normal(size=20), np.arange(20), pool))
    for (human, _, _), got in zip(made, estimates(made), strict=True):
        assert got.slope[0] > 0.1
        assert got.estimate == pytest.approx(human.mean(), abs=1e-12)
    for (human, _, _), got in zip(made, estimates(made, Options(target="census")), strict=True):
        assert got.low == got.high == pytest.approx(human.mean())
        assert "known exactly" in got.notes[0]


def test_raters_who_cannot_be_told_from_systems_are_fixed_with_a_note():
    made = parts(14, k=5, lenient=3.0)
    own = [(human, items, pool, np.full(20, k)) for k, (human, items, pool, _) in enumerate(made)]
    for options in (ADJUSTED, Options(raters_as="random")):
        got = estimates(own, options)
        same(got, estimates(own))
        assert {one.raters for one in got} == {"fixed"}
        assert all("leniency cannot be told apart" in one.notes[-1] for one in got)


def test_few_raters_are_pointed_out():
    got = estimates(parts(15, raters=2, lenient=2.0), ADJUSTED)
    assert all("only 2 raters" in one.notes[-1] for one in got)
    assert not any(
        "raters:" in note for one in estimates(parts(15), ADJUSTED) for note in one.notes
    )


def test_unknown_raters_cannot_be_a_sample():
    made = parts(16)
    with pytest.raises(InvalidArgumentError, match="`raters` are needed to see raters as a sample"):
        estimates([made[0][:3], *made[1:]], ADJUSTED)


def test_scores_outside_bounds_are_refused():
    with pytest.raises(InvalidArgumentError, match="bounds"):
        estimates(parts(17), Options(bounds=(0, 0.5)))


def test_a_pool_known_to_be_judged_without_noise_is_a_point():
    rng = np.random.default_rng(18)
    made = [(rng.normal(size=9), np.arange(9), rng.normal(size=(9, 1))) for _ in range(2)]
    for got in estimates(made, Options(rater_variance=0.0)):
        with pytest.raises(NotEstimableError, match='use target="census"'):
            raise got


def test_no_system_gives_no_estimate():
    assert campaign_means([], options=FIXED) == []


def test_gaps_leave_estimates_unbiased():
    # the first system has no second metric, all have gaps in the third, the fourth is constant
    rng = np.random.default_rng(19)
    pools = []
    for number in range(4):
        quality = rng.normal(size=SIZE)
        pool = 0.7 * quality[:, np.newaxis] + 0.7 * rng.normal(size=(SIZE, 4))
        pool[rng.random(SIZE) < 0.3, 2] = np.nan
        pool[:, 3] = 7.0
        if number == 0:
            pool[:, 1] = 0.0
        pools.append((quality, pool))
    errors, plain = [], []
    for _ in range(200):
        made = []
        for quality, pool in pools:
            items = rng.choice(SIZE, 15, replace=False)
            made.append((quality[items] + 0.5 * rng.normal(size=15), items, pool))
        got = estimates(made)
        truth = [quality.mean() for quality, _ in pools]
        errors.append([one.estimate - mean for one, mean in zip(got, truth, strict=True)])
        plain.append([np.mean(human) - mean for (human, *_), mean in zip(made, truth, strict=True)])
    assert (ttest_1samp(errors, 0).pvalue > 1e-3).all()
    assert np.mean(np.square(errors)) < 0.8 * np.mean(np.square(plain))


def test_variances_of_systems_on_the_same_items_vary_together_as_their_squares_do():
    rng = np.random.default_rng(3)
    items = np.arange(30)
    scores = [rng.normal(size=30) for _ in range(3)]
    scores.append(2 * scores[0] + 1)
    pool = np.empty((SIZE, 0))
    systems = [system(one, items, pool) for one in scores]
    squares = [(one - one.mean()) ** 2 for one in scores]
    between = np.corrcoef(squares)[np.triu_indices(4, 1)]
    assert alike_squares(systems, [one.sample for one in systems]) == pytest.approx(between.mean())
    apart = [system(one, items + 40 * number, pool) for number, one in enumerate(scores)]
    assert alike_squares(apart, [one.sample for one in apart]) == pytest.approx(0, abs=1e-12)
