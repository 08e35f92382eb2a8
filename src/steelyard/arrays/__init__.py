"""The draw of judged outputs as data, for the estimates that know strata and unequal chances."""

from steelyard.arrays.draw import (
    Draw,
    clustered,
    simple_draw,
    spread_draw,
    stratified_draw,
    unequal_draw,
)
from steelyard.arrays.drawn_outputs import drawn_outputs
from steelyard.single.judged import JudgedOutputs, judged_outputs
from steelyard.single.pool import Pool, PoolArray, PoolMoments, as_pool

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
    "simple_draw",
    "spread_draw",
    "stratified_draw",
    "unequal_draw",
]
