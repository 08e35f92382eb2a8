"""What a campaign knows of one system."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs, PoolMoments

__all__ = ["JudgedSystem"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JudgedSystem:
    """What a campaign knows of one system.

    Attributes
    ----------
    sample : JudgedOutputs
        Its judged outputs, without metrics.
    draw : Draw
        How they were drawn.
    metric : (n, p) array
        Metrics of the judged outputs; NaN where one is missing.
    items : (n,) array of int
        Number of each output's item in the whole campaign.
    raters : (M,) array of int or None
        Number of each judgment's rater in the whole campaign; None when raters are unknown.
    pool : PoolMoments or None
        Moments of the metrics over the system's pool, a missing value counting as the mean.
    clusters : (n,) array of int or None
        Number of each output's cluster in the whole campaign; None where items stand for themselves.
    """

    sample: JudgedOutputs
    draw: Draw
    metric: Floats
    items: Integers
    raters: Integers | None
    pool: PoolMoments | None
    clusters: Integers | None = None

    @property
    def units(self) -> Integers:
        """What errs independently: each output's cluster, or else its item."""
        return self.items if self.clusters is None else self.clusters
