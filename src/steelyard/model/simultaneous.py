"""Many forms at once: intervals that hold together, and verdicts by steps."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from steelyard.model.campaign import Floats, Ints
from steelyard.model.fit import Answers, Fit
from steelyard.model.intervals import Intervals, form_ends, intervals

__all__ = ["Together", "joint_rows", "stepped_down", "together"]

# Draws from the joint distribution of all means; the same for every campaign.
_DRAWS = 10_000
_SEED = 20_181


@dataclass(frozen=True, eq=False)
class Together:
    """Intervals of several forms that hold together, and what is decided.

    Attributes
    ----------
    low, high : (f,) arrays
        Ends of the simultaneous intervals; of a decided form they end at 0 at the latest.
    p_value : (f,) array
        Of the form being 0, corrected for all forms, by steps from the clearest form down.
    decided : (f,) array
        1 where the form is above 0, -1 where it is below, 0 where that is open.
    """

    low: Floats
    high: Floats
    p_value: Floats
    decided: Ints


def together(fit: Fit, answers: Answers, forms: Floats, level: float = 0.95) -> Together:
    """Return intervals of all forms together, and verdicts by steps (Romano and Wolf 2005).

    The t statistics of the forms are put on the normal scale, where their joint distribution is that of
    the errors of the means. Verdicts step down from the clearest form: those still open are compared with
    the largest of their own number.

    Parameters
    ----------
    fit, answers, forms, level
        As in `intervals`.
    """
    alone = intervals(fit, answers, forms, level)
    known = alone.standard_error > 0
    score, rows = joint_rows(answers, alone, forms)
    p, critical = stepped_down(score, rows, level)
    multiple = student.ppf(norm.cdf(critical), alone.degrees_of_freedom)
    half = np.zeros(len(forms))
    half[known] = multiple[known] * alone.standard_error[known]
    half = np.maximum(half, (alone.high - alone.low) / 2)
    decided = np.where(known & (p <= 1 - level), np.sign(score), 0.0).astype(np.int64)
    least, most = form_ends(fit, forms)
    low = np.maximum(alone.estimate - half, least)
    high = np.minimum(alone.estimate + half, most)
    low = np.where(decided > 0, np.maximum(low, 0.0), low)
    high = np.where(decided < 0, np.minimum(high, 0.0), high)
    return Together(low, high, np.where(known, p, 1.0), decided)


def joint_rows(answers: Answers, alone: Intervals, forms: Floats) -> tuple[Floats, Floats]:
    """Return the t statistics of forms on the normal scale, and the rows whose products are their correlations.

    Parameters
    ----------
    answers : Answers
        The means.
    alone : Intervals
        The forms with their errors.
    forms : (f, k) array
        The weight of each mean in each form.
    """
    known = alone.standard_error > 0
    score = np.zeros(len(forms))
    ratio = alone.estimate[known] / alone.standard_error[known]
    tail = student.logsf(np.abs(ratio), alone.degrees_of_freedom[known])
    score[known] = np.sign(ratio) * -_normal_quantile(tail)
    root = _root(answers)
    rows = np.zeros((len(forms), len(root)))
    rows[known] = forms[known] @ root / alone.standard_error[known, np.newaxis]
    return score, rows


def stepped_down(score: Floats, rows: Floats, level: float) -> tuple[Floats, float]:
    """Return p-values corrected by steps, and the score that none exceeds with a probability of `level`.

    Parameters
    ----------
    score, rows
        What `joint_rows` gave.
    level : float
        Confidence level.
    """
    if len(score) == 1:
        return 2 * norm.sf(np.abs(score)), float(norm.ppf((1 + level) / 2))
    draws = np.random.default_rng(_SEED).standard_normal((rows.shape[1], _DRAWS // 2), np.float32)
    size = np.abs(rows.astype(np.float32) @ np.concatenate([draws, -draws], axis=1))
    order = np.argsort(-np.abs(score), kind="stable")
    largest = np.maximum.accumulate(size[order[::-1]], axis=0)[::-1]
    stepped = (largest >= np.abs(score[order])[:, np.newaxis]).mean(axis=1)
    least = 2 * norm.sf(np.abs(score[order]))
    p = np.empty(len(score))
    p[order] = np.maximum.accumulate(np.maximum(stepped, least))
    return p, float(np.quantile(largest[0], level))


def _root(answers: Answers) -> Floats:
    """Return a root R of the covariance C of the means, ``C = R R'``, that goes with the systems in any order.

    Its columns follow the systems in an order that only their numbers decide, so that names, and which
    system comes first, change no draw.
    """
    covariance, mean = answers.covariance, answers.mean
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    size = max(float(error.max(initial=0.0)), 1e-300)
    keys = (covariance.sum(axis=1) / size**2, error / size, np.abs(mean - mean.mean()) / size)
    order = np.lexsort([np.round(one, 6) for one in keys])
    ordered = covariance[np.ix_(order, order)]
    slack = 1e-12 * np.diag(np.maximum(np.diag(ordered), size**2 * 1e-6))
    root = np.empty_like(covariance)
    root[order] = np.linalg.cholesky(ordered + slack)
    return root


def _normal_quantile(log_tail: Floats) -> Floats:
    """Return the z with this logarithm of its upper tail, negated."""
    z = norm.ppf(np.exp(log_tail))
    # beyond the range of floats the tail is that of the leading term
    far = ~np.isfinite(z)
    return np.where(far, -np.sqrt(np.maximum(-2 * log_tail, 0.0)), z)
