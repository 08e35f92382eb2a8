"""How far intervals reach to either side: long tails, and scores that are nearly all equal.

A Student interval is symmetric. Each mean gets two factors, for its lower and its upper half. Forms of
several means follow from them (Zou and Donner 2008, with the correlations of the errors).
"""

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Campaign, Floats
from steelyard.model.fit import Answers, Fit
from steelyard.model.strata import within_strata

__all__ = ["reaches"]

# One score at an end of those given is a mode, whose share the variance follows, where more than half of all
# judgments surely have it: by two standard errors of a half, and of so many judgments at least.
_FEWEST = 8
# The skewness that is the same for all systems counts as so many outputs of a system.
_COMMON = 20.0
# Hall's cubic may not shrink a half by more than this: the sample's own skewness says too little for more.
_LEAST = 0.9


def reaches(fit: Fit, answers: Answers, multiple: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper half of each mean's interval, over Student's.

    Parameters
    ----------
    fit, answers
        The model and the means.
    multiple : (..., k) array
        Student's critical value of each mean.
    """
    campaign = fit.campaign
    error = np.sqrt(np.maximum(np.diag(answers.covariance), 0.0))
    if campaign.other is not None:
        return np.ones_like(multiple), np.ones_like(multiple)
    mode = _mode(campaign)
    if mode is None and campaign.k == 1 and not fit.system.effects.columns:
        # a mean of one system alone has Student's interval, as in any textbook
        return np.ones_like(multiple), np.ones_like(multiple)
    if mode is None:
        skewness = _skewness(fit, answers)
        return _hall(skewness, multiple), _hall(-skewness, multiple)
    down, up = _score_interval(fit, answers, multiple, *mode)
    reach = multiple * np.maximum(error, 1e-150)
    return down / reach, up / reach


def _hall(skewness: Floats, multiple: Floats) -> Floats:
    """Return the lower half of Hall's interval over Student's, for the skewness of an estimate (Hall 1992)."""
    a = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)
    known = np.where(np.isfinite(multiple), multiple, 1.0)
    inner = 1 + a * (known - a / 6)
    back = (np.cbrt(inner) - 1) * 3 / a
    # the transformation is monotone; far in the tail it is held
    return np.asarray(np.where(known == multiple, np.clip(back / known, _LEAST, 3.0), 1.0))


def _skewness(fit: Fit, answers: Answers) -> Floats:
    """Return the skewness of each mean's error: its own, moderated towards that of all systems."""
    system, campaign = fit.system, fit.campaign
    left = (system.z - system.u @ fit.variances.solution.values) * fit.spread
    blocks = system.effects.blocks
    of_blocks = answers.weights.times(left).through(blocks.groups.members)
    square, cube = np.zeros(campaign.k), np.zeros(campaign.k)
    for part in [of_blocks.dense()] if campaign.stratum is not None else of_blocks.parts():
        sums, _ = within_strata(part, campaign, blocks)
        squares = sums * sums
        square += squares.sum(axis=0)
        cube += np.einsum("bk,bk->k", squares, sums)
    own = csr_array(blocks.groups.members @ campaign.contrast) > 0
    floor = np.maximum(square, 1e-12 * max(float(square.max()), 1e-150))
    found = np.where(square >= floor, cube / floor**1.5, 0.0)
    n = own.sum(axis=0)
    each = found * np.sqrt(n) * np.sqrt(n * np.maximum(n - 1, 1)) / np.maximum(n - 2, 1)
    each = np.where(n > 2, each, 0.0)
    common = np.average(each, weights=n)
    moderate = (n * each + _COMMON * common) / (n + _COMMON)
    trust = moderate**2 / (moderate**2 + 6 / (n + min(_COMMON, n.sum() - n.mean())))
    return np.asarray(np.where(n > 2, trust * moderate / np.sqrt(n), 0.0))


def _mode(campaign: Campaign) -> tuple[float, float] | None:
    """Return a score at an end of those given that most judgments have, and how far others are from it.

    The distance is E(d^2) / E(d); None where there is no such score.
    """
    values, counts = np.unique(campaign.score, return_counts=True)
    ends = campaign.scale_ends
    at = int(np.argmax(counts))
    if ends is not None and campaign.is_share:
        width = ends[1] - ends[0]
        return float(values[at]), width if values[at] == ends[0] else -width
    n = campaign.n
    is_end = len(values) > 1 and at in {0, len(values) - 1}
    if not is_end or n < _FEWEST or counts[at] < n / 2 + np.sqrt(n):
        return None
    off = campaign.score - values[at]
    return float(values[at]), float(np.sum(off**2) / np.sum(off))


def _score_interval(
    fit: Fit, answers: Answers, multiple: Floats, value: float, size: float
) -> tuple[Floats, Floats]:
    """Return how far a mean's interval reaches down and up where its variance follows it.

    A judgment differs from the mode by d with chance q: the mean is mode + q E(d), the variance
    q E(d^2) - (q E(d))^2. With ``size`` E(d^2) / E(d) and x the mean's distance from the mode, it is
    x (size - x), and Wilson's interval holds all x with (x - estimate)^2 <= t^2 x (size - x) / n.
    """
    x = answers.mean - value
    sign = np.sign(size)
    x, reach = np.clip(sign * x, 0.0, abs(size)), abs(size)
    n = np.maximum(fit.outputs_worth(answers), 1e-9)
    square = multiple**2 / n
    middle = (x + square * reach / 2) / (1 + square)
    half = np.sqrt(np.maximum(square * x * (reach - x) + (square * reach / 2) ** 2, 0.0)) / (
        1 + square
    )
    below, above = np.maximum(x - (middle - half), 0.0), np.maximum(middle + half - x, 0.0)
    return (below, above) if sign > 0 else (above, below)
