import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest, chi2, t

from steelyard.design import Assumptions, Judged, Pair, Prices, plan
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.efficiency import efficiency_of
from steelyard.single.quantity import Quantity
from steelyard.study import Study

TYPED = Assumptions.typed(0.15, 0.30, 0.5)


def test_matches_a_hand_worked_example():
    # no pool, no metric, one judgment each: t_{n-1} sqrt(0.45 / n) <= 0.1 first at n = 176
    # (1.97361 * sqrt(0.45 / 176) = 0.09979; 1.97369 * sqrt(0.45 / 175) = 0.10008)
    got = plan(Assumptions.typed(0.15, 0.30), half_width=0.1, n_metrics=0, judgments_per_output=1)
    assert got.expected.outputs == 176
    assert got.expected.half_width == pytest.approx(1.97361 * np.sqrt(0.45 / 176), rel=1e-5)
    assert got.expected == got.expected_without
    assert got.expected.cost == 176


def test_a_spread_draw_has_four_fifths_of_the_degrees_of_freedom():
    # 20 judgments of variance 1/2 + 1/2: a standard error of 1 / sqrt(20), with 0.8 * 20 - 0.6 = 15.4 degrees.
    made = plan(Assumptions.typed(0.5, 0.5), budget=20, n_metrics=0, judged=Judged(spread=True))
    assert made.expected.outputs == 20
    assert made.expected.half_width == pytest.approx(stdtrit(15.4, 0.975) / np.sqrt(20), rel=1e-3)


def test_fewest_outputs_reach_the_goal_and_one_fewer_does_not():
    got = plan(
        TYPED, half_width=0.05, pool_size=2000, judgments_per_output=1, rater_variance_given=True
    ).expected

    def half_width(n):
        # of the 0.0375 that the metric explains, the learned control takes x / (x + 3)
        signal = n * 0.0375 / (0.1125 + 0.30)
        within = (0.15 - 0.0375 * signal / (signal + 3) + 0.30) * (1 - n / 2000) / n
        noise = 0.30 / 2000
        # the noise is known, so all doubt is about the other part
        freedom = (n - 1) * ((within + noise) / within) ** 2
        return stdtrit(freedom, 0.975) * np.sqrt(within + noise)

    assert half_width(got.outputs) <= 0.05 < half_width(got.outputs - 1)
    assert got.half_width == pytest.approx(half_width(got.outputs))


def test_one_judgment_of_each_output_gains_nothing_from_a_finite_pool():
    # `estimate` cannot tell rater noise then, and leaves out 1 - n/N: the 176 of an endless pool
    options = {"half_width": 0.1, "n_metrics": 0, "judgments_per_output": 1, "pool_size": 400}
    got = plan(Assumptions.typed(0.15, 0.30), **options)
    assert got.expected.outputs == 176
    assert "leaves out the finite-pool correction" in got.notes[-1]
    told = plan(Assumptions.typed(0.15, 0.30), **options, rater_variance_given=True)
    assert told.expected.outputs < 176
    assert "pass `--rater-variance 0.3` to `steelyard estimate`" in told.notes[-1]
    assert told.rater_variance_given


def test_second_judgments_are_proposed_where_they_are_cheaper():
    found = plan(Assumptions.typed(0.15, 0.10, 0.5), half_width=0.042, pool_size=600)
    once, twice = (
        plan(
            Assumptions.typed(0.15, 0.10, 0.5),
            half_width=0.042,
            pool_size=600,
            judgments_per_output=m,
        ).expected
        for m in (1, 2)
    )
    got = found.expected
    assert (got.judgments_per_output, once.second_judgments, twice.second_judgments) == (1, 0, 0)
    assert 10 <= got.second_judgments < got.outputs
    assert got.judgments == got.outputs + got.second_judgments == got.cost
    assert got.cost < 0.8 * min(once.cost, twice.cost)
    assert "the second judgments are of outputs chosen at random" in found.notes[-1]
    # without a finite pool there is no correction that they could make possible
    endless = plan(Assumptions.typed(0.15, 0.10, 0.5), half_width=0.042).expected
    assert endless.second_judgments == 0


