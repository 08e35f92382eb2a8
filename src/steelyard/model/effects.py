"""What a judgment is made of: effects, each with a name, a covariance and a prior share of the variance.

y_j = mu_s + c_s (x'beta + x'delta_s + item + text + output + rater + taste + noise)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from steelyard.model.blocks import Blocks, Groups
from steelyard.model.campaign import Campaign, Floats, Ints

__all__ = ["PRIOR", "Columns", "Effects", "Kernel", "effects"]

# Prior share of each effect in the variance within systems, and its standard deviation on the log scale.
PRIOR = {
    "metrics": (0.03, 2.0),
    "own slopes": (0.02, 1.0),
    "shared texts": (0.3, 1.5),
    "groups of writers": (0.1, 1.5),
    "cluster": (0.1, 1.5),
    "item": (0.2, 1.5),
    "text": (0.1, 1.5),
    "output": (0.3, 1.5),
    "rater": (0.05, 2.0),
    "taste": (0.03, 2.0),
    "version": (0.02, 2.0),
    "version slopes": (0.02, 2.0),
    "version items": (0.03, 2.5),
    "order": (0.05, 1.5),
    "departure": (0.05, 1.5),
    "noise": (0.4, 1.5),
}
# Directions of the metrics along which a system may have a slope of its own.
_OWN_AXES = 3
# An effect of raters has at most so many columns, of those who judged most; the others' is noise. Fewer
# where systems are many, which have few judgments by each rater.
_MOST_COLUMNS, _FEWEST_COLUMNS = 1000, 100
# Where items have more judgments than this they are columns, and outputs are the blocks.
_LARGEST_BLOCK = 200


@dataclass(frozen=True, eq=False)
class Columns:
    """An effect with independent values of one variance.

    Attributes
    ----------
    name : str
        The effect.
    design : (n, q) array or sparse array
        The weight of each value in each judgment.
    axes : (q, p) array, optional
        Of metrics: the weight of each metric in each value.
    share : (q, k) array, optional
        Of raters: the share of each value in all judgments of a system.
    of_scores : bool
        Whether values are in the units of the scores, not in those of a system's spread.
    """

    name: str
    design: Floats | csr_array
    axes: Floats | None = None
    share: Floats | None = None
    of_scores: bool = False

    @property
    def q(self) -> int:
        """Number of values."""
        return int(self.design.shape[1])


@dataclass(frozen=True, eq=False)
class Kernel:
    """An effect that is correlated only within blocks of judgments.

    Attributes
    ----------
    name : str
        The effect.
    covariance : function
        Its covariance, for variance 1, of pairs of judgments within blocks.
    groups : Groups, optional
        The judgments that share a value, where the effect has one value for each group of them.
    """

    name: str
    covariance: Callable[[Ints, Ints], Floats]
    groups: Groups | None = None

    @classmethod
    def of_groups(cls, name: str, label: Ints) -> "Kernel":
        """Return the effect of values that judgments with the same label share."""
        return cls(name, lambda a, b: 1.0 * (label[a] == label[b]), Groups(label))


@dataclass(frozen=True, eq=False)
class Effects:
    """All effects that the judgments of a campaign can show, noise last."""

    blocks: Blocks
    columns: tuple[Columns, ...]
    kernels: tuple[Kernel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the effects."""
        return (*(one.name for one in self.columns), *(one.name for one in self.kernels))


def effects(campaign: Campaign, *, without: frozenset[str] = frozenset()) -> Effects:
    """Return the effects of a campaign.

    Parameters
    ----------
    campaign : Campaign
        The judgments.
    without : set of str
        Effects to leave out.
    """
    item = campaign.item[campaign.output]
    label = _block_labels(campaign, item)
    blocks = Blocks.of(label)
    columns = [*_metrics(campaign), *_raters(campaign), *_preferences(campaign)]
    columns += _versions(campaign, columns)
    if campaign.other is None and _shows_items(campaign) and label is campaign.output:
        columns.append(_items(campaign, item))
    kernels = _kernels(campaign, outputs_only=label is campaign.output)
    return Effects(
        blocks,
        tuple(one for one in columns if one.name not in without and one.q),
        tuple(one for one in kernels if one.name not in without),
    )


