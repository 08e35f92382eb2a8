r"""Strengths of systems from shares of pairwise preferences (Bradley and Terry 1952).

A system of strength :math:`\theta_a` is preferred to b with probability
:math:`1/(1 + e^{\theta_b - \theta_a})`. A tie counts as half a preference for each. Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit

from steelyard.errors import NotEstimableError

__all__ = ["Separation", "Strengths", "bradley_terry", "separation"]

Floats = NDArray[np.float64]

_STEPS = 200
# A step this small changes no digit that anybody reads.
_SMALL = 1e-12


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strengths of systems, which add to 0.

    Attributes
    ----------
    values : (k,) array
        Log-odds scale: a difference of 1 is a preference by odds of 2.7 to 1.
    derivative : (k, pairs) array
        How each strength follows the share of each pair.
    """

    values: Floats
    derivative: Floats


@dataclass(frozen=True)
class Separation:
    """Why strengths have no bound.

    Attributes
    ----------
    winners : tuple of int
        Systems that no other was ever preferred to, not even by a tie, or that were never compared
        with the others.
    compared : bool
        Whether they were compared with others at all.
    """

    winners: tuple[int, ...]
    compared: bool


def separation(
    pairs: Sequence[tuple[int, int]], shares: Floats, systems: Sequence[int]
) -> Separation | None:
    """Return what keeps strengths from being bounded, None if nothing does.

    Strengths exist exactly if, however the systems are cut in two, each part has a preference over the
    other (Ford 1957; Hunter 2004): the graph of preferences is strongly connected.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Numbers of the systems a and b of each pair.
    shares : (pairs,) array
        Share of preferences for a, ties counted half.
    systems : sequence of int
        All systems.

    Examples
    --------
    >>> separation([(0, 1), (1, 2)], np.array([0.6, 1.0]), range(3))
    Separation(winners=(0, 1), compared=True)
    >>> separation([(0, 1), (1, 2)], np.array([0.6, 0.9]), range(3))
    """
    names = list(systems)
    place = {system: number for number, system in enumerate(names)}
    edges = [(place[a], place[b]) for (a, b), share in zip(pairs, shares, strict=True) if share > 0]
    edges += [
        (place[b], place[a]) for (a, b), share in zip(pairs, shares, strict=True) if share < 1
    ]
    start, end = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    graph = csr_array((np.ones(len(edges)), (start, end)), (len(names), len(names)))
    number, apart = connected_components(graph, directed=False)
    if number > 1:
        return Separation(_where(names, apart == apart[0]), compared=False)
    number, strong = connected_components(graph, directed=True, connection="strong")
    if number == 1:
        return None
    entered = {int(strong[b]) for a, b in edges if strong[a] != strong[b]}
    best = next(one for one in range(number) if one not in entered)
    return Separation(_where(names, strong == best), compared=True)


def _where(names: Sequence[int], chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)


def bradley_terry(
    pairs: Sequence[tuple[int, int]], shares: Floats, weights: Floats, *, systems: int
) -> Strengths:
    r"""Estimate strengths of systems numbered from 0, by Newton's steps on the log-likelihood.

    .. math:: \sum_p \omega_p \left[\pi_p \log F(\theta_a - \theta_b) + (1 - \pi_p) \log F(\theta_b - \theta_a)\right]

    with :math:`F` the logistic function, which is concave with one maximum when `separation` finds nothing.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Numbers of the systems a and b of each pair.
    shares : (pairs,) array
        Share of preferences for a, ties counted half, from 0 to 1.
    weights : (pairs,) array
        Weight of each pair: its number of items.
    systems : int
        Number of systems.

    Raises
    ------
    NotEstimableError
        If strengths have no bound.

    References
    ----------
    R. A. Bradley, M. E. Terry (1952). Rank analysis of incomplete block designs: I. The method of paired
    comparisons. Biometrika 39, 324-345.
    D. R. Hunter (2004). MM algorithms for generalized Bradley-Terry models. Annals of Statistics 32, 384-406.

    Examples
    --------
    >>> found = bradley_terry([(0, 1)], np.array([0.75]), np.array([8.0]), systems=2)
    >>> found.values.round(4).tolist()  # half of log 3 on either side
    [0.5493, -0.5493]
    """
    if separation(pairs, shares, range(systems)) is not None:
        raise NotEstimableError(
            "strengths have no bound: some systems won all, or were not compared"
        )
    signs = np.zeros((len(pairs), systems))
    for row, (a, b) in enumerate(pairs):
        signs[row, a], signs[row, b] = 1, -1
    strength = np.zeros(systems)
    for _ in range(_STEPS):
        step = np.linalg.solve(
            _information(signs, strength, weights),
            signs.T @ (weights * (shares - expit(signs @ strength))),
        )
        before = _likelihood(signs, strength, shares, weights)
        # Halved until the likelihood does not fall, which a concave one allows.
        while _likelihood(signs, strength + step, shares, weights) < before - 1e-9 * abs(before):
            step /= 2
        strength = strength + step
        if np.abs(step).max() < _SMALL * (1 + np.abs(strength).max()):
            break
    information = _information(signs, strength, weights)
    derivative: Floats = np.linalg.solve(information, signs.T * weights).astype(np.float64)
    return Strengths(strength - strength.mean(), derivative)


def _information(signs: Floats, strength: Floats, weights: Floats) -> Floats:
    """Return the information, with a constant added to the direction that no pair shows."""
    share = expit(signs @ strength)
    found = (signs.T * (weights * share * (1 - share))) @ signs
    size = float(np.trace(found)) / len(found) ** 2
    return np.asarray(found + max(size, 1e-300))


def _likelihood(signs: Floats, strength: Floats, shares: Floats, weights: Floats) -> float:
    lead = signs @ strength
    return float(weights @ (shares * log_expit(lead) + (1 - shares) * log_expit(-lead)))