def test_a_pair_is_two_outputs_and_two_judgments():
    # the 176 of the first example, each of which costs 2 * (0.5 + 1)
    options = {"n_metrics": 0, "judgments_per_output": 1, "prices": Prices(output=0.5)}
    differences = Assumptions.typed(0.15, 0.30)
    got = plan(differences, half_width=0.1, paired=True, **options).expected
    assert (got.pairs, got.outputs, got.judgments, got.cost) == (176, 352, 352, 528.0)
    assert got.to_dict()["pairs"] == 176
    one = plan(differences, half_width=0.1, **options).expected
    assert (one.pairs, one.outputs, one.cost) == (None, 176, 264.0)
    assert one.half_width == got.half_width
    # the other way round: the same money buys the same pairs
    bought = plan(differences, budget=528.0, paired=True, **options).expected
    assert (bought.pairs, bought.cost, bought.half_width) == (176, 528.0, got.half_width)
    assert plan(differences, budget=527.0, paired=True, **options).expected.pairs == 175


def test_second_judgments_of_pairs_are_of_both_outputs():
    differences = Assumptions.typed(0.15, 0.10, 0.5)
    got = plan(differences, half_width=0.042, pool_size=600, paired=True).expected
    assert got.second_judgments > 0
    assert got.outputs == 2 * got.pairs
    assert got.judgments == got.cost == got.outputs + got.second_judgments
    # V = (s + 0.1 h) / n - s / N with s what the control leaves, and k / n of the pairs judged twice
    n, k = got.pairs, got.second_judgments // 2
    h = 1 - k / (2 * n)
    signal = n * (0.0375 / (0.15 + 0.1 * h)) / (1 - 0.0375 / (0.15 + 0.1 * h))
    left = 0.15 - 0.0375 * signal / (signal + 3)
    variance = (left + 0.1 * h) / n - left / 600
    doubt = 2 * ((left + 0.1 * h) / n * (1 - n / 600)) ** 2 / (n - 1)
    doubt += 2 * (0.1 * h / 600) ** 2 / (2 * k)
    width = t.ppf(0.975, 2 * variance**2 / doubt) * np.sqrt(variance)
    assert got.half_width == pytest.approx(width, rel=1e-9)


def test_identical_outputs_need_no_judgment():
    # Of 600 items 300 differ; a difference over all is half of that over those.
    options = {"judgments_per_output": 1, "n_metrics": 0}
    differences = Assumptions.typed(0.15, 0.30)
    half = plan(differences, half_width=0.05, pool_size=600, paired=Pair(identical=0.5), **options)
    whole = plan(differences, half_width=0.1, pool_size=300, paired=True, **options)
    assert half.expected.pairs == whole.expected.pairs
    assert half.expected.half_width == pytest.approx(whole.expected.half_width / 2)
    assert any("300 of 600 items have identical outputs" in note for note in half.notes)
    with pytest.raises(InvalidArgumentError, match="`identical` must be at least 0 and below 1"):
        Pair(identical=1.0)


def test_a_plain_mean_that_cannot_reach_the_goal_does_not_stop_the_plan():
    got = plan(Assumptions.typed(0.15, 0.10, 0.5), half_width=0.04, pool_size=600)
    assert got.expected_without is not None
    # 1.964 * sqrt(0.25 / 600) = 0.0401
    once = plan(
        Assumptions.typed(0.15, 0.10, 0.5), half_width=0.04, pool_size=600, judgments_per_output=1
    )
    assert (once.expected_without, once.assured_without) == (None, None)
    assert once.to_dict()["expected_without_metric"] is None


def test_best_number_of_judgments_follows_the_square_root():
    # c_o / c_j = 8, sigma_a^2 / sigma_u^2 = 0.3 / (0.2 * 0.75) = 2: m* = 4
    got = plan(
        Assumptions.typed(0.2, 0.3, 0.5),
        half_width=0.02,
        prices=Prices(output=8.0, judgment=1.0),
    )
    assert got.best_judgments_per_output == pytest.approx(4)
    assert got.expected.judgments_per_output == 4
    free = plan(Assumptions.typed(0.2, 0.3, 0.5), half_width=0.02)
    assert free.expected.judgments_per_output == 1


