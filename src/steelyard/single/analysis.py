"""Components of a sample and draws from it, with or without raters, over systems or within them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import NotEstimableError
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.single.judged import JudgedOutputs, judged_outputs
from steelyard.single.moments import Moments, drawn_moments, moments
from steelyard.single.quantity import (
    Quantity,
    mean_square_draws,
    mean_square_interval,
    noise_ratio_quantity,
    student_level,
    variance_quantity,
)
from steelyard.single.repeats import Repeats

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
    sample : JudgedOutputs
        Judgments grouped by output.
    systems : (n,) array of int or None
        Number of the system of each output, where everything is within systems.
    crossed : CrossedComponents or None
        Crossed components, where raters are known.
    here, there : Moments
        Of the sample, and of draws from it.
    item, rater, noise_ratio : Quantity
        The components.
    leniency, residual : Quantity or None
        The two parts of `rater`, where raters are known and told apart from the rest.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    sample: JudgedOutputs
    systems: Integers | None
    crossed: CrossedComponents | None
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
    `crossed_components`: outputs are then drawn with their judgments less each rater's predicted
    leniency, the draws moved so that they scatter about the crossed estimates, and a draw of the
    leniency's variance added to each, since drawn outputs show nothing of raters.

    Raises
    ------
    NotEstimableError
        If the sample does not determine the components.
    """
    check_repeats(sample, systems)
    check_spread(sample)
    crossed, adjusted = None, None
    if sample.rater is not None:
        own = None if systems is None else systems[sample.output]
        crossed = crossed_components(sample.human, sample.output, sample.rater, systems=own)
        less_leniency = sample.human - crossed.leniencies[sample.rater]
        adjusted = judged_outputs(less_leniency, None, sample.output)
    plain = moments(sample, adjusted=adjusted, systems=systems)
    here = plain
    if crossed is not None:
        here = replace(plain, item=np.array([crossed.item]), rater=np.array([crossed.rater]))
    drawn = _residual_draws(sample, adjusted, systems, crossed, plain, resamples=resamples, rng=rng)
    far = student_level(level, float((sample.count > 1).sum()))
    there, leniency, residual = drawn, None, None
    if crossed is not None and crossed.leniency_identified:
        square = (crossed.leniency, float(crossed.covariance[1, 1]), crossed.n_raters - 1)
        added = mean_square_draws(*square, size=drawn.rater.shape[-1], rng=rng)
        there = replace(drawn, rater=drawn.rater + added)
        leniency = mean_square_interval(*square, level=level)
        residual = variance_quantity(crossed.residual, drawn.rater, far)
    return Analysis(
        sample=sample,
        systems=systems,
        crossed=crossed,
        here=here,
        there=there,
        item=variance_quantity(float(here.item[0]), there.item, far),
        rater=variance_quantity(float(here.rater[0]), there.rater, far),
        noise_ratio=noise_ratio_quantity(float(here.reliability[0]), there.reliability, far),
        leniency=leniency,
        residual=residual,
        notes=_notes(sample, here, crossed),
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


def _residual_draws(
    sample: JudgedOutputs,
    adjusted: JudgedOutputs | None,
    systems: Integers | None,
    crossed: CrossedComponents | None,
    plain: Moments,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> Moments:
    """Return draws of the moments without leniency, about the crossed estimates."""
    repeats = Repeats.of(sample)
    assert repeats is not None  # check_repeats
    noise = float(plain.rater[0])
    scale = 1.0 if crossed is None or noise <= 0 else crossed.residual / noise
    most = float(plain.between[0]) if repeats.imagined else 0.0
    drawn = drawn_moments(
        sample,
        adjusted=adjusted,
        systems=systems,
        scale=scale,
        disagreement=max(repeats.largest, most),
        resamples=resamples,
        rng=rng,
    )
    if crossed is None:
        return drawn
    # An item variance at its boundary stays below it in about as many draws as it would have been.
    item = (float(plain.between[0]) - scale * noise) / float(plain.effective[0])
    item = max(item, 0.0) if crossed.item == 0 else item
    return replace(drawn, item=drawn.item + (crossed.item - item))


def _notes(
    sample: JudgedOutputs, here: Moments, crossed: CrossedComponents | None
) -> tuple[str, ...]:
    notes = [] if crossed is None else list(crossed.notes)
    if crossed is None and here.item[0] <= 0:
        notes.append(
            "outputs differ no more than rater noise explains, so the item variance is reported "
            f"as 0 (estimated {here.item[0]:.3g})"
        )
    if crossed is None and here.rater[0] == 0:
        notes.append("no two judgments of one output differ, so the rater variance is 0")
    if crossed is not None and crossed.leniency_identified and crossed.n_raters < _FEW_RATERS:
        notes.append(
            f"only {crossed.n_raters} raters: how far raters differ is known from these alone, so "
            "the rater variance and the noise ratio may be far higher than estimated"
        )
    repeated = int((sample.count > 1).sum())
    if repeated < _FEW_REPEATS:
        notes.append(
            f"only {repeated} outputs have two judgments or more, so the rater variance and all "
            "that rests on it are uncertain"
        )
    return tuple(notes)
