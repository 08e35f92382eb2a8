import pytest

from steelyard.numbers import count, decimals_for, interval, number, percent, span


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.3579, 3, "0.358"),
        (-0.147, 2, "\N{MINUS SIGN}0.15"),
        (12345.6, 0, "12,346"),
        (-0.0004, 3, "0.000"),
        (float("inf"), 2, "∞"),
        (float("-inf"), 2, "\N{MINUS SIGN}∞"),
        (float("nan"), 2, "\N{EN DASH}"),
        (None, 2, "\N{EN DASH}"),
    ],
)
def test_a_number_is_written_as_people_read_it(value, decimals, text):
    assert number(value, decimals) == text


def test_an_interval_has_the_same_decimals_at_both_ends():
    assert interval(-1, 2.5, 1) == "[\N{MINUS SIGN}1.0, 2.5]"
    assert span(-1, 2.5, 1) == "\N{MINUS SIGN}1.0 to 2.5"


@pytest.mark.parametrize(
    ("widths", "decimals"),
    [([0.075], 3), ([0.075, 0.08, 0.009], 3), ([3.2], 1), ([250.0], 0), ([0.0, float("nan")], 3)],
)
def test_decimals_follow_the_typical_width(widths, decimals):
    assert decimals_for(widths) == decimals


def test_counts_and_shares():
    assert count(1, "rater") == "1 rater"
    assert count(2, "rater") == "2 raters"
    assert percent(-0.031) == "\N{MINUS SIGN}3%"
