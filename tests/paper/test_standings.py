import numpy as np
import pytest

from steelyard.paper.released_tables import converted
from steelyard.paper.standings import standings
from steelyard.single.components import variance_components


def test_each_system_and_all_of_them_stand_under_each_prompt(release):
    for task in release.tasks:
        found = standings(task, seed=0, resamples=50)
        wanted = [(prompt, one) for prompt in task.prompts for one in (*task.systems, "*")]
        assert [(one.prompt, one.system) for one in found] == wanted
        for one in found:
            worth = [metric.data_efficiency.value for metric in one.metrics.values()]
            assert worth == sorted(worth, reverse=True)
            assert set(one.metrics) == set(task.metrics)


def test_noise_ratios_are_those_of_the_crossed_components(release):
    task = release.task("cnndm")
    [found] = [
        one
        for one in standings(task, seed=0, resamples=50)
        if (one.prompt, one.system) == ("hter", "ml")
    ]
    rows = converted(task.name, task.lines, task.texts).judgments.filter(prompt="hter", system="ml")
    expected = variance_components(
        rows["score"].to_numpy(),
        rows["item"].to_numpy(),
        rows["rater"].to_numpy(),
        resamples=50,
        rng=np.random.default_rng(0),
    )
    for one in found.metrics.values():
        assert one.noise_ratio.value == pytest.approx(expected.noise_ratio.value)
        assert one.noise_ratio.low == pytest.approx(expected.noise_ratio.low)
