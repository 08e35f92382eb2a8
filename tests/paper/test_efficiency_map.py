import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.paper.figures.efficiency_map import _LEVELS, _spread, efficiency_map, noise_share
from steelyard.paper.standings import SystemStanding
from steelyard.single.efficiency import Efficiency, data_efficiency
from steelyard.single.interval import Interval


def marks(axes, marker):
    return [line for line in axes.get_lines() if line.get_marker() == marker]


def standing(prompt, noise_ratio, correlation, system="*"):
    """Return a standing at a given place of the map, with intervals around it."""
    gamma = Interval(noise_ratio, noise_ratio / 2, noise_ratio * 2)
    rho = Interval(correlation, correlation - 0.2, min(correlation + 0.2, 1.0))
    item, rater = Interval(1.0, 0.5, 1.5), Interval(min(noise_ratio, 9.0), 0.1, 9.0)
    one = Interval(1.2, 1.1, 1.4)
    found = Efficiency(item, rater, gamma, rho, one, one, one, 9, 18, 0.95, ())
    return SystemStanding(system, prompt, {"sim": found})


def test_along_a_contour_the_data_efficiency_is_one_over_its_level():
    axes = efficiency_map([standing("a", 1.0, 0.5)]).axes[0]
    curves = [line for line in axes.get_lines() if len(line.get_xdata()) > 10]
    assert len(curves) == len(_LEVELS)
    for level, curve in zip(_LEVELS, curves, strict=True):
        x, rho = curve.get_xdata(), np.minimum(curve.get_ydata(), 1.0)
        assert data_efficiency(x / (1 - x), rho) == pytest.approx(1 / level)


def test_each_prompt_is_marked_at_its_noise_ratio_and_correlation():
    found = [
        standing("overall", float("inf"), 0.5),
        standing("hter", 3.0, -0.4),
        standing("grammar", 1.0, float("nan")),
        standing("hter", 1.0, 0.2, system="ml"),
    ]
    axes = efficiency_map(found).axes[0]
    places = [tuple(line.get_xydata()[0]) for line in marks(axes, "o")]
    assert places == [(0.75, 0.4), (1.0, 0.5), (0.5, 0.2)]
    texts = [text.get_text() for text in axes.texts]
    assert {"Overall\nVecSim", "Edit\nVecSim"} <= set(texts)
    assert any(text.startswith("perfect metric: DE") for text in texts)
    assert any(text.startswith("raters always agree: DE") for text in texts)


def test_an_interval_that_holds_both_signs_reaches_down_to_zero():
    axes = efficiency_map([standing("a", 1.0, 0.1)]).axes[0]
    upright = [
        line.get_ydata()
        for line in axes.get_lines()
        if list(line.get_xdata()) == [0.5, 0.5] and line.get_alpha() is not None
    ]
    assert any(tuple(ends) == (0.0, pytest.approx(0.3)) for ends in upright)


def test_the_share_of_noise_runs_from_none_to_all():
    assert [noise_share(ratio) for ratio in (0.0, 3.0, float("inf"))] == [0.0, 0.75, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_labels_are_apart_in_order_and_inside_the_map(heights):
    wanted = np.sort(heights)
    placed = _spread(wanted, apart=0.05)
    apart = min(0.05, 1 / max(len(wanted) - 1, 1))
    assert (np.diff(placed) >= apart - 1e-9).all()
    assert placed.min() >= -1e-9
    assert placed.max() <= 1 + 1e-9


def test_labels_that_are_far_apart_stay_beside_their_marks():
    assert _spread(np.array([0.1, 0.5, 0.9]), apart=0.05) == pytest.approx([0.1, 0.5, 0.9])
    # Two at one height move by half the distance each.
    assert _spread(np.array([0.5, 0.5]), apart=0.05) == pytest.approx([0.475, 0.525])
