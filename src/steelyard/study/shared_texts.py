"""Which outputs of a campaign's systems are identical."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.data import Outputs
from steelyard.estimate.differences import Shared
from steelyard.study.judged import JudgedTable, judged_arrays

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
    def of(cls, outputs: Outputs, names: Sequence[str], metrics: Sequence[str]) -> "SharedTexts":
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
        self, pairs: Sequence[tuple[int, int]], table: JudgedTable, prompt: str
    ) -> list[Shared]:
        """Return what the systems of each pair have in common, and which judged outputs differ."""
        judged = []
        for name in self.names:
            items = judged_arrays(table.of(prompt, name), ())[2]
            judged.append(np.array([self.items[item] for item in np.unique(items)], dtype=np.int64))
        return [self._of_pair(pair, judged) for pair in pairs]

    def _of_pair(self, pair: tuple[int, int], judged: Sequence[Integers]) -> Shared:
        a, b = self.codes[:, pair[0]], self.codes[:, pair[1]]
        if not ((a >= 0) == (b >= 0)).all():
            everything = [np.ones(len(judged[number]), dtype=bool) for number in pair]
            return Shared(0, 0, (everything[0], everything[1]))
        same = (a == b) & (a >= 0)
        differs = [~same[judged[number]] for number in pair]
        left = (a >= 0) & ~same
        metric = None
        if same.any() and left.any() and self.metrics.shape[2]:
            metric = (
                self.metrics[left, pair[0]].mean(axis=0),
                self.metrics[left, pair[1]].mean(axis=0),
            )
        return Shared(int((a >= 0).sum()), int(same.sum()), (differs[0], differs[1]), metric)


def _centred(values: Floats) -> Floats:
    """Return metrics (items, systems, p) around the mean of their system, 0 where one is missing."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    means = total / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values - means, 0.0)
