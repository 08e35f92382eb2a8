"""One analysis of judgments for components, agreement and every metric."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import NotEstimableError
from steelyard.single.agreement import Agreement, agreement_of
from steelyard.single.analysis import Analysis, analysis
from steelyard.single.components import VarianceComponents, components_of
from steelyard.single.correlation import check_collinear, check_outputs, metric_sample
from steelyard.single.efficiency import Efficiency, efficiencies_in, efficiency_in
from steelyard.single.judged import JudgedOutputs, judged_outputs, systems_of_outputs
from steelyard.single.pool import Pool
from steelyard.single.quantity import check_options
from steelyard.variance.remedies import Remedies, remedies_in

__all__ = ["JointAnalysis", "joint_analysis"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointAnalysis:
    """Judgments whose components were fitted once, and what they tell.

    Attributes
    ----------
    found : Analysis
        Components, moments and draws.
    pool_covariance : (p, p) array or None
        Covariance of the metrics over the pool.
    level : float
        Confidence level of the intervals.
    refusal : str or None
        Why there are no metrics in it, where some were given.
    """

    found: Analysis
    pool_covariance: Floats | None
    level: float
    refusal: str | None = None

    @property
    def sample(self) -> JudgedOutputs:
        """The judged outputs."""
        return self.found.sample

    @property
    def components(self) -> VarianceComponents:
        """Item and rater variance."""
        return components_of(self.found, self.level)

    @property
    def agreement(self) -> Agreement:
        """Agreement of raters; alpha is NaN where chance agreement is complete."""
        return agreement_of(self.found.sample, self.found.systems, self.found.crossed)

    def each(self) -> list[Efficiency]:
        """Return the efficiency of each metric alone."""
        return efficiencies_in(self.found, self.pool_covariance, self.level)

    def together(self) -> Efficiency:
        """Return the efficiency of all metrics together.

        Raises
        ------
        NotEstimableError
            If there are too few outputs for them, or one is a combination of others.
        """
        check_outputs(self.sample, self.found.systems, metrics=self.sample.n_metrics)
        check_collinear(self.sample)
        return efficiency_in(self.found, self.pool_covariance, self.level)

    def remedies(self, metric: int | None, *, chosen_from: int = 1) -> Remedies:
        """Return what a better metric and better raters would save, as in `remedies_in`."""
        return remedies_in(
            self.found,
            metric,
            self.pool_covariance,
            chosen_from=chosen_from,
            level=self.level,
        )


def joint_analysis(
    human: ArrayLike,
    metric: ArrayLike | None = None,
    metric_pool: ArrayLike | Pool | None = None,
    *,
    items: ArrayLike,
    raters: ArrayLike | None = None,
    systems: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> JointAnalysis:
    """Fit components once, for all that is asked of them.

    Parameters
    ----------
    human, metric, metric_pool, items, raters, systems, level, resamples, rng
        As in `efficiency_of`; without metrics, components and agreement only. Too few outputs for
        a correlation do not matter to these: metrics are then left out, with a `refusal`.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or an option breaks its rule.
    NotEstimableError
        If the judgments do not determine the components.
    """
    check_options(level, resamples)
    within = systems_of_outputs(systems, items)
    sample, covariance, refusal = judged_outputs(human, None, items, raters=raters), None, None
    if metric is not None and np.shape(metric)[1:] != (0,):
        try:
            check_outputs(sample, within, metrics=1)
        except NotEstimableError as error:
            refusal = str(error)
        else:
            sample, covariance = metric_sample(
                human,
                metric,
                metric_pool,
                items=items,
                raters=raters,
                systems=within,
                jointly=False,
            )
    found = analysis(sample, systems=within, level=level, resamples=resamples, rng=rng)
    return JointAnalysis(found, covariance, level, refusal)
