"""Mean human score from a sample drawn within strata, or stratified after the draw."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import (
    Draw,
    JudgedOutputs,
    Pool,
    PoolMoments,
    as_pool,
    clustered,
    drawn_outputs,
    stratified_draw,
)
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.estimator import check_pool, corrected_mean, plain_mean
from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.result import Estimate

__all__ = ["stratified_mean"]

Floats = NDArray[np.float64]
StratifiedSlope = Literal["combined", "separate"]


def stratified_mean(
    human: ArrayLike,
    strata: ArrayLike,
    strata_sizes: Mapping[Any, int],
    *,
    metric: ArrayLike | None = None,
    metric_pool: ArrayLike | Pool | Mapping[Any, ArrayLike | Pool] | None = None,
    items: ArrayLike | None = None,
    slope: StratifiedSlope | ArrayLike = "combined",
    poststratified: bool = False,
    target: Target = "pool",
    level: float = 0.95,
    rater_variance: float | None = None,
    raters: ArrayLike | None = None,
    raters_as: Raters = "fixed",
    clusters: ArrayLike | None = None,
) -> Estimate:
    r"""Estimate the pool's mean human score from outputs drawn at random within strata.

    With :math:`W_h = N_h/N` and, if there are metrics, one slope for all strata ("combined"),

    .. math:: \hat\mu = \sum_h W_h \bar y_h - a'\Bigl(\sum_h W_h \bar g_h - \bar g_N\Bigr),

    or a slope for each stratum ("separate"),
    :math:`\hat\mu = \sum_h W_h [\bar y_h - a_h'(\bar g_h - \bar G_h)]`. Either is a weighted mean of
    the outputs' mean judgments with weights :math:`w_i`, and its error has variance

    .. math:: V = \sum_h s_{eh}^2 \Bigl[\sum_{i \in h} w_i^2 - \frac{W_h}{N}\Bigr]
                  + \frac1{N^2} \sum_h N_h \operatorname{mean}_{i \in h} \frac{\sigma_a^2}{m_i}.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    strata : (M,) array
        Stratum of the judged output, aligned with `human`.
    strata_sizes : mapping of stratum to int
        Number of outputs of the pool in each stratum.
    metric, items, target, level, rater_variance, raters, clusters
        As in `control_variates`; the target is "pool" or "census", and each cluster lies in one
        stratum.
    metric_pool : (N,) or (N, p) array or PoolMoments, or a mapping of strata to them
        Metrics of every output of the pool; by stratum for separate slopes.
    slope : {"combined", "separate"}, float or (p,) array
        One slope for all strata (default), one each, or numbers from elsewhere.
    poststratified : bool
        Whether the sample is a simple random one of the whole pool, told apart afterwards.
    raters_as : {"fixed", "random"}
        Judgments are independent given the output (default), or raters are a sample of raters,
        whose leniency does not average out over outputs (docs/methods/sampling.md).

    Returns
    -------
    Estimate
        Its `baseline` is the stratified mean without the metric, or the plain mean of a
        post-stratified sample. With separate slopes, `slope` is their mean over the pool.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    NotEstimableError
        If a stratum has too few judged outputs, or a metric is constant within strata.

    Notes
    -----
    Within each stratum the judged outputs are a simple random sample without replacement, and
    strata are drawn independently. Degrees of freedom are Satterthwaite's. A post-stratified
    sample has the unconditional variance, in which
    :math:`(1/n - 1/N) W_h + (1 - W_h)/n^2` takes the place of :math:`W_h^2/n_h - W_h/N`.

    References
    ----------
    Cochran (1977), Sampling techniques, chapters 5, 5A.9 and 7.10; Sarndal, Swensson and Wretman
    (1992), Model assisted survey sampling, section 7.6.

    Examples
    --------
    >>> print(stratified_mean([1, 2, 3, 5, 7], list("aaabb"), {"a": 60, "b": 40}))
    3.6000 [1.6449, 5.5551] at 95% (stratified-mean/student, 5 judgments on 5 of 100 outputs)
    """
    options = Options(
        target=target, level=level, rater_variance=rater_variance, raters_as=raters_as
    )
    if isinstance(slope, str) and slope not in get_args(StratifiedSlope):
        raise InvalidArgumentError(
            f"`slope` must be a number or one of combined, separate; got {slope!r}"
        )
    sample, recorded = drawn_outputs(
        human,
        metric,
        items,
        raters=raters,
        recorded={"strata": strata, "clusters": clusters},
    )
    draw = stratified_draw(sample, recorded["strata"], strata_sizes, poststratified=poststratified)
    draw = clustered(draw, recorded.get("clusters"))
    if metric is None:
        return plain_mean(sample, draw, options=options)
    pool, strata_means = _pools(sample, draw, recorded["strata"], metric_pool)
    if isinstance(slope, str) and slope == "separate" and strata_means is None:
        raise InvalidArgumentError(
            "`metric_pool` must map each stratum to its metrics for separate slopes; got one "
            'array for all: pass a mapping, or use slope="combined"'
        )
    used = "least-squares" if isinstance(slope, str) and slope == "combined" else slope
    return corrected_mean(
        sample, draw, pool, slope=used, strata_means=strata_means, options=options
    )


def _pools(
    sample: JudgedOutputs,
    draw: Draw,
    labels: NDArray[Any],
    metric_pool: ArrayLike | Pool | Mapping[Any, ArrayLike | Pool] | None,
) -> tuple[Pool, Floats | None]:
    """Return the pool's metrics, and their means by stratum (H, p) where they are known so."""
    if metric_pool is None:
        raise InvalidArgumentError("`metric_pool` is needed with `metric`: pass the pool's metrics")
    if not isinstance(metric_pool, Mapping):
        pool = as_pool(metric_pool)
        check_pool(sample, pool)
        if pool.size != draw.pool_size:
            raise InvalidArgumentError(
                f"`metric_pool` must hold as many outputs as `strata_sizes`, {draw.pool_size}; "
                f"got {pool.size}"
            )
        return pool, None
    parts: list[PoolMoments] = []
    for name, size in zip(np.unique(labels).tolist(), draw.size, strict=True):
        if name not in metric_pool:
            raise InvalidArgumentError(
                f"`metric_pool` must hold every stratum; {name!r} is missing"
            )
        part = as_pool(metric_pool[name])
        check_pool(replace(sample, metric=sample.metric[labels == name]), part)
        if part.size != size:
            raise InvalidArgumentError(
                f"`metric_pool` must hold as many outputs as `strata_sizes`; stratum {name!r} has "
                f"{part.size} against {size:g}"
            )
        parts.append(part if isinstance(part, PoolMoments) else PoolMoments.of(part.values))
    return reduce(PoolMoments.merge, parts), np.array([part.mean for part in parts])
