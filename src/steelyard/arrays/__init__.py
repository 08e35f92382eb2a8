"""Validated arrays: the judged outputs, the pool's metric, and resampling of outputs."""

from steelyard.arrays.judged import JudgedOutputs, judged_outputs
from steelyard.arrays.pool import Pool, PoolArray, PoolMoments, as_pool
from steelyard.arrays.resampling import resampled_sums

__all__ = [
    "JudgedOutputs",
    "Pool",
    "PoolArray",
    "PoolMoments",
    "as_pool",
    "judged_outputs",
    "resampled_sums",
]
