"""The plain mean of judged outputs, whatever their draw."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.estimate.fit import Fit, named_method
from steelyard.estimate.intervals import check_options, ends
from steelyard.estimate.options import Options
from steelyard.estimate.result import Estimate
from steelyard.estimate.slope import plain_fit

__all__ = ["plain_mean"]

Floats = NDArray[np.float64]


def plain_mean(sample: JudgedOutputs, draw: Draw, *, options: Options) -> Estimate:
    """Return the mean of `sample` as it was drawn, whatever metrics it carries.

    The baseline of a sample that was stratified after the draw is the mean without strata.
    """
    check_options(draw, sample, options)
    bare = replace(sample, metric=np.empty((sample.n_outputs, 0)))
    fit = plain_fit(bare, draw)
    found = ends(fit, bare, draw, options=options)
    variance = found.variance
    form = "/hajek" if draw.probability is not None else ""
    estimate = Estimate(
        estimate=fit.estimate,
        standard_error=float(np.sqrt(variance.value)),
        low=found.low,
        high=found.high,
        level=options.level,
        target=options.target,
        raters=options.raters_as,
        method=f"{named_method(draw, 'mean')}{form}/{found.kind}",
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        pool_size=draw.pool_size,
        degrees_of_freedom=float(variance.degrees_of_freedom),
        notes=(*variance.notes, *_draw_notes(fit, draw), *_notes(sample, draw, options)),
    )
    if not draw.poststratified:
        return estimate
    whole = np.array([draw.size.sum()])
    simple = Draw(("all",), np.zeros_like(draw.stratum), whole, identified=draw.identified)
    return replace(estimate, baseline=plain_mean(sample, simple, options=options))


def _notes(sample: JudgedOutputs, draw: Draw, options: Options) -> tuple[str, ...]:
    if options.target == "census" and sample.n_outputs == draw.pool_size:
        return ("every output was judged, so the census mean is known exactly",)
    return ()


def _draw_notes(fit: Fit, draw: Draw) -> tuple[str, ...]:
    """Say what about the draw itself makes the interval doubtful."""
    if draw.probability is not None:
        return _unequal_notes(draw.probability, int(draw.size.sum()))
    if len(draw.names) == 1:
        return ()
    flat = (draw.total(fit.residual**2) == 0) & (draw.count > 1) & (draw.count < draw.size)
    if not flat.any():
        return ()
    first = int(np.flatnonzero(flat)[0])
    note = (
        f"the {draw.count[first]:g} judged outputs of stratum {draw.names[first]!r} show no spread, so it "
        f"adds nothing to the interval ({flat.sum()} such strata): judge more of its outputs"
    )
    return (note,)


def _unequal_notes(probability: Floats, pool_size: int) -> tuple[str, ...]:
    notes = []
    implied = float((1 / probability).sum())
    # Hajek's variance of that sum, which is zero for equal probabilities
    free = 1 - probability
    centre = float(free @ (1 / probability)) / max(float(free.sum()), 1e-300)
    error = float(np.sqrt(free @ (1 / probability - centre) ** 2))
    if abs(implied - pool_size) > 0.02 * pool_size + 4 * error:
        notes.append(
            f"the probabilities imply a pool of {implied:.0f} outputs, but it has {pool_size}"
        )
    parts = free / probability**2
    # The number of equal parts that would be as uneven as these.
    alike = float(parts.sum()) ** 2 / max(float(parts @ parts), 1e-300)
    if free.any() and alike < np.count_nonzero(free) / 4:
        notes.append(
            "a few outputs with small probabilities carry most of the variance, and the interval "
            "may be too short: draw with less uneven probabilities"
        )
    return tuple(notes)