def _block_labels(campaign: Campaign, item: Ints) -> Ints:
    """Return the smallest blocks that hold items or clusters whole, or outputs where these are too large."""
    if campaign.cluster is not None:
        return campaign.cluster[campaign.output]
    return item if np.bincount(item).max() <= _LARGEST_BLOCK else campaign.output


def _shows_items(campaign: Campaign) -> bool:
    """Whether some item was judged for two outputs."""
    judged = np.unique(campaign.output)
    return len(np.unique(campaign.item[judged])) < len(judged)


def _shows_likeness(campaign: Campaign) -> bool:
    """Whether some judged text is like the text of a system that did not write it."""
    if campaign.likeness is None:
        return False
    return bool(np.any((campaign.likeness > 0) & (campaign.writers == 0)))


def _metrics(campaign: Campaign) -> list[Columns]:
    """Metrics around the means of their pools, slopes of each system, and whether a text is shared."""
    found = []
    pools = campaign.pools
    width = np.sqrt(np.einsum("kpp->kp", pools.covariance).mean(axis=0))
    known = width > 1e-9 * (np.abs(pools.metric).max(axis=0, initial=0.0) + 1e-300)
    centred = (campaign.metric - campaign.writer_rows @ campaign.metric_centre)[:, known]
    centred = centred / width[known]
    x = _of_judgments(campaign, centred)
    if known.any() and np.abs(x).max(initial=0.0) > 0:
        share = np.sqrt(known.sum())
        left, values, axes = np.linalg.svd(x / share, full_matrices=False)
        kept = values > 1e-7 * values[0]
        common = left[:, kept] * values[kept]
        of_metrics = np.zeros((int(kept.sum()), campaign.metric.shape[1]))
        of_metrics[:, known] = axes[kept] / width[known] / share
        found.append(Columns("metrics", common, axes=of_metrics))
        own = common[:, :_OWN_AXES]
        if 1 < campaign.k <= _MOST_COLUMNS / _OWN_AXES:
            parts = [campaign.contrast.multiply(axis[:, np.newaxis]) for axis in own.T]
            slopes = csr_array(hstack(parts))
            found.append(Columns("own slopes", slopes))
    group = campaign.shared_group
    if (group >= 0).any() and campaign.other is None:
        member = group[:, np.newaxis] == np.arange(len(pools.wrote))
        column = (member - campaign.writer_rows @ pools.shared)[campaign.output]
        # a text has one level, whatever the spreads of its writers are
        together = column.sum(axis=1, keepdims=True)
        found.append(Columns("shared texts", together, of_scores=True))
        if column.shape[1] > 1:
            found.append(Columns("groups of writers", column, of_scores=True))
    return found


def _of_judgments(campaign: Campaign, of_outputs: Floats) -> Floats:
    """Return what judgments see of a value of outputs: the value, or the difference of the two."""
    values = of_outputs[campaign.output]
    return values if campaign.other is None else values - of_outputs[campaign.other]


