"""Monitoring: whether collection may stop, and if not, how much is still to do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.campaign.score_bounds import check_bounds
from steelyard.design.sequence import (
    ConfidenceSequence,
    Method,
    SequenceOptions,
    SequenceTarget,
)
from steelyard.errors import InvalidArgumentError
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.study.arrivals import Arrived, arrivals
from steelyard.study.expected import expected_units, tells_nothing
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.shared_judgments import with_sample

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Monitored", "monitor"]

Floats = NDArray[np.float64]

# One output shows nothing of how outputs differ, whatever the goal.
_LEAST_OUTPUTS = 2

# From this share of the pool on, rater noise may be more than what is not known of a census.
_FAR_ALONG = 0.5
# Beyond this skewness, which fewer judgments do not show, sums are far from normal for long.
_SKEWED, _LEAST_SKEWED = 1.5, 20

_COLUMNS = (
    *("system", "prompt", "stop", "estimate", "low", "high", "half_width", "n", "pool_size"),
    "expected_more",
)


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
        The interval now; the mean itself and 0 when it is known exactly.
    goal : float
        The half-width to reach.
    stop : bool
        Whether it is reached: never by one output alone, nor by outputs that are not a random
        sample.
    expected_more : int or None
        Judgments that are still needed at the present rate; None when that cannot be told yet, or
        the goal cannot be reached.
    exact : bool
        Whether every output is judged, so that the mean is known and not estimated.
    balanced : bool
        Whether the judged outputs look like the pool, by the metrics known on all of it.
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
    exact: bool
    balanced: bool
    notes: tuple[str, ...]
    sequence: ConfidenceSequence = field(repr=False, compare=False)

    def reaches(self, half_width: float) -> bool:
        """Whether collection may stop if this half-width is the goal."""
        return self.balanced and self.n >= _LEAST_OUTPUTS and self.half_width <= half_width

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form; there is no interval when the mean is known exactly."""
        names = (
            *("system", "prompt", "metrics", "method", "target", "level", "n", "pool_size"),
            *("estimate", "low", "high", "half_width", "goal", "stop", "expected_more"),
            *("exact", "balanced", "notes"),
        )
        row = {name: getattr(self, name) for name in names}
        if self.exact:
            row |= {"low": None, "high": None, "half_width": None}
        return row | {"metrics": list(self.metrics), "notes": list(self.notes)}

    def __repr__(self) -> str:
        answer = "stop" if self.stop else "go on"
        return (
            f"<Monitored {self.system}, prompt {self.prompt}: {answer}, [{self.low:.4g}, "
            f"{self.high:.4g}] after {self.n} of {self.pool_size}, goal {self.goal:g}>"
        )

    def _repr_html_(self) -> str:
        return Results([self], columns=_COLUMNS)._repr_html_()


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
    tuned_for: int | None = None,
    sample: pl.DataFrame | None = None,
) -> Results[Monitored]:
    """Tell for each system and prompt whether collection may stop.

    Outputs are taken in the order in which they were drawn, where judgments carry the column
    ``draw`` or `sample` has it, and up to the first that is not complete. Where the draw is not
    known they are taken to come back in its order: that of the column ``time``, or of the file.
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
        The half-width to reach, for which the sequence is tuned; choose it before looking.
    prompts, systems : sequence of str, optional
        Which to look at; all that were judged by default.
    method, level, bounds, replacement, target, rater_variance, tuned_for
        As in `ConfidenceSequence`.
    judgments_per_output : int
        Judgments after which an output is complete.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry what the draw recorded.

    Returns
    -------
    Results of Monitored

    Raises
    ------
    InvalidArgumentError
        If an option breaks its rule, or a score lies outside `bounds`.
    InvalidDataError
        If the order of collection cannot be told from ``time`` or ``draw``.
    NotEstimableError
        If outputs were not drawn simply at random.
    """
    if not 0 < half_width < math.inf:
        raise InvalidArgumentError(f"`half_width` must be greater than 0; got {half_width}")
    study, sample = with_sample(study, sample)
    prompts, systems = names_of(prompts), names_of(systems)
    study.judged_pairs(prompts, systems)
    check_bounds(study.judgments, bounds, prompts=prompts, systems=systems)
    check_simply_drawn(study.judgments, prompts, systems, sample=sample, spread=False)
    names = tuple(dict.fromkeys(names_of(metrics)))
    pools = study.outputs.pool_moments(names) if names else {}
    found = []
    for cell in arrivals(
        study.outputs,
        study.judgments,
        names,
        each=judgments_per_output,
        replacement=replacement,
        sample=sample,
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
                goal=half_width,
            )
            sequence.update(cell.human, cell.metric if names else None)
            found.append(
                _monitored(
                    cell,
                    sequence,
                    names,
                    goal=half_width,
                    each=judgments_per_output,
                    imbalance=study.imbalances.get((cell.prompt, cell.system)),
                )
            )
    if not found:
        raise InvalidArgumentError(
            f"`prompts` and `systems` must have judgments together; there are none of "
            f"{', '.join(systems or ())} under {', '.join(prompts or ())}"
        )
    return Results(found, columns=_COLUMNS)


