"""Variance components when outputs and raters are crossed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import judged_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance.absorption import CrossedDesign, Solution, crossed_design
from steelyard.variance.reml import Fit, given_fit, reml_fit
from steelyard.variance.systems import systems_of_outputs

__all__ = ["CrossedComponents", "crossed_components", "gls_weights"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CrossedComponents:
    r"""Components of :math:`y = X\beta + u_{output} + b_{rater} + e`.

    Attributes
    ----------
    item : float
        Variance between outputs; 0 when it is not identified, and then part of `residual`.
    leniency : float
        Variance between raters; 0 when it is not identified, and then part of `residual`.
    residual : float
        Variance of what is left of a judgment.
    covariance : (3, 3) array
        Covariance of the estimates (item, leniency, residual): the inverse expected information
        at the estimates, also where one of them is on its boundary. Zero for a component that is
        not identified, and throughout when the components were given.
    leniencies : (n_raters,) array
        Best linear prediction of each rater's leniency, raters in sorted order.
    fixed : (1 + k,) array
        Generalised-least-squares intercept and coefficients of the covariates; empty where systems
        have effects of their own.
    fixed_covariance : (1 + k, 1 + k) array
        Their covariance, components taken as known.
    log_likelihood : float
        Restricted log likelihood.
    item_identified, leniency_identified : bool
        Whether the design tells the component from the residual.
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
    fixed: Floats
    fixed_covariance: Floats
    log_likelihood: float
    item_identified: bool
    leniency_identified: bool
    n_outputs: int
    n_raters: int
    n_judgments: int
    notes: tuple[str, ...]
    _solution: Solution = field(repr=False)
    _basis: Floats = field(repr=False)

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
    systems: ArrayLike | None = None,
    components: Sequence[float] | None = None,
) -> CrossedComponents:
    r"""Variance between outputs, between raters, and of what is left, by REML.

    Restricted maximum likelihood for :math:`y_{ij} = x_{ij}'\beta + u_i + b_{r(ij)} + e_{ij}` with
    independent effects of variances :math:`\sigma_f^2, \sigma_r^2, \sigma_e^2` and
    :math:`x = (1, \text{covariates})`. The factor with more levels is absorbed, so the cost is that
    of a dense matrix of the size of the other, whatever the number of judgments.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array
        Which output each judgment is of.
    raters : (M,) array
        Who gave it.
    covariates : (M,) or (M, k) array, optional
        Fixed effects beside the intercept.
    systems : (M,) array, optional
        Which system the output is of: one fixed effect per system instead of the intercept, at no
        cost that grows with their number. Not with `covariates`.
    components : three floats, optional
        Item, leniency and residual variance to take as given (from a pilot, or pooled over
        systems) instead of estimating them; the fixed effects and `gls_weights` then use these.

    Returns
    -------
    CrossedComponents

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or the covariates are collinear.
    NotEstimableError
        If there is one rater or one output only, nothing varies, or outputs and raters cannot be
        told apart.

    Notes
    -----
    The estimates are consistent whatever the distribution of the effects; their covariance
    supposes that it is normal. Raters need not overlap. When every output has one judgment, item
    and residual variance are one number, reported as `residual`; likewise leniency when every
    rater gave one.

    References
    ----------
    H. D. Patterson and R. Thompson (1971), Recovery of inter-block information when block sizes are
    unequal, Biometrika 58. D. A. Harville (1977), Maximum likelihood approaches to variance
    component estimation and to related problems, JASA 72.

    Examples
    --------
    Three outputs by two raters, complete, so the two-way analysis of variance gives the same: mean
    squares 18 between outputs, 32/3 between raters and 2/3 of the rest.

    >>> found = crossed_components([2, 4, 4, 8, 8, 10], [1, 1, 2, 2, 3, 3], list("ababab"))
    >>> round(found.item, 3), round(found.leniency, 3), round(found.residual, 3)
    (8.667, 3.333, 0.667)
    """
    problem = _problem(human, items, raters, covariates, systems)
    if components is None:
        return problem.result(reml_fit(problem.design))
    return problem.result(given_fit(problem.design, problem.inward(_given(components))))


