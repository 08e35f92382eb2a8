"""All judgments of a finished campaign's systems on the same items, as a population to draw races from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study.finished import repeated
from steelyard.study.judged import judged_table
from steelyard.study.shared_texts import SharedTexts

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["JudgedRace", "RacePools"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RacePools:
    """Pools in the order of the draw: the judged item in each place (R, N), one judgment of each text (R, N, K), and codes of texts alike."""

    order: Integers
    scores: Floats
    codes: Integers


@dataclass(frozen=True, eq=False)
class JudgedRace:
    """The items that were judged for all of K systems, which stand for a pool of N items.

    Attributes
    ----------
    names : tuple of str
        The systems.
    score : array
        Judgments of all texts, one text after the other.
    first, count : (M, K) array
        Where the judgments of each output's text begin, and how many there are.
    codes : (M, K) array
        Number of each text among those of its item; equal where systems wrote the same.
    metrics : (M, K, p) array
        Metrics of the outputs, around the mean of their system.
    chosen : (N,) array
        The judged item that stands for each of the pool.
    """

    names: tuple[str, ...]
    score: Floats
    first: Integers
    count: Integers
    codes: Integers
    metrics: Floats
    chosen: Integers

    @classmethod
    def of(
        cls,
        study: "Study",
        prompt: str,
        names: tuple[str, ...],
        rng: np.random.Generator,
        metrics: Sequence[str] = (),
    ) -> "JudgedRace":
        """Gather the judgments of items that were judged for all systems."""
        if len(names) < 2:
            raise InvalidArgumentError(
                f"`systems` must be at least two that are judged under prompt {prompt!r}; got "
                f"{', '.join(names)}"
            )
        texts = SharedTexts.of(study.outputs, names, metrics)
        number = {name: place for place, name in enumerate(names)}
        rows = judged_table(study.outputs, study.judgments, ()).rows
        rows = rows.filter((pl.col("prompt") == prompt) & pl.col("system").is_in(names))
        item = np.array([texts.items[one] for one in rows["item"]], dtype=np.int64)
        system = np.array([number[one] for one in rows["system"]], dtype=np.int64)
        code = texts.codes[item, system]
        order = np.argsort(code, kind="stable")
        known, start, counts = np.unique(code[order], return_index=True, return_counts=True)
        place = np.searchsorted(known, texts.codes)
        heard = known[np.minimum(place, len(known) - 1)] == texts.codes
        judged = np.flatnonzero((heard & (texts.codes >= 0)).all(axis=1))
        if len(judged) < 2:
            raise NotEstimableError(
                f"prompt {prompt!r}: the replay of a race needs two items or more that were judged for all of "
                f"{', '.join(names)}; got {len(judged)}"
            )
        place = place[judged]
        size = int((texts.codes >= 0).all(axis=1).sum())
        return cls(
            names,
            rows["score"].to_numpy().astype(np.float64)[order],
            start[place],
            counts[place],
            place,
            texts.metrics[judged],
            repeated(len(judged), size, rng),
        )

    @property
    def judged(self) -> int:
        """Items that were judged for all systems."""
        return len(self.codes)

    @property
    def size(self) -> int:
        """Items of the pool."""
        return len(self.chosen)

    @property
    def means(self) -> Floats:
        """Mean of each system over the pool, by all judgments."""
        sums = np.concatenate([[0.0], np.cumsum(self.score)])
        means = (sums[self.first + self.count] - sums[self.first]) / self.count
        return np.asarray(means[self.chosen].mean(axis=0))

    @property
    def differing(self) -> Integers:
        """Items of the pool on which two systems differ, (K, K)."""
        codes = self.codes[self.chosen]
        return np.asarray((codes[:, :, np.newaxis] != codes[:, np.newaxis, :]).sum(axis=0))

    def pools(self, runs: int, rng: np.random.Generator) -> RacePools:
        """Return pools in random orders, with one judgment drawn of each text."""
        order = rng.permuted(np.tile(self.chosen, (runs, 1)), axis=1)
        codes, count = self.codes[order], self.count[order]
        # Systems that wrote the same text share its judgment: the number of the first of them.
        same = codes[..., :, np.newaxis] == codes[..., np.newaxis, :]
        drawn = np.take_along_axis(rng.random(codes.shape), same.argmax(axis=-1), axis=-1)
        scores = self.score[self.first[order] + (drawn * count).astype(np.int64)]
        return RacePools(order, scores, codes)
