from steelyard.design import Assumptions, plan
from steelyard.report.plan import plan_plot


def test_four_curves_and_the_plan_are_drawn():
    assumed = Assumptions.typed(0.15, 0.3, 0.5)
    figure = plan_plot(plan(assumed, half_width=0.05))
    axes = figure.axes[0]
    assert [line.get_label() for line in axes.get_lines()][:4] == [
        "plain mean",
        "with the metric",
        "noiseless raters",
        "perfect metric",
    ]
    assert axes.get_lines()[4].get_xydata().tolist()[0][0] <= 0.05


def test_what_a_pool_cannot_reach_is_left_out_of_the_curves():
    assumed = Assumptions.typed(0.15, 0.3, 0.5)
    made = plan(assumed, half_width=0.05, pool_size=400)
    figure = plan_plot(made)
    assert len(figure.axes[0].get_lines()) == 5
