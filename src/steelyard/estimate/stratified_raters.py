r"""Stratified means when raters are a sample of raters.

In :math:`y_{ij} = f_i + b_{r(ij)} + e_{ij}` an estimate with weights :math:`w_i` on the outputs' mean
judgments has error variance

.. math:: V = \sum_h \sigma_{uh}^2 k_h + \sigma_r^2 \sum_r w_{\cdot r}^2
              + \sigma_e^2 \sum_i \frac{w_i^2}{m_i}, \qquad
          k_h = \sum_{i \in h} w_i^2 - \frac{W_h}{N},

with :math:`\sigma_{uh}^2` what the metric leaves of the item variance in stratum h and
:math:`w_{\cdot r}` the weight of rater r's judgments. A stratum's residual variance estimates

.. math:: \operatorname{E} s_{eh}^2 = \sigma_{uh}^2 + q_h \sigma_r^2
              + \sigma_e^2 \operatorname{mean}_{i \in h} \frac1{m_i}, \qquad
          q_h = \frac1{n_h - 1} \sum_{i \in h} \sum_r (z_{ir} - \bar z_{hr})^2 ,

where :math:`z_{ir}` is rater r's share of the judgments of output i: outputs that share a rater
share her leniency, which is then not part of their spread. Solved for :math:`\sigma_{uh}^2`,

.. math:: V = \sum_h k_h s_{eh}^2 + \sigma_r^2 \Bigl[\sum_r w_{\cdot r}^2 - \sum_h k_h q_h\Bigr]
              + \sigma_e^2 \sum_h \Bigl[\sum_{i \in h} \frac{w_i^2}{m_i}
              - k_h \operatorname{mean}_{i \in h} \frac1{m_i}\Bigr],

so that each stratum keeps its own spread; leniency and residual come from the crossed model with
strata and metrics as fixed effects.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.raters import few_raters
from steelyard.estimate.stratified_fit import Layout, StratifiedFit
from steelyard.estimate.uncertainty import ErrorVariance
from steelyard.variance.crossed import CrossedComponents, crossed_components

__all__ = ["random_raters_in_strata", "rater_components"]

Floats = NDArray[np.float64]


def rater_components(
    fit: StratifiedFit, sample: JudgedOutputs, layout: Layout
) -> CrossedComponents:
    """Fit the crossed model around strata and slopes.

    Raises
    ------
    InvalidArgumentError
        If raters are unknown.
    NotEstimableError
        If there is one rater only, or raters and outputs cannot be told apart.
    """
    if sample.rater is None:
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    indicator = layout.code[:, np.newaxis] == np.arange(len(layout.names))
    centred = sample.metric - layout.means(sample.metric)[layout.code]
    human = sample.human
    if fit.kind == "given":
        human = human - (centred @ fit.slope)[sample.output]
        metrics = centred[:, :0]
    elif fit.kind == "separate":
        # one slope a stratum; a stratum without one, all judged, has metrics that may be constant
        products = (indicator[:, :, np.newaxis] * centred[:, np.newaxis]).reshape(len(centred), -1)
        metrics = products[:, np.ptp(products, axis=0) > 0]
    else:
        metrics = centred
    covariates = np.column_stack([indicator[:, 1:], metrics]).astype(np.float64)[sample.output]
    return crossed_components(
        human, sample.output, sample.rater, covariates=covariates if covariates.size else None
    )


def random_raters_in_strata(
    fit: StratifiedFit,
    sample: JudgedOutputs,
    layout: Layout,
    *,
    limited: Floats,
    unlimited: Floats,
    freedom: Floats,
) -> ErrorVariance:
    """Return the error variance when raters are a sample of raters.

    Parameters
    ----------
    fit : StratifiedFit
        The estimate.
    sample : JudgedOutputs
        Its judgments, with raters.
    layout : Layout
        Strata.
    limited, unlimited : (H,) array
        Coefficients k of the strata's residual variances with and without the finite-pool factor.
    freedom : (H,) array
        Degrees of freedom of the residual variances.
    """
    components = rater_components(fit, sample, layout)
    notes = [*components.notes, *few_raters(components.n_raters)]
    k = limited
    if not components.item_identified or not sample.identified:
        k = unlimited
        notes.append(
            "no output has two judgments, so rater noise is unknown and the finite-pool "
            "correction is left out (conservative)"
        )
    assert sample.rater is not None
    per_rater = np.bincount(sample.rater, weights=(fit.weights / sample.count)[sample.output])
    inverse = 1 / sample.count
    leniency = float(per_rater @ per_rater - k @ _shares(sample, layout))
    residual = float(fit.weights**2 @ inverse - k @ (layout.total(inverse) / layout.count))
    parts = k * fit.residual_variance
    value = float(parts.sum() + leniency * components.leniency + residual * components.residual)
    coefficients = np.array([0.0, leniency, residual])
    doubt = float((2 * parts**2 / freedom).sum())
    doubt += float(coefficients @ components.covariance @ coefficients)
    value = max(value, 0.0)
    known = 2 * value**2 / doubt if doubt > 0 else float(freedom.sum())
    return ErrorVariance(value, max(known, 1.0), tuple(notes))


def _shares(sample: JudgedOutputs, layout: Layout) -> Floats:
    """Return q of each stratum; one whose only output was judged takes that of all."""
    assert sample.rater is not None
    n_raters = int(sample.rater.max()) + 1
    pair, count = np.unique(sample.output * n_raters + sample.rater, return_counts=True)
    output, rater = pair // n_raters, pair % n_raters
    share = count / sample.count[output]
    squares = np.bincount(layout.code[output], weights=share**2, minlength=len(layout.names))
    squares = squares.astype(np.float64)
    totals = np.zeros((len(layout.names), n_raters))
    np.add.at(totals, (layout.code[output], rater), share)
    squares -= (totals**2).sum(axis=1) / layout.count
    lone = layout.count == 1
    pooled = squares[~lone].sum() / (layout.count[~lone] - 1).sum()
    return np.where(lone, pooled, squares / np.maximum(layout.count - 1, 1))