def gls_weights(crossed: CrossedComponents, contrast: ArrayLike) -> Floats:
    r"""Weights on single judgments that make the generalised-least-squares estimate of a contrast.

    :math:`w = V^{-1} X (X' V^{-1} X)^{-1} c`, so that :math:`w'y = c'\hat\beta` and
    :math:`X'w = c`.

    Parameters
    ----------
    crossed : CrossedComponents
        Components and design.
    contrast : (1 + k,) array
        Coefficients c of the intercept and the covariates.

    Returns
    -------
    (M,) array
        One weight a judgment, in the order in which the judgments were given.

    Raises
    ------
    InvalidArgumentError
        If `contrast` does not have one entry a fixed effect.

    Examples
    --------
    Four outputs, two of them judged by both raters. A second judgment of an output adds less than
    a judgment of another, so it weighs less:

    >>> found = crossed_components([2, 4, 4, 8, 9, 10], [1, 1, 2, 2, 3, 4], list("ababab"),
    ...                            components=(4, 1, 1))
    >>> gls_weights(found, [1]).round(3)
    array([0.132, 0.132, 0.132, 0.132, 0.237, 0.237])
    """
    c = np.asarray(contrast, dtype=np.float64)
    if c.shape != crossed.fixed.shape:
        raise InvalidArgumentError(
            f"`contrast` must have shape {crossed.fixed.shape}, one entry a fixed effect; "
            f"got {c.shape}"
        )
    return crossed._solution.weights(crossed._basis.T @ c)  # noqa: SLF001 - its own companion


@dataclass(frozen=True, eq=False)
class _Problem:
    """The model in units of its own spread, and the way back to the caller's.

    Fixed effects of the caller are `basis` times those of the design plus the ordinary
    least-squares start; variances are `scale` squared times those of the design.
    """

    design: CrossedDesign
    absorbs_items: bool
    basis: Floats
    start: Floats
    scale: float

    @property
    def order(self) -> list[int]:
        """From (absorbed, kept, residual) to (item, leniency, residual); its own inverse."""
        return [0, 1, 2] if self.absorbs_items else [1, 0, 2]

    def inward(self, components: Floats) -> Floats:
        """Return components of the caller as components of the design."""
        return components[self.order] / self.scale**2

    def result(self, fit: Fit) -> CrossedComponents:
        """Return the fit in the caller's units."""
        solution, design = fit.solution, self.design
        values = fit.components[self.order] * self.scale**2
        identified = fit.identified[self.order[:2]]
        basis = self.basis * self.scale
        sizes = (len(design.count), design.table.shape[1])
        change = np.linalg.slogdet(self.basis)[1] - design.freedom * np.log(self.scale)
        return CrossedComponents(
            item=float(values[0]),
            leniency=float(values[1]),
            residual=float(values[2]),
            covariance=fit.covariance[np.ix_(self.order, self.order)] * self.scale**4,
            leniencies=solution.effects[self.order[1]] * self.scale,
            fixed=self.basis @ self.start + basis @ solution.fixed,
            fixed_covariance=fit.residual * (basis @ solution.fixed_inverse @ basis.T),
            log_likelihood=float(fit.log_likelihood + change),
            item_identified=bool(identified[0]),
            leniency_identified=bool(identified[1]),
            n_outputs=sizes[self.order[0]],
            n_raters=sizes[self.order[1]],
            n_judgments=len(design.rows),
            notes=_notes(values, identified, exhausted=fit.exhausted),
            _solution=solution,
            _basis=self.basis,
        )


