r"""What a perfect metric or noiseless raters would bring, and what the paper's stand-ins measure.

The paper stands the mean of an output's m judgments in for its human score. That mean holds the very
judgment it is to predict, so as a perfect metric it explains part of that judgment's noise; and as a
noiseless judgment it still has noise. With :math:`k` the mean of 1 / m over outputs,

.. math::
    \text{perfect metric:}\quad \frac{1+\gamma}{\gamma} \;\text{becomes}\;
        \frac{1+\gamma}{\gamma (1 - k)}, \qquad
    \text{noiseless raters:}\quad \frac{1+\gamma}{1-\rho^2} \;\text{becomes}\;
        \frac{1+\gamma}{1-\rho^2+k\gamma},

each against the plain mean of today's noisy judgments. With two judgments an output the first is twice
too large.
"""

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Floats
from steelyard.paper.names import Setting
from steelyard.paper.release import PaperTask
from steelyard.single.components import analysis
from steelyard.single.efficiency import scaled_metrics
from steelyard.single.interval import Interval, percentiles
from steelyard.single.judged import judged_outputs
from steelyard.single.moments import SampleMoments

__all__ = ["EfficiencyLimits", "limits"]

_LEVEL = 0.95


@dataclass(frozen=True)
class EfficiencyLimits(Setting):
    """The two limits of data efficiency for a system, a prompt and a metric.

    Attributes
    ----------
    perfect_metric, noiseless_raters : Interval
        Against the plain mean of noisy judgments, with 95% intervals.
    perfect_stand_in, noiseless_stand_in : float
        What the same data give when mean judgments stand in for human scores.
    """

    perfect_metric: Interval
    noiseless_raters: Interval
    perfect_stand_in: float
    noiseless_stand_in: float


def limits(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[EfficiencyLimits]:
    """Return the limits of every metric under every prompt, for each system."""
    return [
        limit
        for prompt in task.prompts
        for system in task.systems
        for limit in _of_system(task, prompt, system, seed=seed, resamples=resamples)
    ]


def _of_system(
    task: PaperTask, prompt: str, system: str, *, seed: int, resamples: int
) -> list[EfficiencyLimits]:
    lines = task.under(prompt, system)
    sample, _ = scaled_metrics(judged_outputs(lines.human, lines.metric_table, lines.line))
    rng = np.random.default_rng(seed)
    analysed = analysis(sample, level=_LEVEL, resamples=resamples, rng=rng)
    here, there = analysed.here, analysed.there
    share, noise = float(np.mean(1 / lines.count)), float(_rater_share(here)[0])
    return [
        EfficiencyLimits(
            *(task.name, prompt, system, metric),
            perfect_metric=_inverse(_rater_share(here), _rater_share(there)),
            noiseless_raters=_inverse(_left(here, j), _left(there, j)),
            perfect_stand_in=1 / (noise * (1 - share)),
            noiseless_stand_in=1 / (float(_left(here, j)[0]) + share * noise),
        )
        for j, metric in enumerate(lines.metrics)
    ]


def _rater_share(moments: SampleMoments) -> Floats:
    """Rater variance as a share of the total: what a perfect metric leaves."""
    return np.asarray(np.clip(moments.rater / moments.total, 0.0, 1.0))


def _left(moments: SampleMoments, index: int) -> Floats:
    """Item variance that the metric does not explain, as a share of the total."""
    explained = moments.with_metric[:, index] ** 2 / moments.metric[:, index]
    return np.asarray(np.clip((moments.item - explained) / moments.total, 0.0, 1.0))


def _inverse(here: Floats, there: Floats) -> Interval:
    low, high = percentiles(there, _LEVEL)
    return Interval(*(1 / share if share > 0 else np.inf for share in (float(here[0]), high, low)))