def test_budget_is_spent_for_the_narrowest_interval():
    prices = Prices(output=0.5, judgment=0.25)
    got = plan(TYPED, budget=100.0, prices=prices, pool_size=1000)
    assert got.expected.cost <= 100
    wider = plan(TYPED, budget=50.0, prices=prices, pool_size=1000)
    assert wider.expected.half_width > got.expected.half_width
    for m in range(1, 8):
        other = plan(TYPED, budget=100.0, prices=prices, pool_size=1000, judgments_per_output=m)
        assert got.expected.half_width <= other.expected.half_width


def test_power_needs_more_than_half_width():
    # large n: (z_{0.975} + z_{0.8})^2 sigma^2 / delta^2
    seen = plan(
        Assumptions.typed(0.3, 0.6), difference=0.1, n_metrics=0, judgments_per_output=1
    ).expected
    normal = (ndtri(0.975) + ndtri(0.8)) ** 2 * 0.9 / 0.01
    assert seen.pairs == pytest.approx(normal, rel=0.01)
    assert seen.outputs == 2 * seen.pairs
    assert (
        seen.pairs
        > plan(
            Assumptions.typed(0.3, 0.6), half_width=0.1, n_metrics=0, judgments_per_output=1
        ).expected.outputs
    )


def test_assurance_takes_more_the_less_is_known():
    unsure = Assumptions(
        item_variance=Quantity(0.15, 0.1, 0.2),
        rater_variance=Quantity(0.30, 0.25, 0.36),
        correlation=Quantity(-0.5, -0.6, -0.3),
    )
    known, got = (
        plan(one, half_width=0.05) for one in (Assumptions.typed(0.15, 0.3, -0.5), unsure)
    )
    assert got.expected == known.expected
    assert got.expected.outputs < known.assured.outputs < got.assured.outputs
    surer = plan(unsure, half_width=0.05, assurance=0.95)
    assert surer.assured.outputs > got.assured.outputs
    assert got.data_efficiency.low < got.data_efficiency.value < got.data_efficiency.high
    with pytest.raises(InvalidArgumentError, match="`assurance` must lie between"):
        plan(unsure, half_width=0.05, assurance=1.0)


def test_assurance_at_known_values_is_about_the_sample_variance():
    # n with chi-square's 80% point: s^2 <= 1.197 / 1.120 sigma^2 at 175 outputs, so 1.083 times as many
    got = plan(Assumptions.typed(0.15, 0.30), half_width=0.1, n_metrics=0, judgments_per_output=1)
    n = got.assured.outputs
    widths = t.ppf(0.975, n - 1) * np.sqrt(0.45 / n * chi2.ppf(0.8, n - 1) / (n - 1))
    assert widths == pytest.approx(0.1, rel=0.01)


def test_a_goal_out_of_reach_with_assurance_is_said():
    unsure = Assumptions(
        item_variance=Quantity(0.15, 0.05, 0.6),
        rater_variance=Quantity(0.30, 0.1, 1.0),
        correlation=Quantity(0.0, 0.0, 0.0),
    )
    got = plan(unsure, half_width=0.1, pool_size=200, judgments_per_output=1)
    assert got.assured is None
    assert got.to_dict()["assured"] is None
    [note] = [one for one in got.notes if "with 80% assurance" in one]
    # and what can be promised: a goal just above it is
    least = float(note.split("half-width of ")[1].split()[0])
    assert least > 0.1
    assert plan(unsure, half_width=1.01 * least, pool_size=200, judgments_per_output=1).assured
    below = plan(unsure, half_width=0.98 * least, pool_size=200, judgments_per_output=1)
    assert below.assured is None


