import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.sampling.allocation import allocate, pilot_deviations


def test_whole_shares_are_met_exactly():
    assert allocate(20, {"a": 50, "b": 30, "c": 20}) == {"a": 10, "b": 6, "c": 4}
    spread = {"a": 1.0, "b": 3.0}
    assert allocate(40, {"a": 100, "b": 100}, deviations=spread) == {"a": 10, "b": 30}


def test_two_each_and_never_more_than_there_are():
    assert allocate(10, {"a": 1000, "b": 3, "c": 1}) == {"a": 7, "b": 2, "c": 1}
    spread = {"a": 1.0, "b": 100.0}
    assert allocate(10, {"a": 50, "b": 4}, deviations=spread) == {"a": 6, "b": 4}
    assert allocate(9, {"a": 5, "b": 4}) == {"a": 5, "b": 4}


def test_strata_without_spread_take_what_others_cannot():
    spread = {"a": 0.0, "b": 1.0}
    assert allocate(6, {"a": 10, "b": 10}, deviations=spread) == {"a": 2, "b": 4}
    assert allocate(15, {"a": 10, "b": 10}, deviations=spread) == {"a": 5, "b": 10}


def test_an_extension_keeps_what_was_drawn():
    kept = {"a": 9, "b": 2}
    assert allocate(12, {"a": 50, "b": 50}, at_least=kept) == {"a": 9, "b": 3}


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    spreads=st.lists(st.floats(0.1, 5), min_size=4, max_size=4),
    n=st.integers(2, 30),
)
def test_no_other_whole_numbers_have_less_variance(sizes, spreads, n):
    least = sum(min(2, size) for size in sizes)
    n = min(max(n, least), sum(sizes))
    found = allocate(
        n, dict(enumerate(sizes)), deviations={h: spreads[h] for h in range(len(sizes))}
    )
    assert sum(found.values()) == n

    def variance(counts):
        return sum((N * S) ** 2 / k for N, S, k in zip(sizes, spreads, counts, strict=False))

    choices = itertools.product(*(range(min(2, size), size + 1) for size in sizes))
    best = min(variance(counts) for counts in choices if sum(counts) == n)
    assert variance(found.values()) == pytest.approx(best)


def test_pilot_deviations_by_hand():
    # a: outputs 1 1, s^2 = 0; b: output means 0 4, sum of squares 8; pooled 8 / 2 = 4
    # a: sqrt((0 + 2*4) / (1 + 2)), b: sqrt((8 + 8) / 3), c is not in the pilot: sqrt 4
    got = pilot_deviations(
        [1, 1, 0, 3, 5],
        ["a", "a", "b", "b", "b"],
        items=[1, 2, 3, 4, 4],
        names={"a": 9, "b": 9, "c": 9},
    )
    want = {"a": (8 / 3) ** 0.5, "b": (16 / 3) ** 0.5, "c": 2.0}
    assert got == pytest.approx(want)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (31, {}, "`n` must not exceed the pool; got 31 of 30 outputs"),
        (3, {}, "`n` must be at least 4, two outputs in each of 2 strata.*got 3"),
        (9, {"deviations": {"a": 1.0}}, "`deviations` must hold every stratum; 'b' is missing"),
        (9, {"deviations": {"a": 1.0, "b": -1.0}}, "`deviations` must be finite and not negative"),
        (9, {"at_least": {"a": 11}}, "`at_least` must not exceed the stratum; 11 of 10 in 'a'"),
    ],
)
def test_wrong_arguments_are_named(n, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        allocate(n, {"a": 10, "b": 20}, **options)


@pytest.mark.parametrize(("human", "strata"), [([1, 2], "ab"), ([1, 1], "aa")])
def test_a_pilot_must_show_spread(human, strata):
    with pytest.raises(NotEstimableError, match="the pilot tells no spread within strata"):
        pilot_deviations(human, list(strata), items=[1, 2], names={"a": 1})


def test_a_metric_leaves_less_spread_where_it_is_right():
    # stratum a: judgments are the metric; stratum b: twice its slope around 0 and 4, by turns
    metric = [1, 2, 3, 4, 1, 2, 3, 4]
    human = [1, 2, 3, 4, 1, 6, 3, 8]
    strata = ["a"] * 4 + ["b"] * 4
    got = pilot_deviations(
        human, strata, items=range(8), names={"a": 9, "b": 9, "c": 9}, metric=metric
    )
    # centred within strata, g = -1.5 -0.5 0.5 1.5 twice, y = g in a and -3.5 1.5 -1.5 3.5 in b:
    # slope (5 + 9) / 10 = 1.4, squares in a 0.16 * 5 = 0.8, in b 29 - 2 * 1.4 * 9 + 1.96 * 5 = 13.6
    pooled = 14.4 / 5
    want = {"a": (0.8 + 2 * pooled) / 5, "b": (13.6 + 2 * pooled) / 5, "c": pooled}
    assert {name: value**2 for name, value in got.items()} == pytest.approx(want)
    plain = pilot_deviations(human, strata, items=range(8), names={"a": 9, "b": 9})
    assert got["b"] / got["a"] > plain["b"] / plain["a"] > 1


def test_a_metric_that_explains_everything_leaves_nothing_to_go_by():
    with pytest.raises(NotEstimableError, match="the pilot tells no spread within strata"):
        pilot_deviations(
            [1, 2, 6, 7], list("aabb"), items=range(4), names={"a": 1}, metric=[[1], [2], [3], [4]]
        )
    with pytest.raises(NotEstimableError, match="the pilot tells no spread within strata"):
        pilot_deviations([1, 2], list("aa"), items=[1, 2], names={"a": 1}, metric=[5, 1])
