"""Which outputs of a campaign's systems are identical."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.estimate.differences import Shared
from steelyard.study.judged import JudgedTable, judged_arrays
from steelyard.tables import Outputs

__all__ = ["SharedTexts"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SharedTexts:
    """A code for each item's text by each system, -1 where there is none, and all metrics.

    Metrics, (items, systems, p), are around the mean of their system's pool, 0 where one is missing.
    """

    items: dict[str, int]
    codes: Integers
    metrics: Floats
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        outputs: Outputs,
        names: Sequence[str],
        metrics: Sequence[str],
    ) -> "SharedTexts":
        """Read the texts and metrics of the systems in `names`."""
        texts = ["output"] if outputs.has_texts else []
        chosen = list(metrics)
        rows = outputs.rows(columns=["item", "system", *texts, *chosen])
        rows = rows.filter(pl.col("system").is_in(list(names)))
        items = {
            item: number for number, item in enumerate(rows["item"].unique(maintain_order=True))
        }
        number = {name: position for position, name in enumerate(names)}
        key = ["item", *(texts or ["system"])]
        text = rows.select(pl.struct(key).rank("dense")).to_series().to_numpy()
        codes = np.full((len(items), len(names)), -1, dtype=np.int64)
        item = [items[item] for item in rows["item"]]
        system = [number[system] for system in rows["system"]]
        codes[item, system] = text
        values = np.full((*codes.shape, len(chosen)), np.nan)
        if chosen:
            values[item, system] = rows.select(pl.col(chosen).cast(pl.Float64)).to_numpy()
        return cls(items, codes, _centred(values), tuple(names))

    def all_identical(self, a: str, b: str) -> bool:
        """Return whether two systems have the same items and the same text for each."""
        one, other = (self.codes[:, self.names.index(name)] for name in (a, b))
        return bool((one == other).all() and (one >= 0).any())

    def shared(
        self,
        pairs: Sequence[tuple[int, int]],
        table: JudgedTable,
        prompt: str,
    ) -> list[Shared]:
        """Return what the systems of each pair have in common, and which judged outputs differ.

        Parameters
        ----------
        pairs : sequence of (int, int)
            The pairs, by number of the system.
        table : JudgedTable
            All judgments.
        prompt : str
            The prompt.
        """
        judged = []
        for name in self.names:
            items = judged_arrays(table.of(prompt, name), ())[2]
            judged.append(np.array([self.items[item] for item in np.unique(items)], dtype=np.int64))
        return [self._of_pair(pair, judged) for pair in pairs]

    def _of_pair(self, pair: tuple[int, int], judged: Sequence[Integers]) -> Shared:
        inside = [self.codes[:, one] >= 0 for one in pair]
        sizes = float(inside[0].sum()), float(inside[1].sum())
        kept = [inside[place][judged[one]] for place, one in enumerate(pair)]
        if not (inside[0] == inside[1]).all():
            return Shared(0, 0, (kept[0], kept[1]), None, sizes, 0)
        same = (self.codes[:, pair[0]] == self.codes[:, pair[1]]) & inside[0]
        differs = [own & ~same[judged[one]] for own, one in zip(kept, pair, strict=True)]
        metric = None
        if same.any():
            left = inside[0] & ~same
            metric = self._metric(pair, [left, left])
        items = int(inside[0].sum())
        return Shared(items, int(same.sum()), (differs[0], differs[1]), metric, sizes, 0)

    def _metric(
        self, pair: tuple[int, int], chosen: Sequence[NDArray[np.bool_]]
    ) -> tuple[Floats, Floats] | None:
        """Return either's mean metrics over the chosen outputs; None where there are none."""
        if not self.metrics.shape[2] or not all(one.any() for one in chosen):
            return None
        means = [
            self.metrics[rows, one].mean(axis=0) for rows, one in zip(chosen, pair, strict=True)
        ]
        return means[0], means[1]


def _centred(values: Floats) -> Floats:
    """Return metrics (items, systems, p) around the mean of their system, 0 where one is missing."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    means = total / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values - means, 0.0)
