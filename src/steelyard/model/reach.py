"""What weights on judgments reach: the parts of their errors that do not depend on what the errors are about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.model.blocks import Groups
from steelyard.model.campaign import Floats
from steelyard.model.forms import Weights

if TYPE_CHECKING:
    from steelyard.model.fit import Fit

__all__ = ["Reach"]


@dataclass(frozen=True, eq=False)
class Reach:
    """What weights on scaled judgments reach, whatever their errors are about.

    Attributes
    ----------
    weights : Weights
        On judgments in their own units.
    columns : (q + k, f) array
        ``U'W``.
    squares, crosses : sequences of (f, f) arrays
        ``W'KW`` and ``W'C`` for each effect K with kernels and its covariance C with the pools.
    learning : (f, f) array
        What the means would move if the variances were others, within their errors (Prasad and Rao 1990).
    """

    weights: Weights
    columns: Floats
    squares: Sequence[Floats]
    crosses: Sequence[Floats]
    learning: Floats

    @classmethod
    def of(cls, fit: "Fit", weights: Weights) -> "Reach":
        """Return what weights on scaled judgments reach."""
        system, at, asked = fit.system, fit.variances.solution, fit.targets
        columns = weights.onto(system.u).T
        squares = []
        for matrix in system.matrices[:-1]:
            if isinstance(matrix, Groups):
                squares.append(weights.through(matrix.members).gram())
            else:
                squares.append(weights.onto(matrix @ weights.dense()))
        squares.append(weights.gram())
        moves = [
            (wanted - columns[own]).T @ at.values[own]
            for wanted, own in zip(asked.these_raters, system.slices, strict=True)
        ]
        of_kernels = at.theta[len(moves) :]
        moves += [
            theta * (covariance.T @ at.residual - weights.onto(matrix @ at.residual))
            for theta, covariance, matrix in zip(
                of_kernels, asked.kernels, system.matrices, strict=True
            )
        ]
        by_effect = np.stack(moves)
        return cls(
            weights.times(1 / fit.spread),
            columns,
            squares,
            [weights.onto(one) for one in asked.kernels],
            by_effect.T @ fit.variances.covariance @ by_effect,
        )
