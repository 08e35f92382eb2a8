"""Mean human score from outputs drawn with unequal probabilities."""

from typing import Literal, get_args

from numpy.typing import ArrayLike

from steelyard.arrays import Pool, as_pool, clustered, drawn_outputs, unequal_draw
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.estimator import corrected_mean, plain_mean
from steelyard.estimate.fit import Form
from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.result import Estimate

__all__ = ["Form", "weighted_mean"]


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
    clusters: ArrayLike | None = None,
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
    metric, metric_pool, items, target, level, rater_variance, raters, clusters
        As in `control_variates`; the target is "pool" or "census".
    slope : "least-squares", float or (p,) array
        Weighted least squares over the judged outputs (default), or numbers from elsewhere.
    form : {"hajek", "horvitz-thompson"}
        Divide by the sum of the weights (default), or by the size of the pool. The first is the
        steadier and does not change with the origin of the scale; the second is exactly unbiased
        when the slope is not from the same judgments.
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
    options = Options(
        target=target, level=level, rater_variance=rater_variance, raters_as=raters_as
    )
    if form not in get_args(Form):
        raise InvalidArgumentError(f"`form` must be one of hajek, horvitz-thompson; got {form!r}")
    if isinstance(slope, str) and slope != "least-squares":
        raise InvalidArgumentError(f"`slope` must be a number or least-squares; got {slope!r}")
    sample, recorded = drawn_outputs(
        human,
        metric,
        items,
        raters=raters,
        recorded={"probability": probability, "clusters": clusters},
    )
    draw = unequal_draw(sample, recorded["probability"], pool_size)
    draw = clustered(draw, recorded.get("clusters"))
    if metric is None:
        return plain_mean(sample, draw, form=form, options=options)
    if metric_pool is None:
        raise InvalidArgumentError("`metric_pool` is needed with `metric`: pass the pool's metrics")
    pool = as_pool(metric_pool)
    if pool.size != pool_size:
        raise InvalidArgumentError(
            f"`metric_pool` must hold `pool_size` outputs, {pool_size}; got {pool.size}"
        )
    return corrected_mean(sample, draw, pool, slope=slope, form=form, options=options)
