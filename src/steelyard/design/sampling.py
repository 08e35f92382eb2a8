"""Draws of outputs to judge, with the inclusion probabilities they were drawn with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.design.allocation import allocate
from steelyard.design.unequal import inclusion_probabilities, pivotal
from steelyard.errors import InvalidArgumentError
from steelyard.version import __version__

__all__ = ["Design", "Draw", "draw_sample"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Design = Literal["simple", "stratified", "proportional-to-size", "paired"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """Outputs drawn from a pool, in random order, and how they were drawn.

    Attributes
    ----------
    positions : (n,) array of int
        Positions in the pool, from 0, in the order in which to judge. Any first part of a simple
        draw is itself a simple random sample.
    probability : (n,) array
        Inclusion probability of each; in a paired draw, among the items that differ.
    strata : (n,) array or None
        Stratum of each, for a stratified draw.
    strata_sizes : mapping of stratum to int
        Number of outputs of each stratum in the pool; empty unless stratified.
    design : str
        "simple", "stratified", "proportional-to-size" or "paired".
    pool_size : int
        Number of outputs drawn from; in a paired draw, of all items.
    differing : int or None
        In a paired draw, the number of items on which the two systems differ.
    seed : tuple of int
        Seed of the draw.
    extended : int
        How many of the first positions come from an earlier draw.
    """

    positions: Integers
    probability: Floats
    strata: NDArray[Any] | None
    strata_sizes: Mapping[Any, int]
    design: Design
    pool_size: int
    differing: int | None
    seed: tuple[int, ...]
    extended: int

    @property
    def n(self) -> int:
        """Number of outputs drawn."""
        return len(self.positions)

    @property
    def share(self) -> float:
        """Share of the pool that was drawn from: what a mean difference is scaled by."""
        return 1.0 if self.differing is None else self.differing / self.pool_size

    @property
    def signature(self) -> str:
        """One line that tells which draw it was."""
        parts = [
            self.design,
            f"n={self.n}",
            f"N={self.pool_size}",
            *([f"strata={len(self.strata_sizes)}"] if self.strata_sizes else []),
            *([f"differing={self.differing}"] if self.differing is not None else []),
            *([f"extended={self.extended}"] if self.extended else []),
            f"seed={','.join(map(str, self.seed))}",
            f"steelyard={__version__}",
        ]
        return "|".join(parts)


def draw_sample(
    pool_size: int,
    n: int,
    *,
    design: Design = "simple",
    strata: ArrayLike | None = None,
    deviations: Mapping[Any, float] | None = None,
    size: ArrayLike | None = None,
    differs: ArrayLike | None = None,
    extend: Draw | None = None,
    seed: int | Sequence[int],
) -> Draw:
    r"""Draw outputs to judge, without replacement, and record their inclusion probabilities.

    Parameters
    ----------
    pool_size : int
        Number of outputs N in the pool.
    n : int
        Number of outputs to draw, those of `extend` included; of items, in a paired draw.
    design : {"simple", "stratified", "proportional-to-size", "paired"}
        Simple random (default); simple random within strata; with probabilities
        :math:`\pi_i = \min(1, c\,s_i)` that sum to n, by the pivotal method; or simple random among
        the items on which two systems differ.
    strata : (N,) array
        Stratum of every output, for a stratified draw; `quantile_strata` makes them of a metric.
    deviations : mapping of stratum to float, optional
        Standard deviation of each stratum for Neyman allocation; proportional if not given.
    size : (N,) array
        Positive sizes :math:`s_i`, such as the expected error of the metric.
    differs : (N,) array of bool
        For a paired draw, whether the two systems' outputs for the item differ.
    extend : Draw, optional
        An earlier simple, stratified or paired draw from the same pool, which the new one
        contains: the rest is drawn from the outputs that remain.
    seed : int or sequence of int
        Seed of the draw.

    Returns
    -------
    Draw

    Raises
    ------
    InvalidArgumentError
        If n exceeds the pool, what the design needs is missing or misaligned, or `extend` cannot
        be part of such a draw.

    Notes
    -----
    Inclusion probabilities are exact in every design. A simple random sample of what an earlier
    one left makes both together a simple random sample, provided that the size of the second was
    not chosen by looking at the judgments of the first. A draw with unequal probabilities cannot
    be extended so: given the first draw, output i would have to be drawn with probability
    :math:`(\pi_i' - \pi_i)/(1 - \pi_i)`, and over the outputs that are left these do not sum to a
    whole number. But its order is random, so that the first k of n outputs are a draw with
    probabilities :math:`\pi_i k/n`: draw as many as may be needed, and judge in order.

    References
    ----------
    Cochran (1977), Sampling techniques; Deville and Tille (1998), Unequal probability sampling
    without replacement through a splitting method; Tille (2006), Sampling algorithms, chapter 6.

    Examples
    --------
    >>> draw = draw_sample(6, 4, design="stratified", strata=list("aaabbb"), seed=1)
    >>> sorted(draw.strata.tolist()), draw.probability.round(3).tolist()
    (['a', 'a', 'b', 'b'], [0.667, 0.667, 0.667, 0.667])
    >>> draw.signature
    'stratified|n=4|N=6|strata=2|seed=1|steelyard=...'
    """
    if design not in get_args(Design):
        raise InvalidArgumentError(
            f"`design` must be one of {', '.join(get_args(Design))}; got {design!r}"
        )
    if not 1 <= n <= pool_size:
        raise InvalidArgumentError(
            f"`n` must be from 1 to the size of the pool, {pool_size}; got {n}"
        )
    entropy = (seed,) if isinstance(seed, int) else tuple(seed)
    rng = np.random.default_rng(entropy)
    earlier = _earlier(extend, pool_size, n, design)
    labels, differing = None, None
    sizes: dict[Any, int] = {}
    if design == "stratified":
        pool_labels = _aligned(strata, "strata", pool_size, design)
        positions, sizes = _stratified(pool_labels, n, deviations, earlier, rng)
        labels = pool_labels[positions]
        drawn = dict(zip(*np.unique(labels, return_counts=True), strict=True))
        probability = np.array([drawn[name] / sizes[name] for name in labels.tolist()])
    elif design == "proportional-to-size":
        probability = inclusion_probabilities(_aligned(size, "size", pool_size, design), n)
        positions = rng.permutation(pivotal(probability, rng=rng))
        probability = probability[positions]
    else:
        eligible = np.arange(pool_size)
        if design == "paired":
            eligible = np.flatnonzero(_aligned(differs, "differs", pool_size, design))
            differing = len(eligible)
        positions = _simple(eligible, n, earlier, rng)
        probability = np.full(n, n / len(eligible))
    return Draw(
        positions=positions,
        probability=probability,
        strata=labels,
        strata_sizes=MappingProxyType(sizes),
        design=design,
        pool_size=pool_size,
        differing=differing,
        seed=entropy,
        extended=len(earlier),
    )


def _simple(eligible: Integers, n: int, earlier: Integers, rng: np.random.Generator) -> Integers:
    if n > len(eligible):
        raise InvalidArgumentError(
            f"`n` must not exceed the {len(eligible)} items on which the systems differ; got {n}"
        )
    rest = np.setdiff1d(eligible, earlier, assume_unique=True)
    if len(rest) + len(earlier) != len(eligible):
        raise InvalidArgumentError("`extend` must be a draw from the same pool")
    new = rng.choice(rest, n - len(earlier), replace=False, shuffle=True)
    return np.concatenate([earlier, new])


def _stratified(
    labels: NDArray[Any],
    n: int,
    deviations: Mapping[Any, float] | None,
    earlier: Integers,
    rng: np.random.Generator,
) -> tuple[Integers, dict[Any, int]]:
    names, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    kept = np.bincount(code[earlier], minlength=len(names)).tolist()
    allocated = allocate(
        n, sizes, deviations=deviations, at_least=dict(zip(names.tolist(), kept, strict=True))
    )
    new = []
    for number, count in enumerate(allocated.values()):
        inside = np.flatnonzero(code == number)
        rest = np.setdiff1d(inside, earlier, assume_unique=True)
        new.append(rng.choice(rest, count - kept[number], replace=False))
    return np.concatenate([earlier, rng.permutation(np.concatenate(new))]), sizes


def _earlier(extend: Draw | None, pool_size: int, n: int, design: str) -> Integers:
    if extend is None:
        return np.empty(0, dtype=np.int64)
    if design == "proportional-to-size":
        raise InvalidArgumentError(
            "`extend` cannot be a draw proportional to size: given the first draw the rest would "
            "need probabilities (p' - p)/(1 - p), which do not sum to a whole number of outputs: "
            "draw the larger sample at once and judge it in order, or draw by strata of the size"
        )
    if extend.design != design:
        raise InvalidArgumentError(
            "`extend` must be a simple, stratified or paired draw of the same design; got "
            f"{extend.design} for {design}: draw afresh, or estimate each draw on its own"
        )
    if extend.pool_size != pool_size:
        raise InvalidArgumentError(
            f"`extend` must be a draw from the same pool; it was drawn from {extend.pool_size} "
            f"outputs and there are {pool_size}"
        )
    if extend.n > n:
        raise InvalidArgumentError(
            f"`n` counts the earlier draw in and must be at least its {extend.n}; got {n}"
        )
    return extend.positions


def _aligned(values: ArrayLike | None, name: str, pool_size: int, design: str) -> NDArray[Any]:
    if values is None:
        raise InvalidArgumentError(f'`{name}` is needed for design "{design}"')
    array = np.asarray(values)
    if array.shape != (pool_size,):
        raise InvalidArgumentError(
            f"`{name}` must hold one value an output of the pool, shape ({pool_size},); got "
            f"{array.shape}"
        )
    return array
