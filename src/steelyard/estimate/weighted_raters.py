r"""Weighted means when raters are a sample of raters.

In :math:`y_{ij} = f_i + b_{r(ij)} + e_{ij}` an estimate with weights :math:`w_i` on the outputs' mean
judgments errs by :math:`\sum_r w_{\cdot r} b_r` more than its human scores and the rest of the noise do,
with :math:`w_{\cdot r}` the weight of rater r's judgments. The variance V of fixed raters, a quadratic form
in the judgments, holds some of this already: raters differ within outputs and between them. With
:math:`\ell` what leniency of variance 1 adds to its expectation,

.. math:: V_{random} = V + \sigma_r^2 \Bigl[\sum_r w_{\cdot r}^2 - \ell\Bigr].

Of :math:`V = \hat\sigma^2 k + \hat\sigma_a^2 x`, with
:math:`k = \sum_i w_i^2 - 1/\hat N` and :math:`x = \hat N^{-2} \sum_i 1/(m_i \pi_i)`,

.. math:: \ell = k \frac{\operatorname{tr}(Z' T' C\, T Z)}{\operatorname{tr} B}
              + x \frac{\sum_i \pi_i^{-1} m_i (1 - \sum_r z_{ir}^2)}{\sum_i \pi_i^{-1} (m_i - 1)},

where :math:`z_{ir}` is rater r's share of the judgments of output i. Only :math:`\sigma_r^2` comes from
the crossed model. Derived in docs/methods/estimators.md.
"""

import numpy as np

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.drawn import Part
from steelyard.estimate.options import Options
from steelyard.estimate.raters import few_raters
from steelyard.estimate.uncertainty import ErrorVariance
from steelyard.estimate.weighted_fit import WeightedFit
from steelyard.estimate.weighted_variance import RaterShares
from steelyard.variance.crossed import CrossedComponents, crossed_components

__all__ = ["with_leniency"]


def with_leniency(
    fixed: ErrorVariance,
    fit: WeightedFit,
    sample: JudgedOutputs,
    *,
    limited: Part,
    unlimited: Part,
    options: Options,
) -> ErrorVariance:
    """Return the error variance when raters are a sample of raters.

    Parameters
    ----------
    fixed : ErrorVariance
        The error variance when they are fixed.
    fit : WeightedFit
        The estimate.
    sample : JudgedOutputs
        Its judgments, with raters.
    limited, unlimited : (float, float)
        The outputs' part of `fixed` with and without the finite-pool factor, and its degrees of
        freedom.
    options : Options
        Those that `fixed` was made with.

    Returns
    -------
    ErrorVariance
        With Satterthwaite's degrees of freedom.

    Raises
    ------
    InvalidArgumentError
        If raters are unknown.
    NotEstimableError
        If there is one rater only, or raters and outputs cannot be told apart.
    """
    components = _components(fit, sample)
    shares = RaterShares.of(sample)
    given = options.rater_variance is not None
    corrected = sample.identified and (given or sample.n_judgments > sample.n_outputs)
    pi = fit.probability
    counts = 1 - pi if corrected else np.ones_like(pi)
    k = float(fit.weights @ fit.weights) - (fit.exhausted if corrected else 0.0)
    per_rater = shares.per_rater(fit.weights[:, np.newaxis])
    lenient = float(np.sum(per_rater**2)) - max(k, 0.0) * fit.residuals.leniency(counts, shares)
    noise = float(np.sum(fit.plain**2 * pi / sample.count)) if corrected else 0.0
    held = noise if given or not corrected else noise * _within(fit, sample, shares)
    value = max(fixed.value + (lenient - held) * components.leniency, 0.0)
    # estimated rater noise moves with the components, which it is the sum of; given noise does not
    coefficients = np.array([0.0, lenient - noise, 0.0] if given else [0.0, lenient, noise])
    between, freedom = limited if corrected else unlimited
    doubt = 2 * between**2 / freedom
    doubt += float(coefficients @ components.covariance @ coefficients)
    known = 2 * value**2 / doubt if doubt > 0 else fixed.degrees_of_freedom
    notes = (*fixed.notes, *components.notes, *few_raters(components.n_raters))
    return ErrorVariance(value, max(known, 1.0), notes)


def _components(fit: WeightedFit, sample: JudgedOutputs) -> CrossedComponents:
    if sample.rater is None:
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    # Probabilities play no part: what raters add does not depend on how outputs were drawn.
    if fit.slope.pull is None:
        human = sample.human - (sample.metric @ fit.slope.value)[sample.output]
        return crossed_components(human, sample.output, sample.rater)
    metric = sample.metric[sample.output]
    return crossed_components(sample.human, sample.output, sample.rater, covariates=metric)


def _within(fit: WeightedFit, sample: JudgedOutputs, shares: RaterShares) -> float:
    """Return what leniency of variance 1 adds to the rater variance within outputs; 1 as a rule."""
    expanded = 1 / fit.probability
    differing = sample.count * (1 - shares.squares)
    return float(differing @ expanded) / float((sample.count - 1) @ expanded)
