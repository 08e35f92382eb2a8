"""Penalised restricted maximum likelihood: how much of the judgments' variance each effect has."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array, hstack

from steelyard.model.blocks import Groups
from steelyard.model.campaign import Floats
from steelyard.model.effects import PRIOR, Effects
from steelyard.model.within import Dense, Inverse, Nested, product

__all__ = ["Solution", "System", "Variances", "variances"]

_STEPS = 60
_MOVE, _SLOPE = 3e-5, 1e-6
_ROUGH = 0.03
# No variance falls below this power of e of the largest.
_LEAST = 18.0
# Means have no prior; where judgments do not tell them apart, this much of their information keeps the
# equations solvable.
_APART, _FLAT = 1e-10, 1e-8
# So many judgments are looked at together: their weights on all columns are in memory.
_AT_ONCE = 5_000


@dataclass(frozen=True, eq=False)
class Solution:
    """The mixed-model equations at given variances.

    With A the covariance within blocks and U all columns, of random values and, last, of the means:
    ``M = U'A^-1 U + diag(1 / variance of a column)``.

    Attributes
    ----------
    within : Inverse
        Inverse of A.
    u : sparse (n, q) array
        U.
    m_inverse : (q, q) array
        Inverse of M: the error covariance of the columns' values.
    values : (q,) array
        Predicted values of the columns, and the means.
    residual : (n,) array
        ``P z``: what is left, over its variance.
    """

    theta: Floats
    within: Inverse
    u: csr_array
    m_inverse: Floats
    values: Floats
    residual: Floats
    loss: float
    gradient: Floats | None = None
    information: Floats | None = None

    def project(self, vectors: Floats) -> Floats:
        """Return ``P v`` for each column v."""
        seen = self.m_inverse @ (self.u.T @ self.within.times(vectors))
        return self.within.times(vectors - self.u @ seen)

    def own_projection(self) -> Floats:
        """Return the diagonal of P, (n,), and 0 where rounding is all that it holds."""
        n = len(self.residual)
        alone, lost = self.within.diagonal(), np.empty(n)
        for first in range(0, n, _AT_ONCE):
            index = np.arange(first, min(first + _AT_ONCE, n))
            rows = self.within.rows(index)
            lost[index] = np.einsum("nq,nq->n", rows, product(rows, self.m_inverse))
        return np.where(alone - lost > 1e-10 * alone, alone - lost, 0.0)


class System:
    """The judgments z, the design of the means, and the effects."""

    def __init__(self, z: Floats, means: csr_array, effects: Effects) -> None:
        self.z, self.means, self.effects = z, means, effects
        unit = np.asarray(means.sum(axis=1)).reshape(-1, 1)
        columns = [
            csr_array(one.design * unit if one.of_scores else one.design) for one in effects.columns
        ]
        self.u = csr_array(hstack([*columns, means], format="csr"))
        self._transposed = csr_array(self.u.T)
        ends = np.cumsum([0, *(one.q for one in effects.columns)])
        self.slices = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self.q = int(ends[-1])
        groups = [one.groups for one in effects.kernels[:-1]]
        known = [one for one in groups if one is not None]
        noise = Groups(np.arange(len(z)))
        self._within: Nested | Dense
        if len(known) == len(groups) and all(
            coarse.holds(fine) for coarse, fine in itertools.pairwise(known)
        ):
            self._within = Nested(self.u, known)
            self.matrices: list[Groups | csr_array] = [*known, noise]
        else:
            kernels = [effects.blocks.kernel(one.covariance) for one in effects.kernels]
            self._within = Dense(self.u, effects.blocks, kernels)
            self.matrices = [
                effects.blocks.matrix(one) if own is None else own
                for one, own in zip(kernels, [*groups, noise], strict=True)
            ]

    @property
    def within(self) -> float:
        """Mean square of the judgments around the means; 0 where that is rounding only."""
        gram = (self.means.T @ self.means).toarray()
        own = np.diag(gram)
        if (gram - np.diag(own)).any():
            means = np.linalg.lstsq(self.means.toarray(), self.z, rcond=None)[0]
        else:
            means = (self.means.T @ self.z) / np.where(own > 0, own, 1.0)
        fitted = self.means @ means
        found = float(np.mean((self.z - fitted) ** 2))
        return found if found > 1e-28 * float(np.mean(self.z**2)) else 0.0

    def solve(self, theta: Floats, *, derivatives: bool = False) -> Solution:
        """Solve at the variances `theta`, in the order of the effects' names."""
        of_columns, of_kernels = theta[: len(self.slices)], theta[len(self.slices) :]
        within = self._within.at(of_kernels)
        az = within.times(self.z)
        ridge = np.zeros(self.u.shape[1])
        for own, v in zip(self.slices, of_columns, strict=True):
            ridge[own] = 1 / v
        gram = within.gram()
        of_m, m_inverse = self._inverse((gram + gram.T) / 2 + np.diag(ridge))
        values = m_inverse @ (self._transposed @ az)
        residual = within.times(self.z - self.u @ values)
        log = within.log + of_m - float(np.log(ridge[: self.q]).sum())
        loss = (log + self.z @ residual) / 2
        found = Solution(theta, within, self.u, m_inverse, values, residual, float(loss))
        return self._with_derivatives(found) if derivatives else found

    def _inverse(self, m: Floats) -> tuple[float, Floats]:
        """Return the logarithm of the determinant of the equations, and their inverse.

        Means that the judgments cannot tell apart get a wide error instead of none.
        """
        q, bend = self.q, np.diag(m)
        of_means = m[q:, q:]
        if q and not (of_means - np.diag(bend[q:])).any():
            return _inverse_beside_diagonal(m, q)
        factor, failed = dpotrf(m, lower=True, clean=True)
        if failed or np.any(np.diag(factor)[q:] ** 2 < _APART * bend[q:]):
            wide = np.zeros(len(m))
            wide[q:] = _FLAT * np.maximum(bend[q:], bend.max() * _FLAT)
            factor, failed = dpotrf(m + np.diag(wide), lower=True, clean=True)
        if failed:
            raise np.linalg.LinAlgError("the mixed-model equations are not positive definite")
        return 2 * float(np.log(np.diag(factor)).sum()), _symmetric(dpotri(factor, lower=True)[0])

    def _with_derivatives(self, at: Solution) -> Solution:
        """Add the derivative by log variances, and the average information (Gilmour et al. 1995)."""
        theta, columns = at.theta, len(self.slices)
        trace, forces = np.zeros(len(theta)), np.empty((len(self.z), len(theta)))
        for number, own in enumerate(self.slices):
            error = np.trace(at.m_inverse[own, own])
            trace[number] = (own.stop - own.start) - error / theta[number]
            only = np.zeros(len(at.values))
            only[own] = at.values[own]
            forces[:, number] = self.u @ only
        trace[columns:-1] = theta[columns:-1] * at.within.slopes(at.m_inverse)
        for number, matrix in enumerate(self.matrices, columns):
            forces[:, number] = theta[number] * (matrix @ at.residual)
        trace[-1] = len(self.z) - self.means.shape[1] - trace[:-1].sum()
        gradient = (trace - forces.T @ at.residual) / 2
        information = forces.T @ at.project(forces) / 2
        return replace(at, gradient=gradient, information=(information + information.T) / 2)


