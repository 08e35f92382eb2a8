"""Checks against the authors' own data, and against their results where they are at hand."""

import numpy as np
import pytest

from steelyard.paper.bias_study import bias_study, fresh_gains
from steelyard.paper.correlations import correlations
from steelyard.paper.limits import limits
from steelyard.paper.modes import modes
from steelyard.paper.names import TASKS
from steelyard.paper.printed import EFFICIENCIES, EXAMPLES
from steelyard.paper.release import packaged_lines, read_release
from steelyard.paper.released_tables import converted
from steelyard.paper.variances import variances


@pytest.fixture(scope="module")
def tasks():
    return {task.name: task for task in read_release().tasks}


@pytest.fixture(scope="module")
def whole(released_data):
    """With texts and the authors' results, which are not in the package."""
    return {task.name: task for task in read_release(released_data).tasks}


def test_the_package_holds_the_lines_of_the_release(whole):
    for name, lines in packaged_lines().items():
        assert lines == whole[name].lines


def test_the_package_holds_no_texts(tasks):
    for task in tasks.values():
        assert not task.texts
        assert {type(one) for line in task.lines for one in line.metrics.values()} == {float}
        assert max(len(line.item) for line in task.lines) <= 40
        assert all(len(rater) == 4 for line in task.lines for rater in line.raters)


@pytest.mark.parametrize("name", TASKS)
def test_table_2_comes_out_to_three_digits(tasks, name):
    rows = [row for row in variances(tasks[name], seed=0, resamples=50) if row.printed]
    assert len(rows) == {"msmarco": 2, "cnndm": 4}[name]
    assert all(row.agrees_with_print for row in rows)


def test_unbiased_noise_ratios_are_those_of_the_analysis_of_variance(tasks):
    found = {
        row.prompt: row.unbiased.noise_ratio.value
        for name in tasks
        for row in variances(tasks[name], seed=0, resamples=50)
        if row.system == "*"
    }
    expected = {
        "grammar": 3.140,
        "redundancy": 0.875,
        "overall": 1.998,
        "hter": 0.437,
        "AnyCorrect": 1.622,
        "AvgCorrect": 1.506,
    }
    assert found == pytest.approx(expected, abs=0.0015)


@pytest.mark.parametrize("name", TASKS)
def test_released_components_of_each_system_come_out(whole, name):
    rows = [row for row in variances(whole[name], seed=0, resamples=50) if row.released]
    assert max(row.largest_difference for row in rows) < 1e-12


def test_all_210_released_correlations_come_out(whole):
    found = [one for task in whole.values() for one in correlations(task, seed=0, resamples=50)]
    assert len(found) == 210
    assert max(abs(one.released - one.reproduced) for one in found) < 1e-6


@pytest.mark.parametrize("name", TASKS)
def test_all_released_means_of_the_bias_study_come_out(whole, name):
    rows = bias_study(whole[name], draws=1000, seed=0)
    assert len(rows) == 20
    assert max(row.largest_difference for row in rows) < 1e-12
    for row in rows:
        # Both ends have the error of a quantile of 1,000 draws, on either side.
        for ours, theirs in (
            (row.human, row.released_human),
            (row.metric, row.released_metric),
        ):
            assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.15)


@pytest.mark.parametrize("name", TASKS)
def test_counts_of_table_1_come_out(whole, name):
    found = modes(whole[name])
    assert found.counts == found.printed.counts


def test_ties_of_votes_make_the_majority_of_table_1(whole):
    found = modes(whole["msmarco"])
    assert found.strict == (228, 76, 525, 626)
    assert found.ties == 347


def test_the_papers_examples_are_in_the_data(whole):
    found = modes(whole["msmarco"])
    printed = [examples[0].printed for examples in found.examples]
    assert tuple(printed) == EXAMPLES
    for (example, *_), row in zip(found.examples, EXAMPLES, strict=True):
        assert example.metric == pytest.approx(row.metric, abs=0.006)


def test_references_are_as_correct_as_printed(tasks):
    found = tasks["msmarco"].under("AnyCorrect", "reference").gold.mean()
    assert found == pytest.approx(0.735, abs=5e-4)


def test_released_efficiencies_of_figure_6_are_squares_of_what_is_released(whole):
    for row in EFFICIENCIES:
        released = whole[row.task].released("table", row.metric, row.prompt, row.system)
        assert released**2 == pytest.approx(row.value, abs=0.021)


def test_without_stand_ins_raters_are_the_larger_bottleneck(tasks):
    found = [one for task in tasks.values() for one in limits(task, seed=0, resamples=50)]
    perfect = np.array([one.perfect_metric.value for one in found])
    noiseless = np.array([one.noiseless_raters.value for one in found])
    assert np.median(perfect) == pytest.approx(1.5, abs=0.05)
    assert np.mean(noiseless > perfect) > 0.85
    assert all(one.noiseless_stand_in < one.perfect_stand_in for one in found)


def test_gains_of_replaced_outputs_shrink_before_other_raters(tasks):
    for task in tasks.values():
        mine = [one for one in fresh_gains(task, seed=0, splits=20) if one.condition == "lr"]
        chosen, fresh = (np.mean([getattr(o, k) for o in mine]) for k in ("chosen", "fresh"))
        assert fresh < 0.5 * chosen


def test_conversion_knows_distinct_outputs_and_the_one_judged_twice(whole):
    answers, summaries = (
        converted(name, whole[name].lines, whole[name].texts) for name in ("msmarco", "cnndm")
    )
    assert answers.outputs["text_id"].n_unique() == 1861
    assert answers.outputs.height == 2500
    assert summaries.outputs.height == 2514
    assert any("006588" in remark and "put together" in remark for remark in summaries.remarks)
