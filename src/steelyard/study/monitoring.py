"""Monitoring: whether collection may stop, and if not, how much is still to do."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.data import Judgments, Outputs
from steelyard.design.sequence import (
    ConfidenceSequence,
    Method,
    SequenceOptions,
    SequenceTarget,
)
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import Judgment
from steelyard.study.judged import judged_table

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Monitored", "monitor"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """Where the collection of one system's judgments under one prompt stands.

    Attributes
    ----------
    system, prompt : str
        Whose judgments.
    metrics : tuple of str
        Metrics that correct the judgments.
    method : str
        Kind of confidence sequence.
    target : str
        What the interval speaks about, "pool" or "census".
    level : float
        Probability with which the interval holds at all times.
    n : int
        Judged outputs that the sequence has seen; judgments, when drawn with replacement.
    pool_size : int
        Outputs in the pool.
    estimate : float or None
        Mean human score so far; None before the first judgment.
    low, high, half_width : float
        The interval now.
    goal : float
        The half-width to reach.
    stop : bool
        Whether it is reached.
    expected_more : int or None
        Judgments that are still needed at the present rate; None when that cannot be told yet, or
        the goal cannot be reached.
    notes : tuple of str
        What a reader must know.
    sequence : ConfidenceSequence
        The sequence itself, to follow its path or to go on with.
    """

    system: str
    prompt: str
    metrics: tuple[str, ...]
    method: Method
    target: SequenceTarget
    level: float
    n: int
    pool_size: int
    estimate: float | None
    low: float
    high: float
    half_width: float
    goal: float
    stop: bool
    expected_more: int | None
    notes: tuple[str, ...]
    sequence: ConfidenceSequence = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        names = (
            *("system", "prompt", "metrics", "method", "target", "level", "n", "pool_size"),
            *("estimate", "low", "high", "half_width", "goal", "stop", "expected_more", "notes"),
        )
        row = {name: getattr(self, name) for name in names}
        return row | {"metrics": list(self.metrics), "notes": list(self.notes)}


@dataclass(frozen=True, eq=False)
class _Arrived:
    """The scores of one system under one prompt, in the order of arrival.

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


def monitor(
    study: "Study",
    metrics: Sequence[str] = (),
    *,
    half_width: float,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    method: Method = "betting",
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    replacement: bool = False,
    target: SequenceTarget | None = None,
    rater_variance: float | None = None,
    judgments_per_output: int = 1,
    tuned_for: int = 300,
) -> list[Monitored]:
    """Tell for each system and prompt whether collection may stop.

    Judgments are taken in the order of their column ``time``, or of the file when there is none.
    Without replacement the unit is an output: it enters when its `judgments_per_output`-th judgment
    arrives, with the mean of those; later ones are left out, because to change a score that was
    looked at already would spoil the guarantee. With replacement every judgment is a draw of its own.

    Parameters
    ----------
    study : Study
        Outputs and the judgments so far.
    metrics : sequence of str
        Metrics to correct with; none by default.
    half_width : float
        The half-width to reach.
    prompts, systems : sequence of str, optional
        Which to look at; all that were judged by default.
    method, level, bounds, replacement, target, rater_variance, tuned_for
        As in `ConfidenceSequence`.
    judgments_per_output : int
        Judgments after which an output is complete.

    Returns
    -------
    list of Monitored

    Raises
    ------
    InvalidArgumentError
        If an option breaks its rule, or a score lies outside `bounds`.
    InvalidDataError
        If the order of collection cannot be told from ``time``.
    """
    if not 0 < half_width < math.inf:
        raise InvalidArgumentError(f"`half_width` must be greater than 0; got {half_width}")
    study.check_judged(prompts, systems)
    names = tuple(dict.fromkeys(metrics))
    pools = study.outputs.pool_moments(names) if names else {}
    found = []
    for cell in _arrivals(
        study.outputs,
        study.judgments,
        names,
        each=judgments_per_output,
        replacement=replacement,
    ):
        if (prompts is None or cell.prompt in prompts) and (
            systems is None or cell.system in systems
        ):
            sequence = ConfidenceSequence(
                pools.get(cell.system),
                level=level,
                bounds=bounds,
                method=method,
                replacement=replacement,
                pool_size=study.outputs.sizes[cell.system],
                target=target,
                rater_variance=_of_means(rater_variance, judgments_per_output),
                tuned_for=tuned_for,
            )
            sequence.update(cell.human, cell.metric if names else None)
            found.append(_monitored(cell, sequence, names, half_width, judgments_per_output))
    if not found:
        raise InvalidArgumentError(
            f"`prompts` and `systems` must have judgments together; there are none of "
            f"{', '.join(systems or ())} under {', '.join(prompts or ())}"
        )
    return found


def _of_means(rater_variance: float | None, judgments: int) -> float | None:
    return None if rater_variance is None else rater_variance / judgments


