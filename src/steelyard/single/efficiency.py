"""Data efficiency: how many judgments a metric saves, what limits the saving, and its correlation."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.components import Analysis, analysis, check_repeats, check_spread
from steelyard.single.interval import Interval, check_options, percentiles, student_level
from steelyard.single.judged import JudgedSample, judged_outputs, systems_of_outputs
from steelyard.single.moments import SampleMoments
from steelyard.single.pool import PoolMoments, as_pool

__all__ = [
    "Efficiency",
    "data_efficiency",
    "metric_efficiencies",
    "scaled_metrics",
]


def data_efficiency(noise_ratio: ArrayLike, correlation: ArrayLike) -> Floats:
    r"""Variance of the sample mean over that of the control-variates estimate.

    .. math:: DE = \frac{1 + \gamma}{1 - \rho^2 + \gamma}

    Parameters
    ----------
    noise_ratio : float or array
        Rater variance over item variance; may be infinite.
    correlation : float or array
        Of metric and human score.

    Returns
    -------
    float or array
        At least 1; infinite for a perfect metric and noiseless raters. A perfect metric alone gives
        :math:`(1 + \gamma) / \gamma`, noiseless raters alone :math:`1 / (1 - \rho^2)`.

    Raises
    ------
    InvalidArgumentError
        If a noise ratio is negative or a correlation outside [-1, 1].

    References
    ----------
    Chaganty, Mussmann and Liang (2018), The price of debiasing automatic metrics in natural
    language evaluation, section 3.2.

    Examples
    --------
    >>> float(data_efficiency(1.0, 0.5).round(4))
    1.1429
    """
    gamma = np.asarray(noise_ratio, dtype=np.float64)
    rho = np.asarray(correlation, dtype=np.float64)
    if (gamma < 0).any():
        raise InvalidArgumentError(
            f"`noise_ratio` must not be negative; got {float(gamma.min())}: it is a ratio of variances"
        )
    if (np.abs(rho) > 1).any():
        raise InvalidArgumentError(
            f"`correlation` must lie within [-1, 1]; got {float(rho.flat[np.abs(rho).argmax()])}"
        )
    finite = np.where(np.isinf(gamma), 0.0, gamma)
    with np.errstate(divide="ignore", over="ignore"):
        efficiency = (1 + finite) / (1 - rho**2 + finite)
    return np.asarray(np.where(np.isinf(gamma), 1.0, efficiency))[()]


@dataclass(frozen=True)
class Efficiency:
    """What a metric saves, with all that goes into it.

    Attributes
    ----------
    item_variance, rater_variance, noise_ratio : Interval
        Variance components; the same for every metric.
    correlation : Interval
        With the human score, corrected for rater noise. NaN when the item variance is estimated as
        zero.
    data_efficiency : Interval
        ``data_efficiency(noise_ratio.value, correlation.value)`` and its interval.
    perfect_metric, noiseless_raters : Interval
        Its two limits.
    n_outputs, n_judgments : int
        Sizes.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    item_variance: Interval
    rater_variance: Interval
    noise_ratio: Interval
    correlation: Interval
    data_efficiency: Interval
    perfect_metric: Interval
    noiseless_raters: Interval
    n_outputs: int
    n_judgments: int
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"data efficiency {self.data_efficiency}; correlation {self.correlation}, "
            f"noise ratio {self.noise_ratio}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields under stable keys, quantities as ``{value, low, high}``."""
        return asdict(self) | {"notes": list(self.notes)}


