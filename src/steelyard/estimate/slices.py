"""A campaign cut into slices: parts of every system's pool, with the judged outputs that lie in them.

A slice of a simple draw is, given the number of its judged outputs, a simple draw of the slice. So each system's
slice is estimated as a system is, by a control that is learned before the cut and then centred at the slice's
own pool. Derived in docs/methods/campaign.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs, PoolMoments, clustered, simple_draw
from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import JudgedSystem

__all__ = ["Cell", "Slicing", "sliced"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Slicing:
    """How one system is cut into slices, numbered from 0; the last number is for outputs in none.

    Attributes
    ----------
    code : (n,) array of int
        The slice of each judged output.
    sizes : sequence of int
        Number of outputs of each slice in the pool.
    pools : sequence of PoolMoments or None
        Moments of the metrics over each slice, a missing value counting as the mean of the whole
        pool; None without metrics, or where a slice is empty.
    """

    code: Integers
    sizes: Sequence[int]
    pools: Sequence[PoolMoments | None]


@dataclass(frozen=True, eq=False)
class Cell:
    """The part of system `parent` that lies in a slice, with the control of its judged outputs."""

    parent: int
    slice: int
    system: JudgedSystem
    control: Floats


def sliced(
    parent: int, system: JudgedSystem, slicing: Slicing, *, control: Floats, slope: Floats
) -> list[Cell]:
    """Cut a system into cells, one for each slice with a judged output.

    Parameters
    ----------
    parent : int
        Number of the system.
    system : JudgedSystem
        The system, simply drawn, or in clusters.
    slicing : Slicing
        How it is cut.
    control : (n,) array
        The control of its judged outputs, zero on average over its pool.
    slope : (p,) array
        The mean coefficients of that control.
    """
    cells = []
    for number in np.unique(slicing.code):
        inside = slicing.code == number
        pool, shift = slicing.pools[number], 0.0
        if pool is not None and system.pool is not None:
            shift = float(slope @ (pool.mean - system.pool.mean))
        sample = _part(system.sample, inside)
        judged = inside[system.sample.output]
        part = replace(
            system,
            sample=sample,
            draw=_draw(system.draw, sample, inside, slicing.sizes[number]),
            metric=system.metric[inside],
            items=system.items[inside],
            raters=None if system.raters is None else system.raters[judged],
            pool=pool,
            clusters=None if system.clusters is None else system.clusters[inside],
            texts=None if system.texts is None else system.texts[inside],
        )
        cells.append(Cell(parent, int(number), part, control[inside] - shift))
    return cells


def _part(sample: JudgedOutputs, inside: NDArray[np.bool_]) -> JudgedOutputs:
    """Return some of the judged outputs."""
    judged = inside[sample.output]
    rater = sample.rater
    return replace(
        sample,
        mean=sample.mean[inside],
        count=sample.count[inside],
        within=sample.within[inside],
        metric=sample.metric[inside],
        human=sample.human[judged],
        output=(np.cumsum(inside) - 1)[sample.output[judged]],
        rater=None if rater is None else np.unique(rater[judged], return_inverse=True)[1],
    )


def _draw(draw: Draw, sample: JudgedOutputs, inside: NDArray[np.bool_], size: int) -> Draw:
    found = simple_draw(sample, size)
    if draw.cluster is None:
        return found
    try:
        return clustered(found, draw.cluster[inside])
    except NotEstimableError:
        # One cluster has no interval: its cell has one unit, and the estimate says so.
        return replace(found, cluster=np.zeros(sample.n_outputs, np.int64))
