"""How the judged outputs were drawn, as the draw recorded it in columns of the judgments."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.tables import Judgments, Outputs

__all__ = [
    "RECORDED",
    "SystemDraw",
    "check_pool_of_pairs",
    "is_designed",
    "recorded",
    "system_draw",
    "with_writers",
]

RECORDED = (
    *("probability", "stratum", "stratum_size", "share", "draw", "design", "signature", "place"),
    "also_by",
)
_OUTPUT = ["item", "system"]
_FEWEST = 2
_BY_SIZE = (
    "drawn with unequal probabilities: where scores that stand out have low ones, a few outputs carry the "
    "estimate and the interval is too short; strata or a simple draw do not have this trouble"
)


@dataclass(frozen=True, eq=False)
class SystemDraw:
    """How the judged outputs of one system were drawn.

    Attributes
    ----------
    weight : mapping of item to float
        How many outputs of the pool each judged output stands for.
    stratum : mapping of item to str
        The stratum of each, "all" where there are none.
    simple : bool
        Whether every output had the same chance.
    paired : bool
        Whether only items were drawn on which two systems differ.
    notes : tuple of str
        Remarks on the draw.
    """

    weight: dict[str, float]
    stratum: dict[str, str]
    simple: bool
    paired: bool = False
    notes: tuple[str, ...] = ()


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
        drawn = sample.select(*_OUTPUT, *names).unique(_OUTPUT, keep="first")
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


def with_writers(rows: pl.DataFrame, outputs: Outputs) -> tuple[str, ...]:
    """Return the systems that were judged, and those whose texts a draw took from others.

    Parameters
    ----------
    rows : polars.DataFrame
        Judgments with what the draw recorded of their outputs.
    outputs : Outputs
        The pool of every system.
    """
    judged = rows["system"].unique(maintain_order=True).to_list()
    if "also_by" not in rows.columns or rows["also_by"].null_count() == rows.height:
        return tuple(judged)
    named = rows["also_by"].drop_nulls().unique(maintain_order=True)
    others = named.str.json_decode(pl.List(pl.String)).explode(empty_as_null=True).drop_nulls()
    return tuple(dict.fromkeys([*judged, *(one for one in others if one in outputs.sizes)]))


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
    if "design" in frame.columns and bool((frame["design"] == "paired").any()):
        return True
    found = frame.group_by("system", "prompt").agg(_designed(frame).alias("designed"))
    return bool(found["designed"].any())


def system_draw(rows: pl.DataFrame, size: int) -> SystemDraw:
    """Return how the judged outputs of one system under one prompt were drawn.

    Parameters
    ----------
    rows : polars.DataFrame
        Its judgments with what the draw recorded of their outputs.
    size : int
        Number of outputs in its pool.

    Raises
    ------
    InvalidDataError
        If the judgments come from two draws, or strata and pool do not fit.
    NotEstimableError
        If a stratum has too few judged outputs.
    """
    items = rows["item"].unique(maintain_order=True).to_list()
    designed = "probability" in rows.columns and bool(rows.select(_designed(rows)).item())
    paired = "design" in rows.columns and bool((rows["design"] == "paired").any())
    if paired or not designed:
        if paired:
            _check_one_draw(rows)
        weight = size / max(len(items), 1)
        alike = dict.fromkeys(items, weight), dict.fromkeys(items, "all")
        return SystemDraw(*alike, simple=True, paired=paired)
    _check_one_draw(rows)
    _check_one_probability(rows)
    strata = _strata_sizes(rows, size)
    first = rows.unique("item", keep="first", maintain_order=True)
    if strata is not None:
        labels = first["stratum"].fill_null("all").to_list()
        judged = {name: labels.count(name) for name in strata}
        few = [name for name, size_of in strata.items() if judged[name] < min(_FEWEST, size_of)]
        if few:
            raise NotEstimableError(
                f"stratum {few[0]!r} has {judged[few[0]]} judged outputs of {strata[few[0]]}: each stratum needs "
                f"{_FEWEST} or more"
            )
        weights = [strata[name] / judged[name] for name in labels]
        return SystemDraw(
            dict(zip(first["item"], weights, strict=True)),
            dict(zip(first["item"], labels, strict=True)),
            simple=False,
        )
    probability, notes = _judged_so_far(first)
    weights = (1 / probability).tolist()
    return SystemDraw(
        dict(zip(first["item"], weights, strict=True)),
        dict.fromkeys(items, "all"),
        simple=False,
        notes=(*notes, _BY_SIZE),
    )


def _designed(frame: pl.DataFrame) -> pl.Expr:
    """Whether the draw of these rows was not a simple one; simple draws one after the other are one."""
    unlike = pl.col("probability").max() - pl.col("probability").min() > 1e-9
    if "design" in frame.columns:
        unlike &= ~(pl.col("design") == "simple").all()
    parts = [unlike]
    if "stratum" in frame.columns:
        parts.append(pl.col("stratum").n_unique() > 1)
    return pl.any_horizontal(parts)


def _judged_so_far(rows: pl.DataFrame) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the probability with which each output was drawn and judged, and remarks.

    Outputs are in random order, so that the first k of n that were drawn are a draw with k/n times
    the recorded probabilities.
    """
    probability = rows["probability"].to_numpy()
    signature = rows["signature"][0] if "signature" in rows.columns else None
    fields = dict(field.split("=", 1) for field in (signature or "").split("|") if "=" in field)
    judged, drawn = rows.height, int(fields.get("n", 0))
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
    for column in ("design", "signature"):
        if column in rows.columns and rows[column].n_unique() > 1:
            first, second = rows[column].unique(maintain_order=True)[:2]
            raise InvalidDataError(
                f"judgments come from two draws ({first} and {second}): estimate each on its own, "
                "or pass the sample that extends the other"
            )


