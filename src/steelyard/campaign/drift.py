"""Judgments that change while they come in or from version to version, and systems judged one after another."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import stdtrit

from steelyard.model.campaign import Floats
from steelyard.model.fit import Fit

__all__ = ["drift_notes", "version_notes"]

# Fewer judgments show no drift.
_FEWEST = 20
# A drift so many times its error is said.
_CLEAR = 3.0
# From this share of the variance of time between systems on, they were judged one after another.
_APART = 0.5
# A change from one version to the next that would come by chance less often is said.
_UNLIKELY = 0.05
# From this share of what makes items easy or hard on, it is said to be another one than in earlier versions.
_OTHER_ITEMS = 0.6
# Effects whose values the judgments alone decide; their variance, and the step by which others are moved.
_FREE, _WIDE, _STEP = ("version", "shared texts", "groups of writers"), 1e4, 1.1


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
    number = rows["time"].cast(pl.Float64, strict=False)
    moment = rows["time"] if number.null_count() else number
    time = moment.rank("average").to_numpy() / rows.height
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


def version_notes(fit: Fit, versions: Sequence[str]) -> tuple[str, ...]:
    """Say which judgments of earlier versions hold no longer; they count less as far as they do not.

    Parameters
    ----------
    fit : Fit
        The model.
    versions : sequence of str
        Names of the earlier versions.
    """
    notes = []
    for name, value, error, freedom in zip(versions, *_shifts(fit), strict=False):
        if abs(value) > -stdtrit(freedom, _UNLIKELY / 2 / len(versions)) * error:
            word = "higher" if value > 0 else "lower"
            notes.append(
                f"judgments of {name} no longer hold, and count less: they are {abs(value):.2g} {word} "
                f"than today's of the same outputs (standard error {error:.2g})"
            )
    variance = dict(zip(fit.system.effects.names, fit.variances.solution.theta, strict=True))
    now_only, lasting = variance.get("version items", 0.0), variance.get("item", 0.0)
    if now_only > _OTHER_ITEMS * (now_only + lasting):
        share = now_only / (now_only + lasting)
        notes.append(
            f"judgments of earlier versions no longer hold, and count less: {share:.0%} of what makes items "
            "easy or hard is not the same as then"
        )
    return tuple(notes)


def _shifts(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """Return how much higher the judgments of each version are than today's, the errors and their freedom.

    Neither shifts nor the levels of copied texts are drawn towards 0: the judgments alone decide. The errors are
    as sure as the variances that they are made of (Satterthwaite).
    """
    names = fit.system.effects.names
    if "version" not in names:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    own = fit.system.slices[names.index("version")]
    theta = fit.variances.solution.theta.copy()
    theta[np.isin(names, _FREE)] = _WIDE * theta.sum()

    def solved(theta: Floats) -> tuple[Floats, Floats]:
        at = fit.system.solve(theta)
        return at.values[own], np.diag(at.m_inverse)[own]

    value, square = solved(theta)
    moved = np.stack([solved(theta * np.where(one, _STEP, 1.0))[1] for one in np.eye(len(theta))])
    gradient = np.log(moved / square).T / np.log(_STEP)
    known = np.einsum("ve,ef,vf->v", gradient, fit.variances.covariance, gradient)
    freedom = np.maximum(2 / np.maximum(known, 2 / fit.campaign.n), 1.0)
    return fit.unit * value, fit.unit * np.sqrt(square), freedom


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
