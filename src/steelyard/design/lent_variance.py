"""The variance that `estimate` will show for a system to which the others lend what they know of theirs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from steelyard.design.later_sample import Floats, Luck, Number, fallen_out

__all__ = ["LentVariance", "lent_variance"]


@dataclass(frozen=True, eq=False)
class LentVariance:
    """What an imagined campaign shows of a system's variance.

    Attributes
    ----------
    shown : float or (D,) array
        The moderated variance over the true one.
    freedom : float or (D,) array
        Its degrees of freedom, as `estimate` counts them.
    own : float or (D,) array
        The weight of the system's own judgments in it.
    """

    shown: Number
    freedom: Number
    own: Number


def lent_variance(
    others: Floats | None, luck: Luck | None, *, systems: int, actual: float, counted: float
) -> LentVariance:
    r"""Return the moderated variance of a system among others, as `borrowed_spread` will have it.

    Parameters
    ----------
    others : (D, k - 1) or (k - 1,) array, optional
        Variances of the other systems over this one's; alike by default.
    luck : Luck or None
        How the variances fall out; None for what is to be expected.
    systems : int
        Number k of systems.
    actual, counted : float
        Degrees of freedom that describe how one system's variance varies, and those that `estimate` gives it.
    """
    most = systems * counted
    if luck is None:
        apart = 0.0 if others is None else float(np.var(np.log(others)))
        freedom = _prior_freedom(np.asarray(apart), most)
        return LentVariance(1.0, counted + freedom, counted / (counted + freedom))
    few = luck.others[:, : systems - 1]
    seen = np.log(fallen_out(few, actual))
    if others is not None:
        seen = seen + np.log(others[:, : few.shape[1]])
    own = fallen_out(luck.outputs, actual)
    log = np.column_stack([np.log(own), seen])
    freedom = _prior_freedom(log.var(axis=1, ddof=1) - polygamma(1, counted / 2), most)
    location = log.mean(axis=1) + _shift(freedom) - _shift(np.asarray(counted))
    weight = counted / (counted + freedom)
    return LentVariance(weight * own + (1 - weight) * np.exp(location), counted + freedom, weight)


def _prior_freedom(excess: Floats, most: float) -> Floats:
    """Return degrees of freedom d of which trigamma(d / 2) is the excess, about, up to a limit."""
    with np.errstate(divide="ignore"):
        found = 1 + 2 / np.maximum(excess, 0.0)
    return np.asarray(np.minimum(found, most))


def _shift(freedom: Floats) -> Floats:
    """Return the mean of the logarithm of chi-square over its degrees of freedom."""
    return np.asarray(digamma(freedom / 2) - np.log(freedom / 2))
