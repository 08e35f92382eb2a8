import numpy as np
import pytest

from steelyard.model.observed import Observed


def seen(ratio, blocks=40.0):
    """Squares of systems judged apart, `ratio` times what is expected of each."""
    k = len(ratio)
    return Observed(
        squares=np.diag(ratio),
        expected=np.eye(k),
        freedom=np.full(k, blocks),
        shared=np.eye(k) / blocks,
    )


def test_one_system_has_nothing_to_be_compared_with():
    assert seen(np.array([3.0])).expectation_worth() == pytest.approx(10)


def test_what_is_observed_as_expected_makes_the_expectation_worth_more():
    rng = np.random.default_rng(1)
    by_chance = rng.chisquare(40, 12) / 40
    apart = by_chance * np.exp(rng.normal(0, 1, 12))
    assert seen(by_chance).expectation_worth() > 30
    assert seen(apart).expectation_worth() < 5


def test_the_unit_of_squares_does_not_matter():
    ratio = np.array([0.5, 1.0, 2.0, 4.0])
    found = seen(ratio)
    other = Observed(100 * found.squares, 100 * found.expected, found.freedom, 1e4 * found.shared)
    assert other.expectation_worth() == pytest.approx(found.expectation_worth())
