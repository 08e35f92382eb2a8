"""Whether outputs were drawn simply at random, which most commands take for granted."""

from collections.abc import Sequence

import polars as pl

from steelyard.data import Judgments
from steelyard.errors import NotEstimableError
from steelyard.study.drawn_estimates import is_designed

__all__ = ["check_simply_drawn"]


def check_simply_drawn(
    judgments: Judgments,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    *,
    sample: pl.DataFrame | None = None,
) -> None:
    """Raise if outputs were drawn by strata, in pairs or with unequal probabilities.

    Parameters
    ----------
    judgments : Judgments
        The judgments.
    prompts, systems : sequence of str, optional
        Which of them are asked about; all by default.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry what the draw recorded.

    Raises
    ------
    NotEstimableError
        If the draw, as it was recorded, was not a simple one.
    InvalidDataError
        If a judged output was not drawn, as far as a draw was recorded.
    """
    for column, names in (("prompt", prompts), ("system", systems)):
        if names is not None:
            judgments = judgments.filter(pl.col(column).is_in(list(names)))
    if sample is not None:
        sample = sample.filter(pl.col("system").is_in(list(judgments.systems)))
    if not is_designed(judgments, sample):
        return
    recorded = judgments.frame if sample is None else sample
    if "design" in recorded.columns and (recorded["design"] == "paired").any():
        raise NotEstimableError(
            f"{judgments.name}: the outputs are of a paired draw, which holds only items on which "
            "two systems differ and tells nothing of either alone: draw a simple sample for that"
        )
    raise NotEstimableError(
        f"{judgments.name}: outputs were drawn by strata or with unequal probabilities, and this "
        "needs a simple random sample: use `steelyard estimate`, which weights them as they were "
        "drawn, or draw a simple sample"
    )
