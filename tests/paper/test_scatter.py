import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.paper.figures.scatter import JudgedMetric, metric_plot
from steelyard.single.interval import Interval


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
    figure = metric_plot([one])
    assert sorted(marks(figure.axes[0])[:, 0]) == sorted(one.metric)


def test_outputs_at_one_place_are_one_larger_mark():
    metric = np.array([1.0, 1.0, 1.0, 1.0, 0.5, 0.2])
    human = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    axes = metric_plot([JudgedMetric("s", metric, human)]).axes[0]
    [place] = axes.collections[0].get_offsets()
    assert tuple(place) == (1.0, 1.0)
    single = axes.get_lines()[0]
    assert len(single.get_xdata()) == 3
    assert axes.collections[0].get_sizes()[0] == pytest.approx(3 * single.get_markersize() ** 2)


def test_a_mark_of_very_many_outputs_does_not_cover_the_panel():
    metric = np.r_[np.ones(5000), 0.0]
    axes = metric_plot([JudgedMetric("s", metric, np.r_[np.ones(5000), 0.0])]).axes[0]
    assert axes.collections[0].get_sizes().max() < 15**2


def test_marks_of_one_judgment_stay_nearest_to_it():
    one = judged(size=200)
    axes = metric_plot([one]).axes[0]
    places = {x: y for x, y in marks(axes)}  # noqa: C416
    drawn = np.array([places[x] for x in one.metric])
    assert np.abs(drawn - one.human).max() <= 0.3
    assert np.array_equal(np.round(drawn), one.human)


def test_continuous_judgments_are_drawn_where_they_are():
    rng = np.random.default_rng(3)
    one = JudgedMetric("s", rng.normal(size=50), rng.normal(size=50))
    drawn = marks(metric_plot([one]).axes[0])
    assert sorted(map(tuple, drawn)) == sorted(zip(one.metric, one.human, strict=True))


def test_the_line_is_that_of_least_squares():
    one = judged()
    line = metric_plot([one]).axes[0].get_lines()[1]
    slope, intercept = np.polyfit(one.metric, one.human, 1)
    assert line.get_ydata() == pytest.approx(slope * line.get_xdata() + intercept)


def test_a_constant_metric_has_no_line_and_no_correlation():
    axes = metric_plot([JudgedMetric("s", np.ones(5), np.arange(5.0))]).axes[0]
    assert len(axes.get_lines()) == 1
    assert "not estimable" in axes.get_title(loc="left")
    assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()


def test_the_title_gives_the_corrected_correlation_with_its_interval():
    one = judged()
    found = JudgedMetric("s", one.metric, one.human, Interval(0.546, 0.27, 0.88))
    title = metric_plot([found]).axes[0].get_title(loc="left")
    assert title == "s\n\N{GREEK SMALL LETTER RHO} 0.55 [0.27, 0.88]"


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_each_system_has_a_panel_on_the_same_scale(size):
    figure = metric_plot([judged(f"system {i}", size=12, seed=i) for i in range(size)])
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == size
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert all(len(axes.get_xticks()) >= 2 for axes in panels)


def test_very_many_marks_become_one_picture():
    small, large = metric_plot([judged()]), metric_plot([judged(size=5001)])
    assert not small.axes[0].get_lines()[0].get_rasterized()
    assert large.axes[0].get_lines()[0].get_rasterized()


def test_no_system_is_refused():
    with pytest.raises(InvalidArgumentError, match="`judged` must hold at least one system"):
        metric_plot([])