def _symmetric(lower: Floats) -> Floats:
    """Return a symmetric matrix from its lower triangle."""
    full = lower + lower.T
    full[np.diag_indices(len(full))] /= 2
    return full


def _inverse_beside_diagonal(m: Floats, q: int) -> tuple[float, Floats]:
    """Return the same where the means' part is diagonal, so that only the part before it is large work."""
    of_means = np.diag(m)[q:]
    across = m[:q, q:] / of_means
    factor, failed = dpotrf(m[:q, :q] - across @ m[q:, :q], lower=True, clean=True)
    if failed:
        raise np.linalg.LinAlgError("the mixed-model equations are not positive definite")
    first = _symmetric(dpotri(factor, lower=True)[0])
    inverse = np.empty_like(m)
    inverse[:q, :q] = first
    inverse[:q, q:] = -first @ across
    inverse[q:, :q] = inverse[:q, q:].T
    inverse[q:, q:] = np.diag(1 / of_means) - across.T @ inverse[:q, q:]
    log = 2 * float(np.log(np.diag(factor)).sum()) + float(np.log(of_means).sum())
    return log, inverse


@dataclass(frozen=True, eq=False)
class Variances:
    """The learned variances, and how well they are known.

    Attributes
    ----------
    solution : Solution
        The equations at these variances.
    covariance : (E, E) array
        Error covariance of the log variances.
    """

    names: tuple[str, ...]
    solution: Solution
    covariance: Floats


