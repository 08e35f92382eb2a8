import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit

from steelyard.design import Assumptions, Prices, plan
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import Quantity, efficiency_of

TYPED = Assumptions.typed(0.15, 0.30, 0.5)


def test_matches_a_hand_worked_example():
    # no pool, no metric, one judgment each: t_{n-1} sqrt(0.45 / n) <= 0.1 first at n = 176
    # (1.97361 * sqrt(0.45 / 176) = 0.09979; 1.97369 * sqrt(0.45 / 175) = 0.10008)
    got = plan(Assumptions.typed(0.15, 0.30), half_width=0.1, n_metrics=0, judgments_per_output=1)
    assert got.expected.outputs == 176
    assert got.expected.half_width == pytest.approx(1.97361 * np.sqrt(0.45 / 176), rel=1e-5)
    assert got.expected == got.expected_without
    assert got.expected.cost == 176


def test_fewest_outputs_reach_the_goal_and_one_fewer_does_not():
    got = plan(TYPED, half_width=0.05, pool_size=2000, judgments_per_output=1).expected

    def half_width(n):
        spread = (0.15 * 0.75 + 0.30) * (1 - n / 2000) / n * (1 + 1 / (n - 3)) + 0.30 / 2000
        return stdtrit(n - 2, 0.975) * np.sqrt(spread)

    assert half_width(got.outputs) <= 0.05 < half_width(got.outputs - 1)
    assert got.half_width == pytest.approx(half_width(got.outputs))


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
    assert seen.outputs == pytest.approx(normal, rel=0.01)
    assert (
        seen.outputs
        > plan(
            Assumptions.typed(0.3, 0.6), half_width=0.1, n_metrics=0, judgments_per_output=1
        ).expected.outputs
    )


def test_conservative_case_takes_the_costly_end_of_each_interval():
    unsure = Assumptions(
        item_variance=Quantity(0.15, 0.1, 0.2),
        rater_variance=Quantity(0.30, 0.25, 0.36),
        correlation=Quantity(-0.5, -0.6, -0.3),
    )
    got = plan(unsure, half_width=0.05)
    worst = plan(Assumptions.typed(0.2, 0.36, 0.3), half_width=0.05)
    assert got.conservative == worst.expected
    assert got.conservative.outputs > got.expected.outputs
    assert got.data_efficiency.low < got.data_efficiency.value < got.data_efficiency.high


def test_a_correlation_that_may_be_zero_is_not_relied_on():
    unsure = Assumptions(
        item_variance=Quantity(0.15, 0.15, 0.15),
        rater_variance=Quantity(0.30, 0.30, 0.30),
        correlation=Quantity(0.3, -0.1, 0.6),
    )
    assert plan(unsure, half_width=0.05).data_efficiency.low == 1


def test_a_pilot_can_be_planned_from():
    rng = np.random.default_rng(0)
    score = rng.normal(size=100)
    items = np.repeat(np.arange(100), 2)
    human = score[items] + rng.normal(size=200)
    pilot = efficiency_of(human, (score + rng.normal(size=100))[items], items=items, level=0.8)
    got = plan(pilot, half_width=0.1, pool_size=5000)
    assert got.expected.outputs < got.conservative.outputs <= got.conservative_without.outputs


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


def test_notes_say_when_the_metric_is_not_worth_it():
    few = plan(Assumptions.typed(0.01, 0.01, 0.5), half_width=0.1)
    assert any("below about 20" in note for note in few.notes)
    useless = plan(Assumptions.typed(0.15, 0.3, 0.0), half_width=0.05)
    assert any("not expected to save" in note for note in useless.notes)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("judgments", [1, 2])
def test_realised_half_width_is_the_planned_one(correlation, judgments):
    from populations import judged_items, population

    from steelyard import control_variates

    rng = np.random.default_rng([judgments, int(10 * correlation)])
    size = 600
    # this population has item and rater variance one half each
    made = plan(
        Assumptions.typed(0.5, 0.5, correlation),
        half_width=0.15,
        pool_size=size,
        judgments_per_output=judgments,
    ).expected
    realised = []
    for _ in range(150):
        pool = population("normal", rng, size=size, correlation=correlation)
        items = judged_items(rng, size=size, n=made.outputs, judgments=judgments)
        got = control_variates(
            pool.judge(items, rng),
            pool.metric[items],
            pool.metric,
            items=items,
            rater_variance=0.5 if judgments == 1 else None,
        )
        realised.append(got.half_width)
    assert np.mean(realised) == pytest.approx(made.half_width, rel=0.05)


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
