"""Judged outputs with what was recorded of their draw, and what such estimates share."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from steelyard.arrays import JudgedOutputs, Pool, judged_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.fit import solution
from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.repeats import Repeats
from steelyard.estimate.result import Estimate
from steelyard.estimate.uncertainty import ErrorVariance, correction_left_out, satterthwaite

__all__ = [
    "Part",
    "check_metrics",
    "drawn_options",
    "drawn_outputs",
    "error_variance",
    "given_slope",
    "slope_solver",
    "student_estimate",
]

Floats = NDArray[np.float64]
# A part of a variance, with its degrees of freedom.
Part = tuple[float, float]

_FEW_JUDGMENTS = 20


def drawn_options(
    *,
    target: Target,
    level: float,
    rater_variance: float | None,
    raters_as: Raters = "fixed",
) -> Options:
    """Return the options that estimates from drawn samples know, checked."""
    if target not in {"pool", "census"}:
        raise InvalidArgumentError(
            f"`target` must be pool or census for a recorded draw; got {target!r}"
        )
    if raters_as == "adjusted":
        raise InvalidArgumentError(
            '`raters_as` "adjusted" weights judgments by their raters and not by the draw, and '
            'cannot go with a recorded draw: use raters_as="random"'
        )
    return Options(target=target, level=level, rater_variance=rater_variance, raters_as=raters_as)


def drawn_outputs(
    human: ArrayLike,
    metric: ArrayLike | None,
    items: ArrayLike | None,
    *,
    recorded: ArrayLike,
    name: str,
    raters: ArrayLike | None = None,
) -> tuple[JudgedOutputs, NDArray[Any]]:
    """Group judgments by output, together with one recorded value of each output.

    Parameters
    ----------
    human, metric, items, raters
        As in `judged_outputs`.
    recorded : (M,) array
        What the draw recorded of the judged output: its stratum or its probability.
    name : str
        What the caller calls `recorded`.

    Returns
    -------
    JudgedOutputs, (n,) array
        The judged outputs, and the recorded value of each.

    Raises
    ------
    InvalidArgumentError
        If `recorded` is misaligned, or differs between judgments of one output.
    """
    values = np.asarray(recorded)
    if values.shape != np.shape(human):
        raise InvalidArgumentError(
            f"`{name}` must have shape {np.shape(human)} to align with `human`; got {values.shape}"
        )
    distinct, codes = np.unique(values, return_inverse=True)
    if items is not None:
        _check_constant(codes, np.asarray(items), name)
    columns = [codes.astype(np.float64)]
    if metric is not None:
        g = np.asarray(metric, dtype=np.float64)
        if g.shape[:1] != values.shape:
            raise InvalidArgumentError(
                f"`metric` must have shape ({len(values)},) or ({len(values)}, p) to align with "
                f"`human`; got {g.shape}"
            )
        columns = [*(g[:, np.newaxis] if g.ndim == 1 else g).T, *columns]
    # The codes travel as one more column, so that grouping and order are those of every estimator.
    sample = judged_outputs(human, np.column_stack(columns), items, raters=raters)
    code = sample.metric[:, -1].astype(np.int64)
    return replace(sample, metric=sample.metric[:, :-1]), distinct[code]


def check_metrics(sample: JudgedOutputs, pool: Pool) -> None:
    """Raise unless the pool has the metrics of the sample, and can have held its outputs."""
    if len(pool.mean) != sample.n_metrics:
        raise InvalidArgumentError(
            f"`metric_pool` must hold the same metrics as `metric`; got {len(pool.mean)} "
            f"against {sample.n_metrics}"
        )
    slack = 1e-6 * (pool.high - pool.low)
    outside = (sample.metric < pool.low - slack) | (sample.metric > pool.high + slack)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise InvalidArgumentError(
            f"`metric_pool` must include the judged outputs; metric {column} of a judged output is "
            f"{sample.metric[row, column]:g}, outside the pool's range "
            f"[{pool.low[column]:g}, {pool.high[column]:g}]: are both on the same scale?"
        )


def given_slope(slope: ArrayLike, n_metrics: int) -> Floats:
    """Return a slope from elsewhere, one finite number a metric."""
    given = np.atleast_1d(np.asarray(slope, dtype=np.float64))
    if given.shape != (n_metrics,) or not np.isfinite(given).all():
        raise InvalidArgumentError(
            f"`slope` must be {n_metrics} finite number(s), one a metric; got {slope!r}"
        )
    return given


def slope_solver(g: Floats, centred: Floats, *, weights: Floats, where: str) -> Floats:
    """Return the inverse of the metrics' weighted sums of squares and products, once checked.

    Parameters
    ----------
    g, centred : (n, p) array
        Metrics, and their deviations from the means that they are compared with.
    weights : (n,) array
        Weight of each output in the sums.
    where : str
        What the outputs are, for the message.
    """
    S = (centred * weights[:, np.newaxis]).T @ centred
    scale = np.sqrt(np.diag(S))
    # Deviations of a constant from its own mean are rounding.
    constant = np.flatnonzero(scale <= 1e-12 * np.sqrt(weights @ g**2))
    if len(constant):
        which = "the metric" if g.shape[1] == 1 else f"metric {constant[0] + 1} of {g.shape[1]}"
        raise NotEstimableError(
            f"{which} is constant within {where} and cannot correct anything: leave it out"
        )
    if np.linalg.eigvalsh(S / np.outer(scale, scale))[0] < 1e-10:
        raise NotEstimableError(
            f"the metrics are collinear within {where}: leave out those that repeat others"
        )
    return solution(S, np.eye(len(S)))


def error_variance(
    sample: JudgedOutputs,
    *,
    limited: list[Part],
    unlimited: list[Part],
    probability: Floats,
    weights: Floats,
    options: Options,
) -> ErrorVariance:
    r"""Return the error variance for the target, with the rater noise that no census exhausts.

    The finite-pool factor takes :math:`w_i^2 \pi_i \sigma_a^2 / m_i` too much off for each output,
    which is added back; :math:`\sigma_a^2` is the mean over the pool of the outputs' own rater
    variances, hence weighted by :math:`1/\pi_i`.

    Parameters
    ----------
    sample : JudgedOutputs
        The judged outputs.
    limited, unlimited : list of (float, float)
        Parts of the variance with and without the finite-pool factor, and their degrees of freedom.
    probability, weights : (n,) array
        Inclusion probability of each output, and its weight in the plain estimate.
    options : Options
        Target and rater variance.
    """
    whole = ErrorVariance(sum(value for value, _ in unlimited), satterthwaite(*unlimited))
    if not sample.identified:
        if options.target == "census":
            raise InvalidArgumentError(
                '`target` "census" needs `items`: without them judgments are draws with '
                'replacement; pass `items` or use target="pool"'
            )
        return whole
    within_pool = sum(value for value, _ in limited)
    if options.target == "census":
        return ErrorVariance(within_pool, satterthwaite(*limited))
    added = float(np.sum(weights**2 * probability / sample.count))
    # The rater variance at which all of the outputs' spread would be noise.
    most = max(whole.value - within_pool, 0.0) / added
    known = _rater_variance(sample, probability, most, options=options)
    if known is None:
        gain = 1 - np.sqrt(min(within_pool / whole.value, 1.0)) if whole.value > 0 else 0.0
        return replace(whole, notes=correction_left_out(sample, float(gain)))
    rater_variance, freedom = known
    noise = rater_variance * added
    return ErrorVariance(within_pool + noise, satterthwaite(*limited, (noise, freedom)))


def _rater_variance(
    sample: JudgedOutputs, probability: Floats, most: float, *, options: Options
) -> tuple[float, float] | None:
    """Return the rater variance with its degrees of freedom, None if too little is known of it."""
    if options.rater_variance is not None:
        return options.rater_variance, np.inf
    repeats = Repeats.of(sample, weights=1 / probability)
    if repeats is None or options.raters_as == "fixed":
        return None if repeats is None else repeats.against(most)
    # With raters as a sample leniency is told from this number, which must stay unbiased.
    pairs = (sample.count - 1) / probability
    return repeats.variance, float(pairs.sum() ** 2 / (pairs / probability).sum())


def student_estimate(
    point: float,
    variance: ErrorVariance,
    sample: JudgedOutputs,
    *,
    method: str,
    pool_size: int,
    slope: Floats,
    options: Options,
    baseline: Estimate | None,
    notes: tuple[str, ...] = (),
) -> Estimate:
    """Return the estimate with Student's interval; a width of zero is refused."""
    counted = options.target == "census" and sample.n_outputs == pool_size
    rounding = 1e-12 * float(np.abs(sample.mean).max())
    if np.sqrt(variance.value) <= rounding and not counted:
        raise NotEstimableError(
            "the judged outputs show no spread, so the judgments alone give no honest width: "
            "judge more outputs"
        )
    reach = float(stdtrit(variance.degrees_of_freedom, (1 + options.level) / 2))
    reach *= float(np.sqrt(variance.value))
    if counted:
        notes = (*notes, "every output was judged, so the census mean is known exactly")
    if len(slope) and sample.n_judgments < _FEW_JUDGMENTS:
        few = (
            f"only {sample.n_judgments} judgments: below {_FEW_JUDGMENTS} the metric may cost more "
            "than it brings; compare with the baseline, or give the slope"
        )
        notes = (*notes, few)
    return Estimate(
        estimate=point,
        standard_error=float(np.sqrt(variance.value)),
        low=point - reach,
        high=point + reach,
        level=options.level,
        target=options.target,
        raters=options.raters_as,
        method=f"{method}/student",
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        pool_size=pool_size,
        degrees_of_freedom=float(variance.degrees_of_freedom),
        slope=tuple(float(a) for a in slope),
        baseline=baseline,
        notes=(*variance.notes, *notes),
    )


def _check_constant(codes: NDArray[np.int64], items: NDArray[Any], name: str) -> None:
    if items.shape != codes.shape:
        raise InvalidArgumentError(
            f"`items` must have shape {codes.shape} to align with `human`; got {items.shape}"
        )
    distinct, first, output = np.unique(items, return_index=True, return_inverse=True)
    differs = codes[first][output] != codes
    if differs.any():
        raise InvalidArgumentError(
            f"`{name}` must be the same for all judgments of one output; got two different values "
            f"for output {distinct.tolist()[output[differs][0]]!r}: it is recorded when the output is drawn"
        )
