import numpy as np
import pytest

from steelyard.paper.limits import limits
from steelyard.paper.release import PaperTask, ReleasedOutput
from steelyard.single.trajectory import trajectory

# gamma = 1 and rho = 0.6, so a perfect metric brings 2 and noiseless raters 2 / 0.64.
PERFECT, NOISELESS = 2.0, 3.125


def campaign(*, outputs=4000, judgments=2, seed=5):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=outputs)
    metric = 0.6 * score + 0.8 * rng.normal(size=outputs)
    lines = [
        ReleasedOutput(
            k + 1,
            item=str(k),
            system="ml",
            raters=tuple("abcde"[:judgments]),
            human={"overall": tuple((score[k] + rng.normal(size=judgments)).tolist())},
            gold={"overall": 0.0},
            metrics={"rouge-l": float(metric[k])},
        )
        for k in range(outputs)
    ]
    return PaperTask("cnndm", tuple(lines), (), None)


def test_limits_are_those_of_the_truth():
    [found] = limits(campaign(), seed=0, resamples=200)
    assert found.perfect_metric.low < PERFECT < found.perfect_metric.high
    assert found.noiseless_raters.low < NOISELESS < found.noiseless_raters.high
    assert found.perfect_metric.value == pytest.approx(PERFECT, rel=0.05)
    assert found.noiseless_raters.value == pytest.approx(NOISELESS, rel=0.1)


@pytest.mark.parametrize(
    ("judgments", "perfect", "noiseless"),
    # (1 + g) / (g (1 - 1/m)) and (1 + g) / (1 - r^2 + g/m)
    [(2, 4.0, 2 / 1.14), (4, 2 / 0.75, 2 / 0.89)],
)
def test_stand_ins_are_off_by_what_theory_says(judgments, perfect, noiseless):
    [found] = limits(campaign(judgments=judgments), seed=0, resamples=200)
    assert found.perfect_stand_in == pytest.approx(perfect, rel=0.05)
    assert found.noiseless_stand_in == pytest.approx(noiseless, rel=0.05)


def test_a_trajectory_with_stand_ins_shows_the_same():
    task = campaign(outputs=1000)
    lines = task.under("overall", "ml")
    found = trajectory(
        lines.human,
        lines.metrics["rouge-l"][lines.line],
        items=lines.line,
        draws=400,
        rng=np.random.default_rng(0),
    )
    [right] = limits(task, seed=0, resamples=200)
    assert found.perfect_metric.data_efficiency == pytest.approx(right.perfect_stand_in, rel=0.12)
    assert found.noiseless_raters.data_efficiency == pytest.approx(
        right.noiseless_stand_in, rel=0.12
    )
    assert found.perfect_metric.data_efficiency > 1.6 * right.perfect_metric.value


def test_every_metric_of_every_system_has_its_limits(found):
    assert len(found.limits) == 6 * 4 * 7
    assert len(found.best_limits) == 6 * 4
