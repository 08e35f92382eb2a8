from dataclasses import replace

import numpy as np
import pytest

from steelyard.paper.differences import curve_error, differences, implied_distance
from steelyard.paper.trajectories import Followed
from steelyard.single.trajectory import trajectory


def test_the_perfect_metric_is_compared_once_for_each_system_and_prompt(found):
    kinds = [one.kind for one in found.differences]
    assert kinds.count("metric") == kinds.count("noiseless raters") == 168
    assert kinds.count("perfect metric") == 24


def test_the_error_of_a_curve_falls_with_the_root_of_the_draws():
    """80% lengths from B normal draws scatter by about 0.9 / sqrt(B) at one point, less in the mean."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=60)

    def followed(draws, count):
        return [
            replaced_trajectory(
                trajectory(
                    score,
                    score + rng.normal(size=60),
                    items=np.arange(60),
                    draws=draws,
                    rng=np.random.default_rng(k),
                )
            )
            for k in range(count)
        ]

    few, many = curve_error(followed(100, 30)), curve_error(followed(900, 30))
    assert few / many == pytest.approx(3, rel=0.4)
    assert few < 0.09


def replaced_trajectory(found):
    return Followed("cnndm", "p", "s", "m", found, None, None, None)


def test_without_trajectories_there_are_no_differences():
    assert differences([]) == []


def released_off_centre(distance, seed):
    """Follow a campaign, and once more with the metric centred so many deviations away."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=300)
    metric = 0.7 * score + rng.normal(size=300)
    items = np.repeat(np.arange(300), 2)
    human = score[items] + rng.normal(size=600)
    right, shifted = (
        trajectory(human, metric[items], pool, items=items, draws=800, rng=np.random.default_rng(1))
        for pool in (metric, metric + distance * metric.std())
    )
    return replace(
        replaced_trajectory(right),
        released=shifted.corrected.length_ratio,
        released_noiseless=shifted.noiseless_raters.length_ratio,
    )


@pytest.mark.parametrize("kind", ["metric", "noiseless raters"])
def test_a_metric_centred_elsewhere_is_found_out(kind):
    found = differences([released_off_centre(0.35, seed) for seed in range(12)])
    assert implied_distance(one for one in found if one.kind == kind) == pytest.approx(
        0.35, abs=0.05
    )


def test_a_metric_centred_at_its_mean_is_not_suspected():
    found = differences([released_off_centre(0.0, seed) for seed in range(2)])
    assert implied_distance(found) == 0
