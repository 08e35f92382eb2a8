import polars as pl
import pytest

from steelyard.collect.policy.rater_agreement import rater_agreement


def rows(*judged):
    names = ("submission", "unit", "rater", "prompt", "score")
    return pl.DataFrame([dict(zip(names, one, strict=True)) for one in judged])


def test_a_rater_is_compared_with_each_of_the_others():
    # a says 1 where b and c say 0 and 1: one pair of two agrees, on average 0.5 of 2 above
    found = rater_agreement(
        rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 0.0), (3, 1, "c", "p", 1.0)),
        bounds={"p": (0, 2)},
        distance=0.25,
    )
    assert (found["a"].share, found["a"].comparisons, found["a"].submissions) == (0.5, 2, 1)
    assert found["a"].leniency == pytest.approx(0.25)
    assert found["b"].share == 0
    assert found["b"].leniency == pytest.approx(-0.5)


def test_units_that_nobody_else_judged_tell_nothing():
    found = rater_agreement(rows((1, 1, "a", "p", 1.0)), bounds={"p": (0, 1)}, distance=0.5)
    assert found == {}


def test_a_judgment_that_counts_for_two_systems_is_taken_once():
    shared = rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 1.0))
    once = rater_agreement(shared, bounds={"p": (0, 1)}, distance=0)
    twice = rater_agreement(pl.concat([shared, shared]), bounds={"p": (0, 1)}, distance=0)
    assert once == twice
    assert once["a"].submissions == 1


def test_leniency_is_a_share_of_the_range_of_each_prompt():
    found = rater_agreement(
        rows(
            (1, 1, "a", "slider", 60.0),
            (1, 1, "a", "level", 2.0),
            (2, 1, "b", "slider", 40.0),
            (2, 1, "b", "level", 0.0),
        ),
        bounds={"slider": (0, 100), "level": (0, 2)},
        distance=0.2,
    )
    assert found["a"].share == 0.5
    assert found["a"].leniency == pytest.approx((0.2 + 1) / 2)
    assert found["a"].submissions == 1


def test_a_prompt_that_is_not_asked_about_is_left_out():
    rows_of_two = rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 9.0))
    assert rater_agreement(rows_of_two, bounds={}, distance=0.5) == {}