def _problem(
    human: ArrayLike,
    items: ArrayLike,
    raters: ArrayLike,
    covariates: ArrayLike | None,
    systems: ArrayLike | None,
) -> _Problem:
    judged_outputs(human, None, items, raters=raters)
    y = np.asarray(human, dtype=np.float64)
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater = np.unique(np.asarray(raters), return_inverse=True)[1]
    # Systems are absorbed with the outputs that are nested in them.
    absorbs_items = _absorbs_items(item, rater) or systems is not None
    groups = systems_of_outputs(systems, item)
    if groups is None:
        X, basis = _fixed_columns(covariates, len(y))
    elif covariates is not None:
        raise InvalidArgumentError("`systems` and `covariates` exclude each other: leave one out")
    else:
        X, basis = np.empty((len(y), 0)), np.empty((0, 0))
    effects = X.shape[1] + (0 if groups is None else int(groups.max()) + 1)
    if len(y) <= effects:
        raise NotEstimableError(
            f"variance components need more judgments than fixed effects; got {len(y)} for "
            f"{effects}: collect more judgments or drop covariates"
        )
    start = np.asarray(np.linalg.lstsq(X, y)[0], dtype=np.float64)
    left = y - X @ start if groups is None else _without_means(y, groups[item])
    scale = float(np.sqrt(np.mean(left**2)))
    if scale <= 1e-12 * np.abs(y).max():
        raise NotEstimableError(
            "variance components need judgments that differ; all of `human` are equal or "
            "explained by the covariates: collect more judgments"
        )
    rows = np.column_stack([X, left / scale])
    factors = (item, rater) if absorbs_items else (rater, item)
    return _Problem(crossed_design(rows, *factors, groups), absorbs_items, basis, start, scale)


def _without_means(y: Floats, system: Integers) -> Floats:
    mean = np.bincount(system, weights=y) / np.bincount(system)
    return np.asarray(y - mean[system])


def _absorbs_items(item: Integers, rater: Integers) -> bool:
    n_outputs, n_raters = int(item.max()) + 1, int(rater.max()) + 1
    if n_raters == 1:
        raise NotEstimableError(
            "`raters` must name at least two raters to tell leniency from the mean; got one: "
            "collect judgments from more raters, or leave `raters` out"
        )
    if n_outputs == 1:
        raise NotEstimableError(
            "`items` must name at least two outputs to tell their variance from the mean; "
            "got one: judge more outputs"
        )
    return n_outputs >= n_raters


def _fixed_columns(covariates: ArrayLike | None, size: int) -> tuple[Floats, Floats]:
    """Return centred and scaled fixed-effect columns, and the basis B with X_here = X_given B."""
    if covariates is None:
        return np.ones((size, 1)), np.eye(1)
    given = np.asarray(covariates, dtype=np.float64)
    given = given[:, np.newaxis] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != size or not np.isfinite(given).all():
        raise InvalidArgumentError(
            f"`covariates` must be finite, of shape ({size},) or ({size}, k) to align with "
            f"`human`; got shape {np.shape(covariates)}"
        )
    mean, deviation = given.mean(axis=0), given.std(axis=0)
    flat = deviation <= 1e-12 * np.abs(given).max(axis=0, initial=0.0)
    columns = (given - mean) / np.where(flat, 1.0, deviation)
    if flat.any() or np.linalg.matrix_rank(columns, tol=1e-8 * np.sqrt(size)) < columns.shape[1]:
        raise InvalidArgumentError(
            "`covariates` must vary and not be combinations of one another; got a constant or "
            "collinear column: drop it"
        )
    basis = np.diag(np.append(1.0, 1 / deviation))
    basis[0, 1:] = -mean / deviation
    return np.column_stack([np.ones(size), columns]), basis


def _given(components: Sequence[float]) -> Floats:
    values = np.asarray(components, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or (values < 0).any():
        raise InvalidArgumentError(
            "`components` must be three variances (item, leniency, residual), none negative; "
            f"got {components!r}"
        )
    if values[2] == 0:
        raise InvalidArgumentError(
            "`components` must have a residual variance above zero; got 0: give a small one"
        )
    return values


def _notes(values: Floats, identified: NDArray[np.bool_], *, exhausted: bool) -> tuple[str, ...]:
    notes = []
    if not identified[0]:
        notes.append(
            "no output has two judgments, so the variance between outputs is part of the residual"
        )
    if not identified[1]:
        notes.append("no rater has two judgments, so leniency is part of the residual")
    if identified[0] and values[0] == 0:
        notes.append("the variance between outputs is estimated as 0, its boundary")
    if identified[1] and values[1] == 0:
        notes.append("the variance between raters is estimated as 0, its boundary")
    if exhausted:
        notes.append("the residual variance is estimated as 0, its boundary")
    return tuple(notes)
