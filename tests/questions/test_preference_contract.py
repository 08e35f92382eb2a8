"""What must hold of preferences, whatever was preferred."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.study import Study


def compared(rows, systems, pool=50):
    """The comparison from rows of item, the two systems, the score of the first, and the rater."""
    names = ("item", "system", "other_system", "score", "rater")
    judgments = pl.DataFrame(rows, schema=names, orient="row").with_columns(prompt=pl.lit("p"))
    outputs = [{"item": i, "system": s, "flat": 0.0} for s in systems for i in range(pool)]
    [found] = Study.read(pl.DataFrame(outputs), judgments).compare()
    return found


def games(a, b, scores, raters=30):
    return [(i, a, b, float(one), f"r{i % raters}") for i, one in enumerate(scores)]


@pytest.mark.parametrize("wins", [0, 3, 15, 27, 30])
def test_two_systems_have_the_share_of_wins(wins):
    found = compared(games("a", "b", [1] * wins + [0] * (30 - wins)), "ab")
    [pair] = found.pairs
    assert pair.difference == pytest.approx(2 * wins / 30 - 1, abs=1e-6)
    exact = binomtest(wins, 30).proportion_ci(method="wilson")
    assert (pair.low, pair.high) == pytest.approx((2 * exact.low - 1, 2 * exact.high - 1), abs=0.12)
    assert -1 <= pair.low < pair.high <= 1


def test_a_system_that_never_loses_is_better_but_not_without_error():
    found = compared(
        games("a", "b", [1] * 30) + games("b", "c", [1, 0] * 15) + games("a", "c", [1] * 30), "abc"
    )
    by_pair = {(pair.a, pair.b): pair for pair in found.pairs}
    assert by_pair["a", "b"].verdict == by_pair["a", "c"].verdict == "a"
    assert by_pair["a", "b"].low < 0.95
    assert by_pair["b", "c"].verdict == "undecided"


def test_ties_only_are_undecided():
    [pair] = compared(games("a", "b", [0.5] * 30), "ab").pairs
    assert pair.difference == pytest.approx(0, abs=1e-9)
    assert pair.low < 0 < pair.high
    assert pair.verdict == "undecided"


def test_groups_that_were_never_compared_have_no_pairs_between_them():
    rng = np.random.default_rng(1)
    rows = games("a", "b", rng.integers(0, 2, 30)) + games("c", "d", rng.integers(0, 2, 30))
    found = compared(rows, "abcd")
    assert {(pair.a, pair.b) for pair in found.pairs} == {("a", "b"), ("c", "d")}
    assert not found.ranks


def test_the_order_of_the_two_names_only_turns_the_sign():
    rng = np.random.default_rng(2)
    score = rng.integers(0, 2, 40)
    [one] = compared(games("a", "b", score), "ab").pairs
    [other] = compared(games("b", "a", 1 - score), "ab").pairs
    sign = 1 if other.a == one.a else -1
    ends = sorted((sign * other.low, sign * other.high))
    assert sign * other.difference == pytest.approx(one.difference, abs=1e-9)
    assert ends == pytest.approx([one.low, one.high], abs=1e-7)


def test_one_win_and_one_loss_are_no_answer_or_a_wide_one():
    [pair] = compared(games("a", "b", [1, 0], raters=1), "ab").pairs
    assert pair.high - pair.low > 1


def test_a_circle_is_told_apart_with_ends_that_hold_each_other():
    rows = (
        games("a", "b", [1] * 30, 3) + games("b", "c", [1] * 30, 3) + games("c", "a", [1] * 30, 3)
    )
    for pair in compared(rows, "abc").pairs:
        assert abs(pair.difference) == pytest.approx(1, abs=0.01)
        assert (pair.low > 0) or (pair.high < 0)
        assert pair.standard_error > 0.01
        assert pair.high - pair.low > 0.05


@pytest.mark.parametrize("planned", [None, 40])
def test_monitor_says_of_a_pair_what_compare_says_with_a_wider_interval(planned):
    # on a third of the items both wrote the same text: these are ties
    texts = {(i, one): f"text {i} {one if i % 3 else ''}" for i in range(60) for one in "ab"}
    outputs = pl.DataFrame(
        [{"item": i, "system": one, "output": text} for (i, one), text in texts.items()]
    )
    rows = [row for row in games("a", "b", [1] * 18 + [0] * 6, 8) if row[0] % 3]
    names = ("item", "system", "other_system", "score", "rater")
    judgments = pl.DataFrame(rows, schema=names, orient="row").with_columns(prompt=pl.lit("p"))
    study = Study.read(outputs, judgments)
    [once] = study.compare()[0].pairs
    [always] = study.monitor(planned=planned)[0].pairs
    assert always.difference == once.difference
    assert -1 <= always.low < once.low < once.high < always.high <= 1
