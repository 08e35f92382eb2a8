"""Weeks: did the systems change, or the judge, or the raters? With alarms that hold all year."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.tables import read_judgments, read_outputs

__all__ = ["Change", "Stream", "Week", "Weeks", "read_weeks", "weeks"]

# At most 5% of years of 52 weekly looks see a false alarm: the greatest difference between the weeks before and
# since some week, in standard errors, passes sqrt(_BASE + _STEP log(0.05 / a)) in a share a of years (40,000
# simulated years; within 0.04 for a from 0.1 to 0.001).
_ALARMS, _BASE, _STEP = 0.05, 13.43, 2.25
# Twice the logarithm of how much likelier one of two explanations must be.
_SURE = 4.0
_OUTPUT = ["item", "system"]
# The week that showed a change, the one from which on it is likeliest, its size and error.
_Alarm = tuple[int, int, float, float]


@dataclass(frozen=True, eq=False)
class Week:
    """One week: its name, its outputs with the metric as ``judge``, and its judgments under one prompt.

    Judgments of outputs that are not among `outputs` are anchors: outputs of earlier weeks, judged again.
    """

    name: str
    outputs: pl.DataFrame
    judgments: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change that was noticed.

    Attributes
    ----------
    what : {"system", "judge", "raters", "judge or raters"}
        What changed.
    system : str or None
        Which system.
    since, noticed : str
        The week from which on it is likeliest, and the one that showed it.
    size, standard_error : float
        By how much, in units of the human scores.
    """

    what: Literal["system", "judge", "raters", "judge or raters"]
    system: str | None
    since: str
    noticed: str
    size: float
    standard_error: float

    @property
    def sentence(self) -> str:
        """What it says, in words."""
        who = f"system {self.system}" if self.what == "system" else f"the {self.what}"
        how = "higher" if self.size > 0 else "lower"
        return (
            f"{who} changed: since {self.since} {abs(self.size):.2g} {how} (standard error "
            f"{self.standard_error:.2g}; noticed in {self.noticed})"
        )


@dataclass(frozen=True, eq=False)
class Stream:
    """A mean for each week with its standard error; NaN where there is none."""

    mean: Floats
    error: Floats

    def since(self, alarm: _Alarm) -> tuple[float, float]:
        """Return by how much the weeks since another alarm's change differ from those before, and the error."""
        look, start = alarm[:2]
        weight = np.where(np.isfinite(self.mean) & (self.error > 0), 1 / self.error**2, 0.0)
        value = weight * np.nan_to_num(self.mean)
        before, after = weight[:start].sum(), weight[start : look + 1].sum()
        if not before or not after:
            return 0.0, math.inf
        size = value[start : look + 1].sum() / after - value[:start].sum() / before
        return float(size), math.sqrt(1 / before + 1 / after)

    def alarm(self, share: float) -> _Alarm | None:
        """Return when a change was noticed and since when it is, its size and error; None without one.

        Parameters
        ----------
        share : float
            In which share of years without a change there may be an alarm.
        """
        bound = math.sqrt(_BASE + _STEP * math.log(_ALARMS / share))
        known = np.flatnonzero(np.isfinite(self.mean) & (self.error > 0))
        weight = 1 / self.error[known] ** 2
        total = np.cumsum(weight)
        value = np.cumsum(weight * self.mean[known])
        for look in range(1, len(known)):
            before, after = total[:look], total[look] - total[:look]
            size = (value[look] - value[:look]) / after - value[:look] / before
            error = np.sqrt(1 / before + 1 / after)
            best = int(np.argmax(np.abs(size) / error))
            if abs(size[best]) > bound * error[best]:
                return int(known[look]), int(known[best + 1]), float(size[best]), float(error[best])
        return None


@dataclass(frozen=True, eq=False)
class Weeks:
    """What changed from week to week.

    Attributes
    ----------
    names : tuple of str
        The weeks.
    systems : dict of str to Stream
        Each system's mean, corrected by the judge.
    judge : Stream or None
        How much higher than people the judge scores, on the human scale, beside all weeks.
    raters : Stream or None
        How much higher outputs of earlier weeks are scored when they are judged again.
    changes : tuple of Change
        What was noticed.
    notes : tuple of str
        What cannot be told, and why.
    """

    names: tuple[str, ...]
    systems: dict[str, Stream]
    judge: Stream | None
    raters: Stream | None
    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The answer."""
        if not self.changes:
            return f"nothing changed for sure in {len(self.names)} weeks"
        return "; ".join(one.sentence for one in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON knows it."""
        return {
            "weeks": list(self.names),
            "systems": {name: one.mean.tolist() for name, one in self.systems.items()},
            "changes": [asdict(one) for one in self.changes],
            "sentence": self.sentence,
            "notes": list(self.notes),
        }


