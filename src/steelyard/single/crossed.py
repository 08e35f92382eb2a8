r"""Variance components when outputs and raters are crossed, by restricted maximum likelihood.

The model is :math:`y = X\beta + Z_a u_a + Z_k u_k + e` with :math:`\operatorname{Var} y = \sigma_e^2 H`,
:math:`H = I + \lambda_a Z_a Z_a' + \lambda_k Z_k Z_k'`. The factor *a* with more levels is absorbed: the
inverse of :math:`R = I + \lambda_a Z_a Z_a'` is known level by level. With :math:`C = [Z_k, X]`,
:math:`G = C' R^{-1} C` and :math:`\Lambda = (G + \operatorname{diag}(1/\lambda_k, 0))^{-1}`, Henderson's
equations, everything is of the size of the other factor:

.. math:: P = R^{-1} - R^{-1} C \Lambda C' R^{-1}.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.judged import judged_outputs

__all__ = ["CrossedComponents", "crossed_components"]


# Least residual variance, as a share of the response's: judgments that are exactly additive in
# output and rater would have none, and the likelihood no maximum.
_FLOOR = 1e-5
# Two covariance patterns count as one when the squared sine of their angle is below this.
_SAME = 1e-10


@dataclass(frozen=True, eq=False)
class CrossedComponents:
    r"""Components of :math:`y = X\beta + u_{output} + b_{rater} + e`.

    Attributes
    ----------
    item, leniency, residual : float
        Variance between outputs, between raters, and of what is left of a judgment. One that is not
        identified is 0 and part of `residual`.
    covariance : (3, 3) array
        Covariance of the three: the inverse expected information, zero for one that is not identified.
    leniencies : (n_raters,) array
        Best linear prediction of each rater's leniency, raters in sorted order.
    item_identified, leniency_identified : bool
        Whether the design can separate the component from the residual.
    n_outputs, n_raters, n_judgments : int
        Sizes.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    item: float
    leniency: float
    residual: float
    covariance: Floats
    leniencies: Floats
    item_identified: bool
    leniency_identified: bool
    n_outputs: int
    n_raters: int
    n_judgments: int
    notes: tuple[str, ...]

    @property
    def rater(self) -> float:
        """Rater variance: leniency and residual together."""
        return self.leniency + self.residual


def crossed_components(
    human: ArrayLike,
    items: ArrayLike,
    raters: ArrayLike,
    *,
    covariates: ArrayLike | None = None,
) -> CrossedComponents:
    r"""Variance between outputs, between raters, and of what is left, by REML.

    Parameters
    ----------
    human, items, raters : (M,) array
        Judgments, which output each is of, and who gave it.
    covariates : (M,) or (M, k) array, optional
        Fixed effects beside the intercept.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or the covariates are collinear.
    NotEstimableError
        If there is one rater or one output only, nothing varies, or outputs and raters cannot be
        told apart.

    Notes
    -----
    Consistent whatever the distribution of the effects; the covariance supposes that it is normal.
    When every output has one judgment, item and residual variance are one number, `residual`;
    likewise leniency when every rater gave one.

    References
    ----------
    H. D. Patterson and R. Thompson (1971), Biometrika 58. D. A. Harville (1977), JASA 72.

    Examples
    --------
    Three outputs by two raters, complete, so the two-way analysis of variance gives the same: mean
    squares 18 between outputs, 32/3 between raters and 2/3 of the rest.

    >>> found = crossed_components([2, 4, 4, 8, 8, 10], [1, 1, 2, 2, 3, 3], list("ababab"))
    >>> round(found.item, 3), round(found.leniency, 3), round(found.residual, 3)
    (8.667, 3.333, 0.667)
    """
    judged_outputs(human, None, items, raters=raters)
    y = np.asarray(human, dtype=np.float64)
    item, rater = (np.unique(np.asarray(one), return_inverse=True)[1] for one in (items, raters))
    _check_levels(item, rater)
    X = _fixed_columns(covariates, len(y))
    if len(y) <= X.shape[1]:
        raise NotEstimableError(
            f"variance components need more judgments than fixed effects; got {len(y)} for "
            f"{X.shape[1]}: collect more judgments or drop covariates"
        )
    left = y - X @ np.linalg.solve(X.T @ X, X.T @ y)
    scale = float(np.sqrt(np.mean(left**2)))
    if scale <= 1e-12 * np.abs(y).max():
        raise NotEstimableError(
            "variance components need judgments that differ; all of `human` are equal or "
            "explained by the covariates: collect more judgments"
        )
    items_absorbed = bool(item.max() >= rater.max())
    factors = (item, rater) if items_absorbed else (rater, item)
    design = _Design.of(left / scale, X, *factors)
    order = [0, 1, 2] if items_absorbed else [1, 0, 2]
    identified = _identified(design)
    solution = _most_likely(design, identified)
    residual = solution.residual_variance
    covariance = _covariance(solution, identified)
    values = np.append(solution.ratios, 1.0)[order] * residual * scale**2
    identified = identified[order[:2]]
    return CrossedComponents(
        item=float(values[0]),
        leniency=float(values[1]),
        residual=float(values[2]),
        covariance=covariance[np.ix_(order, order)] * scale**4,
        leniencies=solution.effects[order[1]] * scale,
        item_identified=bool(identified[0]),
        leniency_identified=bool(identified[1]),
        n_outputs=int(item.max()) + 1,
        n_raters=int(rater.max()) + 1,
        n_judgments=len(y),
        notes=_notes(values, identified, exhausted=residual <= _FLOOR),
    )


