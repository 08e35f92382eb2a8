r"""Raters as a sample of raters: leniency does not average out over outputs.

In the crossed model :math:`y_{ij} = f_i + b_{r(ij)} + e_{ij}` an estimate with weights
:math:`w_{ij}` on single judgments (summing to one) has error variance

.. math:: V = \sigma_f^2\left[\sum_i w_{i\cdot}^2 - \frac1N\right]
              + \sigma_r^2 \sum_r w_{\cdot r}^2 + \sigma_e^2 \sum_{ij} w_{ij}^2,

where :math:`\sigma_f^2` is what the metric leaves of the item variance. Derived in
docs/methods/estimators.md.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options
from steelyard.estimate.uncertainty import ErrorVariance, between_pools
from steelyard.variance.crossed import CrossedComponents, crossed_components, gls_weights

__all__ = ["RaterModel", "adjusted_fit", "few_raters", "random_raters", "rater_model"]

Floats = NDArray[np.float64]

# With fewer, chance often makes raters look alike, and the interval is then too short (measured).
_FEW_RATERS = 5


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Crossed components of what the metric leaves, and weights on single judgments."""

    components: CrossedComponents
    weights: Floats


def rater_model(fit: Fit, sample: JudgedOutputs) -> RaterModel:
    """Fit the crossed model around `fit`, keeping the weights of `fit`."""
    return RaterModel(_components(fit, sample), (fit.weights / sample.count)[sample.output])


def adjusted_fit(fit: Fit, sample: JudgedOutputs, pool: Pool | None) -> tuple[Fit, RaterModel]:
    """Return the generalised-least-squares estimate, free of estimated leniency."""
    if fit.kind not in {"least-squares", "given", "pooled"}:
        raise InvalidArgumentError(
            f'`raters_as` "adjusted" estimates the slope by generalised least squares and cannot '
            f'go with slope "{fit.kind}": use slope="least-squares", "pooled" or a number'
        )
    pool_mean = np.empty(0) if pool is None else pool.mean
    offset = (sample.metric - pool_mean)[sample.output]
    components = _components(fit, sample, centre=pool_mean)
    contrast = np.zeros(len(components.fixed))
    contrast[0] = 1
    weights = gls_weights(components, contrast)
    if fit.from_this_sample:
        estimate, slope = float(components.fixed[0]), components.fixed[1:]
    else:
        estimate, slope = float(weights @ (sample.human - offset @ fit.slope)), fit.slope
    per_output = np.bincount(sample.output, weights=weights).astype(np.float64)
    adjusted = replace(fit, estimate=estimate, slope=slope, weights=per_output)
    return adjusted, RaterModel(components, weights)


def random_raters(
    model: RaterModel,
    fit: Fit,
    sample: JudgedOutputs,
    pool: Pool | None,
    *,
    pool_size: int | None,
    options: Options,
) -> ErrorVariance:
    """Return the error variance when raters are a sample of raters."""
    assert sample.rater is not None
    components, w = model.components, model.weights
    per_output = np.bincount(sample.output, weights=w)
    per_rater = np.bincount(sample.rater, weights=w)
    notes = list(components.notes)
    finite = sample.identified and pool_size is not None and options.target == "pool"
    if finite and not components.item_identified:
        notes.append(
            "no output has two judgments, so rater noise is unknown and the finite-pool "
            "correction is left out (conservative)"
        )
    corrected = finite and components.item_identified and pool_size is not None
    limit = 1 / pool_size if corrected and pool_size is not None else 0.0
    coefficients = np.array(
        [max(per_output @ per_output - limit, 0.0), per_rater @ per_rater, w @ w]
    )
    values = np.array([components.item, components.leniency, components.residual])
    value = float(coefficients @ values)
    doubt = float(coefficients @ components.covariance @ coefficients)
    freedom = 2 * value**2 / doubt if doubt > 0 else fit.degrees_of_freedom
    if options.target == "superpopulation":
        value += between_pools(fit, sample, pool)
    notes += few_raters(components.n_raters)
    if options.rater_variance is not None:
        notes.append(
            "`rater_variance` is not used: with raters as a sample its parts, leniency and "
            "residual, come from these judgments"
        )
    return ErrorVariance(value, max(freedom, 1.0), tuple(notes))


def few_raters(n_raters: int) -> tuple[str, ...]:
    """Say so if there are too few raters to be seen as a sample."""
    if n_raters >= _FEW_RATERS:
        return ()
    note = (
        f"only {n_raters} raters: too few to tell how much raters differ, so the interval may "
        f"be too short for others than these; ask {_FEW_RATERS} or more"
    )
    return (note,)


def _components(fit: Fit, sample: JudgedOutputs, centre: Floats | None = None) -> CrossedComponents:
    if sample.rater is None:
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    centre = sample.metric.mean(axis=0) if centre is None else centre
    metric = (sample.metric - centre)[sample.output]
    if fit.from_this_sample and sample.n_metrics:
        return crossed_components(sample.human, sample.output, sample.rater, covariates=metric)
    return crossed_components(sample.human - metric @ fit.slope, sample.output, sample.rater)
