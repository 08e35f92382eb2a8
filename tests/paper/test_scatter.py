import numpy as np
import pytest

from steelyard.paper.figures.scatter import JudgedMetric, metric_plot
from steelyard.single.interval import Interval


def panel(one):
    return metric_plot([one], metric="metric", score="score").axes[0]


def judged(system="s", size=60, seed=0):
    rng = np.random.default_rng(seed)
    metric = rng.normal(size=size)
    return JudgedMetric(system, metric, np.round(metric + rng.normal(size=size)))


def marks(axes):
    """Return places of all marks, those of one output and those of several."""
    single = axes.get_lines()[0].get_xydata()
    return np.vstack([single, axes.collections[0].get_offsets()])


def test_every_output_has_a_mark_at_its_metric():
    one = judged()
    assert sorted(marks(panel(one))[:, 0]) == sorted(one.metric)


def test_outputs_at_one_place_are_one_larger_mark():
    metric = np.array([1.0, 1.0, 1.0, 1.0, 0.5, 0.2])
    human = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    axes = panel(JudgedMetric("s", metric, human))
    [place] = axes.collections[0].get_offsets()
    assert tuple(place) == (1.0, 1.0)
    single = axes.get_lines()[0]
    assert len(single.get_xdata()) == 3
    assert axes.collections[0].get_sizes()[0] == pytest.approx(3 * single.get_markersize() ** 2)


def test_a_mark_of_very_many_outputs_does_not_cover_the_panel():
    metric = np.r_[np.ones(5000), 0.0]
    axes = panel(JudgedMetric("s", metric, np.r_[np.ones(5000), 0.0]))
    assert axes.collections[0].get_sizes().max() < 15**2


def test_marks_of_one_judgment_stay_nearest_to_it():
    one = judged(size=200)
    axes = panel(one)
    places = {x: y for x, y in marks(axes)}  # noqa: C416
    drawn = np.array([places[x] for x in one.metric])
    assert np.abs(drawn - one.human).max() <= 0.3
    assert np.array_equal(np.round(drawn), one.human)


def test_continuous_judgments_are_drawn_where_they_are():
    rng = np.random.default_rng(3)
    one = JudgedMetric("s", rng.normal(size=50), rng.normal(size=50))
    drawn = marks(panel(one))
    assert sorted(map(tuple, drawn)) == sorted(zip(one.metric, one.human, strict=True))


def test_the_line_is_that_of_least_squares():
    one = judged()
    line = panel(one).get_lines()[1]
    slope, intercept = np.polyfit(one.metric, one.human, 1)
    assert line.get_ydata() == pytest.approx(slope * line.get_xdata() + intercept)


def test_a_constant_metric_has_no_line_and_no_correlation():
    axes = panel(JudgedMetric("s", np.ones(5), np.arange(5.0)))
    assert len(axes.get_lines()) == 1
    assert "not estimable" in axes.get_title(loc="left")
    assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()


def test_the_title_gives_the_corrected_correlation_with_its_interval():
    one = judged()
    found = JudgedMetric("s", one.metric, one.human, Interval(0.546, 0.27, 0.88))
    title = panel(found).get_title(loc="left")
    assert title == "s\n\N{GREEK SMALL LETTER RHO} 0.55 [0.27, 0.88]"


def test_systems_share_one_scale():
    systems = [judged(f"system {i}", size=12, seed=i) for i in range(3)]
    figure = metric_plot(systems, metric="metric", score="score")
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == 3
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