@dataclass(frozen=True, eq=False)
class _Design:
    """Judgments, the columns C of kept factor and fixed effects, and their sums over absorbed levels."""

    y: Floats
    C: Any  # (M, n_k + p) sparse
    count: Floats  # (n_a,) rows of each absorbed level
    n_kept: int
    sums: Any  # Z_a'C, sparse
    y_sums: Floats  # Z_a'y

    @classmethod
    def of(cls, y: Floats, X: Floats, absorbed: Ints, kept: Ints) -> "_Design":
        rows, ones = np.arange(len(y)), np.ones(len(y))
        Z = csr_array((ones, (absorbed, rows)))
        C = hstack([csr_array((ones, (rows, kept))), csr_array(X)], format="csr")
        return cls(y, C, Z @ ones, int(kept.max()) + 1, (Z @ C).tocsr(), Z @ y)

    @cached_property
    def products(self) -> tuple[Floats, Floats, float]:
        """C'C, C'y and y'y."""
        return (self.C.T @ self.C).toarray(), self.C.T @ self.y, float(self.y @ self.y)

    @property
    def freedom(self) -> int:
        """Rows less fixed effects."""
        return len(self.y) - int(self.C.shape[1]) + self.n_kept

    @property
    def mean_counts(self) -> Floats:
        """Judgments of a level, on average, of the absorbed and of the kept factor."""
        return len(self.y) / np.array([len(self.count), self.n_kept])

    def between(self, weights: Floats) -> Floats:
        """Return C' Z_a diag(weights) Z_a' C."""
        return np.asarray((self.sums.T @ (self.sums * weights[:, np.newaxis])).toarray())


