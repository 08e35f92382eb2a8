"""The estimates as the paper printed or released them, each under its own name.

Chaganty, Mussmann and Liang (2018), The price of debiasing automatic metrics in natural language
evaluation, ACL. They are here to be reproduced and compared with; the unbiased ones are
`variance_components` and `correlation`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import InvalidArgumentError
from steelyard.single.components import check_repeats
from steelyard.single.judged import JudgedSample, judged_outputs

__all__ = ["PrintedComponents", "authors_correlation", "printed_components"]


@dataclass(frozen=True)
class PrintedComponents:
    """The paper's variance components.

    Attributes
    ----------
    rater : float
        Rater variance; the unbiased one.
    variance_of_means : float
        Variance of the outputs' mean judgments, printed as item variance. It still holds the rater
        variance over the number of judgments, so it is too large.
    noise_ratio : float
        `rater` over `variance_of_means`, printed as gamma; too small.
    total_less_rater : float
        Variance of all judgments less `rater`: the item variance in the authors' correlations,
        all but unbiased.
    """

    rater: float
    variance_of_means: float
    noise_ratio: float
    total_less_rater: float


def printed_components(human: ArrayLike, items: ArrayLike) -> PrintedComponents:
    r"""Variance components by the formulas behind the paper's table of tasks.

    .. math:: \hat\sigma_a^2 = \frac{SS_{within}}{M - n}, \quad
              \text{printed } \sigma_f^2 = \frac{1}{n - 1} \sum_i (\bar y_i - \bar{\bar y})^2.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array
        Which output each judgment is of.

    Returns
    -------
    PrintedComponents

    Raises
    ------
    NotEstimableError
        If no output has two judgments.

    Notes
    -----
    The expectation of the printed item variance is
    :math:`\sigma_f^2 + \sigma_a^2 \operatorname{mean}(1/m_i)`.

    Examples
    --------
    >>> printed_components([1, 3, 6, 8], ["a", "a", "b", "b"]).variance_of_means
    12.5
    """
    sample = judged_outputs(human, None, items)
    rater = _rater_variance(sample)
    variance_of_means = float(sample.mean.var(ddof=1))
    return PrintedComponents(
        rater=rater,
        variance_of_means=variance_of_means,
        noise_ratio=rater / variance_of_means if variance_of_means > 0 else float("inf"),
        total_less_rater=_total_less_rater(sample, rater),
    )


def authors_correlation(
    human: ArrayLike, metric: ArrayLike, *, items: ArrayLike, means: ArrayLike | None = None
) -> float:
    r"""Correlation of metric and human score by the formula behind the authors' results file.

    .. math:: \frac{\frac1n \sum_i (\bar y_i - \bar{\bar y})(g_i - \bar g)}
              {\sqrt{\operatorname{Var}(y) - \hat\sigma_a^2} \; s_g},

    with the variance of all judgments over M - 1 and that of the metric over n - 1.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    metric : (M,) array
        Metric of the judged output, aligned with `human`.
    items : (M,) array
        Which output each judgment is of.
    means : (M,) array, optional
        Mean judgment of the judged output, aligned with `human`, where it is not the mean of its
        judgments: the authors leave some judgments out of it.

    Returns
    -------
    float

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned, or there are several metrics.
    NotEstimableError
        If no output has two judgments.

    Examples
    --------
    >>> human, items = [1, 3, 6, 8, 4, 4], [1, 1, 2, 2, 3, 3]
    >>> round(authors_correlation(human, [0, 0, 2, 2, 1, 1], items=items), 4)
    0.7828
    """
    sample = judged_outputs(human, metric, items)
    if sample.n_metrics != 1:
        raise InvalidArgumentError(
            f"`metric` must be a single one here; got {sample.n_metrics}: pass one column"
        )
    centre = sample.mean if means is None else judged_outputs(human, means, items).metric[:, 0]
    g = sample.metric[:, 0]
    covariance = float(np.mean((centre - centre.mean()) * (g - g.mean())))
    item = _total_less_rater(sample, _rater_variance(sample))
    return covariance / float(np.sqrt(item) * g.std(ddof=1))


def _rater_variance(sample: JudgedSample) -> float:
    check_repeats(sample)
    return float(sample.within.sum()) / (sample.n_judgments - sample.n_outputs)


def _total_less_rater(sample: JudgedSample, rater: float) -> float:
    return float(sample.human.var(ddof=1)) - rater