def _check_one_probability(rows: pl.DataFrame) -> None:
    spread = pl.col("probability").max() - pl.col("probability").min()
    twice = rows.group_by("item", maintain_order=True).agg(spread).filter(pl.col("probability") > 0)
    if twice.height:
        raise InvalidDataError(
            "`probability` must be the same for all judgments of one output; it differs for item "
            f"{twice['item'][0]!r} of system {rows['system'][0]!r}"
        )


def check_pool_of_pairs(rows: pl.DataFrame, outputs: Outputs) -> None:
    """Check that the systems of a paired draw differ on as many items as when it was drawn.

    Parameters
    ----------
    rows : polars.DataFrame
        The judgments of a paired draw.
    outputs : Outputs
        The pool.

    Raises
    ------
    InvalidDataError
        If they do not, or if there are no texts.
    """
    if not {"share", "stratum_size"} <= set(rows.columns):
        return
    if not outputs.has_texts:
        raise InvalidDataError(
            f"{outputs.name} needs a column `output`: it shows on how many items the two systems of a "
            "paired draw differ"
        )
    items, share = rows["stratum_size"][0], rows["share"][0]
    texts = outputs.rows(columns=[*_OUTPUT, "output"])
    of_both = texts.filter(pl.col("system").is_in(rows["system"].unique().to_list()))
    found = of_both.group_by("item").agg(pl.col("output").n_unique() > 1)
    if (found.height, found["output"].sum()) != (items, round(share * items)):
        raise InvalidDataError(
            f"{outputs.name}: the systems differ on {found['output'].sum()} of {found.height} items, "
            f"and on {round(share * items)} of {items} when the pairs were drawn: pass the outputs that "
            "were drawn from"
        )


def _strata_sizes(rows: pl.DataFrame, size: int) -> dict[str, int] | None:
    """Return the sizes of the strata; None if outputs were drawn by probabilities of their own."""
    if "stratum" not in rows.columns or "stratum_size" not in rows.columns:
        return None
    if "design" in rows.columns and rows["design"][0] == "proportional-to-size":
        return None
    pairs = rows.select(pl.col("stratum").fill_null("all"), pl.col("stratum_size").cast(pl.Int64))
    sizes = dict(pairs.unique().sort("stratum").rows())
    total = sum(sizes.values())
    if total != size:
        raise InvalidDataError(
            f"the strata of the judged outputs hold {total} outputs and the pool {size}: judge "
            "outputs of every stratum, or pass the pool that was drawn from"
        )
    return sizes
