"""What is known of all outputs of all systems: sizes, moments of metrics, common items and shared texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.arrays import Bools, Floats, Ints
from steelyard.model.campaign import Pools, writer_key
from steelyard.tables import Outputs

__all__ = ["PoolRows", "moments"]

# Where texts have more groups of writers than this, the rarest are one group.
_MOST_GROUPS = 100


def moments(outputs: Outputs, metrics: Sequence[str], systems: Sequence[str]) -> Pools:
    """Return sizes and moments of the metrics of systems of which no text is shared, or known.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system, which is read in a stream.
    metrics : sequence of str
        Metrics; a missing value counts as the mean of its system.
    systems : sequence of str
        Systems.
    """
    size = np.array([outputs.sizes[one] for one in systems], dtype=np.int64)
    k, p = len(systems), len(metrics)
    found = outputs.pool_moments(metrics, gaps="fill") if metrics else {}
    mean = np.array([found[one].mean for one in systems]) if metrics else np.zeros((k, 0))
    covariance = (
        np.array([found[one].covariance for one in systems]) if metrics else np.zeros((k, 0, 0))
    )
    assert mean.shape == (k, p)
    return Pools.apart(size, mean, covariance, np.diag(size).astype(np.float64))


@dataclass(frozen=True, eq=False)
class PoolRows:
    """Every output of some systems, as numbers.

    Attributes
    ----------
    item, system, text, cluster : (r,) arrays of int
        The item, system, text and, if there are any, cluster of each output.
    """

    items: tuple[str, ...]
    item: Ints
    system: Ints
    text: Ints
    cluster: Ints | None
    k: int

    @classmethod
    def of(cls, rows: pl.DataFrame, text: Ints | None, systems: Sequence[str]) -> "PoolRows":
        """Number the rows of a pool.

        Parameters
        ----------
        rows : polars.DataFrame
            Item, system and, if there are clusters, ``#cluster`` of every output of these systems.
        text : (r,) array of int or None
            The number of each row's text; None where each has its own.
        systems : sequence of str
            The systems.
        """
        items = rows["item"].unique(maintain_order=True)
        item = rows["item"].replace_strict(items, np.arange(len(items)), return_dtype=pl.Int64)
        system = rows["system"].replace_strict(
            list(systems), np.arange(len(systems)), return_dtype=pl.Int64
        )
        cluster = None
        if "#cluster" in rows.columns:
            cluster = rows["#cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1
        codes = np.arange(rows.height, dtype=np.int64)
        if text is not None:
            codes = np.unique(text, return_inverse=True)[1].astype(np.int64)
        names = tuple(items)
        return cls(names, item.to_numpy(), system.to_numpy(), codes, cluster, len(systems))

    @cached_property
    def _by_item(self) -> csr_array:
        shape = (len(self.items), self.k)
        return csr_array((np.ones(len(self.item)), (self.item, self.system)), shape=shape)

    @cached_property
    def by_text(self) -> csr_array:
        """Which systems wrote each text."""
        shape = (int(self.text.max()) + 1, self.k)
        return csr_array((np.ones(len(self.text)), (self.text, self.system)), shape=shape)

    @cached_property
    def by_cluster(self) -> csr_array:
        """How many outputs of each system are in each cluster."""
        assert self.cluster is not None
        shape = (int(self.cluster.max()) + 1, self.k)
        return csr_array((np.ones(len(self.cluster)), (self.cluster, self.system)), shape=shape)

    def in_pool(self, items: Ints) -> NDArray[np.bool_]:
        """Whether each system has an output for each of these items."""
        return np.asarray(self._by_item[items].toarray() > 0)

    def _shared(self, texts: csr_array, several: Bools) -> tuple[Floats, Bools]:
        """Return how many texts of each system have each group of several writers, and the groups."""
        chosen = csr_array(texts[np.flatnonzero(several)])
        if not chosen.shape[0]:
            return np.zeros((self.k, 0)), np.zeros((0, self.k), dtype=np.bool_)
        key = np.add.reduceat(writer_key(self.k)[chosen.indices], chosen.indptr[:-1])
        names, first, group = np.unique(key, return_index=True, return_inverse=True)
        wrote = chosen[first].toarray() > 0
        if len(names) > _MOST_GROUPS:
            times = np.bincount(group)
            kept = times > np.sort(times)[-_MOST_GROUPS - 1]
            group = np.where(kept, np.cumsum(kept) - 1, kept.sum())[group]
            wrote = np.vstack([wrote[kept], np.zeros((1, self.k), dtype=np.bool_)])
        member = csr_array((np.ones(len(group)), (np.arange(len(group)), group)))
        return (chosen.T @ member).toarray(), wrote

    def completed(self, pools: Pools) -> Pools:
        """Return pools with common items, shared texts and clusters."""
        size = pools.size
        texts = self.by_text
        writers = np.asarray(texts.sum(axis=1)).ravel()
        transposed = csr_array(texts.T)
        of_writers = csr_array(texts.multiply(1 / writers[:, np.newaxis]))
        shared, wrote = self._shared(texts, writers > 1)
        clusters = None
        if self.cluster is not None:
            clusters = (self.by_cluster.T @ self.by_cluster).toarray()
        return replace(
            pools,
            common=(self._by_item.T @ self._by_item).toarray(),
            identical=(transposed @ texts).toarray(),
            sharing=(transposed @ of_writers).toarray() / size[:, np.newaxis],
            shared=shared / size[:, np.newaxis],
            wrote=wrote,
            clusters=clusters,
        )
