"""Estimates from judgments of a sample whose draw was recorded."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

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
    """Whether outputs were drawn otherwise than simply at random, as the draw recorded it."""
    recorded = judgments.frame if sample is None else sample
    if "probability" not in recorded.columns:
        return False
    parts = [(pl.col("probability").max() - pl.col("probability").min() > 1e-9).alias("unequal")]
    if "stratum" in recorded.columns:
        parts.append((pl.col("stratum").n_unique() > 1).alias("stratified"))
    if "design" in recorded.columns:
        parts.append((pl.col("design") == "paired").any().alias("paired"))
    found = recorded.group_by("system").agg(parts).drop("system")
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
    frame = judgments.frame
    if sample is not None:
        recorded = [name for name in _RECORDED if name in sample.columns]
        drawn = sample.select(*_KEY, *recorded)
        frame = frame.drop([name for name in recorded if name in frame.columns])
        frame = frame.join(drawn, on=_KEY, how="left", maintain_order="left")
    for column in ("probability",):
        if column not in frame.columns:
            raise InvalidDataError(
                f"{judgments.name}: no column `{column}`, which the draw records: pass the sample "
                "that was judged"
            )
    absent = frame.with_row_index("position").filter(pl.col("probability").is_null())
    if absent.height:
        raise InvalidDataError(
            f"{judgments.place(absent['position'][0])}: item {absent['item'][0]!r} of system "
            f"{absent['system'][0]!r} is judged but was not drawn, or lacks its probability: leave "
            "it out, or say how it was drawn"
        )
    kept = [name for name in _RECORDED if name in frame.columns]
    pool = outputs.rows_of(judgments, columns=list(metrics)).select(*_KEY, *metrics)
    kept += [name for name in ("rater",) if name in frame.columns]
    return frame.select(*_KEY, "prompt", "score", *kept).join(pool, on=_KEY, how="left")


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
    return weighted_mean(
        human,
        own["probability"].to_numpy(),
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