def variances(
    system: System,
    start: Floats | None = None,
    *,
    prior: bool = True,
    exact: bool = True,
    least_noise: float = 0.0,
) -> Variances:
    """Learn the variances of all effects.

    Priors are on the shares only: a common factor of all variances costs nothing.

    Parameters
    ----------
    system : System
        Judgments and effects.
    start : (E,) array, optional
        Shares to start with.
    prior : bool
        Whether shares have priors; without them this is plain REML.
    exact : bool
        Whether to go on until nothing moves any more; a rough answer is enough to start from.
    least_noise : float
        What the variance of noise is at least, where the effects explain every judgment seen.
    """
    names = system.effects.names
    share = np.array([PRIOR[name][0] for name in names])
    precision = np.array([PRIOR[name][1] for name in names]) ** -2.0 * prior
    centre = np.log(share / share.sum())
    shape = np.diag(precision) - np.outer(precision, precision) / max(precision.sum(), 1e-300)

    def penalised(logs: Floats) -> tuple[float, Floats, Floats, Solution]:
        at = system.solve(np.exp(logs), derivatives=True)
        off = logs - centre
        assert at.gradient is not None
        assert at.information is not None
        value = at.loss + off @ shape @ off / 2
        # in logarithms the slope itself bends the loss
        bend = np.diag(np.maximum(at.gradient, 0.0))
        return float(value), at.gradient + shape @ off, at.information + bend + shape, at

    within = system.within
    if within == 0:  # nothing to learn from: shares as they are expected
        at = system.solve(share / share.sum(), derivatives=True)
        return Variances(names, at, np.zeros((len(names), len(names))))
    first = share if start is None else start
    logs = np.log(first / first.sum() * within)
    least = np.full(len(names), -np.inf)
    least[-1] = np.log(max(least_noise, 1e-300))
    logs = np.maximum(logs, least)
    value, slope, curve, at = penalised(logs)
    damping = 1e-8
    for _ in range(_STEPS):
        # what is at its least, and would fall, stays
        free = (logs > least) | (slope < 0)
        bend = curve + damping * np.diag(np.maximum(np.diag(curve), 1e-3))
        step = np.zeros(len(names))
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        trial = logs + np.clip(step, -3.0, 3.0)
        trial = np.maximum(trial, np.maximum(least, trial.max() - _LEAST))
        new = penalised(trial)
        if new[0] <= value + 1e-10 * abs(value):
            moved = np.abs(trial - logs).max()
            logs, (value, slope, curve, at) = trial, new
            damping = max(damping / 10, 1e-8)
            settled = np.abs(slope[free]).max(initial=0.0) < _SLOPE
            if moved < (_MOVE if exact else _ROUGH) and (not exact or settled):
                break
        else:
            damping = max(damping * 10, 1e-3)
            if damping > 1e6:
                break
    bend = curve + 1e-10 * np.eye(len(logs)) * max(np.trace(curve), 1e-300)
    return Variances(names, at, np.linalg.inv(bend))
