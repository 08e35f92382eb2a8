import numpy as np
import pytest

from steelyard.metrics.fractions import f_measure, fraction


def test_nothing_of_nothing_is_0():
    assert fraction(np.array([1, 0]), np.array([4, 0])).tolist() == [0.25, 0.0]


def test_f_is_the_weighted_harmonic_mean():
    precision, recall = np.array([0.5, 0.0]), np.array([0.25, 0.0])
    assert f_measure(precision, recall) == pytest.approx([1 / ((2 + 4) / 2), 0.0])
    # beta 2 counts recall four times
    assert f_measure(precision, recall, beta=2.0) == pytest.approx([1 / ((2 + 4 * 4) / 5), 0.0])
