"""Draws of outputs to judge, with the inclusion probabilities they were drawn with."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.allocation import allocate
from steelyard.sampling.draw import Design, Draw, listed
from steelyard.sampling.unequal import inclusion_probabilities, nested_sample

__all__ = ["Design", "Draw", "draw_sample"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def draw_sample(
    pool_size: int,
    n: int,
    *,
    design: Design = "simple",
    strata: ArrayLike | None = None,
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
    design : {"simple", "stratified", "proportional-to-size", "clusters", "paired"}
        Simple random (default), of outputs or of clusters; simple random within strata; with probabilities
        :math:`\pi_i = \min(1, c\,s_i)` that sum to n, by elimination (`nested_sample`); or simple
        random among the items on which two systems differ.
    strata : (N,) array
        Stratum of every output, for a stratified draw; `quantile_strata` makes them of a metric.
    size : (N,) array
        Positive sizes :math:`s_i`, such as the expected error of the metric.
    differs : (N,) array of bool
        For a paired draw, whether the two systems' outputs for the item differ.
    extend : Draw, optional
        An earlier draw of the same design from the same pool, which the new one contains and
        begins with.
    seed : int or sequence of int
        Seed of the draw; to extend a draw by size, the seed of the earlier one.

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
    one left makes both together a simple random sample. Draws by size from one seed and pool are
    parts of each other, so that to extend one is to draw more with its seed; the earlier draw is
    made again to see that it is one of them. Either way the larger size must not be chosen by
    looking at the judgments of the earlier draw.

    The order of a draw is random whatever its design. The first k of n outputs drawn by size have
    probabilities :math:`\pi_i k/n`; in a draw that extends another this holds as well if no output
    is certain, else for the whole draw only.

    References
    ----------
    Cochran (1977), Sampling techniques; Tille (2006), Sampling algorithms, chapter 6.

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
        positions, sizes = _stratified(pool_labels, n, earlier, rng)
        labels = pool_labels[positions]
        counts = dict(zip(*np.unique(labels, return_counts=True), strict=True))
        probability = np.array([counts[name] / sizes[name] for name in labels.tolist()])
    elif design == "proportional-to-size":
        weight = _aligned(size, "size", pool_size, design)
        if extend is not None:
            _check_drawn_by(weight, extend, entropy)
        drawn = nested_sample(weight, n, rng=rng)
        positions = np.concatenate([earlier, drawn[~np.isin(drawn, earlier)]])
        probability = inclusion_probabilities(weight, n)[positions]
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


def _check_drawn_by(size: Floats, earlier: Draw, seed: tuple[int, ...]) -> None:
    """Raise unless these sizes and this seed draw the earlier outputs again."""
    if earlier.seed != seed:
        raise InvalidArgumentError(
            "`seed` must be that of the earlier draw, which a larger draw by size continues: "
            f"{listed(earlier.seed)}; got {listed(seed)}"
        )
    way_out = (
        "pass what the earlier draw was made from, or draw afresh and estimate each on its own"
    )
    by_these = inclusion_probabilities(size, earlier.n)[earlier.positions]
    other = np.flatnonzero(~np.isclose(earlier.probability, by_these, rtol=1e-6, atol=0))
    if len(other):
        raise InvalidArgumentError(
            f"`extend` must be a whole draw by these sizes; {len(other)} of its {earlier.n} outputs have "
            f"another probability (the first {earlier.probability[other[0]]:.6g}, by these sizes "
            f"{by_these[other[0]]:.6g}): {way_out}"
        )
    again = nested_sample(size, earlier.n, rng=np.random.default_rng(seed))
    absent = len(np.setdiff1d(earlier.positions, again))
    if absent:
        raise InvalidArgumentError(
            f"`extend` must be what seed {listed(seed)} draws from this pool by these sizes; {absent} of "
            f"its {earlier.n} outputs are not: {way_out}"
        )


def _stratified(
    labels: NDArray[Any],
    n: int,
    earlier: Integers,
    rng: np.random.Generator,
) -> tuple[Integers, dict[Any, int]]:
    names, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    kept = np.bincount(code[earlier], minlength=len(names)).tolist()
    allocated = allocate(n, sizes, at_least=dict(zip(names.tolist(), kept, strict=True)))
    new = []
    for number, count in enumerate(allocated.values()):
        inside = np.flatnonzero(code == number)
        rest = np.setdiff1d(inside, earlier, assume_unique=True)
        new.append(rng.choice(rest, count - kept[number], replace=False))
    return np.concatenate([earlier, rng.permutation(np.concatenate(new))]), sizes


def _earlier(extend: Draw | None, pool_size: int, n: int, design: str) -> Integers:
    if extend is None:
        return np.empty(0, dtype=np.int64)
    if extend.design != design:
        raise InvalidArgumentError(
            f"`extend` must be a draw of the same design; got {extend.design} for {design}: draw "
            "afresh, or estimate each draw on its own"
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
