"""Judgments that change while they come in, and systems that were judged one after another."""

import numpy as np
import polars as pl

from steelyard.model.campaign import Floats
from steelyard.model.fit import Fit

__all__ = ["drift_notes"]

# Fewer judgments show no drift.
_FEWEST = 20
# A drift so many times its error is said.
_CLEAR = 3.0
# From this share of the variance of time between systems on, they were judged one after another.
_APART = 0.5


def drift_notes(rows: pl.DataFrame, fit: Fit) -> tuple[str, ...]:
    """Say how much judgments fell or rose, and whether systems were judged one after another.

    Parameters
    ----------
    rows : polars.DataFrame
        The judgments, in the order of the model's; with their ``time``, or nothing is said.
    fit : Fit
        The model of the same judgments.

    Examples
    --------
    >>> drift_notes(pl.DataFrame({"score": [1.0, 2.0]}), None)
    ()
    """
    if "time" not in rows.columns or rows["time"].null_count() or rows.height < _FEWEST:
        return ()
    if rows["time"].n_unique() < _FEWEST or fit.campaign.other is not None:
        return ()
    time = rows["time"].rank("average").to_numpy() / rows.height
    own = fit.campaign.writers[fit.campaign.output]
    inside = time - _of_systems(time, own)
    notes = []
    within = float(np.mean(inside**2))
    apart = 1 - within / max(float(np.var(time)), 1e-300)
    left = fit.campaign.score - _of_systems(fit.campaign.score, own)
    slope, error = _slope(inside, left)
    if within > 0 and abs(slope) > _CLEAR * error > 0:
        word = "rose" if slope > 0 else "fell"
        notes.append(
            f"judgments of the same systems {word} by {abs(slope):.3g} (standard error {error:.2g}) from "
            "the first to the last: raters or outputs changed on the way, so an early look shows another "
            "mean than a late one"
        )
    if fit.campaign.k > 1 and apart > _APART:
        notes.append(
            f"systems were judged one after another ({apart:.0%} of the differences in time are between "
            "systems): what changes with time counts as a difference of systems, and no interval "
            "shows it; have them judged in mixed order"
        )
    return tuple(notes)


def _of_systems(value: Floats, own: Floats) -> Floats:
    """Return the mean of the system of each judgment."""
    mean = (own.T @ value) / np.maximum(own.sum(axis=0), 1e-300)
    return np.asarray(own @ mean)


def _slope(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the least-squares slope of y on x, both with mean 0, and its error."""
    square = max(float(x @ x), 1e-300)
    slope = float(x @ y) / square
    left = y - slope * x
    error = float(np.sqrt(np.sum((x * left) ** 2))) / square
    return slope, error
