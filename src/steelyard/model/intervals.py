"""Intervals of forms of the systems' means."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from steelyard.model.campaign import Floats
from steelyard.model.fit import Answers, Fit
from steelyard.model.shape import reaches

__all__ = ["Intervals", "intervals"]


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
    freedom = fit.degrees_of_freedom(forms, answers)
    multiple = student.ppf((1 + level) / 2, freedom)
    each = fit.degrees_of_freedom(np.eye(len(answers.mean)), answers)
    down, up = reaches(fit, answers, each, level)
    half = [
        multiple * np.sqrt(np.maximum(np.einsum("fk,kl,fl->f", f, answers.covariance, f), 0.0))
        for f in (
            np.where(forms > 0, forms * down, forms * up),
            np.where(forms > 0, forms * up, forms * down),
        )
    ]
    return Intervals(estimate, error, freedom, estimate - half[0], estimate + half[1], level)
