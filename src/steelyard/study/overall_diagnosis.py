"""Variance components and correlations under one prompt, over all systems."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
import polars as pl

from steelyard.arrays import PoolMoments
from steelyard.data import Outputs, read_judgments
from steelyard.study.diagnosis import Diagnosis, diagnose
from steelyard.study.judged import judged_table

__all__ = ["overall_diagnosis"]


def overall_diagnosis(
    outputs: Outputs,
    used: pl.DataFrame,
    metrics: Sequence[str],
    *,
    prompt: str,
    level: float = 0.95,
    resamples: int = 200,
    seed: int = 0,
) -> Diagnosis:
    """Diagnose raters and metrics under one prompt, with all judged systems as one pool.

    Parameters
    ----------
    outputs, used, metrics
        As in `standings`.
    prompt : str
        The prompt.
    level, resamples, seed
        Of the bootstrap intervals.

    Returns
    -------
    Diagnosis

    Raises
    ------
    NotEstimableError
        If no output has two judgments, or all are equal.
    """
    names = tuple(metrics)
    judgments = read_judgments(used.filter(pl.col("prompt") == prompt))
    table = judged_table(outputs, judgments, names)
    pools = outputs.pool_moments(names) if names else {}
    parts = [pools[system] for system in table.systems if names]
    return diagnose(
        table.all_systems(prompt),
        names,
        reduce(PoolMoments.merge, parts) if parts else None,
        level=level,
        resamples=resamples,
        rng=np.random.default_rng(seed),
    )
