"""Scores in the order of the draw or of their arrival, as a rule that stops collection sees them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.campaign.draw_order import (
    check_distinct,
    check_drawn,
    draw_numbers,
    says_what_is_used,
)
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import Judgment
from steelyard.study.judged import judged_table
from steelyard.tables import Judgments, Outputs

__all__ = ["Arrived", "arrivals"]

Floats = NDArray[np.float64]

_CELL = ["prompt", "system"]
# No metric has such a name.
_POSITION, _NUMBER = "#position", "#number"
_Cell = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Arrived:
    """The scores of one system under one prompt, in order.

    Attributes
    ----------
    system, prompt : str
        Whose scores.
    items : tuple of str
        Whose outputs; with replacement one may be there several times.
    order : (n,) array
        Numbers in the draw; where it is not known, places in the order of arrival.
    human : (n,) array
        Scores.
    metric : (n, p) array
        Metrics of the outputs.
    notes : tuple of str
        What was left out, and why.
    """

    system: str
    prompt: str
    items: tuple[str, ...]
    order: NDArray[np.int64]
    human: Floats
    metric: Floats
    notes: tuple[str, ...]


def arrivals(
    outputs: Outputs,
    judgments: Judgments,
    metrics: Sequence[str],
    *,
    each: int,
    replacement: bool,
    sample: pl.DataFrame | None = None,
) -> Iterator[Arrived]:
    """Yield the scores of every prompt and system, in order of first appearance.

    Where the draw is recorded, its complete prefix in its order: outputs before whose turn one is
    missing have to wait, because what comes back early may score otherwise than the rest.

    Parameters
    ----------
    outputs, judgments
        The study.
    metrics : sequence of str
        Names of p metrics.
    each : int
        Judgments after which an output is complete; its score is their mean.
    replacement : bool
        Whether every judgment is a draw of its own.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry its column ``draw``.

    Raises
    ------
    InvalidArgumentError
        If `each` does not suit.
    InvalidDataError
        If the times or draw numbers cannot be read, or judged outputs are not in the pool.
    """
    if each < 1:
        raise InvalidArgumentError(f"`judgments_per_output` must be at least 1; got {each}")
    if replacement and each > 1:
        raise InvalidArgumentError(
            f"`judgments_per_output` must be 1 with replacement, where every judgment is a draw of "
            f"its own; got {each}"
        )
    rows = _ordered(judged_table(outputs, judgments, metrics).rows, judgments, sample)
    units, left = (rows, {}) if replacement else _units(rows, metrics, each)
    judged = set(rows.select(_CELL).unique().iter_rows())
    cells = units.partition_by(_CELL, as_dict=True)
    for prompt, system in product(judgments.prompts, judgments.systems):
        cell = prompt, system
        if cell in judged:
            own = cells.get(cell, units.clear())
            yield Arrived(
                system,
                prompt,
                tuple(own["item"]),
                own["draw" if "draw" in own.columns else _POSITION].to_numpy(),
                own["score"].to_numpy(),
                np.column_stack(
                    [np.empty((own.height, 0)), *(own[name].to_numpy() for name in metrics)]
                ),
                tuple(_notes({why: count[cell] for why, count in left.items()}, own.height, each)),
            )


def _ordered(rows: pl.DataFrame, judgments: Judgments, sample: pl.DataFrame | None) -> pl.DataFrame:
    """Return judgments in the order of collection, with what is known of their draw."""
    order = judgments.frame.select(
        *Judgment.key, *(["use"] if says_what_is_used(judgments) else [])
    ).with_columns(pl.Series(_POSITION, _positions(judgments), dtype=pl.Int64))
    numbers = draw_numbers(judgments, sample)
    if numbers is not None:
        check_drawn(judgments, numbers)
        order = order.with_columns(draw=numbers)
    return rows.join(order, on=Judgment.key).sort(_POSITION)


def _units(
    rows: pl.DataFrame, metrics: Sequence[str], each: int
) -> tuple[pl.DataFrame, dict[str, Counter[_Cell]]]:
    """Return one row an output, in order, and how many rows of each cell were left out, and why.

    The order is that of the draw if it is known, else of completion. All cells are dealt with at
    once, so that the work grows with the rows and not with rows times cells.
    """
    left = {}
    drawn = ["draw"] if "draw" in rows.columns else []
    says_use = bool(drawn) and "use" in rows.columns
    if says_use:
        rows, left["unused"] = _parted(rows, pl.col("use") == "used")
    numbered = rows.with_columns(pl.int_range(pl.len()).over(*_CELL, "item").alias(_NUMBER))
    first, left["late"] = _parted(numbered, pl.col(_NUMBER) < each)
    outputs = first.group_by(*_CELL, "item").agg(
        pl.col("score").mean(),
        pl.col(_POSITION).max(),
        pl.len().alias(_NUMBER),
        *(pl.col(name).first() for name in [*metrics, *drawn]),
    )
    units, left["waiting"] = _parted(outputs, pl.col(_NUMBER) == each)
    units = units.sort(*drawn, _POSITION)
    if drawn:
        check_distinct(units, [*_CELL, "draw"])
    if drawn and not says_use:
        turn = pl.int_range(1, pl.len() + 1).over(_CELL)
        units, left["ahead"] = _parted(units, pl.col("draw") == turn)
    return units, left


def _parted(rows: pl.DataFrame, kept: pl.Expr) -> tuple[pl.DataFrame, Counter[_Cell]]:
    """Return the rows that are kept, and the number of the others by cell."""
    others = rows.filter(~kept).group_by(_CELL).len().iter_rows()
    counts = Counter({(prompt, system): number for prompt, system, number in others})
    return rows.filter(kept), counts


def _notes(left: Mapping[str, int], ready: int, each: int) -> Iterator[str]:
    if unused := left.get("unused"):
        yield f"{unused} judgments are not used, as their column use says"
    if late := left.get("late"):
        rule = "the first judgment" if each == 1 else f"the first {each} judgments"
        yield (
            f"{late} judgments are not used: only {rule} of an output may count, so that no score "
            f"changes after it was looked at; set `judgments_per_output` before collecting"
        )
    if waiting := left.get("waiting"):
        yield f"{waiting} outputs wait for their {each} judgments"
    if ahead := left.get("ahead"):
        yield (
            f"{ahead} judged outputs wait for those drawn before them: the order is that of the "
            f"draw, and its number {ready + 1} is not complete"
        )


def _positions(judgments: Judgments) -> NDArray[np.int64]:
    """Return the rank of each judgment in the order of collection; ties keep their order."""
    frame = judgments.frame
    if "time" not in frame.columns or frame["time"].null_count() == frame.height:
        return np.arange(frame.height)
    moments = np.array([_moment(judgments, row, text) for row, text in enumerate(frame["time"])])
    positions = np.empty(frame.height, dtype=np.int64)
    positions[np.argsort(moments, kind="stable")] = np.arange(frame.height)
    return positions


def _moment(judgments: Judgments, row: int, text: str | None) -> float:
    """Return a time as seconds; a number is taken as it is, a date without a zone as UTC."""
    try:
        return float(text or "")
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError as error:
        raise InvalidDataError(
            f"{judgments.place(row)}, column time: expected a number or a date such as "
            f"2024-05-31T12:00:00, got {text!r}: fill it in, or leave out the column if the file "
            "is in the order of collection"
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
