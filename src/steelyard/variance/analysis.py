"""Moments of a sample and of its resamples, with or without raters, over systems or within them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, judged_outputs
from steelyard.errors import NotEstimableError
from steelyard.variance.crossed import CrossedComponents, crossed_components
from steelyard.variance.interval import (
    component_correlation,
    item_quantity,
    mean_square_draws,
    mean_square_interval,
    noise_ratio_quantity,
    rater_quantity,
    ratio,
    tail_weights,
    total,
)
from steelyard.variance.moments import Moments, moments, resampled_moments
from steelyard.variance.quantity import Quantity

__all__ = ["Analysis", "analysis", "check_repeats", "check_spread"]

Integers = NDArray[np.int64]

# Below this many, what raters have in common is known from too few of them to go unsaid.
_FEW_RATERS = 5
_FEW_REPEATS = 30


@dataclass(frozen=True, eq=False)
class Analysis:
    """Item and rater variance of a sample, and the moments that a correlation is made of.

    Attributes
    ----------
    here, there : Moments
        Of the sample, and of its resamples.
    item, rater, noise_ratio : Quantity
        The components.
    leniency, residual : Quantity or None
        The two parts of `rater`, where raters are known and told apart from the rest.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    here: Moments
    there: Moments
    item: Quantity
    rater: Quantity
    noise_ratio: Quantity
    leniency: Quantity | None
    residual: Quantity | None
    notes: tuple[str, ...]


