from steelyard.study.verdict import verdict
from steelyard.variance import Quantity


def test_shares_saved_are_those_of_the_formula():
    # rho^2 / (1 + gamma) = 0.25 / 3; 1 / (1 + gamma) = 1/3; 1 - 0.75 / 3 = 3/4.
    said = verdict(2.0, metric="m", correlation=0.5, efficiency=Quantity(1.09, 1.02, 1.2))
    assert said.startswith("m saves 8% of the judgments of a plain mean. A perfect metric would")
    assert "save 33%, raters without noise 75%" in said
    assert "Rater noise holds you back" in said


def test_a_saving_that_may_be_none_is_said_to_be_so():
    said = verdict(2.0, metric="m", correlation=0.1, efficiency=Quantity(1.01, 1.0, 1.25))
    assert ", though nothing at all is possible too (at most 20%)" in said


def test_the_best_of_many_is_called_that_where_it_may_save_nothing():
    unsure, sure = (Quantity(1.1, low, 1.25) for low in (1.0, 1.01))
    said = verdict(2.0, metric="m", correlation=0.1, efficiency=unsure, chosen_from=10)
    assert "nothing at all is possible too for the best of 10 metrics (at most 20%)" in said
    said = verdict(2.0, metric="m", correlation=0.1, efficiency=sure, chosen_from=10)
    assert "nothing at all" not in said


def test_without_item_variance_no_metric_can_help():
    said = verdict(float("inf"), metric="m", correlation=float("nan"), efficiency=None)
    assert "no metric can save anything here" in said
