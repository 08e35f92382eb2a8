"""Estimates by slice, or of a stated mix of slices, of the systems of a campaign."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import slice_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.slices import Slicing
from steelyard.study.campaign import Campaign
from steelyard.study.recorded_draw import DrawnCell
from steelyard.study.slices import Slices

__all__ = [
    "SliceEstimates",
    "multiplicity",
    "slice_estimates",
    "slice_points",
    "spanning_clusters",
]

# Fewer judged outputs of a slice hardly show how two-valued scores vary (measured).
_FEW_OUTPUTS = 5
# Estimates of a system by the name of the slice.
SliceEstimates = dict[str, dict[str, Estimate | NotEstimableError]]


def slice_estimates(
    campaign: Campaign,
    slices: Slices,
    prompt: str,
    *,
    options: Options,
    notes: Sequence[str],
    seed: int,
) -> SliceEstimates:
    """Return the estimates of each system under one prompt by slice, or why there is none.

    Parameters
    ----------
    campaign : Campaign
        All systems.
    slices : Slices
        How outputs are cut; with a mix, there is one estimate of each system, by the mix's name.
    prompt : str
        The prompt.
    options : Options
        As in `campaign_means`.
    notes : sequence of str
        Remarks for every estimate.
    seed : int
        Seed of the simulated shape.
    """
    if options.target == "census":
        raise InvalidArgumentError('`target` "census" cannot go with `by`: use target="pool"')
    cells, refused = campaign.cells(prompt)
    parts = slices.names if slices.mix is None else (slices.mix_name,)
    found: SliceEstimates = {one: dict.fromkeys(parts, error) for one, error in refused.items()}
    for system in [one for one, cell in cells.items() if not _simply_drawn(cell)]:
        error = NotEstimableError(
            "outputs were drawn by strata or with unequal probabilities, and slices need a simple draw"
        )
        found[system] = dict.fromkeys(parts, error)
        del cells[system]
    slicings, judged = _cut(campaign, slices, prompt, cells)
    results = slice_means(judged, slicings, mix=slices.mix, options=options, seed=seed)
    for (system, cell), slicing, result in zip(cells.items(), slicings, results, strict=True):
        about = (*cell.notes, *campaign.metric_notes(prompt, system), *notes)
        own: dict[str, Estimate | NotEstimableError] = {}
        for number, name in enumerate(parts):
            one = _refused(slices, slicing, cell) or result.get(number)
            if one is None:
                one = NotEstimableError("no output of it was judged")
            if isinstance(one, Estimate):
                metrics = campaign.table.metrics if one.slope else ()
                few = _few(slices, slicing, number)
                one = replace(one, notes=(*about, *few, *one.notes), slice=name)
                one = one.named(system=system, prompt=prompt, metrics=metrics)
            own[name] = one
        found[system] = own
    return found


def slice_points(
    campaign: Campaign,
    slices: Slices,
    prompt: str,
    cells: Mapping[str, DrawnCell],
    *,
    options: Options,
    seed: int,
) -> list[dict[str, float]]:
    """Return the point estimates of the systems in `cells`, for each slice or for the mix."""
    slicings, judged = _cut(campaign, slices, prompt, cells)
    results = slice_means(judged, slicings, mix=slices.mix, options=options, seed=seed)
    parts = slices.names if slices.mix is None else (slices.mix_name,)
    return [
        {
            system: one.estimate if isinstance(one := result.get(number), Estimate) else np.nan
            for system, result in zip(cells, results, strict=True)
        }
        for number in range(len(parts))
    ]


def multiplicity(n: int, level: float) -> str:
    """Say how many intervals there are, and what makes all of them hold together.

    Examples
    --------
    >>> multiplicity(10, 0.95)
    '10 intervals, each at 95%: on average 0.5 of them miss; level 0.995 makes all hold together (Bonferroni)'
    """
    return (
        f"{n} intervals, each at {level:.0%}: on average {n * (1 - level):.2g} of them miss; level "
        f"{1 - (1 - level) / n:.4g} makes all hold together (Bonferroni)"
    )


def _cut(
    campaign: Campaign, slices: Slices, prompt: str, cells: Mapping[str, DrawnCell]
) -> tuple[list[Slicing], list[JudgedSystem]]:
    """Return how each system is cut, and what is known of it."""
    slicings = [
        slices.slicing(
            system,
            np.unique(campaign.table.of(prompt, system)["item"].to_numpy()),
            campaign.pools.get(system),
        )
        for system in cells
    ]
    return slicings, campaign.judged(prompt, cells)


def _simply_drawn(cell: DrawnCell) -> bool:
    """Whether outputs, or clusters of them, were drawn with equal probabilities."""
    return len(cell.draw.names) == 1 and cell.draw.probability is None


def _few(slices: Slices, slicing: Slicing, number: int) -> tuple[str, ...]:
    """Say that a slice, or one of a mix, has few judged outputs, if it has."""
    here = np.bincount(slicing.code, minlength=len(slices.names) + 1)
    mix = slices.mix
    counted = [number] if mix is None else [one for one, weight in enumerate(mix) if weight > 0]
    least = min(counted, key=lambda one: here[one])
    if here[least] >= _FEW_OUTPUTS:
        return ()
    note = (
        f"only {here[least]} judged outputs in slice {slices.names[least]!r}: the interval may be too "
        "short if scores take few values; judge more of it"
    )
    return (note,)


def _refused(slices: Slices, slicing: Slicing, cell: DrawnCell) -> NotEstimableError | None:
    """Return why a mix has no estimate, if one is asked for and there is none."""
    if slices.mix is None:
        return None
    here = np.bincount(slicing.code, minlength=len(slices.names) + 1)
    for name, weight, count in zip(slices.names, slices.mix, here, strict=False):
        if weight > 0 and count < 2:
            return NotEstimableError(
                f"a mix needs at least 2 judged outputs of each slice; {name!r} has {count}"
            )
    if cell.draw.cluster is None:
        return None
    return spanning_clusters(slices.column, cell.draw.cluster, slicing.code)


def spanning_clusters(
    column: str, clusters: NDArray[Any], numbers: NDArray[np.int64]
) -> NotEstimableError | None:
    """Return why a mix has no interval, if a cluster of outputs lies in slices of several numbers."""
    pairs = pl.DataFrame({"cluster": clusters, "slice": numbers}).unique()
    if not pairs["cluster"].is_duplicated().any():
        return None
    return NotEstimableError(
        f"a cluster has outputs in several slices of {column}, so that slices do not err independently "
        "and a mix of them has no interval: leave out the clusters, or the weights"
    )
