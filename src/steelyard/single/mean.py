r"""The paper's estimates of a mean human score: the plain mean, and metrics as control variates.

Every estimate here is :math:`c + \sum_i w_i \bar y_i` with weights w on the judged outputs. Where
judgments are independent given the output, its error about the mean human score of a fixed pool of N
outputs, of which n were drawn simply at random, has variance

.. math:: V = s_e^2 \left[\sum_i w_i^2 - \frac1N\right]
              + \frac{\sigma_a^2}{N} \operatorname{mean}_i \frac1{m_i} .

Where raters are a sample of raters, in the crossed model :math:`y_{ij} = f_i + b_{r(ij)} + e_{ij}` with
weights :math:`w_{ij}` on single judgments,

.. math:: V = \sigma_f^2\left[\sum_i w_{i\cdot}^2 - \frac1N\right]
              + \sigma_r^2 \sum_r w_{\cdot r}^2 + \sigma_e^2 \sum_{ij} w_{ij}^2 .

Derived in docs/methods/paper-estimators.md.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.crossed import crossed_components
from steelyard.single.estimate import MeanEstimate
from steelyard.single.judged import JudgedSample, judged_outputs
from steelyard.single.pool import PoolMoments, as_pool
from steelyard.single.repeats import Repeats
from steelyard.single.slopes import Slope, SlopeFit, check_pool, slope_fit

__all__ = ["control_variates", "sample_mean"]

Raters = Literal["fixed", "random"]
Target = Literal["pool", "superpopulation"]

_FEW_JUDGMENTS = 20
# With fewer, chance often makes raters look alike, and the interval is then too short (measured).
_FEW_RATERS = 5


def sample_mean(
    human: ArrayLike,
    *,
    items: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    pool_size: int | None = None,
    target: Target = "pool",
    raters_as: Raters = "fixed",
    level: float = 0.95,
    rater_variance: float | None = None,
) -> MeanEstimate:
    r"""Estimate the pool's mean human score by the mean judgment of the judged outputs.

    .. math:: \hat\mu = \operatorname{mean}_i \bar y_i, \qquad
              V = s^2 \frac{1 - n/N}{n} + \frac{\sigma_a^2}N \operatorname{mean}_i \frac1{m_i},

    with :math:`s^2` the variance of the outputs' mean judgments.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    pool_size : int, optional
        Number of outputs in the pool; without it the pool counts as infinite.
    items, raters, target, raters_as, level, rater_variance
        As in `control_variates`.

    Raises
    ------
    InvalidArgumentError, NotEstimableError
        As in `control_variates`.

    References
    ----------
    Cochran (1977), Sampling techniques, chapters 2 and 10.

    Examples
    --------
    >>> print(sample_mean([1, 0, 1, 1, 0, 1]))
    0.6667 [0.1247, 1.2086] at 95% (sample-mean, 6 judgments on 6 outputs)
    """
    sample = judged_outputs(human, None, items, raters=raters)
    if pool_size is not None and sample.identified and pool_size < sample.n_outputs:
        raise InvalidArgumentError(
            f"`pool_size` must be at least the number of judged outputs ({sample.n_outputs}); "
            f"got {pool_size}"
        )
    question = _Question(sample, pool_size, target, raters_as, level, rater_variance)
    return question.answer(slope_fit(sample, None, np.empty(0)))


def control_variates(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | PoolMoments,
    *,
    items: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    target: Target = "pool",
    slope: Slope | ArrayLike = "least-squares",
    raters_as: Raters = "fixed",
    level: float = 0.95,
    rater_variance: float | None = None,
) -> MeanEstimate:
    r"""Estimate the pool's mean human score from judged outputs and metrics on all outputs.

    With :math:`\bar y_i` the mean judgment of output i, :math:`g` the metrics and :math:`a` the
    slope of judgment on metric,

    .. math:: \hat\mu = \operatorname{mean}_i \bar y_i - a' d, \qquad d = \bar g_n - \bar g_N,

    where :math:`\bar g_n` and :math:`\bar g_N` are the mean metrics of the judged outputs and of the
    pool. For the least-squares slope and a fixed pool its error has variance

    .. math:: V = s_e^2 \left[\frac{1 - n/N}{n} + d' S^{-1} d\right]
                  + \frac{\sigma_a^2}N \operatorname{mean}_i \frac1{m_i},

    with :math:`S` the metrics' sums of squares and products.

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
    target : {"pool", "superpopulation"}
        The mean human score of this pool, or of the population that the pool is a sample of.
    slope : str, float or (p,) array
        "least-squares" over the judged outputs; "plug-in", the paper's Algorithm 1; or a number for
        each metric, from a pilot.
    raters_as : {"fixed", "random"}
        Judgments are independent given the output, the paper's assumption; or raters are a sample
        of raters.
    level : float
        Confidence level.
    rater_variance : float, optional
        Variance of the judgments of one output, known from a pilot.

    Returns
    -------
    MeanEstimate
        With the plain mean of the same judgments as `baseline`.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    NotEstimableError
        If there are too few judged outputs, a metric is constant, or the judgments show no spread.

    Notes
    -----
    The interval is Student's. The slope's own uncertainty is part of V; without it intervals are too
    short below n = 50.

    References
    ----------
    Chaganty, Mussmann and Liang (2018), The price of debiasing automatic metrics in natural
    language evaluation. Cochran (1977), Sampling techniques, chapter 7.

    Examples
    --------
    >>> result = control_variates([1, 3, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6])
    >>> print(result)
    3.3000 [0.5618, 6.0382] at 95% (control-variates/least-squares, 4 judgments on 4 of 6
    outputs, DE 1.03)
    """
    sample = judged_outputs(human, metric, items, raters=raters)
    pool = as_pool(metric_pool)
    check_pool(sample, pool)
    question = _Question(sample, pool.size, target, raters_as, level, rater_variance)
    fit = slope_fit(sample, pool, slope)
    baseline = question.answer(slope_fit(sample, None, np.empty(0)))
    return question.answer(fit, pool, baseline)


@dataclass(frozen=True)
class _Error:
    """The variance of an estimate's error, its degrees of freedom, and what is to be said of it."""

    variance: float
    degrees_of_freedom: float
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, parts: list[tuple[float, float]], notes: tuple[str, ...] = ()) -> "_Error":
        """Add up independent variances with their degrees of freedom, as Satterthwaite (1946) does."""
        total = max(sum(value for value, _ in parts), 0.0)
        doubt = sum(2 * value**2 / freedom for value, freedom in parts)
        least = min(freedom for _, freedom in parts)
        return cls(total, max(2 * total**2 / doubt, min(least, 1.0)) if doubt else least, notes)


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of a sample: the mean of which outputs, seen by which raters, how surely."""

    sample: JudgedSample
    pool_size: int | None
    target: Target
    raters_as: Raters
    level: float
    rater_variance: float | None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("target", self.target, get_args(Target)),
            ("raters_as", self.raters_as, get_args(Raters)),
        ):
            if value not in known:
                raise InvalidArgumentError(
                    f"`{name}` must be one of {', '.join(known)}; got {value!r}"
                )
        if not 0 < self.level < 1:
            raise InvalidArgumentError(
                f"`level` must lie strictly between 0 and 1; got {self.level}: "
                "write 0.95 for a 95% interval"
            )
        if self.rater_variance is not None and not 0 <= self.rater_variance < np.inf:
            raise InvalidArgumentError(
                f"`rater_variance` must be finite and not negative; got {self.rater_variance}"
            )
        if self.raters_as == "random" and self.sample.rater is None:
            raise InvalidArgumentError(
                '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
            )

    def answer(
        self, fit: SlopeFit, pool: PoolMoments | None = None, baseline: MeanEstimate | None = None
    ) -> MeanEstimate:
        """Return the estimate of a fit with its interval."""
        sample = self.sample
        self._check_spread(fit)
        error = self._random_raters(fit) if self.raters_as == "random" else self._fixed_raters(fit)
        variance = error.variance
        if self.target == "superpopulation":
            variance += _between_pools(fit, sample, pool)
        # Of the variance without a finite pool only rounding is left.
        if variance <= 1e-12 * fit.variance * float(fit.weights @ fit.weights):
            raise NotEstimableError(
                "the interval would be a single point, as every output was judged and rater noise "
                "is taken as 0: give the `rater_variance` that judgments have"
            )
        notes = error.notes
        if len(fit.slope) and sample.n_judgments < _FEW_JUDGMENTS:
            note = (
                f"only {sample.n_judgments} judgments: below {_FEW_JUDGMENTS} the metric may cost "
                "more than it brings; compare with the plain mean"
            )
            notes = (*notes, note)
        standard_error = float(np.sqrt(variance))
        reach = float(stdtrit(error.degrees_of_freedom, (1 + self.level) / 2)) * standard_error
        return MeanEstimate(
            estimate=fit.estimate,
            standard_error=standard_error,
            low=fit.estimate - reach,
            high=fit.estimate + reach,
            level=self.level,
            target=self.target,
            raters=self.raters_as,
            method=fit.method,
            n_outputs=sample.n_outputs,
            n_judgments=sample.n_judgments,
            n_raters=sample.n_raters,
            pool_size=self.pool_size,
            degrees_of_freedom=float(error.degrees_of_freedom),
            slope=tuple(float(a) for a in fit.slope),
            baseline=baseline,
            notes=notes,
        )

    @property
    def _limit(self) -> float:
        """1/N where a pool of N outputs was drawn from without replacement and is asked about."""
        finite = self.sample.identified and self.target == "pool" and self.pool_size is not None
        return 1 / self.pool_size if finite and self.pool_size else 0.0

    def _fixed_raters(self, fit: SlopeFit) -> _Error:
        """Return the error where judgments are independent given the output.

        The finite-pool factor takes rater noise off too, which is added back.
        """
        square = float(fit.weights @ fit.weights)
        unlimited = _Error.of([(fit.variance * square, fit.freedom)])
        if not self._limit:
            return unlimited
        within = fit.variance * max(square - self._limit, 0.0)
        added = self._limit * float(np.mean(1 / self.sample.count))
        if self.rater_variance is not None:
            return _Error.of([(within, fit.freedom), (self.rater_variance * added, np.inf)])
        repeats = Repeats.of(self.sample)
        # at most the variance at which all of the outputs' spread would be noise
        known = None if repeats is None else repeats.against((unlimited.variance - within) / added)
        if known is None:
            kept = float(np.sqrt(within / unlimited.variance))
            return _Error.of([(unlimited.variance, fit.freedom)], self._left_out(1 - kept))
        return _Error.of([(within, fit.freedom), (known[0] * added, known[1])])

    def _random_raters(self, fit: SlopeFit) -> _Error:
        """Return the error where raters are a sample of raters, from the crossed components."""
        sample = self.sample
        assert sample.rater is not None
        human, columns = sample.human, None
        if fit.fitted:
            columns = sample.metric[sample.output]
        elif len(fit.slope):
            human = human - (sample.metric @ fit.slope)[sample.output]
        found = crossed_components(human, sample.output, sample.rater, covariates=columns)
        weights = (fit.weights / sample.count)[sample.output]
        by_rater = np.bincount(sample.rater, weights=weights)
        notes = list(found.notes)
        if self._limit and not found.item_identified:
            notes.append(
                "no output has two judgments, so rater noise is unknown and the finite-pool "
                "correction is left out (conservative)"
            )
        if found.n_raters < _FEW_RATERS:
            notes.append(
                f"only {found.n_raters} raters: too few to tell how much raters differ, so the "
                f"interval may be too short for others than these; ask {_FEW_RATERS} or more"
            )
        if self.rater_variance is not None:
            notes.append(
                "`rater_variance` is not used: with raters as a sample its parts, leniency and "
                "residual, come from these judgments"
            )
        limit = self._limit if found.item_identified else 0.0
        k = np.array(
            [
                max(float(fit.weights @ fit.weights) - limit, 0.0),
                by_rater @ by_rater,
                weights @ weights,
            ]
        )
        value = float(k @ (found.item, found.leniency, found.residual))
        doubt = float(k @ found.covariance @ k)
        freedom = max(2 * value**2 / doubt, 1.0) if doubt else fit.freedom
        return _Error(value, freedom, tuple(notes))

    def _check_spread(self, fit: SlopeFit) -> None:
        """Refuse judgments that do not vary, or not around the fit, beyond rounding."""
        mean = self.sample.mean
        rounding = 1e-12 * float(np.abs(mean).max())
        if np.ptp(mean) > rounding and np.sqrt(fit.variance) > rounding:
            return
        what = (
            f"all judged outputs have the same mean judgment ({mean[0]:g})"
            if np.ptp(mean) <= rounding
            else "the metric predicts the judged outputs without error"
        )
        raise NotEstimableError(
            f"{what}, so the judgments alone give no honest width: judge more outputs, or use "
            "`ConfidenceSequence` with the bounds of the score"
        )

    def _left_out(self, gain: float) -> tuple[str, ...]:
        """Say that rater noise is not known well enough, and what share knowing it could spare."""
        if gain < 0.005:
            return ()
        again = int((self.sample.count > 1).sum())
        why, more = "no output has two judgments, so rater noise is unknown and", "a few outputs"
        if again:
            outputs = "1 output" if again == 1 else f"{again} outputs"
            why = f"the second judgments of {outputs} tell too little of rater noise, so"
            more = "more outputs"
        note = (
            f"{why} the finite-pool correction is left out (conservative): a second judgment on "
            f"{more} could narrow the interval by up to {gain:.0%}"
        )
        return (note,)


def _between_pools(fit: SlopeFit, sample: JudgedSample, pool: PoolMoments | None) -> float:
    r"""Return what the choice of the pool itself adds to the variance.

    .. math:: \frac{a' \Sigma_N a + 2 a' \operatorname{Cov}(e, g)}N

    The covariance of residual and metric is zero for least squares, and not for another slope: the
    residuals of the sample and the pool's mean metric then depend on the same outputs.
    """
    if pool is None:
        return 0.0
    g = sample.metric - sample.metric.mean(axis=0)
    shared = fit.slope @ (g.T @ fit.residual) / (sample.n_outputs - 1)
    between = float(fit.slope @ pool.covariance @ fit.slope + 2 * shared)
    # The residuals' own part of the pool's variance, which is counted already, bounds it below.
    return max(between, -fit.variance) / pool.size
