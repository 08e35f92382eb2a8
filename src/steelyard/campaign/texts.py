"""Texts of outputs: which are real, which are the same, and how alike two of them are.

Likeness is the cosine of two texts' counts of character 4-grams, hashed into a fixed number of signed
buckets (Weinberger et al. 2009), so that no metric and no vocabulary is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import Floats, Ints

__all__ = ["Likeness", "is_text", "text_codes"]


# The same text on more items than this, and on more than this share of them, is a placeholder.
_SAME, _SAME_SHARE = 4, 0.02
_GRAM, _BUCKETS = 4, 512
# Odd numbers for multiplicative hashing (Knuth 1998, section 6.4).
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_PLACEHOLDERS = ("n/a", "na", "nan", "none", "null", "-", "--", "...", "[empty]", "[none]")


def is_text(rows: pl.DataFrame) -> pl.Series:
    """Return whether each output is a text that can be the same as another system's.

    Blank texts, words for "nothing", the name of the item, and placeholders, which stand on many items,
    are like no other text.

    Parameters
    ----------
    rows : polars.DataFrame
        Columns item, system and output of a whole pool.
    """
    text = pl.col("output").cast(pl.String, strict=False).str.strip_chars()
    items = rows["item"].n_unique()
    on_items = pl.col("item").n_unique().over("text")
    return (
        rows.with_columns(text=text)
        .select(
            pl.col("text").is_not_null()
            & (pl.col("text").str.len_chars() > 0)
            & ~pl.col("text").str.to_lowercase().is_in(_PLACEHOLDERS)
            & (pl.col("text") != pl.col("item"))
            & ~((on_items > _SAME) & (on_items > _SAME_SHARE * items))
        )
        .to_series()
        .fill_null(value=False)
    )


def text_codes(rows: pl.DataFrame) -> Ints:
    """Return a number for each text of each item; outputs without a real text have one of their own.

    Parameters
    ----------
    rows : polars.DataFrame
        Columns item, system and, if texts are known, output.
    """
    if "output" not in rows.columns:
        return np.arange(rows.height, dtype=np.int64)
    own = (
        pl.when(rows["output"].is_not_null() & is_text(rows)).then(None).otherwise(pl.col("system"))
    )
    key = pl.struct("item", text=pl.when(own.is_null()).then("output"), own=own)
    code = rows.select(key.rank("dense")).to_series().to_numpy()
    return np.asarray(code.astype(np.int64) - 1)


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike the texts of the judged items are.

    Attributes
    ----------
    to_systems : (m, k) array
        Of each judged output's text to the text of each system for the item; 0 where there is none.
    between_systems : (k, k) array
        The mean over items that both systems have; the diagonal is 1.
    """

    to_systems: Floats
    between_systems: Floats

    @classmethod
    def of(
        cls, texts: Sequence[str | None], item: Ints, system: Ints, k: int, judged: Ints
    ) -> "Likeness":
        """Compare all texts of the judged items.

        Parameters
        ----------
        texts : sequence of str or None
            The texts of all systems for the judged items; None where there is no real text.
        item, system : (r,) arrays of int
            Whose they are.
        k : int
            Number of systems.
        judged : (m,) array of int
            The row of each judged output.
        """
        vectors = _vectors(texts)
        place = np.full((int(item.max()) + 1, k), -1, dtype=np.int64)
        place[item, system] = np.arange(len(item))
        found = np.zeros((len(judged), k))
        beside = place[item[judged]]
        there = beside >= 0
        rows, columns = np.nonzero(there)
        found[rows, columns] = np.einsum(
            "rb,rb->r", vectors[judged[rows]], vectors[beside[rows, columns]]
        )
        found = np.clip(found, 0.0, 1.0)
        found[np.arange(len(judged)), system[judged]] = 1.0
        return cls(found, _between(vectors, place, k))


def _between(vectors: NDArray[np.float32], place: Ints, k: int) -> Floats:
    """Return the mean likeness of each pair of systems over the items that both have."""
    total, count = np.zeros((k, k)), np.zeros((k, k))
    for start in range(0, len(place), 256):
        rows = place[start : start + 256]
        there = (rows >= 0).astype(np.float64)
        block = vectors[np.maximum(rows, 0)] * there[..., np.newaxis].astype(np.float32)
        total += np.clip(block @ block.transpose(0, 2, 1), 0.0, 1.0).sum(axis=0)
        count += there.T @ there
    mean = total / np.maximum(count, 1)
    np.fill_diagonal(mean, 1.0)
    return mean


def _vectors(texts: Sequence[str | None]) -> NDArray[np.float32]:
    """Return the hashed counts of each text's 4-grams, as unit vectors; zeros for no text."""
    found = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    step = 2_000
    for start in range(0, len(texts), step):
        part = [" ".join((one or "").lower().split()) for one in texts[start : start + step]]
        # a short text is padded, so that it has a 4-gram
        part = [f" {one}".ljust(_GRAM) if one else "" for one in part]
        length = np.array([len(one) for one in part])
        letters = np.frombuffer("".join(part).encode("utf-32-le"), dtype=np.uint32).astype(
            np.uint64
        )
        if len(letters) < _GRAM:
            continue
        grams = np.zeros(len(letters) - _GRAM + 1, dtype=np.uint64)
        for place in range(_GRAM):
            grams = grams * _FACTOR + letters[place : len(letters) - _GRAM + 1 + place]
        grams = (grams ^ (grams >> np.uint64(29))) * _MIX
        owner = np.repeat(np.arange(len(part)), length)
        whole = owner[: len(grams)] == owner[_GRAM - 1 :]
        bucket = (grams >> np.uint64(40)).astype(np.int64) % _BUCKETS
        sign = np.where((grams >> np.uint64(20)) & np.uint64(1), 1.0, -1.0)
        cell = owner[: len(grams)][whole] * _BUCKETS + bucket[whole]
        counts = np.bincount(cell, sign[whole], minlength=len(part) * _BUCKETS)
        found[start : start + step] = counts.reshape(len(part), _BUCKETS)
    norm = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.maximum(norm, 1e-30), dtype=np.float32)
