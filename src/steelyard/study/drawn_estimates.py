"""Estimates from judgments of a sample whose draw was recorded."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import PoolMoments
from steelyard.data import Judgments, Outputs
from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.estimate import Estimate, Interval, Raters, Target
from steelyard.estimate.stratified import stratified_mean
from steelyard.estimate.weighted import Form, weighted_mean

__all__ = ["estimate_design", "is_designed"]

_KEY = ["item", "system"]
_RECORDED = ["probability", "stratum", "stratum_size", "design", "signature"]


def is_designed(judgments: Judgments, sample: pl.DataFrame | None = None) -> bool:
    """Whether outputs were drawn otherwise than simply at random, as the draw recorded it.

    Raises
    ------
    InvalidDataError
        If a judged output was not drawn, as far as a draw was recorded.
    """
    recorded = _drawn(judgments, sample)
    if "probability" not in recorded.columns:
        return False
    _check_drawn(judgments, recorded)
    parts = [(pl.col("probability").max() - pl.col("probability").min() > 1e-9).alias("unequal")]
    if "stratum" in recorded.columns:
        parts.append((pl.col("stratum").n_unique() > 1).alias("stratified"))
    if "design" in recorded.columns:
        parts.append((pl.col("design") == "paired").any().alias("paired"))
    found = recorded.group_by("system", "prompt").agg(parts).drop("system", "prompt")
    return any(found[name].any() for name in found.columns)


def estimate_design(
    outputs: Outputs,
    judgments: Judgments,
    metrics: Sequence[str] = (),
    *,
    sample: pl.DataFrame | None = None,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    slope: ArrayLike = "least-squares",
    form: Form = "hajek",
    target: Target = "pool",
    level: float = 0.95,
    rater_variance: float | None = None,
    raters_as: Raters = "fixed",
    interval: Interval = "student",
) -> list[Estimate]:
    """Estimate the mean human score of each system from a recorded draw.

    Judgments whose outputs carry ``stratum`` and ``stratum_size`` go to `stratified_mean`, other
    ones with a ``probability`` to `weighted_mean`. A simple random sample is one stratum.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    judgments : Judgments
        Judgments of a drawn sample.
    metrics : sequence of str
        Metrics to correct with.
    sample : polars.DataFrame, optional
        The sample as `sample` made it, when the judgments do not carry its columns themselves.
    prompts, systems : sequence of str, optional
        Which to estimate; all that were judged by default.
    slope : "least-squares", float or (p,) array
        Fitted to the judged outputs as their design asks for, or numbers from elsewhere.
    form, target, level, rater_variance
        As in `weighted_mean` and `stratified_mean`.
    raters_as : {"fixed", "random"}
        As in `weighted_mean` and `stratified_mean`.
    interval : {"student"}
        Kind of interval; no other is known for a recorded draw.

    Returns
    -------
    list of Estimate

    Raises
    ------
    InvalidDataError
        If a judged output was not drawn, lacks its probability, or comes from another draw.
    InvalidArgumentError, NotEstimableError
        As in `weighted_mean` and `stratified_mean`.
    """
    if isinstance(slope, str) and slope != "least-squares":
        raise InvalidArgumentError(
            f"`slope` must be a number or least-squares for a recorded draw; got {slope!r}"
        )
    _check_interval(interval)
    rows = _rows(outputs, judgments, metrics, sample)
    pools = outputs.pool_moments(metrics) if metrics else {}
    found = []
    for prompt in judgments.prompts if prompts is None else prompts:
        for system in judgments.systems if systems is None else systems:
            own = rows.filter((pl.col("prompt") == prompt) & (pl.col("system") == system))
            if own.is_empty():
                continue
            try:
                result = _estimate(
                    own,
                    metrics,
                    pools.get(system),
                    size=outputs.sizes[system],
                    slope=slope,
                    form=form,
                    target=target,
                    level=level,
                    rater_variance=rater_variance,
                    raters_as=raters_as,
                )
            except NotEstimableError as error:
                raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {error}") from error
            found.append(result.named(system=system, prompt=prompt, metrics=tuple(metrics)))
    return found


def _check_interval(interval: Interval) -> None:
    if interval == "student":
        return
    reason = (
        "its proof needs outputs that are drawn alike"
        if interval == "betting"
        else "resampled outputs would have to be drawn again by the same design"
    )
    raise InvalidArgumentError(
        f'`interval` must be "student" for a recorded draw; got {interval!r}: {reason}, so use '
        '"student" or draw a simple sample'
    )


def _rows(
    outputs: Outputs, judgments: Judgments, metrics: Sequence[str], sample: pl.DataFrame | None
) -> pl.DataFrame:
    """Return every judgment with the metrics of its output and what the draw recorded of it."""
    frame = _drawn(judgments, sample)
    if "probability" not in frame.columns:
        raise InvalidDataError(
            f"{judgments.name}: no column `probability`, which the draw records: pass the sample "
            "that was judged"
        )
    _check_drawn(judgments, frame)
    kept = [name for name in _RECORDED if name in frame.columns]
    pool = outputs.rows_of(judgments, columns=list(metrics)).select(*_KEY, *metrics)
    kept += [name for name in ("rater",) if name in frame.columns]
    return frame.select(*_KEY, "prompt", "score", *kept).join(pool, on=_KEY, how="left")


def _drawn(judgments: Judgments, sample: pl.DataFrame | None) -> pl.DataFrame:
    """Return every judgment with what the draw recorded of its output."""
    frame = judgments.frame
    if sample is None:
        return frame
    recorded = [name for name in _RECORDED if name in sample.columns]
    frame = frame.drop([name for name in recorded if name in frame.columns])
    drawn = sample.select(*_KEY, *recorded)
    return frame.join(drawn, on=_KEY, how="left", maintain_order="left")


def _check_drawn(judgments: Judgments, recorded: pl.DataFrame) -> None:
    absent = recorded.with_row_index("position").filter(pl.col("probability").is_null())
    if absent.height:
        raise InvalidDataError(
            f"{judgments.place(absent['position'][0])}: item {absent['item'][0]!r} of system "
            f"{absent['system'][0]!r} is judged but was not drawn, or lacks its probability: leave "
            "it out, or say how it was drawn"
        )


def _estimate(
    own: pl.DataFrame,
    metrics: Sequence[str],
    pool: PoolMoments | None,
    *,
    size: int,
    slope: ArrayLike,
    form: Form,
    target: Target,
    level: float,
    rater_variance: float | None,
    raters_as: Raters,
) -> Estimate:
    _check_one_draw(own)
    metric = np.column_stack([own[name].to_numpy() for name in metrics]) if metrics else None
    given = not isinstance(slope, str)
    human, items = own["score"].to_numpy(), own["item"].to_numpy()
    raters = own["rater"].to_numpy() if raters_as != "fixed" and "rater" in own else None
    strata = _strata(own, size)
    if strata is not None:
        return stratified_mean(
            human,
            own["stratum"].fill_null("all").to_numpy(),
            strata,
            metric=metric,
            metric_pool=pool,
            items=items,
            slope=slope if given else "combined",
            target=target,
            level=level,
            rater_variance=rater_variance,
            raters=raters,
            raters_as=raters_as,
        )
    probability, notes = _judged_so_far(own)
    found = weighted_mean(
        human,
        probability,
        pool_size=size,
        metric=metric,
        metric_pool=pool,
        items=items,
        slope=slope,
        form=form,
        target=target,
        level=level,
        rater_variance=rater_variance,
        raters=raters,
        raters_as=raters_as,
    )
    return replace(found, notes=(*notes, *found.notes))


def _judged_so_far(own: pl.DataFrame) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the probability with which each output was drawn and judged, and remarks.

    Outputs are in random order, so that the first k of n that were drawn are a draw with k/n times
    the recorded probabilities; see `steelyard.design.sampling.draw_sample`.
    """
    probability = own["probability"].to_numpy()
    signature = own["signature"][0] if "signature" in own.columns else None
    fields = dict(field.split("=", 1) for field in (signature or "").split("|") if "=" in field)
    judged, drawn = own["item"].n_unique(), int(fields.get("n", 0))
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


