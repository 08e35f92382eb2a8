import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.report.scatter import JudgedMetric
from steelyard.report.small_multiples import small_multiples
from steelyard.single.interval import Interval


def judged(size):
    rng = np.random.default_rng(1)
    return [
        JudgedMetric(f"s{n}", rng.normal(size=9), rng.normal(size=9), Interval(0.5, 0.1, 0.9))
        for n in range(size)
    ]


def test_every_output_of_every_system_has_a_mark_inside_its_panel():
    many = judged(25)
    axes = small_multiples(many).axes[0]
    marks = axes.get_lines()[0].get_xydata()
    assert len(marks) == 25 * 9
    # Panels are 1 by 1, with gaps between them: 1.12 to the right, 1.42 down.
    assert (marks[:, 0] % 1.12 <= 1).all()
    assert (marks[:, 1] % 1.42 <= 1).all()
    order = np.repeat(np.arange(25), 9)
    assert (marks[:, 0] // 1.12 == order % 4).all()
    assert (-(marks[:, 1] // 1.42) == order // 4).all()


def test_systems_are_named_with_their_correlation_and_the_scale_is_said():
    texts = [text.get_text() for text in small_multiples(judged(9), metric="rouge").axes[0].texts]
    assert texts[0] == "s0"
    assert texts[1] == "\N{GREEK SMALL LETTER RHO} 0.50"
    assert texts[-1].startswith("to the right: rouge, ")
    assert "up: mean judgment, " in texts[-1]


def test_a_constant_metric_has_no_line_and_an_unknown_correlation_is_said():
    flat = JudgedMetric("flat", np.ones(5), np.arange(5.0), Interval(float("nan"), -1.0, 1.0))
    axes = small_multiples([*judged(2), flat]).axes[0]
    assert len(axes.collections[1].get_segments()) == 2
    assert "not estimable" in axes.texts[5].get_text()


def test_no_system_is_refused():
    with pytest.raises(InvalidArgumentError, match="`judged` must hold at least one"):
        small_multiples([])


def test_a_line_that_leaves_its_panel_ends_at_the_edge():
    steep = JudgedMetric("steep", np.array([0.0, 0.1, 0.2, 10.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    wild = JudgedMetric("wild", np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    axes = small_multiples([steep, wild]).axes[0]
    for line in axes.collections[1].get_segments():
        assert line[:, 1].min() >= 0
        assert line[:, 1].max() <= 1
