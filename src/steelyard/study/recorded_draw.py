"""How the judged outputs were drawn, as the draw recorded it in columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import (
    Draw,
    JudgedOutputs,
    clustered,
    drawn_outputs,
    simple_draw,
    spread_draw,
    stratified_draw,
    unequal_draw,
)
from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.records import DOCUMENTS, PLACE, UNKNOWN_RATER
from steelyard.tables import Judgments

__all__ = [
    "RECORDED",
    "DrawnCell",
    "check_simply_drawn",
    "drawn_cell",
    "is_designed",
    "is_of_documents",
    "is_spread",
    "places",
    "recorded",
]

RECORDED = (
    *("probability", "stratum", "stratum_size", "share", "draw", "design", "signature"),
    PLACE,
)

_OUTPUT = ["item", "system"]
_BY_SIZE = (
    "drawn with unequal probabilities: where scores that stand out have low ones, a few outputs carry the "
    "estimate and the interval is too short; strata or a simple draw do not have this trouble"
)


@dataclass(frozen=True, eq=False)
class DrawnCell:
    """The judged outputs of one system under one prompt, with their draw and remarks on it."""

    sample: JudgedOutputs
    draw: Draw
    notes: tuple[str, ...]


def recorded(judgments: Judgments, sample: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return every judgment with what the draw recorded of its output.

    Parameters
    ----------
    judgments : Judgments
        The judgments, which may carry the columns of the draw.
    sample : polars.DataFrame, optional
        The sample as `sample` made it, when they do not.

    Raises
    ------
    InvalidDataError
        If a judged output was not drawn, as far as a draw was recorded.
    """
    frame = judgments.frame
    if sample is not None:
        names = [name for name in RECORDED if name in sample.columns]
        frame = frame.drop([name for name in names if name in frame.columns])
        drawn = sample.select(*_OUTPUT, *names)
        frame = frame.join(drawn, on=_OUTPUT, how="left", maintain_order="left")
    if "probability" not in frame.columns:
        return frame
    absent = frame.with_row_index("#position").filter(pl.col("probability").is_null())
    if absent.height:
        raise InvalidDataError(
            f"{judgments.place(absent['#position'][0])}: item {absent['item'][0]!r} of system "
            f"{absent['system'][0]!r} is judged but was not drawn, or lacks its probability: leave "
            "it out, or say how it was drawn"
        )
    return frame


def is_designed(judgments: Judgments, sample: pl.DataFrame | None = None) -> bool:
    """Whether outputs were drawn otherwise than simply at random, as the draw recorded it.

    Raises
    ------
    InvalidDataError
        If a judged output was not drawn, as far as a draw was recorded.
    """
    frame = recorded(judgments, sample)
    if "probability" not in frame.columns:
        return False
    found = frame.group_by("system", "prompt").agg(_designed(frame).alias("designed"))
    return bool(found["designed"].any())


