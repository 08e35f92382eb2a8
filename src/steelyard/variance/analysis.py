"""Components of a sample and draws from it, with or without raters, over systems or within them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, judged_outputs
from steelyard.errors import NotEstimableError
from steelyard.variance.crossed import CrossedComponents, crossed_components
from steelyard.variance.interval import (
    mean_square_draws,
    mean_square_interval,
    noise_ratio_quantity,
    student_level,
    variance_quantity,
)
from steelyard.variance.moments import Moments, drawn_moments, moments
from steelyard.variance.quantity import Quantity
from steelyard.variance.repeats import Repeats

__all__ = ["Analysis", "JudgmentModel", "analysis", "check_repeats", "check_spread"]

Integers = NDArray[np.int64]

# Below this many, what raters have in common is known from too few of them to go unsaid.
_FEW_RATERS = 5
_FEW_REPEATS = 30


@dataclass(frozen=True, eq=False)
class Analysis:
    """Item and rater variance of a sample, and the moments that a correlation is made of.

    Attributes
    ----------
    model : JudgmentModel
        The sample, and how it is drawn from.
    here, there : Moments
        Of the sample, and of draws from it.
    item, rater, noise_ratio : Quantity
        The components.
    leniency, residual : Quantity or None
        The two parts of `rater`, where raters are known and told apart from the rest.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    model: "JudgmentModel"
    here: Moments
    there: Moments
    item: Quantity
    rater: Quantity
    noise_ratio: Quantity
    leniency: Quantity | None
    residual: Quantity | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JudgmentModel:
    """A sample with its crossed components, where raters are known, and draws from it.

    Attributes
    ----------
    sample : JudgedOutputs
        Judgments grouped by output.
    systems : (n,) array of int or None
        Number of the system of each output, where everything is within systems.
    crossed : CrossedComponents or None
        Crossed components, where raters are known.
    adjusted : JudgedOutputs or None
        Judgments less each rater's predicted leniency, where raters are known.
    plain : Moments
        One-way moments, of the adjusted judgments where raters are known.
    """

    sample: JudgedOutputs
    systems: Integers | None
    crossed: CrossedComponents | None
    adjusted: JudgedOutputs | None
    plain: Moments

    @classmethod
    def of(cls, sample: JudgedOutputs, systems: Integers | None) -> Self:
        """Fit the components of a sample."""
        crossed, adjusted = None, None
        if sample.rater is not None:
            own = None if systems is None else systems[sample.output]
            crossed = crossed_components(sample.human, sample.output, sample.rater, systems=own)
            left = sample.human - crossed.leniencies[sample.rater]
            adjusted = judged_outputs(left, None, sample.output)
        plain = moments(sample, adjusted=adjusted, systems=systems)
        return cls(sample, systems, crossed, adjusted, plain)

    @property
    def here(self) -> Moments:
        """Moments of the sample, with the crossed components where raters are known."""
        if self.crossed is None:
            return self.plain
        item, rater = np.array([self.crossed.item]), np.array([self.crossed.rater])
        return replace(self.plain, item=item, rater=rater)

    def residual_draws(self, *, resamples: int, rng: np.random.Generator) -> Moments:
        """Return draws of the moments without leniency, about the crossed estimates."""
        repeats = Repeats.of(self.sample)
        assert repeats is not None  # check_repeats
        noise = float(self.plain.rater[0])
        residual = noise if self.crossed is None else self.crossed.residual
        scale = residual / noise if noise > 0 else 1.0
        most = float(self.plain.between[0]) if repeats.imagined else 0.0
        drawn = drawn_moments(
            self.sample,
            adjusted=self.adjusted,
            systems=self.systems,
            scale=scale,
            disagreement=max(repeats.largest, most),
            resamples=resamples,
            rng=rng,
        )
        if self.crossed is None:
            return drawn
        # An item variance at its boundary stays below it in about as many draws as it would have
        # been.
        item = (float(self.plain.between[0]) - scale * noise) / float(self.plain.effective[0])
        item = max(item, 0.0) if self.crossed.item == 0 else item
        return replace(drawn, item=drawn.item + (self.crossed.item - item))

    def with_leniency(self, drawn: Moments, *, rng: np.random.Generator) -> Moments:
        """Add a draw of the leniency's variance to each: drawn outputs tell nothing of raters."""
        crossed = self.crossed
        if crossed is None or not crossed.leniency_identified:
            return drawn
        leniency = mean_square_draws(*self._of_leniency, size=drawn.rater.shape[-1], rng=rng)
        return replace(drawn, rater=drawn.rater + leniency)

    def leniency(self, level: float) -> Quantity | None:
        """Return the variance between raters, None where it is not told from the rest."""
        if self.crossed is None or not self.crossed.leniency_identified:
            return None
        return mean_square_interval(*self._of_leniency, level=level)

    @property
    def _of_leniency(self) -> tuple[float, float, int]:
        """Return leniency, its sampling variance and its degrees of freedom."""
        assert self.crossed is not None
        crossed = self.crossed
        return crossed.leniency, float(crossed.covariance[1, 1]), crossed.n_raters - 1


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
    leniency, and the draws moved so that they scatter about the crossed estimates.

    Parameters
    ----------
    sample : JudgedOutputs
        Judgments grouped by output, with raters or without.
    systems : (n,) array of int, optional
        Number of the system of each output; everything is then within systems.
    level : float
        Confidence level of the intervals.
    resamples : int
        Bootstrap draws of the outputs.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    NotEstimableError
        If the sample does not determine the components.
    """
    check_repeats(sample, systems)
    check_spread(sample)
    model = JudgmentModel.of(sample, systems)
    drawn = model.residual_draws(resamples=resamples, rng=rng)
    there = model.with_leniency(drawn, rng=rng)
    here, crossed = model.here, model.crossed
    far = student_level(level, float((sample.count > 1).sum()))
    leniency = model.leniency(level)
    residual = None
    if leniency is not None and crossed is not None:
        residual = variance_quantity(crossed.residual, drawn.rater, far)
    return Analysis(
        model=model,
        here=here,
        there=there,
        item=variance_quantity(float(here.item[0]), there.item, far),
        rater=variance_quantity(float(here.rater[0]), there.rater, far),
        noise_ratio=noise_ratio_quantity(here, there, far),
        leniency=leniency,
        residual=residual,
        notes=_notes(here, crossed) + _few_repeats(sample),
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


def _notes(here: Moments, crossed: CrossedComponents | None) -> tuple[str, ...]:
    return _one_way_notes(here) if crossed is None else crossed.notes + _few_raters(crossed)


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
        "that rests on it are uncertain"
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
