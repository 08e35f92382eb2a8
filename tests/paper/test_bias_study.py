import numpy as np
import pytest

from steelyard.paper.bias_study import CONDITIONS, Grid, bias_study, replacements

# One item each row; the first system is the one whose outputs are replaced. Low is below 0.5.
HUMAN = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5], [0.0, 1.0, 1.0], [0.5, 0.5, np.nan]])
METRIC = np.array([[0.2, 0.1, 0.3], [0.2, 0.1, 0.9], [0.8, 0.1, 0.2], [0.1, 0.6, np.nan]])


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        # better but still low: the least better of both; none is better; not low; none is better
        ("lr", [2, 0, 0, 0]),
        # worse and low: none; the only one that is low; not low; none
        ("ll", [0, 1, 0, 0]),
        # not low: none; the third; not low itself; the second
        ("ur", [0, 2, 0, 1]),
        ("ul", [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
    ],
)
def test_replacements_match_a_hand_worked_example(condition, taken):
    found, candidates = replacements(HUMAN, METRIC, 0, threshold=0.5, condition=condition)
    assert found.tolist() == taken
    assert candidates.any(axis=1).sum() == sum(place != 0 for place in taken)


def test_equal_human_scores_are_told_apart_by_the_metric():
    human = np.array([[0.0, 1.0, 1.0]])
    metric = np.array([[0.4, 0.3, 0.2]])
    found, _ = replacements(human, metric, 0, threshold=0.5, condition="lr")
    assert found.tolist() == [2]


def test_released_means_are_reproduced_by_an_independent_implementation(found):
    assert len(found.bias) == 2 * 4 * 5
    for row in found.bias:
        assert row.largest_difference < 1e-12


def test_nothing_is_replaced_the_fourth_way(found):
    own = {row.system: row for row in found.bias if not row.condition}
    for row in found.bias:
        if row.condition == "ul":
            assert row.replaced == 0
            assert row.human == own[row.system].human


def test_random_replacements_lie_on_the_same_side(found):
    """The rule takes the least good of what is better, and the best of what is worse."""
    own = {row.system: row.human.value for row in found.bias if not row.condition}
    for row in found.bias:
        if row.condition == "lr":
            assert row.at_random[0] >= row.human.value >= own[row.system]
        if row.condition == "ll":
            assert row.at_random[0] <= row.human.value <= own[row.system]


def test_intervals_are_those_of_a_bootstrap(release):
    task = release.task("cnndm")
    [row] = [
        row
        for row in bias_study(task, draws=4000, seed=3)
        if (row.system, row.condition) == ("pointer", "")
    ]
    values = task.under("overall", "pointer").gold
    half = 1.2816 * values.std() / np.sqrt(len(values))
    assert row.human.high - row.human.value == pytest.approx(half, rel=0.1)
    assert row.human.value - row.human.low == pytest.approx(half, rel=0.1)


def test_of_an_output_judged_twice_over_the_later_line_counts(release):
    task = release.task("cnndm")
    grid = Grid.of(task)
    again = task.lines[-1]
    row = list(dict.fromkeys(line.item for line in task.lines)).index(again.item)
    cell = row, task.systems.index(again.system)
    assert grid.human[cell] == again.gold["overall"]
    assert np.isnan(grid.judgments[cell][2:]).all()


def test_conditions_are_the_four_of_the_release():
    assert sorted(CONDITIONS) == ["ll", "lr", "ul", "ur"]
