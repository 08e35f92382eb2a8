"""Correlations of metrics and human scores: as released, reproduced and unbiased (figure 5)."""

from dataclasses import dataclass

import numpy as np

from steelyard.paper.release import PaperTask
from steelyard.paper.setting import Setting
from steelyard.single.efficiency import efficiency_of_each
from steelyard.single.interval import Interval
from steelyard.single.printed import authors_correlation

__all__ = ["MetricCorrelation", "correlations"]


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


def correlations(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[MetricCorrelation]:
    """Return the correlation of every metric under every prompt, for each system and for all.

    Parameters
    ----------
    task : PaperTask
        Released judgments.
    seed : int
        Seed of the intervals' bootstrap.
    resamples : int
        Its size.
    """
    return [
        one
        for prompt in task.prompts
        for system in (*task.systems, "*")
        for one in _of_system(task, prompt, system, seed=seed, resamples=resamples)
    ]


def _of_system(
    task: PaperTask, prompt: str, system: str, *, seed: int, resamples: int
) -> list[MetricCorrelation]:
    lines = task.under(prompt, None if system == "*" else system)
    useful = efficiency_of_each(
        lines.human,
        lines.metric_table,
        items=lines.line,
        resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    return [
        MetricCorrelation(
            task=task.name,
            prompt=prompt,
            system=system,
            metric=metric,
            released=task.released("correlation", prompt, metric, system),
            reproduced=authors_correlation(
                lines.human,
                scores[lines.line],
                items=lines.line,
                means=lines.gold[lines.line],
            ),
            unbiased=found.correlation,
            data_efficiency=found.data_efficiency,
        )
        for (metric, scores), found in zip(lines.metrics.items(), useful, strict=True)
    ]
