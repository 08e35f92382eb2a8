from dataclasses import replace

import numpy as np

from steelyard.plots.style import PAPER
from steelyard.questions.estimates import Ends
from steelyard.report import forest_plot


def lines(figure, marker):
    return [line for line in figure.axes[0].get_lines() if line.get_marker() == marker]


def test_each_row_has_two_marks_and_two_intervals(make_estimate):
    found = [make_estimate("a", 0.3), make_estimate("b", 0.1)]
    figure = forest_plot(found)
    assert [line.get_xdata()[0] for line in lines(figure, "o")] == [0.3, 0.1]
    assert [line.get_xdata()[0] for line in lines(figure, "D")] == [0.3, 0.1]
    intervals = [tuple(line.get_xdata()) for line in lines(figure, "None")]
    assert intervals == [(one.low, one.high) for row in found for one in (row, row.baseline)]


def test_the_two_marks_differ_in_more_than_colour(make_estimate):
    figure = forest_plot([make_estimate("a", 0.3)])
    [with_metrics], [plain] = lines(figure, "o"), lines(figure, "D")
    assert with_metrics.get_markerfacecolor() != PAPER
    assert plain.get_markerfacecolor() == PAPER


def test_new_outputs_have_a_thinner_outer_interval(make_estimate):
    wider = Ends(standard_error=0.2, low=0.1 - 0.4, high=0.1 + 0.4)
    found = [make_estimate("a", 0.3), replace(make_estimate("b", 0.1), new_outputs=wider)]
    figure = forest_plot(found)
    [outer] = lines(figure, "|")
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == (
        "the same for new outputs"
    )
    assert tuple(outer.get_xdata()) == (0.1 - 0.4, 0.1 + 0.4)
    assert outer.get_linewidth() < lines(figure, "None")[0].get_linewidth()


def test_the_legend_names_both_kinds(make_estimate):
    figure = forest_plot([make_estimate("a", 0.3), make_estimate("b", 0.1)])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["estimate, 95% interval", "plain mean, 95% interval"]


def test_the_first_system_is_on_top_and_all_intervals_are_in_sight(make_estimate):
    found = [make_estimate(f"system {i}", 0.1 * i, width=0.5) for i in range(20)]
    axes = forest_plot(found).axes[0]
    bottom, top = axes.get_ylim()
    assert bottom > top
    left, right = axes.get_xlim()
    assert np.isfinite([left, right]).all()
    assert left < min(one.baseline.low for one in found)
    assert right > max(one.baseline.high for one in found)


def test_it_can_be_written_as_pdf_png_and_svg(make_estimate, tmp_path):
    figure = forest_plot([make_estimate("$a_b$", 0.3)])
    for kind in ("pdf", "png", "svg"):
        path = tmp_path / f"forest.{kind}"
        figure.savefig(path)
        assert path.stat().st_size > 1000


def test_many_systems_get_lower_rows_without_plain_means(make_estimate):
    few, many = (
        forest_plot([make_estimate(f"s{i}", 0.1 * i) for i in range(size)]) for size in (8, 25)
    )
    assert len(lines(few, "D")) == 8
    assert len(lines(many, "o")) == 25
    assert lines(many, "D") == []
    assert [text.get_text() for text in many.legends[0].get_texts()] == ["estimate, 95% interval"]
    assert many.get_figheight() / 25 < few.get_figheight() / 8