def metric_efficiencies(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | PoolMoments | None = None,
    *,
    items: ArrayLike,
    raters: ArrayLike | None = None,
    systems: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator | None = None,
) -> tuple[Efficiency, ...]:
    r"""Correlation with the human score and data efficiency of each metric alone.

    With the unbiased :math:`\hat\sigma_f^2` of `variance_components` and :math:`s_g` the metric's
    standard deviation in the pool,

    .. math:: \hat\rho = \frac{\operatorname{Cov}(\bar y, g)}{\hat\sigma_f \, s_g}, \qquad
              DE = \frac{1 + \gamma}{1 - \rho^2 + \gamma}.

    Noise of raters is independent of the metric, so it does not touch the covariance; the plain
    correlation with mean judgments is too weak because it divides by their standard deviation, noise
    included. All intervals come from one set of resampled outputs.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    metric : (M,) or (M, p) array
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array or PoolMoments, optional
        Metrics of all outputs; without it, the spread of a metric is that of the judged outputs.
    items : (M,) array
        Which output each judgment is of.
    raters : (M,) array, optional
        Who gave it; the item variance is then that of `crossed_components`. Pass them wherever the
        same few raters judged many outputs: their leniency biases the one-way item variance.
    systems : (M,) array, optional
        Which system the output is of; everything is then within systems, and `metric_pool` must be
        left out.
    level : float
        Confidence level of the intervals.
    resamples : int
        Bootstrap resamples of the outputs.
    rng : numpy.random.Generator, optional
        Source of randomness; without it the same resamples are drawn at every call.

    Returns
    -------
    tuple of Efficiency
        One for each metric. A correlation is within [-1, 1], also where the ratio is beyond.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or an option breaks its rule.
    NotEstimableError
        If no output has two judgments, all judgments are equal, or a metric is constant.

    Notes
    -----
    Outputs are a simple random sample, and raters did not choose what they judge. Intervals are
    percentile intervals over draws of the outputs. That of the data efficiency starts at exactly 1
    when that of the correlation holds 0: the squared correlation of every resample is above zero, its
    sign is not.

    References
    ----------
    C. Spearman (1904), The proof and measurement of association between two things, American
    Journal of Psychology 15 (correction for attenuation).

    Examples
    --------
    >>> human = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
    >>> items = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> metric = [3, 3, 5, 5, 1, 1, 6, 6, 6, 6]
    >>> [result] = metric_efficiencies(human, metric, items=items)
    >>> round(result.correlation.value, 3), round(result.data_efficiency.value, 2)
    (0.827, 2.4)
    """
    check_options(level, resamples)
    if systems is not None and metric_pool is not None:
        raise InvalidArgumentError(
            "`metric_pool` and `systems` exclude each other: within systems, the spread of the "
            "metric is that of the judged outputs"
        )
    within = systems_of_outputs(systems, items)
    sample = judged_outputs(human, metric, items, raters=raters)
    sample, spread = scaled_metrics(sample, within)
    variance = None if metric_pool is None else _pool_variance(as_pool(metric_pool), spread)
    rng = np.random.default_rng(0) if rng is None else rng
    analysed = analysis(sample, systems=within, level=level, resamples=resamples, rng=rng)
    return tuple(
        _efficiency(analysed, j, None if variance is None else float(variance[j]))
        for j in range(sample.n_metrics)
    )


def scaled_metrics(
    sample: JudgedSample, systems: Ints | None = None
) -> tuple[JudgedSample, Floats]:
    """Return the sample with metrics in units of their spread (within systems), and the spread.

    Raises
    ------
    InvalidArgumentError
        If there is no metric.
    NotEstimableError
        If the sample does not determine the components, or a metric is constant.
    """
    check_repeats(sample, systems)
    check_spread(sample)
    if sample.n_metrics == 0:
        raise InvalidArgumentError("`metric` must hold at least one metric; got none")
    least = 2 + (1 if systems is None else int(systems.max()) + 1)
    if sample.n_outputs <= least:
        raise NotEstimableError(
            f"the correlation of a metric needs more than {least} judged outputs; "
            f"got {sample.n_outputs}: judge more outputs"
        )
    centred = sample.metric - sample.metric.mean(axis=0)
    if systems is not None:
        own = [np.bincount(systems, weights=column) / np.bincount(systems) for column in centred.T]
        centred = centred - np.column_stack(own)[systems]
    spread = centred.std(axis=0)
    flat = spread <= 1e-12 * np.abs(sample.metric).max(axis=0)
    if flat.any():
        raise NotEstimableError(
            "`metric` must vary over the judged outputs; "
            f"got a constant in column {int(np.argmax(flat))}: drop it, or judge more outputs"
        )
    return replace(sample, metric=centred / spread), spread