def _of_means(rater_variance: float | None, judgments: int) -> float | None:
    return None if rater_variance is None else rater_variance / judgments


def _monitored(
    cell: Arrived,
    sequence: ConfidenceSequence,
    metrics: tuple[str, ...],
    *,
    goal: float,
    each: int,
    imbalance: str | None,
) -> Monitored:
    options = sequence.options
    assert options.pool_size is not None
    more = None if imbalance else expected_units(sequence, goal)
    if more == 0 and sequence.n < _LEAST_OUTPUTS and not sequence.exact:
        more = _LEAST_OUTPUTS - sequence.n
    found = Monitored(
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
        stop=False,
        expected_more=None if more is None else more * each,
        exact=sequence.exact,
        balanced=imbalance is None,
        notes=(
            *([imbalance] if imbalance else []),
            *cell.notes,
            *_notes(sequence, goal),
            *_skewed(sequence.options, cell.human),
        ),
        sequence=sequence,
    )
    return replace(found, stop=found.reaches(goal))


def _notes(sequence: ConfidenceSequence, goal: float) -> list[str]:
    options = sequence.options
    least, greatest = options.bounds
    noise = options.noise * (greatest - least)
    notes = []
    if sequence.exact:
        notes.append(_known(sequence))
    elif sequence.contradicted:
        notes.append(
            "no mean fits these judgments: later ones differ from earlier ones by more than chance "
            f"allows in {options.level:.0%} of campaigns; were the outputs drawn at random, and "
            "are they in that order? The interval is that of this moment alone"
        )
    elif tells_nothing(sequence):
        notes.append(_nothing_yet(options))
    else:
        notes += _far_along(sequence)
    if noise > 0:
        notes.append(f"rater noise adds {noise:.3g} on either side; judging more does not lower it")
    if noise >= goal > 0:
        notes.append(
            f"the half-width {goal:g} cannot be reached: give `rater_variance` from a pilot, draw "
            'with replacement, or ask for the target "census"'
        )
    return notes


def _far_along(sequence: ConfidenceSequence) -> list[str]:
    """Say which mean the interval is about, once it is much of the pool that is judged."""
    options = sequence.options
    if options.about != "census" or not options.pool_size:
        return []
    if sequence.n < _FAR_ALONG * options.pool_size:
        return []
    noise = replace(options, target="pool").noise * (options.bounds[1] - options.bounds[0])
    return [
        (
            f"{sequence.n} of {options.pool_size} outputs are judged: the interval is about a census by this very "
            f"process. What people would say on average may lie up to {noise:.3g} beyond it, through rater "
            'noise: the target "pool" allows for that'
        )
    ]


def _skewed(options: SequenceOptions, human: Floats) -> list[str]:
    """Say that the normal approximation is doubtful, if a few scores stand out on one side."""
    if options.method != "asymptotic" or len(human) < _LEAST_SKEWED or np.ptp(human) == 0:
        return []
    skewness = float(np.mean((human - human.mean()) ** 3)) / float(human.std()) ** 3
    if abs(skewness) < _SKEWED:
        return []
    return [
        (
            f"scores are strongly skewed (skewness {skewness:.2g}), and the asymptotic sequence misses more "
            'often than it says on such scores: the method "betting" does not'
        )
    ]


def _known(sequence: ConfidenceSequence) -> str:
    if sequence.options.about == "census":
        return (
            "every output is judged, so the mean of a census by this very process is known exactly; "
            'what other raters would say is not: that is the target "pool"'
        )
    return (
        "every output is judged and judgments have no noise, as `rater_variance` says, so the "
        "pool's mean is known exactly"
    )


def _nothing_yet(options: SequenceOptions) -> str:
    if options.method == "asymptotic":
        return (
            "no interval yet: the asymptotic sequence needs 50 judgments of which none stands out, "
            "and 50 outputs left"
        )
    return "no interval yet: the judgments tell nothing beyond the bounds"
