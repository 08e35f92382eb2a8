"""How the judged outputs were drawn from the pool, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.judged import JudgedOutputs

__all__ = [
    "Draw",
    "clustered",
    "simple_draw",
    "spread_draw",
    "stratified_draw",
    "unequal_draw",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draw:
    """The draw of n judged outputs. A simple one has one stratum and nothing else.

    Attributes
    ----------
    names : tuple
        Labels of the H strata.
    stratum : (n,) array of int
        Position in `names` of each output's stratum.
    size : (H,) array
        Number of outputs of each stratum in the pool; infinite when it is not known.
    probability : (n,) array or None
        Inclusion probabilities; None when they are equal within strata.
    cluster : (n,) array of int or None
        Number of each output's cluster, whose outputs may be alike; None when each output is a
        cluster of its own.
    identified : bool
        Whether outputs were drawn without replacement; if not, each judgment is a draw.
    poststratified : bool
        Whether the sample is a simple one, divided into strata after the draw.
    place : (n,) array or None
        Of a spread draw: the number of the wave that an output was drawn in, plus its place between 0
        and 1 along what that wave was spread by. None when outputs were not spread.
    """

    names: tuple[Any, ...]
    stratum: Integers
    size: Floats
    probability: Floats | None = None
    cluster: Integers | None = None
    identified: bool = True
    poststratified: bool = False
    place: Floats | None = None

    @property
    def simple(self) -> bool:
        """Whether outputs were drawn simply at random, each for itself."""
        return self.uniform and self.place is None

    @property
    def uniform(self) -> bool:
        """Whether outputs had equal chances and stand each for itself: simply drawn, or spread."""
        return self.equal_chances and self.cluster is None

    @property
    def equal_chances(self) -> bool:
        """Whether all outputs had equal chances, each for itself or in clusters."""
        return len(self.names) == 1 and self.probability is None

    @cached_property
    def neighbours(self) -> Integers:
        """Pairs (m, 2) of outputs that lie side by side in a spread draw, or next but one.

        The only output of a wave is set beside the end of another wave, farther than a neighbour.
        """
        assert self.place is not None
        along = np.argsort(self.place, kind="stable")
        _, wave, count = np.unique(
            np.floor(self.place[along]), return_inverse=True, return_counts=True
        )
        lone = count[wave] == 1
        pairs = []
        for step in (1, 2):
            beside = wave[:-step] == wave[step:]
            if step == 1:
                beside |= lone[:-1] | lone[1:]
            pairs.append(np.column_stack([along[:-step], along[step:]])[beside])
        return np.concatenate(pairs)

    @property
    def pool_size(self) -> int | None:
        """Number of outputs in the pool, None when it is not known."""
        total = self.size.sum()
        return int(total) if np.isfinite(total) else None

    @property
    def share(self) -> Floats:
        """W, the strata's shares of the pool."""
        return np.ones(1) if len(self.size) == 1 else np.asarray(self.size / self.size.sum())

    @cached_property
    def count(self) -> Floats:
        """Number of judged outputs of each stratum."""
        return self.total(np.ones(len(self.stratum)))

    @cached_property
    def inclusion(self) -> Floats:
        """Probability of each judged output to be drawn; 0 from a pool without limit."""
        if self.probability is not None:
            return self.probability
        return np.minimum(self.count / self.size, 1.0)[self.stratum]

    @property
    def unit(self) -> Integers:
        """Number of each output's cluster, or of the output itself."""
        return np.arange(len(self.stratum)) if self.cluster is None else self.cluster

    def total(self, values: Floats) -> Floats:
        """Sum over the outputs of each stratum."""
        return np.bincount(self.stratum, weights=values, minlength=len(self.names)).astype(float)

    def means(self, values: Floats, weights: Floats) -> Floats:
        """Weighted mean of each column (n, p) over the outputs of each stratum, (H, p)."""
        whole = self.total(weights)
        columns = [self.total(weights * column) / whole for column in values.T]
        return np.column_stack([np.empty((len(self.names), 0)), *columns])


def simple_draw(sample: JudgedOutputs, pool_size: int | None) -> Draw:
    """Return the draw of a simple random sample."""
    if pool_size is not None and sample.identified and pool_size < sample.n_outputs:
        raise InvalidArgumentError(
            f"`pool_size` must be at least the number of judged outputs ({sample.n_outputs}); "
            f"got {pool_size}"
        )
    size = np.array([np.inf if pool_size is None else pool_size])
    return Draw(("all",), np.zeros(sample.n_outputs, np.int64), size, identified=sample.identified)


