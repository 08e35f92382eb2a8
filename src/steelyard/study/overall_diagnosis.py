"""Variance components and correlations under one prompt, over all systems."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from steelyard.study.cell_diagnosis import diagnose
from steelyard.study.diagnosis import Diagnosis
from steelyard.study.judged import judged_table
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.within_systems import systems_of
from steelyard.tables import Outputs, read_judgments

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
    """Diagnose raters and metrics under one prompt, over all judged systems but within each.

    Means of systems are taken off scores and metrics, so that what comes out is what counts for the
    mean of one system.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    used : polars.DataFrame
        Judgments; those under other prompts are left out.
    metrics : sequence of str
        Metrics to look at. Systems go without those that they lack.
    prompt : str
        The prompt.
    level, resamples, seed
        Of the bootstrap intervals.

    Returns
    -------
    Diagnosis
        Of system ``*``, or of the one system that was judged.

    Raises
    ------
    NotEstimableError
        If outputs were not drawn simply at random, no output has two judgments, or all are equal.
    """
    names = tuple(metrics)
    judgments = read_judgments(used.filter(pl.col("prompt") == prompt))
    check_simply_drawn(judgments, None, None)
    gaps = outputs.metric_gaps(names) if names else {}
    table = judged_table(outputs, judgments, names, gaps=bool(gaps))
    pools = outputs.pool_moments(names, gaps="keep" if gaps else "refuse") if names else {}
    first, *others = table.systems
    return diagnose(
        table.all_systems(prompt) if others else table.cell(prompt, first),
        names,
        None if others else pools.get(first),
        systems=systems_of(table, prompt) if others else None,
        gaps=gaps,
        level=level,
        resamples=resamples,
        rng=np.random.default_rng(seed),
    )