def read_weeks(
    files: Iterable[tuple[str, Any, Any]],
    *,
    metric: str | None = None,
    prompt: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Week]:
    """Read weeks from their files.

    Parameters
    ----------
    files : iterable of (str, outputs, judgments)
        Name and tables of each week, in order.
    metric, prompt : str, optional
        Which to look at; needed where there are several.
    columns : mapping, optional
        As in `Study.read`.

    Raises
    ------
    InvalidArgumentError
        If there are several metrics or prompts, and none is named.
    """
    found = []
    for name, pool, judged in files:
        outputs = read_outputs(pool, columns=columns, metrics=None if metric is None else [metric])
        judgments = read_judgments(judged, columns=columns)
        for what, given, there in (
            ("metric", metric, outputs.metrics),
            ("prompt", prompt, judgments.prompts),
        ):
            if given is None and len(there) > 1:
                raise InvalidArgumentError(
                    f"`--{what}` must name one of {', '.join(there)}: whose weeks are compared?"
                )
        rows, judge = outputs.rows(), outputs.metrics[0] if outputs.metrics else None
        score = pl.lit(0.0) if judge is None else pl.col(judge)
        frame = judgments.frame
        if prompt is not None:
            frame = frame.filter(pl.col("prompt") == prompt)
        found.append(Week(name, rows.with_columns(judge=score), frame))
    return found


def weeks(some: Sequence[Week]) -> Weeks:
    """Look at weeks, as often as there are new ones.

    The judge's score g is put on the human scale by the slope that the true human score has on it, h by
    g / b. A change of the systems moves h and g / b alike; one of the judge moves g / b alone; one of the raters
    moves h alone, and with it the anchors, whose texts are the same.

    Parameters
    ----------
    some : sequence of Week
        The weeks, in order.

    Raises
    ------
    NotEstimableError
        If there are fewer than two.
    """
    if len(some) < 2:
        raise NotEstimableError(f"a change needs two weeks or more; got {len(some)}")
    names = tuple(one.name for one in some)
    rows = _rows(some)
    own, anchors = rows.filter("own"), rows.filter(~pl.col("own"))
    systems = tuple(own["system"].unique(maintain_order=True))
    slope, unit, notes = _slopes(own)
    own = own.with_columns(
        off=pl.col("g") * unit - pl.col("h"), left=pl.col("h") - slope * pl.col("g")
    )
    corrected = own.with_columns(value=pl.col("left") + slope * pl.col("pool"))
    streams = {
        name: _stream(corrected.filter(pl.col("system") == name), "value", "left", len(some))
        for name in systems
    }
    judge = None
    if own["g"].n_unique() > 1:
        judge = _stream(
            own.with_columns(pl.col("off") - pl.col("off").mean()), "off", "off", len(some)
        )
    raters = _again(own, anchors, names)
    if raters is None:
        said = "no output of an earlier week was judged again, so that a change of the raters is told from others "
        notes += (f"{said}by judge and systems alone: sample --anchors adds some",)
    changes = _changes(names, streams, judge, raters)
    return Weeks(names, streams, judge, raters, changes, notes)


def _rows(some: Sequence[Week]) -> pl.DataFrame:
    """Return a row for each judged output of each week: ``week``, ``own``, mean score ``h``, judge ``g``."""
    parts = []
    for place, week in enumerate(some):
        outputs = week.outputs.select(*_OUTPUT, pl.col("judge").cast(pl.Float64).alias("g"))
        pool = outputs.group_by("system").agg(pl.col("g").mean().alias("pool"))
        judged = week.judgments.join(outputs, on=_OUTPUT, how="left", maintain_order="left")
        judged = judged.join(pool, on="system", how="left", maintain_order="left")
        known = judged.join(outputs, on=_OUTPUT, how="semi").select(_OUTPUT).unique()
        known = known.with_columns(own=pl.lit(value=True))
        judged = judged.join(known, on=_OUTPUT, how="left", maintain_order="left")
        parts.append(judged.with_columns(pl.col("own").fill_null(value=False), week=pl.lit(place)))
    every = _without_leniency(pl.concat(parts, how="diagonal_relaxed"))
    rows = every.group_by("week", *_OUTPUT, "own", maintain_order=True).agg(
        pl.col("score").mean().alias("h"),
        pl.col("score").var().alias("noise"),
        pl.col("g", "pool").first(),
    )
    return rows.with_columns(pl.col("g", "pool").fill_null(0.0))


def _without_leniency(rows: pl.DataFrame) -> pl.DataFrame:
    """Return judgments less what each rater gives more than others, as far as that is known."""
    off = rows["score"] - rows.select(pl.col("score").mean().over("week", "system"))["score"]
    rows = rows.with_columns(off=off)
    each = rows.group_by("rater").agg(pl.col("off").mean().alias("more"), pl.len().alias("n"))
    inside = float((rows["off"] ** 2).mean())  # type: ignore[arg-type]
    between = float(((each["more"] ** 2 - inside / each["n"]) * each["n"]).sum()) / rows.height
    between = max(between, 0.0)
    shrunk = pl.col("more") * between / (between + inside / pl.col("n") + 1e-300)
    each = each.select("rater", shrunk.alias("more"))
    joined = rows.join(each, on="rater", how="left", maintain_order="left")
    return joined.with_columns(score=pl.col("score") - pl.col("more"))


