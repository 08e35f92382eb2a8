"""Mean human score from outputs drawn with unequal probabilities."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import JudgedOutputs, Pool, as_pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.drawn import (
    check_metrics,
    drawn_options,
    drawn_outputs,
    error_variance,
    given_slope,
    student_estimate,
)
from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.result import Estimate
from steelyard.estimate.weighted_fit import (
    Form,
    Slope,
    Weighing,
    fit_weighted,
    weighted_least_squares,
)
from steelyard.estimate.weighted_raters import with_leniency

__all__ = ["Form", "weighted_mean"]

Floats = NDArray[np.float64]


def weighted_mean(
    human: ArrayLike,
    probability: ArrayLike,
    *,
    pool_size: int,
    metric: ArrayLike | None = None,
    metric_pool: ArrayLike | Pool | None = None,
    items: ArrayLike | None = None,
    slope: Literal["least-squares"] | ArrayLike = "least-squares",
    form: Form = "hajek",
    target: Target = "pool",
    level: float = 0.95,
    rater_variance: float | None = None,
    raters: ArrayLike | None = None,
    raters_as: Raters = "fixed",
) -> Estimate:
    r"""Estimate the pool's mean human score from outputs drawn with recorded probabilities.

    With inclusion probability :math:`\pi_i` of output i,

    .. math:: \hat\mu = \frac1{\hat N} \sum_i \frac{\bar y_i - a'g_i}{\pi_i} + a'\bar g_N,

    where :math:`\hat N` is the size N of the pool ("horvitz-thompson") or
    :math:`\sum_i 1/\pi_i` ("hajek"), and :math:`a` is the slope of least squares weighted by
    :math:`1/\pi_i` (zero without a metric). With residuals :math:`e_i`,
    :math:`r_i = e_i/\pi_i` and :math:`\bar r = \sum (1-\pi_i) r_i / \sum (1-\pi_i)`, the error has
    variance

    .. math:: V = \hat\sigma^2 \Bigl[\sum_i w_i^2 - \frac1{\hat N}\Bigr]
                  + \frac1{\hat N^2} \sum_i \frac{\sigma_a^2}{m_i \pi_i}, \qquad
              \hat\sigma^2 = \frac{\sum_i (1 - \pi_i) (r_i - \bar r)^2}{\operatorname{tr} B},

    where :math:`w_i` is the weight of output i in the estimate and :math:`\operatorname{tr} B` makes
    :math:`\hat\sigma^2` unbiased for errors of one variance. Degrees of freedom are
    :math:`(\operatorname{tr} B)^2 / \operatorname{tr} B^2`: n - 1 - p when probabilities are equal, fewer when
    they are uneven (docs/methods/sampling.md).

    Parameters
    ----------
    human : (M,) array
        Judgments.
    probability : (M,) array
        Inclusion probability of the judged output, as recorded at the draw.
    pool_size : int
        Number of outputs in the pool.
    metric : (M,) or (M, p) array, optional
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array, or PoolMoments, optional
        Metrics of every output of the pool.
    items : (M,) array, optional
        Which output each judgment is of; without it judgments are independent draws with
        replacement.
    slope : "least-squares", float or (p,) array
        Weighted least squares over the judged outputs (default), or numbers from elsewhere.
    form : {"hajek", "horvitz-thompson"}
        Divide by the sum of the weights (default), or by the size of the pool. The first is the
        steadier and does not change with the origin of the scale; the second is exactly unbiased
        when the slope is not from the same judgments.
    target : {"pool", "census"}
        As in `control_variates`.
    level : float
        Confidence level.
    rater_variance : float, optional
        Variance of the judgments of one output, known from a pilot.
    raters : (M,) array, optional
        Who gave each judgment.
    raters_as : {"fixed", "random"}
        Judgments are independent given the output (default), or raters are a sample of raters,
        whose leniency does not average out over outputs (docs/methods/estimators.md).

    Returns
    -------
    Estimate
        Its `baseline` is the same without the metric.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    NotEstimableError
        If there are too few judged outputs, a metric is constant, there is no spread, or raters as
        a sample cannot be told from outputs.

    Notes
    -----
    The variance is Hajek's approximation for draws of fixed size and high entropy, as
    `draw_sample` makes them, with Bell and McCaffrey's degrees of freedom: with uneven probabilities
    a few outputs carry most of the variance, and n degrees of freedom make intervals too short.
    Outputs drawn with certainty add rater noise only. With equal probabilities all of it is
    `sample_mean` and `control_variates`.

    Raters as a sample add :math:`\sigma_r^2 [\sum_r w_{\cdot r}^2 - \ell]`, with
    :math:`w_{\cdot r}` the weight of rater r's judgments, :math:`\sigma_r^2` the leniency of the crossed
    model, and :math:`\ell` the part of it that V holds already. Outputs must be assigned to raters
    without regard to their probabilities.

    References
    ----------
    Horvitz and Thompson (1952); Hajek (1964); Bell and McCaffrey (2002), Bias reduction in standard
    errors for linear regression with multi-stage samples, Survey Methodology 28; Deville and Tille (2005), Variance approximation
    under balanced sampling; Sarndal, Swensson and Wretman (1992), chapters 5 and 6; Tille (2006),
    Sampling algorithms, chapter 7.

    Examples
    --------
    >>> print(weighted_mean([1, 2, 3, 5], [0.1, 0.1, 0.2, 0.4], pool_size=30))
    2.0909 [-0.8455, 5.0274] at 95% (weighted-mean/hajek/student,
    4 judgments on 4 of 30 outputs)
    """
    options = drawn_options(
        target=target, level=level, rater_variance=rater_variance, raters_as=raters_as
    )
    if form not in {"hajek", "horvitz-thompson"}:
        raise InvalidArgumentError(f"`form` must be one of hajek, horvitz-thompson; got {form!r}")
    sample, recorded = drawn_outputs(
        human, metric, items, recorded=probability, name="probability", raters=raters
    )
    pi = _checked(recorded, sample, pool_size)
    bare = replace(sample, metric=np.empty((sample.n_outputs, 0)))
    weigh = Weighing(pi, pool_size, form)
    none = Slope("given", np.empty(0))
    plain = _conclude(weigh, bare, none, pool=np.empty(0), options=options)
    if metric is None:
        return plain
    if metric_pool is None:
        raise InvalidArgumentError("`metric_pool` is needed with `metric`: pass the pool's metrics")
    pool = as_pool(metric_pool)
    check_metrics(sample, pool)
    if pool.size != pool_size:
        raise InvalidArgumentError(
            f"`metric_pool` must hold `pool_size` outputs, {pool_size}; got {pool.size}"
        )
    if not isinstance(slope, str):
        used = Slope("given", given_slope(slope, sample.n_metrics))
    elif slope == "least-squares":
        used = weighted_least_squares(sample, pi)
    else:
        raise InvalidArgumentError(f"`slope` must be a number or least-squares; got {slope!r}")
    return _conclude(weigh, sample, used, pool=pool.mean, options=options, baseline=plain)


def _checked(recorded: NDArray[np.float64], sample: JudgedOutputs, pool_size: int) -> Floats:
    try:
        pi = recorded.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`probability` must hold numbers: {error}") from error
    bad = ~((pi > 0) & (pi <= 1))
    if bad.any():
        raise InvalidArgumentError(
            f"`probability` must lie above 0 and not above 1; got {pi[bad][0]:g}: pass what was "
            "recorded when the output was drawn"
        )
    if sample.identified and pool_size < sample.n_outputs:
        raise InvalidArgumentError(
            f"`pool_size` must be at least the number of judged outputs ({sample.n_outputs}); "
            f"got {pool_size}"
        )
    return pi


def _conclude(
    weigh: Weighing,
    sample: JudgedOutputs,
    slope: Slope,
    *,
    pool: Floats,
    options: Options,
    baseline: Estimate | None = None,
) -> Estimate:
    fit = fit_weighted(weigh, sample, slope, pool=pool)
    pi = weigh.probability
    limited = fit.residuals.part(1 - pi, fit.weights, exhausted=fit.exhausted)
    unlimited = fit.residuals.part(np.ones_like(pi), fit.weights, exhausted=0.0)
    variance = error_variance(
        sample,
        limited=[limited],
        unlimited=[unlimited],
        probability=pi,
        weights=fit.plain,
        options=options,
    )
    if options.raters_as == "random":
        variance = with_leniency(
            variance, fit, sample, limited=limited, unlimited=unlimited, options=options
        )
    name = f"weighted-control-variates/{slope.kind}" if len(slope.value) else "weighted-mean"
    return student_estimate(
        fit.estimate,
        variance,
        sample,
        method=f"{name}/{weigh.form}",
        pool_size=weigh.pool_size,
        slope=slope.value,
        options=options,
        baseline=baseline,
        notes=_notes(weigh),
    )


def _count(parts: Floats) -> float:
    """Number of equal parts that would be as uneven as these: n if they are equal, else fewer."""
    return float(parts.sum()) ** 2 / float(parts @ parts)


def _notes(weigh: Weighing) -> tuple[str, ...]:
    pi = weigh.probability
    notes = []
    implied = float((1 / pi).sum())
    # Hajek's variance of that sum, which is zero for equal probabilities
    free = 1 - pi
    centre = float(free @ (1 / pi)) / max(float(free.sum()), 1e-300)
    error = float(np.sqrt(free @ (1 / pi - centre) ** 2))
    if abs(implied - weigh.pool_size) > 0.02 * weigh.pool_size + 4 * error:
        advice = (
            ": the Horvitz-Thompson form is wrong by as much; was every drawn output judged?"
            if weigh.form == "horvitz-thompson"
            else ""
        )
        notes.append(
            f"the probabilities imply a pool of {implied:.0f} outputs, but it has "
            f"{weigh.pool_size}{advice}"
        )
    if (pi < 1).any() and _count((1 - pi) / pi**2) < np.count_nonzero(pi < 1) / 4:
        notes.append(
            "a few outputs with small probabilities carry most of the variance, and the interval "
            "may be too short: draw with less uneven probabilities"
        )
    return tuple(notes)
