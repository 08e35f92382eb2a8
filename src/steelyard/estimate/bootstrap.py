"""Bootstrap intervals over outputs, for every slope, without a loop over resamples.

Outputs are drawn with replacement and keep their judgments: the spread of mean judgments between
outputs holds the rater noise already, so drawing judgments again within outputs would count it
twice (Davison and Hinkley, 1997, section 3.8). Deviations are scaled to the error variance of the
target, which brings in the finite pool and the raters.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from steelyard.arrays import JudgedOutputs, Pool, resampled_sums
from steelyard.errors import NotEstimableError
from steelyard.estimate.fit import Fit, solution
from steelyard.estimate.options import Options
from steelyard.estimate.slope import shrinkage

__all__ = ["Resamples", "bootstrap_interval", "resample"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Resamples:
    """Means and (co)variances of each of B resamples, metrics scaled to unit variance.

    Attributes
    ----------
    mean_y, S_yy : (B,) array
        Mean (around the sample's) and variance of mean judgments.
    mean_g, C : (B, p) array
        Mean metrics (around the sample's), and their covariance with judgments.
    S, inverse : (B, p, p) array
        Covariance of the metrics, and its inverse.
    """

    mean_y: Floats
    S_yy: Floats
    mean_g: Floats
    C: Floats
    S: Floats
    inverse: Floats

    def without_metrics(self) -> "Resamples":
        """Return the same resamples as the plain mean sees them."""
        return replace(
            self,
            mean_g=self.mean_g[:, :0],
            C=self.C[:, :0],
            S=self.S[:, :0, :0],
            inverse=self.inverse[:, :0, :0],
        )


def resample(sample: JudgedOutputs, options: Options) -> Resamples:
    """Draw judged outputs with replacement, each with its judgments."""
    n, p = sample.metric.shape
    y = sample.mean - sample.mean.mean()
    g = (sample.metric - sample.metric.mean(axis=0)) / _scale(sample)
    products = (g[:, :, np.newaxis] * g[:, np.newaxis, :]).reshape(n, p * p)
    features = np.column_stack([y, y * y, g, g * y[:, np.newaxis], products])
    means = resampled_sums(features, resamples=options.resamples, rng=options.rng) / n
    mean_y, mean_yy, mean_g, mean_gy, mean_gg = np.split(means, np.cumsum([1, 1, p, p]), axis=1)
    S = mean_gg.reshape(len(means), p, p) - mean_g[:, :, np.newaxis] * mean_g[:, np.newaxis, :]
    return Resamples(
        mean_y=mean_y[:, 0],
        S_yy=(mean_yy - mean_y**2)[:, 0],
        mean_g=mean_g,
        C=mean_gy - mean_g * mean_y,
        S=S,
        inverse=_inverse(S),
    )


def bootstrap_interval(
    draws: Resamples,
    fit: Fit,
    sample: JudgedOutputs,
    pool: Pool | None,
    *,
    variance: float,
    options: Options,
) -> tuple[float, float]:
    """Return the ends of the asked bootstrap interval.

    Parameters
    ----------
    draws : Resamples
        Resamples of the judged outputs.
    fit : Fit
        The estimate.
    sample : JudgedOutputs
        The judged outputs.
    pool : Pool or None
        The pool's metrics.
    variance : float
        Error variance of the estimate for its target.
    options : Options
        Interval and level.

    Returns
    -------
    low, high : float
    """
    deviation, spread = _deviations(draws, fit, sample, pool)
    standard_error = np.sqrt(variance)
    tails = np.array([(1 - options.level) / 2, (1 + options.level) / 2])
    if options.interval == "bootstrap-t":
        low, high = _studentised(deviation, spread, tails)
        return fit.estimate - high * standard_error, fit.estimate - low * standard_error
    unlimited = np.sqrt(fit.residual_variance * (fit.weights @ fit.weights))
    deviation = deviation * (standard_error / unlimited)
    if options.interval == "basic":
        low, high = np.quantile(deviation, tails)
        return fit.estimate - high, fit.estimate - low
    if options.interval == "bca":
        tails = _bca_tails(deviation, fit, sample, tails)
    low, high = np.quantile(deviation, tails)
    return fit.estimate + low, fit.estimate + high


def _deviations(
    draws: Resamples, fit: Fit, sample: JudgedOutputs, pool: Pool | None
) -> tuple[Floats, Floats]:
    """Return each resample's deviation from the estimate and its own standard error."""
    n, scale = sample.n_outputs, _scale(sample)
    slope = _slopes(fit, draws, pool, scale)
    offset = np.zeros(len(scale))
    if pool is not None:
        offset = (sample.metric.mean(axis=0) - pool.mean) / scale
    shift = draws.mean_g + offset
    estimate = draws.mean_y - np.einsum("bj,bj->b", slope, shift)
    deviation = estimate + (fit.slope * scale) @ offset
    explained = 2 * np.einsum("bj,bj->b", slope, draws.C) - np.einsum(
        "bi,bij,bj->b", slope, draws.S, slope
    )
    residual = np.maximum(draws.S_yy - explained, 0) * n / fit.degrees_of_freedom
    doubt = np.einsum("bi,bij,bj->b", shift, draws.inverse, shift) if fit.from_this_sample else 0.0
    return deviation, np.sqrt(residual * (1 + doubt) / n)


def _scale(sample: JudgedOutputs) -> Floats:
    scale = sample.metric.std(axis=0)
    return np.where(scale > 0, scale, 1.0)


def _slopes(fit: Fit, draws: Resamples, pool: Pool | None, scale: Floats) -> Floats:
    """Return each resample's slope, by the rule that gave the slope of `fit`."""
    if not fit.from_this_sample:
        return np.broadcast_to(fit.slope * scale, draws.C.shape)
    if fit.kind == "plug-in":
        assert pool is not None
        covariance = pool.covariance / np.outer(scale, scale)
        return solution(covariance, draws.C.T).T
    slope: Floats = np.einsum("bij,bj->bi", draws.inverse, draws.C)
    if fit.kind != "shrunk":
        return slope
    explained = np.einsum("bj,bj->b", slope, draws.C)
    residual = np.maximum(draws.S_yy - explained, 0)
    kept = shrinkage(explained, residual, len(scale), freedom=fit.degrees_of_freedom)
    return slope * kept[:, np.newaxis]


def _inverse(S: Floats) -> Floats:
    """Invert each matrix; a direction without spread in a resample gets slope zero."""
    if S.shape[1] == 0:
        return S
    if S.shape[1] == 1:
        flat = S[:, 0, 0] > 1e-12
        return np.divide(1.0, S, out=np.zeros_like(S), where=flat[:, np.newaxis, np.newaxis])
    return np.asarray(np.linalg.pinv(S, rcond=1e-10, hermitian=True), dtype=np.float64)


def _studentised(deviation: Floats, spread: Floats, tails: Floats) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(deviation == 0, 0.0, deviation / spread)
    low, high = np.quantile(ratio, tails, method="inverted_cdf")
    if not np.isfinite([low, high]).all():
        raise NotEstimableError(
            '`interval` "bootstrap-t" is unbounded: too many resamples have equal judgments; '
            'use interval="student", or "betting" with `bounds`'
        )
    return float(low), float(high)


def _bca_tails(deviation: Floats, fit: Fit, sample: JudgedOutputs, tails: Floats) -> Floats:
    below = (np.mean(deviation < 0) + np.mean(deviation <= 0)) / 2
    margin = 0.5 / len(deviation)
    bias = ndtri(np.clip(below, margin, 1 - margin))
    influence = _jackknife_influence(fit, sample)
    cubes, squares = (influence**3).sum(), (influence**2).sum()
    acceleration = cubes / (6 * squares**1.5)
    z = bias + ndtri(tails)
    return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def _jackknife_influence(fit: Fit, sample: JudgedOutputs) -> Floats:
    """Return each output's pull on the estimate: its weight times its residual."""
    centred = sample.metric - sample.metric.mean(axis=0)
    residual: Floats = sample.mean - sample.mean.mean() - centred @ fit.slope
    return fit.weights * residual
