"""What was collected under one prompt, as numbers: the one record that the model is fitted to."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.arrays import Bools, Floats, Ints

__all__ = ["Bools", "Campaign", "Floats", "Ints", "Pools"]


def writer_key(k: int) -> NDArray[np.uint64]:
    """Return a number for each system; their sum says which systems wrote a text."""
    return np.random.default_rng(0).integers(1, 2**63, k, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Pools:
    """What is known of all outputs of k systems, however many they are.

    Attributes
    ----------
    size : (k,) array
        Number of outputs.
    metric : (k, p) array
        Mean of each metric over the pool.
    covariance : (k, p, p) array
        Covariance of the metrics over the pool, divided by its size.
    common : (k, k) array
        Number of items that both pools hold; the diagonal is `size`.
    identical : (k, k) array
        Number of items for which both systems wrote the same text; the diagonal is `size`.
    sharing : (k, k) array
        Row s: over the pool of s, the mean share of each system in a text (each of j writers has
        1/j of it); the identity where no text is shared.
    shared : (k, g) array
        Share of a system's outputs that it wrote together with others, by the systems that wrote them.
    wrote : (g, k) array of bool
        Which systems wrote the texts of each such group; a row of none stands for all other groups.
    likeness : (k, k) array
        Mean over the common items of the likeness of the two systems' texts; the diagonal is 1.
    clusters : (k, k) array, optional
        Sum over clusters of the product of the two systems' numbers of outputs.
    """

    size: Ints
    metric: Floats
    covariance: Floats
    common: Floats
    identical: Floats
    sharing: Floats
    shared: Floats
    wrote: Bools
    likeness: Floats
    clusters: Floats | None = None

    @classmethod
    def apart(cls, size: Ints, metric: Floats, covariance: Floats, common: Floats) -> "Pools":
        """Return pools of which no text is shared, or known."""
        k = len(size)
        return cls(
            size=size,
            metric=metric,
            covariance=covariance,
            common=common,
            identical=np.diag(size).astype(np.float64),
            sharing=np.eye(k),
            shared=np.zeros((k, 0)),
            wrote=np.zeros((0, k), dtype=np.bool_),
            likeness=np.eye(k),
        )


@dataclass(frozen=True, eq=False)
class Campaign:
    """The judgments of k systems under one prompt, of m outputs of some items, by raters.

    An output is a text of an item. Systems that wrote the same text share it.

    Attributes
    ----------
    systems, metrics : tuple of str
        The names of the k systems and of the p metrics.
    score : (n,) array
        The score of each judgment; of a preference 1, 0 or -1 for a win, tie or loss of `output`.
    output : (n,) array of int
        The judged output of each judgment.
    item : (m,) array of int
        The item of each judged output.
    writers : (m, k) array
        The share of each system in each judged output: rows add up to 1.
    metric : (m, p) array
        Metrics of the judged outputs; a missing value is the mean of its pool.
    pools : Pools
        The pools that the judged outputs were drawn from.
    in_pool : (items, k) array of bool
        Whether a system has an output for the item.
    rater : (n,) array of int, optional
        The rater of each judgment, numbered over all prompts; None where nobody knows.
    other : (n,) array of int, optional
        Of preferences: the judged output that `output` was compared with.
    first : (n,) array, optional
        Of preferences: 1 where `output` was shown first, -1 where `other` was, 0 where not known.
    version : (n,) array of int, optional
        Where judgments of earlier versions are used: 0 for those of today, 1 and more for those of each
        earlier campaign. All means are of today.
    cluster : (m,) array of int, optional
        The cluster of each judged output, for example its document.
    cluster_size : (clusters, k) array, optional
        Number of outputs of each system in each judged cluster.
    likeness : (m, k) array, optional
        How alike the text of a judged output is to the text of each system for the same item, 0 to 1.
    weight : (m,) array, optional
        Where chances were unequal: how many outputs of the pool each judged output stands for.
    stratum : (m,) array of int, optional
        Where outputs were drawn by strata: the stratum of each.
    family : (k,) array of int, optional
        Where systems are parts of systems, such as slices: the system that each is a part of.
    bounds : (float, float), optional
        Least and greatest possible score, where they are known.
    notes : tuple of str
        What a reader must know of how this was read.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    score: Floats
    output: Ints
    item: Ints
    writers: Floats
    metric: Floats
    pools: Pools
    in_pool: Bools
    rater: Ints | None = None
    other: Ints | None = None
    first: Floats | None = None
    version: Ints | None = None
    cluster: Ints | None = None
    cluster_size: Floats | None = None
    likeness: Floats | None = None
    weight: Floats | None = None
    stratum: Ints | None = None
    family: Ints | None = None
    bounds: tuple[float, float] | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def n(self) -> int:
        """Number of judgments."""
        return len(self.score)

    @property
    def k(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @cached_property
    def writer_rows(self) -> csr_array:
        """`writers` without the systems that did not write an output, (m, k)."""
        return csr_array(self.writers)

    @cached_property
    def contrast(self) -> csr_array:
        """The weight of each system's mean in each judgment, (n, k)."""
        rows = self.writer_rows[self.output]
        return csr_array(rows if self.other is None else rows - self.writer_rows[self.other])

    @property
    def shared_group(self) -> Ints:
        """The group of `pools.wrote` of each judged output, (m,); -1 where one system alone wrote it."""
        several = np.flatnonzero(np.diff(self.writer_rows.indptr) > 1)
        found = np.full(len(self.item), -1)
        if len(several) and len(self.pools.wrote):
            key = writer_key(self.k)
            groups = self.pools.wrote @ key
            same = ((self.writers[several] > 0) @ key)[:, np.newaxis] == groups
            others = int(np.argmax(groups == 0)) if (groups == 0).any() else -1
            found[several] = np.where(same.any(axis=1), same.argmax(axis=1), others)
        return found

    @property
    def metric_centre(self) -> Floats:
        """What metrics of each system are centred at, (k, p), so that they add nothing over its pool.

        Of preferences, outputs that both systems wrote add nothing to begin with: the others decide.
        """
        pools = self.pools
        if self.other is None:
            return pools.metric
        return np.asarray(np.linalg.lstsq(pools.sharing, pools.metric, rcond=1e-6)[0])

    @property
    def scale_ends(self) -> tuple[float, float] | None:
        """Least and greatest possible score, where they are known: scores that are all 0 or 1 are shares."""
        if self.bounds is not None:
            return self.bounds
        return (0.0, 1.0) if bool(np.isin(self.score, (0.0, 1.0)).all()) else None

    @property
    def is_share(self) -> bool:
        """Whether each score is one of the two ends of the scale, so that variances follow from means."""
        ends = self.scale_ends if self.other is None else None
        return ends is not None and bool(np.isin(self.score, ends).all())
