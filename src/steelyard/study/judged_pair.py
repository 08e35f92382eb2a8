"""All judgments of two systems on the same items, as a population to draw comparisons from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import Shared
from steelyard.estimate.repeats import FEW_REPEATS
from steelyard.study.finished import repeated
from steelyard.study.judged import JudgedTable
from steelyard.tables import Outputs

__all__ = ["JudgedPair", "PairPool"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Side:
    """Judgments of one system's outputs: scores and raters, by output, which begin at `first`."""

    score: Floats
    rater: Integers
    first: Integers
    count: Integers

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "_Side":
        """Read rows that are sorted by position."""
        count = rows.group_by("position", maintain_order=True).len()["len"].to_numpy()
        count = count.astype(np.int64)
        return cls(
            rows["score"].to_numpy(),
            rows["code"].to_numpy().astype(np.int64),
            np.cumsum(count) - count,
            count,
        )

    @cached_property
    def mean(self) -> Floats:
        """Mean judgment of each output."""
        return np.add.reduceat(self.score, self.first) / self.count

    @property
    def within(self) -> tuple[float, int, int]:
        """Sum of squares within outputs, its degrees of freedom, and outputs judged again."""
        left = self.score - np.repeat(self.mean, self.count)
        return float(left @ left), int((self.count - 1).sum()), int((self.count > 1).sum())

    def one_each(self, outputs: Integers, rng: np.random.Generator) -> tuple[Floats, Integers]:
        """Return one judgment of each output, and who gave it."""
        chosen = self.first[outputs] + rng.integers(0, self.count[outputs])
        return self.score[chosen], self.rater[chosen]


@dataclass(frozen=True, eq=False)
class JudgedPair:
    """Two systems' judgments on the same items.

    Attributes
    ----------
    sides : (_Side, _Side)
        Judgments of items on which they differ, in the same order of items.
    same : _Side or None
        Judgments of items with identical outputs, by either; None if there are none.
    metric : (2, M, p) array
        Metrics of the judged items on which they differ.
    metric_same : (items, p) array
        Metrics of all items with identical outputs.
    items, differing : int
        Items of the pool, and those on which they differ.
    raters_known : bool
        Whether there are at least two raters.
    """

    sides: tuple[_Side, _Side]
    same: _Side | None
    metric: Floats
    metric_same: Floats
    items: int
    differing: int
    raters_known: bool

    @classmethod
    def of(
        cls, outputs: Outputs, table: JudgedTable, *, prompt: str, names: tuple[str, str]
    ) -> "JudgedPair":
        """Gather the judgments of both systems on items that were judged for both."""
        texts = ["output"] if outputs.has_texts else []
        pool = outputs.rows(columns=["item", "system", *texts, *table.metrics])
        pool = pool.filter(pl.col("system").is_in(names))
        equal = (pl.col("output").n_unique() == 1) if texts else pl.lit(value=False)
        known = pool.group_by("item", maintain_order=True).agg(
            both=pl.len() == 2, equal=(pl.len() == 2) & equal
        )
        known = known.filter("both")
        rows = table.rows.filter((pl.col("prompt") == prompt) & pl.col("system").is_in(names))
        rows = rows.with_columns(code=pl.col("rater").rank("dense") - 1).join(
            known, on="item", how="inner"
        )
        shared = rows.filter(pl.col("system").n_unique().over("item") == 2, ~pl.col("equal"))
        if shared["item"].n_unique() < 2:
            raise NotEstimableError(
                f"prompt {prompt!r}: a replay needs two items or more, on which the systems differ, that "
                f"were judged for both {names[0]!r} and {names[1]!r}; got {shared['item'].n_unique()}"
            )
        shared = shared.with_columns(position=pl.col("item").rank("dense")).sort("position")
        sides = [_Side.of(shared.filter(pl.col("system") == name)) for name in names]
        same = rows.filter("equal").with_columns(position=pl.col("item").rank("dense"))
        metric = [
            _metrics(shared.filter(pl.col("system") == name), table.metrics)[side.first]
            for name, side in zip(names, sides, strict=True)
        ]
        alike = pool.filter(pl.col("system") == names[0]).join(
            known.filter("equal"), on="item", how="semi"
        )
        return cls(
            (sides[0], sides[1]),
            _Side.of(same.sort("position")) if same.height else None,
            np.stack(metric),
            _metrics(alike, table.metrics),
            known.height,
            known.height - alike.height,
            table.raters(prompt) > 1,
        )

    @property
    def share(self) -> float:
        """Share of items on which the two differ."""
        return self.differing / self.items

    @cached_property
    def difference(self) -> float:
        """The difference of all judgments, over all items."""
        a, b = self.sides
        return self.share * float((a.mean - b.mean).mean())

    @cached_property
    def doubt(self) -> float:
        """How far rater noise may put the truth from it; 0 where noise is unknown.

        A judgment drawn varies about its output's mean by 1 - 1/m of the rater variance, and those
        means vary by 1/m of it over the pool. The truth makes up for the part that a finite pool
        of means lacks.
        """
        squares, freedom, again = (
            sum(parts) for parts in zip(*(one.within for one in self.sides), strict=True)
        )
        if again < FEW_REPEATS:
            return 0.0
        heard = sum(float(np.mean(1 / one.count)) for one in self.sides)
        return self.share * float(np.sqrt(squares / freedom * heard / self.differing))

    def pool(self, rng: np.random.Generator) -> "PairPool":
        """Return a pool of the real size: every judged item as often as needed."""
        judged = len(self.sides[0].count)
        return PairPool(self, repeated(judged, self.differing, rng))


