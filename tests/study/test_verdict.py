import pytest

from steelyard.study.verdict import assumed_verdict, verdict
from steelyard.variance import Quantity, Remedies

RATERS, METRIC = "Rater noise holds you back", "The metric holds you back"
SURE, THIRD = Quantity(0.08, 0.02, 0.17), Quantity(0.33, 0.25, 0.41)


def remedies(lead, saved=SURE, perfect=THIRD):
    noiseless = Quantity(0.75, 0.62, 0.84)
    return Remedies(saved=saved, perfect=perfect, noiseless=noiseless, lead=Quantity(*lead))


def test_what_holds_back_is_said_where_the_interval_leaves_out_zero():
    assert RATERS in verdict(remedies((0.4, 0.1, 0.6)), metric="m")
    assert METRIC in verdict(remedies((-0.4, -0.6, -0.1)), metric="m")


@pytest.mark.parametrize(
    ("all_repeated", "way_out"),
    [(True, "more judged outputs would tell"), (False, "second judgments of more outputs")],
)
def test_what_the_interval_leaves_open_is_left_open(all_repeated, way_out):
    said = verdict(remedies((0.4, -0.1, 0.6)), metric="m", all_repeated=all_repeated)
    assert RATERS not in said
    assert METRIC not in said
    assert "Whether rater noise or the metric holds you back is not known yet" in said
    assert way_out in said


def test_shares_are_said_with_their_intervals():
    said = verdict(remedies((0.4, 0.1, 0.6)), metric="m")
    assert "A perfect metric would save 33% (25% to 41%), raters without noise 75% (62% to" in said


def test_a_saving_that_may_be_none_is_said_to_be_so():
    said = verdict(remedies((0.4, 0.1, 0.6), saved=Quantity(0.01, -0.1, 0.2)), metric="m")
    assert ", though nothing at all is possible too (at most 20%)" in said


def test_the_best_of_many_is_called_that_where_it_may_save_nothing():
    unsure = remedies((0.4, 0.1, 0.6), saved=Quantity(0.01, 0.0, 0.2))
    said = verdict(unsure, metric="m", chosen_from=10)
    assert "nothing at all is possible too for the best of 10 metrics (at most 20%)" in said
    assert "nothing at all" not in verdict(remedies((0.4, 0.1, 0.6)), metric="m", chosen_from=10)


def test_without_item_variance_no_metric_can_help_as_far_as_is_known():
    none = Quantity(0.0, 0.0, 0.12)
    said = verdict(remedies((1.0, 0.7, 1.0), perfect=none), metric="m")
    assert "no metric can save anything here (a perfect one at most 12%)" in said
    assert "Ask a clearer question" in said
    unsure = verdict(remedies((1.0, -0.2, 1.0), perfect=none), metric="m")
    assert "Ask a clearer question" not in unsure
    assert "not known yet" in unsure


def test_without_a_metric_both_limits_are_said():
    said = verdict(remedies((0.4, 0.1, 0.6)), metric=None)
    assert said.startswith("There is no metric yet. A perfect one would save 33% (25% to 41%)")


def test_assumed_shares_are_those_of_the_formula():
    # rho^2 / (1 + gamma) = 0.25 / 3; 1 / (1 + gamma) = 1/3; 1 - 0.75 / 3 = 3/4.
    said = assumed_verdict(2.0, metric="m", correlation=0.5, efficiency=Quantity(1.09, 1.02, 1.2))
    assert said.startswith("m saves 8% of the judgments of a plain mean. A perfect metric would")
    assert "save 33%, raters without noise 75%" in said
    assert RATERS in said


def test_an_assumed_item_variance_of_zero_leaves_nothing_to_save():
    nothing = float("nan")
    said = assumed_verdict(float("inf"), metric="m", correlation=nothing, efficiency=None)
    assert "no metric can save anything here. Ask a clearer question" in said