def check_simply_drawn(
    judgments: Judgments,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    *,
    sample: pl.DataFrame | None = None,
    spread: bool = True,
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
    spread : bool
        Whether a spread draw counts as a simple one, as where the order of outputs plays no part.

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
    if not spread and is_spread(recorded(judgments, sample)):
        raise NotEstimableError(
            f"{judgments.name}: the outputs are of a spread draw, whose order balances the sample and is "
            "not that of chance, so no interval holds at all times: use `steelyard estimate` once a "
            "number of outputs is judged that was fixed in advance (for L looks at fixed numbers, each "
            "with `--level` 1 - 0.05/L), or draw a simple sample"
        )
    if not spread and is_of_documents(recorded(judgments, sample)):
        raise NotEstimableError(
            f"{judgments.name}: whole documents were drawn, whose outputs are not in random order, so no "
            "interval holds at all times: use `steelyard estimate` once all documents are judged"
        )
    if not is_designed(judgments, sample):
        return
    frame = judgments.frame if sample is None else sample
    if "design" in frame.columns and (frame["design"] == "paired").any():
        raise NotEstimableError(
            f"{judgments.name}: the outputs are of a paired draw, which holds only items on which "
            "two systems differ and tells nothing of either alone: draw a simple sample for that"
        )
    raise NotEstimableError(
        f"{judgments.name}: outputs were drawn by strata or with unequal probabilities, and this "
        "needs a simple random sample: use `steelyard estimate`, which weights them as they were "
        "drawn, or draw a simple sample"
    )


def known_raters(rows: pl.DataFrame) -> NDArray[np.object_] | None:
    """Return the rater of each judgment; None where the file did not name them."""
    labels = rows["rater"]
    return None if (labels == UNKNOWN_RATER).all() else labels.to_numpy()


def drawn_cell(rows: pl.DataFrame, metrics: Sequence[str], *, size: int) -> DrawnCell:
    """Return the judged outputs of one system under one prompt, with their draw.

    Parameters
    ----------
    rows : polars.DataFrame
        Judgments with the metrics of their outputs, what the draw recorded of them and, where
        outputs come in clusters, a column ``cluster``.
    metrics : sequence of str
        Columns of the metrics.
    size : int
        Number of outputs in the system's pool.

    Raises
    ------
    InvalidDataError
        If the judgments come from two draws, or from one that does not show a mean.
    NotEstimableError
        If a stratum has too few judged outputs.
    """
    designed = "probability" in rows.columns and bool(rows.select(_designed(rows)).item())
    strata = _strata_sizes(rows, size) if designed else None
    probability: NDArray[np.float64] | None = None
    place: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    if designed:
        _check_one_draw(rows)
        if strata is None:
            probability, notes = _judged_so_far(rows)
            notes = (*notes, _BY_SIZE)
    else:
        place, notes = places(rows)
    labels = rows["stratum"].fill_null("all").to_numpy() if strata is not None else None
    sample, known = drawn_outputs(
        rows["score"].to_numpy(),
        rows.select(pl.col(list(metrics)).cast(pl.Float64)).to_numpy() if metrics else None,
        rows["item"].to_numpy(),
        raters=known_raters(rows),
        recorded={
            "stratum": labels,
            "probability": probability,
            "place": place,
            "cluster": rows["cluster"].to_numpy() if "cluster" in rows.columns else None,
        },
    )
    if strata is not None:
        draw = stratified_draw(sample, known["stratum"], strata)
    elif probability is not None:
        draw = unequal_draw(sample, known["probability"], size)
    elif place is not None:
        draw = spread_draw(sample, known["place"], size)
    else:
        draw = simple_draw(sample, size)
    return DrawnCell(sample, clustered(draw, known.get("cluster")), notes)


def _designed(frame: pl.DataFrame) -> pl.Expr:
    """Whether the draw of these rows was not a simple one."""
    parts = [pl.col("probability").max() - pl.col("probability").min() > 1e-9]
    if "stratum" in frame.columns:
        parts.append(pl.col("stratum").n_unique() > 1)
    if "design" in frame.columns:
        parts.append((pl.col("design") == "paired").any())
    return pl.any_horizontal(parts)


def places(rows: pl.DataFrame) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
    """Return the wave and place of each judged output of a spread draw, if it has them, and remarks.

    Each first part of the draw is spread, any other part of it is not.
    """
    if not is_spread(rows) or not {PLACE, "draw"} <= set(rows.columns):
        return None, ()
    along, numbers = rows[PLACE].cast(pl.Float64), rows["draw"].cast(pl.Int64)
    if along.null_count() or numbers.null_count():
        return None, ()
    judged, last = numbers.n_unique(), max(numbers.to_list())
    if judged == last:
        return along.to_numpy(), ()
    note = (
        f"{judged} of the first {last} outputs of a spread draw are judged, which are not "
        "spread: taken as simply drawn (conservative)"
    )
    return None, (note,)


def is_spread(rows: pl.DataFrame) -> bool:
    """Whether the outputs of these rows are of a spread draw."""
    return "design" in rows.columns and bool((rows["design"] == "spread").any())


def is_of_documents(rows: pl.DataFrame) -> bool:
    """Whether whole documents were drawn, of which the outputs of these rows are segments."""
    return "design" in rows.columns and bool((rows["design"] == DOCUMENTS).any())


def _judged_so_far(rows: pl.DataFrame) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the probability with which each output was drawn and judged, and remarks.

    Outputs are in random order, so that the first k of n that were drawn are a draw with k/n times
    the recorded probabilities; see `steelyard.sampling.drawing.draw_sample`.
    """
    probability = rows["probability"].to_numpy()
    signature = rows["signature"][0] if "signature" in rows.columns else None
    fields = dict(field.split("=", 1) for field in (signature or "").split("|") if "=" in field)
    judged, drawn = rows["item"].n_unique(), int(fields.get("n", 0))
    if judged >= drawn:
        return probability, ()
    if "extended" in fields and (probability == 1).any():
        raise InvalidDataError(
            f"{judged} of {drawn} drawn outputs are judged, and the sample extends another by outputs "
            "some of which were certain, so that a part of it has no known probabilities: judge all, "
            "or pass the earlier sample and its judgments"
        )
    note = (
        f"{judged} of {drawn} drawn outputs are judged: taken as the first of the draw, with "
        f"{judged / drawn:.3g} times the recorded probabilities"
    )
    return probability * (judged / drawn), (note,)


def _check_one_draw(rows: pl.DataFrame) -> None:
    if "design" in rows.columns and (rows["design"] == "paired").any():
        raise InvalidDataError(
            "a paired draw holds only items on which two systems differ, so it tells their "
            "difference but not the mean of either: draw a simple sample for that"
        )
    for column in ("design", "signature"):
        if column in rows.columns and rows[column].n_unique() > 1:
            first, second = rows[column].unique(maintain_order=True)[:2]
            raise InvalidDataError(
                f"judgments come from two draws ({first} and {second}): estimate each on its own, "
                "or pass the sample that extends the other"
            )


def _strata_sizes(rows: pl.DataFrame, size: int) -> dict[str, int] | None:
    """Return the sizes of the strata; None if outputs were drawn by probabilities of their own."""
    if "stratum" not in rows.columns or "stratum_size" not in rows.columns:
        return None
    if "design" in rows.columns and rows["design"][0] == "proportional-to-size":
        return None
    pairs = rows.select(pl.col("stratum").fill_null("all"), pl.col("stratum_size").cast(pl.Int64))
    sizes = dict(pairs.unique().rows())
    total = sum(sizes.values())
    if total != size:
        raise InvalidDataError(
            f"the strata of the judged outputs hold {total} outputs and the pool {size}: judge "
            "outputs of every stratum, or pass the pool that was drawn from"
        )
    return sizes
