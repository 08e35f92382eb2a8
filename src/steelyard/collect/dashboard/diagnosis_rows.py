"""What the dashboard shows of metrics and raters under one prompt."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.errors import NotEstimableError
from steelyard.study import Study
from steelyard.tables import Outputs, read_judgments

__all__ = ["diagnosis_rows"]


def diagnosis_rows(
    outputs: Outputs, used: pl.DataFrame, metrics: Sequence[str], *, prompt: str, level: float
) -> dict[str, Any]:
    """Return how much raters disagree, what holds back, and numbers with intervals.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    used : polars.DataFrame
        Judgments; those under other prompts are left out.
    metrics : sequence of str
        Metrics to look at.
    prompt : str
        The prompt.
    level : float
        Confidence level.

    Raises
    ------
    NotEstimableError
        If hardly any output has a second judgment.
    """
    judgments = read_judgments(used.filter(pl.col("prompt") == prompt))
    [found] = Study(outputs, judgments).diagnose(metrics, level=level)
    if not found.noise_share.is_known:
        raise NotEstimableError("hardly any output has a second judgment")
    quantities = {
        "raters' share of the variance": found.noise_share,
        "Krippendorff's alpha": found.agreement,
        **{f"correlation of {one.metric}": one.correlation for one in found.judges},
        **{f"worth of {one.metric}": one.worth for one in found.judges},
    }
    return {
        "noise_share": found.noise_share.value,
        "verdict": found.holds_back,
        "rows": [
            {
                "name": name,
                "value": _number(one.value),
                "low": _number(one.low),
                "high": _number(one.high),
            }
            for name, one in quantities.items()
        ],
    }


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
