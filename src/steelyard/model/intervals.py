"""Intervals of forms of the systems' means."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from steelyard.model.campaign import Floats
from steelyard.model.fit import Answers, Fit
from steelyard.model.shape import reaches

__all__ = ["Intervals", "form_ends", "intervals"]

_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class Intervals:
    """Estimates of forms with their intervals, one of each for every form."""

    estimate: Floats
    standard_error: Floats
    degrees_of_freedom: Floats
    low: Floats
    high: Floats
    level: float


def intervals(fit: Fit, answers: Answers, forms: Floats, level: float = 0.95) -> Intervals:
    """Return each form of the means with its interval.

    Parameters
    ----------
    fit : Fit
        The fitted model.
    answers : Answers
        Its means.
    forms : (f, k) array
        The weight of each mean in each form.
    level : float
        Confidence level.
    """
    estimate = forms @ answers.mean
    error = np.sqrt(np.maximum(np.einsum("fk,kl,fl->f", forms, answers.covariance, forms), 0.0))
    # what all outputs share cancels exactly, but for rounding
    cancels = error <= _ROUNDING * np.abs(forms) @ np.sqrt(np.diag(answers.covariance))
    error[cancels] = 0.0
    estimate[cancels & (np.abs(forms.sum(axis=1)) < _ROUNDING)] = 0.0
    freedom = fit.degrees_of_freedom(forms, answers)
    multiple = student.ppf((1 + level) / 2, freedom)
    each = fit.degrees_of_freedom(np.eye(len(answers.mean)), answers)
    down, up = reaches(fit, answers, each, level)
    half = [
        np.where(cancels, 0.0, multiple)
        * np.sqrt(np.maximum(np.einsum("fk,kl,fl->f", f, answers.covariance, f), 0.0))
        for f in (
            np.where(forms > 0, forms * down, forms * up),
            np.where(forms > 0, forms * up, forms * down),
        )
    ]
    least, most = form_ends(fit, forms)
    low, high = np.maximum(estimate - half[0], least), np.minimum(estimate + half[1], most)
    return Intervals(estimate, error, freedom, low, high, level)


def form_ends(fit: Fit, forms: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest value that each form can have; infinite where nobody knows."""
    ends = fit.campaign.scale_ends if fit.campaign.other is None else None
    if ends is None:
        return np.full(len(forms), -np.inf), np.full(len(forms), np.inf)
    up, down = np.maximum(forms, 0.0).sum(axis=1), np.minimum(forms, 0.0).sum(axis=1)
    return up * ends[0] + down * ends[1], up * ends[1] + down * ends[0]
