from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.errors import NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.borrowed import Spread, borrowed_spread, long_tailed_freedoms
from steelyard.estimate.compared_judgments import ComparedJudgments, Shared
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import campaign_differences
from steelyard.estimate.pair_clusters import PairClusters
from steelyard.estimate.pair_variance import PairScores, SideScores

NEW = Options(target="superpopulation")


def judged(scores, items, *, raters=None, metric=None, pool=None, clusters=None):
    """A system of which `items` were judged, in that order."""
    items, scores = np.asarray(items), np.asarray(scores, dtype=float)
    order = np.argsort(items, kind="stable")
    sample = judged_outputs(scores, None, items, raters=raters)
    distinct = np.unique(items)
    columns = np.empty((len(distinct), 0)) if metric is None else metric[distinct][:, None]
    return JudgedSystem(
        sample=sample,
        draw=simple_draw(sample, None),
        metric=columns,
        items=distinct,
        raters=None if raters is None else np.asarray(raters)[order],
        pool=pool,
        clusters=None if clusters is None else np.asarray(clusters)[np.argsort(items)],
    )


def nothing_shared(systems, pairs, size=0):
    return [
        Shared(size, 0, tuple(np.ones(systems[one].sample.n_outputs, dtype=bool) for one in pair))
        for pair in pairs
    ]


def differences(systems, options=NEW, pairs=None, shared=None):
    pairs = list(combinations(range(len(systems)), 2)) if pairs is None else pairs
    shared = nothing_shared(systems, pairs) if shared is None else shared
    return campaign_differences(systems, pairs, shared, options=options)


def scores(seed=0, k=2, n=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + rng.normal(size=(k, n)) + np.arange(k)[:, None] / 3


def test_one_judgment_each_on_the_same_items_is_the_paired_t_test():
    a, b = scores()
    [got] = differences([judged(a, range(30)), judged(b, range(30))])
    want = stats.ttest_rel(a, b)
    interval = want.confidence_interval()
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high), abs=1e-10)
    assert got.p_value == pytest.approx(want.pvalue, abs=1e-10)
    assert got.degrees_of_freedom == pytest.approx(29, abs=1e-9)
    assert got.n_items == 30


def counts(seed, k, n=20):
    """Error counts, of which a few are many."""
    quality = np.random.default_rng(seed).normal(size=(k + 1, n))
    return -np.round(np.expm1(np.clip(1.2 * (quality[0] + quality[1:]), 0, None)))


@pytest.mark.parametrize(("made", "lengthened"), [(scores, False), (counts, True)])
def test_what_all_pairs_show_of_long_tails_only_lengthens_intervals(made, lengthened):
    rows = made(1, n=20, k=6)
    longer = []
    for one in differences([judged(row, range(20)) for row in rows]):
        alone = stats.ttest_rel(rows[one.a], rows[one.b]).confidence_interval()
        assert one.difference == pytest.approx(rows[one.a].mean() - rows[one.b].mean())
        longer.append((one.high - one.low) / (alone.high - alone.low))
    assert min(longer) > 1 - 1e-12
    assert (np.median(longer) > 1.1) == lengthened


def test_spread_of_the_same_items_is_lent_as_between_variances_of_differences():
    rows = counts(4, 6)
    differing = [rows[a] - rows[b] for a, b in combinations(range(6), 2)]
    variances = np.array([one.var(ddof=1) for one in differing])
    centred = [one - one.mean() for one in differing]
    freedoms = long_tailed_freedoms(centred, variances, np.full(15, 19.0))
    expected = borrowed_spread(variances, freedoms)
    campaign = ComparedJudgments.of([judged(row, range(20)) for row in rows], NEW)
    every = np.arange(20), np.arange(20)
    most = 5 / 2 * freedoms[0]
    for variance, pair in zip(variances, combinations(range(6), 2), strict=True):
        got, doubt = campaign.tails.moderated(campaign.scores_of(pair, every))
        lent = Spread(expected.variance, min(expected.freedom, most))
        want, freedom = lent.moderated(variance, freedoms[0])
        assert got == pytest.approx(want / 20)
        assert 2 * got**2 / doubt == pytest.approx(freedom)


