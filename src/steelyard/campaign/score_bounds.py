"""Whether every score lies within the bounds that were given for it."""

import math
from collections.abc import Sequence

import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.tables import Judgments

__all__ = ["check_bounds"]

# Of the range of scores: what rounding may take a score beyond its bounds.
_SLACK = 1e-9


def check_bounds(
    judgments: Judgments,
    bounds: tuple[float, float] | None,
    *,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> None:
    """Raise if a score lies outside `bounds`.

    Parameters
    ----------
    judgments : Judgments
        The judgments.
    bounds : (float, float) or None
        Least and greatest possible score; None when they are not known.
    prompts, systems : sequence of str, optional
        Which of the judgments are asked about; all by default.

    Raises
    ------
    InvalidArgumentError
        If one does; the message names the first and how many there are. If `bounds` are none.

    Examples
    --------
    >>> from steelyard.tables import read_judgments
    >>> judged = {"item": [1, 2], "system": "s", "rater": "r", "prompt": "p", "score": [1, 7]}
    >>> check_bounds(read_judgments(pl.DataFrame(judged)), (0, 7))
    """
    if bounds is None:
        return
    least, greatest = bounds
    if not -math.inf < least < greatest < math.inf:
        raise InvalidArgumentError(
            f"`bounds` must be two finite numbers, the lower first; got {bounds}"
        )
    slack = _SLACK * (greatest - least)
    for column, names in (("prompt", prompts), ("system", systems)):
        if names is not None:
            judgments = judgments.filter(pl.col(column).is_in(list(names)))
    outside = judgments.filter(
        (pl.col("score") < least - slack) | (pl.col("score") > greatest + slack)
    )
    if not len(outside):
        return
    item, system, score = outside.frame.select("item", "system", "score").row(0)
    raise InvalidArgumentError(
        f"{outside.place(0)}: score {score:g} of item {item!r} of system {system!r} lies outside "
        f"`bounds` [{least:g}, {greatest:g}], as do {len(outside):,} of {len(judgments):,} "
        "judgments in all: pass the least and greatest possible score, or mend the scores"
    )
