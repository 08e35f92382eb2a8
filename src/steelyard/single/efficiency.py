"""Data efficiency: how many judgments a metric saves, and what limits the saving."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.single.analysis import Analysis, analysis
from steelyard.single.correlation import (
    correlation_notes,
    correlation_quantity,
    explained,
    metric_sample,
    saved_share,
    signed_square,
)
from steelyard.single.judged import systems_of_outputs
from steelyard.single.pool import Pool
from steelyard.single.quantity import Quantity, check_options, percentiles, student_level

__all__ = [
    "Efficiency",
    "data_efficiency",
    "efficiencies_in",
    "efficiency_in",
    "efficiency_of",
    "efficiency_of_each",
]

Floats = NDArray[np.float64]


def data_efficiency(noise_ratio: ArrayLike, correlation: ArrayLike) -> Floats:
    r"""Variance of the sample mean over that of the control-variates estimate.

    .. math:: DE = \frac{1 + \gamma}{1 - \rho^2 + \gamma}

    Parameters
    ----------
    noise_ratio : float or array
        Rater variance over item variance; may be infinite.
    correlation : float or array
        Of metric and human score; for several metrics the multiple correlation.

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
    """What one metric, or several together, save, with all that goes into it.

    Attributes
    ----------
    item_variance, rater_variance, noise_ratio : Quantity
        Variance components; the same for every metric.
    correlation : Quantity
        With the human score, corrected for rater noise; multiple for several metrics. NaN when the
        item variance is estimated as zero.
    data_efficiency : Quantity
        ``data_efficiency(noise_ratio.value, correlation.value)`` and its interval.
    perfect_metric, noiseless_raters : Quantity
        Its two limits.
    n_outputs, n_judgments, n_metrics : int
        Sizes.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    item_variance: Quantity
    rater_variance: Quantity
    noise_ratio: Quantity
    correlation: Quantity
    data_efficiency: Quantity
    perfect_metric: Quantity
    noiseless_raters: Quantity
    n_outputs: int
    n_judgments: int
    n_metrics: int
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"data efficiency {self.data_efficiency}; correlation {self.correlation}, "
            f"noise ratio {self.noise_ratio}"
        )

    def to_dict(self) -> dict[str, object]:
        """Return all fields under stable keys, quantities as ``{value, low, high}``."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.to_dict() if isinstance(value, Quantity) else value
            for name, value in (values | {"notes": list(self.notes)}).items()
        }


def efficiency_of(
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
) -> Efficiency:
    r"""Data efficiency of one metric, or of several together, estimated from judgments.

    Components as in `variance_components`, correlation as in `correlation`, and from both
    :math:`DE = (1 + \gamma) / (1 - \rho^2 + \gamma)` with its limits. All intervals come from one set
    of resampled outputs.

    Parameters
    ----------
    human, metric, metric_pool, items, raters, systems, level, resamples, rng
        As in `correlation`.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or an option breaks its rule.
    NotEstimableError
        If no output has two judgments, all judgments are equal, or a metric is constant or
        collinear.

    Notes
    -----
    The interval of the efficiency of one metric starts at exactly 1 when that of its correlation
    holds 0: the squared correlation of every resample is above zero, its sign is not.

    Examples
    --------
    >>> human = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
    >>> items = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> metric = [3, 3, 5, 5, 1, 1, 6, 6, 6, 6]
    >>> found = efficiency_of(human, metric, items=items)
    >>> round(found.data_efficiency.value, 2), round(found.perfect_metric.value, 2)
    (2.4, 6.81)
    """
    check_options(level, resamples)
    within = systems_of_outputs(systems, items)
    sample, covariance = metric_sample(
        human, metric, metric_pool, items=items, raters=raters, systems=within
    )
    rng = np.random.default_rng(0) if rng is None else rng
    found = analysis(sample, systems=within, level=level, resamples=resamples, rng=rng)
    return efficiency_in(found, covariance, level)