def test_a_judgment_that_is_missing_does_not_end_what_pairs_lend():
    systems = [judged(row, range(20)) for row in counts(1, 6)]
    whole = {(one.a, one.b): one for one in differences(systems)}
    systems[0] = judged(counts(1, 6)[0, :19], range(19))
    for one in differences(systems):
        if one.a:
            width = whole[one.a, one.b].high - whole[one.a, one.b].low
            assert one.high - one.low == pytest.approx(width, rel=0.05)


def test_systems_on_items_of_their_own_lend_spread_too():
    rows = counts(1, 6, n=120)
    systems = [judged(row[i::6], range(i, 120, 6)) for i, row in enumerate(rows)]
    longer = []
    for one in differences(systems):
        alone = stats.ttest_ind(rows[one.a, one.a :: 6], rows[one.b, one.b :: 6], equal_var=False)
        ends = alone.confidence_interval()
        longer.append((one.high - one.low) / (ends.high - ends.low))
    assert min(longer) > 1 - 1e-12
    assert max(longer) > 1.1


def test_two_pairs_of_one_campaign_have_the_intervals_that_all_pairs_have():
    systems = [judged(row, range(20)) for row in counts(2, 5)]
    every = {(one.a, one.b): one for one in differences(systems)}
    [one] = differences(systems, pairs=[(1, 3)])
    assert (one.low, one.high) == (every[1, 3].low, every[1, 3].high)


def test_many_systems_lend_what_neighbours_show():
    rows = counts(3, 160, n=10)
    systems = [judged(row, range(10)) for row in rows]
    found = differences(systems, pairs=[(0, 1), (5, 80)])
    order = np.random.default_rng(0).permutation(160)
    place = {int(number): position for position, number in enumerate(order)}
    other = differences([systems[i] for i in order], pairs=[(place[0], place[1])])
    assert other[0].high == pytest.approx(found[0].high, rel=1e-9)


def test_different_items_are_welchs_t_test():
    a, b = scores()
    [got] = differences([judged(a, range(30)), judged(b[:12], range(40, 52))])
    want = stats.ttest_ind(a, b[:12], equal_var=False)
    interval = want.confidence_interval()
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high), abs=1e-10)
    assert got.p_value == pytest.approx(want.pvalue, abs=1e-10)
    assert got.n_items == 0


def test_the_doubt_about_the_variance_is_that_of_simulated_normal_scores():
    rng = np.random.default_rng(3)
    n, m, c = 30, 24, 18
    found, expected = [], []
    for _ in range(4000):
        item = rng.normal(size=n + m - c)
        a = item[:n] + rng.normal(size=n)
        b = item[n - c :] + rng.normal(size=m)
        sides = (
            SideScores(np.arange(n), a, np.ones(n, int)),
            SideScores(np.arange(n - c, n + m - c), b, np.ones(m, int)),
        )
        value, doubt = PairScores.of(*sides).variance()
        found.append(value)
        expected.append(doubt)
    assert np.mean(found) == pytest.approx(2 / n + 2 / m - 2 * c / (n * m), rel=0.02)
    assert np.mean(expected) == pytest.approx(np.var(found), rel=0.12)


def test_the_doubt_with_all_items_shared_is_the_closed_form():
    a, b = scores(1, n=12)
    count = np.ones(12, int)
    sides = SideScores(np.arange(12), a, count), SideScores(np.arange(12), b, count)
    value, doubt = PairScores.of(*sides).variance()
    assert value == pytest.approx(np.var(a - b, ddof=1) / 12, abs=1e-12)
    assert doubt == pytest.approx(2 * value**2 / 11, abs=1e-12)


def campaign(seed=0, k=3, n=40):
    rng = np.random.default_rng(seed)
    metric = rng.normal(size=(k, 100))
    found = []
    for number in range(k):
        items = np.sort(rng.permutation(60)[:n])
        items = np.concatenate([items, items[:10]])
        raters = rng.integers(0, 6, len(items))
        y = metric[number][items] + 0.3 * raters + rng.normal(size=len(items)) + number / 2
        order = np.lexsort((raters, y, items))
        pool = PoolMoments.of(metric[number])
        one = judged(y[order], items[order], raters=raters[order], metric=metric[number], pool=pool)
        found.append(one)
    return found


