r"""Variance of an estimate's error when judgments are independent given the output.

With weights :math:`w_i` on the judged outputs, :math:`D_i` of them the draw's, residual variances
:math:`s_h^2` of the strata and rater variance :math:`\sigma_a^2`, the error about the mean human score
of a fixed pool has variance

.. math:: V = \sum_h s_h^2 \sum_{i \in h} \left[w_i^2 - D_i^2 \pi_i\right]
              + \sigma_a^2 \sum_i \frac{D_i^2 \pi_i}{m_i}.

For a simple draw of n of N outputs :math:`\sum D_i^2 \pi_i = 1/N`. Derived in docs/methods/paper-estimators.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options
from steelyard.estimate.repeats import Repeats
from steelyard.estimate.residual_squares import residual_squares

__all__ = [
    "ErrorVariance",
    "Part",
    "between_pools",
    "fixed_raters",
    "residual_parts",
    "satterthwaite",
    "unspread",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A part of an error variance: an estimated variance times a known coefficient.

    Attributes
    ----------
    name : str
        "outputs" for what lies between outputs, "rater noise", "leniency" or "crossed model".
    variance, coefficient : float
        The estimated variance, and what it is multiplied with.
    degrees_of_freedom : float
        Of `variance`.
    doubt : float, optional
        Variance of `value`, where degrees of freedom do not give it.
    """

    name: str
    variance: float
    coefficient: float
    degrees_of_freedom: float
    doubt: float | None = None

    @property
    def value(self) -> float:
        """What the part adds to the error variance."""
        return self.variance * self.coefficient


@dataclass(frozen=True)
class ErrorVariance:
    """The variance of an estimate's error as a sum of parts, each with its own uncertainty.

    Attributes
    ----------
    parts : tuple of Part
        What it is made of.
    between_pools : float
        What the choice of the pool adds; it does not count for the degrees of freedom.
    notes : tuple of str
        What a reader must know.
    """

    parts: tuple[Part, ...]
    between_pools: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The variance."""
        return max(sum(part.value for part in self.parts), 0.0) + self.between_pools

    @property
    def degrees_of_freedom(self) -> float:
        """Satterthwaite's (1946) degrees of freedom of the sum."""
        least = min(part.degrees_of_freedom for part in self.parts)
        doubt = sum(_doubt(part) for part in self.parts)
        if doubt == 0:
            return least
        total = max(sum(part.value for part in self.parts), 0.0)
        return max(2 * total**2 / doubt, min(least, 1.0))


def satterthwaite(*parts: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of independent variances, each with its own degrees of freedom."""
    named = tuple(Part("", value, 1.0, freedom) for value, freedom in parts)
    return ErrorVariance(named).degrees_of_freedom


def residual_parts(fit: Fit, draw: Draw, *, limited: bool) -> tuple[Part, ...]:
    """Return what lies between outputs, by stratum, with or without the finite-pool factor."""
    squares = residual_squares(fit, draw, limited=limited)
    coefficient = draw.total(fit.weights**2)
    if draw.poststratified:
        # The number of outputs in each stratum is random too (Cochran, section 5A.9).
        n, W = len(fit.weights), draw.share
        coefficient += W / n + (1 - W) / n**2 - W**2 / draw.count
    if limited:
        coefficient -= draw.total(fit.plain**2 * draw.inclusion)
    rows = zip(squares.variance, np.maximum(coefficient, 0.0), squares.freedom, strict=True)
    return tuple(Part("outputs", *(float(number) for number in row)) for row in rows)


def fixed_raters(
    fit: Fit, sample: JudgedOutputs, draw: Draw, pool: Pool | None, *, options: Options
) -> ErrorVariance:
    r"""Return the error variance of `fit` for the target that `options` name.

    The finite-pool factor takes :math:`D_i^2 \pi_i \sigma_a^2 / m_i` too much off for each output,
    which is added back; :math:`\sigma_a^2` is the mean over the pool of the outputs' own rater
    variances, hence weighted by :math:`1/\pi_i`.
    """
    unlimited = ErrorVariance(residual_parts(fit, draw, limited=False))
    if options.target == "superpopulation":
        between = between_pools(fit, sample, pool) + unspread(
            fit, draw, unlimited.parts[0].variance
        )
        return ErrorVariance(unlimited.parts, between)
    if options.target == "census":
        _check_census(draw)
    if not draw.identified or draw.pool_size is None:
        return unlimited
    within_pool = ErrorVariance(residual_parts(fit, draw, limited=True))
    if options.target == "census":
        return within_pool
    added = float(np.sum(fit.plain**2 * draw.inclusion / sample.count))
    # The rater variance at which all of the outputs' spread would be noise.
    most = max(unlimited.value - within_pool.value, 0.0) / added
    known, notes = _rater_variance(sample, draw, most, options)
    if known is None:
        kept = within_pool.value / unlimited.value if unlimited.value > 0 else 1.0
        notes = _correction_left_out(sample, 1 - float(np.sqrt(min(kept, 1.0))))
        return ErrorVariance(unlimited.parts, notes=notes)
    noise = Part("rater noise", known[0], added, known[1])
    return ErrorVariance((*within_pool.parts, noise), notes=notes)


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


def unspread(fit: Fit, draw: Draw, variance: float) -> float:
    """Return what a spread draw leaves out for new outputs, which are not spread as its own are.

    The pool's mean varies with all of the residuals' spread, not only with that of neighbours.
    """
    if draw.place is None or draw.pool_size is None:
        return 0.0
    return max(fit.residual_variance - variance, 0.0) / draw.pool_size


def _doubt(part: Part) -> float:
    if part.doubt is not None:
        return part.doubt
    return 2 * part.value**2 / part.degrees_of_freedom


def _check_census(draw: Draw) -> None:
    if not draw.identified:
        raise InvalidArgumentError(
            '`target` "census" needs `items`: without them judgments are draws with '
            'replacement; pass `items` or use target="pool"'
        )
    if draw.pool_size is None:
        raise InvalidArgumentError('`target` "census" needs the size of the pool')


def _rater_variance(
    sample: JudgedOutputs, draw: Draw, most: float, options: Options
) -> tuple[tuple[float, float] | None, tuple[str, ...]]:
    """Return the rater variance with its degrees of freedom, None if too little is known of it."""
    if options.rater_variance is not None:
        return (options.rater_variance, np.inf), ()
    probability = draw.inclusion
    own = Repeats.of(sample, weights=1 / probability)
    if own is not None and options.raters_as != "fixed":
        # With raters as a sample leniency is told from this number, which must stay unbiased.
        pairs = (sample.count - 1) / probability
        return (own.variance, float(pairs.sum() ** 2 / (pairs / probability).sum())), ()
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


def _correction_left_out(sample: JudgedOutputs, gain: float) -> tuple[str, ...]:
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