@dataclass(frozen=True, eq=False)
class _Solution:
    """Henderson's equations solved at given ratios of (absorbed, kept) to residual variance."""

    design: _Design
    ratios: Floats
    G: Floats
    g: Floats  # C'R^-1 y
    inverse: Floats  # Lambda
    residual: float  # y'Py
    log_determinant: float  # of H, and of X'H^-1 X

    @classmethod
    def at(cls, design: _Design, ratios: Floats) -> "_Solution":
        absorbed, kept = ratios
        drop = absorbed / (1 + absorbed * design.count)
        CC, Cy, yy = design.products
        G = CC - design.between(drop)
        g = Cy - design.sums.T @ (drop * design.y_sums)
        own = np.arange(len(G)) < design.n_kept
        root = np.where(own, np.sqrt(kept), 1.0)
        T = root[:, np.newaxis] * G * root + np.diag(own.astype(np.float64))
        inverse = root[:, np.newaxis] * np.linalg.inv(T) * root
        residual = yy - design.y_sums @ (drop * design.y_sums) - g @ inverse @ g
        log_determinant = np.log1p(absorbed * design.count).sum() + np.linalg.slogdet(T)[1]
        return cls(design, ratios, G, g, inverse, float(residual), float(log_determinant))

    @cached_property
    def residual_variance(self) -> float:
        """The most likely residual variance at these ratios, not below its floor."""
        return max(self.residual / self.design.freedom, _FLOOR)

    @cached_property
    def deviance(self) -> float:
        """Minus twice the restricted log likelihood, residual variance profiled out."""
        variance = self.residual_variance
        scale = self.design.freedom * np.log(2 * np.pi * variance)
        return float(scale + self.residual / variance + self.log_determinant)

    @cached_property
    def _projected(self) -> tuple[Floats, Floats]:
        """Z_a'Py and Z_k'Py."""
        solved, shrink = self.inverse @ self.g, self._shrink
        absorbed = shrink * (self.design.y_sums - self.design.sums @ solved)
        return absorbed, (self.g - self.G @ solved)[: self.design.n_kept]

    @property
    def effects(self) -> tuple[Floats, Floats]:
        """Best linear predictions of the absorbed and of the kept factor's effects."""
        absorbed, kept = self._projected
        return self.ratios[0] * absorbed, self.ratios[1] * kept

    @property
    def _shrink(self) -> Floats:
        return np.asarray(1 / (1 + self.ratios[0] * self.design.count))

    @cached_property
    def _kept(self) -> Floats:
        """Z_k'PZ_k."""
        k = self.design.n_kept
        return self.G[:k, :k] - self.G[:k] @ self._solved

    @cached_property
    def _solved(self) -> Floats:
        """Lambda G, the columns of the kept factor."""
        return np.asarray(self.inverse @ self.G[:, : self.design.n_kept])

    @cached_property
    def traces(self) -> Floats:
        """The traces of P Z_a Z_a' and P Z_k Z_k'."""
        absorbed = self._shrink @ self.design.count
        absorbed -= np.sum(self.inverse * self._squares)
        return np.array([absorbed, np.trace(self._kept)])

    @cached_property
    def _squares(self) -> Floats:
        """C'R^-1 Z_a Z_a' R^-1 C."""
        return self.design.between(self._shrink**2)

    @cached_property
    def gradient(self) -> Floats:
        """Derivative of the deviance by both ratios."""
        pull = np.array([one @ one for one in self._projected])
        return self.traces - pull / self.residual_variance

    @cached_property
    def factor_information(self) -> Floats:
        """Squared Frobenius norms of Z_i'PZ_j for both factors."""
        D, k = self._shrink * self.design.count, self.design.n_kept
        held = self.inverse @ self._squares
        cubes = self.design.between(self._shrink**2 * D)
        absorbed = D @ D - 2 * np.sum(self.inverse * cubes) + np.sum(held * held.T)
        W = np.eye(len(self.G), k) - self._solved
        mixed = np.sum(W * (self._squares @ W))
        return np.array([[absorbed, mixed], [mixed, np.sum(self._kept**2)]])

    @property
    def expected_curvature(self) -> Floats:
        """Expected second derivative of the deviance by both ratios."""
        return self.factor_information - np.outer(self.traces, self.traces) / self.design.freedom

    @cached_property
    def information(self) -> Floats:
        """Traces of P V_i P V_j for absorbed, kept and residual; of the last by P H P = P."""
        factors = self.factor_information
        with_residual = self.traces - factors @ self.ratios
        residual = self.design.freedom - self.traces @ self.ratios - with_residual @ self.ratios
        return np.block(
            [[factors, with_residual[:, np.newaxis]], [with_residual, np.array([residual])]]
        )


def _identified(design: _Design) -> NDArray[np.bool_]:
    """Return which factors' covariance patterns differ from the residual's.

    The information is a Gram matrix of the patterns, so they are linearly dependent, at any ratios,
    exactly when it is singular.
    """
    information = _Solution.at(design, np.ones(2)).information
    size = np.diag(information)
    if size.min() <= 1e-12 * size.max():
        raise NotEstimableError(
            "the fixed effects take up all differences between outputs or between raters, "
            "so no variance is left to estimate there: drop covariates"
        )
    cosine = information / np.sqrt(np.outer(size, size))
    identified = np.asarray(1 - cosine[:2, 2] ** 2 > _SAME)
    free = np.append(identified, True)
    if np.linalg.eigvalsh(cosine[np.ix_(free, free)])[0] <= _SAME:
        raise NotEstimableError(
            "outputs and raters cannot be told apart: each output was judged by one rater who "
            "judged nothing else; let raters judge several outputs"
        )
    return identified