def test_a_correlation_that_may_be_zero_is_not_relied_on():
    unsure = Assumptions(
        item_variance=Quantity(0.15, 0.15, 0.15),
        rater_variance=Quantity(0.30, 0.30, 0.30),
        correlation=Quantity(0.3, -0.1, 0.6),
    )
    assert plan(unsure, half_width=0.05).data_efficiency.low == pytest.approx(1, abs=0.01)


def test_a_pilot_can_be_planned_from():
    rng = np.random.default_rng(0)
    score = rng.normal(size=100)
    items = np.repeat(np.arange(100), 2)
    human = score[items] + rng.normal(size=200)
    pilot = efficiency_of(human, (score + rng.normal(size=100))[items], items=items, level=0.8)
    got = plan(pilot, half_width=0.1, pool_size=5000)
    assert got.expected.outputs < got.assured.outputs <= got.assured_without.outputs


@settings(max_examples=50, deadline=None)
@given(
    item=st.floats(0.05, 2),
    rater=st.floats(0, 2),
    rho=st.floats(-0.95, 0.95),
    scale=st.floats(0.1, 10),
)
def test_scale_changes_nothing_and_a_better_metric_never_costs_more(item, rater, rho, scale):
    half_width = 0.2 * np.sqrt(item + rater)
    one = plan(Assumptions.typed(item, rater, rho), half_width=half_width)
    other = plan(
        Assumptions.typed(scale**2 * item, scale**2 * rater, rho), half_width=scale * half_width
    )
    assert abs(one.expected.outputs - other.expected.outputs) <= 1
    better = plan(Assumptions.typed(item, rater, min(abs(rho) + 0.04, 1.0)), half_width=half_width)
    assert better.expected.cost <= one.expected.cost


@settings(max_examples=25, deadline=None)
@given(
    item=st.floats(0.05, 2),
    rater=st.floats(0.05, 2),
    rho=st.floats(0, 0.9),
    size=st.integers(100, 3000),
    price=st.sampled_from([0.0, 1.0, 5.0]),
)
def test_a_finite_pool_is_planned_consistently(item, rater, rho, size, price):
    half_width = 0.2 * np.sqrt(item + rater)
    options = {"pool_size": size, "prices": Prices(output=price)}
    assumed = Assumptions.typed(item, rater, rho)
    one = plan(assumed, half_width=half_width, **options).expected
    assert one.half_width <= half_width * (1 + 1e-9)
    better = plan(Assumptions.typed(item, rater, rho + 0.05), half_width=half_width, **options)
    assert better.expected.cost <= one.cost
    coarser = plan(assumed, half_width=1.1 * half_width, **options).expected
    assert coarser.cost <= one.cost
    bought = plan(assumed, budget=one.cost, **options).expected
    assert bought.half_width <= one.half_width * (1 + 1e-9)


def test_a_budget_is_judged_by_what_it_buys():
    # the price is the same with the metric and without, and the interval is not
    good = plan(Assumptions.typed(0.15, 0.05, 0.8), budget=200.0)
    assert good.notes == ()
    useless = plan(Assumptions.typed(0.15, 0.05, 0.0), budget=200.0)
    assert any("not expected to save" in note for note in useless.notes)
    no_metric = plan(Assumptions.typed(0.15, 0.05), budget=200.0, n_metrics=0)
    assert no_metric.notes == ()


def test_notes_say_when_the_metric_is_not_worth_it():
    few = plan(Assumptions.typed(0.01, 0.01, 0.5), half_width=0.1)
    assert any("below about 20" in note for note in few.notes)
    useless = plan(Assumptions.typed(0.15, 0.3, 0.0), half_width=0.05)
    assert any("not expected to save" in note for note in useless.notes)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"judgments_per_output": 1},
        {"judgments_per_output": 2},
        {"rater_variance_given": True},
    ],
    ids=["cheapest", "once", "twice", "told"],
)
def test_realised_half_width_is_the_planned_one(correlation, options):
    from populations import population

    rng = np.random.default_rng([len(str(options)), int(10 * correlation)])
    size = 600
    # this population has item and rater variance one half each
    made = plan(
        Assumptions.typed(0.5, 0.5, correlation), half_width=0.09, pool_size=size, **options
    ).expected
    given = 0.5 if "rater_variance_given" in options else None
    realised = []
    for _ in range(40):
        pool = population("normal", rng, size=size, correlation=correlation)
        found = realised_estimate(made, pool, rng, rater_variance=given)
        realised.append(found.half_width)
    assert np.mean(realised) == pytest.approx(made.half_width, rel=0.05)


