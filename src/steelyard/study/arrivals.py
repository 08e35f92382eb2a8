"""Scores in the order of the draw or of their arrival, as a rule that stops collection sees them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.data import Judgments, Outputs
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import Judgment
from steelyard.study.draw_order import (
    check_distinct,
    check_drawn,
    draw_numbers,
    says_what_is_used,
)
from steelyard.study.judged import judged_table

__all__ = ["Arrived", "arrivals"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Arrived:
    """The scores of one system under one prompt, in order.

    Attributes
    ----------
    system, prompt : str
        Whose scores.
    human : (n,) array
        Scores.
    metric : (n, p) array
        Metrics of the outputs.
    notes : tuple of str
        What was left out, and why.
    """

    system: str
    prompt: str
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
    for prompt in judgments.prompts:
        for system in judgments.systems:
            cell = rows.filter((pl.col("prompt") == prompt) & (pl.col("system") == system))
            if cell.height:
                units, notes = (cell, []) if replacement else _units(cell, metrics, each)
                yield Arrived(
                    system,
                    prompt,
                    units["score"].to_numpy(),
                    np.column_stack(
                        [np.empty((units.height, 0)), *(units[name].to_numpy() for name in metrics)]
                    ),
                    tuple(notes),
                )


def _ordered(rows: pl.DataFrame, judgments: Judgments, sample: pl.DataFrame | None) -> pl.DataFrame:
    """Return judgments in the order of collection, with what is known of their draw."""
    order = judgments.frame.select(
        *Judgment.key, *(["use"] if says_what_is_used(judgments) else [])
    ).with_columns(position=pl.Series(_positions(judgments), dtype=pl.Int64))
    numbers = draw_numbers(judgments, sample)
    if numbers is not None:
        check_drawn(judgments, numbers)
        order = order.with_columns(draw=numbers)
    return rows.join(order, on=Judgment.key).sort("position")


def _units(cell: pl.DataFrame, metrics: Sequence[str], each: int) -> tuple[pl.DataFrame, list[str]]:
    """Return one row an output: in the order of the draw if it is known, else of completion."""
    if "draw" not in cell.columns:
        return _complete(cell, metrics, each)
    system, notes = cell["system"][0], []
    if "use" in cell.columns:
        unused = cell.filter(pl.col("use") != "used").height
        cell = cell.filter(pl.col("use") == "used")
        if unused:
            notes.append(f"{unused} judgments are not used, as their column use says")
    units, more = _complete(cell, [*metrics, "draw"], each)
    check_distinct(units, system)
    units = units.sort("draw")
    if "use" in cell.columns:
        return units, [*notes, *more]
    ready = units.filter(pl.col("draw") == pl.int_range(1, pl.len() + 1))
    ahead = units.height - ready.height
    if ahead:
        more.append(
            f"{ahead} judged outputs wait for those drawn before them: the order is that of the "
            f"draw, and its number {ready.height + 1} is not complete"
        )
    return ready, more


def _complete(
    cell: pl.DataFrame, columns: Sequence[str], each: int
) -> tuple[pl.DataFrame, list[str]]:
    """Return one row an output, in the order in which outputs became complete."""
    first = cell.with_columns(number=pl.int_range(pl.len()).over("item"))
    late = first.filter(pl.col("number") >= each).height
    units = (
        first.filter(pl.col("number") < each)
        .group_by("item")
        .agg(
            pl.col("score").mean(),
            pl.col("position").max(),
            pl.len().alias("count"),
            *(pl.col(name).first() for name in columns),
        )
    )
    whole = units.filter(pl.col("count") == each).sort("position")
    waiting = units.height - whole.height
    notes = []
    if late:
        rule = "the first judgment" if each == 1 else f"the first {each} judgments"
        notes.append(
            f"{late} judgments are not used: only {rule} of an output may count, so that no score "
            f"changes after it was looked at; set `judgments_per_output` before collecting"
        )
    if waiting:
        notes.append(f"{waiting} outputs wait for their {each} judgments")
    return whole, notes


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
