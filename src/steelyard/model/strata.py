"""Strata: outputs that were drawn apart are compared with those of their own stratum."""

import numpy as np

from steelyard.model.blocks import Blocks
from steelyard.model.campaign import Campaign, Floats

__all__ = ["within_strata"]


def within_strata(sums: Floats, campaign: Campaign, blocks: Blocks) -> tuple[Floats, Floats]:
    """Return sums over blocks around the means of their strata, and how many blocks each stratum has.

    A stratum with one block has nothing to be compared with but what the model expects, 0.

    Parameters
    ----------
    sums : (B, k) array
        Of each block.
    campaign : Campaign
        The judgments.
    blocks : Blocks
        Their blocks.
    """
    if campaign.stratum is None:
        return sums, np.full(len(sums), float(len(sums)))
    stratum = np.zeros(len(sums), dtype=np.int64)
    stratum[blocks.number] = campaign.stratum[campaign.output]
    members = np.bincount(stratum)
    mean = np.zeros((len(members), sums.shape[1]))
    np.add.at(mean, stratum, sums)
    mean /= np.maximum(members, 1)[:, np.newaxis]
    several = members[stratum] > 1
    off = sums - np.where(several[:, np.newaxis], mean[stratum], 0.0)
    return off, members[stratum].astype(np.float64)