def _slopes(own: pl.DataFrame) -> tuple[float, float, tuple[str, ...]]:
    """Return the slope of people on the judge, and how much of the human score a point of the judge is."""
    h, g = (
        (own[name] - own.select(pl.col(name).mean().over("week", "system"))[name]).to_numpy()
        for name in ("h", "g")
    )
    both, square = float(h @ g), max(float(g @ g), 1e-300)
    twice = own["noise"].drop_nulls()
    signal = float(h @ h)
    notes: tuple[str, ...] = ()
    if len(twice):
        counted = own["noise"].null_count() + len(twice) / 2
        signal = max(signal - float(twice.mean()) * counted, 0.2 * signal)  # type: ignore[arg-type]
    else:
        notes = (
            "no output was judged twice in a week, so a change of the systems may look like one of the judge",
        )
    return both / square, signal / both if both > 0 else 0.0, notes


def _stream(rows: pl.DataFrame, value: str, left: str, count: int) -> Stream:
    """Return the mean of each week, with errors from what is left within weeks."""
    inside = rows.select(pl.col(left) - pl.col(left).mean().over("week", "system"))[left]
    groups = rows.select(pl.struct("week", "system").n_unique()).item()
    spread = math.sqrt(float((inside**2).sum()) / max(len(inside) - groups, 1))
    mean, error = np.full(count, np.nan), np.full(count, np.nan)
    for week, average, n in rows.group_by("week").agg(pl.col(value).mean(), pl.len()).iter_rows():
        mean[week], error[week] = average, spread / math.sqrt(n)
    return Stream(mean, error)


def _again(own: pl.DataFrame, anchors: pl.DataFrame, names: Sequence[str]) -> Stream | None:
    """Return how much higher outputs of earlier weeks are scored when they are judged again.

    An anchor is named by its system, or as SYSTEM@WEEK.
    """
    dated = own.with_columns(
        system=pl.concat_str(
            "system", pl.lit("@"), pl.col("week").replace_strict(dict(enumerate(names)))
        )
    )
    first = pl.concat([own, dated]).group_by(_OUTPUT).agg(pl.col("h").first().alias("then"))
    again = anchors.join(first, on=_OUTPUT, how="inner").with_columns(
        more=pl.col("h") - pl.col("then")
    )
    if again.height <= again["week"].n_unique():
        return None
    stream = _stream(again.with_columns(system=pl.lit("")), "more", "more", len(names))
    # the first weeks are what later ones are compared with
    start = int(np.flatnonzero(np.isfinite(stream.mean))[0])
    stream.mean[:start], stream.error[:start] = 0.0, np.nanmin(stream.error)
    return stream


def _changes(
    names: Sequence[str], systems: dict[str, Stream], judge: Stream | None, raters: Stream | None
) -> tuple[Change, ...]:
    """Name what changed, so that one change has one name.

    Stricter raters move all systems down, and the judge up by as much beside them; another judge moves no system,
    and another system not the judge beside people.
    """
    share = _ALARMS / (len(systems) + (judge is not None) + (raters is not None))
    found: list[tuple[Any, str | None, _Alarm]] = []
    if raters is not None and (alarm := raters.alarm(share)) is not None:
        found.append(("raters", None, alarm))
    if judge is not None and (alarm := judge.alarm(share)) is not None:
        means = np.array([one.mean for one in systems.values()])
        errors = np.array([one.error for one in systems.values()])
        every = Stream(means.mean(axis=0), np.sqrt((errors**2).sum(axis=0)) / len(errors))
        for_raters = _evidence(every.since(alarm), -alarm[2])
        what = "raters" if for_raters > _SURE else "judge"
        found.append((what if abs(for_raters) > _SURE else "judge or raters", None, alarm))
    for name, stream in systems.items():
        if (alarm := stream.alarm(share)) is not None:
            beside = (math.nan, math.nan) if judge is None else judge.since(alarm)
            is_raters = judge is not None and _evidence(beside, -alarm[2]) > 0
            found.append(("raters" if is_raters else "system", None if is_raters else name, alarm))
    changes: dict[tuple[str, str | None], Change] = {}
    for what, system, alarm in sorted(found, key=lambda one: one[2][0]):
        changes.setdefault((what, system), _change(what, system, names, alarm))
    return tuple(changes.values())


def _evidence(shift: tuple[float, float], expected: float) -> float:
    """Return twice the logarithm of how much likelier a shift is if it is as expected than if there is none."""
    size, error = shift
    return (size**2 - (size - expected) ** 2) / error**2


def _change(what: Any, system: str | None, names: Sequence[str], found: _Alarm) -> Change:
    noticed, since, size, error = found
    return Change(
        what=what,
        system=system,
        since=names[since],
        noticed=names[noticed],
        size=size,
        standard_error=error,
    )