def spread_draw(sample: JudgedOutputs, place: NDArray[Any], pool_size: int | None) -> Draw:
    """Return the draw of outputs that were spread, with their waves and places."""
    draw = simple_draw(sample, pool_size)
    known = place.astype(np.float64)
    if not (np.isfinite(known) & (known >= 0)).all():
        raise InvalidArgumentError(
            "`place` must hold the wave and place of each output that was drawn; pass what was "
            "recorded when it was drawn"
        )
    # A single output has no neighbour.
    return draw if sample.n_outputs < 2 else replace(draw, place=known)


def stratified_draw(
    sample: JudgedOutputs,
    labels: NDArray[Any],
    strata_sizes: Mapping[Any, int],
    *,
    poststratified: bool = False,
) -> Draw:
    """Return the draw of a stratified sample, after checking that each stratum shows its spread."""
    distinct, code = np.unique(labels, return_inverse=True)
    names = distinct.tolist()
    for name in names:
        if name not in strata_sizes:
            raise InvalidArgumentError(
                f"`strata_sizes` must hold every stratum that was judged; {name!r} is missing"
            )
    empty = [name for name, size in strata_sizes.items() if size > 0 and name not in names]
    if empty:
        raise NotEstimableError(
            f"no output of stratum {empty[0]!r} was judged ({len(empty)} such strata), so its mean "
            "is unknown: judge two of its outputs, or merge it with a stratum like it"
        )
    size = np.array([strata_sizes[name] for name in names], dtype=np.float64)
    for name, here, there in zip(names, np.bincount(code), size, strict=True):
        if sample.identified and here > there:
            raise InvalidArgumentError(
                f"`strata_sizes` must not be below the number of judged outputs; stratum {name!r} "
                f"has {there:g} outputs and {here:g} judged"
            )
        if here < 2 and not (sample.identified and here == there):
            raise NotEstimableError(
                f"stratum {name!r} has one judged output of {there:g}, which tells no spread: "
                "judge a second one, or merge it with a stratum like it"
            )
    if len(names) == 1:
        return simple_draw(sample, int(size[0]))
    if (np.bincount(code) == 1).all():
        raise NotEstimableError("no stratum has two judged outputs: merge strata")
    return Draw(
        tuple(names),
        code,
        size,
        identified=sample.identified,
        poststratified=poststratified,
    )


def unequal_draw(sample: JudgedOutputs, recorded: NDArray[Any], pool_size: int) -> Draw:
    """Return the draw of a sample with these inclusion probabilities."""
    try:
        probability = recorded.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`probability` must hold numbers: {error}") from error
    bad = ~((probability > 0) & (probability <= 1))
    if bad.any():
        raise InvalidArgumentError(
            f"`probability` must lie above 0 and not above 1; got {probability[bad][0]:g}: pass "
            "what was recorded when the output was drawn"
        )
    draw = simple_draw(sample, pool_size)
    if np.allclose(probability, sample.n_outputs / pool_size, rtol=1e-9, atol=0.0):
        return draw
    return replace(draw, probability=probability)


def clustered(draw: Draw, labels: NDArray[Any] | None) -> Draw:
    """Return the draw with clusters, of which each must lie in one stratum.

    A spread draw is then seen as a simple one, as outputs of a cluster have no order among themselves.
    """
    if labels is None:
        return draw
    names, code = np.unique(labels, return_inverse=True)
    if len(names) == len(code):
        return draw
    pairs = np.unique(np.column_stack([code, draw.stratum]), axis=0)
    twice = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
    if len(twice):
        raise InvalidArgumentError(
            f"`clusters` must each lie in one stratum; {names.tolist()[twice[0]]!r} has outputs in "
            "several: leave out the strata or the clusters"
        )
    for number, name in enumerate(draw.names):
        inside = len(np.unique(code[draw.stratum == number]))
        if inside < 2:
            where = "" if len(draw.names) == 1 else f" in stratum {name!r}"
            raise NotEstimableError(
                f"an interval over clusters needs at least 2 of them{where}; got {inside}: judge "
                "outputs of more clusters"
            )
    return replace(draw, cluster=code, place=None)