def _most_likely(design: _Design, free: NDArray[np.bool_]) -> _Solution:
    r"""Return the solution at the ratios of greatest restricted likelihood, by Fisher scoring.

    The search is over :math:`\log(1 + \lambda m)`, with m the mean count of a factor's levels: like a
    logarithm where a ratio is large, but with the boundary :math:`\lambda = 0` at a finite place.
    """
    m = design.mean_counts
    place = np.where(free, np.log1p(m), 0.0)
    here = _Solution.at(design, np.expm1(place) / m)
    for _ in range(200):
        scale = here.ratios + 1 / m
        slope = here.gradient * scale
        moving = free & ((place > 0) | (slope < 0))
        if np.abs(slope[moving]).max(initial=0.0) <= 1e-9 * design.freedom:
            break
        curvature = (here.expected_curvature * np.outer(scale, scale))[np.ix_(moving, moving)]
        step = np.zeros(2)
        step[moving] = np.clip(-np.linalg.solve(curvature, slope[moving]), -4.0, 4.0)
        for _ in range(10):
            there = np.clip(place + step, 0.0, 23.0)
            found = _Solution.at(design, np.expm1(there) / m)
            if found.deviance <= here.deviance + 1e-13 * abs(here.deviance):
                break
            step /= 2
        else:
            break  # nothing is left to gain but rounding
        place, here = there, found
    return here


def _covariance(solution: _Solution, identified: NDArray[np.bool_]) -> Floats:
    """Return the covariance of the components, in the design's order and units."""
    kept = np.append(identified, True)
    information = solution.information[np.ix_(kept, kept)]
    # scaled to unit diagonal first: the entries span many orders of magnitude
    unit = np.outer(*[1 / np.sqrt(np.diag(information))] * 2)
    covariance = np.zeros((3, 3))
    covariance[np.ix_(kept, kept)] = (
        2 * solution.residual_variance**2 * np.linalg.inv(information * unit) * unit
    )
    return covariance


def _check_levels(item: Ints, rater: Ints) -> None:
    if rater.max() == 0:
        raise NotEstimableError(
            "`raters` must name at least two raters to tell leniency from the mean; got one: "
            "collect judgments from more raters, or leave `raters` out"
        )
    if item.max() == 0:
        raise NotEstimableError(
            "`items` must name at least two outputs to tell their variance from the mean; "
            "got one: judge more outputs"
        )


def _fixed_columns(covariates: ArrayLike | None, size: int) -> Floats:
    """Return an intercept and the covariates, centred and scaled."""
    if covariates is None:
        return np.ones((size, 1))
    given = np.asarray(covariates, dtype=np.float64)
    given = given[:, np.newaxis] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != size or not np.isfinite(given).all():
        raise InvalidArgumentError(
            f"`covariates` must be finite, of shape ({size},) or ({size}, k) to align with "
            f"`human`; got shape {np.shape(covariates)}"
        )
    deviation = given.std(axis=0)
    flat = deviation <= 1e-12 * np.abs(given).max(axis=0, initial=0.0)
    centred = (given - given.mean(axis=0)) / np.where(flat, 1.0, deviation)
    if flat.any() or np.linalg.matrix_rank(centred, tol=1e-8 * np.sqrt(size)) < centred.shape[1]:
        raise InvalidArgumentError(
            "`covariates` must vary and not be combinations of one another; got a constant or "
            "collinear column: drop it"
        )
    return np.column_stack([np.ones(size), centred])


def _notes(values: Floats, identified: NDArray[np.bool_], *, exhausted: bool) -> tuple[str, ...]:
    said = (
        (
            not identified[0],
            "no output has two judgments, so the variance between outputs is part of the residual",
        ),
        (not identified[1], "no rater has two judgments, so leniency is part of the residual"),
        (
            identified[0] and values[0] == 0,
            "the variance between outputs is estimated as 0, its boundary",
        ),
        (
            identified[1] and values[1] == 0,
            "the variance between raters is estimated as 0, its boundary",
        ),
        (exhausted, "the residual variance is estimated as 0, its boundary"),
    )
    return tuple(note for holds, note in said if holds)
