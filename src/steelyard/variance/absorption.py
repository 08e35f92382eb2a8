r"""Linear algebra of two crossed random factors: absorb the larger, keep the smaller dense.

The model is :math:`y = X\beta + Z_a u_a + Z_k u_k + e` with
:math:`\operatorname{Var} y = \sigma_e^2 H`,
:math:`H = I + \lambda_a Z_a Z_a' + \lambda_k Z_k Z_k'`. The absorbed factor *a* has a diagonal
block, so :math:`R = I + \lambda_a Z_a Z_a'` is inverted by hand, level by level, and what is left
of H is a matrix of the size of the kept factor *k*:

.. math:: H^{-1} = R^{-1} - \lambda_k R^{-1} Z_k (I + \lambda_k K)^{-1} Z_k' R^{-1},
          \qquad K = Z_k' R^{-1} Z_k.

Everything is computed from sums over levels, never from an M by M matrix. Fixed effects of groups
in which the absorbed levels are nested are absorbed as well (`between.py`). Derived in
docs/methods/variance.md.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.variance.between import (
    Between,
    Groups,
    Sums,
    crossed_table,
    scaled,
    weighted_product,
)

__all__ = ["RESIDUAL_FLOOR", "CrossedDesign", "Solution", "crossed_design", "solve"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Least residual variance, as a share of the response's: judgments that are exactly additive in
# output and rater would have none, the likelihood no maximum, and the algebra too few digits.
RESIDUAL_FLOOR = 1e-5


@dataclass(frozen=True, eq=False)
class CrossedDesign:
    """Sums over levels that determine the restricted likelihood.

    Attributes
    ----------
    rows : (M, p + 1) array
        The fixed-effect columns X and, last, the response y, of mean square 1.
    absorbed, kept : (M,) array of int
        Level of each factor in each row.
    count : (n_a,) array
        Rows of each absorbed level.
    table : (n_a, n_k) array, sparse when it is large
        Rows of each pair of levels, :math:`Z_a' Z_k`.
    share : (n_a, n_k) array, sparse when it is large
        `table` over `count`.
    groups : Groups or None
        Groups of absorbed levels with a fixed effect each, instead of columns of `rows`.
    absorbed_sums : (n_a, p + 1) array
        Sums of `rows` over absorbed levels.
    kept_within : (n_k, p + 1) array
        Sums over kept levels of `rows` less their absorbed-level means.
    rows_within : (p + 1, p + 1) array
        Cross products of `rows` less their absorbed-level means.
    table_within : (n_k, n_k) array
        :math:`Z_k' Z_k` less its part between absorbed levels.
    """

    rows: Floats
    absorbed: Integers
    kept: Integers
    count: Floats
    table: Sums
    share: Sums
    groups: Groups | None
    absorbed_sums: Floats
    kept_within: Floats
    rows_within: Floats
    table_within: Floats

    @cached_property
    def absorbed_means(self) -> Floats:
        """Means of `rows` over absorbed levels."""
        return self.absorbed_sums / self.count[:, np.newaxis]

    @cached_property
    def freedom(self) -> int:
        """Rows less fixed effects."""
        own = 0 if self.groups is None else self.groups.number
        return len(self.rows) - int(self.rows.shape[1]) + 1 - own


def crossed_design(
    rows: Floats, absorbed: Integers, kept: Integers, groups: Integers | None = None
) -> CrossedDesign:
    """Gather the sums over levels of both factors.

    Parameters
    ----------
    rows : (M, p + 1) array
        Fixed-effect columns and, last, the response.
    absorbed, kept : (M,) array of int
        Level of each row, from 0 without gaps; give the factor with more levels as `absorbed`.
    groups : (n_a,) array of int, optional
        Group of each absorbed level, from 0 without gaps. Every group then has a fixed effect, and
        `rows` must not hold them, nor an intercept.
    """
    count = np.bincount(absorbed).astype(np.float64)
    table = crossed_table(absorbed, kept)
    absorbed_sums = _sums(rows, absorbed)
    within = rows - (absorbed_sums / count[:, np.newaxis])[absorbed]
    kept_count = np.bincount(kept).astype(np.float64)
    return CrossedDesign(
        rows=rows,
        absorbed=absorbed,
        kept=kept,
        count=count,
        table=table,
        share=scaled(table, 1 / count),
        groups=None if groups is None else Groups.of(groups),
        absorbed_sums=absorbed_sums,
        kept_within=_sums(within, kept),
        rows_within=within.T @ within,
        table_within=np.diag(kept_count) - weighted_product(table, 1 / count),
    )


@dataclass(frozen=True, eq=False)
class Solution:
    r"""What :math:`H^{-1}` says at given variance ratios.

    Attributes
    ----------
    design : CrossedDesign
        The sums over levels.
    ratios : (2,) array
        Variance of the absorbed and of the kept factor over that of the residual.
    between : Between
        :math:`Z_a' R^{-1} Z_a`, group effects taken off.
    kept_product : (n_k, n_k) array
        K.
    kept_inverse : (n_k, n_k) array
        :math:`Q = (I + \lambda_k K)^{-1}`.
    kept_rows : (n_k, p + 1) array
        :math:`Z_k' R^{-1} [X, y]`.
    log_determinant : float
        Of H, and of the group effects' information.
    fixed : (p,) array
        Generalised-least-squares fixed effects.
    fixed_inverse : (p, p) array
        :math:`(X' H^{-1} X)^{-1}`.
    residual : float
        :math:`y' P y`, the generalised residual sum of squares.
    """

    design: CrossedDesign
    ratios: Floats
    between: Between
    kept_product: Floats
    kept_inverse: Floats
    kept_rows: Floats
    log_determinant: float
    fixed: Floats
    fixed_inverse: Floats
    residual: float

    @cached_property
    def residual_variance(self) -> float:
        """The most likely residual variance at these ratios, not below its floor."""
        return max(self.residual / self.design.freedom, RESIDUAL_FLOOR)

    @cached_property
    def deviance(self) -> float:
        """Minus twice the restricted log likelihood, residual variance profiled out."""
        return self.deviance_at(self.residual_variance)

    def deviance_at(self, residual_variance: float) -> float:
        """Minus twice the restricted log likelihood at a given residual variance."""
        _, log_fixed = np.linalg.slogdet(self.fixed_inverse)
        scale = self.design.freedom * np.log(2 * np.pi * residual_variance)
        fit = self.residual / residual_variance
        return float(scale + fit + self.log_determinant - log_fixed)

    @cached_property
    def gradient(self) -> Floats:
        r"""Derivative of the deviance by both ratios.

        :math:`\operatorname{tr}(P Z Z') - \lVert Z' P y \rVert^2 / \hat\sigma_e^2`.
        """
        absorbed, kept = self._projected
        pull = np.array([absorbed @ absorbed, kept @ kept])
        return self._traces - pull / self.residual_variance

    @property
    def expected_curvature(self) -> Floats:
        """Expected second derivative of the deviance by both ratios."""
        return self._factor_information - np.outer(self._traces, self._traces) / self.design.freedom

    @cached_property
    def information(self) -> Floats:
        r"""Twice the Fisher information of (absorbed, kept, residual) at residual variance 1.

        Entries :math:`\operatorname{tr}(P V_i P V_j)`. Those of the residual follow from
        :math:`P H P = P`.
        """
        factors = self._factor_information
        with_residual = self._traces - factors @ self.ratios
        residual = self.design.freedom - self._traces @ self.ratios - with_residual @ self.ratios
        return np.block(
            [[factors, with_residual[:, np.newaxis]], [with_residual, np.array([residual])]]
        )

    @property
    def effects(self) -> tuple[Floats, Floats]:
        r"""Best linear predictions of the absorbed and the kept factor's effects.

        :math:`\lambda Z' P y`, shrunk towards 0 by what noise makes of them.
        """
        absorbed, kept = self._projected
        return self.ratios[0] * absorbed, self.ratios[1] * kept

    def weights(self, contrast: Floats) -> Floats:
        r"""Return :math:`H^{-1} X (X' H^{-1} X)^{-1} c`, one weight a row."""
        design = self.design
        column = design.rows[:, :-1] @ (self.fixed_inverse @ contrast)
        # Z_k' R^-1 (X b) is linear in the columns that are there already.
        projected = self.kept_rows[:, :-1] @ (self.fixed_inverse @ contrast)
        column = column - (self.ratios[1] * (self.kept_inverse @ projected))[design.kept]
        shrink = self.between.weight / design.count
        drop = self.ratios[0] * shrink * np.bincount(design.absorbed, weights=column)
        return np.asarray(column - drop[design.absorbed])

    @cached_property
    def _absorbed_rows(self) -> Floats:
        """Z_a' H^-1 [X, y]."""
        spread = self.design.share @ (self.ratios[1] * (self.kept_inverse @ self.kept_rows))
        return self.between.times(self.design.absorbed_means - spread)

    @cached_property
    def _projected(self) -> tuple[Floats, Floats]:
        """Z_a' P y and Z_k' P y."""
        kept = self.kept_inverse @ self.kept_rows
        combination = np.append(-self.fixed, 1.0)
        return self._absorbed_rows @ combination, kept @ combination

    @cached_property
    def _squared_table(self) -> Floats:
        """Z_k' R^-1 Z_a Z_a' R^-1 Z_k."""
        return self.between.power(2)

    @cached_property
    def _traces(self) -> Floats:
        """tr(P Z_a Z_a') and tr(P Z_k Z_k')."""
        fixed = self.fixed_inverse
        absorbed_x = self._absorbed_rows[:, :-1]
        kept_x = self.kept_inverse @ self.kept_rows[:, :-1]
        absorbed = self.between.trace(1) - self.ratios[1] * np.sum(
            self._squared_table * self.kept_inverse
        )
        kept = np.sum(self.kept_inverse * self.kept_product)
        return np.array(
            [
                absorbed - np.sum((absorbed_x @ fixed) * absorbed_x),
                kept - np.sum((kept_x @ fixed) * kept_x),
            ]
        )

    @cached_property
    def _factor_information(self) -> Floats:
        """Squared Frobenius norms of Z_i' P Z_j for both factors."""
        fixed, between = self.fixed_inverse, self.between
        gain = self.ratios[1] * self.kept_inverse
        squared = self._squared_table
        U = self._absorbed_rows[:, :-1]
        W = self.kept_inverse @ self.kept_rows[:, :-1]
        # Z_a'PZ_a = D - E G E' - U F U' with D = between, E = D share, G = gain, F = fixed.
        DU = between.times(U)
        EU = self.design.share.T @ DU
        GS = gain @ squared
        UU = fixed @ (U.T @ U)
        absorbed = (
            between.trace(2)
            - 2 * np.sum(between.power(3) * gain)
            + np.sum(GS * GS.T)
            - 2 * np.sum(fixed * (U.T @ DU))
            + 2 * np.sum(fixed * (EU.T @ gain @ EU))
            + np.sum(UU * UU.T)
        )
        # Z_a'PZ_k = E Q - U F W'.
        QE = self.kept_inverse @ squared
        WW = fixed @ (W.T @ W)
        mixed = (
            np.sum(QE * self.kept_inverse)
            - 2 * np.sum(fixed * (EU.T @ self.kept_inverse @ W))
            + np.sum(UU * WW.T)
        )
        kept = self.kept_inverse @ self.kept_product - W @ fixed @ W.T
        return np.array([[absorbed, mixed], [mixed, np.sum(kept * kept.T)]])