def analysis(
    sample: JudgedOutputs,
    *,
    systems: Integers | None = None,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> Analysis:
    r"""Return the components and moments of a sample, crossed where its raters are known.

    Without raters, the one-way analysis of variance. With them, the components of
    `crossed_components`. Outputs are then resampled with their judgments less each rater's predicted
    leniency, and the resamples moved so that they scatter about the crossed estimates; to the rater
    variance of every resample a draw of the leniency's variance is added, for resampled outputs
    tell nothing of other raters.

    Parameters
    ----------
    sample : JudgedOutputs
        Judgments grouped by output, with raters or without.
    systems : (n,) array of int, optional
        Number of the system of each output; everything is then within systems.
    level : float
        Confidence level of the intervals.
    resamples : int
        Bootstrap resamples of the outputs.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    NotEstimableError
        If the sample does not determine the components.
    """
    check_repeats(sample, systems)
    check_spread(sample)
    if sample.rater is not None:
        return _crossed(sample, systems, level=level, resamples=resamples, rng=rng)
    here = moments(sample, systems=systems)
    there = resampled_moments(sample, systems=systems, resamples=resamples, rng=rng)
    return Analysis(
        here=here,
        there=there,
        item=item_quantity(here, there, level),
        rater=rater_quantity(here, there, level),
        noise_ratio=noise_ratio_quantity(here, there, level),
        leniency=None,
        residual=None,
        notes=_one_way_notes(here) + _few_repeats(sample),
    )


def check_repeats(sample: JudgedOutputs, systems: Integers | None = None) -> None:
    """Refuse a sample that does not tell item from rater variance."""
    if sample.n_judgments == sample.n_outputs:
        way_out = (
            "collect a second judgment on some outputs"
            if sample.identified
            else "pass `items` to say which output each judgment is of"
        )
        raise NotEstimableError(
            "at least one output with two judgments is needed; got "
            f"{sample.n_judgments} judgments of as many outputs: {way_out}"
        )
    if sample.n_outputs < 2:
        raise NotEstimableError("at least two outputs are needed; got one: judge more outputs")
    if systems is not None and sample.n_outputs == int(systems.max()) + 1:
        raise NotEstimableError(
            "at least one system with two judged outputs is needed; got "
            f"{sample.n_outputs} outputs of as many systems: judge more outputs"
        )


def check_spread(sample: JudgedOutputs) -> None:
    """Refuse judgments that are all equal: they bound no variance from above."""
    if np.ptp(sample.human) == 0:
        raise NotEstimableError(
            "variance components need judgments that differ; "
            f"got {sample.n_judgments} times {sample.human[0]:g}: collect more judgments"
        )


def _crossed(
    sample: JudgedOutputs,
    systems: Integers | None,
    *,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> Analysis:
    crossed = _crossed_components(sample, systems)
    left = sample.human - crossed.leniencies[sample.rater]
    adjusted = judged_outputs(left, None, sample.output)
    here = moments(sample, adjusted=adjusted, systems=systems)
    there = resampled_moments(
        sample, adjusted=adjusted, systems=systems, resamples=resamples, rng=rng
    )
    sizes = (sample.n_outputs, sample.n_judgments)
    item_weight, rater_weight = tail_weights(here, there, sizes)
    spread = np.diag(crossed.covariance) * (item_weight, 1.0, rater_weight)
    item = mean_square_interval(crossed.item, spread[0], here.freedom, level=level)
    # The residual has no other component under it: Satterthwaite's degrees of freedom.
    freedom = max(2 * crossed.residual**2 / spread[2], 1.0)
    residual = mean_square_interval(crossed.residual, spread[2], freedom, level=level)
    leniency, drawn = None, np.zeros(1)
    if crossed.leniency_identified:
        of_leniency = (crossed.leniency, float(spread[1]), crossed.n_raters - 1)
        leniency = mean_square_interval(*of_leniency, level=level)
        drawn = mean_square_draws(*of_leniency, size=resamples, rng=rng)
    rater = residual if leniency is None else total(leniency, residual)
    return Analysis(
        here=replace(
            here,
            item=np.array([crossed.item]),
            rater=np.array([crossed.leniency + crossed.residual]),
        ),
        there=_about(crossed, here, there, drawn),
        item=item,
        rater=rater,
        noise_ratio=ratio(rater, item, correlation=component_correlation(there)),
        leniency=leniency,
        residual=None if leniency is None else residual,
        notes=crossed.notes + _few_raters(crossed) + _few_repeats(sample),
    )


def _crossed_components(sample: JudgedOutputs, systems: Integers | None) -> CrossedComponents:
    assert sample.rater is not None
    own = None if systems is None else systems[sample.output]
    return crossed_components(sample.human, sample.output, sample.rater, systems=own)


def _about(
    crossed: CrossedComponents, here: Moments, there: Moments, leniency: NDArray[np.float64]
) -> Moments:
    """Return resamples of adjusted judgments, moved to scatter about the crossed estimates.

    An item variance at its boundary stays below it in about as many resamples as it would have been.
    """
    item, residual = float(here.item[0]), float(here.rater[0])
    if crossed.item == 0:
        item = max(item, 0.0)
    scale = crossed.residual / residual if residual > 0 else 1.0
    return replace(
        there, item=there.item + (crossed.item - item), rater=there.rater * scale + leniency
    )


def _one_way_notes(here: Moments) -> tuple[str, ...]:
    notes = []
    if here.item[0] <= 0:
        notes.append(
            "outputs differ no more than rater noise explains, so the item variance is reported "
            f"as 0 (estimated {here.item[0]:.3g})"
        )
    if here.rater[0] == 0:
        notes.append("no two judgments of one output differ, so the rater variance is 0")
    return tuple(notes)


def _few_repeats(sample: JudgedOutputs) -> tuple[str, ...]:
    repeated = int((sample.count > 1).sum())
    if repeated >= _FEW_REPEATS:
        return ()
    note = (
        f"only {repeated} outputs have two judgments or more, so the rater variance and all "
        "that rests on it are uncertain and their intervals too narrow"
    )
    return (note,)


def _few_raters(crossed: CrossedComponents) -> tuple[str, ...]:
    if not crossed.leniency_identified or crossed.n_raters >= _FEW_RATERS:
        return ()
    note = (
        f"only {crossed.n_raters} raters: how far raters differ is known from these alone, so the "
        "rater variance and the noise ratio may be far higher than estimated"
    )
    return (note,)
