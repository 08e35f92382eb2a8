"""Mean human score from a sample drawn within strata, or stratified after the draw."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.drawn import (
    Part,
    drawn_options,
    drawn_outputs,
    error_variance,
    student_estimate,
)
from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.result import Estimate
from steelyard.estimate.sample_mean import plain_mean
from steelyard.estimate.stratified_fit import (
    Layout,
    StratifiedFit,
    StratifiedSlope,
    fit_strata,
    layout_of,
    plain_fit,
    pool_means,
)
from steelyard.estimate.stratified_raters import random_raters_in_strata

__all__ = ["stratified_mean"]

Floats = NDArray[np.float64]


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
    metric : (M,) or (M, p) array, optional
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array or PoolMoments, or a mapping of strata to them
        Metrics of every output of the pool; by stratum for separate slopes.
    items : (M,) array, optional
        Which output each judgment is of; without it judgments are independent draws with
        replacement from their stratum.
    slope : {"combined", "separate"}, float or (p,) array
        One slope for all strata (default), one each, or numbers from elsewhere.
    poststratified : bool
        Whether the sample is a simple random one of the whole pool, told apart afterwards.
    target : {"pool", "census"}
        As in `control_variates`.
    level : float
        Confidence level.
    rater_variance : float, optional
        Variance of the judgments of one output, known from a pilot; not used with random raters.
    raters : (M,) array, optional
        Who gave each judgment.
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
    options = drawn_options(
        target=target, level=level, rater_variance=rater_variance, raters_as=raters_as
    )
    sample, labels = drawn_outputs(
        human, metric, items, recorded=strata, name="strata", raters=raters
    )
    layout = layout_of(labels, strata_sizes, identified=sample.identified)
    bare = replace(sample, metric=np.empty((sample.n_outputs, 0)))
    design = "post-stratified" if poststratified else "stratified"
    plain = _conclude(plain_fit(bare, layout), bare, layout, design=design, options=options)
    if poststratified:
        simple = plain_mean(bare, pool_size=layout.pool_size, options=options)
        plain = replace(plain, baseline=simple)
    if metric is None:
        return plain
    if metric_pool is None:
        raise InvalidArgumentError("`metric_pool` is needed with `metric`: pass the pool's metrics")
    means = pool_means(sample, layout, metric_pool)
    fit = fit_strata(sample, layout, means, slope)
    baseline = plain.baseline if poststratified else plain
    return _conclude(fit, sample, layout, design=design, options=options, baseline=baseline)


def _conclude(
    fit: StratifiedFit,
    sample: JudgedOutputs,
    layout: Layout,
    *,
    design: str,
    options: Options,
    baseline: Estimate | None = None,
) -> Estimate:
    W, n, N = layout.share, sample.n_outputs, layout.pool_size
    spread = W**2 / layout.count
    from_slope = layout.total(fit.weights**2) - spread
    if design == "post-stratified":
        spread = W / n + (1 - W) / n**2
    limit = np.minimum(W / N, spread)  # equal where all of a stratum was judged
    lone = layout.count == 1
    freedom = np.where(lone, max(fit.freedom[~lone].sum(), 1), fit.freedom)

    def parts(coefficient: Floats) -> list[Part]:
        values = fit.residual_variance * coefficient
        return [(float(v), float(f)) for v, f in zip(values, freedom, strict=True)]

    limited = spread - limit + np.maximum(from_slope, 0)
    unlimited = spread + np.maximum(from_slope, 0)
    if options.raters_as == "random":
        variance = random_raters_in_strata(
            fit, sample, layout, limited=limited, unlimited=unlimited, freedom=freedom
        )
    else:
        variance = error_variance(
            sample,
            limited=parts(limited),
            unlimited=parts(unlimited),
            probability=np.minimum(layout.fraction, 1)[layout.code],
            weights=(W / layout.count)[layout.code],
            options=options,
        )
    method = f"{design}-control-variates/{fit.kind}" if len(fit.slope) else f"{design}-mean"
    return student_estimate(
        fit.estimate,
        variance,
        sample,
        method=method,
        pool_size=N,
        slope=fit.slope,
        options=options,
        baseline=baseline,
        notes=_notes(fit, layout),
    )


def _notes(fit: StratifiedFit, layout: Layout) -> tuple[str, ...]:
    flat = np.flatnonzero((fit.residual_variance == 0) & (layout.count > 1))
    partial = [number for number in flat if layout.count[number] < layout.size[number]]
    if not partial:
        return ()
    name = layout.names[partial[0]]
    note = (
        f"the {layout.count[partial[0]]:g} judged outputs of stratum {name!r} show no spread, so it "
        f"adds nothing to the interval ({len(partial)} such strata): judge more of its outputs"
    )
    return (note,)
