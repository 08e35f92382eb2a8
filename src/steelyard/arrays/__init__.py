"""Validated arrays: the judged outputs, their draw, the pool's metric, and resampling of outputs."""

from steelyard.arrays.draw import (
    Draw,
    clustered,
    simple_draw,
    spread_draw,
    stratified_draw,
    unequal_draw,
)
from steelyard.arrays.drawn_outputs import drawn_outputs
from steelyard.arrays.judged import JudgedOutputs, judged_outputs
from steelyard.arrays.pool import Pool, PoolArray, PoolMoments, as_pool
from steelyard.arrays.resampling import resampled_sums

__all__ = [
    "Draw",
    "JudgedOutputs",
    "Pool",
    "PoolArray",
    "PoolMoments",
    "as_pool",
    "clustered",
    "drawn_outputs",
    "judged_outputs",
    "resampled_sums",
    "simple_draw",
    "spread_draw",
    "stratified_draw",
    "unequal_draw",
]
