import numpy as np

from steelyard.paper.figures.bottlenecks import bottleneck_plot
from steelyard.paper.figures.densities import density_plot
from steelyard.paper.figures.efficiency_map import efficiency_map
from steelyard.paper.figures.heat_maps import correlation_maps, distance_map
from steelyard.paper.figures.histograms import difference_plot
from steelyard.paper.figures.lengths import length_plot, overview_plot
from steelyard.paper.figures.systems import system_plot


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_systems_stand_at_their_means(found):
    rows = [row for row in found.bias if row.task == "cnndm"]
    axes = system_plot(rows, score="human", metric="metric").axes[0]
    circles = [line for line in axes.lines if line.get_marker() == "o"]
    drawn = [(line.get_xdata()[0], line.get_ydata()[0]) for line in circles]
    assert drawn == [(row.human.value, row.metric.value) for row in rows if not row.condition]
    assert sum(line.get_marker() in ("^", ">") for line in axes.lines) == 8


def test_heat_maps_show_both_numbers_of_every_cell(found):
    cells = [one for one in found.correlations if one.prompt == "hter"]
    left, right = correlation_maps(cells).axes
    assert len(left.texts) == len(right.texts) == len(cells)
    assert f"{abs(cells[0].reproduced):.2f}" in texts(left)[0]
    # The first metric is on top.
    assert left.get_ylim()[0] > left.get_ylim()[1]


def test_distances_are_shown_by_metric_and_system():
    axes = distance_map({("bleu", "ml"): 0.0, ("sim", "ml"): 0.35}).axes[0]
    assert texts(axes) == ["0.00", "0.35"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["BLEU", "VecSim"]


def test_the_corrected_distribution_is_narrower_with_the_same_mean():
    rng = np.random.default_rng(0)
    metric = rng.normal(size=400)
    figure = density_plot(metric + 0.3 * rng.normal(size=400), metric, score="score")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    before, after = (float(label.rpartition(" ")[2]) for label in labels)
    assert after < 0.2 * before


def test_the_map_places_every_prompt_and_every_setting(found):
    axes = efficiency_map(found.standings).axes[0]
    names = " ".join(texts(axes))
    for prompt in ("AnyCorrect", "AvgCorrect", "Fluency", "Redundancy", "Overall", "Edit"):
        assert prompt in names
    dots = [line for line in axes.lines if line.get_markersize() == 2.4]
    assert sum(len(line.get_xdata()) for line in dots) == 168


def test_trajectories_of_the_paper_have_a_panel_each(found):
    figure = length_plot(found.quoted)
    assert len(figure.axes) == 4
    assert all(len(axes.lines) == 6 for axes in figure.axes)


def test_an_overview_has_all_metrics_of_every_system(found):
    mine = [one for one in found.followed if one.prompt == "overall"]
    assert [len(axes.lines) for axes in overview_plot(mine).axes] == [9] * 4


def test_bottlenecks_are_drawn_twice_for_every_case(found):
    axes = bottleneck_plot(found.best_limits).axes[0]
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "", None)]
    assert len(marks) == 2 * 24


def test_histograms_hold_every_number(found):
    figure = difference_plot(found.differences)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "MS MARCO, 120 numbers",
        "CNN/Daily Mail, 240 numbers",
    ]
