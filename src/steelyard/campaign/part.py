"""A part of the judgments of a campaign, as if nothing else had been collected."""

from dataclasses import replace

import numpy as np

from steelyard.model.campaign import Bools, Campaign, Ints

__all__ = ["part_of"]


def part_of(campaign: Campaign, chosen: Ints | Bools, copy: Ints | None = None) -> Campaign:
    """Return the campaign with some of its judgments; what was not judged in it is left out.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    chosen : (j,) array of int or (n,) array of bool
        The judgments to keep, in this order.
    copy : (j,) array of int, optional
        Where judgments are taken several times: copies of an item with other numbers are other items.
    """
    score, output = campaign.score[chosen], campaign.output[chosen]
    other = None if campaign.other is None else campaign.other[chosen]
    number = np.zeros(len(score), dtype=np.int64) if copy is None else copy
    copies = int(number.max(initial=0)) + 1
    sides = output if other is None else np.concatenate([output, other])
    twice = number if other is None else np.concatenate([number, number])
    key, place = np.unique(sides * copies + twice, return_inverse=True)
    kept, of_copy = key // copies, key % copies
    items, item = np.unique(campaign.item[kept] * copies + of_copy, return_inverse=True)
    found = replace(
        campaign,
        score=score,
        output=place[: len(score)],
        item=item,
        writers=campaign.writers[kept],
        metric=campaign.metric[kept],
        in_pool=campaign.in_pool[items // copies],
    )
    if other is not None:
        found = replace(found, other=place[len(score) :])
    if campaign.first is not None:
        found = replace(found, first=campaign.first[chosen])
    if campaign.version is not None:
        found = replace(found, version=campaign.version[chosen])
    if campaign.rater is not None:
        rater = np.unique(campaign.rater[chosen], return_inverse=True)[1]
        found = replace(found, rater=rater)
    if campaign.cluster is not None and campaign.cluster_size is not None:
        those = campaign.cluster[kept] * copies + of_copy
        clusters, cluster = np.unique(those, return_inverse=True)
        size = campaign.cluster_size[clusters // copies]
        found = replace(found, cluster=cluster, cluster_size=size)
    for name in ("likeness", "weight", "stratum"):
        value = getattr(campaign, name)
        if value is not None:
            found = replace(found, **{name: value[kept]})
    return found
