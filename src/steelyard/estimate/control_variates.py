"""Mean human score, with automatic metrics as control variates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import (
    JudgedOutputs,
    Pool,
    as_pool,
    clustered,
    drawn_outputs,
    simple_draw,
)
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.estimator import corrected_mean
from steelyard.estimate.options import Interval, Options, Raters, Target
from steelyard.estimate.result import Estimate
from steelyard.estimate.slope import SlopeKind

__all__ = ["control_variates"]


def control_variates(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | Pool,
    *,
    items: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    target: Target = "pool",
    slope: SlopeKind | ArrayLike = "least-squares",
    raters_as: Raters = "fixed",
    level: float = 0.95,
    interval: Interval = "student",
    bounds: tuple[float, float] | None = None,
    rater_variance: float | None = None,
    others: Sequence[JudgedOutputs] = (),
    folds: int | None = None,
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    r"""Estimate the pool's mean human score from judged outputs and metrics on all outputs.

    With :math:`\bar y_i` the mean judgment of output i, :math:`g` the metrics and :math:`a` the
    slope of judgment on metric,

    .. math:: \hat\mu = \operatorname{mean}_i \bar y_i - a' (\bar g_n - \bar g_N),

    where :math:`\bar g_n` and :math:`\bar g_N` are the mean metrics of the judged outputs and of
    the pool. For the least-squares slope and a fixed pool its error has variance

    .. math:: V = s_e^2 \left[\frac{1 - n/N}{n} + d' S^{-1} d\right]
                  + \frac1N \operatorname{mean}_i \frac{\sigma_a^2}{m_i},

    with :math:`d = \bar g_n - \bar g_N` and :math:`S` the metrics' sums of squares and products.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    metric : (M,) or (M, p) array
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array, or PoolMoments
        Metrics of every output of the pool, the judged ones included.
    items : (M,) array, optional
        Which output each judgment is of: outputs are then a simple random sample without
        replacement. Without it judgments are independent draws with replacement, as in the paper.
    raters : (M,) array, optional
        Who gave each judgment.
    clusters : (M,) array, optional
        Which cluster the judged output belongs to, for example its document: outputs of a cluster
        may be alike, and the interval counts clusters instead of outputs.
    target : {"pool", "census", "superpopulation"}
        The mean human score of this pool (default); the mean if every output of it were judged
        once by this very process; the mean of the population that the pool is a sample of.
    slope : str, float or (p,) array
        "least-squares" over the judged outputs (default); "plug-in", the paper's Algorithm 1;
        "cross-fit", which is free of bias at every sample size; "shrunk" towards zero by its own
        uncertainty; "pooled" over the judged outputs of `others`; or a number from a pilot.
    raters_as : {"fixed", "random", "adjusted"}
        Judgments are independent given the output (default, the paper's assumption); raters are a
        sample of raters; or they are, and their estimated leniency is taken out.
    level : float
        Confidence level.
    interval : {"student", "percentile", "basic", "bca", "bootstrap-t", "betting"}
        Kind of interval.
    bounds : (float, float), optional
        Least and greatest possible judgment: needed for "betting", and used when the judgments
        show no spread.
    rater_variance : float, optional
        Variance of the judgments of one output, known from a pilot.
    others : sequence of JudgedOutputs
        Judged outputs of other systems, for the pooled slope.
    folds : int, optional
        Folds of the cross-fit; by default each output is its own.
    resamples : int
        Number of bootstrap resamples.
    rng : numpy.random.Generator, optional
        Randomness of the bootstrap and of `folds`; a fixed seed by default, so that a result can
        be had again.

    Returns
    -------
    Estimate
        With the plain mean of the same judgments as `baseline`.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    NotEstimableError
        If there are too few judged outputs, a metric is constant, or the judgments show no spread
        and `bounds` are not given.

    Notes
    -----
    The interval is centred on the estimate and holds over draws of the sample and of judgments.
    The slope's own uncertainty is part of V; without it intervals are too short below n = 50.

    References
    ----------
    Chaganty, Mussmann and Liang (2018), The price of debiasing automatic metrics in natural
    language evaluation. Cochran (1977), Sampling techniques, chapter 7.

    Examples
    --------
    >>> result = control_variates([1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6])
    >>> print(result)
    3.3000 [0.5618, 6.0382] at 95% (control-variates/least-squares/student,
    4 judgments on 4 of 6 outputs, DE 1.03)
    """
    options = Options(
        target=target,
        raters_as=raters_as,
        level=level,
        interval=interval,
        bounds=bounds,
        rater_variance=rater_variance,
        resamples=resamples,
        rng=np.random.default_rng(0) if rng is None else rng,
    )
    sample, recorded = drawn_outputs(
        human, metric, items, raters=raters, recorded={"clusters": clusters}
    )
    pool = as_pool(metric_pool)
    if sample.identified and sample.n_outputs > pool.size:
        raise InvalidArgumentError(
            f"`metric_pool` must include the judged outputs; got {pool.size} outputs in the pool "
            f"and {sample.n_outputs} judged"
        )
    draw = clustered(simple_draw(sample, pool.size), recorded.get("clusters"))
    return corrected_mean(
        sample, draw, pool, slope=slope, others=others, folds=folds, options=options
    )