def _pool_variance(pool: PoolMoments, spread: Floats) -> Floats:
    if len(pool.mean) != len(spread):
        raise InvalidArgumentError(
            f"`metric_pool` must have {len(spread)} metrics as `metric` has; got {len(pool.mean)}"
        )
    variance = np.asarray(np.diag(pool.covariance) / spread**2)
    if (variance <= 1e-12).any():
        raise NotEstimableError(
            "`metric_pool` must vary over the pool as `metric` does; got a constant metric: "
            "pass the metric of every output"
        )
    return variance


def _efficiency(analysed: Analysis, index: int, variance: float | None) -> Efficiency:
    """Return the efficiency of one metric; `variance` is the metric's in the pool."""
    components, here, there = analysed.components, analysed.here, analysed.there
    far = student_level(components.level, components.n_outputs)
    part, parts = (_explained(moments, index, variance) for moments in (here, there))
    square, squares = float(_signed_square(here, part)[0]), _signed_square(there, parts)
    rho, noiseless = Interval(np.nan, -1.0, 1.0), Interval(np.nan, 1.0, np.inf)
    notes = components.notes
    if here.item[0] <= 0:
        notes += ("the correlation is undetermined: it has no meaning without item variance",)
    else:
        ends = percentiles(squares, far)
        # The interval holds the estimate, also where that was moved to a bound.
        shares = (square, min(ends[0], square), max(ends[1], square))
        rho = Interval(*(float(np.sign(share) * np.sqrt(abs(share))) for share in shares))
        noiseless = _from_share(square, ends)
        if abs(part[0]) > here.item[0]:
            ratio = np.sqrt(abs(part[0]) / here.item[0])
            note = (
                f"the correlation is estimated beyond 1 ({ratio:.3g} in size) and reported as 1: the "
                "item variance is small, or the sample too small to tell"
            )
            notes += (note,)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Unlike the square times the reliability, it is well behaved in draws with little item variance.
        saved = np.clip(np.where(there.total > 0, parts / there.total, np.nan), -1.0, 1.0)
    reliability = float(np.clip(here.reliability[0], 0.0, 1.0))
    gamma = components.noise_ratio
    perfect = (_inverse_complement(1 / (1 + g)) for g in (gamma.value, gamma.high, gamma.low))
    return Efficiency(
        item_variance=components.item,
        rater_variance=components.rater,
        noise_ratio=gamma,
        correlation=rho,
        data_efficiency=_from_share(square * reliability, percentiles(saved, far)),
        perfect_metric=Interval(*perfect),
        noiseless_raters=noiseless,
        n_outputs=components.n_outputs,
        n_judgments=components.n_judgments,
        level=components.level,
        notes=notes,
    )


def _explained(moments: SampleMoments, index: int, variance: float | None) -> Floats:
    """Return the human score's variance that the metric explains, with the correlation's sign.

    It is c |c| over the metric's variance, with c the covariance.
    """
    c = moments.with_metric[:, index]
    spread = moments.metric[:, index] if variance is None else np.full(len(c), variance)
    undefined = np.full(len(c), np.nan)
    return np.asarray(np.divide(c * np.abs(c), spread, out=undefined, where=spread > 1e-12))


def _signed_square(moments: SampleMoments, part: Floats) -> Floats:
    """Return the squared correlation with the sign of the correlation, within [-1, 1].

    A draw without item variance says no more than the sign.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(moments.item > 0, part / moments.item, np.sign(part))
    return np.clip(np.where(np.isnan(moments.item + part), np.nan, share), -1.0, 1.0)


def _from_share(share: float, ends: tuple[float, float]) -> Interval:
    """Return 1 / (1 - share) for a share of variance saved that carries its metric's sign.

    The interval holds the estimate, also where that was moved to a bound that resamples may pass.
    """
    low, high = ends
    value = abs(share)
    if low <= 0 <= high:
        low, high = 0.0, max(-low, high)
    else:
        low, high = min(abs(low), abs(high)), max(abs(low), abs(high))
    shares = (value, min(low, value), max(high, value))
    return Interval(*(_inverse_complement(part) for part in shares))


def _inverse_complement(share: float) -> float:
    return 1 / (1 - share) if share < 1 else float("inf")
