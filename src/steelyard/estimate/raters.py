r"""Raters as a sample of raters: leniency does not average out over outputs.

In the crossed model :math:`y_{ij} = f_i + b_{r(ij)} + e_{ij}` an estimate with weights
:math:`w_{ij}` on single judgments has, from a simple draw, error variance

.. math:: V = \sigma_f^2\left[\sum_i w_{i\cdot}^2 - \frac1N\right]
              + \sigma_r^2 \sum_r w_{\cdot r}^2 + \sigma_e^2 \sum_{ij} w_{ij}^2,

where :math:`\sigma_f^2` is what the metric leaves of the item variance; all three come from the model.
In another draw outputs differ in spread between strata or by their probabilities. There the variance V
of fixed raters, a quadratic form in the judgments, is kept. It holds some of the leniency already, as raters
differ within outputs and between them. With :math:`\ell` what leniency of variance 1 adds to its expectation,

.. math:: V_{random} = V + \sigma_r^2 \Bigl[\sum_r w_{\cdot r}^2 - \ell\Bigr].

Derived in docs/methods/estimators.md.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.error_variance import ErrorVariance, Part, between_pools, fixed_raters
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import leniency_in, per_rater
from steelyard.variance.crossed import CrossedComponents, crossed_components, gls_weights

__all__ = ["adjusted_raters", "random_raters", "with_leniency"]

Floats = NDArray[np.float64]

# With fewer, chance often makes raters look alike, and the interval is then too short (measured).
_FEW_RATERS = 5


def random_raters(
    fit: Fit, sample: JudgedOutputs, draw: Draw, pool: Pool | None, *, options: Options
) -> ErrorVariance:
    """Return the error variance when raters are a sample of raters.

    Raises
    ------
    InvalidArgumentError
        If raters are unknown.
    NotEstimableError
        If there is one rater only, or raters and outputs cannot be told apart.
    """
    components = _components(fit, sample, draw)
    if draw.simple:
        weights = (fit.weights / sample.count)[sample.output]
        return _crossed_model(components, fit, sample, draw, pool, weights=weights, options=options)
    fixed = fixed_raters(fit, sample, draw, pool, options=options)
    return with_leniency(fixed, components, fit, sample, draw, options=options)


def with_leniency(
    fixed: ErrorVariance,
    components: CrossedComponents,
    fit: Fit,
    sample: JudgedOutputs,
    draw: Draw,
    *,
    options: Options,
) -> ErrorVariance:
    """Add to the variance of fixed raters what it does not hold of leniency, for any draw.

    Parameters
    ----------
    fixed : ErrorVariance
        Of `fixed_raters`, made with the same options.
    components : CrossedComponents
        Where the leniency comes from: these judgments, or those of all systems.
    fit, sample, draw, options
        What `fixed` was made of.
    """
    given = options.rater_variance is not None
    noise = sum(part.coefficient for part in fixed.parts if part.name == "rater noise")
    outputs = [part for part in fixed.parts if part.name == "outputs"]
    k = np.array([part.coefficient for part in outputs])
    lenient = float(np.sum(per_rater(sample, fit.weights[:, np.newaxis]) ** 2))
    lenient -= float(k @ leniency_in(fit, sample, draw, limited=noise > 0))
    held = noise if given or noise == 0 else noise * _within(sample, draw)
    # estimated rater noise moves with the components, which it is the sum of; given noise does not
    coefficients = np.array([0.0, lenient - noise, 0.0] if given else [0.0, lenient, noise])
    doubt = float(coefficients @ components.covariance @ coefficients)
    parts = (
        *outputs,
        *(replace(part, doubt=0.0) for part in fixed.parts if part.name == "rater noise"),
        Part("leniency", components.leniency, lenient - held, np.inf, doubt),
    )
    notes = (*fixed.notes, *components.notes, *_few_raters(components.n_raters))
    return ErrorVariance(parts, fixed.between_pools, notes)


def adjusted_raters(
    fit: Fit, sample: JudgedOutputs, draw: Draw, pool: Pool | None, *, options: Options
) -> tuple[Fit, ErrorVariance]:
    """Return the generalised-least-squares estimate, free of estimated leniency, and its variance."""
    if fit.kind not in {"least-squares", "given", "pooled"}:
        raise InvalidArgumentError(
            f'`raters_as` "adjusted" estimates the slope by generalised least squares and cannot '
            f'go with slope "{fit.kind}": use slope="least-squares", "pooled" or a number'
        )
    pool_mean = np.empty(0) if pool is None else pool.mean
    offset = (sample.metric - pool_mean)[sample.output]
    components = _components(fit, sample, draw, centre=pool_mean)
    contrast = np.zeros(len(components.fixed))
    contrast[0] = 1
    weights = gls_weights(components, contrast)
    if fit.from_this_sample:
        estimate, slope = float(components.fixed[0]), components.fixed[1:]
    else:
        estimate, slope = float(weights @ (sample.human - offset @ fit.slope)), fit.slope
    per_output = np.bincount(sample.output, weights=weights).astype(np.float64)
    adjusted = replace(fit, estimate=estimate, slope=slope, weights=per_output)
    return adjusted, _crossed_model(
        components, adjusted, sample, draw, pool, weights=weights, options=options
    )


def _crossed_model(
    components: CrossedComponents,
    fit: Fit,
    sample: JudgedOutputs,
    draw: Draw,
    pool: Pool | None,
    *,
    weights: Floats,
    options: Options,
) -> ErrorVariance:
    """Return the error variance of weights on single judgments of a simple draw."""
    assert sample.rater is not None
    per_output = np.bincount(sample.output, weights=weights)
    by_rater = np.bincount(sample.rater, weights=weights)
    notes = list(components.notes)
    finite = draw.identified and draw.pool_size is not None and options.target == "pool"
    if finite and not components.item_identified:
        notes.append(
            "no output has two judgments, so rater noise is unknown and the finite-pool "
            "correction is left out (conservative)"
        )
    limit = 1 / draw.pool_size if finite and components.item_identified and draw.pool_size else 0.0
    coefficients = np.array(
        [max(per_output @ per_output - limit, 0.0), by_rater @ by_rater, weights @ weights]
    )
    values = np.array([components.item, components.leniency, components.residual])
    value = float(coefficients @ values)
    doubt = float(coefficients @ components.covariance @ coefficients)
    between = 0.0
    if options.target == "superpopulation":
        between = between_pools(fit, sample, pool)
    notes += _few_raters(components.n_raters)
    if options.rater_variance is not None:
        notes.append(
            "`rater_variance` is not used: with raters as a sample its parts, leniency and "
            "residual, come from these judgments"
        )
    part = Part("crossed model", value, 1.0, fit.degrees_of_freedom, doubt)
    return ErrorVariance((part,), between, tuple(notes))


def _few_raters(n_raters: int) -> tuple[str, ...]:
    """Say so if there are too few raters to be seen as a sample."""
    if n_raters >= _FEW_RATERS:
        return ()
    note = (
        f"only {n_raters} raters: too few to tell how much raters differ, so the interval may "
        f"be too short for others than these; ask {_FEW_RATERS} or more"
    )
    return (note,)


def _components(
    fit: Fit, sample: JudgedOutputs, draw: Draw, centre: Floats | None = None
) -> CrossedComponents:
    """Fit the crossed model around strata and slopes; `centre` is where its intercept is wanted.

    Probabilities play no part: what raters add does not depend on how outputs were drawn.
    """
    if sample.rater is None:
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    metric = sample.metric if centre is None else sample.metric - centre
    human = sample.human
    columns = metric if fit.columns.shape[1] == sample.n_metrics else fit.columns
    if not fit.from_this_sample:
        human, columns = human - (metric @ fit.slope)[sample.output], fit.columns
    strata = draw.stratum[:, np.newaxis] == np.arange(1, len(draw.names))
    covariates = np.column_stack([strata, columns]).astype(np.float64)[sample.output]
    return crossed_components(
        human, sample.output, sample.rater, covariates=covariates if covariates.size else None
    )


def _within(sample: JudgedOutputs, draw: Draw) -> float:
    """Return what leniency of variance 1 adds to the rater variance within outputs; 1 as a rule."""
    assert sample.rater is not None
    expanded = 1 / draw.inclusion
    pair, count = np.unique(
        np.column_stack([sample.output, sample.rater]), axis=0, return_counts=True
    )
    squares = np.bincount(pair[:, 0], weights=(count / sample.count[pair[:, 0]]) ** 2)
    differing = sample.count * (1 - squares)
    return float(differing @ expanded) / float((sample.count - 1) @ expanded)
