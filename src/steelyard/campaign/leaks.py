"""Columns that are, or are made from, human scores: they are never metrics.

A metric that knows the judgments follows the noise of the people who gave them, which no metric can know.
So where outputs have two judgments, what a metric leaves of their mean must be at least the noise that the
two judgments show. Where no output has two, nearly nothing may be left either: people never agree so well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr

from steelyard.arrays import Floats
from steelyard.campaign.draws import is_designed
from steelyard.campaign.metric_checks import filled_in, judged_gaps
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import UNKNOWN_RATER
from steelyard.tables import Judgments, Outputs

__all__ = ["Leak", "leaks", "without_leaks"]


_OUTPUT = ["item", "system"]
# So many judged outputs show what all of them would.
_ENOUGH = 20_000
# A column that agrees with every judgment of fewer outputs than this may do so by chance.
_FEWEST, _SURE_TWO_VALUES, _OFF_MODE = 10, 200, 5
# What a column leaves of the mean judgments, as a share of the noise of people: less is a leak.
_SHARE_OF_NOISE = 0.9
# The same, of all variance, where no noise is known.
_SHARE_OF_VARIANCE = 0.03
# Of columns that are no leaks, at most this share is taken for one, all columns and prompts together.
_FALSE_ALARMS = 1e-4
_MADE = "it was made from them, or its maker saw them"


@dataclass(frozen=True)
class Leak:
    """A column that knows the judgments.

    Attributes
    ----------
    column : str
        Its name.
    why : str
        What shows it, with numbers.
    sure : bool
        Whether it is no metric even if it is named.
    """

    column: str
    why: str
    sure: bool = True

    def __str__(self) -> str:
        way_out = "" if self.sure else f" (--metric {self.column} uses it nevertheless)"
        return f"column {self.column} is not used as a metric: {self.why}{way_out}"


def without_leaks(
    outputs: Outputs, judgments: Judgments, named: Sequence[str] | None
) -> tuple[Outputs, tuple[str, ...]]:
    """Return outputs without the metrics that know the judgments, and a note on each.

    Parameters
    ----------
    outputs, judgments
        The tables.
    named : sequence of str or None
        The metrics that the user named.

    Raises
    ------
    InvalidArgumentError
        If one of them surely knows the judgments.
    """
    found = leaks(outputs, judgments)
    wanted = {outputs.named(one) for one in named or ()}
    for leak in found:
        if leak.sure and leak.column in wanted:
            raise InvalidArgumentError(
                f"`metric` (--metric) {leak.column}: {leak.why}: leave it out"
            )
    kept = [leak for leak in found if leak.sure or leak.column not in wanted]
    names = [one for one in outputs.metrics if one not in {leak.column for leak in kept}]
    notes = [str(leak) for leak in found if leak in kept]
    notes += [f"metric {one.column}: {one.why}; used as asked" for one in found if one not in kept]
    return outputs.with_metrics(names), tuple(notes)


def leaks(outputs: Outputs, judgments: Judgments) -> tuple[Leak, ...]:
    """Return the metrics of a pool that know the judgments.

    Parameters
    ----------
    outputs, judgments
        The tables; preferences are not looked at.
    """
    if not outputs.metrics or not len(judgments):
        return ()
    scored = [one for one in judgments.prompts if one not in judgments.preference_prompts]
    found: dict[str, Leak] = {}
    for rows, judged in _joined(outputs, judgments, scored):
        for leak in _of_prompt(outputs, rows, judged, simple=not is_designed(judgments)):
            if leak.column not in found or (leak.sure and not found[leak.column].sure):
                found[leak.column] = leak
    return tuple(found[name] for name in outputs.metrics if name in found)


def _joined(
    outputs: Outputs, judgments: Judgments, prompts: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield, by prompt, the judgments, and item, system and metrics of the outputs that they judge."""
    for prompt in prompts:
        own = judgments.filter(pl.col("prompt") == prompt)
        keys = own.frame.select(_OUTPUT).unique(maintain_order=True)
        if keys.height > _ENOUGH:
            step = pl.int_range(pl.len()) % (keys.height // _ENOUGH) == 0
            keys = keys.filter(step)
            inside = pl.struct(_OUTPUT).is_in(keys.select(pl.struct(_OUTPUT)).to_series().implode())
            own = own.filter(inside)
        try:
            judged = outputs.rows_of(own, columns=list(outputs.metrics))
        except InvalidDataError:
            # A judged output that is not in the pool is refused where it is needed.
            continue
        judged = judged.select(*_OUTPUT, pl.col(outputs.metrics).cast(pl.Float64).fill_null(np.nan))
        yield own.frame.select(*_OUTPUT, "rater", "score"), judged


def _of_prompt(
    outputs: Outputs, rows: pl.DataFrame, judged: pl.DataFrame, *, simple: bool
) -> Iterator[Leak]:
    """Yield the leaks that one prompt shows."""
    gaps, names = outputs.metric_gaps(), outputs.metrics
    came = filled_in(judged, names, outputs.pool_moments(gaps="fill"))
    came |= judged_gaps(judged, names, gaps, outputs.sizes, simply_drawn=simple)
    for name, why in came.items():
        yield Leak(name, why.removeprefix(f"metric {name} is not used: "))
    means = _Means.of(rows, judged)
    level = _FALSE_ALARMS / len(names)
    for name in names:
        metric = means.outputs[name].to_numpy()
        leak = _copy(name, means, metric) or _close(name, means, metric, level)
        leak = leak or _of_a_rater(name, means, level)
        if leak is not None:
            yield leak


@dataclass(frozen=True, eq=False)
class _Means:
    """The judged outputs with their mean judgments.

    Attributes
    ----------
    rows : polars.DataFrame
        Every judgment, with ``#output``.
    outputs : polars.DataFrame
        Item, system, metrics, and the mean and median judgments ``#mean`` and ``#median``.
    mean, median, system : (m,) arrays
        The mean and median judgments, and the system of each as a number.
    noise : (m,) array
        An unbiased estimate of the variance of each mean; NaN with one judgment.
    """

    rows: pl.DataFrame
    outputs: pl.DataFrame
    mean: Floats
    median: Floats
    system: NDArray[np.int64]
    noise: Floats

    @classmethod
    def of(cls, rows: pl.DataFrame, judged: pl.DataFrame) -> "_Means":
        """Return the mean judgments, and their noise without what raters give on average."""
        numbered = judged.with_row_index("#output")
        rows = rows.join(numbered.select(*_OUTPUT, "#output"), on=_OUTPUT, how="left")
        several = rows.filter(pl.len().over("#output") > 1).with_columns(
            left=pl.col("score") - pl.col("score").mean().over("#output")
        )
        # Raters' leniency and taste are the same in all judgments of a rater: no noise of an output.
        for _ in range(3):
            known = pl.col("rater") != UNKNOWN_RATER
            own = pl.col("left").mean().over("rater", "system")
            left = pl.when(known).then(pl.col("left") - own).otherwise("left")
            several = several.with_columns(left=left).with_columns(
                left=pl.col("left") - pl.col("left").mean().over("#output")
            )
        noise = several.group_by("#output").agg(
            noise=(pl.col("left") ** 2).sum() / (pl.len() * (pl.len() - 1))
        )
        means = rows.group_by("#output").agg(
            pl.col("score").mean().alias("#mean"), pl.col("score").median().alias("#median")
        )
        found = numbered.join(means, on="#output", how="left", maintain_order="left")
        found = found.join(noise, on="#output", how="left", maintain_order="left")
        system = found["system"].rank("dense").to_numpy().astype(np.int64) - 1
        spread = found["noise"].fill_null(np.nan).to_numpy()
        mean, median = found["#mean"].to_numpy(), found["#median"].to_numpy()
        return cls(rows, found, mean, median, system, spread)


def _copy(name: str, means: _Means, metric: Floats) -> Leak | None:
    """Return the leak where a column says of every judged output what people said on average."""
    known = np.isfinite(metric)
    n, values = int(known.sum()), metric[known]
    for what, every in (("mean", means.mean), ("median", means.median)):
        kinds = every[known]
        if n < _FEWEST or not _varied(kinds) or not _is_function(values, kinds):
            continue
        sure = n >= (2 * _FEWEST if len(np.unique(kinds)) > 2 else _SURE_TWO_VALUES)
        verb = "is" if np.allclose(values, kinds, rtol=1e-9, atol=1e-12) else "follows exactly"
        where = f"the {what} judgment of all {n:,} judged outputs that have it"
        return Leak(name, f"it {verb} {where}, so {_MADE}", sure)
    return None


def _is_function(values: Floats, means: Floats) -> bool:
    """Whether values are rising, or falling, with the means: one value for each mean, rounded at most."""
    of_mean, of_value = (_codes(one) for one in (means, values))
    k, v = int(of_mean.max()) + 1, int(of_value.max()) + 1
    pairs = np.unique(of_mean * np.int64(v) + of_value)
    if k < 2 or v < 2 or len(pairs) != k or (v < 3 and k > 2):
        return False
    step = np.diff(pairs % v)
    if not (np.all(step >= 0) or np.all(step <= 0)):
        return False
    inside = np.bincount(of_value, means) / np.bincount(of_value)
    left = np.square(means - inside[of_value]).mean()
    return bool(left <= 0.1 * means.var())


def _varied(means: Floats) -> bool:
    """Whether mean judgments are different enough for a column to follow them."""
    counts = np.unique(means, return_counts=True)[1]
    return bool(len(means) - counts.max() >= _OFF_MODE)


def _codes(values: Floats) -> NDArray[np.int64]:
    """Return the rank of each value, those the same that differ by rounding only."""
    order = np.argsort(values, kind="stable")
    sorted_ = values[order]
    scale = max(float(np.abs(sorted_).max()), 1e-300)
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.concatenate([[0], np.cumsum(np.diff(sorted_) > 1e-10 * scale)])
    return codes


def _close(name: str, means: _Means, metric: Floats, level: float) -> Leak | None:
    """Return the leak where a column leaves less of the mean judgments than the noise of people."""
    known = np.isfinite(metric)
    twice = known & np.isfinite(means.noise)
    left = _left(means, metric, twice)
    if left is not None:
        noise, n = means.noise[twice], int(twice.sum())
        if left.mean() >= _SHARE_OF_NOISE * noise.mean():
            return None
        if _is_below(left - _SHARE_OF_NOISE * noise, level):
            return Leak(
                name,
                f"it follows the mean judgments of {n:,} outputs closer than people follow one another "
                f"(it leaves {left.mean() / noise.mean():.0%} of their noise), so {_MADE}",
            )
    left, n = _left(means, metric, known), int(known.sum())
    if left is None or not _varied(means.mean[known]):
        return None
    spread = float(means.mean[known].var())
    if not _is_below(left - _SHARE_OF_VARIANCE * spread, level):
        return None
    return Leak(
        name,
        f"it explains {1 - left.mean() / spread:.1%} of the judgments of {n:,} outputs, closer than people "
        f"agree, so perhaps {_MADE}",
        sure=False,
    )


def _left(means: _Means, metric: Floats, chosen: NDArray[np.bool_]) -> Floats | None:
    """Return the squares of what a metric leaves of the means, within systems; None if that says nothing."""
    if chosen.sum() < 2 * _FEWEST:
        return None
    system = np.unique(means.system[chosen], return_inverse=True)[1]
    count = np.bincount(system)
    y, x = (
        one - (np.bincount(system, one) / count)[system]
        for one in (means.mean[chosen], metric[chosen])
    )
    spent = len(count) + 1
    if not np.square(x).sum() > 0 or len(y) <= 2 * spent:
        return None
    residual = y - x * (x @ y) / (x @ x)
    return np.asarray(np.square(residual) * len(y) / (len(y) - spent))


def _is_below(values: Floats, level: float) -> bool:
    """Whether the mean of values is below zero at this level, by Student's t."""
    n, error = len(values), float(values.std(ddof=1)) / np.sqrt(len(values))
    mean = float(values.mean())
    return mean < 0 and (error == 0 or bool(stdtr(n - 1, mean / error) < level))


def _of_a_rater(name: str, means: _Means, level: float) -> Leak | None:
    """Return the leak where a column is one rater's scores, also where others gave other ones.

    What knows no rater sides with either of two at most half of the time that they disagree.
    """
    rows = means.rows.filter(pl.col("rater") != UNKNOWN_RATER)
    rows = rows.join(
        means.outputs.select("#output", "#mean", pl.col(name).alias("#metric")), on="#output"
    )
    rows = rows.filter(pl.col("#metric").is_finite())
    same = (pl.col("score") - pl.col("#metric")).abs() <= 1e-9 * pl.col("score").abs() + 1e-12
    others = (pl.col("score") - pl.col("#mean")).abs() > 1e-9
    own = rows.group_by("rater").agg(
        same.all().alias("all"), pl.len(), others.sum().alias("unlike")
    )
    enough = np.log2(max(own.height, 1) / level)
    own = own.filter(pl.col("all") & (pl.col("unlike") >= enough))
    if own.is_empty():
        return None
    rater, _, n, unlike = own.sort("len", "rater", descending=[True, False]).row(0)
    return Leak(
        name,
        f"it is the score of rater {rater!r} on all {n:,} outputs that this rater judged, also on {unlike:,} "
        "where others gave other scores",
    )
