"""What answers are about: how the means of pools hang together with judgments and effects."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Campaign, Floats, Pools
from steelyard.model.effects import Columns, Effects, Kernel

__all__ = ["Targets", "targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """How f quantities hang together with means, effects and judgments, in the units of the scores.

    Attributes
    ----------
    means : (k, f) array
        The weight of each system's mean in each quantity.
    columns : tuple of (q, f) arrays
        The weight of each value of an effect's columns, by effect.
    these_raters : tuple of (q, f) arrays
        The same, where the quantities are about exactly these raters.
    kernels : tuple of (n, f) arrays or sparse arrays
        The covariance of each effect with kernels, of variance 1, with each judgment, by effect.
    pools : tuple of (f, f) arrays
        The covariance of the quantities by the same effects.
    """

    means: Floats
    columns: tuple[Floats, ...]
    these_raters: tuple[Floats, ...]
    kernels: tuple[Floats | csr_array, ...]
    pools: tuple[Floats, ...]

    @cached_property
    def all_columns(self) -> Floats:
        """The weights of all columns and means, about exactly these raters, (q + k, f)."""
        return np.concatenate([*self.these_raters, self.means])

    def through(self, forms: Floats) -> "Targets":
        """Return forms (g, f) of the quantities."""
        f = forms.T
        return Targets(
            self.means @ f,
            tuple(one @ f for one in self.columns),
            tuple(one @ f for one in self.these_raters),
            tuple(np.asarray(one @ f) for one in self.kernels),
            tuple(f.T @ one @ f for one in self.pools),
        )


def targets(effects: Effects, campaign: Campaign, scale: Floats) -> Targets:
    """Return how the means of all pools hang together with judgments and effects.

    Parameters
    ----------
    effects : Effects
        The effects of the campaign.
    campaign : Campaign
        The judgments.
    scale : (k,) array
        The spread of each system's judgments.
    """
    unit = np.exp(np.mean(np.log(scale)))
    columns = tuple(
        _of_columns(one, campaign) * (unit if one.of_scores else scale) for one in effects.columns
    )
    these = tuple(
        found if one.share is None else one.share * scale
        for found, one in zip(columns, effects.columns, strict=True)
    )
    size = campaign.pools.size
    kernels = tuple(_of_kernel(one, campaign) * (scale / size) for one in effects.kernels)
    both = np.outer(scale / size, scale / size)
    pools = tuple(both * _of_pools(one, campaign.pools) for one in effects.kernels)
    means = campaign.pools.sharing.T if campaign.other is None else np.eye(campaign.k)
    return Targets(means, columns, these, kernels, pools)


def _of_columns(effect: Columns, campaign: Campaign) -> Floats:
    """Return the weight of each value in the mean of each pool, (q, k)."""
    pools = campaign.pools
    if effect.axes is not None:
        return np.asarray(effect.axes @ (pools.metric - pools.sharing @ campaign.metric_centre).T)
    if effect.name in {"shared texts", "groups of writers"}:
        of_groups = (pools.shared - pools.sharing @ pools.shared).T
        return np.asarray(of_groups.sum(axis=0, keepdims=True) if effect.q == 1 else of_groups)
    if effect.name == "item":
        return np.asarray(campaign.in_pool[: effect.q] / pools.size)
    return np.zeros((effect.q, campaign.k))


def _of_kernel(effect: Kernel, campaign: Campaign) -> Floats | csr_array:
    """Return the sum of an effect's covariances of each judgment with the outputs of each pool, (n, k)."""
    output = campaign.output
    match effect.name:
        case "cluster" if campaign.cluster is not None and campaign.cluster_size is not None:
            return campaign.cluster_size[campaign.cluster[output]]
        case "item":
            return campaign.in_pool[campaign.item[output]].astype(np.float64)
        case "version items" if campaign.version is not None:
            # means are of today
            today = campaign.version == 0
            return np.where(today[:, np.newaxis], campaign.in_pool[campaign.item[output]], 0.0)
        case "text" if campaign.likeness is not None:
            return campaign.likeness[output]
        case "output":
            wrote = csr_array((campaign.writer_rows > 0) * 1.0)
            own = wrote[output]
            return csr_array(own if campaign.other is None else own - wrote[campaign.other])
        case _:
            return csr_array((campaign.n, campaign.k))


def _of_pools(effect: Kernel, pools: Pools) -> Floats:
    """Return the sum of an effect's covariances of the outputs of two pools, (k, k)."""
    match effect.name:
        case "cluster" if pools.clusters is not None:
            return pools.clusters
        case "item" | "version items":
            return pools.common
        case "text":
            return pools.common * pools.likeness
        case "output":
            return pools.identical
        case _:
            return np.zeros_like(pools.common)
