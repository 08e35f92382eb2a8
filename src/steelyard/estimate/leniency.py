r"""Leniency of raters, estimated from all systems of a campaign at once.

In :math:`y = \mu_{system} + \sigma_{system} (u_{output} + b_{rater} + e)` leniency :math:`b` belongs to the rater, whatever
system was judged, and counts in proportion to the spread :math:`\sigma` of the system's scores. Its best linear
prediction is :math:`\hat b = A^{-1} Z' M y/\sigma` with :math:`A = Z'MZ + I/\lambda_r`, where M takes system
means off and weighs outputs by their number of judgments. An estimate :math:`w'y` is freed of what its raters, with
shares :math:`Z'w`, are more lenient than the raters of the whole campaign, with shares q of its judgments:
:math:`w'y - t\,\sigma (Z'w - q)'\hat b`. The trust t in :math:`\hat b` is how far the leniency that some systems
show holds in the others. So it is a linear form again, with weights on all judgments of the campaign. Derived in docs/methods/campaign.md.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from steelyard.estimate.error_variance import Part
from steelyard.single.crossed import CrossedComponents, crossed_components

__all__ = ["Leniency", "estimated_leniency", "leniency_part", "plain_parts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# So many parts of the systems are left out in turn to see whether leniency holds in them.
_FOLDS = 10


@dataclass(frozen=True, eq=False)
class _Within:
    """The matrix M: takes system means off, and weighs outputs by their number of judgments.

    Attributes
    ----------
    output, system : (H,) array of int
        What each judgment is of, and whose output it is.
    ratio : float
        Variance between outputs over that of the rest.
    """

    output: Integers
    system: Integers
    ratio: float

    @cached_property
    def _shrunk(self) -> Floats:
        """Weight of a judgment of each output."""
        return np.asarray(1 / (1 + self.ratio * np.bincount(self.output)))

    @cached_property
    def _total(self) -> Floats:
        """Weight of all judgments of each system."""
        return np.maximum(np.bincount(self.system, self._shrunk[self.output]), 1e-300)

    def times(self, values: Floats) -> Floats:
        """Return M times values (H,)."""
        means = np.bincount(self.system, self._shrunk[self.output] * values) / self._total
        centred = values - means[self.system]
        drawn = self.ratio * self._shrunk * np.bincount(self.output, centred)
        return np.asarray(centred - drawn[self.output])

    def of_raters(self, rater: Integers, n_raters: int, chosen: NDArray[np.bool_]) -> Floats:
        """Return Z'MZ, (n_raters, n_raters), of the judgments of some systems: it adds over systems."""
        outputs, output = np.unique(self.output[chosen], return_inverse=True)
        systems, system = np.unique(self.system[chosen], return_inverse=True)
        by_output = csr_array(
            (np.ones(len(output)), (output, rater[chosen])), (len(outputs), n_raters)
        )
        shrunk = self._shrunk[outputs]
        owner = np.empty(len(outputs), dtype=np.int64)
        owner[output] = system
        by_system = csr_array(
            (shrunk, (owner, np.arange(len(outputs)))), (len(systems), len(outputs))
        )
        pull = (by_system @ by_output).toarray() / np.sqrt(self._total[systems])[:, np.newaxis]
        matrix = -(by_output.T @ by_output.multiply((self.ratio * shrunk)[:, None])).toarray()
        matrix -= pull.T @ pull
        count = np.bincount(rater[chosen], minlength=n_raters)
        np.fill_diagonal(matrix, matrix.diagonal() + count)
        return np.asarray(matrix)


@dataclass(frozen=True, eq=False)
class Leniency:
    """The leniency of the raters of a campaign.

    Attributes
    ----------
    components : CrossedComponents
        Variance between outputs, between raters and of the rest, within systems.
    output, rater, system : (M,) array of int
        The text that each judgment is of, who gave it, and whose text it is: of one system, though
        several may have written it.
    scale : (M,) array
        Spread of the scores of the system that each judgment is of; `components` are over it.
    heard : (H,) array of int
        Positions of the judgments, each once: where several systems wrote a text, its judgments are
        there for each of them.
    spread : (k,) array
        Spread of the scores of each system.
    trust : float
        Share of the predicted leniency to take out.
    """

    components: CrossedComponents
    output: Integers
    rater: Integers
    system: Integers
    scale: Floats
    heard: Integers
    spread: Floats
    trust: float
    _varies: NDArray[np.bool_]
    _within: _Within
    _factor: tuple[Floats, bool]

    @property
    def variance(self) -> float:
        """Variance between raters."""
        return self.components.leniency

    def per_rater(self, weights: Floats, where: slice = slice(None)) -> Floats:
        """Return the weight of each rater in weights of the judgments `where`, times their spread."""
        scaled = weights * self.scale[where]
        found = np.bincount(self.rater[where], scaled, minlength=len(self._factor[0]))
        return found.astype(np.float64)

    def adjusted(self, weights: Floats) -> Floats:
        """Return weights (M,) on judgments less what they hold of leniency beyond the campaign's.

        Judgments of a system that are all equal follow no rater, and stay as they are.
        """
        per_rater = self.per_rater(weights * self._varies[self.system])
        rater = self.rater[self.heard]
        share = np.bincount(rater, minlength=len(per_rater)) / len(rater)
        solved = cho_solve(self._factor, per_rater - per_rater.sum() * share)
        found = weights.copy()
        found[self.heard] -= self.trust * self._within.times(solved[rater]) / self.scale[self.heard]
        return found


