"""Intervals of forms of the systems' means."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from steelyard.model.campaign import Floats
from steelyard.model.fit import Answers, Fit
from steelyard.model.forms import squares
from steelyard.model.shape import reaches
from steelyard.model.tails import student_reach

__all__ = ["UNSEEN", "Intervals", "Looks", "form_ends", "intervals"]

_ROUNDING = 1e-7
# A larger part of an answer that no judgment shows leaves it open.
UNSEEN = 1e-3


class Looks(Protocol):
    """How far intervals must reach that hold at every look, on the normal scale, for each form."""

    def critical(self, once: float) -> Floats:
        """Return the critical values at all looks of that of a single look."""

    def once(self, score: Floats) -> Floats:
        """Return the scores of a single look that are as rare as these at all looks."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Estimates of forms with their intervals, one of each for every form.

    Attributes
    ----------
    estimate, standard_error, degrees_of_freedom, low, high : (f,) arrays
        The intervals, within the known ends of the scale. The error is infinite where judgments do not
        show the form.
    down, up : (f,) arrays
        How far a half reaches, over Student's: 1 where errors are symmetric.
    level : float
        The confidence level.
    """

    estimate: Floats
    standard_error: Floats
    degrees_of_freedom: Floats
    low: Floats
    high: Floats
    down: Floats
    up: Floats
    level: float


def intervals(
    fit: Fit, answers: Answers, forms: Floats, level: float = 0.95, looks: Looks | None = None
) -> Intervals:
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
    looks : Looks, optional
        How intervals are made to hold at every look.
    """
    estimate = forms @ answers.mean
    error = np.sqrt(_squares(forms, answers))
    # what all outputs share cancels exactly, but for rounding
    cancels = error <= _ROUNDING * np.abs(forms) @ np.sqrt(np.diag(answers.covariance))
    error[cancels] = 0.0
    estimate[cancels & (np.abs(forms.sum(axis=1)) < _ROUNDING)] = 0.0
    if answers.unseen is not None:
        error[np.abs(forms @ answers.unseen.T).max(axis=1) > UNSEEN] = np.inf
    freedom = fit.degrees_of_freedom(forms, answers)
    once = float(ndtri((1 + level) / 2))
    tail = ndtr(-np.atleast_1d(once if looks is None else looks.critical(once)))
    each = fit.degrees_of_freedom(np.eye(len(answers.mean)), answers)
    reach = reaches(fit, answers, student_reach(tail[:, np.newaxis], each))
    down, up = (
        np.sqrt(_squares(np.where(forms > 0, forms * one, forms * other), answers))
        / np.where(error > 0, error, 1.0)
        for one, other in (reach, reach[::-1])
    )
    down[np.isinf(error)] = up[np.isinf(error)] = 1.0
    # what is known exactly has no width, however far other intervals reach
    exact = error == 0
    half = np.where(exact, 0.0, student_reach(tail, freedom) * np.where(exact, 1.0, error))
    least, most = form_ends(fit, forms)
    low, high = np.maximum(estimate - half * down, least), np.minimum(estimate + half * up, most)
    return Intervals(estimate, error, freedom, low, high, down, up, level)


def _squares(forms: Floats, answers: Answers) -> Floats:
    """Return the squared error of each form."""
    return np.maximum(squares(forms, answers.covariance), 0.0)


def form_ends(fit: Fit, forms: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest value that each form can have; infinite where nobody knows."""
    ends = fit.campaign.scale_ends if fit.campaign.other is None else None
    if ends is None:
        return np.full(len(forms), -np.inf), np.full(len(forms), np.inf)
    up, down = np.maximum(forms, 0.0).sum(axis=1), np.minimum(forms, 0.0).sum(axis=1)
    return up * ends[0] + down * ends[1], up * ends[1] + down * ends[0]
