"""A part of the judgments of a campaign, as if nothing else had been collected."""

from dataclasses import replace

import numpy as np

from steelyard.model.campaign import Bools, Campaign, Ints

__all__ = ["part_of"]


def part_of(campaign: Campaign, chosen: Ints | Bools) -> Campaign:
    """Return the campaign with some of its judgments; what was not judged in it is left out.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    chosen : (j,) array of int or (n,) array of bool
        The judgments to keep, in this order; one that is named twice counts twice.
    """
    score, output = campaign.score[chosen], campaign.output[chosen]
    other = None if campaign.other is None else campaign.other[chosen]
    sides = output if other is None else np.concatenate([output, other])
    kept, number = np.unique(sides, return_inverse=True)
    items, item = np.unique(campaign.item[kept], return_inverse=True)
    found = replace(
        campaign,
        score=score,
        output=number[: len(score)],
        item=item,
        writers=campaign.writers[kept],
        metric=campaign.metric[kept],
        in_pool=campaign.in_pool[items],
    )
    if other is not None:
        found = replace(found, other=number[len(score) :])
    if campaign.first is not None:
        found = replace(found, first=campaign.first[chosen])
    if campaign.rater is not None:
        rater = np.unique(campaign.rater[chosen], return_inverse=True)[1]
        found = replace(found, rater=rater)
    if campaign.cluster is not None and campaign.cluster_size is not None:
        clusters, cluster = np.unique(campaign.cluster[kept], return_inverse=True)
        found = replace(found, cluster=cluster, cluster_size=campaign.cluster_size[clusters])
    if campaign.likeness is not None:
        found = replace(found, likeness=campaign.likeness[kept])
    if campaign.weight is not None:
        found = replace(found, weight=campaign.weight[kept])
    if campaign.stratum is not None:
        found = replace(found, stratum=campaign.stratum[kept])
    return found
