"""Many forms at once: intervals that hold together, and verdicts by steps."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from steelyard.model.campaign import Bools, Floats, Ints
from steelyard.model.fit import Answers, Fit
from steelyard.model.intervals import Intervals, Looks, form_ends, intervals
from steelyard.model.tails import student_reach

__all__ = ["Together", "together"]

# Draws from the joint distribution of all means, the same for every campaign; fewer where forms are many.
_DRAWS, _FEWER = 10_000, 4_000
_MANY = 2_000
_SEED = 20_181
# Smaller shares of draws are too rough: there a p-value is the single one times the number of forms.
_ROUGH = 1e-3
_CHUNK = 500


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


def together(
    fit: Fit, answers: Answers, forms: Floats, level: float = 0.95, looks: Looks | None = None
) -> Together:
    """Return intervals of all forms together, and verdicts by steps (Romano and Wolf 2005).

    The t statistics of the forms, over the half of the interval that reaches towards 0, are put on the
    normal scale, where their joint distribution is that of the errors of the means. Verdicts step down from
    the clearest form: those still open are compared with the largest of their own number.

    Parameters
    ----------
    fit, answers, forms, level, looks
        As in `intervals`.
    """
    alone = intervals(fit, answers, forms, level, looks)
    known = (alone.standard_error > 0) & np.isfinite(alone.standard_error)
    score = _scores(alone, known)
    if looks is not None:
        score = looks.once(score)
    root = _root(answers)
    rows = np.zeros((len(forms), len(root)))
    rows[known] = forms[known] @ root / alone.standard_error[known, np.newaxis]
    p, critical = _stepped(np.abs(score), rows, level)
    reached: Floats | float = critical if looks is None else looks.critical(critical)
    multiple = np.where(np.isinf(alone.standard_error), np.inf, 0.0)
    wide = student_reach(ndtr(-np.asarray(reached)), alone.degrees_of_freedom)
    multiple[known] = np.broadcast_to(wide, multiple.shape)[known] * alone.standard_error[known]
    # 1 - level is rounded: a p-value of 0.1 is clear at 0.9
    clear = known & (p <= (1 - level) * (1 + 1e-9))
    decided = np.where(clear, np.sign(score), 0.0).astype(np.int64)
    least, most = form_ends(fit, forms)
    low = np.maximum(alone.estimate - multiple * alone.down, least)
    high = np.minimum(alone.estimate + multiple * alone.up, most)
    low = np.where(decided > 0, np.maximum(low, 0.0), low)
    high = np.where(decided < 0, np.minimum(high, 0.0), high)
    return Together(low, high, np.where(known, p, 1.0), decided)


def _scores(alone: Intervals, known: Bools) -> Floats:
    """Return each form over its error on the normal scale, by the half that reaches towards 0."""
    towards = np.where(alone.estimate > 0, alone.down, alone.up)[known]
    ratio = alone.estimate[known] / (alone.standard_error[known] * np.maximum(towards, 1e-9))
    score = np.zeros(len(known))
    with np.errstate(divide="ignore"):
        tail = np.log(stdtr(alone.degrees_of_freedom[known], -np.abs(ratio)))
    score[known] = np.sign(ratio) * -_normal_quantile(tail)
    return score


def _stepped(size: Floats, rows: Floats, level: float) -> tuple[Floats, float]:
    """Return the p-value of each form by steps, and the critical value of all together.

    Parameters
    ----------
    size : (f,) array
        How clear each form is, on the normal scale.
    rows : (f, k) array
        Each form's error over its standard error, in independent normal variables.
    level : float
        Confidence level.
    """
    f = len(size)
    single = 2 * ndtr(-size)
    if f == 1:
        return single, float(ndtri((1 + level) / 2))
    half = (_DRAWS if f <= _MANY else _FEWER) // 2
    drawn = np.random.default_rng(_SEED).standard_normal((rows.shape[1], half), np.float32)
    order = np.argsort(-size, kind="stable")
    largest, share = np.zeros(2 * half, np.float32), np.empty(f)
    for end in range(f, 0, -_CHUNK):
        those = order[max(end - _CHUNK, 0) : end]
        one = rows[those].astype(np.float32) @ drawn
        errors = np.abs(np.concatenate([one, -one], axis=1))
        for place in range(len(those) - 1, -1, -1):
            np.maximum(largest, errors[place], out=largest)
            share[those[place]] = np.mean(largest >= size[those[place]])
    p = np.empty(f)
    open_forms = np.arange(f, 0, -1)
    least = np.minimum(open_forms * single[order], _ROUGH)
    p[order] = np.maximum.accumulate(np.maximum(share[order], np.maximum(least, single[order])))
    return p, float(np.quantile(largest, level))


def _root(answers: Answers) -> Floats:
    """Return a root R of the covariance C of the means, ``C = R R'``, that goes with the systems in any order.

    Its columns follow the systems in an order that only their numbers decide, so that names, and which
    system comes first, change no draw.
    """
    covariance, mean = answers.covariance, answers.mean
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    size = max(float(error.max(initial=0.0)), 1e-150)
    keys = (covariance.sum(axis=1) / size**2, error / size, np.abs(mean - mean.mean()) / size)
    order = np.lexsort([np.round(one, 6) for one in keys])
    values, vectors = np.linalg.eigh(covariance[np.ix_(order, order)] / size**2)
    # the triangular root, which does not depend on the eigenvectors' signs
    wide = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    triangle = np.asarray(np.linalg.qr(wide, mode="r")).T
    root = np.empty_like(covariance)
    root[order] = triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0) * size
    return root


def _normal_quantile(log_tail: Floats) -> Floats:
    """Return the z with this logarithm of its upper tail, negated."""
    z = ndtri(np.exp(log_tail))
    # beyond the range of floats the tail is that of the leading term
    far = ~np.isfinite(z)
    return np.where(far, -np.sqrt(np.maximum(-2 * log_tail, 0.0)), z)
