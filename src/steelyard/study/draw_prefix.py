"""Which judgments of a collection under way may enter an estimate: those of the draw's prefix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from steelyard.campaign.draw_order import check_distinct
from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["Prefix", "Use", "draw_prefixes", "with_use"]

Use = Literal["used", "excluded", "surplus", "replacing", "ahead", "incomplete"]

_COLUMNS = ("submission", "item", "system", "prompt", "score", "time", "draw", "excluded")
_OUTPUT = ["system", "item"]


@dataclass(frozen=True)
class Prefix:
    """How far the draw of one system is judged without a gap.

    Attributes
    ----------
    system : str
        Whose outputs.
    complete : int
        Outputs of the prefix with all their judgments: those that enter the estimate.
    reach : int
        Length of the prefix: every output with a draw number up to this was judged as often as
        wanted, or waits only for the replacement of an excluded judgment.
    replacing : int
        Outputs of the prefix that wait for a replacement.
    ahead : int
        Outputs beyond the prefix that are complete already.
    incomplete : int
        Outputs that are judged, but not often enough yet.
    surplus : int
        Submissions of outputs that had enough already.
    """

    system: str
    complete: int
    reach: int
    replacing: int
    ahead: int
    incomplete: int
    surplus: int


def with_use(rows: pl.DataFrame, *, each: int) -> pl.DataFrame:
    r"""Say of every judgment whether it enters an estimate, and if not, why.

    The outputs of a system were put in random order by the draw. They come back in another order,
    which may go with their scores: what is easy to judge is back first. So only the prefix counts:
    with :math:`m_d` the judgments of the output with draw number :math:`d`, the outputs
    :math:`1, \dots, K` where :math:`K` is the greatest number such that
    :math:`m_1, \dots, m_K \ge m`.

    Parameters
    ----------
    rows : polars.DataFrame
        One row a judgment: ``submission`` (what a rater sent at once), ``item``, ``system``,
        ``prompt``, ``score``, ``time`` (sortable), ``draw`` (from 1, without gaps in the whole
        draw of a system) and ``excluded`` (bool).
    each : int
        Judgments m after which an output is complete; where the rows have a column ``wanted``, it
        says so for each output. Where they have a column ``turn``, it takes the part of ``draw``:
        outputs that nobody is going to judge are not counted in it, so that they hold up nothing.

    Returns
    -------
    polars.DataFrame
        The rows, with a column ``use``: "used"; "excluded"; "surplus", after the first m;
        "replacing", of an output that waits for the replacement of an excluded judgment only;
        "incomplete", of an output with fewer than m; "ahead", of a complete output whose
        predecessors in the draw are not complete.

    Raises
    ------
    InvalidArgumentError
        If `each` is less than 1.
    InvalidDataError
        If a column is missing or two outputs of a system have one draw number.

    Notes
    -----
    Without exclusions the prefix depends on times but not on scores of outputs outside of it, and
    the outputs in it are the first K of a random order: at every K a simple random sample of the
    pool. An output that waits for a replacement is passed over, and takes its place when it is
    complete again; see the page on collecting for when that is sound.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "submission": [1, 2, 3], "item": ["a", "b", "d"], "system": "s", "prompt": "p",
    ...     "score": [1.0, 0.0, 1.0], "time": [5, 3, 4], "draw": [1, 2, 4], "excluded": False,
    ... })
    >>> with_use(rows, each=1)["use"].to_list()
    ['used', 'used', 'ahead']
    """
    _check(rows, each)
    outputs = _outputs(rows, each)
    number = (
        rows.select(*_OUTPUT, "submission", "time", "excluded")
        .unique([*_OUTPUT, "submission"])
        .filter(~pl.col("excluded"))
        .sort("time", "submission")
        .with_columns(number=pl.int_range(pl.len()).over(_OUTPUT))
        .select(*_OUTPUT, "submission", "number")
    )
    # Without the other columns, whose names are anybody's.
    joined = (
        rows.select(*_OUTPUT, "submission", "excluded")
        .join(number, on=[*_OUTPUT, "submission"], how="left", maintain_order="left")
        .join(outputs, on=_OUTPUT, how="left", maintain_order="left")
    )
    use = (
        pl.when(pl.col("excluded"))
        .then(pl.lit("excluded"))
        .when(~pl.col("judged"))
        .then(pl.lit("incomplete"))
        .when(~pl.col("complete"))
        .then(pl.lit("replacing"))
        .when(pl.col("number") >= pl.col("wanted"))
        .then(pl.lit("surplus"))
        .when(~pl.col("inside"))
        .then(pl.lit("ahead"))
        .otherwise(pl.lit("used"))
    )
    return rows.with_columns(joined.select(use.alias("use")).to_series())


def draw_prefixes(rows: pl.DataFrame, *, each: int) -> Mapping[str, Prefix]:
    """Count how far each system's draw is judged.

    Parameters
    ----------
    rows, each
        As in `with_use`.

    Returns
    -------
    dict of str to Prefix
        By system, in order of first appearance.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "submission": [1, 2, 3], "item": ["a", "b", "d"], "system": "s", "prompt": "p",
    ...     "score": [1.0, 0.0, 1.0], "time": [5, 3, 4], "draw": [1, 2, 4],
    ...     "excluded": [False, True, False],
    ... })
    >>> draw_prefixes(rows, each=1)["s"]
    Prefix(system='s', complete=1, reach=2, replacing=1, ahead=1, incomplete=0, surplus=0)
    """
    _check(rows, each)
    inside, complete = pl.col("inside"), pl.col("complete")
    counts = (
        _outputs(rows, each)
        .group_by("system")
        .agg(
            complete=(complete & inside).sum(),
            reach=inside.sum(),
            replacing=(inside & ~complete).sum(),
            ahead=(complete & ~inside).sum(),
            incomplete=(~pl.col("judged")).sum(),
            surplus=(pl.col("kept") - pl.col("wanted")).clip(0).sum(),
        )
    )
    found = {row["system"]: Prefix(**row) for row in counts.iter_rows(named=True)}
    return {system: found[system] for system in rows["system"].unique(maintain_order=True)}


def _outputs(rows: pl.DataFrame, each: int) -> pl.DataFrame:
    """Return one row an output: how often it was judged, and whether the prefix contains it."""
    known = "wanted" in rows.columns
    wanted = pl.col("wanted") if known else pl.lit(each, dtype=pl.Int64).alias("wanted")
    turn = pl.col("turn" if "turn" in rows.columns else "draw")
    outputs = (
        rows.select(*_OUTPUT, "submission", "draw", turn.alias("turn"), "excluded", wanted)
        .unique([*_OUTPUT, "submission"])
        .group_by(_OUTPUT)
        .agg(
            pl.col("draw", "turn").first(),
            pl.col("wanted").max(),
            pl.len().alias("count"),
            (~pl.col("excluded")).sum().cast(pl.Int64).alias("kept"),
        )
        .sort("system", "draw")
        .with_columns(
            judged=pl.col("count") >= pl.col("wanted"),
            complete=pl.col("kept") >= pl.col("wanted"),
        )
    )
    check_distinct(outputs, ["system", "draw"])
    # Draw numbers are distinct and start at 1, so the prefix ends where rank and number part.
    rank = pl.int_range(1, pl.len() + 1).over("system")
    prefix = outputs.filter("judged").filter(pl.col("turn") == rank).select(_OUTPUT)
    inside = prefix.with_columns(inside=pl.lit(value=True))
    return outputs.join(inside, on=_OUTPUT, how="left").with_columns(
        pl.col("inside").fill_null(value=False)
    )


def _check(rows: pl.DataFrame, each: int) -> None:
    if each < 1:
        raise InvalidArgumentError(f"`each` must be at least 1; got {each}")
    for column in _COLUMNS:
        if column not in rows.columns:
            raise InvalidDataError(f"the judgments have no column `{column}`")
