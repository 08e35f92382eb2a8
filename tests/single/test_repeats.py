import numpy as np
import pytest

from steelyard.single.judged import judged_outputs
from steelyard.single.repeats import Repeats


def judged(counts, *, seed=0, spread=1.0):
    """Judgments of outputs with the given number of judgments each."""
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(len(counts)), counts)
    return judged_outputs(rng.normal(size=len(items)) * spread, items=items)


def test_no_second_judgment_tells_nothing():
    assert Repeats.of(judged([1] * 9)) is None


def test_many_judgments_of_one_output_count_as_one():
    assert Repeats.of(judged([100, 1, 1])).outputs == pytest.approx(1)
    assert Repeats.of(judged([2] * 7 + [1])).outputs == pytest.approx(7)
    # 9 and 1 degrees of freedom: (9 + 1)^2 / (81 + 1)
    assert Repeats.of(judged([10, 2])).outputs == pytest.approx(100 / 82)


def test_matches_a_hand_worked_example():
    # sums of squares 2 and 8 on one degree of freedom each
    got = Repeats.of(judged_outputs([1, 3, 2, 6, 4], items=list("aabbc")))
    assert (got.variance, got.outputs, got.largest, got.imagined) == (5, 2, 8, 1)


def test_agreement_is_doubted_by_the_range_of_judgments():
    got = Repeats.of(judged_outputs([1, 1, 5, 5, 3], items=list("aabbc")))
    assert got.variance == 0
    assert got.largest == 8  # of 1 and 5


def test_an_output_is_imagined_unless_twenty_or_more_were_all_judged_again():
    assert Repeats.of(judged([2] * 19)).imagined == 1
    assert Repeats.of(judged([2] * 20)).imagined == 0
    assert Repeats.of(judged([2] * 20 + [1])).imagined == 1


def test_the_imagined_output_differs_as_much_as_was_seen_or_can_be():
    repeats = Repeats(variance=1.0, outputs=9.0, largest=4.0, imagined=1)
    assert repeats.against(3.0) == (pytest.approx((9 + 4) / 10), 10)
    assert repeats.against(6.0) == (pytest.approx((9 + 6) / 10), 10)


def test_too_few_outputs_or_too_little_difference_gain_nothing():
    assert Repeats(variance=1.0, outputs=4.9, largest=4.0, imagined=1).against(3.0) is None
    # (9 + 4) / 10 is no less than what the spread of outputs allows
    assert Repeats(variance=1.0, outputs=9.0, largest=4.0, imagined=1).against(1.2) is None


def test_a_variance_above_what_the_spread_allows_stays_as_it_is():
    repeats = Repeats(variance=1.0, outputs=9.0, largest=4.0, imagined=1)
    assert repeats.against(0.8) == (1.0, 10)


def test_order_and_scale_change_nothing_else():
    one, other = Repeats.of(judged([3, 1, 2, 2])), Repeats.of(judged([3, 1, 2, 2], spread=10))
    assert other.variance == pytest.approx(100 * one.variance)
    assert other.largest == pytest.approx(100 * one.largest)
    assert other.outputs == one.outputs
