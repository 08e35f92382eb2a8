r"""Variance of an estimate's error when judgments are independent given the output.

With weights :math:`w_i` on the judged outputs, residual variance :math:`s_e^2` and rater variance
:math:`\sigma_a^2`, the error about the mean human score of a fixed pool of N outputs has variance

.. math:: V = s_e^2 \left[\sum_i w_i^2 - \frac1N\right]
              + \frac1N \operatorname{mean}_i\frac{\sigma_a^2}{m_i}.

For least squares :math:`\sum_i w_i^2 = 1/n + d' S^{-1} d`. Derived in docs/methods/estimators.md.
"""

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options
from steelyard.variance.components import one_way

__all__ = ["ErrorVariance", "fixed_raters", "satterthwaite"]


@dataclass(frozen=True)
class ErrorVariance:
    """The variance of an estimate's error, and how well it is known itself."""

    value: float
    degrees_of_freedom: float
    notes: tuple[str, ...] = ()


def fixed_raters(
    fit: Fit, sample: JudgedOutputs, pool: Pool | None, *, pool_size: int | None, options: Options
) -> ErrorVariance:
    """Return the error variance of `fit` for the target that `options` name."""
    spread = float(fit.weights @ fit.weights)
    unlimited = ErrorVariance(fit.residual_variance * spread, fit.degrees_of_freedom)
    if options.target == "superpopulation":
        between = 0.0
        if pool is not None and len(fit.slope):
            between = float(fit.slope @ pool.covariance @ fit.slope) / pool.size
        return ErrorVariance(unlimited.value + between, unlimited.degrees_of_freedom)
    if not sample.identified:
        if options.target == "census":
            raise InvalidArgumentError(
                '`target` "census" needs `items`: without them judgments are draws with '
                'replacement; pass `items` or use target="pool"'
            )
        return unlimited
    if pool_size is None:
        if options.target == "census":
            raise InvalidArgumentError('`target` "census" needs the size of the pool')
        return unlimited
    within_pool = fit.residual_variance * max(spread - 1 / pool_size, 0.0)
    if options.target == "census":
        return ErrorVariance(within_pool, fit.degrees_of_freedom)
    return _pool_target(within_pool, unlimited, sample, pool_size=pool_size, options=options)


def _pool_target(
    within_pool: float,
    unlimited: ErrorVariance,
    sample: JudgedOutputs,
    *,
    pool_size: int,
    options: Options,
) -> ErrorVariance:
    if options.rater_variance is not None:
        rater_variance, freedom = options.rater_variance, np.inf
    elif sample.n_judgments > sample.n_outputs:
        components = one_way(sample)
        rater_variance, freedom = components.rater, components.degrees_of_freedom
    else:
        gain = 1 - np.sqrt(1 - sample.n_outputs / pool_size)
        note = (
            "no output has two judgments, so rater noise is unknown and the finite-pool "
            "correction is left out (conservative): a second judgment on a few outputs could "
            f"narrow the interval by up to {gain:.0%}"
        )
        return ErrorVariance(
            unlimited.value, unlimited.degrees_of_freedom, (note,) if gain >= 0.005 else ()
        )
    # Noise of every judged output is part of `within_pool` already, but shrunk by n/N.
    noise = rater_variance * float(np.mean(1 / sample.count)) / pool_size
    value = within_pool + noise
    return ErrorVariance(
        value,
        satterthwaite((within_pool, unlimited.degrees_of_freedom), (noise, freedom)),
    )


def satterthwaite(*parts: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of independent variance estimates (Satterthwaite, 1946).

    Parameters
    ----------
    *parts : (float, float)
        Each part of the sum with its own degrees of freedom.
    """
    total = sum(value for value, _ in parts)
    doubt = sum(value**2 / freedom for value, freedom in parts)
    if doubt == 0:
        return min(freedom for _, freedom in parts)
    return total**2 / doubt