def solve(design: CrossedDesign, ratios: Floats) -> Solution:
    """Return generalised least squares and the likelihood's parts at given variance ratios."""
    from scipy.linalg.lapack import dpotrf, dtrtri  # noqa: PLC0415 - as above

    shrink = 1 / (1 + ratios[0] * design.count)
    # R^-1 leaves the part within absorbed levels as it is and shrinks the part between them.
    between = Between(shrink * design.count, design.share, design.groups)
    means = design.absorbed_means
    weighted = between.times(means)
    kept_product = design.table_within + between.power(1)
    kept_rows = design.kept_within + design.share.T @ weighted
    # I + lambda K is symmetric and at least I, so the factorisation cannot fail.
    matrix = ratios[1] * kept_product
    np.fill_diagonal(matrix, matrix.diagonal() + 1)
    factor, _ = dpotrf(matrix.T, lower=1, overwrite_a=1)
    log_pivots = float(np.log(factor.diagonal()).sum())
    # Not dpotri: it starts threads for the smallest matrix, and they wait for each other.
    root, _ = dtrtri(factor, lower=1, overwrite_c=1)
    root = np.tril(root)
    kept_inverse = root.T @ root
    products = (
        design.rows_within
        + means.T @ weighted
        - ratios[1] * (kept_rows.T @ kept_inverse @ kept_rows)
    )
    fixed_inverse = np.linalg.inv(products[:-1, :-1])
    fixed = fixed_inverse @ products[:-1, -1]
    return Solution(
        design=design,
        ratios=ratios,
        between=between,
        kept_product=kept_product,
        kept_inverse=kept_inverse,
        kept_rows=kept_rows,
        log_determinant=float(2 * log_pivots - np.log(shrink).sum() + between.log_information),
        fixed=fixed,
        fixed_inverse=fixed_inverse,
        residual=float(products[-1, -1] - fixed @ products[:-1, -1]),
    )


def _sums(rows: Floats, levels: Integers) -> Floats:
    return np.column_stack([np.bincount(levels, weights=column) for column in rows.T])
