"""Correlations of metrics and human scores: as released, reproduced and unbiased (figure 5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.paper.names import Setting
from steelyard.paper.release import PaperTask
from steelyard.paper.variances import printed_components
from steelyard.single.efficiency import metric_efficiencies
from steelyard.single.interval import Interval
from steelyard.single.judged import judged_outputs

__all__ = ["MetricCorrelation", "authors_correlation", "correlations"]


@dataclass(frozen=True)
class MetricCorrelation(Setting):
    """Correlation of a metric with the human score; of all systems the reference included.

    Attributes
    ----------
    released : float or None
        The authors' result.
    reproduced : float
        Their formula on the released judgments.
    unbiased : Interval
        Corrected for rater noise, with its 95% interval.
    data_efficiency : Interval
        What the metric is worth by the formula of section 3, with its 95% interval.
    """

    released: float | None
    reproduced: float
    unbiased: Interval
    data_efficiency: Interval


def authors_correlation(
    human: ArrayLike, metric: ArrayLike, *, items: ArrayLike, means: ArrayLike | None = None
) -> float:
    r"""Correlation of metric and human score by the formula behind the authors' results file.

    .. math:: \frac{\frac1n \sum_i (\bar y_i - \bar{\bar y})(g_i - \bar g)}
              {\sqrt{\operatorname{Var}(y) - \hat\sigma_a^2} \; s_g},

    with the variance of all judgments over M - 1 and that of the metric over n - 1. `means` are the
    outputs' mean judgments where they are not those of their judgments: the authors leave some out.

    Examples
    --------
    >>> human, items = [1, 3, 6, 8, 4, 4], [1, 1, 2, 2, 3, 3]
    >>> round(authors_correlation(human, [0, 0, 2, 2, 1, 1], items=items), 4)
    0.7828
    """
    sample = judged_outputs(human, metric, items)
    centre = sample.mean if means is None else judged_outputs(human, means, items).metric[:, 0]
    g = sample.metric[:, 0]
    covariance = float(np.mean((centre - centre.mean()) * (g - g.mean())))
    item = float(sample.human.var(ddof=1)) - printed_components(human, items).rater
    return covariance / float(np.sqrt(item) * g.std(ddof=1))


def correlations(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[MetricCorrelation]:
    """Return the correlation of every metric under every prompt, for each system and for all."""
    return [
        correlation
        for prompt in task.prompts
        for system in (*task.systems, "*")
        for correlation in _of_system(task, prompt, system, seed=seed, resamples=resamples)
    ]


def _of_system(
    task: PaperTask, prompt: str, system: str, *, seed: int, resamples: int
) -> list[MetricCorrelation]:
    lines = task.under(prompt, system)
    items, gold = lines.line, lines.gold[lines.line]
    rng = np.random.default_rng(seed)
    each = metric_efficiencies(
        lines.human, lines.metric_table, items=items, resamples=resamples, rng=rng
    )
    return [
        MetricCorrelation(
            *(task.name, prompt, system, metric),
            released=task.released("correlation", prompt, metric, system),
            reproduced=authors_correlation(lines.human, scores[items], items=items, means=gold),
            unbiased=efficiency.correlation,
            data_efficiency=efficiency.data_efficiency,
        )
        for (metric, scores), efficiency in zip(lines.metrics.items(), each, strict=True)
    ]
