import numpy as np
import polars as pl
import pytest

from steelyard.design import ConfidenceSequence
from steelyard.study import Study
from steelyard.study.expected import expected_units
from steelyard.study.forecast import towards
from steelyard.study.monitoring import monitor


def judgments(seed, *, size, metric):
    """A random order of a pool: binary scores, and the metric that goes with them or none."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=size)
    scores = (rng.uniform(size=size) < 1 / (1 + np.exp(-2 * latent))).astype(float)
    order = rng.permutation(size)
    return scores[order], (latent + 0.7 * rng.normal(size=size))[order] if metric else None


def test_the_asymptotic_sequence_is_solved_for_what_is_missing():
    # From an interval of the formula itself, scores of variance 1/4 and draws with replacement: at
    # level 0.95 b = -2 log 0.05 + log(1 - 2 log 0.05) = 7.937, and the goal 0.1 takes
    # 0.25 / 0.01 * (1 + 1/7.937) * (log(8.937) + 5.991) = 230.3 judgments by the formula. After 50
    # it has tuned for them. Of the 180.3 that are missing, 1 - 0.55/sqrt(7.937) = 0.8048 do.
    sequence = ConfidenceSequence(method="asymptotic", replacement=True, goal=0.1)
    sequence.update(np.tile([0.0, 1.0], 25))
    # 50 alternating scores have the variance 25/98 and not 1/4: 235.0 judgments by the formula
    assert expected_units(sequence, 0.1) == round(0.8048 * (235.0 - 50) + 0.5)


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("judged", [60, 150])
def test_forecasts_of_the_asymptotic_sequence_come_true_on_average(metric, judged):
    goal, total, needed = 0.05, [], []
    for seed in range(60):
        scores, metrics = judgments(seed, size=1000, metric=metric)
        sequence = ConfidenceSequence(metrics, method="asymptotic", goal=goal, pool_size=1000)
        sequence.update(scores[:judged], None if metrics is None else metrics[:judged])
        total.append(judged + expected_units(sequence, goal))
        sequence.update(scores[judged:600], None if metrics is None else metrics[judged:600])
        path = sequence.path()
        needed.append(path.judgments[np.argmax(path.half_width <= goal)])
    assert np.mean(total) == pytest.approx(np.mean(needed), rel=0.05)


@pytest.mark.parametrize(("goal", "judged"), [(0.15, 30), (0.1, 60)])
def test_forecasts_of_bets_come_true_on_average_at_coarse_goals(goal, judged):
    total, needed = [], []
    for seed in range(16):
        scores, _ = judgments(seed, size=1000, metric=False)
        sequence = ConfidenceSequence(bounds=(0, 1), goal=goal, pool_size=1000)
        sequence.update(scores[:judged])
        total.append(judged + expected_units(sequence, goal))
        sequence.update(scores[judged:240])
        path = sequence.path(np.arange(judged, 240, 4))
        needed.append(path.judgments[np.argmax(path.half_width <= goal)])
    assert np.mean(total) == pytest.approx(np.mean(needed), rel=0.1)


def test_a_number_to_be_tuned_for_is_gone_by():
    scores, _ = judgments(0, size=2000, metric=False)
    options = {"method": "asymptotic", "pool_size": 2000, "goal": 0.06}
    by_goal, by_number = (
        ConfidenceSequence(**options, tuned_for=tuned_for) for tuned_for in (None, 3000)
    )
    for sequence in (by_goal, by_number):
        sequence.update(scores[:100])
    # a sequence that is tightest much later is longer now and needs more
    assert by_number.half_width > by_goal.half_width
    assert expected_units(by_number, 0.06) > expected_units(by_goal, 0.06)
    by_number.update(scores[100 : 100 + expected_units(by_number, 0.06)])
    assert by_number.half_width == pytest.approx(0.06, rel=0.12)


def test_near_the_end_of_a_pool_only_what_is_certain_narrows_the_asymptotic_sequence():
    scores, _ = judgments(0, size=120, metric=False)
    sequence = ConfidenceSequence(method="asymptotic", pool_size=120, goal=0.05)
    sequence.update(scores[:60])
    # half of what 12 outputs may still change is 0.05
    assert expected_units(sequence, 0.05) == 120 - 12 - 60


def test_nothing_is_expected_before_there_is_an_interval_or_after_the_goal():
    scores, _ = judgments(0, size=500, metric=False)
    sequence = ConfidenceSequence(method="asymptotic", pool_size=500, goal=0.2)
    sequence.update(scores[:20])
    assert expected_units(sequence, 0.2) is None
    sequence.update(scores[20:300])
    assert expected_units(sequence, 0.2) == 0


def test_another_goal_is_forecast_by_the_same_formula():
    scores, _ = judgments(0, size=2000, metric=False)
    study = Study.read(
        pl.DataFrame({"item": range(2000), "system": "s", "length": 0}),
        pl.DataFrame(
            {"item": range(100), "system": "s", "rater": "r", "prompt": "p", "score": scores[:100]}
        ),
    )
    [found] = monitor(study, half_width=0.05, method="asymptotic")
    other = towards(found, 0.08, 1)
    assert other.goal == 0.08
    assert 0 < other.expected_more == expected_units(found.sequence, 0.08) < found.expected_more
    assert towards(found, found.half_width, 1).expected_more == 0
