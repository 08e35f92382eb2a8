"""What scores show of the judgments: some that are not missing by chance, and rare scores that decide a mean."""

import numpy as np
import polars as pl
from scipy.special import ndtr

from steelyard.model.campaign import Campaign, Floats

__all__ = ["absence_notes", "rare_scores_note"]

# Of campaigns whose judgments are missing by chance, at most this share gets a note.
_FALSE_ALARMS = 0.01
# Items with and without a judgment of a system that a comparison of the two needs.
_FEWEST_ITEMS = 8
# Larger tables of items and systems are not looked through.
_LARGEST = 20_000_000
# Outputs that hold half of the variation are rare if they are at most this share, of so many outputs or more.
_RARE, _FEWEST_OUTPUTS = 0.01, 50
# So many of them in the judged outputs of a system show its mean.
_ENOUGH = 5


def absence_notes(campaign: Campaign) -> dict[str, str]:
    """Say of which systems the items without a judgment have other scores than those with one.

    Where the other systems score lower, or higher, on the items for which a system was not judged, its
    judgments are not missing by chance (Wilcoxon's rank sum).

    Parameters
    ----------
    campaign : Campaign
        Judgments of scores.

    Returns
    -------
    dict
        A note by system.
    """
    items = int(campaign.item.max()) + 1
    if campaign.k < 2 or items * campaign.k > _LARGEST:
        return {}
    scores = _by_item(campaign, items)
    known = np.isfinite(scores)
    centre = np.nansum(scores, axis=0) / np.maximum(known.sum(axis=0), 1)
    off = np.where(known, scores - centre, 0.0)
    total, count = off.sum(axis=1), known.sum(axis=1)
    notes = {}
    for place, system in enumerate(campaign.systems):
        beside = count - known[:, place]
        there = (beside > 0) & campaign.in_pool[:, place]
        others = (total - off[:, place])[there] / beside[there]
        judged = known[there, place]
        if min(judged.sum(), (~judged).sum()) < _FEWEST_ITEMS:
            continue
        if _rank_sum(others, judged) < _FALSE_ALARMS / campaign.k:
            way = "lower" if others[~judged].mean() < others[judged].mean() else "higher"
            notes[system] = (
                f"on {int((~judged).sum())} items it was not judged, and there the other systems score {way} than "
                "where it was: its judgments are not missing by chance, so neither its mean nor its "
                "differences hold: have these items judged too"
            )
    return notes


def _by_item(campaign: Campaign, items: int) -> Floats:
    """Return the mean score of each system on each item, NaN where it was not judged."""
    row, system = campaign.contrast.nonzero()
    cell = campaign.item[campaign.output[row]] * campaign.k + system
    size = items * campaign.k
    count = np.bincount(cell, minlength=size)
    total = np.bincount(cell, campaign.score[row], minlength=size)
    mean = np.full(size, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean.reshape(items, campaign.k)


def _rank_sum(values: Floats, judged: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float:
    """Return Wilcoxon's two-sided p-value of no difference between two groups, with ties."""
    n, m = int(judged.sum()), int((~judged).sum())
    ranks = pl.Series(values).rank("average").to_numpy()
    variance = n * m / (n + m) * ranks.var(ddof=1)
    if variance == 0:
        return 1.0
    z = (ranks[judged].sum() - n * (n + m + 1) / 2) / np.sqrt(variance)
    return float(2 * ndtr(-abs(z)))


def rare_scores_note(campaign: Campaign) -> str | None:
    """Say so where a few outputs with rare scores decide the means, and there are too few of them to know.

    Parameters
    ----------
    campaign : Campaign
        Judgments of scores.
    """
    times = np.bincount(campaign.output, minlength=len(campaign.item))
    outputs = len(campaign.item)
    if outputs < _FEWEST_OUTPUTS:
        return None
    mean = np.bincount(campaign.output, campaign.score, minlength=outputs) / np.maximum(times, 1)
    wrote = campaign.writer_rows > 0
    centre = (wrote.T @ mean) / np.maximum(wrote.sum(axis=0), 1)
    squares = np.sort(np.square(mean - campaign.writer_rows @ centre))[::-1]
    share = np.cumsum(squares) / max(squares.sum(), 1e-300)
    half = int(np.searchsorted(share, 0.5)) + 1
    if squares[0] == 0 or half > max(1, _RARE * outputs):
        return None
    # others of this size are as rare
    rare = int((squares >= squares[half - 1] / 4).sum())
    fewest = int(wrote.sum(axis=0).min())
    expected = fewest * rare / outputs
    if expected >= _ENOUGH:
        return None
    return (
        f"{rare} of {outputs} judged outputs hold {share[rare - 1]:.0%} of all variation in scores: such rare scores "
        f"decide a mean, and {fewest} judged outputs hold about {expected:.2g} of them, so that it cannot be "
        f"known from so few: judge {_ENOUGH * outputs / rare:,.0f} outputs of a system, or look for the rare ones"
    )
