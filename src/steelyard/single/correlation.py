"""Correlation of automatic metrics with the human score, corrected for rater noise."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.analysis import analysis, check_repeats, check_spread
from steelyard.single.judged import JudgedOutputs, judged_outputs, systems_of_outputs
from steelyard.single.moments import Moments
from steelyard.single.pool import Pool, as_pool
from steelyard.single.quantity import Quantity, check_options, percentiles, student_level

__all__ = [
    "check_collinear",
    "check_outputs",
    "correlation",
    "correlation_notes",
    "correlation_quantity",
    "explained",
    "metric_sample",
    "saved_share",
    "signed_square",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_WELL_CONDITIONED = 1e6


def correlation(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | Pool | None = None,
    *,
    items: ArrayLike,
    raters: ArrayLike | None = None,
    systems: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator | None = None,
) -> Quantity:
    r"""Correlation of a metric with the human score, free of the noise of single raters.

    .. math:: \hat\rho = \frac{\operatorname{Cov}(\bar y, g)}{\hat\sigma_f \, s_g}

    with the unbiased :math:`\hat\sigma_f^2` of `variance_components` and :math:`s_g` the metric's
    standard deviation in the pool. Noise of raters is independent of the metric, so it does not
    touch the covariance; the plain correlation with mean judgments is too weak because it divides
    by their standard deviation, noise included. Several metrics give the multiple correlation
    :math:`\sqrt{R^2}`, with :math:`R^2` against the human score adjusted for their number.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    metric : (M,) or (M, p) array
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array or PoolMoments, optional
        Metrics of all outputs; without it, the spread of the metric is that of the judged outputs.
    items : (M,) array
        Which output each judgment is of.
    raters : (M,) array, optional
        Who gave it; the item variance is then that of `crossed_components`. Pass them wherever the
        same few raters judged many outputs: their leniency biases the one-way item variance.
    systems : (M,) array, optional
        Which system the output is of; the correlation is then that within systems, and
        `metric_pool` must be left out.
    level : float
        Confidence level of the interval.
    resamples : int
        Bootstrap resamples of the outputs.
    rng : numpy.random.Generator, optional
        Source of randomness; without it the same resamples are drawn at every call.

    Returns
    -------
    Quantity
        Of one metric with its sign, of several the multiple correlation; within [-1, 1], also where the
        ratio is beyond.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or an option breaks its rule.
    NotEstimableError
        If no output has two judgments, the metric is constant or collinear, or the item variance
        is estimated as zero.

    Notes
    -----
    Outputs are a simple random sample, and raters did not choose what they judge. The interval is
    the percentile interval over draws of the outputs.

    References
    ----------
    C. Spearman (1904), The proof and measurement of association between two things, American
    Journal of Psychology 15 (correction for attenuation).

    Examples
    --------
    >>> human = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
    >>> items = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> metric = [3, 3, 5, 5, 1, 1, 6, 6, 6, 6]
    >>> round(correlation(human, metric, items=items).value, 3)
    0.827
    """
    check_options(level, resamples)
    rng = np.random.default_rng(0) if rng is None else rng
    within = systems_of_outputs(systems, items)
    sample, pool_covariance = metric_sample(
        human, metric, metric_pool, items=items, raters=raters, systems=within
    )
    found = analysis(sample, systems=within, level=level, resamples=resamples, rng=rng)
    here, there = found.here, found.there
    if here.item[0] <= 0:
        raise NotEstimableError(
            "the item variance is estimated as zero, so no metric has a correlation with the human "
            "score: judge more outputs, or collect more judgments of each"
        )
    square = signed_square(here, explained(here, pool_covariance))
    squares = signed_square(there, explained(there, pool_covariance))
    ends = percentiles(squares, student_level(level, sample.n_outputs))
    return correlation_quantity(float(square[0]), ends, several=sample.n_metrics > 1)


def metric_sample(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | Pool | None,
    *,
    items: ArrayLike,
    raters: ArrayLike | None = None,
    systems: Integers | None = None,
    jointly: bool = True,
) -> tuple[JudgedOutputs, Floats | None]:
    """Return the judged outputs with metrics in units of their spread, and the pool's covariance.

    Parameters
    ----------
    human, metric, metric_pool, items, raters
        As in `correlation`.
    systems : (n,) array of int, optional
        Number of the system of each output.
    jointly : bool
        Whether the metrics will be used together, so that none may be a combination of others.

    Raises
    ------
    InvalidArgumentError
        If an array breaks its rule.
    NotEstimableError
        If the sample does not determine the components, or a metric is constant or collinear.
    """
    sample = judged_outputs(human, metric, items, raters=raters)
    check_repeats(sample, systems)
    check_spread(sample)
    if systems is not None and metric_pool is not None:
        raise InvalidArgumentError(
            "`metric_pool` and `systems` exclude each other: within systems, the spread of the "
            "metric is that of the judged outputs"
        )
    if sample.n_metrics == 0:
        raise InvalidArgumentError("`metric` must hold at least one metric; got none")
    check_outputs(sample, systems, metrics=sample.n_metrics if jointly else 1)
    centred = _centred(sample.metric, systems)
    spread = centred.std(axis=0)
    flat = spread <= 1e-12 * np.abs(sample.metric).max(axis=0)
    scaled = centred / np.where(flat, 1.0, spread)
    if flat.any():
        raise NotEstimableError(
            "`metric` must vary over the judged outputs; "
            f"got a constant in column {int(np.argmax(flat))}: drop it, or judge more outputs"
        )
    found = replace(sample, metric=scaled)
    if jointly:
        check_collinear(found)
    return found, _pool_covariance(metric_pool, spread)


def check_outputs(sample: JudgedOutputs, systems: Integers | None, *, metrics: int) -> None:
    """Refuse fewer judged outputs than the correlation of so many metrics needs."""
    least = metrics + 1 + (1 if systems is None else int(systems.max()) + 1)
    if sample.n_outputs <= least:
        raise NotEstimableError(
            f"the correlation of {metrics} metric(s) needs more than {least} judged outputs; "
            f"got {sample.n_outputs}: judge more outputs or drop metrics"
        )


def check_collinear(sample: JudgedOutputs) -> None:
    """Refuse metrics, in units of their spread, of which one is a combination of others."""
    least = 1e-7 * np.sqrt(sample.n_outputs)
    if np.linalg.matrix_rank(sample.metric, tol=least) < sample.n_metrics:
        raise NotEstimableError(
            "`metric` must not hold combinations of other metrics; got collinear columns: drop one"
        )


def _centred(metric: Floats, systems: Integers | None) -> Floats:
    """Return the metrics less their means, over all outputs or over those of each system."""
    centred = metric - metric.mean(axis=0)
    if systems is None:
        return np.asarray(centred)
    own = [np.bincount(systems, weights=column) / np.bincount(systems) for column in centred.T]
    return np.asarray(centred - np.column_stack(own)[systems])


def explained(found: Moments, pool_covariance: Floats | None) -> Floats:
    r"""Return the human score's variance that the metrics explain, with the sign for one metric.

    For one metric :math:`c |c| / s_g^2` with c the covariance. For several, :math:`b' \Sigma b`
    with b the least-squares slopes, less what their own noise adds,
    :math:`s_e^2 \operatorname{tr}(\Sigma S^{-1})`; with the covariance of the sample as
    :math:`\Sigma` that is the adjusted R-squared times the variance of the means.
    """
    c, spread = found.with_metric, found.metric
    p = c.shape[1]
    sigma = spread if pool_covariance is None else np.broadcast_to(pool_covariance, spread.shape)
    if p == 1:
        variance = sigma[:, 0, 0]
        square = c[:, 0] * np.abs(c[:, 0])
        undefined = np.full(len(c), np.nan)
        return np.asarray(np.divide(square, variance, out=undefined, where=variance > 1e-12))
    # Draws of metrics that differ are told apart as well as the sample's; the plain inverse is faster.
    plain = np.linalg.cond(spread.mean(axis=0)) < _WELL_CONDITIONED
    inverse = (
        np.linalg.inv(spread) if plain else np.linalg.pinv(spread, rcond=1e-10, hermitian=True)
    )
    slope = (inverse @ c[:, :, np.newaxis])[:, :, 0]
    left = found.mean - np.sum(slope * c, axis=1)
    # Both matrices are symmetric, so the trace of their product is a sum of products.
    noise = left / (found.freedom - p) * np.sum(sigma * inverse, axis=(1, 2))
    predicted = (sigma @ slope[:, :, np.newaxis])[:, :, 0]
    return np.asarray(np.sum(slope * predicted, axis=1) - noise)


def signed_square(found: Moments, part: Floats) -> Floats:
    """Return the squared correlation with the sign of the correlation, within [-1, 1].

    `part` is what `explained` returns. A draw without item variance says no more than the sign.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(found.item > 0, part / found.item, np.sign(part))
    return np.clip(np.where(np.isnan(found.item + part), np.nan, share), -1.0, 1.0)