def realised_estimate(made, pool, rng, **options):
    """Collect what was planned and estimate from it, as people do."""
    size = len(pool.metric)
    drawn = rng.permutation(size)[: made.outputs]
    rounds = [drawn] * made.judgments_per_output + [drawn[: made.second_judgments]]
    items = np.concatenate(rounds)
    study = Study.read(
        pl.DataFrame({"item": range(size), "system": "s", "metric": pool.metric}),
        pl.DataFrame(
            {
                "item": items,
                "system": "s",
                "rater": np.repeat(np.arange(len(rounds)), [len(one) for one in rounds]),
                "prompt": "p",
                "score": pool.judge(items, rng),
            }
        ),
    )
    [found] = study.estimate(["metric"], **options)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("judgments", [1, 2, None])
def test_a_difference_is_seen_with_the_planned_power(judgments):
    # differences stand for judgments, one a pair, as `plan` counts them
    from populations import population

    size, difference = 1500, 0.15
    made = plan(
        Assumptions.typed(0.5, 0.5, 0.5),
        difference=difference,
        pool_size=size,
        judgments_per_output=judgments,
        paired=False,
    ).expected
    seen = 0
    for run in range(300):
        rng = np.random.default_rng([7, run])
        pool = population("normal", rng, size=size, correlation=0.5)
        found = realised_estimate(made, pool, rng)
        truth = float(np.mean(pool.score))
        seen += found.low - truth + difference > 0
    assert binomtest(seen, 300, 0.8).pvalue > 0.01


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"half_width": None}, InvalidArgumentError, "exactly one of"),
        ({"budget": 3.0}, InvalidArgumentError, "exactly one of"),
        ({"half_width": -1.0}, InvalidArgumentError, "`half_width` must be above zero"),
        ({"half_width": None, "budget": 0.0}, InvalidArgumentError, "`budget` must be above"),
        ({"half_width": None, "difference": 0.0}, InvalidArgumentError, "`difference` must not"),
        (
            {"half_width": None, "difference": 1.0, "power": 1.0},
            InvalidArgumentError,
            "`power` must lie",
        ),
        ({"level": 1.0}, InvalidArgumentError, "`level` must lie"),
        ({"pool_size": 1}, InvalidArgumentError, "`pool_size` must be at least 2"),
        ({"judgments_per_output": 0}, InvalidArgumentError, "`judgments_per_output`"),
        ({"n_metrics": -1}, InvalidArgumentError, "`n_metrics`"),
        ({"half_width": 0.001, "pool_size": 100}, NotEstimableError, "even judging all 100"),
        ({"half_width": None, "budget": 2.0}, NotEstimableError, "does not buy enough"),
        (
            {"half_width": 0.01, "pool_size": 100, "judgments_per_output": 1},
            NotEstimableError,
            "all 100 outputs once gives .* judge outputs more than once",
        ),
        (
            {"half_width": 0.001, "pool_size": 100, "paired": True},
            NotEstimableError,
            "even judging all 100 pairs",
        ),
    ],
)
def test_bad_arguments_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        plan(TYPED, **{"half_width": 0.05, **change})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((-0.1, 0.3, 0.5), "`item_variance` must be"),
        ((0.1, float("nan"), 0.5), "`rater_variance` must be"),
        ((0.1, 0.3, 1.5), "`correlation` must lie"),
        ((0.0, 0.0, 0.5), "cannot both be zero"),
    ],
)
def test_bad_assumptions_are_refused(values, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Assumptions.typed(*values)


def test_free_judgments_are_refused():
    with pytest.raises(InvalidArgumentError, match="above zero for a judgment"):
        Prices(output=1.0, judgment=0.0)