ADJUSTED = Options(raters_as="adjusted")


def test_swapping_the_names_changes_signs_only():
    systems = campaign()
    pairs = list(combinations(range(3), 2))
    shared = nothing_shared(systems, pairs, 100)
    turned = [(b, a) for a, b in pairs]
    back = nothing_shared(systems, turned, 100)
    for one, other in zip(
        differences(systems, ADJUSTED, pairs, shared),
        differences(systems, ADJUSTED, turned, back),
        strict=True,
    ):
        assert one.difference == pytest.approx(-other.difference, abs=1e-12)
        assert one.simultaneous_low == pytest.approx(-other.simultaneous_high, abs=1e-12)
        assert one.p_value == pytest.approx(other.p_value, abs=1e-12)


def test_the_order_of_systems_does_not_matter():
    systems = campaign()
    order = [2, 0, 1]
    forward = {(one.a, one.b): one for one in differences(systems, ADJUSTED)}
    back = differences([systems[number] for number in order], ADJUSTED)
    for one in back:
        a, b = order[one.a], order[one.b]
        sign, same = (1, forward[a, b]) if (a, b) in forward else (-1, forward[b, a])
        assert one.difference == pytest.approx(sign * same.difference, abs=1e-9)
        assert one.simultaneous_high - one.difference == pytest.approx(
            same.simultaneous_high - same.difference, abs=1e-9
        )


def test_another_scale_of_the_scores_changes_nothing_else():
    plain = differences(campaign(), ADJUSTED)
    moved = []
    for one in campaign():
        human = 7 + 3 * one.sample.human
        sample = judged_outputs(human, None, one.items[one.sample.output], raters=one.raters)
        by = np.lexsort((np.unique(one.raters, return_inverse=True)[1], human, one.sample.output))
        moved.append(
            JudgedSystem(sample, one.draw, one.metric, one.items, one.raters[by], one.pool)
        )
    for one, other in zip(plain, differences(moved, ADJUSTED), strict=True):
        assert other.difference == pytest.approx(3 * one.difference, abs=1e-9)
        assert other.simultaneous_low == pytest.approx(3 * one.simultaneous_low, abs=1e-9)


def test_identical_outputs_contribute_exactly_zero():
    a, b = scores(n=20)
    differs = np.arange(20) < 8
    systems = [judged(a, range(20)), judged(b, range(20))]
    shared = [Shared(20, 12, (differs, differs))]
    [got] = differences(systems, Options(rater_variance=1e9), shared=shared)
    want = stats.ttest_rel(a[:8], b[:8])
    assert got.difference == pytest.approx(0.4 * np.mean(a[:8] - b[:8]), abs=1e-12)
    assert got.high - got.difference == pytest.approx(
        0.4 * (want.confidence_interval().high - np.mean(a[:8] - b[:8])), abs=1e-10
    )
    assert (got.n_items, got.identical_items) == (8, 12)
    other = [judged(np.where(differs, a, 99), range(20)), systems[1]]
    [same] = differences(other, Options(rater_variance=1e9), shared=shared)
    assert (same.low, same.high) == pytest.approx((got.low, got.high), abs=1e-12)


def test_a_copy_differs_by_exactly_zero():
    a, _ = scores(n=20)
    same = np.zeros(20, dtype=bool)
    systems = [judged(a, range(20)), judged(a[::-1], range(20))]
    [got] = differences(systems, shared=[Shared(20, 20, (same, same))])
    assert (got.difference, got.low, got.high, got.simultaneous_low) == (0, 0, 0, 0)
    assert (got.p_value, got.n_judgments) == (1, 0)


