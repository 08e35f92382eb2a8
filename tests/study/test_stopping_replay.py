import numpy as np
import pytest

from steelyard.design import ConfidenceSequence
from steelyard.design.sequence.options import SequenceOptions
from steelyard.study.stopping_replay import stopped_outcomes

BOUNDS = (-1.0, 3.0)


def followed(human, metric, method, goal, look):
    """Follow one sequence judgment by judgment, as a campaign would."""
    sequence = ConfidenceSequence(
        metric, bounds=BOUNDS, method=method, pool_size=len(human), goal=goal
    )
    held = True
    for start in range(0, len(human), look):
        part = slice(start, start + look)
        sequence.update(human[part], None if metric is None else metric[part])
        held = held and sequence.low - 1e-9 <= human.mean() <= sequence.high + 1e-9
        if sequence.half_width <= goal:
            break
    return sequence.n, sequence.half_width, sequence.estimate - human.mean(), held


@pytest.mark.parametrize("method", ["betting", "empirical-bernstein", "asymptotic"])
@pytest.mark.parametrize("with_metric", [True, False])
@pytest.mark.parametrize("goal", [0.5, 0.05])
def test_all_replays_at_once_are_each_of_them_alone(method, with_metric, goal):
    rng = np.random.default_rng(4)
    pool = rng.uniform(-1, 3, (87, 1))
    orders = np.stack([rng.permutation(87) for _ in range(4)])
    human = np.clip(pool[orders, 0] + rng.normal(size=(4, 87)), *BOUNDS)
    metric = pool[orders]
    options = SequenceOptions(bounds=BOUNDS, method=method, pool_size=87, goal=goal)
    found = stopped_outcomes(human, metric if with_metric else None, options, look=10, goal=goal)
    for run, one in enumerate(found):
        want = followed(human[run], metric[run] if with_metric else None, method, goal, 10)
        assert (one.judgments, one.covered) == (want[0], want[3])
        assert (one.half_width, one.error) == pytest.approx(want[1:3], abs=1e-9)
        assert one.reached == (one.half_width <= goal)
