r"""Leniency of raters, estimated from all systems of a campaign at once.

In :math:`y = \mu_{system} + \sigma_{system} (u_{output} + b_{rater} + e)` leniency :math:`b` belongs to the rater, whatever
system was judged, and counts in proportion to the spread :math:`\sigma` of the system's scores. Its best linear
prediction is :math:`\hat b = A^{-1} Z' M y/\sigma` with :math:`A = Z'MZ + I/\lambda_r`, where M takes system
means off and weighs outputs by their number of judgments. An estimate :math:`w'y` is freed of what its raters, with
shares :math:`Z'w`, are more lenient than the raters of the whole campaign, with shares q of its judgments:
:math:`w'y - t\,\sigma (Z'w - q)'\hat b`, with t the trust in :math:`\hat b`. So it is a linear form again, with weights on all judgments of the campaign. Derived in
docs/methods/campaign.md.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from steelyard.estimate.error_variance import Part
from steelyard.variance.crossed import CrossedComponents, crossed_components

__all__ = ["Leniency", "estimated_leniency", "leniency_part", "plain_parts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    """

    components: CrossedComponents
    output: Integers
    rater: Integers
    system: Integers
    scale: Floats
    heard: Integers
    spread: Floats
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
        """Return weights (M,) on judgments less what they hold of leniency beyond the campaign's."""
        per_rater = self.per_rater(weights)
        rater = self.rater[self.heard]
        share = np.bincount(rater, minlength=len(per_rater)) / len(rater)
        solved = cho_solve(self._factor, per_rater - per_rater.sum() * share)
        found = weights.copy()
        found[self.heard] -= self.trust * self._around(solved[rater]) / self.scale[self.heard]
        return found

    @property
    def trust(self) -> float:
        r"""Share of the predicted leniency to take out: :math:`(1 - \operatorname{Var}_0 \hat\sigma_b^2/\hat\sigma_b^4)_+`.

        Few judgments of each rater hardly show who is lenient, and taking out chance adds error.
        :math:`\operatorname{Var}_0` is what the variance between R raters would vary by if there were none: with
        noise :math:`\nu` in a rater's mean, it varies by :math:`2 (\sigma_b^2 + \nu)^2 / (R - 1)`.
        """
        half = (self.components.n_raters - 1) / 2
        noise = np.sqrt(float(self.components.covariance[1, 1]) * half) - self.variance
        return float(max(1 - max(noise, 0.0) ** 2 / half / self.variance**2, 0.0))

    @cached_property
    def _shrunk(self) -> tuple[Floats, Floats, Floats]:
        """Return the weight of each output, of each judgment, and of each system."""
        ratio = self.components.item / self.components.residual
        output = self.output[self.heard]
        shrunk = 1 / (1 + ratio * np.bincount(output))
        own = shrunk[output]
        return ratio * shrunk, own, np.maximum(np.bincount(self.system[self.heard], own), 1e-300)

    def _around(self, values: Floats) -> Floats:
        """Return M times values (H,): around system means, outputs weighed by their judgments."""
        pulled, own, total = self._shrunk
        output, system = self.output[self.heard], self.system[self.heard]
        means = np.bincount(system, own * values) / total
        centred = values - means[system]
        return np.asarray(centred - (pulled * np.bincount(output, centred))[output])


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
    ratio = components.item / components.residual
    Z = csr_array((np.ones(len(rater)), (np.arange(len(rater)), rater)), (len(rater), n_raters))
    count = np.bincount(output)
    shrunk = 1 / (1 + ratio * count)
    by_output = csr_array((np.ones(len(output)), (output, rater)), (len(count), n_raters))
    own = system[np.unique(output, return_index=True)[1]]
    known, own = np.unique(own, return_inverse=True)
    by_system = csr_array((shrunk, (own, np.arange(len(count)))), (len(known), len(count)))
    pull = (by_system @ by_output).toarray() / np.sqrt(by_system @ count)[:, np.newaxis]
    matrix = (Z.T @ Z - by_output.T @ by_output.multiply((ratio * shrunk)[:, None])).toarray()
    matrix -= pull.T @ pull
    np.fill_diagonal(matrix, matrix.diagonal() + components.residual / components.leniency)
    return Leniency(components, *every, scale, heard, spread, cho_factor(matrix))


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
