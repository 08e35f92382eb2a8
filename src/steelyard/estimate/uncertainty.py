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
from steelyard.estimate.repeats import Repeats

__all__ = [
    "ErrorVariance",
    "between_pools",
    "correction_left_out",
    "fixed_raters",
    "satterthwaite",
]


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
        between = between_pools(fit, sample, pool)
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
    return _pool_target(within_pool, unlimited, fit, sample, pool_size=pool_size, options=options)


def between_pools(fit: Fit, sample: JudgedOutputs, pool: Pool | None) -> float:
    r"""Return what the choice of the pool itself adds to the variance.

    .. math:: \frac{a' \Sigma_N a + 2 a' \operatorname{Cov}(e, g)}N

    The covariance of residual and metric is zero for least squares, and not for another slope: the
    residuals of the sample and the pool's mean metric then depend on the same outputs.
    """
    if pool is None or not len(fit.slope):
        return 0.0
    g = sample.metric - sample.metric.mean(axis=0)
    residual = sample.mean - sample.mean.mean() - g @ fit.slope
    shared = fit.slope @ (g.T @ residual) / (sample.n_outputs - 1)
    between = float(fit.slope @ pool.covariance @ fit.slope + 2 * shared)
    # The residuals' own part of the pool's variance, which is counted already, bounds it below.
    return max(between, -fit.residual_variance) / pool.size


def _pool_target(
    within_pool: float,
    unlimited: ErrorVariance,
    fit: Fit,
    sample: JudgedOutputs,
    *,
    pool_size: int,
    options: Options,
) -> ErrorVariance:
    per_judgment = float(np.mean(1 / sample.count))
    known, notes = _rater_variance(fit.residual_variance / per_judgment, sample, options)
    if known is None:
        gain = 1 - float(np.sqrt(1 - sample.n_outputs / pool_size))
        notes = correction_left_out(sample, gain)
        return ErrorVariance(unlimited.value, unlimited.degrees_of_freedom, notes)
    rater_variance, freedom = known
    # Noise of every judged output is part of `within_pool` already, but shrunk by n/N.
    noise = rater_variance * per_judgment / pool_size
    return ErrorVariance(
        within_pool + noise,
        satterthwaite((within_pool, unlimited.degrees_of_freedom), (noise, freedom)),
        notes,
    )


def _rater_variance(
    most: float, sample: JudgedOutputs, options: Options
) -> tuple[tuple[float, float] | None, tuple[str, ...]]:
    """Return the rater variance with its degrees of freedom, None if too little is known of it."""
    if options.rater_variance is not None:
        return (options.rater_variance, np.inf), ()
    own = Repeats.of(sample)
    if own is not None:
        return own.against(most), ()
    lent = options.lent_repeats
    # What other systems tell cannot be true of this one if it exceeds its whole spread.
    if lent is None or lent.variance >= most:
        return None, ()
    note = (
        f"no output of this system has two judgments: the rater variance ({lent.variance:.4g}) is "
        "that of all systems together"
    )
    return lent.against(most), (note,)


def correction_left_out(sample: JudgedOutputs, gain: float) -> tuple[str, ...]:
    """Say that rater noise is not known well enough, and what knowing it could bring.

    Parameters
    ----------
    sample : JudgedOutputs
        The judged outputs.
    gain : float
        Share of the interval that the correction would take off if there were no rater noise.
    """
    if gain < 0.005:
        return ()
    again = int((sample.count > 1).sum())
    if again:
        outputs = "1 output" if again == 1 else f"{again} outputs"
        why = f"the second judgments of {outputs} tell too little of rater noise, so"
        more = "more outputs"
    else:
        why, more = "no output has two judgments, so rater noise is unknown and", "a few outputs"
    note = (
        f"{why} the finite-pool correction is left out (conservative): a second judgment on "
        f"{more} could narrow the interval by up to {gain:.0%}"
    )
    return (note,)


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
