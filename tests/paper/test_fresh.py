from dataclasses import replace

import numpy as np
import pytest

from steelyard.paper.fresh import fresh_gains
from steelyard.paper.release import PaperTask
from steelyard.paper.released_lines import ReleasedOutput


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