def saved_share(found: Moments, part: Floats) -> Floats:
    """Return the share of a judgment's variance that the metrics explain, with their sign.

    Unlike `signed_square` times the reliability it needs no item variance, so it is well behaved in
    draws where that is near zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(found.total > 0, part / found.total, np.nan)
    return np.clip(share, -1.0, 1.0)


def correlation_quantity(square: float, ends: tuple[float, float], *, several: bool) -> Quantity:
    """Return the correlation from its signed square: not below zero for several metrics."""
    least = 0.0 if several else -1.0
    # The interval holds the estimate, also where that was moved to a bound.
    shares = (square, min(ends[0], square), max(ends[1], square))
    return Quantity(*(float(max(_signed_root(share), least)) for share in shares))


def correlation_notes(here: Moments, part: Floats) -> tuple[str, ...]:
    """Say when the estimate left [-1, 1]."""
    size = abs(float(part[0]))
    if size > here.item[0] > 0:
        ratio = np.sqrt(size / here.item[0])
        note = (
            f"the correlation is estimated beyond 1 ({ratio:.3g} in size) and reported as 1: the "
            "item variance is small, or the sample too small to tell"
        )
        return (note,)
    return ()


def _signed_root(square: float) -> float:
    return float(np.sign(square) * np.sqrt(abs(square)))


def _pool_covariance(metric_pool: ArrayLike | Pool | None, spread: Floats) -> Floats | None:
    if metric_pool is None:
        return None
    pool = as_pool(metric_pool)
    if len(pool.mean) != len(spread):
        raise InvalidArgumentError(
            f"`metric_pool` must have {len(spread)} metrics as `metric` has; got {len(pool.mean)}"
        )
    covariance = pool.covariance / np.outer(spread, spread)
    if (np.diag(covariance) <= 1e-12).any():
        raise NotEstimableError(
            "`metric_pool` must vary over the pool as `metric` does; got a constant metric: "
            "pass the metric of every output"
        )
    return np.asarray(covariance)
