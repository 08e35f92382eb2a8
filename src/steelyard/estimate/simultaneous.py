"""What several differences need to hold together: Holm's p-values and the level of each interval."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

__all__ = ["holm", "joint_level", "simultaneous_level"]

Floats = NDArray[np.float64]

_DRAWS = 10_000


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for their number (Holm 1979)."""
    order = np.argsort(p_values)
    factor = np.arange(len(p_values), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(p_values[order] * factor), 1.0)
    found = np.empty_like(p_values)
    found[order] = stepped
    return found


def simultaneous_level(
    influences: Floats, pairs: Sequence[tuple[Hashable, Hashable]], *, level: float, seed: int
) -> float:
    """Return the level of each of several intervals at which all hold together at `level`.

    Parameters
    ----------
    influences : (pairs, units) array
        What each independent unit adds to each error: their products are the covariances of the
        errors. A row of zeros is an error that no other shares.
    pairs : sequence of pairs
        The systems of each difference, or the slices of systems, by number or name.
    level : float
        The level of all together.
    seed : int
        Seed of the simulation.

    Notes
    -----
    The largest of correlated normal errors is simulated, and its quantile turned into the level
    that one interval needs; each then has its own degrees of freedom. Few units show too few
    directions in which many systems can err. So the quantile is raised towards that of systems
    that err independently (Tukey's range, if all pairs are compared), fully where units are no
    more than systems. Random numbers belong to units, so neither the order of the pairs nor their
    signs matter.
    """
    if len(influences) < 2:
        return level
    numbers = {system: None for pair in pairs for system in pair}
    apart = np.zeros((len(pairs), len(numbers)))
    for row, (a, b) in enumerate(pairs):
        apart[row, list(numbers).index(a)], apart[row, list(numbers).index(b)] = 1, -1
    units = int(influences.any(axis=0).sum())
    return joint_level(influences, apart, units=units, level=level, seed=seed)


def joint_level(influences: Floats, apart: Floats, *, units: int, level: float, seed: int) -> float:
    """Return the level of each of several intervals at which all hold together, of any contrasts.

    Parameters
    ----------
    influences : (contrasts, any) array
        As in `simultaneous_level`, or any root of the covariance of the errors.
    apart : (contrasts, systems) array
        The contrasts in systems that err independently.
    units : int
        Number of units that the covariance rests on.
    level, seed
        As in `simultaneous_level`.
    """
    shown = _largest(influences, level, seed)
    raised = max(_largest(apart, level, seed) - shown, 0.0)
    return float(2 * ndtr(shown + raised * min(apart.shape[1] / max(units, 1), 1.0)) - 1)


def _largest(influences: Floats, level: float, seed: int) -> float:
    """Return the quantile of the largest of several standard normal errors."""
    length = np.sqrt(np.einsum("pu,pu->p", influences, influences))
    alone = int((length == 0).sum())
    known = influences[length > 0] / length[length > 0, np.newaxis]
    known = known[:, known.any(axis=0)]
    rng = np.random.default_rng(seed)
    largest = np.zeros(_DRAWS)
    block = max(1, 20_000_000 // max(*known.shape, alone, 1))
    for start in range(0, _DRAWS, block):
        size = min(block, _DRAWS - start)
        errors = rng.standard_normal((size, known.shape[1])) @ known.T
        errors = np.concatenate([errors, rng.standard_normal((size, alone))], axis=1)
        largest[start : start + size] = np.abs(errors).max(axis=1)
    return float(np.quantile(largest, level))