def test_the_control_is_centred_where_the_two_differ():
    """With identical outputs a control that averages zero over the pool does not over the rest."""
    rng = np.random.default_rng(0)
    size, n = 400, 60
    errors = []
    for _ in range(60):
        same = np.arange(size) < size // 2
        metric = rng.normal(size=(2, size)) + np.array([[0.0], [3.0]])
        metric[1, same] = metric[0, same]
        truth = metric + 0.1 * rng.normal(size=(2, size))
        truth[1, same] = truth[0, same]
        items = np.sort(rng.permutation(size)[:n])
        systems = [
            judged(truth[one][items], items, metric=metric[one], pool=PoolMoments.of(metric[one]))
            for one in range(2)
        ]
        gaps = tuple((one - one.mean())[~same].mean(keepdims=True) for one in metric)
        shared = [Shared(size, size // 2, (~same[items], ~same[items]), gaps)]
        [got] = differences(systems, Options(), shared=shared)
        errors.append(got.difference - (truth[0] - truth[1]).mean())
    assert stats.ttest_1samp(errors, 0).pvalue > 0.001


def test_equal_differences_do_not_claim_certainty():
    a, _ = scores(n=10)
    [got] = differences([judged(a, range(10)), judged(a, range(10))])
    # One more difference at the other end of the scale: range^2 / (10 * 11).
    assert got.standard_error == pytest.approx(np.ptp(a) / np.sqrt(110))
    with pytest.raises(NotEstimableError, match="all judgments are equal"):
        raise differences([judged(np.ones(5), range(5)), judged(np.ones(5), range(5))])[0]


def test_once_all_is_judged_only_rater_noise_is_left():
    a, b = scores(n=50)
    systems = [judged(a, range(50)), judged(b, range(50))]
    shared = nothing_shared(systems, [(0, 1)], 50)
    [got] = differences(systems, Options(rater_variance=0.5), shared=shared)
    assert got.standard_error == pytest.approx(np.sqrt(2 * 0.5 / 50))
    [exact] = differences(systems, Options(rater_variance=0.0), shared=shared)
    assert (exact.standard_error, exact.p_value) == (pytest.approx(0, abs=1e-8), pytest.approx(0))


def test_one_output_of_a_system_is_too_few():
    a, b = scores(n=10)
    [got] = differences([judged(a, range(10)), judged(b[:1], range(1))])
    assert isinstance(got, NotEstimableError)
    assert "at least 2 judged outputs" in str(got)


def test_leniency_of_a_rater_who_judged_both_outputs_of_an_item_cancels():
    rng = np.random.default_rng(0)
    a, b = scores(n=40, seed=4)
    raters = rng.integers(0, 8, 40)
    lenient = 3 * rng.normal(size=8)[raters]
    one, other = (
        judged(a + lenient, range(40), raters=raters),
        judged(b + lenient, range(40), raters=raters),
    )
    [got] = differences([one, other], Options(target="superpopulation", raters_as="random"))
    assert got.standard_error == pytest.approx(stats.sem(a - b), rel=1e-6)


def test_clusters_of_one_size_are_a_paired_t_test_of_their_means():
    a, b = scores(n=40)
    documents = np.repeat(np.arange(8), 5)
    systems = [judged(one, range(40), clusters=documents) for one in (a, b)]
    [got] = differences(systems)
    want = stats.ttest_rel(a.reshape(8, 5).mean(axis=1), b.reshape(8, 5).mean(axis=1))
    interval = want.confidence_interval()
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high), abs=1e-10)
    assert got.degrees_of_freedom == pytest.approx(7, abs=1e-9)


def lenient_crew(seed, *, k, n=20, raters=25):
    """Systems on the same items, each output by a rater at random, who differ more than outputs do."""
    rng = np.random.default_rng(seed)
    leniency = 1.5 * rng.normal(size=raters)
    who = rng.integers(0, raters, (k, n))
    given = rng.normal(size=n) + 0.7 * rng.normal(size=(k, n)) + leniency[who]
    return [judged(row, range(n), raters=own) for row, own in zip(given, who, strict=True)]


