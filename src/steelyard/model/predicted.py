"""The values of an effect, such as each rater's leniency, with their errors."""

from dataclasses import dataclass

import numpy as np

from steelyard.model.campaign import Floats
from steelyard.model.fit import Fit

__all__ = ["Predicted", "leniency", "predicted"]

# What the judgments show of a value, as a share of what there is to know; below, they show nothing.
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class Predicted:
    """Values of one effect, in units of the systems' spread.

    Attributes
    ----------
    value, error : (q,) arrays
        Best predictions, drawn towards 0 as far as little is known of each, and their standard errors.
    alone, alone_error : (q,) arrays
        What the judgments say without that, NaN where they say nothing.
    variance : float
        The variance of all values of this effect.
    """

    value: Floats
    error: Floats
    alone: Floats
    alone_error: Floats
    variance: float


def predicted(fit: Fit, effect: str) -> Predicted | None:
    r"""Return the values of an effect; None where the model does not have it.

    With prediction b of variance :math:`\theta` and prediction error variance c, the judgments know a
    share :math:`r = 1 - c / \theta` of it: without the prior they say :math:`b / r`, with variance
    :math:`c / r`.

    Parameters
    ----------
    fit : Fit
        The fitted model.
    effect : str
        An effect with values of its own: "metrics", "rater", "taste", "order" or "departure".
    """
    at = fit.variances.solution
    for own, theta, column in zip(
        fit.system.slices, at.theta, fit.system.effects.columns, strict=False
    ):
        if column.name == effect:
            value, square = at.values[own], np.diag(at.m_inverse)[own]
            share = 1 - square / theta
            share = np.where(share > _NOTHING, share, np.nan)
            return Predicted(
                value=value,
                error=np.sqrt(square),
                alone=value / share,
                alone_error=np.sqrt(square / share),
                variance=float(theta),
            )
    return None


def leniency(fit: Fit) -> Floats:
    """Return the predicted leniency of each judgment's rater, in units of the scores."""
    found = np.zeros(fit.campaign.n)
    for own, column in zip(fit.system.slices, fit.system.effects.columns, strict=True):
        if column.name == "rater":
            found += column.design @ fit.variances.solution.values[own]
    return np.asarray(found * fit.spread)