def efficiency_of_each(
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
) -> tuple[Efficiency, ...]:
    """Data efficiency of each metric alone, all from one set of resampled outputs.

    Parameters, errors and notes as in `efficiency_of`, but that metrics may be collinear.

    Examples
    --------
    >>> human = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
    >>> items = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> metric = [[3, 1], [3, 1], [5, 1], [5, 1], [1, 0], [1, 0], [6, 1], [6, 1], [6, 0], [6, 0]]
    >>> [round(one.data_efficiency.value, 2) for one in efficiency_of_each(
    ...     human, metric, items=items)]
    [2.4, 1.12]
    """
    check_options(level, resamples)
    within = systems_of_outputs(systems, items)
    sample, covariance = metric_sample(
        human, metric, metric_pool, items=items, raters=raters, systems=within, jointly=False
    )
    rng = np.random.default_rng(0) if rng is None else rng
    found = analysis(sample, systems=within, level=level, resamples=resamples, rng=rng)
    return tuple(efficiencies_in(found, covariance, level))


def efficiencies_in(
    found: Analysis, pool_covariance: Floats | None, level: float
) -> list[Efficiency]:
    """Return the efficiency of each metric alone in an analysed sample."""
    return [
        efficiency_in(
            replace(found, here=found.here.of_metric(j), there=found.there.of_metric(j)),
            None if pool_covariance is None else pool_covariance[j : j + 1, j : j + 1],
            level,
        )
        for j in range(found.sample.n_metrics)
    ]


def efficiency_in(found: Analysis, pool_covariance: Floats | None, level: float) -> Efficiency:
    """Return the efficiency of all metrics of an analysed sample together."""
    sample = found.sample
    far = student_level(level, sample.n_outputs)
    here, there, gamma = found.here, found.there, found.noise_ratio
    several = here.with_metric.shape[1] > 1
    part, parts = (explained(one, pool_covariance) for one in (here, there))
    square, squares = float(signed_square(here, part)[0]), signed_square(there, parts)
    if here.item[0] <= 0:
        rho = Quantity(np.nan, 0.0 if several else -1.0, 1.0)
        noiseless = Quantity(np.nan, 1.0, np.inf)
        notes: tuple[str, ...] = (
            "the correlation is undetermined: it has no meaning without item variance",
        )
    else:
        ends = percentiles(squares, far)
        rho = correlation_quantity(square, ends, several=several)
        noiseless = _from_share(square, ends, several=several)
        notes = correlation_notes(here, part)
    reliability = float(np.clip(here.reliability[0], 0.0, 1.0))
    return Efficiency(
        item_variance=found.item,
        rater_variance=found.rater,
        noise_ratio=gamma,
        correlation=rho,
        data_efficiency=_from_share(
            square * reliability, percentiles(saved_share(there, parts), far), several=several
        ),
        perfect_metric=Quantity(
            *(_inverse_complement(1 / (1 + one)) for one in (gamma.value, gamma.high, gamma.low))
        ),
        noiseless_raters=noiseless,
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_metrics=here.with_metric.shape[1],
        level=level,
        notes=(*found.notes, *notes),
    )


def _from_share(share: float, ends: tuple[float, float], *, several: bool) -> Quantity:
    """Return 1 / (1 - share) for a share of variance saved that carries its metric's sign.

    Without a sign, as for several metrics, a share below zero counts as zero. The interval holds
    the estimate, also where that was moved to a bound that resamples may pass.
    """
    low, high = ends
    value = abs(share) if not several else max(share, 0.0)
    if several:
        low, high = max(low, 0.0), max(high, 0.0)
    elif low <= 0 <= high:
        low, high = 0.0, max(-low, high)
    else:
        low, high = min(abs(low), abs(high)), max(abs(low), abs(high))
    shares = (value, min(low, value), max(high, value))
    return Quantity(*(_inverse_complement(one) for one in shares))


def _inverse_complement(share: float) -> float:
    return 1 / (1 - share) if share < 1 else float("inf")