def test_leniency_is_the_share_that_all_pairs_expect_of_a_variance():
    adjusted = Options(target="superpopulation", raters_as="adjusted")
    systems = lenient_crew(3, k=6)
    campaign = ComparedJudgments.of(systems, adjusted)
    every = np.arange(20), np.arange(20)
    for pair in combinations(range(6), 2):
        both = campaign.scores_of(pair, every)
        own, lent = campaign.error(pair, every, both, 1.0)
        value, doubt = both.variance()
        expected, _ = campaign.tails.moderated(both)
        shares = [campaign._rater_shares(one, np.arange(20)) for one in pair]
        share = min(campaign.leniency.variance * both.leniency(*shares) / expected, 0.95)
        # Had the other pairs lent nothing, the error of the variance would count in full.
        less = 1 - share * campaign.tails.lent(both)
        assert (own.value, own.doubt) == pytest.approx((value * (1 - share), doubt * less**2))
        assert lent.value == pytest.approx(expected * (1 - share))


def test_degrees_of_freedom_are_not_lost_where_raters_differ_much():
    adjusted = Options(target="superpopulation", raters_as="adjusted")
    freedom = [one.degrees_of_freedom for one in differences(lenient_crew(3, k=8), adjusted)]
    # Taken off each variance by itself, leniency left 1.4 of 19, and intervals of any length.
    assert np.median(freedom) > 7


def test_clusters_of_one_item_change_nothing():
    a, b = scores(n=30)
    plain = differences([judged(a, range(30)), judged(b, range(30))])
    alone = [judged(one, range(30), clusters=np.arange(30)) for one in (a, b)]
    [got], [want] = differences(alone), plain
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-10)


def test_the_expected_squares_of_clusters_are_those_of_the_whole_covariance_matrix():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, 20), rng.integers(0, 6, 17)
    # The first 9 items of both sides are the same, so they lie in the same clusters.
    b[:9] = a[:9]
    got = PairClusters.of(a, b, a[:9])
    covariance = np.zeros((37, 37))
    covariance[np.diag_indices(37)] = np.repeat([1.5, 0.8], [20, 17])
    for item in range(9):
        covariance[item, 20 + item] = covariance[20 + item, item] = 0.4
    sums = np.zeros((6, 37))
    for position, cluster in enumerate(np.concatenate([a, b])):
        sums[cluster, position] = 1 / 20 if position < 20 else -1 / 17
    around = np.eye(37)
    around[:20, :20] -= 1 / 20
    around[20:, 20:] -= 1 / 17
    B = sums @ around @ covariance @ around.T @ sums.T
    trace, freedom = got.expected(1.5, 0.8, 0.4)
    assert trace == pytest.approx(np.trace(B), abs=1e-12)
    assert freedom == pytest.approx(np.trace(B) ** 2 / np.trace(B @ B), abs=1e-9)
    scores_a, scores_b = rng.normal(size=20), rng.normal(size=17)
    residuals = scores_a - scores_a.mean(), scores_b - scores_b.mean()
    t = sums @ around @ np.concatenate([scores_a, scores_b])
    assert got.squares(*residuals) == pytest.approx(t @ t, abs=1e-12)


def test_leniency_in_clusters_is_that_of_simulated_raters():
    rng = np.random.default_rng(1)
    documents = np.repeat(np.arange(10), 4)
    raters = rng.integers(0, 5, (2, 40))
    shares = [csr_array((np.ones(40), (np.arange(40), one)), (40, 5)) for one in raters]
    a, b = scores(n=40, seed=7)
    both = PairScores.of(
        *(SideScores(np.arange(40), one, np.ones(40, int), documents) for one in (a, b))
    )
    expected = both.leniency(*shares)
    factor = both.variance()[0] / both.clusters.squares(both.a.residual, both.b.residual)
    found = []
    for _ in range(4000):
        lenient = rng.normal(size=5)
        sides = (lenient[one] - lenient[one].mean() for one in raters)
        found.append(factor * both.clusters.squares(*sides))
    assert expected == pytest.approx(np.mean(found), rel=0.05)


def test_one_cluster_is_too_few():
    a, b = scores(n=10)
    systems = [judged(one, range(10), clusters=np.zeros(10, int)) for one in (a, b)]
    [got] = differences(systems)
    assert isinstance(got, NotEstimableError)
    assert "at least 2 of them for each system; got 1" in str(got)
