"""What several differences need to hold together: the level of each interval, and p-values by steps."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from steelyard.estimate.equal_systems import equal_sets, largest_sets

__all__ = ["Steps", "Together", "contrasts_of"]

Floats = NDArray[np.float64]

_DRAWS = 10_000
# Numbers that are held at a time.
_BLOCK = 20_000_000
# Sets of pairs that are looked at for one pair; beyond, all pairs that are left count.
_SETS = 64


class Together:
    r"""Several standardised errors, and the law of the largest of them.

    Parameters
    ----------
    influences : (contrasts, units) array
        What each independent unit adds to each error: their products are the covariances of the
        errors. Any root of the covariance will do. A row of zeros is an error that no other shares.
    apart : (contrasts, systems) array
        The contrasts in systems that err independently.
    units : int
        Number of units that the covariance rests on.
    level : float
        The level of all together.
    seed : int
        Seed of the simulation.

    Notes
    -----
    The largest of correlated normal errors is simulated. Few units show too few directions in which
    many systems can err. So its quantile is raised towards that of systems that err
    independently (Tukey's range, if all pairs are compared), fully where units are no more than
    systems. Random numbers belong to units, so neither the order of the contrasts nor their signs
    matter.
    """

    def __init__(
        self, influences: Floats, apart: Floats, *, units: int, level: float, seed: int
    ) -> None:
        self._errors = _Errors(influences, seed)
        self._apart = apart
        self._alike = min(apart.shape[1] / max(units, 1), 1.0)
        self._asked = level
        self._seed = seed

    @cached_property
    def level(self) -> float:
        """The level of each interval at which all hold together."""
        if len(self._apart) < 2:
            return self._asked
        return float(2 * ndtr(self._quantile * self._raised) - 1)

    @cached_property
    def _quantile(self) -> float:
        return self._errors.quantile(self._asked)

    @cached_property
    def _raised(self) -> float:
        """Times as far as the simulated errors show."""
        if len(self._apart) < 2:
            return 1.0
        most = _Errors(self._apart, self._seed).quantile(self._asked)
        return float(1 + self._alike * max(most / self._quantile - 1, 0.0))

    def steps(self, alone: Floats, pairs: Sequence[tuple[Hashable, Hashable]]) -> "Steps":
        """Return p-values of no difference that hold for all pairs together, from the clearest pair down.

        Parameters
        ----------
        alone : (pairs,) array
            Two-sided p-value of each pair by itself.
        pairs : sequence of pairs
            The systems of each difference, or the slices of systems, by number or name.

        Notes
        -----
        A pair is compared with the largest error of those pairs that may have no difference together
        with it and with nothing clearer: all that are left (Romano and Wolf 2005), and for up to ten
        systems only sets of pairs that can be equal at the same time (Shaffer 1986; Westfall 1997).
        Derived in docs/methods/comparison.md.
        """
        if len(alone) < 2:
            return Steps(alone, np.full(len(alone), self.level))
        # Errors as large as these, on the scale of the simulated ones.
        size = -ndtri(alone / 2) / self._raised
        order = np.argsort(-size, kind="stable")
        sets = equal_sets(pairs)
        shares, numbers, quantiles = (
            self._left(size, order) if sets is None else self._possible(size, order, sets)
        )
        least = 2 * ndtr(-size[order])
        # Bonferroni's bound is the better one where hardly any simulated error is as large.
        found = np.empty_like(alone)
        found[order] = np.maximum.accumulate(
            np.minimum(np.maximum(shares, 1 / _DRAWS), np.minimum(numbers * least, 1.0))
        )
        levels = np.empty_like(alone)
        levels[order] = 2 * ndtr(quantiles * self._raised) - 1
        return Steps(np.maximum(found, alone), levels)

    def _left(
        self, size: Floats, order: NDArray[np.intp]
    ) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Return how often any of the pairs that are left errs as much, how many are left, and a quantile.

        The quantile is that of the largest error of all pairs, which is enough for each of them.
        """
        upwards = order[::-1]
        counts = np.zeros(len(size))
        for errors in self._errors.blocks():
            largest = np.maximum.accumulate(errors[upwards], axis=0)
            counts += (largest >= size[upwards, np.newaxis]).sum(axis=1)
        quantiles = np.full(len(size), self._quantile)
        return counts[::-1] / _DRAWS, np.arange(len(size), 0, -1), quantiles

    def _possible(
        self, size: Floats, order: NDArray[np.intp], sets: NDArray[np.uint64]
    ) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Return the same over the worst set of pairs that can be equal together."""
        errors = self._errors.whole
        shares, quantiles = np.zeros((2, len(size)))
        numbers = np.ones(len(size), dtype=np.intp)
        for step, pair in enumerate(order):
            having = sets >> np.uint64(pair) & np.uint64(1) == 1
            within = largest_sets(sets[having], most=_SETS)
            for one in [order[step:]] if within is None else within:
                largest = errors[one].max(axis=0)
                share = float((largest >= size[pair]).mean())
                numbers[step] = max(numbers[step], len(one))
                if share >= shares[step]:
                    shares[step], quantiles[step] = share, np.quantile(largest, self._asked)
            sets = sets[~having]
        return shares, numbers, quantiles


@dataclass(frozen=True, eq=False)
class Steps:
    """What is known of several pairs, from the clearest one down.

    Attributes
    ----------
    p_values : (pairs,) array
        Of no difference, corrected for all pairs.
    levels : (pairs,) array
        Level of the interval that must exclude 0 for a pair to be decided, if all clearer pairs are.
    """

    p_values: Floats
    levels: Floats


def contrasts_of(pairs: Sequence[tuple[Hashable, Hashable]]) -> Floats:
    """Return pairs as contrasts of their systems, one row each."""
    numbers = {system: None for pair in pairs for system in pair}
    place = {system: number for number, system in enumerate(numbers)}
    found = np.zeros((len(pairs), len(place)))
    for row, (a, b) in enumerate(pairs):
        found[row, place[a]], found[row, place[b]] = 1, -1
    return found


class _Errors:
    """Simulated sizes of standard normal errors that have the covariance of `influences`."""

    def __init__(self, influences: Floats, seed: int) -> None:
        length = np.sqrt(np.einsum("pu,pu->p", influences, influences))
        self._alone = length == 0
        known = influences[~self._alone] / length[~self._alone, np.newaxis]
        self._known = known[:, known.any(axis=0)]
        self._seed = seed

    def blocks(self) -> Iterator[Floats]:
        """Yield the errors, some draws at a time: a row for each contrast, a column for each draw."""
        rng = np.random.default_rng(self._seed)
        block = max(1, _BLOCK // max(*self._known.shape, len(self._alone), 1))
        for start in range(0, _DRAWS, block):
            size = min(block, _DRAWS - start)
            errors = np.empty((len(self._alone), size))
            errors[~self._alone] = self._known @ rng.standard_normal((size, self._known.shape[1])).T
            errors[self._alone] = rng.standard_normal((size, int(self._alone.sum()))).T
            yield np.abs(errors)

    @cached_property
    def whole(self) -> Floats:
        """All draws at once."""
        return np.concatenate(list(self.blocks()), axis=1)

    def quantile(self, level: float) -> float:
        """Return the quantile of the largest error."""
        largest = np.concatenate([errors.max(axis=0) for errors in self.blocks()])
        return float(np.quantile(largest, level))