def _monitored(
    cell: _Arrived,
    sequence: ConfidenceSequence,
    metrics: tuple[str, ...],
    goal: float,
    each: int,
) -> Monitored:
    options = sequence.options
    assert options.pool_size is not None
    stop = sequence.half_width <= goal
    more = _expected_units(sequence, goal)
    return Monitored(
        system=cell.system,
        prompt=cell.prompt,
        metrics=metrics,
        method=options.method,
        target=options.about,
        level=options.level,
        n=sequence.n,
        pool_size=options.pool_size,
        estimate=sequence.estimate if sequence.n else None,
        low=sequence.low,
        high=sequence.high,
        half_width=sequence.half_width,
        goal=goal,
        stop=stop,
        expected_more=None if more is None else more * each,
        notes=(*cell.notes, *_notes(sequence, goal)),
        sequence=sequence,
    )


def _expected_units(sequence: ConfidenceSequence, goal: float) -> int | None:
    r"""Outputs (or draws) still to be judged until the half-width reaches the goal.

    The half-width falls about as :math:`1/\sqrt n`, for a census as :math:`\sqrt{1/n - 1/N}`; what
    rater noise adds to it does not fall. None when there is no interval yet, or the goal lies
    below what noise adds.
    """
    options = sequence.options
    if sequence.half_width <= goal:
        return 0
    least, greatest = options.bounds
    if _tells_nothing(sequence) or sequence.contradicted:
        return None
    noise = options.noise * (greatest - least)
    if goal <= noise:
        return None
    share = ((goal - noise) / (sequence.half_width - noise)) ** 2
    rest = 0.0 if options.drawn_from is None else 1 / options.drawn_from
    needed = 1 / (rest + (1 / sequence.n - rest) * share)
    return max(math.ceil(needed) - sequence.n, 1)


def _notes(sequence: ConfidenceSequence, goal: float) -> list[str]:
    options = sequence.options
    least, greatest = options.bounds
    noise = options.noise * (greatest - least)
    notes = []
    if sequence.contradicted:
        notes.append(
            "no mean fits these judgments: later ones differ from earlier ones by more than chance "
            f"allows in {options.level:.0%} of campaigns; were the outputs drawn at random, and "
            "are they in that order? The interval is that of this moment alone"
        )
    elif _tells_nothing(sequence):
        notes.append(_nothing_yet(options))
    if noise > 0:
        notes.append(f"rater noise adds {noise:.3g} on either side; judging more does not lower it")
    if noise >= goal > 0:
        notes.append(
            f"the half-width {goal:g} cannot be reached: give `rater_variance` from a pilot, draw "
            'with replacement, or ask for the target "census"'
        )
    return notes


def _tells_nothing(sequence: ConfidenceSequence) -> bool:
    """Whether the interval is no shorter than what the bounds alone leave open."""
    options = sequence.options
    left = 1.0 if options.drawn_from is None else 1 - sequence.n / options.drawn_from
    open_still = min(left / 2 + options.noise, 0.5) * (options.bounds[1] - options.bounds[0])
    return left > 0 and sequence.half_width >= open_still * (1 - 1e-9)


def _nothing_yet(options: SequenceOptions) -> str:
    if options.method == "asymptotic":
        return (
            "no interval yet: the asymptotic sequence needs 50 judgments of which none stands out, "
            "and 50 outputs left"
        )
    return "no interval yet: the judgments tell nothing beyond the bounds"


def _arrivals(
    outputs: Outputs,
    judgments: Judgments,
    metrics: Sequence[str],
    *,
    each: int,
    replacement: bool,
) -> Iterator[_Arrived]:
    """Yield the scores of every prompt and system, in order of first appearance.

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

    Raises
    ------
    InvalidArgumentError
        If `each` does not suit.
    InvalidDataError
        If the times cannot be read, or judged outputs are not in the pool.
    """
    if each < 1:
        raise InvalidArgumentError(f"`judgments_per_output` must be at least 1; got {each}")
    if replacement and each > 1:
        raise InvalidArgumentError(
            f"`judgments_per_output` must be 1 with replacement, where every judgment is a draw of "
            f"its own; got {each}"
        )
    table = judged_table(outputs, judgments, metrics)
    position = judgments.frame.select(Judgment.key).with_columns(
        position=pl.Series(_positions(judgments), dtype=pl.Int64)
    )
    rows = table.rows.join(position, on=Judgment.key).sort("position")
    for prompt in judgments.prompts:
        for system in judgments.systems:
            cell = rows.filter((pl.col("prompt") == prompt) & (pl.col("system") == system))
            if cell.height:
                units, notes = (cell, ()) if replacement else _complete(cell, metrics, each)
                yield _Arrived(
                    system,
                    prompt,
                    units["score"].to_numpy(),
                    np.column_stack(
                        [np.empty((units.height, 0)), *(units[name].to_numpy() for name in metrics)]
                    ),
                    tuple(notes),
                )


def _complete(
    cell: pl.DataFrame, metrics: Sequence[str], each: int
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
            *(pl.col(name).first() for name in metrics),
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