@dataclass(frozen=True, eq=False)
class PairPool:
    """A pool of the real size made of judged items: `chosen` (D,) are those that differ."""

    judged_pair: JudgedPair
    chosen: Integers

    @property
    def shift(self) -> float:
        """By how much the pool's difference is off that of all judgments."""
        a, b = self.judged_pair.sides
        found = self.judged_pair.share * float((a.mean - b.mean)[self.chosen].mean())
        return found - self.judged_pair.difference

    @property
    def plain_share(self) -> float:
        """What plain means are scaled by: the share that differs, if the rest was not judged."""
        return self.judged_pair.share if self.judged_pair.same is None else 1.0

    def judged(self, n: int, rng: np.random.Generator) -> tuple[list[JudgedSystem], Shared]:
        """Draw n items for both, with one judgment of each output."""
        pair, drawn = self.judged_pair, rng.permutation(self.chosen)[:n]
        systems, gaps = [], []
        for number, side in enumerate(pair.sides):
            score, rater = side.one_each(drawn, rng)
            sample = judged_outputs(
                score, None, np.arange(n), raters=rater if pair.raters_known else None
            )
            metric = pair.metric[number]
            whole = np.concatenate([metric[self.chosen], pair.metric_same])
            pool = PoolMoments.of(whole) if whole.shape[1] else None
            gaps.append(metric[self.chosen].mean(axis=0) - whole.mean(axis=0))
            systems.append(
                JudgedSystem(
                    sample=sample,
                    draw=simple_draw(sample, None),
                    metric=metric[drawn],
                    items=np.arange(n),
                    raters=rater if pair.raters_known else None,
                    pool=pool,
                )
            )
        everything = np.ones(n, dtype=bool)
        identical = pair.items - pair.differing
        means = (gaps[0], gaps[1]) if identical and pair.metric.shape[2] else None
        return systems, Shared(pair.items, identical, (everything, everything), means)

    def scores(self, number: int, n: int, rng: np.random.Generator) -> Floats:
        """Draw n items of one system, identical outputs included, with one judgment of each."""
        pair, same = self.judged_pair, self.judged_pair.same
        if same is None:
            return pair.sides[number].one_each(rng.permutation(self.chosen)[:n], rng)[0]
        alike = repeated(len(same.count), pair.items - pair.differing, rng)
        drawn = rng.permutation(pair.items)[:n]
        differ = drawn[drawn < pair.differing]
        left = pair.sides[number].one_each(self.chosen[differ], rng)[0]
        equal = same.one_each(alike[drawn[drawn >= pair.differing] - pair.differing], rng)[0]
        return np.concatenate([left, equal])


def _metrics(rows: pl.DataFrame, metrics: Sequence[str]) -> Floats:
    """Return metrics (n, p), a missing one at the mean of the others."""
    values = np.empty((rows.height, len(metrics)))
    for number, name in enumerate(metrics):
        column = rows[name].cast(pl.Float64).fill_nan(None)
        mean = column.mean()
        values[:, number] = column.fill_null(mean if isinstance(mean, float) else 0.0).to_numpy()
    return values
