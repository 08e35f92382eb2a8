"""Restricted maximum likelihood for two crossed random factors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import NotEstimableError
from steelyard.variance.absorption import RESIDUAL_FLOOR, CrossedDesign, Solution, solve

__all__ = ["Fit", "given_fit", "reml_fit"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Ratios to the residual variance, times the count of a level, are searched for up to this.
_MOST = 1e12
# Longest step of the search, and how many steps and shortened steps it may take.
_LONGEST = 4.0
_MOST_STEPS = 100
_MOST_HALVES = 8
# Two covariance patterns count as one when the squared sine of their angle is below this.
_SAME = 1e-10


@dataclass(frozen=True, eq=False)
class Fit:
    """Components of a design, in the order (absorbed, kept, residual).

    Attributes
    ----------
    solution : Solution
        Generalised least squares at the components.
    residual : float
        Residual variance.
    covariance : (3, 3) array
        Covariance of the components.
    identified : (2,) array of bool
        Whether each factor is told from the residual.
    """

    solution: Solution
    residual: float
    covariance: Floats
    identified: Flags

    @property
    def components(self) -> Floats:
        """Variances of the absorbed factor, the kept factor and the residual."""
        return np.append(self.solution.ratios, 1.0) * self.residual

    @property
    def exhausted(self) -> bool:
        """Whether the residual variance is as good as zero."""
        return self.residual <= RESIDUAL_FLOOR

    @property
    def log_likelihood(self) -> float:
        """Restricted log likelihood at the components."""
        return -0.5 * self.solution.deviance_at(self.residual)


def given_fit(design: CrossedDesign, components: Floats) -> Fit:
    """Return generalised least squares at given components (absorbed, kept, residual)."""
    solution = solve(design, components[:2] / components[2])
    return Fit(solution, float(components[2]), np.zeros((3, 3)), np.array([True, True]))


def reml_fit(design: CrossedDesign) -> Fit:
    """Return the components of greatest restricted likelihood, and their covariance.

    Raises
    ------
    NotEstimableError
        If the fixed effects take up a factor, or the factors are the same.
    """
    start = solve(design, np.ones(2))
    identified = _identified(start)
    solution = _greatest(start, identified)
    residual = solution.residual_variance
    kept = np.append(identified, True)
    covariance = np.zeros((3, 3))
    # Scaled to unit diagonal first: the entries span many orders of magnitude.
    information = solution.information[np.ix_(kept, kept)]
    scale = 1 / np.sqrt(np.diag(information))
    inverse = np.linalg.inv(information * np.outer(scale, scale)) * np.outer(scale, scale)
    covariance[np.ix_(kept, kept)] = 2 * residual**2 * inverse
    return Fit(solution, residual, covariance, identified)


def _identified(start: Solution) -> Flags:
    """Tell which factors' covariance patterns differ from the residual's.

    The information is a Gram matrix of the patterns of the components, so they are linearly
    dependent, at any ratios, exactly when it is singular.
    """
    information = start.information
    size = np.diag(information)
    if size.min() <= 1e-12 * size.max():
        raise NotEstimableError(
            "the fixed effects take up all differences between outputs or between raters, "
            "so no variance is left to estimate there: drop covariates"
        )
    cosine = information / np.sqrt(np.outer(size, size))
    identified = 1 - cosine[:2, 2] ** 2 > _SAME
    free = np.append(identified, True)
    if np.linalg.eigvalsh(cosine[np.ix_(free, free)])[0] <= _SAME:
        raise NotEstimableError(
            "outputs and raters cannot be told apart: each output was judged by one rater who "
            "judged nothing else; let raters judge several outputs"
        )
    return np.asarray(identified)


def _greatest(start: Solution, free: Flags) -> Solution:
    r"""Return the solution at the ratios of greatest restricted likelihood.

    From the ratios of `start`, which are 1. The search is over :math:`\log(1 + \lambda m)`, with m the
    mean count of a factor's levels: like a logarithm where a ratio is large, but with the boundary
    :math:`\lambda = 0` at a finite place and a slope there, so that a component can be zero exactly
    and for a reason. Steps are Newton's, with the expected curvature to begin with and its BFGS
    updates afterwards.
    """
    design = start.design
    if not free.any():
        return solve(design, np.zeros(2))
    count = (len(design.rows) / np.array(design.table.shape, dtype=np.float64))[free]
    # The curvature grows with the judgments: this leaves eight digits or so of the ratios.
    enough = 1e-9 * design.freedom

    def at(place: Floats) -> tuple[Solution, Floats]:
        ratios = np.zeros(2)
        ratios[free] = np.expm1(place) / count
        return sloped(solve(design, ratios))

    def sloped(solution: Solution) -> tuple[Solution, Floats]:
        return solution, solution.gradient[free] * (solution.ratios[free] + 1 / count)

    place = np.log1p(count)
    here, slope = sloped(start) if free.all() else at(place)
    scale = here.ratios[free] + 1 / count
    curvature = here.expected_curvature[np.ix_(free, free)] * np.outer(scale, scale)
    for _ in range(_MOST_STEPS):
        moving = (place > 0) | (slope < 0)
        if np.abs(slope[moving]).max(initial=0.0) <= enough:
            break
        step = np.zeros(len(place))
        step[moving] = -np.linalg.solve(curvature[np.ix_(moving, moving)], slope[moving])
        step = np.clip(step, -_LONGEST, _LONGEST)
        # What is left to gain is nothing but rounding.
        if abs(float(slope @ step)) <= 1e-14 * abs(here.deviance):
            break
        found = _shorter(at, place, step, here.deviance, slope)
        if found is None:
            break
        moved, here, after = found
        curvature = _updated(curvature, moved - place, after - slope)
        place, slope = moved, after
    return here


def _shorter(
    at: Callable[[Floats], tuple[Solution, Floats]],
    place: Floats,
    step: Floats,
    deviance: float,
    slope: Floats,
) -> tuple[Floats, Solution, Floats] | None:
    """Return the first place on the way back from a step at which the deviance is lower."""
    for _ in range(_MOST_HALVES):
        moved = np.clip(place + step, 0.0, np.log1p(_MOST))
        solution, after = at(moved)
        promised = 1e-4 * float(slope @ (moved - place)) + 1e-13 * abs(deviance)
        if solution.deviance <= deviance + promised:
            return moved, solution, after
        step = step / 2
    return None


def _updated(curvature: Floats, step: Floats, change: Floats) -> Floats:
    """Return the curvature that also explains the last change of slope (BFGS)."""
    along = float(step @ change)
    if along <= 1e-12 * float(step @ step):
        return curvature
    bent = curvature @ step
    return np.asarray(
        curvature - np.outer(bent, bent) / float(step @ bent) + np.outer(change, change) / along
    )