def _raters(campaign: Campaign) -> list[Columns]:
    """Leniency of each rater, and each rater's taste for each system."""
    if campaign.rater is None:
        return []
    k, found = campaign.k, []
    share = np.bincount(campaign.rater) / campaign.n
    contrast = campaign.contrast.tocoo()
    if campaign.other is None:
        column, number = _frequent(campaign.rater, _MOST_COLUMNS)
        rows = np.flatnonzero(column >= 0)
        q = len(number)
        if 0 < q < campaign.n and len(np.unique(campaign.rater)) > 1:
            design = csr_array((np.ones(len(rows)), (rows, column[rows])), shape=(campaign.n, q))
            these = np.repeat(share[number][:, np.newaxis], k, axis=1)
            found.append(Columns("rater", design, share=these))
    family = np.arange(k) if campaign.family is None else campaign.family
    families = int(family.max()) + 1
    if families < 2:
        return found
    cell = campaign.rater[contrast.row] * families + family[contrast.col]
    column, number = _frequent(cell, max(_MOST_COLUMNS - k, _FEWEST_COLUMNS))
    kept = column >= 0
    q = len(number)
    if q > families and len(np.unique(campaign.rater)) > 1:
        at = (contrast.row[kept], column[kept])
        design = csr_array((contrast.data[kept], at), shape=(campaign.n, q))
        own = (number % families)[:, np.newaxis] == family
        these = own * share[number // families][:, np.newaxis]
        # leniency cancels between two outputs: what raters differ by is all taste
        name = "taste" if campaign.other is None else "rater"
        found.append(Columns(name, design, share=these))
    return found


def _frequent(label: Ints, most: int) -> tuple[Ints, Ints]:
    """Number the labels that occur twice or more, -1 for others; only the most frequent where they are too many."""
    names, code, count = np.unique(label, return_inverse=True, return_counts=True)
    least = 2
    if (count >= least).sum() > most:
        least = int(np.sort(count)[-most - 1]) + 1
    kept = count >= least
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return number[code], names[kept]


def _preferences(campaign: Campaign) -> list[Columns]:
    """Being shown first, and what a pair of systems departs from one common scale."""
    if campaign.other is None:
        return []
    k, n, found = campaign.k, campaign.n, []
    if campaign.first is not None and np.any(campaign.first):
        found.append(Columns("order", campaign.first[:, np.newaxis]))
    contrast = campaign.contrast.toarray()
    high, low = contrast.argmax(axis=1), contrast.argmin(axis=1)
    pair = np.minimum(high, low) * k + np.maximum(high, low)
    names, code = np.unique(pair, return_inverse=True)
    if len(names) >= k > 2:
        sign = np.where(high < low, 1.0, -1.0)
        design = csr_array((sign, (np.arange(n), code)), shape=(n, len(names)))
        found.append(Columns("departure", design))
    return found


def _versions(campaign: Campaign, known: list[Columns]) -> list[Columns]:
    """By how much judgments of earlier versions were higher than today's, and how metrics went with them then."""
    version = campaign.version
    if version is None or campaign.other is not None:
        return []
    then = (version[:, np.newaxis] == np.arange(1, version.max() + 1)).astype(np.float64)
    found = [Columns("version", then, of_scores=True)]
    for one in known:
        if one.name == "metrics":
            own = one.design[:, :_OWN_AXES]
            slopes = np.concatenate([then * axis[:, np.newaxis] for axis in own.T], axis=1)
            found.append(Columns("version slopes", slopes))
    return found


def _version_items(campaign: Campaign, version: Ints) -> list[Kernel]:
    """What makes an item easy or hard in one version only, where items were judged in several."""
    item = campaign.item[campaign.output]
    names, both = np.unique(item * (version.max() + 1) + version, return_inverse=True)
    if len(names) == len(np.unique(item)):
        return []
    return [Kernel.of_groups("version items", both)]


def _items(campaign: Campaign, item: Ints) -> Columns:
    return Columns("item", csr_array((np.ones(campaign.n), (np.arange(campaign.n), item))))


def _kernels(campaign: Campaign, *, outputs_only: bool) -> list[Kernel]:
    """Effects of clusters, items, texts and outputs, and noise."""
    found = []
    output, item = campaign.output, campaign.item[campaign.output]
    if campaign.other is None:
        if campaign.cluster is not None:
            found.append(Kernel.of_groups("cluster", campaign.cluster[output]))
        if _shows_items(campaign) and not outputs_only:
            found.append(Kernel.of_groups("item", item))
            if campaign.version is not None:
                found += _version_items(campaign, campaign.version)
            if _shows_likeness(campaign):
                assert campaign.likeness is not None
                likeness = campaign.likeness[output]
                writer = campaign.writers[output].argmax(axis=1)

                def alike(a: Ints, b: Ints) -> Floats:
                    value = np.sqrt(likeness[a, writer[b]] * likeness[b, writer[a]])
                    return np.where(item[a] == item[b], value, 0.0)

                found.append(Kernel("text", alike))
    if len(np.unique(output)) < campaign.n:
        if campaign.other is None:
            found.append(Kernel.of_groups("output", output))
        else:
            other = campaign.other

            def tied(a: Ints, b: Ints) -> Floats:
                found = 1.0 * (output[a] == output[b]) + (other[a] == other[b])
                return np.asarray(found - (output[a] == other[b]) - (other[a] == output[b]))

            found.append(Kernel("output", tied))
    found.append(Kernel("noise", lambda a, b: 1.0 * (a == b)))
    return found
