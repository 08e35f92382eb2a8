from dataclasses import replace

import numpy as np
import pytest

from steelyard.paper.bias_study import Grid, bias_study, fresh_gains, replacements
from steelyard.paper.release import PaperTask, ReleasedOutput

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


def task_of(noise, *, items=400, seed=0):
    """Two systems whose outputs differ by a coin, and judgments with so much noise."""
    rng = np.random.default_rng(seed)
    lines = []
    for item in range(items):
        for system in ("fastqa", "fastqa_ext"):
            score = float(rng.integers(2))
            human = tuple((score + noise * rng.normal(size=2)).tolist())
            lines.append(
                ReleasedOutput(
                    len(lines) + 1,
                    item=str(item),
                    system=system,
                    raters=("r1", "r2"),
                    human={"AnyCorrect": human},
                    gold={"AnyCorrect": float(np.mean(human))},
                    metrics={"rouge-l": 0.0 if item else 1.0},
                )
            )
    return PaperTask("msmarco", tuple(lines), (), None)


def test_without_noise_others_see_what_choosers_saw():
    for one in fresh_gains(task_of(0.0), seed=0, splits=5):
        assert one.fresh == pytest.approx(one.chosen)
        # An output is worse than the other one, or better, on a quarter of the items.
        assert abs(one.chosen) == pytest.approx(0.25, abs=0.07)


def test_with_noise_others_see_less():
    for one in fresh_gains(task_of(2.0), seed=0, splits=5):
        assert abs(one.fresh) < 0.5 * abs(one.chosen)


def test_identical_outputs_are_never_a_gain():
    task = task_of(2.0)
    twins = [
        replace(line, human=task.lines[2 * (place // 2)].human)
        for place, line in enumerate(task.lines)
    ]
    for one in fresh_gains(replace(task, lines=tuple(twins)), seed=0, splits=5):
        assert one.chosen == one.fresh == 0