def estimated_leniency(
    human: Floats,
    output: Integers,
    rater: Integers,
    system: Integers,
    *,
    spread: Floats,
    heard: Integers | None = None,
) -> Leniency | None:
    """Estimate the leniency of raters from judgments of all systems, controls taken off.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    output, rater, system : (M,) array of int
        What each is of, who gave it, and whose output it is.
    spread : (k,) array
        Standard deviation of each system's scores.
    heard : (H,) array of int, optional
        Positions of the judgments to learn from, where one may be there for several systems; all by
        default.

    Returns
    -------
    Leniency or None
        None if raters show no differences at all.

    Raises
    ------
    NotEstimableError
        If raters cannot be told from outputs or from systems.
    """
    scale = spread[system]
    every = output, rater, system
    n_raters = int(rater.max()) + 1
    heard = np.arange(len(human)) if heard is None else heard
    output, rater, system = (one[heard] for one in every)
    components = crossed_components((human / scale)[heard], output, rater, systems=system)
    if components.leniency <= 0 or components.residual <= 0:
        return None
    within = _Within(output, system, components.item / components.residual)
    matrix = within.of_raters(rater, n_raters, np.ones(len(rater), dtype=bool))
    np.fill_diagonal(matrix, matrix.diagonal() + components.residual / components.leniency)
    seen = within.times((human / scale)[heard])
    trust = _trust(seen, rater, within, matrix, components.residual)
    first = np.zeros(len(spread))
    first[system] = human[heard]
    varies = np.bincount(system, human[heard] != first[system], minlength=len(spread)) > 0
    return Leniency(
        components, *every, scale, heard, spread, trust, varies, within, cho_factor(matrix)
    )


def _trust(
    seen: Floats, rater: Integers, within: _Within, matrix: Floats, residual: float
) -> float:
    r"""Return how far the leniency that some systems show holds in the others.

    With :math:`\hat b` predicted without the systems of fold f, their judgments have the slope
    :math:`\hat a = \sum_f d_f'\hat b / \sum_f \hat b' K_f \hat b` on it, with :math:`d = Z'My`, :math:`K = Z'MZ` and variance
    :math:`\sigma_e^2 / \sum_f \hat b' K_f \hat b`. The share :math:`\min(\hat a, 1)(1 - \operatorname{Var}\hat a/\hat a^2)_+` is kept, as of a control.

    Parameters
    ----------
    seen : (H,) array
        M times the judgments.
    rater : (H,) array of int
        Who gave them.
    within : _Within
        M.
    matrix : (R, R) array
        :math:`Z'MZ + I\sigma_e^2/\sigma_b^2` of all systems.
    residual : float
        :math:`\sigma_e^2`.
    """
    n_raters = len(matrix)
    pull = np.bincount(rater, seen, minlength=n_raters)
    moved = size = 0.0
    fold = within.system % _FOLDS
    for one in np.unique(fold):
        chosen = fold == one
        own = within.of_raters(rater, n_raters, chosen)
        here = np.bincount(rater[chosen], seen[chosen], minlength=n_raters)
        elsewhere = cho_solve(cho_factor(matrix - own), pull - here)
        moved += float(here @ elsewhere)
        size += float(elsewhere @ own @ elsewhere)
    if moved <= 0 or size <= 0:
        return 0.0
    slope = moved / size
    return min(slope, 1.0) * max(1 - residual / (size * slope**2), 0.0)


def leniency_part(leniency: Leniency, by_rater: Floats) -> Part:
    """Return what leniency adds to the error variance of weights on raters."""
    squares = float(by_rater @ by_rater)
    doubt = squares**2 * float(leniency.components.covariance[1, 1])
    return Part("leniency", leniency.variance, squares, np.inf, doubt)


def plain_parts(
    scores: Floats,
    leniency: Leniency | None = None,
    *,
    where: slice = slice(None),
    system: int = 0,
) -> list[Part]:
    """Return the error variance of a plain mean of judgments, each of them a draw for itself.

    Parameters
    ----------
    scores : (n,) array
        The judgments of one system.
    leniency : Leniency, optional
        The leniency of raters, where they are seen as a sample.
    where, system : slice and int, optional
        The place of these judgments in it, and the number of their system.
    """
    n = len(scores)
    variance = float(scores.var(ddof=1)) if n > 1 else 0.0
    if leniency is None:
        return [Part("outputs", variance, 1 / n, max(n - 1.0, 1.0))]
    own = leniency.per_rater(np.full(n, 1 / n), where)
    # What raters share is no spread of outputs.
    held = float(leniency.spread[system]) ** 2 - float(own @ own)
    left = variance - leniency.variance * held * n / max(n - 1, 1)
    outputs = Part("outputs", max(left, 0.05 * variance), 1 / n, max(n - 1.0, 1.0))
    return [outputs, leniency_part(leniency, own)]