def _check_one_draw(own: pl.DataFrame) -> None:
    if "design" in own.columns and (own["design"] == "paired").any():
        raise InvalidDataError(
            "a paired draw holds only items on which two systems differ, so it tells their "
            "difference but not the mean of either: draw a simple sample for that"
        )
    for column in ("design", "signature"):
        if column in own.columns and own[column].n_unique() > 1:
            first, second = own[column].unique(maintain_order=True)[:2]
            raise InvalidDataError(
                f"judgments come from two draws ({first} and {second}): estimate each on its own, "
                "or pass the sample that extends the other"
            )


def _strata(own: pl.DataFrame, size: int) -> dict[str, int] | None:
    """Return the sizes of the strata; None if outputs were drawn by probabilities of their own."""
    if "stratum" not in own.columns or "stratum_size" not in own.columns:
        return None
    if "design" in own.columns and own["design"][0] == "proportional-to-size":
        return None
    pairs = own.select(pl.col("stratum").fill_null("all"), pl.col("stratum_size").cast(pl.Int64))
    sizes = dict(pairs.unique().rows())
    total = sum(sizes.values())
    if total != size:
        raise InvalidDataError(
            f"the strata of the judged outputs hold {total} outputs and the pool {size}: judge "
            "outputs of every stratum, or pass the pool that was drawn from"
        )
    return sizes
